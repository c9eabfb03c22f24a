//! Two readings of counters, brought to the processes that both of them are of.
//!
//! Owns nothing but the way from documents to `instances` and back.

use super::super::count::Counts;
use super::super::document::{Notes, Snapshot};
use super::super::instances::{self, clock, continued};

/// The two sides, with the rows of what continues.
pub(super) struct Joined {
    pub(super) before: Snapshot,
    pub(super) after: Snapshot,
    pub(super) notes: Notes,
}

pub(super) fn join(before: &Snapshot, after: &Snapshot) -> Joined {
    let (earlier, later) = (instances::parts(before), instances::parts(after));
    let continued = continued(&earlier, clock(&earlier, before.window.to), &later);
    let mut notes = Notes::default();
    continued.judge(before.source, &mut notes);
    let (first, second) = continued.sums();
    Joined { before: with(before, first), after: with(after, second), notes }
}

fn with(snapshot: &Snapshot, counts: Counts) -> Snapshot {
    Snapshot { total: counts.total(), rows: counts.rows(), ..snapshot.clone() }
}
