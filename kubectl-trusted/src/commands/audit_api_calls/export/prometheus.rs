//! The text format of Prometheus.
//!
//! Owns the names of the series. They are gauges: what was counted in a window is no counter that goes on.
//! Source of the format: the Prometheus documentation, "Exposition formats".

use super::super::document::{Budget, Diff, Kind, Snapshot};
use super::super::group::Group;

const REQUESTS: &str = "audit_api_calls_requests";

pub(super) fn snapshot(snapshot: &Snapshot) -> String {
    let mut text = head(REQUESTS, "Requests counted in the window");
    let source = snapshot.source.word();
    for row in &snapshot.rows {
        let code = row.code.to_string();
        let labels = kind(&row.kind, &[("code", &code), ("source", source)]);
        text.push_str(&format!("{REQUESTS}{{{labels}}} {}\n", row.count));
    }
    text.push_str(&head("audit_api_calls_open_watches", "Watches open at the end of the window"));
    for open in &snapshot.open_watches {
        let labels = labels(&[("group", &open.group), ("resource", &open.resource)]);
        text.push_str(&format!("audit_api_calls_open_watches{{{labels}}} {}\n", open.count));
    }
    if let Some(length) = snapshot.window.length() {
        text.push_str(&head("audit_api_calls_window_seconds", "Length of the window"));
        text.push_str(&format!("audit_api_calls_window_seconds {}\n", length.as_secs_f64()));
    }
    validity(&mut text, snapshot.notes.invalid, snapshot.budget.as_ref());
    text
}

pub(super) fn diff(diff: &Diff) -> String {
    let mut text = head(REQUESTS, "Requests counted on each side of the comparison");
    for row in &diff.rows {
        for (side, count) in [("before", row.change.before), ("after", row.change.after)] {
            let labels = kind(&row.kind, &[("side", side), ("source", &row.source)]);
            text.push_str(&format!("{REQUESTS}{{{labels}}} {count}\n"));
        }
    }
    validity(&mut text, diff.notes.invalid, Some(&diff.budget));
    text
}

fn validity(text: &mut String, invalid: bool, budget: Option<&Budget>) {
    text.push_str(&head("audit_api_calls_valid", "1 while the numbers hold what they seem to say"));
    text.push_str(&format!("audit_api_calls_valid {}\n", u8::from(!invalid)));
    let Some(budget) = budget.filter(|budget| !budget.checks.is_empty()) else { return };
    text.push_str(&head("audit_api_calls_budget_kept", "1 for each limit that is kept"));
    for check in &budget.checks {
        let labels = labels(&[("limit", &check.limit)]);
        text.push_str(&format!("audit_api_calls_budget_kept{{{labels}}} {}\n", u8::from(check.ok)));
    }
}

fn head(name: &str, help: &str) -> String {
    format!("# HELP {name} {help}\n# TYPE {name} gauge\n")
}

fn kind(kind: &Kind, more: &[(&str, &str)]) -> String {
    let all = [
        &[
            ("verb", kind.verb.as_str()),
            ("group", &kind.group),
            ("resource", &kind.resource),
            ("subresource", &kind.subresource),
            ("kind", Group::of(kind).word()),
        ],
        more,
    ];
    labels(&all.concat())
}

fn labels(labels: &[(&str, &str)]) -> String {
    let label = |(name, value): &(&str, &str)| format!("{name}=\"{}\"", escaped(value));
    labels.iter().map(label).collect::<Vec<_>>().join(",")
}

fn escaped(value: &str) -> String {
    let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    crate::output::neutral::for_terminal(&value).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_back_as_they_were() {
        assert_eq!(labels(&[("a", "b\"\\\nc"), ("d", "")]), "a=\"b\\\"\\\\\\nc\",d=\"\"");
    }
}
