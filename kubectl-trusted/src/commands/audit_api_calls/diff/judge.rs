//! Which comparisons hold, and what must be said about the others.
//!
//! Owns the rules, as a pure function of the two documents.

use super::super::document::{DiffRow, Filter, Notes, Snapshot, Window};
use super::super::validity;
use crate::output::time::duration;

/// Windows that differ by more than this share are worth a warning.
const SAME_LENGTH: f64 = 0.1;

/// What a reader must know, and whether the comparison holds.
pub(super) fn judge(before: &Snapshot, after: &Snapshot, rows: &[DiffRow]) -> Notes {
    let mut notes = said_of_one_side(before, after);
    notes.doubtful = before.notes.doubtful || after.notes.doubtful;
    notes.invalid = before.notes.invalid || after.notes.invalid;
    if before.source != after.source {
        notes.invalidate(format!(
            "before is from {}, after from {}: they count different things and cannot be compared",
            before.source.word(),
            after.source.word()
        ));
        return notes;
    }
    if before.is_cumulative() != after.is_cumulative() {
        notes.invalidate(
            "one side holds the counters since the server's start, the other those of a window: they cannot be compared",
        );
        return notes;
    }
    judge_filters(&before.filter, &after.filter, &mut notes);
    if before.window.to.zip(after.window.to).is_some_and(|(before, after)| before > after) {
        notes.doubt("the snapshot before is of a later time than the one after: are the two swapped?");
    }
    if before.is_cumulative() {
        judge_counters(before, after, rows, &mut notes);
    } else {
        judge_windows(before, after, &mut notes);
    }
    notes
}

fn said_of_one_side(before: &Snapshot, after: &Snapshot) -> Notes {
    let mut notes = Notes::default();
    let (first, second) = (&before.notes.warnings, &after.notes.warnings);
    for (name, one, other) in [("before", first, second), ("after", second, first)] {
        // What holds of both is said once.
        let alone = one.iter().filter(|warning| !other.contains(warning));
        notes.warnings.extend(alone.map(|warning| format!("{name}: {warning}")));
    }
    notes.warnings.extend(first.iter().filter(|warning| second.contains(warning)).cloned());
    notes
}

fn judge_filters(before: &Filter, after: &Filter, notes: &mut Notes) {
    if before.user != after.user {
        let user = |filter: &Filter| match &filter.user {
            Some(user) => format!("user {user}"),
            None => "all users".to_owned(),
        };
        // Two versions of one operator may run as two users.
        notes.note(format!(
            "the sides differ in whose requests they are: {} and {}",
            user(before),
            user(after)
        ));
    }
    if before.user_agent != after.user_agent {
        notes.note("the sides differ in the user agents they count");
    }
    if before.api_group != after.api_group {
        notes.invalidate("the sides differ in the API groups they count");
    }
    if before.namespaces != after.namespaces {
        notes.doubt("the sides differ in the namespaces they count");
    }
}

fn judge_counters(before: &Snapshot, after: &Snapshot, rows: &[DiffRow], notes: &mut Notes) {
    let fallen = rows.iter().filter(|row| row.change.after < row.change.before).count();
    if fallen > 0 {
        notes.invalidate(format!(
            "{fallen} counters fell, which a counter never does: the two are not of one process"
        ));
    }
    let between = Window { from: before.window.to, to: after.window.to };
    notes.extend(validity::of_window(&between, true));
}

fn judge_windows(before: &Snapshot, after: &Snapshot, notes: &mut Notes) {
    let Some((first, second)) = before.window.length().zip(after.window.length()) else { return };
    let (short, long) = (first.min(second).as_secs_f64(), first.max(second).as_secs_f64());
    if short < long * (1.0 - SAME_LENGTH) {
        notes.doubt(format!(
            "the windows are of different length ({} and {}): compare the numbers per minute as well",
            duration(first),
            duration(second)
        ));
    }
}
