//! The list at the start: its pages, its age, and answers that take their time.

use std::time::Duration;

use cachelib::{Cause, Options, Readiness};
use k8s_openapi::api::core::v1::ConfigMap;
use testenv::faults::{Events, Match};

use super::{MAPS, behind_proxy, is_continued, query, requests};
use crate::support::{LIMIT, color, config_map, create, seen, until};

#[tokio::test]
async fn six_hundred_objects_in_pages_of_fifty_are_one_list() {
    let (scene, proxy) = behind_proxy("pages").await;
    scene.create_all((0..600).map(|number| format!("object-{number}"))).await;
    let options = Options { page_size: 50, ..Options::default() };
    let (cache, running) = scene.cache_through::<ConfigMap>(scene.clients().0.watch, options).await;
    assert!((0..600).all(|number| cache.find(&format!("object-{number}")).is_some()));
    assert_eq!(requests(&proxy), (cache.len().div_ceil(50), 1));
    let status = cache.status();
    assert_eq!((status.lists, status.errors), (1, 0));
    scene.stores_equal_server(&running).await;
}

#[tokio::test]
async fn what_changes_between_two_pages_of_a_list_is_seen() {
    let (scene, proxy) = behind_proxy("between").await;
    scene.create_all((0..60).map(|number| format!("object-{number:02}"))).await;
    let second_page = proxy.on(Match::list(MAPS).when(is_continued)).times(1).hang();
    let options = Options { page_size: 20, ..Options::default() };
    let (cache, running) = scene.start::<ConfigMap>(scene.clients().0.watch, options);
    second_page.hit(1).await;
    // One of each in the page that was read, and in those that were not.
    for name in ["object-01", "object-51"] {
        scene.change(name, "blue").await;
    }
    for name in ["object-02", "object-52"] {
        scene.delete(name).await;
    }
    for name in ["object-00-new", "object-59-new"] {
        create(&scene.admin(), &config_map(name)).await;
    }
    second_page.lift();
    running.synced(LIMIT).await.unwrap();
    scene.stores_equal_server(&running).await;
    let status = cache.status();
    assert_eq!((status.lists, status.errors), (1, 0));
    assert!(cache.find("object-02").is_none() && cache.find("object-52").is_none());
}

#[tokio::test]
async fn a_list_that_hangs_is_given_up_and_asked_for_anew() {
    let (scene, proxy) = behind_proxy("hung").await;
    create(&scene.admin(), &config_map("a")).await;
    let _hung = proxy.on(Match::list(MAPS)).times(1).hang();
    let options = Options { list_timeout: Duration::from_secs(1), ..Options::default() };
    let (cache, running) = scene.start::<ConfigMap>(scene.clients().0.watch, options);
    until(&cache, |readiness| *readiness == Readiness::Failed(Cause::Deadline)).await;
    until(&cache, Readiness::is_synced).await;
    assert_eq!(requests(&proxy), (2, 1));
    scene.stores_equal_server(&running).await;
}

#[tokio::test]
async fn a_page_that_never_ends_is_given_up_and_asked_for_anew() {
    let (scene, proxy) = behind_proxy("endless").await;
    scene.create_all((0..30).map(|number| format!("object-{number}"))).await;
    let _endless = proxy.on(Match::list(MAPS).when(is_continued)).times(1).silence();
    let options = Options { list_timeout: Duration::from_secs(1), page_size: 20, ..Options::default() };
    let (cache, running) = scene.start::<ConfigMap>(scene.clients().0.watch, options);
    until(&cache, |readiness| *readiness == Readiness::Failed(Cause::Deadline)).await;
    assert!(cache.is_empty(), "half a list is not shown");
    until(&cache, Readiness::is_synced).await;
    assert_eq!(requests(&proxy), (4, 1));
    scene.stores_equal_server(&running).await;
}

#[tokio::test]
async fn answers_that_come_in_small_pieces_are_whole() {
    let (scene, proxy) = behind_proxy("slow").await;
    scene.create_all((0..30).map(|number| format!("object-{number}"))).await;
    let slow = proxy.on(Match::request(MAPS)).slow_body(100, Duration::from_millis(1));
    let (cache, running) = scene.cache::<ConfigMap>().await;
    scene.change("object-7", "blue").await;
    scene.delete("object-8").await;
    seen("the deletion", || cache.find("object-8").is_none()).await;
    assert_eq!(color(&cache, "object-7").as_deref(), Some("blue"));
    assert_eq!((slow.hits(), requests(&proxy), cache.status().errors), (2, (1, 1), 0));
    scene.stores_equal_server(&running).await;
}

#[tokio::test]
async fn the_first_state_is_not_older_than_a_read_before_it() {
    let (scene, proxy) = behind_proxy("fresh").await;
    create(&scene.admin(), &config_map("a")).await;
    // What the list does not have cannot be made up for by an event.
    let _unseen = proxy.on(Events::modified(MAPS)).freeze();
    for round in 0..10 {
        let written = scene.change("a", &round.to_string()).await;
        let options = Options { streaming_lists: round % 2 == 1, ..Options::default() };
        let (cache, running) = scene.cache_through::<ConfigMap>(scene.clients().0.watch, options).await;
        let shown = cache.find("a").unwrap();
        assert_eq!(shown.metadata.resource_version, written.metadata.resource_version, "round {round}");
        scene.stores_equal_server(&running).await;
    }
    // The version 0 is any version the server likes.
    let log = proxy.log();
    assert!(log.entries().iter().all(|entry| !query(&entry.call).contains("resourceVersion=0")), "{log}");
}
