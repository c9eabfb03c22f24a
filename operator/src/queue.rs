//! Drives a reconciler: each key strictly serial, a bounded number of keys at once, exponential back-off per
//! key. A failing or panicking key never holds up the others.
//!
//! Keys are whatever a controller calls one unit of work (a machine id, not an object), which is why this is
//! not kube's `applier`: that one looks every key up as an object of one store.

use std::collections::{HashMap, VecDeque};
use std::fmt::{Debug, Display};
use std::future::Future;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use futures::StreamExt;
use futures::stream::BoxStream;
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::time::{DelayQueue, delay_queue};

use crate::error::{Class, ReconcileError};
use crate::metrics::{Outcome, ReconcileMetrics};

/// First wait after a failure; doubled up to [`LONGEST_BACKOFF`], with jitter, until a pass succeeds.
const FIRST_BACKOFF: Duration = Duration::from_millis(200);
const LONGEST_BACKOFF: Duration = Duration::from_secs(60);
/// The longest that an event waits for a key in back-off.
const EVENT_IN_BACKOFF: Duration = Duration::from_secs(5);
/// How long running passes may take to end once the process is asked to stop.
const DRAIN: Duration = Duration::from_secs(10);
/// How many keys a queue keeps room for when it has less to do.
const ROOM: usize = 1024;

/// Why and when a key is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Trigger {
    /// Time since the last event that concerned this key; grows over repeated passes without an event.
    pub quiet_for: Duration,
}

/// What a successful pass asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Nothing to do until something changes.
    Wait,
    /// Look again after this long, or earlier if something changes.
    After(Duration),
}

/// Brings one key from what is to what shall be.
pub trait Reconciler: Send + Sync + 'static {
    /// One unit of work.
    type Key: Hash + Eq + Clone + Debug + Display + Send + Sync + 'static;
    /// Name in logs and metrics.
    const NAME: &'static str;
    /// One pass over one key. Level-triggered: what happened does not matter, only what is.
    fn reconcile(
        &self,
        key: Self::Key,
        trigger: Trigger,
    ) -> impl Future<Output = Result<Next, ReconcileError>> + Send;
}

/// Runs `reconciler` on the keys that `triggers` yield until `stop`; then lets running passes end.
pub async fn drive<R: Reconciler>(
    reconciler: Arc<R>,
    triggers: Vec<BoxStream<'static, R::Key>>,
    concurrency: usize,
    metrics: ReconcileMetrics,
    stop: CancellationToken,
) {
    let mut events = futures::stream::select_all(triggers);
    let mut queue = Queue::new(reconciler, concurrency, metrics);
    loop {
        queue.start_ready();
        tokio::select! {
            () = stop.cancelled() => break,
            Some(key) = events.next() => queue.event(&key),
            Some(due) = queue.timers.next(), if !queue.timers.is_empty() => queue.due(due.get_ref()),
            Some(ended) = queue.running.join_next_with_id(), if !queue.running.is_empty() => queue.ended(ended),
        }
    }
    let drained = tokio::time::timeout(DRAIN, async { while queue.running.join_next().await.is_some() {} });
    if drained.await.is_err() {
        tracing::warn!(controller = R::NAME, "passes still running after {DRAIN:?} are cut off");
    }
}

/// What is known about a key that is waiting, due or running.
struct Entry {
    last_event: Instant,
    /// When the first of the events came that no successful pass has dealt with.
    unhandled_since: Option<Instant>,
    running: bool,
    /// Due already (in `ready`), or again as soon as the running pass ends.
    queued: bool,
    timer: Option<delay_queue::Key>,
    /// Apart, since hardly any key has one.
    backoff: Option<Box<ExponentialBackoff>>,
}

struct Queue<R: Reconciler> {
    reconciler: Arc<R>,
    concurrency: usize,
    metrics: ReconcileMetrics,
    entries: HashMap<R::Key, Entry>,
    ready: VecDeque<R::Key>,
    timers: DelayQueue<R::Key>,
    running: JoinSet<Result<Next, ReconcileError>>,
    /// The key of each running pass, and since when the events it deals with have waited.
    by_task: HashMap<Id, (R::Key, Option<Instant>)>,
}

impl<R: Reconciler> Queue<R> {
    fn new(reconciler: Arc<R>, concurrency: usize, metrics: ReconcileMetrics) -> Self {
        Queue {
            reconciler,
            concurrency,
            metrics,
            entries: HashMap::new(),
            ready: VecDeque::new(),
            timers: DelayQueue::new(),
            running: JoinSet::new(),
            by_task: HashMap::new(),
        }
    }

    /// Something that concerns `key` changed: look at it now, whatever wait it was in. A key in back-off stays
    /// there for a few seconds, since a failing write is not made better by being repeated at the pace of events,
    /// but what a person decides must not wait for a minute behind it.
    fn event(&mut self, key: &R::Key) {
        let now = Instant::now();
        let entry = self.entries.entry(key.clone()).or_insert_with(|| Entry::new(now));
        entry.last_event = now;
        entry.unhandled_since.get_or_insert(now);
        match &entry.timer {
            Some(timer) if entry.backoff.is_some() => {
                let soon = now + EVENT_IN_BACKOFF;
                if self.timers.deadline(timer) > soon {
                    self.timers.reset_at(timer, soon);
                }
            }
            _ => self.make_ready(key),
        }
    }

