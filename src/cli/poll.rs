//! `poll`: the whole sentence, once.

use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use jiff::Timestamp;

use super::args::PollArgs;
use super::exit::Exit;
use super::output::print;
use super::owner::{daemon, shape};
use super::site::{Secrets, Site};
use super::stop::Stop;
use crate::cycle::shapes::{PollShape, polled_shape};
use crate::cycle::{
    AGAIN, Cycle, Feeds, Fleet, Operation, PollRequest, collect, poll_shape, published_shape,
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
    };
    let site = Site::load(config, Secrets::NotNeeded)?;
    if let Some(answer) = daemon(&site, &Operation::Poll(request.clone())).await? {
        return Ok(print(&shape::<PollShape>(answer)?, json));
    }
    let site = Site::load(config, Secrets::Needed)?;
    let mut cycle =
        Cycle::open(Arc::clone(&site.config), Arc::clone(&site.exports), Timestamp::now()).await?;
    let polled = poll(&mut cycle, &site, &request).await;
    cycle.close().await?;
    Ok(print(&polled?, json))
}

/// Polls, commits and publishes in this process.
pub(crate) async fn poll(cycle: &mut Cycle, site: &Site, request: &PollRequest) -> Result<PollShape, Stop> {
    let transport =
        Transport::new().map_err(|e| Stop::failed(format!("no UDP socket can be opened: {e}")))?;
    let fleet = Fleet::new(&site.config, Arc::clone(&site.library), transport.clone());
    let jobs = cycle.jobs(&fleet, request, !request.force, Timestamp::now())?;
    let mut feeds = Feeds::of(&site.config);
    let begun = Instant::now();
    let first = match request.dry_run || feeds.is_empty() {
        true => None,
        false => Some(feeds.read(&transport, Timestamp::now()).await),
    };
    let bar = progress(jobs.len());
    let concurrency = usize::try_from(site.config.poll.concurrency).unwrap_or(usize::MAX);
    let arrived = collect(&fleet, jobs, concurrency, |one| {
        bar.set_message(one.polled.name.to_string());
        bar.inc(1);
    })
    .await;
    bar.finish_and_clear();
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

/// A bar on a terminal, nothing elsewhere.
fn progress(count: usize) -> ProgressBar {
    if count < 2 || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(count as u64);
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} BASes, {elapsed}, {msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}
