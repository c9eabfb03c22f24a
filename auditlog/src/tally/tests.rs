//! The counting rule, stage by stage.

use proptest::prelude::*;

use super::*;
use crate::kind::Kind;

/// The numbers and nothing else.
#[derive(Default)]
struct Counts(BTreeMap<Key, u64>);

impl Sink for Counts {
    fn count(&mut self, event: &Event<'_>) {
        *self.0.entry(event.key()).or_default() += 1;
    }
}

impl Counts {
    fn total(&self) -> u64 {
        self.0.values().sum()
    }

    fn kinds(self) -> Vec<Kind> {
        self.0.into_keys().map(|key| key.kind).collect()
    }
}

/// An event of a log, at `second` past the hour.
fn event(id: &str, stage: &str, verb: &str, resource: &str, second: u32) -> String {
    received(id, stage, verb, resource, (second, second))
}

fn received(id: &str, stage: &str, verb: &str, resource: &str, (received, staged): (u32, u32)) -> String {
    serde_json::json!({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "auditID": id, "stage": stage,
        "requestURI": format!("/api/v1/{resource}"), "verb": verb, "user": {"username": "op"},
        "objectRef": {"resource": resource, "apiVersion": "v1"}, "responseStatus": {"code": 200},
        "requestReceivedTimestamp": format!("2026-11-30T17:00:{received:02}.000000Z"),
        "stageTimestamp": format!("2026-11-30T17:00:{staged:02}.000000Z"),
    })
    .to_string()
}

fn tally(lines: &[String]) -> Tally<Counts> {
    tally_with(Filter::default(), lines)
}

fn tally_with(filter: Filter, lines: &[String]) -> Tally<Counts> {
    let mut tally = Tally::new(filter, Counts::default());
    for line in lines {
        tally.line(line.as_bytes());
    }
    tally
}

#[test]
fn a_request_counts_once_whatever_stages_are_logged() {
    let stages = ["RequestReceived", "ResponseStarted", "ResponseComplete"];
    let watch = stages.map(|stage| event("w", stage, "watch", "pods", 1));
    let get = ["RequestReceived", "ResponseComplete"].map(|stage| event("g", stage, "get", "pods", 2));
    let panic = ["RequestReceived", "Panic"].map(|stage| event("p", stage, "update", "pods", 3));
    let lines: Vec<_> = watch.into_iter().chain(get).chain(panic).collect();
    assert_eq!(tally(&lines).into_sink().total(), 3);
}

#[test]
fn a_watch_counts_when_it_starts_and_is_open_until_it_ends() {
    let started = event("w", "ResponseStarted", "watch", "secrets", 1);
    let open = tally(std::slice::from_ref(&started));
    assert_eq!(
        open.open_watches()[0],
        OpenWatches { group: String::new(), resource: "secrets".into(), count: 1 }
    );
    assert_eq!(open.into_sink().total(), 1);
    let ended = tally(&[started, event("w", "ResponseComplete", "watch", "secrets", 9)]);
    assert!(ended.open_watches().is_empty());
    assert_eq!(ended.into_sink().total(), 1);
}

#[test]
fn a_watch_without_a_start_counts_where_the_policy_omits_that_stage() {
    let lines = [
        event("g", "ResponseComplete", "get", "pods", 1),
        received("w", "ResponseComplete", "watch", "pods", (2, 9)),
    ];
    assert_eq!(tally(&lines).into_sink().total(), 2);
}

#[test]
fn a_watch_begun_before_the_log_belongs_to_the_log_before() {
    let before = event("w", "ResponseStarted", "watch", "pods", 1);
    let after = [
        event("g", "ResponseComplete", "get", "pods", 5),
        received("w", "ResponseComplete", "watch", "pods", (1, 9)),
    ];
    let alone = tally(&after);
    assert_eq!(alone.headless(), 1);
    assert_eq!(alone.into_sink().total(), 1);
    // Rotated logs add up in either order.
    for lines in [[&before, &after[0], &after[1]], [&after[0], &after[1], &before]] {
        let whole = tally(&lines.map(Clone::clone));
        assert_eq!(whole.headless(), 0);
        assert_eq!(whole.into_sink().total(), 2);
    }
}

#[test]
fn lines_delivered_twice_count_once() {
    let lines = [
        event("w", "ResponseStarted", "watch", "pods", 1),
        event("w", "ResponseStarted", "watch", "pods", 1),
        event("g", "ResponseComplete", "get", "pods", 2),
        event("g", "ResponseComplete", "get", "pods", 2),
        event("w", "ResponseComplete", "watch", "pods", 3),
        event("w", "ResponseComplete", "watch", "pods", 3),
    ];
    let tally = tally(&lines);
    assert_eq!(tally.repeated, 3);
    assert_eq!(tally.into_sink().total(), 2);
}

