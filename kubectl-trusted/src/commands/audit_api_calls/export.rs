//! Counts in the forms of other programs: spreadsheets, CI systems, Prometheus.
//!
//! Owns which facts go into which form. The forms themselves are below; all of them escape what clients can choose,
//! which is any name of a resource.

pub(crate) mod csv;
mod junit;
mod prometheus;
pub(crate) mod xml;

use super::document::{Budget, Diff, Notes, Snapshot};
use crate::output::format::Export;

pub(crate) fn snapshot(snapshot: &Snapshot, export: Export) -> String {
    match export {
        Export::Csv => csv::snapshot(snapshot),
        Export::Junit => junit(&snapshot.notes, snapshot.budget.as_ref()),
        Export::Prometheus => prometheus::snapshot(snapshot),
    }
}

pub(crate) fn diff(diff: &Diff, export: Export) -> String {
    match export {
        Export::Csv => csv::diff(diff),
        Export::Junit => junit(&diff.notes, Some(&diff.budget)),
        Export::Prometheus => prometheus::diff(diff),
    }
}

/// The measurement itself is the first test: a report whose numbers mean nothing must not be green.
fn junit(notes: &Notes, budget: Option<&Budget>) -> String {
    let mut cases = vec![junit::Case {
        name: "the measurement is valid",
        failure: notes.invalid.then(|| notes.warnings.join("\n")),
        notes: notes.warnings.join("\n"),
    }];
    for check in budget.iter().flat_map(|budget| &budget.checks) {
        let breach =
            budget.and_then(|budget| budget.breaches.iter().find(|breach| breach.limit == check.limit));
        cases.push(junit::Case {
            name: &check.limit,
            failure: breach.map(super::render::breach),
            notes: format!("counted: {}", check.counted),
        });
    }
    junit::suite("audit-api-calls", &cases)
}
