//! `walk`: one BAS, once, as its router tells it.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;

use super::args::WalkArgs;
use super::exit::Exit;
use super::output::{complain, print, write_out};
use super::site::{Secrets, Site};
use super::stop::Stop;
use crate::config::Endpoint;
use crate::cycle::shapes::walk_shape;
use crate::cycle::{Fleet, Job, community_polling};
use crate::mib::{Descriptor, Library};
use crate::poll::Choice;
use crate::snmp::{Recording, ReplayAgent, Secret, Transport};
use crate::table::Memory;

/// The community under which a recording is replayed.
const REPLAY: &str = "replay";

/// A walk that is ready to begin, and what must live as long as it.
struct Ready {
    fleet: Fleet,
    job: Job,
    _agent: Option<ReplayAgent>,
}

/// Runs `walk`.
pub(crate) async fn run(args: &WalkArgs, config: &Path, json: bool) -> Result<Exit, Stop> {
    let ready = prepare(args, config).await?;
    let polled = ready.fleet.poll(ready.job.clone()).await;
    let shape = walk_shape(&polled);
    if args.raw || args.save.is_some() {
        let descriptor = polled.descriptor.as_ref().and_then(|name| chosen(args, &ready.fleet, name));
        let recorded = ready.fleet.record(&ready.job, descriptor.as_deref()).await;
        recorded.unread.iter().for_each(|problem| complain(&format!("not recorded to its end: {problem}")));
        let text = recorded.recording.render();
        if let Some(path) = &args.save {
            std::fs::write(path, &text).map_err(|e| Stop::failed(format!("{}: {e}", path.display())))?;
            complain(&format!("wrote {} objects to {}", recorded.recording.objects().len(), path.display()));
        }
        if args.raw {
            write_out(text.as_bytes(), false);
            return Ok(super::reports::walk_exit(&shape));
        }
    }
    Ok(print(&shape, json))
}

/// The descriptor that a poll was done by.
fn chosen(args: &WalkArgs, fleet: &Fleet, name: &str) -> Option<Arc<Descriptor>> {
    let named = args.mib.as_deref().and_then(|mib| descriptor(mib, fleet.library()).ok());
    named.or_else(|| fleet.library().get(name).cloned())
}

async fn prepare(args: &WalkArgs, config: &Path) -> Result<Ready, Stop> {
    if let Some(path) = &args.replay {
        return replay(args, path).await;
    }
    let target = args.target.as_deref().unwrap_or_default();
    match &args.community_env {
        Some(variable) => by_community(args, target, variable),
        None => by_config(args, target, config),
    }
}