#[test]
fn a_refused_request_that_logs_its_start_only_counts_once() {
    let refused = event("x", "ResponseStarted", "get", "pods", 1).replace("\"code\":200", "\"code\":401");
    let tally = tally(&[refused.clone(), refused]);
    assert!(tally.open_watches().is_empty());
    assert_eq!(tally.repeated, 1);
    assert_eq!(tally.into_sink().total(), 1);
}

#[test]
fn a_refused_watch_has_no_start_in_another_log() {
    let refused = received("x", "ResponseComplete", "watch", "pods", (1, 2)).replace("200", "403");
    let tally = tally(&[refused]);
    assert_eq!((tally.headless(), tally.counted()), (0, 1));
}

#[test]
fn the_window_takes_requests_as_a_whole_by_the_time_they_were_received() {
    let second = |second: u32| format!("2026-11-30T17:00:{second:02}Z").parse().ok();
    let filter = Filter { since: second(2), until: second(5), ..Filter::default() };
    let lines = [
        event("early", "ResponseStarted", "watch", "pods", 1),
        received("early", "ResponseComplete", "watch", "pods", (1, 3)),
        received("in", "ResponseComplete", "get", "pods", (2, 7)),
        received("late", "ResponseComplete", "get", "pods", (5, 5)),
    ];
    let tally = tally_with(filter, &lines);
    assert_eq!(tally.window(), Window { from: second(2), to: second(5) });
    assert_eq!(tally.into_sink().total(), 1);
}

#[test]
fn users_are_told_apart_by_their_full_name() {
    let filter = Filter { user: Some("o".into()), ..Filter::default() };
    let tally = tally_with(filter, &[event("g", "ResponseComplete", "get", "pods", 1)]);
    assert_eq!(tally.other_users(), ["op"]);
    assert_eq!(tally.into_sink().total(), 0);
}

#[test]
fn lines_that_are_no_events_are_counted_and_nothing_more() {
    let lines =
        ["{\"kind\":\"Event\"", "", "  ", "null", "{\"kind\":\"Pod\",\"apiVersion\":\"v1\"}", "\u{1b}[0m"];
    let tally = tally(&lines.map(str::to_owned));
    assert_eq!((tally.malformed, tally.events), (4, 0));
}

#[test]
fn a_line_that_is_cut_anywhere_is_no_request() {
    let line = event("g", "ResponseComplete", "get", "pods", 1);
    for end in 1..line.len() {
        let mut tally = Tally::new(Filter::default(), Counts::default());
        assert_eq!(tally.line(&line.as_bytes()[..end]), Seen::Malformed, "{end}");
        assert_eq!((tally.malformed, tally.counted()), (1, 0), "{end}");
    }
}

#[test]
fn stages_may_be_missing_for_some_and_not_for_others() {
    // Rules of one policy may omit stages for some kinds, and a change of the policy takes effect in between.
    let lines = [
        event("a", "RequestReceived", "get", "pods", 1),
        event("a", "ResponseComplete", "get", "pods", 1),
        event("b", "ResponseComplete", "get", "secrets", 2),
        event("w", "RequestReceived", "watch", "pods", 3),
        event("w", "ResponseStarted", "watch", "pods", 3),
        received("v", "ResponseComplete", "watch", "secrets", (4, 9)),
        event("p", "RequestReceived", "update", "pods", 5),
        event("p", "Panic", "update", "pods", 5),
        event("c", "RequestReceived", "list", "pods", 6),
    ];
    let tally = tally(&lines);
    assert_eq!((tally.counted(), tally.unanswered(), tally.malformed), (5, 1, 0));
    assert_eq!(tally.open_watches().len(), 1);
}

#[test]
fn clocks_that_jump_change_no_count() {
    // The clock is set back by 30 s between a start and its end, and forward by 20 s between two stages.
    let lines = [
        received("w", "ResponseStarted", "watch", "pods", (40, 40)),
        received("w", "ResponseComplete", "watch", "pods", (40, 10)),
        received("g", "RequestReceived", "get", "pods", (11, 11)),
        received("g", "ResponseComplete", "get", "pods", (11, 31)),
    ];
    let tally = tally(&lines);
    assert_eq!((tally.counted(), tally.unanswered(), tally.headless()), (2, 0, 0));
    assert!(tally.window().length().is_some_and(|length| length.as_secs() == 30), "{:?}", tally.window());
}

