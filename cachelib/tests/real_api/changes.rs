//! What subscribers are told of changes on the server.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use cachelib::{Key, Options, Readiness};
use http::{Request, Response};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{Client, Resource, ResourceExt, api::DeleteParams, client::Body};
use serde_json::json;
use tokio::sync::Semaphore;
use tower::service_fn;

use crate::support::{READ, Scene, config_map, create, names, next, object, seen, until};

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
    assert_eq!(children.by_index("owner", &uid).len(), 1);
    scene.admin::<Secret>().delete("child", &DeleteParams::default()).await.unwrap();
    assert_eq!(next(&mut owners).await, uid);
    assert!(children.by_index("owner", &uid).is_empty());
    scene.stores_equal_server(&running).await;
}

#[tokio::test]
async fn an_object_that_is_missing_from_a_new_list_is_told_as_gone() {
    let scene = Scene::new("relist", &[("", "configmaps", READ)]).await;
    scene.create_all(["kept", "lost"]).await;
    let gate = WatchGate::letting_through(1);
    let client = gate.client(&scene);
    // The server ends the first watch after a second; the second one is held back by the gate.
    let options = Options { watch_timeout: Duration::from_secs(1), ..Options::default() };
    let (cache, running) = scene.cache_through::<ConfigMap>(client, options).await;
    let mut gone = cache.subscribe(|old, new| match (old, new) {
        (Some(old), None) => vec![Key::of(old).name],
        _ => Vec::new(),
    });
    seen("the second start of the watch", || gate.waiting.load(Ordering::SeqCst)).await;
    scene.delete("lost").await;
    assert!(cache.find("lost").is_some(), "nobody has told the cache yet");

    gate.refuse_next_with_gone();
    assert_eq!(next(&mut gone).await, "lost");
    assert!(cache.find("lost").is_none() && cache.find("kept").is_some());
    assert_eq!(cache.status().lists, 2);
    until(&cache, Readiness::is_synced).await;
    scene.stores_equal_server(&running).await;
}

/// Stands between a client and the API server and decides when a watch may start, and when one is answered with 410.
struct WatchGate {
    starts: Semaphore,
    waiting: AtomicBool,
    gone: AtomicBool,
}

impl WatchGate {
    fn letting_through(starts: usize) -> Arc<Self> {
        Arc::new(Self {
            starts: Semaphore::new(starts),
            waiting: AtomicBool::new(false),
            gone: AtomicBool::new(false),
        })
    }

    fn client(self: &Arc<Self>, scene: &Scene) -> Client {
        let (gate, inner) = (Arc::clone(self), scene.clients().0.watch);
        let service = service_fn(move |request: Request<Body>| {
            let (gate, inner) = (Arc::clone(&gate), inner.clone());
            async move {
                let watch = request.uri().query().is_some_and(|query| query.contains("watch=true"));
                if watch && gate.answers_gone().await {
                    let status = json!({"kind": "Status", "code": 410, "reason": "Expired"});
                    let body = Body::from(status.to_string().into_bytes());
                    return Ok(Response::builder().status(410).body(body).unwrap());
                }
                inner.send(request).await
            }
        });
        Client::new(service, scene.namespace.name())
    }

    async fn answers_gone(&self) -> bool {
        self.waiting.store(self.starts.available_permits() == 0, Ordering::SeqCst);
        self.starts.acquire().await.expect("never closed").forget();
        self.gone.swap(false, Ordering::SeqCst)
    }

    fn refuse_next_with_gone(&self) {
        self.gone.store(true, Ordering::SeqCst);
        self.starts.add_permits(1_000);
    }
}
