//! Reads after own writes.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, Patch, PatchParams},
};
use serde_json::json;

use crate::support::{LIMIT, Scene, config_map, create};

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
