//! Own writes that the store does not show yet.
//!
//! Owns the expectations of a kind: a writer notes the version its request was answered with, and a reader asks
//! whether the store has caught up before it decides anything on that object. Every expectation ends: when the
//! stream shows or passes that version, after a list that began after the write, or after [`PATIENCE`].

use std::{collections::HashMap, time::Duration};

use parking_lot::Mutex;
use tokio::{
    sync::Notify,
    time::{Instant, timeout},
};
use tracing::warn;

use crate::{Key, store::Held, version};

/// How long an own write may stay invisible before it is given up. A healthy stream shows it within milliseconds; a
/// broken one is repaired by then or reported as stale.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// What the writer of the kind has just seen of one object.
#[derive(Clone, Debug)]
pub(crate) enum Sight {
    /// The object exists in this state.
    Present(Held),
    /// The object was deleted.
    Gone(Held),
}

/// The expectations of one kind.
#[derive(Default)]
pub(crate) struct Ledger {
    state: Mutex<State>,
    caught_up: Notify,
}

#[derive(Default)]
struct State {
    pending: HashMap<Key, Vec<Expectation>>,
    lists_begun: u64,
}

#[derive(Clone, Debug)]
struct Expectation {
    uid: String,
    goal: Goal,
    since: Instant,
    lists_begun: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Goal {
    /// The object is seen in this version or a later one.
    Version(String),
    /// The object is seen deleted or being deleted. `after` is the version of an own write to it that was not yet
    /// visible when it was deleted.
    Gone { after: Option<String> },
}

impl Ledger {
    /// Notes an answered write. `held` reads the store; it is asked under the ledger's lock, so that a change the
    /// writer applies meanwhile is either read here or settled by its own call to [`Ledger::saw`] afterwards.
    pub(crate) fn expect_version(
        &self,
        key: &Key,
        uid: &str,
        version: &str,
        held: impl FnOnce() -> (Option<Held>, Option<u64>),
    ) {
        let mut state = self.state.lock();
        let (held, passed) = held();
        let shown = held.is_some_and(|held| held.uid == uid && version::reached(&held.version, version));
        let passed =
            passed.zip(version.parse().ok()).is_some_and(|(passed, wanted): (u64, u64)| passed >= wanted);
        if !shown && !passed {
            state.add(key, uid, Goal::Version(version.to_owned()));
        }
    }

    /// Notes an accepted deletion.
    pub(crate) fn expect_gone(&self, key: &Key, uid: &str, held: impl FnOnce() -> Option<Held>) {
        let mut state = self.state.lock();
        let after = state.pending_version(key, uid);
        let shown = match held() {
            Some(held) if held.uid == uid => held.deleting,
            _ => after.is_none(),
        };
        if !shown {
            state.add(key, uid, Goal::Gone { after });
        }
    }

    /// Whether no own write to the object waits to become visible.
    pub(crate) fn is_current(&self, key: &Key) -> bool {
        let mut state = self.state.lock();
        state.give_up_old();
        !state.pending.contains_key(key)
    }

    /// Waits until [`Ledger::is_current`], at most for `limit`; returns whether it is.
    pub(crate) async fn caught_up(&self, key: &Key, limit: Duration) -> bool {
        timeout(limit, self.wait(key)).await.is_ok()
    }

    async fn wait(&self, key: &Key) {
        loop {
            // Made before the look: it then hears of everything that is settled from here on.
            let settled = self.caught_up.notified();
            if self.is_current(key) {
                return;
            }
            // Nobody reports that patience has run out, so the wait is cut short to look again.
            let _ = timeout(PATIENCE, settled).await;
        }
    }

    /// Tells what the stream showed; ends the expectations that this fulfils.
    pub(crate) fn saw(&self, key: &Key, sight: &Sight) {
        self.settle(|at, expectation| !expectation.is_met(at == key, sight));
    }

    /// Tells that a list is about to be asked for.
    pub(crate) fn list_begins(&self) {
        self.state.lock().lists_begun += 1;
    }

    /// Tells that the list begun last is complete and in the store, and the highest version in it. What was written
    /// before it began is in it; for what was written meanwhile the store is asked.
    pub(crate) fn list_is_complete(&self, highest: Option<u64>, held: impl Fn(&Key) -> Option<Held>) {
        let begun = self.state.lock().lists_begun;
        self.settle(|key, expectation| {
            expectation.lists_begun >= begun && !expectation.is_in_list(held(key), highest)
        });
    }

