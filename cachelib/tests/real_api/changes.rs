//! What subscribers are told of changes on the server.

use std::collections::BTreeSet;

use cachelib::Key;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{Resource, ResourceExt, api::DeleteParams};
use serde_json::json;

use crate::support::{READ, Scene, config_map, create, names, next, object, seen};

#[tokio::test]
async fn a_burst_of_creations_and_deletions_reaches_two_subscribers() {
    let scene = Scene::new("burst", &[("", "configmaps", READ)]).await;
    let (cache, running) = scene.cache::<ConfigMap>().await;
    let subscriptions = [cache.subscribe(names), cache.subscribe(names)];
    let api = scene.admin::<ConfigMap>();
    let expected: BTreeSet<_> = (0..30).map(|number| format!("burst-{number}")).collect();
    for name in &expected {
        create(&api, &config_map(name)).await;
        scene.delete(name).await;
    }
    for mut subscription in subscriptions {
        let mut told = BTreeSet::new();
        while !expected.is_subset(&told) {
            told.insert(next(&mut subscription).await);
        }
    }
    seen("the end of the burst", || {
        cache.list().iter().all(|object| !names(Some(object), None)[0].starts_with("burst"))
    })
    .await;
    scene.stores_equal_server(&running).await;
}

#[tokio::test]
async fn a_subscriber_that_never_looks_holds_up_nobody() {
    let scene = Scene::new("stuck", &[("", "configmaps", READ)]).await;
    let (cache, running) = scene.cache::<ConfigMap>().await;
    let busy = |old: Option<&ConfigMap>, new: Option<&ConfigMap>| {
        names(old, new).into_iter().filter(|name| name.starts_with("busy")).collect()
    };
    let (stuck, mut live) = (cache.subscribe(busy), cache.subscribe(busy));
    let expected = ["busy-0", "busy-1", "busy-2"].map(str::to_owned);
    scene.create_all(&expected).await;
    let mut last = None;
    for round in 0..100 {
        last = Some(scene.change(&expected[round % 3], &round.to_string()).await);
    }
    let last = last.unwrap();
    let shown = || cache.get(&Key::of(&last)).and_then(|object| object.resource_version());
    seen("the last change", || shown() == last.resource_version()).await;
    let mut told = BTreeSet::new();
    while told.len() < expected.len() {
        told.insert(next(&mut live).await);
    }
    assert_eq!(stuck.len(), expected.len(), "each name waits once, however often it changed");
    scene.stores_equal_server(&running).await;
}

#[tokio::test]
async fn the_deletion_of_a_child_is_told_to_its_owner() {
    let scene = Scene::new("owner", &[("", "configmaps", READ), ("", "secrets", READ)]).await;
    let (children, running) = scene.cache::<cachelib::SecretMeta>().await;
    let mut owners =
        children.subscribe(|old, new| old.into_iter().chain(new).flat_map(cachelib::owner_uids).collect());
    let owner = create(&scene.admin(), &config_map("owner")).await;
    let uid = owner.metadata.uid.clone().unwrap();
    let mut child: Secret = object(json!({"metadata": {"name": "child"}}));
    child.metadata.owner_references = owner.owner_ref(&()).map(|owner| vec![owner]);
    create(&scene.admin(), &child).await;

    assert_eq!(next(&mut owners).await, uid);
    assert_eq!(children.index("owner").unwrap().get(&uid).len(), 1);
    scene.admin::<Secret>().delete("child", &DeleteParams::default()).await.unwrap();
    assert_eq!(next(&mut owners).await, uid);
    assert!(children.index("owner").unwrap().get(&uid).is_empty());
    scene.stores_equal_server(&running).await;
}
