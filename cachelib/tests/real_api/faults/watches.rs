//! Watches that are refused, end, break or say nothing. None of it is a reason to list again.

use std::time::Duration;

use cachelib::{Cache, Cause, Options, Readiness};
use k8s_openapi::api::core::v1::ConfigMap;
use testenv::faults::{Events, FaultProxy, Match, Refusal, Rule, Step};

use super::{MAPS, behind_proxy, end_watch, pauses_after, requests};
use crate::support::{config_map, create, seen, until};

/// What the overload protection of an API server sends.
fn overloaded() -> Refusal {
    Refusal::text(429, "Too many requests, please try again later.\n")
}

/// Refuses two watches in a row and returns how long the cache waited after each.
async fn throttled(prefix: &str, refusal: Refusal, cause: Cause) -> Vec<Duration> {
    let (scene, proxy) = behind_proxy(prefix).await;
    let (cache, running) = scene.cache::<ConfigMap>().await;
    let throttled = proxy.on(Match::watch(MAPS)).times(2).answer(refusal);
    end_watch(&proxy).await;
    let stale = until(&cache, |readiness| readiness.cause().is_some()).await;
    assert_eq!(stale.cause(), Some(&cause));
    create(&scene.admin(), &config_map("meanwhile")).await;
    throttled.hit(2).await;
    until(&cache, Readiness::is_synced).await;
    scene.stores_equal_server(&running).await;
    assert_eq!(requests(&proxy), (1, 4), "the first watch, two tries and the one that is accepted");
    pauses_after(&proxy.log(), 429)
}

#[tokio::test]
async fn a_throttled_watch_waits_as_long_as_it_is_asked_to() {
    let asked = Duration::from_secs(2);
    let cause = Cause::Throttled { retry_after: Some(asked) };
    let pauses = throttled("retryafter", overloaded().retry_after(2), cause).await;
    assert!(pauses.iter().all(|pause| *pause >= asked), "{pauses:?}");
}

#[tokio::test]
async fn a_throttled_watch_that_is_not_told_how_long_waits_longer_each_time() {
    let cause = Cause::Throttled { retry_after: None };
    let pauses = throttled("throttled", overloaded(), cause).await;
    let least = [800, 1_600].map(Duration::from_millis);
    assert!(pauses.iter().zip(least).all(|(pause, least)| *pause >= least), "{pauses:?}");
}

#[tokio::test]
async fn a_watch_that_ends_at_once_is_not_asked_for_at_once() {
    let (scene, proxy) = behind_proxy("short").await;
    let (_cache, running) = scene.cache::<ConfigMap>().await;
    let ending = proxy.on(Match::watch(MAPS)).end_at_once();
    let log = proxy.wait_for("four watches", |log| log.count("watch", MAPS) == 4).await;
    let starts = log.entries().iter().filter(|entry| entry.call.verb == "watch");
    let starts: Vec<_> = starts.filter(|entry| entry.step == Step::Received).map(|entry| entry.at).collect();
    // At least a second apart when they are sent; they may be held up on the way.
    assert!(starts[3] - starts[0] >= Duration::from_secs(2), "{starts:?}");
    ending.lift();
    create(&scene.admin(), &config_map("after")).await;
    scene.stores_equal_server(&running).await;
    assert_eq!(proxy.log().count("list", MAPS), 1);
}

#[tokio::test]
async fn a_watch_that_falls_silent_is_replaced() {
    let (scene, proxy) = behind_proxy("silent").await;
    // kube takes a watch for dead 5 s after the server should have ended it.
    let options = Options { watch_timeout: Duration::from_secs(1), ..Options::default() };
    let (cache, running) = scene.cache_through::<ConfigMap>(scene.clients().0.watch, options).await;
    let silent = proxy.on(Match::watch(MAPS)).times(1).silence();
    silent.hit(1).await;
    create(&scene.admin(), &config_map("unseen")).await;
    seen("what the silent watch did not show", || cache.find("unseen").is_some()).await;
    assert_eq!(proxy.log().count("list", MAPS), 1);
    scene.stores_equal_server(&running).await;
}

#[tokio::test]
async fn a_watch_that_is_not_answered_is_given_up_and_asked_for_anew() {
    let (scene, proxy) = behind_proxy("unanswered").await;
    let options = Options { list_timeout: Duration::from_secs(1), ..Options::default() };
    let (cache, running) = scene.cache_through::<ConfigMap>(scene.clients().0.watch, options).await;
    let _unanswered = proxy.on(Match::watch(MAPS)).times(1).hang();
    end_watch(&proxy).await;
    let stale = until(&cache, |readiness| readiness.cause().is_some()).await;
    assert_eq!(stale.cause().map(Cause::class), Some("unreachable"));
    create(&scene.admin(), &config_map("unseen")).await;
    until(&cache, Readiness::is_synced).await;
    scene.stores_equal_server(&running).await;
    assert_eq!(requests(&proxy), (1, 3));
}

/// Breaks a watch at one event and returns what came of it: the event is not lost, and no list is needed.
async fn broken_at_an_event(prefix: &str, how: impl FnOnce(&FaultProxy) -> Rule) -> Cache<ConfigMap> {
    let (scene, proxy) = behind_proxy(prefix).await;
    let (cache, running) = scene.cache::<ConfigMap>().await;
    let broken = how(&proxy);
    for name in ["a", "b", "c"] {
        create(&scene.admin(), &config_map(name)).await;
    }
    broken.hit(1).await;
    scene.stores_equal_server(&running).await;
    until(&cache, Readiness::is_synced).await;
    assert_eq!(requests(&proxy), (1, 2));
    let shown = proxy.log().events(MAPS).iter().filter(|event| event.starts_with("ADDED a@")).count();
    assert_eq!(shown, 1, "the watch goes on where it was");
    cache
}

#[tokio::test]
async fn a_watch_that_ends_goes_on_where_it_was() {
    let cache =
        broken_at_an_event("ended", |proxy| proxy.on(Events::added(MAPS).named("b")).times(1).cut_clean())
            .await;
    assert_eq!(cache.status().errors, 0, "a watch may end at any time");
}

#[tokio::test]
async fn a_watch_that_is_cut_in_mid_event_goes_on_where_it_was() {
    broken_at_an_event("midevent", |proxy| proxy.on(Events::added(MAPS).named("b")).times(1).cut_mid_event())
        .await;
}
