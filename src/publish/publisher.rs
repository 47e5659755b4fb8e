//! Publishing in the background: a task for each export, so that none waits for another.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

use super::{Export, FailureReason, Last, Published, Standing, State, confirm, file, publish_after};
use crate::table::{Name, Snapshot};

/// What the time is.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// What became of an attempt, or of asking a consumer that nothing was published to.
#[derive(Clone, Debug)]
pub struct Report {
    /// The export.
    pub export: Name,
    /// The attempt; none where the consumer was only asked.
    pub published: Option<Published>,
    /// How the export stands now.
    pub standing: Standing,
    /// The number of the offer that this answers, as [`Publisher::offer`] gave it.
    pub offer: u64,
}

/// What is wanted of one export's task.
#[derive(Clone, Debug)]
struct Wanted {
    export: Arc<Export>,
    snapshot: Option<Arc<Snapshot>>,
    offer: u64,
    /// How often a pause was to end at once.
    calls: u64,
}

/// Publishes what it is offered to every export. Of generations that come while an export is
/// busy, deferred or left alone after a failure, only the newest is published; publications
/// of one export, or into one file, never overlap. In between, consumers with a canary are
/// asked every now and then whether they still answer as the files say.
pub struct Publisher {
    clock: Clock,
    reports: mpsc::Sender<Report>,
    consumers: BTreeMap<Name, watch::Sender<Wanted>>,
    offers: u64,
    files: Files,
    tasks: JoinSet<()>,
}

impl std::fmt::Debug for Publisher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&Name> = self.consumers.keys().collect();
        f.debug_struct("Publisher").field("exports", &names).field("offers", &self.offers).finish()
    }
}

impl Publisher {
    /// Starts a task for each export. Every attempt is reported; a report that nobody takes
    /// in time holds its export up, and no other.
    pub fn start(
        exports: impl IntoIterator<Item = Export>,
        clock: &Clock,
        reports: &mpsc::Sender<Report>,
    ) -> Self {
        let mut publisher = Self {
            clock: Arc::clone(clock),
            reports: reports.clone(),
            consumers: BTreeMap::new(),
            offers: 0,
            files: Files::default(),
            tasks: JoinSet::new(),
        };
        publisher.set(exports);
        publisher
    }

    /// Takes other exports over: new ones get a task, those that are gone lose theirs once
    /// what it has begun is done, the others go on with what they are now. All of it begins
    /// with the next offer.
    pub fn set(&mut self, exports: impl IntoIterator<Item = Export>) {
        let mut before = std::mem::take(&mut self.consumers);
        for export in exports {
            let (name, export) = (export.name.clone(), Arc::new(export));
            let consumer = match before.remove(&name) {
                Some(consumer) => {
                    consumer.send_if_modified(|wanted| {
                        wanted.export = export;
                        false
                    });
                    consumer
                }
                None => self.begin(export),
            };
            self.consumers.insert(name, consumer);
        }
        while self.tasks.try_join_next().is_some() {}
    }

    fn begin(&mut self, export: Arc<Export>) -> watch::Sender<Wanted> {
        let (sender, wanted) = watch::channel(Wanted { export, snapshot: None, offer: 0, calls: 0 });
        let (clock, reports, files) =
            (Arc::clone(&self.clock), self.reports.clone(), Arc::clone(&self.files));
        let standing = Standing::default();
        let consumer =
            Consumer { wanted, clock, reports, files, standing, in_place: None, ask_at: None, round: 0 };
        self.tasks.spawn(consumer.run());
        sender
    }

    /// Has a generation published. Exports that failed are left alone until their pause ends.
    /// The number of this offer comes back.
    pub fn offer(&mut self, snapshot: Arc<Snapshot>) -> u64 {
        self.want(snapshot, false)
    }

    /// The same at a person's word: pauses after failures end at once.
    pub fn offer_at_once(&mut self, snapshot: Arc<Snapshot>) -> u64 {
        self.want(snapshot, true)
    }

    fn want(&mut self, snapshot: Arc<Snapshot>, at_once: bool) -> u64 {
        self.offers += 1;
        for consumer in self.consumers.values() {
            consumer.send_modify(|wanted| {
                wanted.snapshot = Some(Arc::clone(&snapshot));
                wanted.offer = self.offers;
                wanted.calls += u64::from(at_once);
            });
        }
        self.offers
    }

    /// Ends all tasks: a publication under way is brought to its end first, but what waits
    /// is not begun.
    pub async fn stop(self) {
        let Self { consumers, reports, tasks, .. } = self;
        drop((consumers, reports));
        tasks.join_all().await;
    }
}

/// Publishes once to every export, all at the same time, and waits for all of them. The order
/// of what became of them is that of the exports.
pub async fn publish_once(exports: &[Export], snapshot: &Arc<Snapshot>, clock: &Clock) -> Vec<Report> {
    let (sender, mut reports) = mpsc::channel(exports.len().max(1));
    let mut publisher = Publisher::start(exports.iter().cloned(), clock, &sender);
    drop(sender);
    publisher.offer(Arc::clone(snapshot));
    let mut first: BTreeMap<Name, Report> = BTreeMap::new();
    while first.len() < exports.len() {
        let Some(report) = reports.recv().await else { break };
        first.entry(report.export.clone()).or_insert(report);
    }
    publisher.stop().await;
    exports.iter().filter_map(|export| first.remove(&export.name)).collect()
}