/// A recording, served by our own agent.
async fn replay(args: &WalkArgs, path: &Path) -> Result<Ready, Stop> {
    let failed = |e: String| Stop::failed(format!("{}: {e}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|e| failed(e.to_string()))?;
    let recording = Recording::parse(&text).map_err(|e| failed(e.to_string()))?;
    let loopback = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let agent = ReplayAgent::start(loopback, vec![(REPLAY.to_owned(), recording)])
        .await
        .map_err(|e| Stop::failed(format!("cannot listen on {loopback}: {e}")))?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let name = args.target.clone().unwrap_or(stem);
    let endpoint = endpoint(&agent.address().to_string())?;
    let mut ready = stranger(args, &name, endpoint, Secret::new(REPLAY.as_bytes()))?;
    ready._agent = Some(agent);
    Ok(ready)
}

/// An address with the community of an environment variable: no configuration at all.
fn by_community(args: &WalkArgs, target: &str, variable: &str) -> Result<Ready, Stop> {
    let community = std::env::var(variable).map_err(|_| {
        Stop::usage(format!("the environment variable {variable} is not set; it holds the community"))
    })?;
    if community.is_empty() {
        return Err(Stop::usage(format!(
            "the environment variable {variable} is empty; it holds the community"
        )));
    }
    stranger(args, target, endpoint(target)?, Secret::new(community.into_bytes()))
}

fn stranger(args: &WalkArgs, name: &str, endpoint: Endpoint, community: Secret) -> Result<Ready, Stop> {
    let library = Arc::new(Library::built_in());
    let choice = choice(args.mib.as_deref(), &library)?;
    let fleet = Fleet::of_strangers(Arc::clone(&library), transport()?);
    let polling = community_polling(community);
    let job = fleet.stranger(name, endpoint, polling, choice, Timestamp::now()).ok_or_else(no_secrets)?;
    Ok(Ready { fleet, job, _agent: None })
}

/// A configured BAS, or an address that is spoken to as a profile says.
fn by_config(args: &WalkArgs, target: &str, config: &Path) -> Result<Ready, Stop> {
    if args.snmp.is_none() && !config.exists() {
        return Err(Stop::config(format!(
            "{}: there is no configuration; `--community-env VAR` walks an address without one",
            config.display()
        )));
    }
    let site = Site::load(config, Secrets::Needed)?;
    let fleet = Fleet::new(&site.config, Arc::clone(&site.library), transport()?);
    let now = Timestamp::now();
    let job = match (&args.snmp, site.config.bas.get(target)) {
        (None, Some(bas)) => {
            let mut job =
                fleet.job(&site.config, bas, &Memory::default(), false, now).ok_or_else(no_secrets)?;
            if args.mib.is_some() {
                job.choose(choice(args.mib.as_deref(), &site.library)?);
            }
            job
        }
        (None, None) => return Err(unknown_bas(target, &site)),
        (Some(name), _) => {
            let profile = site.config.snmp.get(name.as_str()).ok_or_else(|| {
                let known: Vec<&str> = site.config.snmp.keys().map(|n| n.as_str()).collect();
                Stop::usage(format!("there is no [snmp.{name}]; there are: {}", known.join(", ")))
            })?;
            let choice = choice(args.mib.as_deref(), &site.library)?;
            let polling = site.config.polling_by(profile);
            fleet.stranger(target, endpoint(target)?, polling, choice, now).ok_or_else(no_secrets)?
        }
    };
    Ok(Ready { fleet, job, _agent: None })
}

fn unknown_bas(target: &str, site: &Site) -> Stop {
    let how = "an address needs `--snmp NAME` or `--community-env VAR`";
    let near: Vec<&str> = site.config.bas.keys().map(|n| n.as_str()).take(12).collect();
    let known =
        if near.is_empty() { "there is none".to_owned() } else { format!("there are {}", near.join(", ")) };
    Stop::usage(format!("`{target}` is no configured BAS ({known}); {how}"))
}

fn transport() -> Result<Transport, Stop> {
    Transport::new().map_err(|e| Stop::failed(format!("no UDP socket can be opened: {e}")))
}

fn endpoint(text: &str) -> Result<Endpoint, Stop> {
    text.parse().map_err(Stop::usage)
}

fn no_secrets() -> Stop {
    Stop::failed("the credentials could not be read")
}

/// The descriptor that `--mib` names: a file where it has a dot or a slash, else a name.
fn choice(mib: Option<&str>, library: &Arc<Library>) -> Result<Choice, Stop> {
    match mib {
        None | Some("auto") => Ok(Choice::Auto(Arc::clone(library))),
        Some(mib) => descriptor(mib, library).map(Choice::Named),
    }
}

fn descriptor(mib: &str, library: &Library) -> Result<Arc<Descriptor>, Stop> {
    if let Some(known) = library.get(mib) {
        return Ok(Arc::clone(known));
    }
    if mib.contains(['/', '.']) {
        return Ok(Arc::new(Descriptor::read(Path::new(mib))?));
    }
    let known: Vec<&str> = library.iter().map(|d| d.name().as_str()).collect();
    Err(Stop::usage(format!("there is no descriptor `{mib}`; there are: {}", known.join(", "))))
}
