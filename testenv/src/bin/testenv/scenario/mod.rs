//! Measurements with a fixed contract.
//!
//! Purpose: figures that anybody can have again with one command, counted by the API server, and an exit code that
//! says whether what we promise holds.

pub(crate) mod calls;
mod calls_report;
pub(crate) mod faults;
pub(crate) mod latency;
pub(crate) mod sync;

use std::collections::BTreeMap;

use testenv::audit::Requests;

/// Verbs that a report names even when there are none.
const VERBS: [&str; 7] = ["get", "list", "watch", "create", "patch", "update", "delete"];

/// Counts by verb, with zeros.
fn by_verb(requests: &Requests) -> BTreeMap<String, usize> {
    let mut counts = requests.by_verb();
    for verb in VERBS {
        counts.entry(verb.to_owned()).or_default();
    }
    counts
}

/// Counts by verb in one line, without zeros.
fn in_words(counts: &BTreeMap<String, usize>) -> String {
    let words: Vec<String> = counts
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(|(verb, count)| format!("{count} {verb}"))
        .collect();
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}
