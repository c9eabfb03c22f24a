//! Watches that are open and show nothing.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, api::PostParams};
use serde_json::json;
use testenv::{
    ControlPlane,
    faults::{Events, FaultProxy, Log, Step},
};

use super::*;
use crate::{
    BuildError, Builder, Cache, Readiness, Running, Source,
    canary::SHORTEST_PERIOD,
    fixture::{Answer, Requests, event, open_watch, page, refusal, scripted, watch_after, widget},
};

const PERIOD: Duration = Duration::from_secs(300);

struct Case {
    cache: Cache<ConfigMap>,
    _running: Running,
    requests: Requests,
}

/// What a request is: a question of the canary, a list, or a watch.
fn kind_of(path: &str) -> &'static str {
    match path {
        path if path.contains("watch=true") => "watch",
        path if path.contains("limit=1") => "question",
        _ => "list",
    }
}

/// `answer` gets the kind of request and how many of that kind came before it.
fn start(answer: impl Fn(&str, usize) -> Answer + Send + 'static) -> Case {
    let counts = parking_lot::Mutex::new(std::collections::HashMap::new());
    let (client, requests) = scripted(move |path, _| {
        let mut counts = counts.lock();
        let count = counts.entry(kind_of(path)).or_insert(0);
        *count += 1;
        answer(kind_of(path), *count - 1)
    });
    // Watches last longer than the tests, so that no new one is asked for in between.
    let options =
        Options { watch_timeout: Duration::from_secs(86_400), canary: Some(PERIOD), ..Options::default() };
    let mut builder = Builder::new(client, options);
    let cache = builder.cache::<ConfigMap>(Source::namespaced("default")).build().unwrap();
    Case { cache, _running: builder.start(), requests }
}

impl Case {
    fn readiness(&self) -> Readiness {
        self.cache.readiness().borrow().clone()
    }

    fn count(&self, kind: &str) -> usize {
        self.requests.lock().iter().filter(|(path, _)| kind_of(path) == kind).count()
    }
}

fn bookmark(version: &str) -> String {
    let object = json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"resourceVersion": version}});
    format!(r#"{{"type":"BOOKMARK","object":{object}}}"#)
}

fn one_widget() -> Answer {
    page("10", &[widget("a", "1", "5", "red")])
}

/// Past the question and the time that the stream is given to come to the answer.
const TWO_PERIODS: Duration = Duration::from_secs(605);

#[tokio::test(start_paused = true)]
async fn a_quiet_kind_with_bookmarks_stays_synced_at_one_question_a_period() {
    let case = start(|kind, count| match kind {
        "watch" => watch_after(Duration::from_secs(60), (0..100).map(|n| bookmark(&format!("{}", 20 + n)))),
        "question" => page(&(15 + count).to_string(), &[]),
        _ => one_widget(),
    });
    for _ in 0..12 {
        sleep(PERIOD).await;
        assert!(case.readiness() == Readiness::Synced || case.count("question") == 0);
    }
    assert_eq!((case.count("list"), case.count("watch")), (1, 1));
    assert!((10..=12).contains(&case.count("question")), "{}", case.count("question"));
    let asked = case.requests.lock().iter().find(|(path, _)| kind_of(path) == "question").cloned();
    assert!(!asked.unwrap().0.contains("resourceVersion"), "the answer must be as new as the question");
}