    fn due(&mut self, key: &R::Key) {
        if let Some(entry) = self.entries.get_mut(key) {
            entry.timer = None;
        }
        self.make_ready(key);
    }

    fn make_ready(&mut self, key: &R::Key) {
        let Some(entry) = self.entries.get_mut(key) else { return };
        if let Some(timer) = entry.timer.take() {
            self.timers.remove(&timer);
        }
        if std::mem::replace(&mut entry.queued, true) || entry.running {
            return;
        }
        self.ready.push_back(key.clone());
        self.metrics.depth(self.ready.len());
    }

    fn start_ready(&mut self) {
        while self.running.len() < self.concurrency {
            let Some(key) = self.ready.pop_front() else { return };
            self.metrics.depth(self.ready.len());
            let Some(entry) = self.entries.get_mut(&key) else { continue };
            entry.queued = false;
            entry.running = true;
            let trigger = Trigger { quiet_for: entry.last_event.elapsed() };
            let since = entry.unhandled_since.take();
            let (reconciler, task_key) = (self.reconciler.clone(), key.clone());
            let task = self.running.spawn(async move { reconciler.reconcile(task_key, trigger).await });
            self.by_task.insert(task.id(), (key, since));
        }
    }

    fn ended(&mut self, ended: Result<(Id, Result<Next, ReconcileError>), JoinError>) {
        let id = ended.as_ref().map_or_else(JoinError::id, |(id, _)| *id);
        let Some((key, since)) = self.by_task.remove(&id) else { return };
        let Some(entry) = self.entries.get_mut(&key) else { return };
        entry.running = false;
        let again = std::mem::take(&mut entry.queued);
        let wait = match ended {
            Ok((_, Ok(next))) => {
                entry.backoff = None;
                self.metrics.finished(Outcome::Success);
                since.into_iter().for_each(|since| self.metrics.handled(since.elapsed()));
                match next {
                    Next::Wait => None,
                    Next::After(wait) => Some(wait),
                }
            }
            Ok((_, Err(error))) => {
                self.metrics.finished(Outcome::Failed(error.class()));
                entry.after_failure::<R>(&key, &error)
            }
            Err(panic) => {
                self.metrics.finished(Outcome::Panicked);
                tracing::error!(controller = R::NAME, %key, %panic, "a pass panicked");
                Some(entry.next_backoff())
            }
        };
        let failed = entry.backoff.is_some();
        if failed {
            entry.unhandled_since = since.or(entry.unhandled_since);
        }
        match wait {
            Some(wait) if failed || !again => entry.timer = Some(self.timers.insert(key, wait)),
            _ if again => self.make_ready(&key),
            _ => {
                self.entries.remove(&key);
                self.give_back();
            }
        }
    }

    /// What the many keys of a start took is given back when most of them are done.
    fn give_back(&mut self) {
        if self.entries.capacity() > ROOM && self.entries.len() < self.entries.capacity() / 8 {
            self.entries.shrink_to_fit();
            self.ready.shrink_to_fit();
        }
    }
}

impl Entry {
    fn new(now: Instant) -> Self {
        Entry {
            last_event: now,
            unhandled_since: None,
            running: false,
            queued: false,
            timer: None,
            backoff: None,
        }
    }

    fn next_backoff(&mut self) -> Duration {
        let backoff = self.backoff.get_or_insert_with(|| {
            let delays = ExponentialBuilder::new()
                .with_min_delay(FIRST_BACKOFF)
                .with_max_delay(LONGEST_BACKOFF)
                .with_jitter()
                .without_max_times();
            Box::new(delays.build())
        });
        backoff.next().unwrap_or(LONGEST_BACKOFF)
    }

    /// How long to wait after a failure of this class, logged at the level it deserves. A terminating namespace
    /// is no failure: the deletion events that follow bring the key up again as often as needed.
    fn after_failure<R: Reconciler>(&mut self, key: &R::Key, error: &ReconcileError) -> Option<Duration> {
        let class = error.class();
        if class == Class::Terminating {
            tracing::debug!(controller = R::NAME, %key, %error, "nothing is written here any more");
            return None;
        }
        let is_repeated = class == Class::Behind && self.backoff.is_some();
        let mut wait = self.next_backoff();
        if class == Class::Behind {
            // No event tells that a store is complete again and shows nothing new.
            wait = wait.min(EVENT_IN_BACKOFF);
        }
        if class == Class::Conflict || is_repeated {
            tracing::debug!(controller = R::NAME, %key, %error, ?wait, "deciding anew");
        } else {
            tracing::warn!(controller = R::NAME, %key, %class, %error, ?wait, "will try again");
        }
        Some(wait)
    }
}

#[cfg(test)]
mod tests;
