//! The task against single answers of a server, on a clock that jumps.

use k8s_openapi::api::core::v1::ConfigMap;
use tokio::time::Instant;

use super::*;
use crate::{
    Builder, Cache, Readiness, Running, Source,
    fixture::{
        Answer, Requests, broken_watch, colors, ended_watch, event, hung, name, open_watch, page, page_of,
        refusal, scripted, widget,
    },
};

pub(super) const LIMIT: Duration = Duration::from_secs(600);

pub(super) struct Case {
    pub(super) cache: Cache<ConfigMap>,
    pub(super) running: Running,
    pub(super) requests: Requests,
}

fn start(answer: impl Fn(&str, usize) -> Answer + Send + 'static) -> Case {
    start_with(Options::default(), answer)
}

pub(super) fn start_with(options: Options, answer: impl Fn(&str, usize) -> Answer + Send + 'static) -> Case {
    let (client, requests) = scripted(answer);
    let mut builder = Builder::new(client, options);
    let cache =
        builder.cache::<ConfigMap>(Source::namespaced("default")).index("color", colors).build().unwrap();
    Case { cache, running: builder.start(), requests }
}

impl Case {
    pub(super) async fn until(&self, what: impl FnMut(&Readiness) -> bool) -> Readiness {
        let mut readiness = self.cache.readiness();
        let reached = timeout(LIMIT, readiness.wait_for(what)).await;
        reached.expect("in time").expect("not stopped").clone()
    }