/// Who writes which file: an export that is taken away and another that comes in its place
/// may have the same ones.
type Files = Arc<Mutex<BTreeMap<PathBuf, Arc<tokio::sync::Mutex<()>>>>>;

/// One export's task.
struct Consumer {
    wanted: watch::Receiver<Wanted>,
    clock: Clock,
    reports: mpsc::Sender<Report>,
    files: Files,
    standing: Standing,
    /// What the consumer was last told of, and by which export.
    in_place: Option<Last>,
    /// When it is asked again whether it still answers so.
    ask_at: Option<Instant>,
    round: u64,
}

impl Consumer {
    async fn run(mut self) {
        loop {
            let wanted = self.wanted.borrow_and_update().clone();
            if let Some(snapshot) = &wanted.snapshot
                && !self.attempt(&wanted, snapshot).await
            {
                return;
            }
            if !self.rest(&wanted).await {
                return;
            }
        }
    }

    /// Publishes. Says whether somebody still takes the report.
    async fn attempt(&mut self, wanted: &Wanted, snapshot: &Arc<Snapshot>) -> bool {
        let export = &wanted.export;
        make_folders(export);
        let published = {
            let own = self.own_files(export);
            // Always in the same order, so that nobody waits for each other.
            let mut held = Vec::with_capacity(own.len());
            for file in own {
                held.push(file.lock_owned().await);
            }
            publish_after(self.in_place.clone(), export, snapshot, (self.clock)()).await
        };
        self.standing.note(&published, (self.clock)());
        match &published.state {
            State::Published(manifest) | State::Unchanged(manifest) => {
                self.in_place = Some(Last { export: Arc::clone(export), snapshot: Arc::clone(snapshot) });
                // What was confirmed long ago is asked for soon.
                let fresh = matches!(published.state, State::Published(_)) && manifest.confirmed.is_some();
                self.ask_next(export, fresh);
            }
            // What it answers by then is not known.
            State::Failed(failure) if failure.reason == FailureReason::Manifest => self.in_place = None,
            State::Failed(_) | State::Deferred { .. } => {}
        }
        self.report(Some(published), wanted.offer).await
    }

    /// The locks of the files that a publication replaces.
    fn own_files(&self, export: &Export) -> Vec<Arc<tokio::sync::Mutex<()>>> {
        let mut paths = vec![export.path.clone()];
        paths.extend(export.groups.iter().map(|groups| groups.path.clone()));
        paths.sort_unstable();
        paths.dedup();
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.retain(|_, file| Arc::strong_count(file) > 1);
        paths.into_iter().map(|path| Arc::clone(files.entry(path).or_default())).collect()
    }

    /// Waits until there is something to do; meanwhile asks the consumer every now and then.
    /// Says whether the task is to go on.
    async fn rest(&mut self, done: &Wanted) -> bool {
        loop {
            let pause = self.standing.retry_at.map(|_| self.standing.wait((self.clock)()));
            tokio::select! {
                changed = self.wanted.changed() => match changed {
                    Err(_) => return false,
                    Ok(()) if pause.is_none() || self.wanted.borrow().calls != done.calls => return true,
                    // It is left alone, whatever is offered meanwhile.
                    Ok(()) => {}
                },
                () = after(pause) => return true,
                () = until(self.ask_at) => {
                    if !self.ask(done.offer).await {
                        return false;
                    }
                }
            }
        }
    }

    fn ask_next(&mut self, export: &Export, fresh: bool) {
        let pause = |every: Duration| if fresh { every } else { Duration::ZERO };
        self.ask_at = export.canary.as_ref().map(|canary| Instant::now() + pause(canary.every));
    }

    /// Asks whether the consumer answers as what is in place says. Whatever else is wanted
    /// comes first. Says whether somebody still takes the report.
    async fn ask(&mut self, offer: u64) -> bool {
        let Some(Last { export, snapshot }) = self.in_place.clone() else {
            self.ask_at = None;
            return true;
        };
        self.round += 1;
        let mut wanted = self.wanted.clone();
        let asked = tokio::select! {
            asked = confirm(&export, &snapshot, self.round) => asked,
            _ = wanted.changed() => return true,
        };
        self.ask_next(&export, true);
        let before = (self.standing.doubt.clone(), self.standing.confirmed);
        self.standing.asked(asked, (self.clock)());
        let now = (&self.standing.doubt, &self.standing.confirmed);
        now == (&before.0, &before.1) || self.report(None, offer).await
    }

    async fn report(&self, published: Option<Published>, offer: u64) -> bool {
        let export = self.wanted.borrow().export.name.clone();
        let report = Report { export, published, standing: self.standing.clone(), offer };
        self.reports.send(report).await.is_ok()
    }
}

/// Makes the folder of an export where only it is missing, as on a first start; anything
/// more is a mistake in the path, which publishing tells.
fn make_folders(export: &Export) {
    let files = [Some(&export.path), export.groups.as_ref().map(|groups| &groups.path)];
    for folder in files.into_iter().flatten().filter_map(|path| path.parent()) {
        let _ = file::make_folder(folder);
    }
}

async fn after(pause: Option<Duration>) {
    match pause {
        Some(pause) => sleep(pause).await,
        None => std::future::pending().await,
    }
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}
