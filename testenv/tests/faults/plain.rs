//! Without rules the proxy is not there.

use k8s_openapi::api::core::v1::Secret;
use kube::{
    Api, Client, Config, ResourceExt,
    api::{DeleteParams, ListParams, PostParams},
    config::{KubeConfigOptions, Kubeconfig},
};
use testenv::{ControlPlane, faults::Step};

use crate::support::{Scene, code, get, names, read, secret};

#[tokio::test]
async fn a_list_and_a_watch_are_the_same_bytes_with_and_without_it() {
    testenv::needs!(AdminToken);
    let scene = Scene::new("plain").await;
    let version = scene.create(&["a"]).await;
    scene.create(&["b"]).await;
    scene.change("a", "changed").await;
    scene.direct.delete("b", &DeleteParams::default()).await.unwrap();
    let admin = ControlPlane::shared().await.admin();

    let now = scene.change("a", "listed").await.resource_version().unwrap();
    let list = scene.list_at(&now);
    let (through, around) = (get(&scene.client, &list).await.unwrap(), get(&admin, &list).await.unwrap());
    assert_eq!(through.headers()["content-type"], around.headers()["content-type"]);
    assert_eq!(through.headers()["content-length"], around.headers()["content-length"]);
    let (through, around) = (read(through).await, read(around).await);
    assert!(through.1 && around.1);
    assert_eq!(through.0.concat(), around.0.concat());

    // The server ends both after a second.
    let watch = scene.secrets(&format!("watch=true&timeoutSeconds=1&resourceVersion={version}"));
    let through = read(get(&scene.client, &watch).await.unwrap()).await;
    let around = read(get(&admin, &watch).await.unwrap()).await;
    assert!(through.1 && around.1);
    let text = String::from_utf8(through.0.concat()).unwrap();
    assert_eq!(text, String::from_utf8(around.0.concat()).unwrap());
    let types: Vec<_> = text.lines().map(|line| line.split('"').nth(3).unwrap()).collect();
    assert_eq!(types, ["ADDED", "MODIFIED", "DELETED", "MODIFIED"]);

    let log = scene.proxy.log();
    assert_eq!((log.count("list", "secrets"), log.count("watch", "secrets")), (1, 1));
    assert_eq!(log.events("secrets").len(), 4);
    assert!(log.entries().iter().all(|entry| !matches!(entry.step, Step::Fault(..))), "{log}");
}

#[tokio::test]
async fn the_caller_stays_who_he_is() {
    testenv::needs!(AdminToken);
    let scene = Scene::new("identity").await;
    let config = scene.proxy.config(&scene.namespace.user_config("nobody"));
    let nobody = Api::<Secret>::default_namespaced(Client::try_from(config).unwrap());
    assert_eq!(code(nobody.list(&ListParams::default()).await), 403);
    scene.api.create(&PostParams::default(), &secret("a")).await.unwrap();
    assert_eq!(code(scene.api.create(&PostParams::default(), &secret("a")).await), 409);
    let log = scene.proxy.log();
    assert_eq!((log.count("create", "secrets"), log.writes()), (2, 2));
    let named = |entry: &&testenv::faults::Entry| entry.call.verb == "create" && entry.call.name == "a";
    assert_eq!(
        log.entries().iter().filter(named).filter(|entry| entry.step == Step::Answered(409)).count(),
        1
    );
}

#[tokio::test]
async fn a_kubeconfig_leads_through_it() {
    testenv::needs!(AdminToken);
    let scene = Scene::new("child").await;
    scene.create(&["a"]).await;
    let control_plane = ControlPlane::shared().await;
    let token = scene.namespace.service_account_token("trusted-operator").await;
    let original = control_plane.kubeconfig(scene.namespace.name(), &token, scene.namespace.name()).unwrap();
    let kubeconfig = Kubeconfig::read_from(scene.proxy.kubeconfig(&original).unwrap()).unwrap();
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    let secrets = Api::<Secret>::default_namespaced(Client::try_from(config).unwrap());
    assert_eq!(names(&secrets.list(&ListParams::default()).await.unwrap().items), ["a"]);
    assert_eq!(scene.proxy.log().count("list", "secrets"), 1);
}
