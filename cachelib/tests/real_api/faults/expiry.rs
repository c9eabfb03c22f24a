//! Versions that the server does not have, any more or yet.

use std::{collections::BTreeSet, time::Duration};

use cachelib::{Cache, Options, Readiness, Running};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use testenv::faults::{Events, FaultProxy, Match, Refusal};

use super::{MAPS, behind_proxy, hold_watch, is_continued, query, requests};
use crate::support::{Scene, config_map, create, gone, names, next, seen, until, version};

/// Changes one object, deletes one and creates one.
async fn turn_over(scene: &Scene) {
    scene.change("changed", "blue").await;
    scene.delete("lost").await;
    create(&scene.admin(), &config_map("new")).await;
}

/// What an open watch did not show before it ended like this is in one new list.
async fn end_of_a_watch_costs_one_list(prefix: &str, refusal: Refusal) {
    let (scene, proxy) = behind_proxy(prefix).await;
    scene.create_all(["kept", "changed", "lost"]).await;
    let (cache, running) = scene.cache::<ConfigMap>().await;
    let mut told = cache.subscribe(names);
    while told.try_next().is_some() {}

    let unseen = proxy.on(Events::changes(MAPS)).freeze();
    turn_over(&scene).await;
    unseen.hit(3).await;
    let ended = proxy.on(Match::watch(MAPS)).times(1).error_event(refusal);
    ended.hit(1).await;
    unseen.lift();

    let expected: BTreeSet<_> = ["changed", "lost", "new"].map(str::to_owned).into();
    let told = [next(&mut told).await, next(&mut told).await, next(&mut told).await];
    assert_eq!(BTreeSet::from(told), expected);
    is_whole_after_one_list(&scene, &proxy, &cache, &running).await;
}

/// The store holds everything, and one new list was all it took.
async fn is_whole_after_one_list(
    scene: &Scene,
    proxy: &FaultProxy,
    cache: &Cache<ConfigMap>,
    running: &Running,
) {
    until(cache, Readiness::is_synced).await;
    scene.stores_equal_server(running).await;
    assert_eq!(cache.status().lists, 2);
    assert_eq!(proxy.log().count("list", MAPS), 2, "{}", proxy.log());
}

#[tokio::test]
async fn a_version_that_expires_in_an_open_watch_costs_one_list() {
    end_of_a_watch_costs_one_list("expires", Refusal::expired()).await;
}

/// As the API server says it of a streamed list: it accepts the request and puts the error into the stream.
#[tokio::test]
async fn a_version_too_new_for_an_open_watch_costs_one_list() {
    end_of_a_watch_costs_one_list("toonew", Refusal::version_too_large()).await;
}

/// What happened before a watch was refused like this is in one new list, and what is missing from it is told as gone.
async fn start_of_a_watch_costs_one_list(prefix: &str, refusal: Refusal) {
    let (scene, proxy) = behind_proxy(prefix).await;
    scene.create_all(["kept", "changed", "lost"]).await;
    let (cache, running) = scene.cache::<ConfigMap>().await;
    let mut lost = cache.subscribe(gone);
    let held = hold_watch(&proxy, refusal).await;
    turn_over(&scene).await;
    assert!(cache.find("lost").is_some() && cache.find("new").is_none(), "nobody has told the cache yet");

    held.refuse().await;
    assert_eq!(next(&mut lost).await, "lost");
    assert!(cache.find("lost").is_none() && cache.find("new").is_some() && cache.find("kept").is_some());
    is_whole_after_one_list(&scene, &proxy, &cache, &running).await;
    assert_eq!(requests(&proxy), (2, 3));
}

#[tokio::test]
async fn a_version_that_expired_before_a_watch_costs_one_list() {
    start_of_a_watch_costs_one_list("expired", Refusal::expired()).await;
}

#[tokio::test]
async fn a_version_too_new_for_the_start_of_a_watch_costs_one_list() {
    start_of_a_watch_costs_one_list("toolarge", Refusal::version_too_large()).await;
}

#[tokio::test]
async fn an_expired_continuation_starts_the_list_anew() {
    let (scene, proxy) = behind_proxy("continue").await;
    scene.create_all((0..600).map(|number| format!("object-{number}"))).await;
    let options = Options { page_size: 50, ..Options::default() };
    // The token the API server offers goes on with a list that is not of one instant, so it must not be used.
    let expired =
        proxy.on(Match::list(MAPS).when(is_continued)).times(1).answer(Refusal::expired_continue("other"));
    let (cache, running) = scene.cache_through::<ConfigMap>(scene.clients().0.watch, options).await;
    assert_eq!(expired.hits(), 1);
    assert!(proxy.log().entries().iter().all(|entry| !query(&entry.call).contains("continue=other")));
    let pages = cache.len().div_ceil(50);
    assert_eq!(requests(&proxy), (2 + pages, 1), "a page, the refusal, and all pages");
    let status = cache.status();
    assert_eq!((status.lists, status.errors), (1, 1));
    scene.stores_equal_server(&running).await;
}

#[tokio::test]
async fn bookmarks_move_the_version_that_a_watch_resumes_from() {
    let (scene, proxy) = behind_proxy("bookmark").await;
    let elsewhere = scene.control_plane.namespace("elsewhere").await;
    // The server sends a bookmark 2 s before it ends a watch.
    let options = Options { watch_timeout: Duration::from_secs(4), ..Options::default() };
    let (cache, running) = scene.cache_through::<ConfigMap>(scene.clients().0.watch, options).await;
    create(&scene.admin(), &config_map("last")).await;
    seen("the last change", || cache.find("last").is_some()).await;
    let last = version(&cache.find("last").unwrap());
    // The watch does not show this, and only a bookmark tells that the version has moved on.
    let api = Api::namespaced(scene.control_plane.admin(), elsewhere.name());
    create(&api, &config_map("unseen")).await;

    let log = proxy.wait_for("the next watch", |log| log.count("watch", MAPS) == 2).await;
    let events = log.events(MAPS);
    let bookmark = events.last().and_then(|event| event.strip_prefix("BOOKMARK @")).expect("a bookmark");
    assert!(bookmark.parse::<u64>().unwrap() > last, "{events:?}");
    let resumed = log.entries().iter().rfind(|entry| entry.call.verb == "watch").unwrap();
    assert!(query(&resumed.call).contains(&format!("resourceVersion={bookmark}")), "{log}");
    assert_eq!((log.count("list", MAPS), cache.status().errors), (1, 0));
    scene.stores_equal_server(&running).await;
}
