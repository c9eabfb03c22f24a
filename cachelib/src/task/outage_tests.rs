//! Several kinds and a server that does not answer, on a clock that jumps.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::client::Body;
use parking_lot::Mutex;
use tokio::time::Instant;

use super::*;
use crate::{
    Builder, Cache, Readiness, Running, Source,
    fixture::{open_watch, page, refusal},
};

const MINUTE: Duration = Duration::from_secs(60);
/// Two knocks are 5 s apart at most, and each kind is then listed or watched.
const SOON: Duration = Duration::from_secs(7);

/// What a request meets.
#[derive(Clone, Copy, PartialEq)]
enum Server {
    Up,
    Refusing,
    Silent,
    Overloaded,
}

struct Case {
    caches: Vec<Cache<ConfigMap>>,
    running: Running,
    server: Arc<Mutex<Server>>,
    /// Paths and times.
    requests: Arc<Mutex<Vec<(String, Instant)>>>,
}

/// As many kinds as asked for; namespaces stand for them.
fn start(kinds: usize, server: Server) -> Case {
    let (server, requests) = (Arc::new(Mutex::new(server)), Arc::new(Mutex::new(Vec::new())));
    let (state, log) = (Arc::clone(&server), Arc::clone(&requests));
    let service = tower::service_fn(move |request: http::Request<Body>| {
        let path = request.uri().to_string();
        let mut log = log.lock();
        assert!(log.len() < 10_000, "a storm of requests");
        let state = *state.lock();
        log.push((path.clone(), Instant::now()));
        async move {
            match state {
                Server::Up if path.contains("watch=true") => Ok(open_watch(&[])),
                Server::Up => Ok(page("10", &[])),
                Server::Refusing => Err(std::io::Error::from(std::io::ErrorKind::ConnectionRefused)),
                Server::Silent => std::future::pending().await,
                Server::Overloaded => {
                    let mut answer = refusal(429, "TooManyRequests", "slow down");
                    answer.headers_mut().insert("retry-after", http::HeaderValue::from_static("10"));
                    Ok(answer)
                }
            }
        }
    });
    let mut builder = Builder::new(Client::new(service, "default"), Options::default());
    let caches =
        (0..kinds).map(|n| builder.cache(Source::namespaced(format!("n{n}"))).build().unwrap()).collect();
    Case { caches, running: builder.start(), server, requests }
}

impl Case {
    fn become_(&self, server: Server) {
        *self.server.lock() = server;
        self.requests.lock().clear();
    }

    /// When each kind has sent requests.
    fn by_kind(&self) -> Vec<Vec<Instant>> {
        let requests = self.requests.lock();
        let of = |n: usize| {
            let namespace = format!("/n{n}/");
            requests.iter().filter(|(path, _)| path.contains(&namespace)).map(|(_, time)| *time).collect()
        };
        (0..self.caches.len()).map(of).collect()
    }

    async fn all_synced(&self) -> Duration {
        let began = Instant::now();
        self.running.synced(MINUTE).await.unwrap();
        began.elapsed()
    }
}

/// The longest time in which nobody asked.
fn longest_silence(case: &Case) -> Duration {
    let times: Vec<_> = case.requests.lock().iter().map(|(_, time)| *time).collect();
    times.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_down_is_asked_ten_times_a_minute_and_kind_at_most() {
    for kinds in [1, 2, 5, 12] {
        let case = start(kinds, Server::Refusing);
        sleep(MINUTE).await;
        let counts: Vec<_> = case.by_kind().iter().map(Vec::len).collect();
        assert!(counts.iter().all(|count| (1..=10).contains(count)), "{counts:?}");
        // The first of each, and one every 5 s.
        let all: usize = counts.iter().sum();
        assert!((10..=kinds + 13).contains(&all), "{counts:?}");
        assert!(longest_silence(&case) < SOON, "{kinds} kinds");
        case.become_(Server::Up);
        let took = case.all_synced().await;
        assert!(took < SOON, "{kinds} kinds: {took:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn one_answer_of_whatever_kind_lets_the_others_go_on() {
    let case = start(5, Server::Refusing);
    sleep(MINUTE).await;
    case.become_(Server::Overloaded);
    sleep(SOON).await;
    // One found out; the others wait as long as they were asked to, each from its own request on.
    assert_eq!(case.by_kind().iter().map(Vec::len).collect::<Vec<_>>(), [1; 5]);
    let times: Vec<_> = case.requests.lock().iter().map(|(_, time)| *time).collect();
    assert!(times[4] - times[0] < Duration::from_secs(1), "{times:?}");
}

#[tokio::test(start_paused = true)]
async fn a_knock_that_hangs_and_a_task_that_ends_hold_nobody_up() {
    let case = start(12, Server::Refusing);
    sleep(MINUTE).await;
    case.become_(Server::Silent);
    // Some hang by then, each for half a minute.
    sleep(Duration::from_secs(20)).await;
    assert!((4..=6).contains(&case.requests.lock().len()) && longest_silence(&case) < SOON);
    case.become_(Server::Up);
    let synced = || case.caches.iter().filter(|cache| cache.readiness().borrow().is_synced()).count();
    sleep(SOON).await;
    assert!(synced() >= 6, "{} kinds", synced());
    case.all_synced().await;

    let outage = Outage::default();
    let first = tokio::spawn({
        let outage = outage.clone();
        async move { outage.wait().await }
    });
    sleep(Duration::from_secs(3)).await;
    first.abort();
    let began = Instant::now();
    outage.wait().await;
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_minute_of_throttling_costs_a_try_each_time_it_may_and_no_list() {
    let case = start(3, Server::Up);
    case.all_synced().await;
    case.become_(Server::Overloaded);
    // The watches that are open end after 290 s; then each is refused.
    sleep(Duration::from_secs(296)).await;
    let stale = |cache: &Cache<ConfigMap>| {
        matches!(&*cache.readiness().borrow(), Readiness::Stale { cause: Cause::Throttled { .. }, .. })
    };
    assert!(case.caches.iter().all(stale));
    sleep(MINUTE).await;
    for times in case.by_kind() {
        let asked = times.windows(2).all(|pair| pair[1] - pair[0] >= Duration::from_secs(10));
        assert!(asked && (5..=7).contains(&times.len()), "{times:?}");
    }
    assert!(case.requests.lock().iter().all(|(path, _)| path.contains("watch=true")));
    *case.server.lock() = Server::Up;
    case.all_synced().await;
    assert!(case.requests.lock().iter().all(|(path, _)| path.contains("watch=true")));
}
