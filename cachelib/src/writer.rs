//! The one writer of a kind: turns watcher events into steps of the store.
//!
//! Owns the order within a step: store and indexes first, then the ledger of own writes, then subscribers, then
//! readiness. Whoever is woken therefore finds what it was woken for. Makes no requests and never waits.

use std::{
    mem,
    sync::{Arc, atomic::Ordering},
};

use kube::{Resource, runtime::watcher::Event};
use tracing::{info, warn};

use crate::{
    Cached, Cause, Key,
    arrival::{Arrival, Keep},
    cache::Core,
    canary::Progress,
    guard::Guard,
    ledger::Sight,
    store::{Change, Held},
};

/// Writing side of one kind. Dropping it ends the kind: subscriptions end and readiness says so.
pub(crate) struct Writer<K: Cached, T> {
    core: Arc<Core<T>>,
    keep: Keep<K, T>,
    phase: Phase<T>,
    /// Lists come on the watch itself.
    streaming: bool,
    /// What the stream has shown, where a canary asks for it.
    progress: Option<Progress>,
    /// The version that a stream must show before this kind is taken for synced again.
    needed: Option<u64>,
}

/// Where the stream is between two lists.
enum Phase<T> {
    /// No list has begun on this stream yet.
    Due,
    /// Collecting a list, which is taken in as a whole when it is complete.
    Listing(Vec<Arrival<T>>),
    /// The last list was taken in; changes follow.
    Watching,
}

impl<K: Cached, T> Writer<K, T> {
    pub(crate) fn new(core: Arc<Core<T>>, keep: Keep<K, T>) -> Self {
        Self { core, keep, phase: Phase::Due, streaming: false, progress: None, needed: None }
    }

    pub(crate) fn core(&self) -> &Core<T> {
        &self.core
    }

    /// Whether a list is due or under way.
    pub(crate) fn is_listing(&self) -> bool {
        matches!(self.phase, Phase::Due | Phase::Listing(_))
    }

    /// Whether a list has begun and is not complete.
    pub(crate) fn has_begun_list(&self) -> bool {
        matches!(self.phase, Phase::Listing(_))
    }

    /// Takes in one event of the stream.
    pub(crate) fn handle(&mut self, event: Event<Guard<K>>) {
        match event {
            Event::Init => self.begin_list(),
            Event::InitApply(guard) => {
                if let Phase::Listing(listed) = &mut self.phase {
                    listed.push(Arrival::listed(guard, &self.core.store, &self.keep));
                }
            }
            Event::InitDone => self.complete_list(),
            Event::Apply(guard) => self.apply(guard),
            Event::Delete(guard) => self.delete(&guard),
        }
    }

    /// Takes in a list that no stream follows.
    pub(crate) fn take_list(&mut self, listed: Vec<Guard<K>>) {
        self.core.ledger.list_begins();
        let arrivals = listed.into_iter().map(|guard| Arrival::of(guard, &self.keep));
        self.phase = Phase::Listing(arrivals.collect());
        self.complete_list();
        self.synced();
    }

    /// Notes that the stream is interrupted.
    pub(crate) fn failed(&mut self, cause: &Cause) {
        self.core.counts.errors.fetch_add(1, Ordering::Relaxed);
        self.core.set_failed(cause);
        self.streamed_list_may_begin();
    }

    /// Notes that the API server has accepted the watch. Only then is the kind synced: a list that nothing will keep
    /// up to date, for lack of the right to watch, is no state to decide on.
    pub(crate) fn watch_open(&self) {
        if !self.is_listing() {
            self.synced();
        }
    }

    /// Notes that the watch is open and shows nothing. Neither a new list nor an accepted watch proves the contrary:
    /// only a stream that has shown `version` does.
    pub(crate) fn frozen(&mut self, version: u64) {
        self.needed = Some(version);
    }

    /// Notes that the stream has shown what it had to.
    pub(crate) fn alive(&mut self) {
        self.needed = None;
        self.watch_open();
    }

