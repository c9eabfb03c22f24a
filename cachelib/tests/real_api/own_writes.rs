//! Reads after own writes.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use cachelib::{Cache, Key};
use futures::future::join_all;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, Patch, PatchParams},
};
use serde_json::json;
use testenv::faults::Events;

use crate::{
    faults::{MAPS, behind_proxy},
    support::{LIMIT, Scene, config_map, create, version},
};

#[tokio::test]
async fn the_store_shows_what_was_written_once_it_has_caught_up() {
    let verbs: &[&str] = &["list", "watch", "create", "patch", "delete"];
    let scene = Scene::new("ledger", &[("", "configmaps", verbs)]).await;
    let (cache, running) = scene.cache::<ConfigMap>().await;
    let api = Api::<ConfigMap>::namespaced(scene.clients().0.request, scene.namespace.name());
    let key = cache.key("own");
    let expect = |written: &ConfigMap| {
        cache.expect_version(&key, &written.uid().unwrap(), &written.resource_version().unwrap());
    };

    for round in 0..10 {
        let created = create(&api, &config_map("own")).await;
        expect(&created);
        assert!(cache.caught_up(&key, LIMIT).await);
        assert_eq!(cache.get(&key).unwrap().uid(), created.uid());

        let patch = Patch::Merge(json!({"data": {"round": round.to_string()}}));
        expect(&api.patch("own", &PatchParams::default(), &patch).await.unwrap());
        assert!(cache.caught_up(&key, LIMIT).await);
        assert_eq!(cache.get(&key).unwrap().data.as_ref().unwrap()["round"], round.to_string());

        api.delete("own", &DeleteParams::default()).await.unwrap();
        cache.expect_gone(&key, &created.uid().unwrap());
        assert!(cache.caught_up(&key, LIMIT).await);
        assert!(cache.get(&key).is_none());
    }
    scene.stores_equal_server(&running).await;
}

#[tokio::test]
async fn created_and_deleted_at_once_is_gone_when_caught_up() {
    let scene = Scene::new("short", &[("", "configmaps", &["list", "watch", "create", "delete"])]).await;
    let (cache, running) = scene.cache::<ConfigMap>().await;
    let api = Api::<ConfigMap>::namespaced(scene.clients().0.request, scene.namespace.name());
    let key = cache.key("short");
    for _ in 0..10 {
        let created = create(&api, &config_map("short")).await;
        cache.expect_version(&key, &created.uid().unwrap(), &created.resource_version().unwrap());
        api.delete("short", &DeleteParams::default()).await.unwrap();
        cache.expect_gone(&key, &created.uid().unwrap());
        assert!(cache.caught_up(&key, LIMIT).await);
        assert!(cache.get(&key).is_none());
    }
    scene.stores_equal_server(&running).await;
}

/// Whether the store shows an object as it was written or later, or that it is gone.
fn shows(cache: &Cache<ConfigMap>, key: &Key, written: Option<&ConfigMap>) -> bool {
    match (cache.get(key), written) {
        (Some(held), Some(written)) => held.uid() == written.uid() && version(&held) >= version(written),
        (held, written) => held.is_none() && written.is_none(),
    }
}

#[tokio::test]
async fn the_store_is_never_taken_for_current_while_the_watch_lags() {
    let (scene, proxy) = behind_proxy("lag").await;
    let (cache, running) = scene.cache::<ConfigMap>().await;
    let lagging = proxy.on(Events::changes(MAPS)).delay(Duration::from_millis(500));
    let (api, behind) = (scene.admin::<ConfigMap>(), AtomicUsize::new(0));

    // No answer may be wrong, and the last one must be that it is shown.
    let is_shown = async |key: &Key, written: Option<&ConfigMap>| {
        while !cache.caught_up(key, Duration::from_millis(20)).await {
            behind.fetch_add(1, Ordering::Relaxed);
        }
        assert!(shows(&cache, key, written), "{key} is not shown");
    };
    let one = async |number: usize| {
        let (name, key) = (format!("own-{number}"), cache.key(&format!("own-{number}")));
        let created = create(&api, &config_map(&name)).await;
        let uid = created.uid().unwrap();
        cache.expect_version(&key, &uid, &created.resource_version().unwrap());
        is_shown(&key, Some(&created)).await;
        let changed = scene.change(&name, "blue").await;
        cache.expect_version(&key, &uid, &changed.resource_version().unwrap());
        is_shown(&key, Some(&changed)).await;
        scene.delete(&name).await;
        cache.expect_gone(&key, &uid);
        is_shown(&key, None).await;
    };
    join_all((0..20).map(one)).await;
    assert_eq!(lagging.hits(), 60);
    assert!(behind.load(Ordering::Relaxed) > 0, "the store was behind");
    scene.stores_equal_server(&running).await;
}
