//! What the caches and clients cost, told by the API server's audit log.

use std::collections::BTreeMap;

use cachelib::{Builder, Options, RequestCounter, SecretMeta};
use futures::{StreamExt, stream};
use k8s_openapi::api::core::v1::{ConfigMap, Service};
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use serde_json::json;
use testenv::{audit::Window, eventually};

use crate::support::{LIMIT, READ, Scene, USER_AGENT, config_map, create, seen};

type Counts = BTreeMap<(String, String, String, String, u16), u64>;

fn counted(counter: &RequestCounter) -> Counts {
    let row = |labels: cachelib::RequestLabels| {
        (labels.verb, labels.group, labels.resource, labels.subresource, labels.code)
    };
    let mut counts = Counts::new();
    for (labels, count) in counter.snapshot() {
        *counts.entry(row(labels)).or_default() += count;
    }
    counts
}

fn audited(scene: &Scene) -> Counts {
    let requests = scene.control_plane.audit().read(&scene.user(), Window::ALL).unwrap();
    let row = |row: testenv::audit::Row| {
        ((row.verb, row.group, row.resource, row.subresource, row.code), u64::try_from(row.count).unwrap())
    };
    requests.by_resource().into_iter().map(row).collect()
}

/// Waits until the audit log, which follows the answers, has what the counter has, and no more.
async fn both_agree(scene: &Scene, counter: &RequestCounter) -> Counts {
    eventually("the audit log to agree with the counter", LIMIT, || async {
        let (counted, audited) = (counted(counter), audited(scene));
        if counted == audited {
            Ok(counted)
        } else {
            Err(format!("counted {counted:?}, audited {audited:?}"))
        }
    })
    .await
}

fn row(verb: &str, group: &str, resource: &str, code: u16) -> (String, String, String, String, u16) {
    (verb.into(), group.into(), resource.into(), String::new(), code)
}

#[tokio::test]
async fn a_start_is_pages_and_one_watch_per_kind_and_rest_is_free() {
    testenv::needs!(AuditLog);
    let rights = [("", "configmaps", READ), ("", "secrets", READ), ("", "services", READ)];
    let scene = Scene::new("requests", &rights).await;
    let api = scene.admin::<ConfigMap>();
    // Three pages of 20, of which the last is not full. The label leaves out what Kubernetes itself adds.
    let names: Vec<_> = (0..47).map(|number| format!("object-{number}")).collect();
    let labelled = |name: &str| {
        let mut object = config_map(name);
        object.labels_mut().insert("test".to_owned(), "start".to_owned());
        object
    };
    stream::iter(&names)
        .for_each_concurrent(8, |name| async { drop(create(&api, &labelled(name)).await) })
        .await;

    let (clients, counter) = scene.clients();
    let mut builder = Builder::new(clients.watch, Options { page_size: 20, ..Options::default() });
    let config_maps = builder.cache::<ConfigMap>(scene.source().labels("test=start")).build().unwrap();
    builder.cache::<SecretMeta>(scene.source()).build().unwrap();
    builder.cache::<Service>(scene.source()).build().unwrap();
    let running = builder.start();
    running.synced(LIMIT).await.unwrap();
    assert_eq!(config_maps.len(), 47);

    // Work on the server and reads here: nothing of it may cost a request.
    for round in 0..20 {
        let patch = Patch::Merge(json!({"data": {"round": round.to_string()}}));
        let written = api.patch(&names[0], &PatchParams::default(), &patch).await.unwrap();
        seen("the change", || {
            config_maps
                .find(&names[0])
                .is_some_and(|object| object.resource_version() == written.resource_version())
        })
        .await;
        assert_eq!(config_maps.list().len(), 47);
    }
    let expected: Counts = [
        (row("list", "", "configmaps", 200), 3),
        (row("list", "", "secrets", 200), 1),
        (row("list", "", "services", 200), 1),
        (row("watch", "", "configmaps", 200), 1),
        (row("watch", "", "secrets", 200), 1),
        (row("watch", "", "services", 200), 1),
    ]
    .into();
    assert_eq!(both_agree(&scene, &counter).await, expected);
    scene.stores_equal_server(&running).await;
}

#[tokio::test]
async fn every_request_is_counted_as_the_audit_log_names_it() {
    testenv::needs!(AuditLog);
    let verbs: &[&str] = &["list", "watch", "get", "create", "update", "patch", "delete", "deletecollection"];
    let scene = Scene::new("counter", &[("", "configmaps", verbs), ("", "services", &["get"])]).await;
    let (clients, counter) = scene.clients();
    let api = Api::<ConfigMap>::namespaced(clients.request.clone(), scene.namespace.name());

    let created = create(&api, &config_map("a")).await;
    api.create(&PostParams::default(), &config_map("a")).await.unwrap_err();
    let dry_run = PostParams { dry_run: true, ..PostParams::default() };
    api.create(&dry_run, &config_map("b")).await.unwrap();
    api.get_opt("missing").await.unwrap();
    api.get_metadata("a").await.unwrap();
    api.replace("a", &PostParams::default(), &created).await.unwrap();
    api.patch("a", &PatchParams::default(), &Patch::Merge(json!({"data": {"x": "y"}}))).await.unwrap();
    api.list(&kube::api::ListParams::default()).await.unwrap();
    api.delete("a", &DeleteParams::default()).await.unwrap();
    api.delete_collection(&DeleteParams::default(), &kube::api::ListParams::default().labels("no=such"))
        .await
        .unwrap();
    let services = Api::<Service>::namespaced(clients.request.clone(), scene.namespace.name());
    services.get_status("missing").await.unwrap_err();
    services.list(&kube::api::ListParams::default()).await.unwrap_err();
    clients.request.apiserver_version().await.unwrap();

    let counts = both_agree(&scene, &counter).await;
    assert_eq!(counts[&row("create", "", "configmaps", 201)], 2);
    assert_eq!(counts[&row("create", "", "configmaps", 409)], 1);
    assert_eq!(counts[&row("get", "", "configmaps", 404)], 1);
    assert_eq!(counts[&row("deletecollection", "", "configmaps", 200)], 1);
    assert_eq!(counts[&row("list", "", "services", 403)], 1);
    assert_eq!(counts[&row("get", "", "/version", 200)], 1);
    assert_eq!(counter.total(), 13);
    let dry_runs =
        counter.snapshot().into_iter().filter(|(labels, _)| labels.dry_run).map(|(_, count)| count);
    assert_eq!(dry_runs.sum::<u64>(), 1);

    let requests = scene.control_plane.audit().read(&scene.user(), Window::ALL).unwrap();
    assert!(requests.iter().all(|request| request.user_agent == USER_AGENT));
}
