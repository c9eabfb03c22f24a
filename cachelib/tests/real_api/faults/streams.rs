//! Lists that come on the watch itself.

use cachelib::{Builder, Options, SecretMeta};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use serde_json::json;
use testenv::faults::{Events, FaultProxy, Match, Rule};

use super::{MAPS, behind_proxy, is_streamed_list, requests};
use crate::support::{LIMIT, READ, create, object, seen};

fn streaming() -> Options {
    Options { streaming_lists: true, ..Options::default() }
}

#[tokio::test]
async fn a_streamed_start_is_one_request_a_kind() {
    let (scene, proxy) = behind_proxy("streamed").await;
    scene.grant(("", "secrets", READ)).await;
    scene.create_all(["a", "b"]).await;
    let secret: Secret = object(json!({"metadata": {"name": "s"}}));
    create(&scene.admin(), &secret).await;
    let mut builder = Builder::new(scene.clients().0.watch, streaming());
    let config_maps = builder.cache::<ConfigMap>(scene.source()).build().unwrap();
    let secrets = builder.cache::<SecretMeta>(scene.source()).build().unwrap();
    let running = builder.start();
    running.synced(LIMIT).await.unwrap();
    assert!(
        config_maps.find("a").is_some() && config_maps.find("b").is_some() && secrets.find("s").is_some()
    );

    scene.delete("a").await;
    seen("a change on the same stream", || config_maps.find("a").is_none()).await;
    let log = proxy.log();
    assert_eq!((log.count("watch", MAPS), log.count("watch", "secrets"), log.count("*", "*")), (1, 1, 2));
    assert!(log.entries().iter().all(|entry| is_streamed_list(&entry.call)), "{log}");
    scene.stores_equal_server(&running).await;
}

#[tokio::test]
async fn a_server_that_refuses_a_stream_is_listed_within_one_retry() {
    let (scene, proxy) = behind_proxy("nostream").await;
    scene.create_all(["a", "b"]).await;
    let refused = proxy.on(Match::watch(MAPS).when(is_streamed_list)).answer(422);
    let (cache, running) = scene.cache_through::<ConfigMap>(scene.clients().0.watch, streaming()).await;
    assert_eq!((refused.hits(), requests(&proxy)), (1, (1, 2)));
    assert_eq!(cache.status().errors, 0, "nothing is wrong with the kind");
    scene.stores_equal_server(&running).await;
}

/// A streamed list of 30 objects, cut in the middle: it is read anew, and half of it is never shown.
async fn cut_in_the_middle(prefix: &str, cut: impl FnOnce(&FaultProxy) -> Rule) {
    let (scene, proxy) = behind_proxy(prefix).await;
    scene.create_all((0..30).map(|number| format!("object-{number:02}"))).await;
    let cut = cut(&proxy);
    let (cache, running) = scene.start::<ConfigMap>(scene.clients().0.watch, streaming());
    cut.hit(1).await;
    assert!(cache.is_empty());
    running.synced(LIMIT).await.unwrap();
    assert!((0..30).all(|number| cache.find(&format!("object-{number:02}")).is_some()));
    assert_eq!(requests(&proxy), (1, 3), "the second try is cut short in favour of pages: {}", proxy.log());
    scene.stores_equal_server(&running).await;
}

#[tokio::test]
async fn a_streamed_list_that_ends_in_the_middle_is_read_anew() {
    cut_in_the_middle("streamend", |proxy| proxy.on(Events::added(MAPS)).nth(15).cut_clean()).await;
}

#[tokio::test]
async fn a_streamed_list_that_is_cut_in_mid_event_is_read_anew() {
    cut_in_the_middle("streamcut", |proxy| proxy.on(Events::added(MAPS)).nth(15).cut_mid_event()).await;
}
