//! `walk`: one BAS, once, as its router tells it.

use std::io::IsTerminal as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use indicatif::ProgressBar;
use jiff::Timestamp;

use super::args::WalkArgs;
use super::exit::Exit;
use super::mib::descriptor;
use super::output::{Report as _, complain, print, write_out};
use super::recordings;
use super::site::{Secrets, Site};
use super::stop::Stop;
use super::text::counted;
use crate::config::{Bas, ContextCommunity, Endpoint, Polling};
use crate::cycle::shapes::walk_shape;
use crate::cycle::{Fleet, Job, Recorded, community_polling};
use crate::mib::{Descriptor, Library};
use crate::poll::Choice;
use crate::snmp::{ReplayAgent, Secret, Transport};
use crate::table::{Memory, Name};

/// A walk that is ready to begin, and what must live as long as it.
struct Ready {
    fleet: Fleet,
    job: Job,
    _agent: Option<ReplayAgent>,
}

/// Runs `walk`.
pub(crate) async fn run(args: &WalkArgs, config: &Path, json: bool) -> Result<Exit, Stop> {
    let ready = prepare(args, config).await?;
    let busy = busy(&ready.job.name);
    let polled = ready.fleet.poll(ready.job.clone()).await;
    let shape = walk_shape(&polled);
    let mut exit = shape.exit();
    let mut recorded = Recorded::default();
    if args.raw || args.save.is_some() {
        let descriptor = polled.descriptor.as_ref().and_then(|name| chosen(args, &ready.fleet, name));
        recorded = ready.fleet.record(&ready.job, &polled, descriptor.as_deref()).await;
    }
    busy.finish_and_clear();
    for problem in &recorded.unread {
        complain(&format!("not recorded to its end: {problem}"));
        exit = if exit == Exit::Ok { Exit::Incomplete } else { exit };
    }
    if let Some(path) = args.save.as_deref().filter(|_| !recorded.recording.objects().is_empty()) {
        for (file, objects) in recordings::save(path, &recorded)? {
            complain(&format!("wrote {} to {}", counted(objects, "object", "objects"), file.display()));
        }
    }
    if args.raw {
        write_out(raw(&recorded).as_bytes(), false);
        shape.remarks().iter().for_each(|remark| complain(remark));
        return Ok(exit);
    }
    print(&shape, json);
    if shape.is_uncovered() {
        complain(&recipe(args));
    }
    Ok(exit)
}

/// A sign of life on a terminal, nothing elsewhere.
fn busy(name: &Name) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let busy = ProgressBar::new_spinner().with_message(format!("walking {name}"));
    busy.enable_steady_tick(Duration::from_millis(100));
    busy
}

/// The objects as received, context by context.
fn raw(recorded: &Recorded) -> String {
    let mut text = recorded.recording.render();
    for (name, recording) in &recorded.contexts {
        text.push_str(&format!("# context {}\n", String::from_utf8_lossy(name).escape_debug()));
        text.push_str(&recording.render());
    }
    text
}

/// What leads on where no descriptor covers a router.
fn recipe(args: &WalkArgs) -> String {
    let record = match (&args.replay, &args.save) {
        (None, None) => "`--save FILE` records what it has; ",
        _ => "",
    };
    format!(
        "no descriptor reads this router. It takes a file, and no code: {record}write a descriptor, try it with \
         `poolsync mib check DESCRIPTOR --walk FILE`, then `poolsync walk --mib DESCRIPTOR`. The README has it step \
         by step under \"A router that no descriptor covers\"; `--mib NAME` tries one of `poolsync mib list`"
    )
}

/// The descriptor that a poll was done by.
fn chosen(args: &WalkArgs, fleet: &Fleet, name: &str) -> Option<Arc<Descriptor>> {
    let named = args.mib.as_deref().and_then(|mib| descriptor(mib, fleet.library()).ok());
    named.or_else(|| fleet.library().get(name).cloned())
}

async fn prepare(args: &WalkArgs, config: &Path) -> Result<Ready, Stop> {
    if let Some(path) = &args.replay {
        return replay(args, path, config).await;
    }
    let target = args.target.as_deref().unwrap_or_default();
    match &args.community_env {
        Some(variable) => by_community(args, target, variable),
        None => by_config(args, target, config),
    }
}

/// A recording, served by our own agent. Where a configured BAS is named, it is read as that
/// one is.
async fn replay(args: &WalkArgs, path: &Path, config: &Path) -> Result<Ready, Stop> {
    let site = match &args.target {
        Some(_) if config.exists() => Some(Site::load(config, Secrets::NotNeeded)?),
        _ => None,
    };
    let bas = site.as_ref().zip(args.target.as_deref());
    let bas = bas.and_then(|(site, name)| Some((site, site.config.bas.get(name)?)));
    let context = bas.and_then(|(site, bas)| Some(site.config.polling(bas)?.context.name));
    let recordings = recordings::load(path, &context.unwrap_or_default())?;
    let contexts = recordings.len() > 1;
    let loopback = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let agent = ReplayAgent::start(loopback, recordings)
        .await
        .map_err(|e| Stop::failed(format!("cannot listen on {loopback}: {e}")))?;
    let endpoint = endpoint(&agent.address().to_string())?;
    let mut polling = community_polling(Secret::new(recordings::COMMUNITY.as_bytes()));
    polling.context_community = contexts.then_some(ContextCommunity::At);
    let mut ready = match bas {
        Some((site, bas)) => configured(args, site, bas, polling)?,
        None => {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let name = args.target.clone().unwrap_or(stem);
            stranger(args, &name, endpoint.clone(), polling)?
        }
    };
    ready.job.endpoint = endpoint;
    ready._agent = Some(agent);
    Ok(ready)
}

/// A configured BAS, spoken to as the agent of its recording wants it.
fn configured(args: &WalkArgs, site: &Site, bas: &Bas, by: Polling) -> Result<Ready, Stop> {
    let fleet = Fleet::new(&site.config, Arc::clone(&site.library), transport()?);
    let own = site.config.polling(bas).ok_or_else(no_secrets)?;
    let polling = Polling { limits: own.limits, encoding: own.encoding, context: own.context, ..by };
    let job = fleet.job_by(polling, bas, &Memory::default(), false, Timestamp::now());
    let mut job = job.ok_or_else(no_secrets)?;
    if args.mib.is_some() {
        job.choose(choice(args.mib.as_deref(), &site.library)?);
    }
    Ok(Ready { fleet, job, _agent: None })
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
    stranger(args, target, endpoint(target)?, community_polling(Secret::new(community.into_bytes())))
}

fn stranger(args: &WalkArgs, name: &str, endpoint: Endpoint, polling: Polling) -> Result<Ready, Stop> {
    let library = Arc::new(Library::built_in());
    let choice = choice(args.mib.as_deref(), &library)?;
    let fleet = Fleet::of_strangers(Arc::clone(&library), transport()?);
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
