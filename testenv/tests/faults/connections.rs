//! What happens to connections, and what is left of a proxy.

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Secret;
use kube::{
    Api,
    api::{ListParams, WatchParams},
};
use testenv::{
    ControlPlane, TestNamespace,
    audit::Window,
    eventually,
    faults::{FaultProxy, Match},
};
use tokio::runtime::Handle;

use crate::support::{LIMIT, Scene, client, get};

/// All there is to know about an error.
fn causes(error: &dyn std::error::Error) -> String {
    std::iter::successors(Some(error), |error| error.source()).map(|error| format!("{error}: ")).collect()
}

#[tokio::test]
async fn a_server_that_is_down_refuses_and_comes_back() {
    testenv::needs!(AdminToken);
    let scene = Scene::new("down").await;
    let mut open = scene.watch().await;
    scene.proxy.refuse_connections().await;
    assert_eq!(open.next().await, "end");
    let error = scene.api.list(&ListParams::default()).await.unwrap_err();
    assert!(causes(&error).contains("refused"), "{}", causes(&error));
    scene.proxy.accept_again().await;
    assert_eq!(scene.list().await, [""; 0]);
    scene.proxy.refuse_connections().await;
    scene.api.list(&ListParams::default()).await.unwrap_err();
    assert_eq!(scene.proxy.log().resets(), 0);
}

#[tokio::test]
async fn attempts_to_connect_are_counted_when_they_are_reset() {
    testenv::needs!(AdminToken);
    let scene = Scene::new("reset").await;
    let mut open = scene.watch().await;
    scene.proxy.reset_connections().await;
    assert_eq!(open.next().await, "end");
    for _ in 0..3 {
        scene.api.list(&ListParams::default()).await.unwrap_err();
    }
    let log = scene.proxy.wait_for("three attempts", |log| log.resets() == 3).await;
    assert_eq!(log.count("list", "secrets"), 0);
    scene.proxy.accept_again().await;
    assert_eq!(scene.list().await, [""; 0]);
    assert_eq!(scene.proxy.log().resets(), 3);
}

#[tokio::test]
async fn cut_connections_can_be_made_again_at_once() {
    testenv::needs!(AdminToken);
    let scene = Scene::new("again").await;
    let mut open = scene.watch().await;
    let before = scene.proxy.log().connections();
    scene.proxy.cut_connections().await;
    assert_eq!(open.next().await, "end");
    assert_eq!(scene.list().await, [""; 0]);
    assert_eq!(scene.proxy.log().connections(), before + 1);
}

/// How many watches the API server has open there.
fn open_watches(namespace: &TestNamespace, from: Timestamp) -> usize {
    let requests = namespace.control_plane().audit().read("admin", Window::since(from)).unwrap();
    let ours = requests.filter(|request| request.namespace == namespace.name());
    ours.open_watches().get("secrets").copied().unwrap_or(0)
}

#[tokio::test]
async fn a_client_that_leaves_leaves_the_api_server_too() {
    testenv::needs!(AdminToken);
    let (scene, from) = (Scene::new("leave").await, Timestamp::now());
    let open = [scene.watch().await, scene.watch().await];
    let silence = scene.proxy.on(Match::watch("secrets")).times(1).silence();
    silence.hit(1).await;
    eventually("the watches to be open", LIMIT, || async {
        (open_watches(&scene.namespace, from) == 2).then_some(())
    })
    .await;
    drop(open);
    eventually("the watches to be closed", LIMIT, || async {
        (open_watches(&scene.namespace, from) == 0).then_some(())
    })
    .await;
}

#[tokio::test]
async fn nothing_is_left_of_a_proxy() {
    testenv::needs!(AdminToken);
    let control_plane = ControlPlane::shared().await;
    let tasks = || Handle::current().metrics().num_alive_tasks();
    let (before, from) = (tasks(), Timestamp::now());
    let proxy = FaultProxy::start(control_plane);
    let client = client(&proxy, control_plane);
    let namespace = control_plane.namespace("ended").await;
    let api = Api::<Secret>::namespaced(client.clone(), namespace.name());
    let open = api.watch(&WatchParams::default(), "0").await.unwrap();
    eventually("the watch to be open", LIMIT, || async {
        (open_watches(&namespace, from) == 1).then_some(())
    })
    .await;
    drop(proxy);
    eventually("the API server to see the end", LIMIT, || async {
        (open_watches(&namespace, from) == 0).then_some(())
    })
    .await;
    get(&client, "/version").await.unwrap_err();
    drop((open, api, client));
    eventually("all tasks to end", LIMIT, || async {
        let left = tasks();
        if left <= before { Ok(()) } else { Err(format!("{left} tasks, {before} before")) }
    })
    .await;
}