    /// The version that the next stream has to show.
    pub(crate) fn needed(&self) -> Option<u64> {
        self.needed
    }

    /// Waits for a list from a new stream. What the store holds stays readable until that list is complete.
    ///
    /// `progress` is told what the stream shows.
    pub(crate) fn start_over(&mut self, streaming: bool, progress: Option<Progress>) {
        self.phase = Phase::Due;
        self.progress = progress;
        self.streaming = streaming;
        self.streamed_list_may_begin();
    }

    /// kube tells of the beginning of a paged list before it is asked for, of a streamed one only when the request
    /// was answered. What was written in between would be taken for written before, so the earliest moment at which
    /// it can have been asked for counts.
    fn streamed_list_may_begin(&self) {
        if self.streaming {
            self.core.ledger.list_begins();
        }
    }

    fn begin_list(&mut self) {
        if !self.streaming {
            self.core.ledger.list_begins();
        }
        self.phase = Phase::Listing(Vec::new());
    }

    fn complete_list(&mut self) {
        let Phase::Listing(listed) = mem::replace(&mut self.phase, Phase::Watching) else { return };
        for arrival in &listed {
            self.report_malformed(arrival);
        }
        let highest = listed.iter().filter_map(|arrival| arrival.identity.version()).max();
        let changes = self.core.store.replace(listed);
        self.core.counts.saw_version(highest);
        self.core.ledger.list_is_complete(highest, |key| self.core.store.held(key));
        self.core.counts.lists.fetch_add(1, Ordering::Relaxed);
        self.core.counts.saw_event();
        self.announce(&changes);
        if self.streaming {
            // The watch that goes on from here is the one that brought the list.
            self.synced();
        }
    }

    fn apply(&self, guard: Guard<K>) {
        let arrival = Arrival::of(guard, &self.keep);
        self.report_malformed(&arrival);
        let (key, held) = (Arc::clone(&arrival.key), arrival.identity.held());
        let changes = self.core.store.apply(arrival);
        self.finish_step(&key, &Sight::Present(held), &changes);
    }

    fn delete(&self, guard: &Guard<K>) {
        let (key, held) = (guard.key(), Held::of(guard.meta()));
        let changes = self.core.store.delete(&key, &held);
        self.finish_step(&key, &Sight::Gone(held), &changes);
    }

    fn finish_step(&self, key: &Key, sight: &Sight, changes: &[Change<T>]) {
        let (Sight::Present(held) | Sight::Gone(held)) = sight;
        let version = held.version.parse().ok();
        self.core.counts.saw_version(version);
        self.core.counts.saw_event();
        if let (Some(progress), Some(version)) = (&self.progress, version) {
            progress.saw(version);
        }
        self.core.ledger.saw(key, sight);
        self.announce(changes);
        self.synced();
    }

    fn announce(&self, changes: &[Change<T>]) {
        if changes.is_empty() {
            return;
        }
        for subscriber in self.core.subscribers.current() {
            for change in changes {
                subscriber.announce(change.old.as_deref(), change.new.as_deref());
            }
        }
    }

    fn synced(&self) {
        if self.needed.is_none() && self.core.set_synced() {
            let core = self.core();
            info!(kind = core.resource, scope = %core.source, objects = core.store.len(), "synced");
        }
    }

    /// Names a malformed object once for each version of it.
    fn report_malformed(&self, arrival: &Arrival<T>) {
        let Err(reason) = &arrival.content else { return };
        let core = self.core();
        if !core.store.is_malformed(&arrival.key, &arrival.identity) {
            warn!(kind = core.resource, object = %arrival.key, reason, "object is malformed and not served");
        }
    }
}

impl<K: Cached, T> Drop for Writer<K, T> {
    fn drop(&mut self) {
        self.core.set_failed(&Cause::Stopped);
        self.core.subscribers.close();
    }
}

#[cfg(test)]
mod tests;
