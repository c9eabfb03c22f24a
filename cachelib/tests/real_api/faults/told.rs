//! What subscribers are told after a stream was interrupted, and how often.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicUsize, Ordering},
};

use cachelib::{Cache, Readiness, Subscription};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{DeleteParams, ListParams};
use testenv::faults::{Events, Refusal};

use super::{MAPS, behind_proxy, hold_watch};
use crate::support::{Scene, config_map, create, gone, names, next, seen, until};

/// More than any channel on the way holds.
const MANY: usize = 200;

#[tokio::test]
async fn a_deletion_missed_while_disconnected_is_told() {
    let (scene, proxy) = behind_proxy("missed").await;
    scene.create_all(["kept", "lost"]).await;
    let (cache, running) = scene.cache::<ConfigMap>().await;
    let mut told = cache.subscribe(gone);
    proxy.refuse_connections().await;
    until(&cache, |readiness| readiness.cause().is_some_and(|cause| cause.class() == "unreachable")).await;
    scene.delete("lost").await;
    assert!(cache.find("lost").is_some(), "what was known is served on");
    proxy.accept_again().await;
    assert_eq!(next(&mut told).await, "lost");
    scene.stores_equal_server(&running).await;
    assert_eq!((told.len(), cache.status().lists), (0, 1));
}

/// The names of objects that go, each with a number of its own, so that none is taken for one already told.
fn each_loss(cache: &Cache<ConfigMap>) -> Subscription<(String, usize)> {
    let serial = AtomicUsize::new(0);
    cache.subscribe(move |old, new| {
        let numbered = |name| (name, serial.fetch_add(1, Ordering::Relaxed));
        gone(old, new).into_iter().map(numbered).collect()
    })
}

/// How often each name is told, once all are.
async fn losses(mut subscription: Subscription<(String, usize)>) -> BTreeMap<String, usize> {
    let mut told = BTreeMap::<_, usize>::new();
    while told.len() < MANY {
        *told.entry(next(&mut subscription).await.0).or_default() += 1;
    }
    while let Some((name, _)) = subscription.try_next() {
        *told.entry(name).or_default() += 1;
    }
    told
}

fn many() -> impl Iterator<Item = String> {
    (0..MANY).map(|number| format!("object-{number:03}"))
}

async fn delete_many(scene: &Scene) {
    let ours = ListParams::default().fields("metadata.name!=kube-root-ca.crt");
    scene.admin::<ConfigMap>().delete_collection(&DeleteParams::default(), &ours).await.unwrap();
}

fn each_once() -> BTreeMap<String, usize> {
    many().map(|name| (name, 1)).collect()
}

#[tokio::test]
async fn every_deletion_is_told_once_to_each_subscriber() {
    let (scene, _proxy) = behind_proxy("deleted").await;
    scene.create_all(many()).await;
    let (cache, running) = scene.cache::<ConfigMap>().await;
    let subscriptions = [each_loss(&cache), each_loss(&cache)];
    delete_many(&scene).await;
    scene.stores_equal_server(&running).await;
    for subscription in subscriptions {
        assert_eq!(losses(subscription).await, each_once());
    }
    assert_eq!(cache.status().lists, 1);
}

#[tokio::test]
async fn every_object_missing_from_a_new_list_is_told_once_to_each_subscriber() {
    let (scene, proxy) = behind_proxy("losses").await;
    scene.create_all(many()).await;
    let (cache, running) = scene.cache::<ConfigMap>().await;
    let subscriptions = [each_loss(&cache), each_loss(&cache)];
    let held = hold_watch(&proxy, Refusal::expired()).await;
    delete_many(&scene).await;
    held.refuse().await;
    scene.stores_equal_server(&running).await;
    for subscription in subscriptions {
        assert_eq!(losses(subscription).await, each_once());
    }
    assert_eq!(cache.status().lists, 2);
}

type Uids = (Option<String>, Option<String>);

/// The uids before and after each change of the object `a`.
fn uids(cache: &Cache<ConfigMap>) -> Subscription<Uids> {
    let uid = |object: &ConfigMap| object.metadata.uid.clone().unwrap();
    cache.subscribe(move |old, new| {
        let ours = names(old, new) == ["a"];
        if ours { vec![(old.map(uid), new.map(uid))] } else { Vec::new() }
    })
}

/// Deletes the object `a` and creates another one; returns both uids as a subscriber is to be told of them.
async fn replace_a(scene: &Scene) -> [Uids; 2] {
    let api = scene.admin::<ConfigMap>();
    let before = api.get("a").await.unwrap().metadata.uid;
    scene.delete("a").await;
    let after = create(&api, &config_map("a")).await.metadata.uid;
    [(before, None), (None, after)]
}

#[tokio::test]
async fn another_object_of_the_same_name_in_a_new_list_is_told_as_gone_and_come() {
    let (scene, proxy) = behind_proxy("sames").await;
    create(&scene.admin(), &config_map("a")).await;
    let (cache, running) = scene.cache::<ConfigMap>().await;
    let mut told = uids(&cache);
    next(&mut told).await;
    let held = hold_watch(&proxy, Refusal::expired()).await;
    let expected = replace_a(&scene).await;
    held.refuse().await;
    assert_eq!([next(&mut told).await, next(&mut told).await], expected);
    scene.stores_equal_server(&running).await;
    assert!(told.is_empty());
}

#[tokio::test]
async fn another_object_of_the_same_name_is_told_as_gone_and_come_without_the_deletion() {
    let (scene, proxy) = behind_proxy("samew").await;
    create(&scene.admin(), &config_map("a")).await;
    let (cache, running) = scene.cache::<ConfigMap>().await;
    let mut told = uids(&cache);
    next(&mut told).await;
    let lost = proxy.on(Events::deleted(MAPS).named("a")).lose();
    let expected = replace_a(&scene).await;
    assert_eq!([next(&mut told).await, next(&mut told).await], expected);
    scene.stores_equal_server(&running).await;
    assert!(told.is_empty() && lost.hits() == 1 && cache.status().lists == 1);
}

#[tokio::test]
async fn a_late_subscriber_is_told_of_everything_once() {
    let (scene, proxy) = behind_proxy("latecomer").await;
    scene.create_all(many()).await;
    let (cache, running) = scene.cache::<ConfigMap>().await;
    let early = cache.subscribe(names);
    // One relist, so that there is a state that did not come by the first list alone.
    let held = hold_watch(&proxy, Refusal::expired()).await;
    create(&scene.admin(), &config_map("new")).await;
    held.refuse().await;
    seen("the object of the new list", || cache.find("new").is_some()).await;
    until(&cache, Readiness::is_synced).await;

    let serial = AtomicUsize::new(0);
    let mut late = cache.subscribe(move |old, new| {
        assert!(old.is_none(), "to one who comes late everything is new");
        names(None, new).into_iter().map(|name| (name, serial.fetch_add(1, Ordering::Relaxed))).collect()
    });
    let told: Vec<_> = std::iter::from_fn(|| late.try_next()).map(|(name, _)| name).collect();
    let held: Vec<_> = cache.list().iter().flat_map(|object| names(Some(object), None)).collect();
    assert_eq!(told, held, "each once, by the time it has subscribed");
    assert_eq!(early.len(), told.len(), "the same as one who was there from the start");

    create(&scene.admin(), &config_map("newer")).await;
    assert_eq!(next(&mut late).await.0, "newer");
    scene.stores_equal_server(&running).await;
}
