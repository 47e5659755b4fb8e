//! `poll`: the whole sentence, once.

use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use jiff::Timestamp;

use super::args::PollArgs;
use super::exit::Exit;
use super::output::{complain, print};
use super::owner::{daemon, shape};
use super::site::{Secrets, Site};
use super::stop::Stop;
use crate::cycle::shapes::{PollShape, Problem, polled_shape};
use crate::cycle::{
    AGAIN, Arrived, Cycle, Feeds, Fleet, Job, Operation, PollRequest, Who, collect, poll_shape,
    published_shape,
};
use crate::snmp::Transport;
use crate::table::Approved;

/// Runs `poll`.
pub(crate) async fn run(args: &PollArgs, config: &Path, json: bool) -> Result<Exit, Stop> {
    let request = PollRequest {
        bas: args.bas.clone(),
        dry_run: args.dry_run,
        publish: args.publish,
        force: args.force,
        forget: args.forget,
        reason: args.reason.clone(),
        by: args.by.clone(),
    };
    let site = Site::load(config, Secrets::NotNeeded)?;
    if let Some(answer) = daemon(&site, &Operation::Poll(request.clone())).await? {
        return Ok(print(&shape::<PollShape>(answer)?, json));
    }
    let site = Site::load(config, Secrets::Needed)?;
    let mut cycle =
        Cycle::open(Arc::clone(&site.config), Arc::clone(&site.exports), Timestamp::now()).await?;
    let forgotten = cycle.forget(&request, &Who::of_process(), Timestamp::now()).await;
    let polled = match forgotten {
        Ok(()) => poll(&mut cycle, &site, &request).await,
        Err(problem) => Err(problem.into()),
    };
    cycle.close().await?;
    Ok(print(&polled?, json))
}

/// Polls, commits and publishes in this process.
pub(crate) async fn poll(cycle: &mut Cycle, site: &Site, request: &PollRequest) -> Result<PollShape, Stop> {
    let mut feeds = Feeds::of(&site.config);
    let transport = opened()?;
    let begun = Instant::now();
    let first = match request.dry_run || feeds.is_empty() {
        true => None,
        false => Some(feeds.read(&transport, Timestamp::now()).await),
    };
    let arrived = collected(site, |fleet, now| cycle.jobs(fleet, request, !request.force, now)).await?;
    let bas = arrived.iter().map(|one| polled_shape(&one.polled)).collect();
    if request.dry_run {
        let (absorbed, state) = cycle.rehearse(arrived, Timestamp::now())?;
        return Ok(poll_shape(&state, &absorbed, bas, Vec::new()));
    }
    let absorbed = cycle.absorb(arrived, &Approved::default(), request.publish, Timestamp::now()).await?;
    if let Some(mut read) = first {
        if feeds.again(&read) {
            tokio::time::sleep(AGAIN.saturating_sub(begun.elapsed())).await;
            read = feeds.read(&transport, Timestamp::now()).await;
        }
        cycle.take_loads(&read, Timestamp::now()).await?;
    }
    cycle.flush().await?;
    let published = cycle.publish(Timestamp::now()).await;
    cycle.prune(Timestamp::now()).await?;
    let published = published.iter().map(published_shape).collect();
    Ok(poll_shape(cycle.state(), &absorbed, bas, published))
}

/// Polls, with a bar on a terminal.
pub(crate) async fn collected(
    site: &Site,
    jobs: impl FnOnce(&Fleet, Timestamp) -> Result<Vec<Job>, Problem>,
) -> Result<Vec<Arrived>, Stop> {
    let transport = opened()?;
    let keys = site.config.control.keys();
    if let Err(error) = transport.load_keys(&keys) {
        complain(&format!("keys of an earlier run are made anew: {error}"));
    }
    let fleet = Fleet::new(&site.config, Arc::clone(&site.library), transport.clone());
    let jobs = jobs(&fleet, Timestamp::now())?;
    let bar = progress(jobs.len());
    let concurrency = usize::try_from(site.config.poll.concurrency).unwrap_or(usize::MAX);
    let arrived = collect(&fleet, jobs, concurrency, |one| {
        bar.set_message(one.polled.name.to_string());
        bar.inc(1);
    })
    .await;
    bar.finish_and_clear();
    keep_keys(&transport, &keys);
    Ok(arrived)
}

/// Keeps localised keys for the next run. Where no service ever ran, its runtime directory is
/// not there, and nothing is kept.
fn keep_keys(transport: &Transport, path: &Path) {
    if path.parent().is_some_and(Path::is_dir)
        && let Err(error) = transport.save_keys(path)
    {
        complain(&format!("keys are not kept for the next run: {error}"));
    }
}

fn opened() -> Result<Transport, Stop> {
    Transport::apart().map_err(|e| Stop::failed(format!("no UDP socket can be opened: {e}")))
}

/// A bar on a terminal, nothing elsewhere.
pub(crate) fn progress(count: usize) -> ProgressBar {
    if count < 2 || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(count as u64);
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} BASes, {elapsed}, {msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}