#[tokio::test(start_paused = true)]
async fn a_busy_kind_without_bookmarks_stays_synced() {
    let case = start(|kind, _| match kind {
        "watch" => {
            let changes =
                (0..100).map(|n| event("MODIFIED", &widget("a", "1", &format!("{}", 20 + n), "red")));
            watch_after(Duration::from_secs(60), changes)
        }
        "question" => page("20", &[]),
        _ => one_widget(),
    });
    sleep(TWO_PERIODS * 4).await;
    assert_eq!(case.readiness(), Readiness::Synced);
    assert_eq!((case.count("list"), case.count("watch")), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_frozen_watch_is_stale_until_a_stream_shows_what_it_did_not() {
    let case = start(|kind, count| match (kind, count) {
        ("question", _) => page("50", &[]),
        ("watch", 2..) => watch_after(Duration::from_secs(60), [bookmark("60")].into_iter()),
        ("watch", _) => open_watch(&[]),
        (_, 0) => one_widget(),
        (_, _) => page("55", &[widget("a", "1", "54", "blue")]),
    });
    sleep(PERIOD).await;
    assert_eq!(case.readiness(), Readiness::Synced);
    sleep(TWO_PERIODS - PERIOD).await;
    assert_eq!(case.readiness().cause(), Some(&Cause::Frozen(50)));
    // Listed anew and with an accepted watch, which proves nothing.
    assert_eq!((case.count("list"), case.count("watch")), (2, 2));
    assert_eq!(case.cache.find("a").unwrap().metadata.resource_version.as_deref(), Some("54"));
    sleep(PERIOD - Duration::from_secs(10)).await;
    assert_eq!(case.readiness().cause(), Some(&Cause::Frozen(50)));
    // The third watch shows a bookmark after a minute.
    sleep(Duration::from_secs(90)).await;
    assert_eq!(case.count("watch"), 3);
    assert_eq!(case.readiness(), Readiness::Synced);
}

#[tokio::test(start_paused = true)]
async fn a_question_without_an_answer_proves_nothing() {
    let case = start(|kind, _| match kind {
        "watch" => open_watch(&[]),
        "question" => refusal(503, "ServiceUnavailable", "restarting"),
        _ => one_widget(),
    });
    sleep(TWO_PERIODS * 3).await;
    assert_eq!(case.readiness(), Readiness::Synced);
}

#[tokio::test]
async fn a_period_shorter_than_a_sound_server_needs_is_refused() {
    let (client, _) = scripted(|_, _| one_widget());
    let short = Some(SHORTEST_PERIOD - Duration::from_secs(1));
    let mut builder = Builder::new(client, Options { canary: short, ..Options::default() });
    let refused = builder.cache::<ConfigMap>(Source::all()).build();
    assert!(matches!(refused, Err(BuildError::ShortCanary { .. })));
}

/// Three kinds, for which namespaces stand.
fn start_three(answer: impl Fn(&str, usize) -> Answer + Send + 'static) -> (Running, Requests) {
    let (client, requests) = scripted(move |path, count| answer(kind_of(path), count));
    let watch_timeout = Duration::from_secs(86_400);
    let options = Options { watch_timeout, canary: Some(PERIOD), ..Options::default() };
    let mut builder = Builder::new(client, options);
    for namespace in ["a", "b", "c"] {
        builder.cache::<ConfigMap>(Source::namespaced(namespace)).build().unwrap();
    }
    (builder.start(), requests)
}

#[tokio::test(start_paused = true)]
async fn the_kinds_of_a_process_ask_in_turn() {
    let (running, requests) = start_three(|kind, _| match kind {
        "watch" => watch_after(Duration::from_secs(60), (0..100).map(|n| bookmark(&format!("{}", 1000 + n)))),
        "question" => page("20", &[]),
        _ => one_widget(),
    });
    sleep(Duration::from_secs(3605)).await;
    let questions = ["/a/", "/b/", "/c/"].map(|namespace| {
        let of = |path: &str| kind_of(path) == "question" && path.contains(namespace);
        requests.lock().iter().filter(|(path, _)| of(path)).count()
    });
    assert_eq!(questions, [4; 3], "twelve an hour in all");
    assert!(running.kinds().iter().all(|kind| kind.readiness.is_synced()));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_shows_nothing_is_found_within_two_periods() {
    let (running, _requests) = start_three(|kind, _| match kind {
        "watch" => open_watch(&[]),
        "question" => page("50", &[]),
        _ => one_widget(),
    });
    let frozen = || {
        let kinds = running.kinds().into_iter();
        kinds.filter(|kind| kind.readiness.cause() == Some(&Cause::Frozen(50))).count()
    };
    sleep(TWO_PERIODS).await;
    assert_eq!(frozen(), 1, "not ready, and not to be destroyed upon");
    sleep(PERIOD * 2).await;
    assert_eq!(frozen(), 3, "and then the others");
}

/// The period is as short as the control plane needs to show a change.
#[tokio::test]
async fn a_frozen_stream_of_the_real_server_is_found_and_heals() {
    let control_plane = ControlPlane::shared().await;
    let namespace = control_plane.namespace("canary").await;
    let proxy = FaultProxy::start(control_plane);
    let config = proxy.config(&namespace.operator_config().await);
    let options = Options { canary: Some(Duration::from_secs(3)), ..Options::default() };
    let mut builder = Builder::new(Client::try_from(config).unwrap(), options);
    builder.shortest_canary = Duration::ZERO;
    let source = Source::namespaced(namespace.name());
    let cache = builder.cache::<ConfigMap>(source).build().unwrap();
    let running = builder.start();
    let until = async |what: &dyn Fn(&Readiness) -> bool| {
        let mut readiness = cache.readiness();
        let reached = timeout(Duration::from_secs(60), readiness.wait_for(|readiness| what(readiness))).await;
        reached.expect("in time").expect("not stopped").clone()
    };
    // Something happens all the time, so that nobody has to wait for bookmarks.
    let (admin, name) = (control_plane.admin(), namespace.name().to_owned());
    let busy = tokio::spawn(async move {
        let api = Api::<ConfigMap>::namespaced(admin, &name);
        for number in 0.. {
            let mut map = ConfigMap::default();
            map.metadata.name = Some(format!("busy-{number}"));
            api.create(&PostParams::default(), &map).await.unwrap();
            sleep(Duration::from_millis(500)).await;
        }
    });
    let questions = |log: &Log| {
        let asked = log.entries().iter().filter(|entry| entry.step == Step::Received);
        asked.filter(|entry| kind_of(&entry.call.uri.to_string()) == "question").count()
    };
    proxy.wait_for("three questions", |log| questions(log) == 3).await;
    assert_eq!((cache.status().lists, cache.readiness().borrow().clone()), (1, Readiness::Synced));

    let freeze = proxy.on(Events::all("configmaps")).freeze();
    until(&|readiness| matches!(readiness.cause(), Some(Cause::Frozen(_)))).await;
    freeze.lift();
    until(&Readiness::is_synced).await;
    busy.abort();
    running.equals_server(&control_plane.admin(), Duration::from_secs(60)).await.unwrap();
}