    async fn until_requests(&self, count: usize) -> Vec<Instant> {
        let enough = async {
            while self.requests.lock().len() < count {
                sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(LIMIT, enough).await.expect("in time");
        self.requests.lock().iter().map(|(_, time)| *time).collect()
    }

    fn paths(&self) -> Vec<&'static str> {
        self.requests
            .lock()
            .iter()
            .map(|(path, _)| if path.contains("watch=true") { "watch" } else { "list" })
            .collect()
    }
}

fn gaps(times: &[Instant]) -> Vec<Duration> {
    times.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

pub(super) fn is_watch(path: &str) -> bool {
    path.contains("watch=true")
}

fn one_widget(version: &str) -> Answer {
    page(version, &[widget("a", "1", "5", "red")])
}

#[tokio::test(start_paused = true)]
async fn a_start_is_one_list_and_one_watch_and_then_silence() {
    let case = start(|path, _| if is_watch(path) { open_watch(&[]) } else { one_widget("10") });
    case.running.ready().await.unwrap();
    sleep(Duration::from_secs(280)).await;
    assert_eq!(case.paths(), ["list", "watch"]);
    assert!(case.requests.lock()[1].0.contains("resourceVersion=10"));
}

#[tokio::test(start_paused = true)]
async fn events_reach_the_cache_and_a_new_watch_follows_each_timeout() {
    let case = start(|path, count| match (is_watch(path), count) {
        (false, _) => one_widget("10"),
        (true, 1) => open_watch(&[event("MODIFIED", &widget("a", "1", "11", "blue"))]),
        (true, _) => open_watch(&[]),
    });
    let mut names = case.cache.subscribe(|_, new| new.map(name).into_iter().collect());
    assert_eq!(timeout(LIMIT, names.next()).await.expect("in time").as_deref(), Some("a"));
    case.until_requests(3).await;
    assert_eq!(case.cache.index("color").unwrap().get("blue").len(), 1);
    assert_eq!(case.paths(), ["list", "watch", "watch"]);
    assert!(case.cache.readiness().borrow().is_synced());
}

#[tokio::test(start_paused = true)]
async fn an_event_that_cannot_be_read_is_made_up_for_by_a_new_list() {
    let case = start(|path, count| match (is_watch(path), count) {
        (false, 0) => one_widget("10"),
        (false, _) => page("12", &[widget("a", "1", "11", "blue")]),
        // The order of its fields keeps kube from reading it, and kube would go on with the next event.
        (true, 1) => {
            let object = serde_json::to_string(&widget("a", "1", "11", "blue")).unwrap();
            open_watch(&[format!(r#"{{"object":{object},"type":"MODIFIED"}}"#)])
        }
        (true, _) => open_watch(&[]),
    });
    let stale = case.until(|readiness| readiness.cause().is_some()).await;
    assert_eq!(stale.cause().map(Cause::class), Some("malformed"));
    case.until(Readiness::is_synced).await;
    assert_eq!(case.cache.index("color").unwrap().get("blue").len(), 1);
    assert_eq!(case.paths(), ["list", "watch", "list", "watch"]);
}

#[tokio::test(start_paused = true)]
async fn refusals_are_retried_with_growing_delays_and_heal() {
    let case = start(|path, count| match (is_watch(path), count) {
        (true, _) => open_watch(&[]),
        (false, 0..5) => refusal(403, "Forbidden", "configmaps is forbidden: User \"bob\" cannot list"),
        (false, _) => one_widget("10"),
    });
    let failed = case.until(|readiness| readiness.cause().is_some()).await;
    assert_eq!(failed.to_string(), "forbidden: bob may not list configmaps in namespace default");
    case.until(Readiness::is_synced).await;
    let gaps = gaps(&case.until_requests(6).await[..6]);
    // 0.8 s, doubled each time, with jitter.
    assert!(gaps[0] >= Duration::from_millis(800) && gaps[4] >= Duration::from_millis(12_800), "{gaps:?}");
    assert_eq!(case.cache.status().errors, 5);
}

#[tokio::test(start_paused = true)]
async fn a_missing_kind_is_named_and_found_when_it_appears() {
    let case = start(|path, count| match (is_watch(path), count) {
        (true, _) => open_watch(&[]),
        (false, 0..2) => refusal(404, "NotFound", "the server could not find the requested resource"),
        (false, _) => one_widget("10"),
    });
    let error = case.running.synced(Duration::from_secs(1)).await.unwrap_err();
    assert_eq!(error.kinds, [("configmaps".to_owned(), Readiness::Failed(Cause::NotInstalled))]);
    case.running.synced(LIMIT).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn gone_at_the_start_of_a_watch_is_answered_with_a_new_list() {
    let case = start(|path, count| match (is_watch(path), count) {
        (false, 0) => one_widget("10"),
        (false, _) => page("30", &[widget("b", "2", "20", "red")]),
        (true, 1) => refusal(410, "Expired", "too old resource version"),
        (true, _) => open_watch(&[]),
    });
    let times = case.until_requests(4).await;
    case.until(Readiness::is_synced).await;
    assert_eq!(case.paths(), ["list", "watch", "list", "watch"]);
    assert_eq!(times[2], times[1], "the first time it is listed at once");
    assert!(case.cache.find("a").is_none() && case.cache.find("b").is_some());
}

#[tokio::test(start_paused = true)]
async fn gone_at_every_watch_does_not_become_a_storm_of_lists() {
    let case =
        start(|path, _| if is_watch(path) { refusal(410, "Expired", "old") } else { one_widget("10") });
    sleep(Duration::from_secs(300)).await;
    let lists = case.paths().iter().filter(|path| **path == "list").count();
    assert!((5..=20).contains(&lists), "{lists} lists in 300 s");
}

#[tokio::test(start_paused = true)]
async fn a_list_that_hangs_is_given_up_and_started_anew() {
    let case = start(|path, count| match (is_watch(path), count) {
        (true, _) => open_watch(&[]),
        (false, 0) => hung(),
        (false, _) => one_widget("10"),
    });
    case.until(|readiness| *readiness == Readiness::Failed(Cause::Deadline)).await;
    case.until(Readiness::is_synced).await;
    assert_eq!(case.paths()[..2], ["list", "list"]);
}

#[tokio::test(start_paused = true)]
async fn more_than_ten_thousand_objects_in_pages_are_one_list() {
    const PAGES: usize = 21;
    let case = start(|path, count| match is_watch(path) {
        true => open_watch(&[]),
        false => {
            let token = (count + 1 < PAGES).then(|| format!("page-{}", count + 1));
            assert_eq!(path.contains(&format!("continue=page-{count}")), count > 0, "{path}");
            let name = |number: usize| format!("w-{:05}", count * 500 + number);
            let objects: Vec<_> = (0..500).map(|number| widget(&name(number), "1", "5", "red")).collect();
            page_of("10", &objects, token.as_deref())
        }
    });
    case.running.ready().await.unwrap();
    assert_eq!((case.cache.len(), case.cache.status().lists), (PAGES * 500, 1));
    case.until_requests(PAGES + 1).await;
    assert_eq!(case.paths().iter().filter(|path| **path == "list").count(), PAGES);
}

#[tokio::test(start_paused = true)]
async fn throttling_waits_as_asked_and_does_not_list_again() {
    let case = start(|path, count| match (is_watch(path), count) {
        (false, _) => one_widget("10"),
        (true, 1..4) => {
            let mut answer = refusal(429, "TooManyRequests", "slow down");
            answer.headers_mut().insert("retry-after", "60".parse().unwrap());
            answer
        }
        (true, _) => open_watch(&[]),
    });
    let stale = case.until(|readiness| readiness.cause().is_some()).await;
    assert_eq!(stale.cause(), Some(&Cause::Throttled { retry_after: Some(Duration::from_secs(60)) }));
    case.until(Readiness::is_synced).await;
    assert_eq!(case.paths(), ["list", "watch", "watch", "watch", "watch"]);
    let gaps = gaps(&case.until_requests(5).await);
    assert!(gaps[1..].iter().all(|gap| *gap >= Duration::from_secs(60)), "{gaps:?}");
}

#[tokio::test(start_paused = true)]
async fn an_accepted_watch_ends_staleness_without_an_event() {
    let case = start(|path, count| match (is_watch(path), count) {
        (false, _) => one_widget("10"),
        (true, 1) => refusal(500, "InternalError", "etcd"),
        (true, _) => open_watch(&[]),
    });
    let stale = case.until(|readiness| readiness.cause().is_some()).await;
    assert_eq!(stale.cause(), Some(&Cause::Server(500)));
    case.until(Readiness::is_synced).await;
    assert_eq!(case.paths(), ["list", "watch", "watch"]);
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_may_be_listed_and_not_watched_is_never_ready() {
    let case = start(|path, _| match is_watch(path) {
        false => one_widget("10"),
        true => refusal(403, "Forbidden", "configmaps is forbidden: User \"bob\" cannot watch"),
    });
    let error = case.running.ready().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "not synced within 120s: configmaps: forbidden: bob may not watch configmaps in namespace default"
    );
    assert!(!case.paths()[1..].contains(&"list"), "the list is not repeated for that");
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_ends_at_once_is_not_restarted_at_once() {
    let case = start(|path, _| if is_watch(path) { ended_watch() } else { one_widget("10") });
    let times = case.until_requests(10).await;
    assert!(gaps(&times[1..]).iter().all(|gap| *gap >= Duration::from_millis(990)), "{:?}", gaps(&times));
}

#[tokio::test(start_paused = true)]
async fn connections_that_break_after_a_minute_do_not_make_the_delays_grow() {
    let minute = Duration::from_secs(60);
    let case = start(move |path, _| if is_watch(path) { broken_watch(minute) } else { one_widget("10") });
    let gaps = gaps(&case.until_requests(9).await[1..]);
    // The first delay is 0.8 s and up to as much again.
    let longest = minute + Duration::from_secs(2);
    assert!(gaps.iter().all(|gap| (minute..longest).contains(gap)), "{gaps:?}");
    assert_eq!(case.paths()[..2], ["list", "watch"]);
    assert!(!case.paths()[1..].contains(&"list"));
}

#[tokio::test(start_paused = true)]
async fn delays_grow_again_after_a_watch_that_lasted() {
    let case = start(|path, count| match (is_watch(path), count) {
        (false, _) => one_widget("10"),
        (true, 1..6) => refusal(500, "InternalError", "etcd"),
        (true, 6) => broken_watch(Duration::from_secs(31)),
        (true, _) => refusal(500, "InternalError", "etcd"),
    });
    let gaps = gaps(&case.until_requests(11).await);
    let (short, long) = (Duration::from_millis(1600), Duration::from_millis(12_800));
    assert!(gaps[5] >= long, "refusals before: {gaps:?}");
    assert!(gaps[6] <= Duration::from_secs(31) + short, "{gaps:?}");
    assert!(gaps[7] >= short / 2 && gaps[9] >= short * 2, "refusals after: {gaps:?}");
}

#[tokio::test(start_paused = true)]
async fn an_outage_is_retried_every_few_seconds_and_a_refusal_is_not() {
    let broken = |path: &str, _| if is_watch(path) { broken_watch(Duration::ZERO) } else { one_widget("10") };
    let case = start(broken);
    let gaps = gaps(&case.until_requests(40).await[1..]);
    let limit = Duration::from_millis(5100);
    assert!(gaps.iter().all(|gap| *gap < limit), "{gaps:?}");
    assert!(gaps[10..].iter().all(|gap| *gap >= Duration::from_millis(2500)), "{gaps:?}");
    assert!(gaps[10..].iter().any(|gap| *gap != gaps[10]), "without jitter: {gaps:?}");
    let failed = case.until(|readiness| readiness.cause().is_some()).await;
    assert_eq!(failed.cause().map(Cause::class), Some("unreachable"));
}

#[tokio::test(start_paused = true)]
async fn a_restarted_server_is_back_in_the_store_within_seconds() {
    let restarted = |path: &str, count| match (is_watch(path), count) {
        (false, 0) => one_widget("10"),
        (true, 1..20) => broken_watch(Duration::ZERO),
        // It does not know the roles yet, and then not the version.
        (true, 20) => refusal(403, "Forbidden", "configmaps is forbidden: User \"bob\" cannot watch"),
        (true, 21) => refusal(410, "Expired", "too old resource version"),
        (false, _) => one_widget("30"),
        (true, _) => open_watch(&[]),
    };
    let case = start(restarted);
    let back = case.until_requests(21).await[20];
    case.until_requests(24).await;
    case.until(Readiness::is_synced).await;
    assert!(back.elapsed() < Duration::from_secs(5), "{:?}: {:?}", back.elapsed(), case.paths());
}

#[tokio::test(start_paused = true)]
async fn five_waiters_are_all_released() {
    let case = start(|path, count| match (is_watch(path), count) {
        (true, _) => open_watch(&[]),
        (false, 0) => refusal(503, "ServiceUnavailable", "starting"),
        (false, _) => one_widget("10"),
    });
    let waiters: Vec<_> = (0..5)
        .map(|_| {
            let mut readiness = case.cache.readiness();
            tokio::spawn(async move { readiness.wait_for(Readiness::is_synced).await.is_ok() })
        })
        .collect();
    for waiter in waiters {
        assert!(timeout(LIMIT, waiter).await.expect("in time").unwrap());
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_an_index_does_not_end_the_kind() {
    let (client, requests) = scripted(|path, count| match (is_watch(path), count) {
        (false, 0) => page("10", &[widget("bad", "1", "5", "red")]),
        (false, _) => page("12", &[widget("good", "2", "11", "red")]),
        (true, _) => open_watch(&[]),
    });
    let mut builder = Builder::new(client, Options::default());
    let picky = |object: &ConfigMap| {
        assert_ne!(name(object), "bad", "a mistake in the extractor");
        colors(object)
    };
    let cache = builder.cache::<ConfigMap>(Source::all()).index("color", picky).build().unwrap();
    let running = builder.start();
    running.synced(LIMIT).await.unwrap();
    assert!(cache.index("color").unwrap().get("red").len() == 1 && cache.status().errors == 1);
    drop((running, requests));
}

#[tokio::test(start_paused = true)]
async fn shutdown_ends_subscriptions_and_keeps_the_store_readable() {
    let case = start(|path, _| if is_watch(path) { open_watch(&[]) } else { one_widget("10") });
    case.running.ready().await.unwrap();
    let mut names = case.cache.subscribe(|_, new| new.map(name).into_iter().collect());
    assert_eq!(timeout(LIMIT, names.next()).await.expect("in time").as_deref(), Some("a"));
    case.running.shutdown();
    assert_eq!(timeout(LIMIT, names.next()).await.expect("in time"), None);
    assert_eq!(case.cache.len(), 1);
    assert_eq!(case.cache.readiness().borrow().cause(), Some(&Cause::Stopped));
}

#[tokio::test(start_paused = true)]
async fn the_log_of_a_failing_kind_is_one_line_for_each_try() {
    let lines = Arc::new(parking_lot::Mutex::new(Vec::new()));
    let _guard = tracing::subscriber::set_default(Lines(Arc::clone(&lines)));
    let case = start(|_, _| refusal(403, "Forbidden", "User \"bob\" may not, and hunter2"));
    // Another test may be using the same line of code for the first time just now and not know of this subscriber.
    while lines.lock().is_empty() {
        tracing::callsite::rebuild_interest_cache();
        sleep(Duration::from_millis(10)).await;
    }
    lines.lock().clear();
    let before = case.requests.lock().len();
    case.until_requests(before + 3).await;
    let lines = lines.lock().clone();
    // The last one asked for may have failed already.
    assert!((2..=3).contains(&lines.len()), "{lines:?}");
    assert!(lines.iter().all(|line| line.contains("cause=forbidden: bob") && line.contains("retry_in=")));
    assert!(!lines.concat().contains("hunter2"));
}

/// Collects this crate's log lines.
struct Lines(Arc<parking_lot::Mutex<Vec<String>>>);

impl tracing::Subscriber for Lines {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        metadata.target().starts_with("cachelib") && *metadata.level() <= tracing::Level::WARN
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        self.0.lock().push(line.0);
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

struct Line(String);

impl tracing::field::Visit for Line {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        self.0.push_str(&format!("{}={value:?} ", field.name()));
    }
}