    fn settle(&self, keep: impl Fn(&Key, &Expectation) -> bool) {
        let mut state = self.state.lock();
        if state.pending.is_empty() {
            return;
        }
        let before = state.pending.len();
        state.give_up_old();
        state.retain(keep);
        if state.pending.len() != before {
            drop(state);
            self.caught_up.notify_waiters();
        }
    }
}

impl State {
    fn add(&mut self, key: &Key, uid: &str, goal: Goal) {
        let lists_begun = self.lists_begun;
        let entries = self.pending.entry(key.clone()).or_default();
        // A later write to the same object includes the earlier one, unless it came in out of order.
        let overtaken = entries.iter().any(|entry| entry.uid == uid && entry.goal.includes(&goal));
        if overtaken {
            return;
        }
        entries.retain(|entry| entry.uid != uid);
        entries.push(Expectation { uid: uid.to_owned(), goal, since: Instant::now(), lists_begun });
    }

    fn pending_version(&self, key: &Key, uid: &str) -> Option<String> {
        self.pending.get(key)?.iter().find(|entry| entry.uid == uid).and_then(|entry| match &entry.goal {
            Goal::Version(version) => Some(version.clone()),
            Goal::Gone { after } => after.clone(),
        })
    }

    fn retain(&mut self, keep: impl Fn(&Key, &Expectation) -> bool) {
        self.pending.retain(|key, entries| {
            entries.retain(|entry| keep(key, entry));
            !entries.is_empty()
        });
    }

    /// Drops what has waited too long; each is logged as it goes, and so once.
    fn give_up_old(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let now = Instant::now();
        self.retain(|key, entry| {
            let keep = now.duration_since(entry.since) < PATIENCE;
            if !keep {
                warn!(object = %key, uid = entry.uid, waited = ?PATIENCE, "own write did not become visible");
            }
            keep
        });
    }
}

impl Goal {
    /// Whether reaching this goal implies the other one of the same object.
    fn includes(&self, other: &Goal) -> bool {
        match (self, other) {
            (Self::Gone { .. }, _) => true,
            (Self::Version(ours), Self::Version(other)) => version::reached(ours, other),
            (Self::Version(_), Self::Gone { .. }) => false,
        }
    }
}

impl Expectation {
    /// Whether a sight fulfils this. Events of a kind arrive in the order of their versions, so a later version of
    /// any object shows that the stream has passed ours.
    fn is_met(&self, same_key: bool, sight: &Sight) -> bool {
        let (seen, gone) = match sight {
            Sight::Present(held) => (held, held.deleting),
            Sight::Gone(held) => (held, true),
        };
        match &self.goal {
            Goal::Version(wanted) => {
                let deleted = matches!(sight, Sight::Gone(_)) && same_key && seen.uid == self.uid;
                version::reached(&seen.version, wanted) || deleted
            }
            Goal::Gone { .. } if !same_key => false,
            Goal::Gone { .. } if seen.uid == self.uid => gone,
            Goal::Gone { after } => after.as_ref().is_none_or(|after| version::reached(&seen.version, after)),
        }
    }

    /// Whether a list fulfils this that was under way when the write was answered, so that it may show the state
    /// before the write or the one after it. `held` is what the store holds under the key now.
    ///
    /// A list after a deletion lacks the object, and no event follows that would tell. One before it holds the
    /// object, and its deletion follows; the same uid is therefore waited for.
    fn is_in_list(&self, held: Option<Held>, highest: Option<u64>) -> bool {
        let past = |version: &str| highest.zip(version.parse().ok()).is_some_and(|(seen, ours)| seen >= ours);
        let ours = held.as_ref().is_some_and(|held| held.uid == self.uid);
        let shown = held.is_some_and(|held| self.is_met(true, &Sight::Present(held)));
        match &self.goal {
            Goal::Version(wanted) => shown || past(wanted),
            Goal::Gone { .. } if ours => shown,
            // Before that version there was no such object yet: the list may be from then.
            Goal::Gone { after } => shown || after.as_deref().is_none_or(past),
        }
    }
}

#[cfg(test)]
mod tests;
