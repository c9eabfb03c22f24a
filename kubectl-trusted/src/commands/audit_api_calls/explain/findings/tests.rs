//! Each habit, from events as an API server logs them.

use super::super::super::document::Filter;
use super::super::super::log::Tally;
use super::*;

/// One request; `more` replaces or adds fields.
fn request(id: u32, verb: &str, resource: &str, more: &serde_json::Value) -> String {
    let at = format!("2026-11-30T17:{:02}:{:02}Z", id / 60 % 60, id % 60);
    let mut event = serde_json::json!({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "auditID": id.to_string(), "stage": "ResponseComplete",
        "verb": verb, "user": {"username": "op"}, "requestURI": format!("/api/v1/namespaces/x/{resource}"),
        "objectRef": {"resource": resource, "namespace": "x", "name": "o"}, "responseStatus": {"code": 200},
        "requestReceivedTimestamp": at, "stageTimestamp": at,
    });
    for (field, value) in more.as_object().cloned().unwrap_or_default() {
        event[field] = value;
    }
    event.to_string()
}

fn found(lines: &[String]) -> Vec<Finding> {
    let mut tally = Tally::new(Filter::default(), Habits::default());
    for line in lines {
        tally.line(line.as_bytes());
    }
    assert_eq!(tally.malformed, 0);
    let window = tally.window().length();
    of(&tally.into_sink(), window)
}

fn told(lines: &[String]) -> Vec<(Habit, u64, u64)> {
    found(lines).into_iter().map(|finding| (finding.habit, finding.count, finding.avoidable)).collect()
}

fn nothing() -> serde_json::Value {
    serde_json::json!({})
}

#[test]
fn an_object_that_is_read_again_and_again_is_polled() {
    let polls: Vec<_> = (0..20).map(|id| request(id * 3, "get", "deployments", &nothing())).collect();
    assert_eq!(told(&polls), [(Habit::PollingGets, 20, 19)]);
    assert!(
        found(&polls)[0].what.starts_with("20 GETs of 1 deployments, one every 2.9 s"),
        "{:?}",
        found(&polls)
    );
    let each = |id: u32| {
        let object = serde_json::json!({"resource": "secrets", "namespace": "x", "name": id.to_string()});
        request(id, "get", "secrets", &serde_json::json!({"objectRef": object}))
    };
    assert_eq!(told(&(0..20).map(each).collect::<Vec<_>>()), []);
}

#[test]
fn pages_of_one_list_are_one() {
    let list = |id: u32, query: &str| {
        let uri = format!("/api/v1/namespaces/x/pods?{query}");
        request(id, "list", "pods", &serde_json::json!({"requestURI": uri}))
    };
    let pages: Vec<_> = (0..20).map(|id| list(id, if id == 0 { "limit=5" } else { "continue=a" })).collect();
    assert_eq!(told(&pages), []);
    let lists: Vec<_> = (0..20).map(|id| list(id, "limit=5")).collect();
    assert_eq!(told(&lists), [(Habit::RepeatedLists, 20, 19)]);
}

#[test]
fn renewals_of_one_watch_are_no_second_one() {
    let watch = |id: u32| request(id, "watch", "pods", &nothing());
    assert_eq!(told(&[watch(0), watch(290), watch(580), request(900, "get", "pods", &nothing())]), []);
    let twice = [watch(0), watch(1), watch(290), watch(291), watch(580), watch(581)];
    assert_eq!(told(&twice), [(Habit::ManyWatches, 6, 3)]);
}

#[test]
fn refusals_are_told_by_their_kind() {
    let refused = |code: u16, verb: &str| -> Vec<String> {
        let answer = serde_json::json!({"responseStatus": {"code": code}});
        (0..10).map(|id| request(id, verb, "deployments", &answer)).collect()
    };
    assert_eq!(told(&refused(409, "update")), [(Habit::Conflicts, 10, 10)]);
    assert_eq!(told(&refused(409, "create")), [(Habit::CreatesOfExisting, 10, 10)]);
    assert_eq!(told(&refused(422, "update")), [(Habit::RefusedAgain, 10, 10)]);
    let asked = found(&refused(404, "get"));
    assert!(asked.iter().all(|finding| finding.habit == Habit::PollingGets), "{asked:?}");
}

#[test]
fn a_write_that_leaves_the_version_changed_nothing() {
    let body = |version: &str| serde_json::json!({"metadata": {"resourceVersion": version}, "data": {"a": "\u{e9}"}});
    let patch = |id: u32, after: &str| {
        request(id, "patch", "pods", &serde_json::json!({"responseObject": body(after)}))
    };
    assert_eq!(
        told(&[patch(1, "7"), patch(2, "8"), patch(3, "8"), patch(4, "9")]),
        [(Habit::WritesWithoutChange, 1, 1)]
    );
    let update = |id: u32, sent: &str, after: &str| {
        request(
            id,
            "update",
            "pods",
            &serde_json::json!({"requestObject": body(sent), "responseObject": body(after)}),
        )
    };
    assert_eq!(told(&[update(1, "7", "7")]), [(Habit::WritesWithoutChange, 1, 1)]);
    assert_eq!(told(&[update(1, "7", "8")]), []);
    // Without bodies nothing can be told.
    assert_eq!(
        told(&[request(1, "update", "pods", &nothing()), request(2, "update", "pods", &nothing())]),
        []
    );
}
