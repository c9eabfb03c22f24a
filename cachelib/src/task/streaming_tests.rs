//! Lists that come on the watch itself, and servers that do not know them.

use serde_json::json;

use super::{
    tests::{Case, LIMIT, is_watch, start_with},
    *,
};
use crate::{
    Key, Readiness,
    fixture::{Answer, ended_watch, event, hung, open_watch, page, refusal, short_watch, widget},
};

fn start(answer: impl Fn(&str, usize) -> Answer + Send + 'static) -> Case {
    start_with(Options { streaming_lists: true, ..Options::default() }, answer)
}

fn requests(case: &Case) -> Vec<&'static str> {
    let name = |path: &str| match path {
        path if is_stream(path) => "stream",
        path if is_watch(path) => "watch",
        _ => "list",
    };
    case.requests.lock().iter().map(|(path, _)| name(path)).collect()
}

fn is_stream(path: &str) -> bool {
    path.contains("sendInitialEvents=true")
}

/// The bookmark that ends a streamed list.
fn end_of_list(version: &str) -> String {
    let annotations = json!({"k8s.io/initial-events-end": "true"});
    let metadata = json!({"resourceVersion": version, "annotations": annotations});
    let object = json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata});
    format!(r#"{{"type":"BOOKMARK","object":{object}}}"#)
}

fn one_widget() -> Vec<String> {
    vec![event("ADDED", &widget("a", "1", "5", "red")), end_of_list("10")]
}

#[tokio::test(start_paused = true)]
async fn a_start_is_one_request_that_is_as_new_as_itself() {
    let case = start(|_, _| open_watch(&one_widget()));
    case.running.ready().await.unwrap();
    assert!(case.cache.find("a").is_some());
    sleep(Duration::from_secs(200)).await;
    assert_eq!(requests(&case), ["stream"]);
    let (path, _) = case.requests.lock()[0].clone();
    assert!(path.contains("resourceVersionMatch=NotOlderThan"), "{path}");
    assert!(!path.contains("resourceVersion=0"), "a version-0 read may be of any age: {path}");
}

#[tokio::test(start_paused = true)]
async fn the_watch_that_follows_goes_on_from_the_end_of_the_list() {
    let case = start(|path, _| if is_stream(path) { short_watch(&one_widget()) } else { open_watch(&[]) });
    case.running.ready().await.unwrap();
    sleep(Duration::from_secs(5)).await;
    assert_eq!(requests(&case), ["stream", "watch"]);
    assert!(case.requests.lock()[1].0.contains("resourceVersion=10"));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_refuses_is_listed_within_one_retry() {
    for code in [400, 422] {
        let case = start(move |path, _| match (is_stream(path), is_watch(path)) {
            (true, _) => refusal(code, "Invalid", "sendInitialEvents is forbidden for watch"),
            (false, true) => open_watch(&[]),
            (false, false) => page("10", &[widget("a", "1", "5", "red")]),
        });
        case.running.ready().await.unwrap();
        assert_eq!(requests(&case), ["stream", "list", "watch"]);
        assert_eq!(case.cache.status().errors, 0, "nothing is wrong with the kind");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_ends_the_list_or_ends_the_stream_first_is_listed() {
    let endings: [fn() -> Answer; 2] = [hung, ended_watch];
    for ending in endings {
        let case = start(move |path, _| match (is_stream(path), is_watch(path)) {
            (true, _) => ending(),
            (false, true) => open_watch(&[]),
            (false, false) => page("10", &[widget("a", "1", "5", "red")]),
        });
        case.until(Readiness::is_synced).await;
        let requests = requests(&case);
        assert_eq!(requests[requests.len() - 2..], ["list", "watch"], "{requests:?}");
        assert!(requests.len() <= 4, "{requests:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn lack_of_rights_is_no_reason_to_list() {
    let case = start(|path, count| match (is_stream(path), count) {
        (true, 0..2) => refusal(403, "Forbidden", "configmaps is forbidden: User \"bob\" cannot watch"),
        _ => open_watch(&one_widget()),
    });
    case.until(|readiness| readiness.cause().is_some_and(|cause| cause.class() == "forbidden")).await;
    case.until(Readiness::is_synced).await;
    assert_eq!(requests(&case), ["stream"; 3]);
}

#[tokio::test(start_paused = true)]
async fn an_own_write_answered_after_the_request_is_waited_for() {
    let case = start(|path, _| {
        assert!(is_stream(path));
        let late = event("MODIFIED", &widget("a", "1", "20", "blue"));
        let mut lines = one_widget();
        lines.push(late);
        open_watch(&lines)
    });
    // Written before kube tells that the list has begun, and not yet in that list.
    case.cache.expect_version(&Key::new("default", "a"), "1", "20");
    case.running.ready().await.unwrap();
    let current = case.cache.caught_up(&Key::new("default", "a"), LIMIT).await;
    assert!(current && case.cache.find("a").unwrap().metadata.resource_version.as_deref() == Some("20"));
}
