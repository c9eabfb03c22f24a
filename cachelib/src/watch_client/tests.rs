//! What the thin client notes and delays.

use super::*;
use crate::fixture::{page, refusal, scripted};

fn get(path: &str) -> Request<Body> {
    Request::get(path).body(Body::empty()).unwrap()
}

const WATCH: &str = "/api/v1/configmaps?watch=true";
const PATIENCE: Duration = Duration::from_secs(30);

#[tokio::test(start_paused = true)]
async fn watches_are_started_at_least_a_second_apart_and_lists_are_not() {
    let (client, requests) = scripted(|_, _| page("1", &[]));
    let client = observed(client, Arc::default(), None, PATIENCE);
    for _ in 0..3 {
        client.send(get(WATCH)).await.unwrap();
        client.send(get("/api/v1/configmaps")).await.unwrap();
    }
    let times: Vec<_> = requests.lock().iter().map(|(_, time)| *time).collect();
    let seconds: Vec<_> = times.iter().map(|time| (*time - times[0]).as_secs()).collect();
    assert_eq!(seconds, [0, 0, 1, 1, 2, 2]);
}

#[tokio::test]
async fn an_accepted_watch_is_told_once_and_forgotten_by_a_failure() {
    let (client, _) = scripted(|_, _| page("1", &[]));
    let signals = Arc::new(Signals::default());
    let client = observed(client, Arc::clone(&signals), None, PATIENCE);
    client.send(get("/api/v1/configmaps")).await.unwrap();
    assert!(futures::poll!(std::pin::pin!(signals.watch_open())).is_pending(), "a list is no watch");
    client.send(get(WATCH)).await.unwrap();
    signals.watch_open().await;
    assert!(futures::poll!(std::pin::pin!(signals.watch_open())).is_pending());
    tokio::time::pause();
    client.send(get(WATCH)).await.unwrap();
    assert_eq!(signals.interrupted().asked, None);
    assert!(futures::poll!(std::pin::pin!(signals.watch_open())).is_pending());
}

#[tokio::test]
async fn the_delay_asked_for_is_taken_once_and_limited() {
    let (client, _) = scripted(|_, count| {
        let mut answer = refusal(429, "TooManyRequests", "slow down");
        let seconds = if count == 0 { "7" } else { "86400" };
        answer.headers_mut().insert(RETRY_AFTER, seconds.parse().unwrap());
        answer
    });
    let signals = Arc::new(Signals::default());
    let client = observed(client, Arc::clone(&signals), None, PATIENCE);
    client.send(get("/api/v1/configmaps")).await.unwrap();
    assert_eq!(signals.interrupted().asked, Some(Duration::from_secs(7)));
    assert_eq!(signals.interrupted().asked, None);
    client.send(get("/api/v1/configmaps")).await.unwrap();
    assert_eq!(signals.interrupted().asked, Some(MAX_RETRY_AFTER));
}

#[tokio::test(start_paused = true)]
async fn how_long_a_watch_was_open_is_told_once() {
    let (client, _) = scripted(|_, count| match count {
        2 => refusal(503, "ServiceUnavailable", "restarting"),
        _ => page("1", &[]),
    });
    let signals = Arc::new(Signals::default());
    let client = observed(client, Arc::clone(&signals), None, PATIENCE);
    assert_eq!(signals.interrupted().open_for, Duration::ZERO);
    let minute = Duration::from_secs(60);
    client.send(get(WATCH)).await.unwrap();
    tokio::time::advance(minute).await;
    assert_eq!(signals.interrupted().open_for, minute, "it failed");
    assert_eq!(signals.interrupted().open_for, Duration::ZERO);
    client.send(get(WATCH)).await.unwrap();
    tokio::time::advance(minute).await;
    client.send(get(WATCH)).await.unwrap();
    tokio::time::advance(minute).await;
    assert_eq!(signals.interrupted().open_for, minute, "it ended, and the next one was refused");
}

#[tokio::test(start_paused = true)]
async fn a_watch_is_answered_in_time_or_has_failed() {
    let silence =
        |_: Request<Body>| std::future::pending::<Result<Response<Body>, std::convert::Infallible>>();
    let client = observed(Client::new(service_fn(silence), "default"), Arc::default(), None, PATIENCE);
    let error = timeout(PATIENCE * 2, client.send(get(WATCH))).await.expect("in time").unwrap_err();
    assert!(matches!(&error, kube::Error::Service(_)), "{error:?}");
    let streamed = format!("{WATCH}&sendInitialEvents=true");
    for list in ["/api/v1/configmaps", &streamed] {
        timeout(PATIENCE * 2, client.send(get(list))).await.expect_err("the task has a deadline for it");
    }
}
