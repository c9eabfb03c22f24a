//! Which comparisons hold, and what is said about the others.

use jiff::Timestamp;

use super::super::count::{Counts, Key};
use super::super::document::Source;
use super::*;

fn at(minute: i32) -> Option<Timestamp> {
    format!("2026-11-30T17:{minute:02}:00Z").parse().ok()
}

fn instance(start: i32) -> Instance {
    Instance { url: "https://127.0.0.1:1/".into(), process_start: at(start), ..Instance::default() }
}

fn snapshot(source: Source, rows: &[(&str, &str, u16, u64)]) -> Snapshot {
    let mut counts = Counts::default();
    for (verb, resource, code, count) in rows {
        let kind = Kind { verb: (*verb).into(), resource: (*resource).into(), ..Kind::default() };
        counts.add(Key { kind, code: *code }, *count);
    }
    let instances = if source == Source::ApiserverMetrics { vec![instance(0)] } else { Vec::new() };
    Snapshot { instances, ..Snapshot::of(source, Window { from: at(0), to: at(10) }, counts) }
}

fn logs(rows: &[(&str, &str, u16, u64)]) -> Snapshot {
    snapshot(Source::AuditLog, rows)
}

fn metrics(rows: &[(&str, &str, u16, u64)]) -> Snapshot {
    snapshot(Source::ApiserverMetrics, rows)
}

fn plain(before: &Snapshot, after: &Snapshot) -> Diff {
    compared(before, after, &Limits::default())
}

fn compared(before: &Snapshot, after: &Snapshot, limits: &Limits) -> Diff {
    compare(Named { file: "a", snapshot: before }, Named { file: "b", snapshot: after }, limits)
}

fn limits(max: &str) -> Limits {
    Limits { max: vec![budget::parse_max(max).unwrap()], ..Limits::default() }
}

#[test]
fn rows_of_both_sides_meet_whatever_their_codes() {
    let before = logs(&[("get", "secrets", 200, 7), ("get", "secrets", 404, 3), ("list", "pods", 200, 4)]);
    let after = logs(&[("get", "secrets", 200, 1), ("watch", "pods", 200, 2)]);
    let diff = plain(&before, &after);
    let shown: Vec<_> = diff
        .rows
        .iter()
        .map(|row| (&*row.kind.verb, &*row.kind.resource, row.change.before, row.change.after))
        .collect();
    assert_eq!(shown, [("get", "secrets", 10, 1), ("list", "pods", 4, 0), ("watch", "pods", 0, 2)]);
    assert_eq!(diff.total, Change::between(14, 3));
    assert_eq!(diff.failed, Change::between(3, 0));
    assert!(!diff.notes.invalid && diff.notes.warnings.is_empty(), "{:?}", diff.notes.warnings);
}

#[test]
fn different_sources_are_not_compared() {
    assert!(plain(&logs(&[]), &metrics(&[])).notes.invalid);
}

#[test]
fn a_restart_or_a_fallen_counter_makes_the_comparison_invalid() {
    let before = metrics(&[("get", "pods", 200, 5)]);
    let mut after = metrics(&[("get", "pods", 200, 9)]);
    assert!(!plain(&before, &after).notes.invalid);
    after.instances = vec![instance(5)];
    assert!(plain(&before, &after).notes.warnings.iter().any(|warning| warning.contains("restarted")));
    assert!(plain(&before, &after).notes.invalid);
    let fallen = metrics(&[("get", "pods", 200, 4)]);
    assert!(plain(&before, &fallen).notes.warnings.iter().any(|warning| warning.contains("fell")));
    assert!(plain(&before, &fallen).notes.invalid);
}

#[test]
fn windows_of_different_length_are_named() {
    let before = logs(&[]);
    let mut after = logs(&[]);
    after.window = Window { from: at(10), to: at(12) };
    let diff = plain(&before, &after);
    assert!(!diff.notes.invalid);
    assert!(diff.notes.warnings[0].contains("(10m and 2m)"), "{:?}", diff.notes.warnings);
}

#[test]
fn swapped_sides_are_named() {
    let (mut before, mut after) = (logs(&[("get", "pods", 200, 1)]), logs(&[("get", "pods", 200, 2)]));
    (before.window.from, before.window.to) = (at(10), at(20));
    (after.window.from, after.window.to) = (at(0), at(10));
    let told = plain(&before, &after).notes.warnings;
    assert!(told.iter().any(|warning| warning.contains("are the two swapped?")), "{told:?}");
    let told = plain(&after, &before).notes.warnings;
    assert!(!told.iter().any(|warning| warning.contains("swapped")), "{told:?}");
}

#[test]
fn budgets_measure_the_second_log_but_what_counters_added() {
    let (before, after) = (&[("list", "pods", 200, 5)][..], &[("list", "pods", 200, 7)][..]);
    let of_logs = compared(&logs(before), &logs(after), &limits("list=6"));
    assert_eq!(of_logs.budget.breaches[0].counted, "7");
    let of_counters = compared(&metrics(before), &metrics(after), &limits("list=1"));
    assert_eq!(of_counters.budget.breaches[0].counted, "2");
}

#[test]
fn growth_is_judged_on_the_total() {
    let limits = Limits { max_increase: vec![("--max-increase 5%".into(), 5.0)], ..limits("get=99") };
    let (before, after) = (&[("get", "a", 200, 10)][..], &[("get", "b", 200, 12)][..]);
    let diff = compared(&logs(before), &logs(after), &limits);
    assert!(!diff.budget.ok);
    assert_eq!(diff.budget.breaches[0].message, "10 requests became 12 (+20%)");
    // Counters since the start of a server are no two windows.
    assert!(compared(&metrics(before), &metrics(after), &limits).notes.invalid);
}

#[test]
fn other_files_are_named_for_what_they_are() {
    let error = |text: &str| parse("f", text).unwrap_err().what;
    assert_eq!(error(""), "\"f\" is no snapshot: it is empty");
    assert_eq!(error("a: [b"), "\"f\" is no snapshot: it is neither JSON nor YAML of the plug-in");
    assert_eq!(
        error("{\"apiVersion\":\"v1\",\"kind\":\"Pod\"}"),
        "\"f\" is no snapshot: its kind is \"Pod\""
    );
    assert!(error("{\"kind\":\"ApiCallSnapshot\"}").contains("apiVersion"));
    assert!(error("{\"kind\":").starts_with("\"f\" is no snapshot: EOF"));
    let event = serde_json::json!({"kind": "Event", "apiVersion": "audit.k8s.io/v1", "stage": "Panic", "verb": "get",
        "requestReceivedTimestamp": "2026-11-30T17:00:00Z", "stageTimestamp": "2026-11-30T17:00:00Z"});
    assert_eq!(error(&format!("{event}\n{event}\n")), "\"f\" is an audit log, not a snapshot of one");
}

#[test]
fn a_snapshot_survives_json_and_yaml() {
    let snapshot = metrics(&[("get", "pods", 200, 5)]);
    for text in
        [crate::output::machine::json(&snapshot).unwrap(), crate::output::machine::yaml(&snapshot).unwrap()]
    {
        assert_eq!(parse("f", &text).unwrap(), snapshot, "{text}");
    }
}