#[test]
fn non_resource_requests_have_a_row_per_path_class() {
    let line = event("g", "ResponseComplete", "get", "pods", 1)
        .replace("\"objectRef\"", "\"ignored\"")
        .replace("/api/v1/pods", "/openapi/v3?hash=1");
    let rows = tally(&[line]).into_sink().kinds();
    assert_eq!((rows[0].resource.as_str(), rows[0].verb.as_str()), ("/openapi", "get"));
}

/// The stages that one request leaves in a log, in order.
fn stages() -> impl Strategy<Value = (&'static str, &'static [&'static str])> {
    prop::sample::select(vec![
        ("watch", &["ResponseStarted"][..]),
        ("watch", &["RequestReceived", "ResponseStarted", "ResponseComplete"]),
        ("watch", &["ResponseComplete"]),
        ("get", &["ResponseComplete"]),
        ("list", &["RequestReceived", "ResponseComplete"]),
        ("update", &["RequestReceived", "Panic"]),
    ])
}

proptest! {
    /// Whatever bytes a log holds: a line is an event, malformed or blank, and only events count.
    #[test]
    fn any_bytes_are_taken(line in prop::collection::vec(any::<u8>(), 0..200), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut tally = Tally::new(Filter::default(), Counts::default());
        tally.line(&line);
        let mut changed = event("g", "ResponseComplete", "get", "pods", 1).into_bytes();
        let at = at.index(changed.len());
        changed[at] = byte;
        tally.line(&changed);
        prop_assert!(tally.counted() <= tally.events && tally.events + tally.malformed <= 2);
    }

    /// However the stages of many requests lie between each other, and whichever lines come twice, each request
    /// counts once.
    #[test]
    fn every_request_counts_once(
        requests in prop::collection::vec(stages(), 1..40),
        order in prop::collection::vec(any::<prop::sample::Index>(), 0..200),
        twice in prop::collection::vec(any::<prop::sample::Index>(), 0..10),
    ) {
        let mut waiting: Vec<std::collections::VecDeque<String>> = requests
            .iter()
            .enumerate()
            .map(|(id, (verb, stages))| stages.iter().map(|stage| event(&id.to_string(), stage, verb, "pods", 1)).collect())
            .collect();
        let mut lines = Vec::new();
        for pick in order {
            let pick = pick.index(waiting.len());
            lines.extend(waiting[pick].pop_front());
        }
        lines.extend(waiting.into_iter().flatten());
        for pick in twice {
            let repeated = lines[pick.index(lines.len())].clone();
            lines.push(repeated);
        }
        prop_assert_eq!(tally(&lines).into_sink().total(), requests.len() as u64);
    }
}

#[test]
fn answers_that_a_policy_leaves_out_are_missed() {
    let received: Vec<_> =
        ["a", "b"].map(|id| event(id, "RequestReceived", "get", "pods", 1)).into_iter().collect();
    assert_eq!((tally(&received).unanswered(), tally(&received).counted()), (2, 0));
    let answered =
        [received[0].clone(), event("a", "ResponseComplete", "get", "pods", 2), received[0].clone()];
    assert_eq!((tally(&answered).unanswered(), tally(&answered).counted()), (0, 1));
}

#[test]
fn agents_and_namespaces_are_told_apart() {
    let line = |id: &str, agent: &str, namespace: &str| {
        let event = event(id, "ResponseComplete", "get", "pods", 1);
        event
            .replace("\"level\"", &format!("\"userAgent\":\"{agent}\",\"level\""))
            .replace("\"objectRef\":{", &format!("\"objectRef\":{{\"namespace\":\"{namespace}\","))
    };
    let lines = [line("a", "op/1.0", "x"), line("b", "op/1.0", "y"), line("c", "kubectl/1", "x")];
    let count = |agent: Option<&str>, namespaces: &[&str]| {
        let namespaces = namespaces.iter().map(|name| (*name).to_owned()).collect();
        let filter = Filter { user_agent: agent.map(str::to_owned), namespaces, ..Filter::default() };
        tally_with(filter, &lines).counted()
    };
    assert_eq!(count(Some("op/"), &[]), 2);
    assert_eq!(count(None, &["x"]), 2);
    assert_eq!(count(None, &["x", "y"]), 3);
    assert_eq!(count(Some("op/"), &["y"]), 1);
    assert_eq!(count(Some("p/1.0"), &[]), 0);
}
