//! Kinds that can be served, cannot yet, or cannot any more.

use cachelib::{Builder, Cause, Options, Readiness, RequestCounter, SecretMeta, clients};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::Config;
use serde_json::json;

use crate::support::{
    Gadget, LIMIT, READ, Scene, USER_AGENT, config_map, create, install, object, seen, until,
};

#[tokio::test]
async fn five_waiters_are_all_released() {
    let scene = Scene::new("waiters", &[("", "configmaps", READ)]).await;
    create(&scene.admin(), &config_map("a")).await;
    let mut builder = scene.builder();
    let cache = builder.cache::<ConfigMap>(scene.source()).build().unwrap();
    let waiters: Vec<_> = (0..5)
        .map(|_| {
            let cache = cache.clone();
            tokio::spawn(async move {
                until(&cache, Readiness::is_synced).await;
                cache.find("a").is_some()
            })
        })
        .collect();
    let running = builder.start();
    for waiter in waiters {
        assert!(waiter.await.unwrap(), "the store is complete when readiness says so");
    }
    scene.stores_equal_server(&running).await;
}

#[tokio::test]
async fn a_forbidden_kind_is_named_leaves_others_live_and_heals() {
    let scene = Scene::new("forbidden", &[("", "configmaps", READ)]).await;
    let mut builder = scene.builder();
    let config_maps = builder.cache::<ConfigMap>(scene.source()).build().unwrap();
    let secrets = builder.cache::<SecretMeta>(scene.source()).build().unwrap();
    let running = builder.start();

    let refused = until(&secrets, |readiness| readiness.cause().is_some()).await;
    let expected = Cause::Forbidden {
        verb: "list".into(),
        resource: "secrets".into(),
        namespace: Some(scene.namespace.name().into()),
        user: Some(scene.user()),
    };
    assert_eq!(refused, Readiness::Failed(expected));
    until(&config_maps, Readiness::is_synced).await;
    let error = running.synced(std::time::Duration::from_millis(1)).await.unwrap_err();
    assert_eq!(error.kinds.len(), 1, "{error}");
    assert!(error.to_string().contains("secrets: forbidden: system:serviceaccount:"), "{error}");

    create(&scene.admin(), &config_map("live")).await;
    seen("a change of the other kind", || config_maps.find("live").is_some()).await;

    let secret: Secret = object(json!({"metadata": {"name": "s"}}));
    create(&scene.admin(), &secret).await;
    scene.grant(("", "secrets", READ)).await;
    running.synced(LIMIT).await.unwrap();
    assert!(secrets.find("s").is_some());
    scene.stores_equal_server(&running).await;
}

#[tokio::test]
async fn a_kind_that_is_installed_later_is_found() {
    testenv::needs!(OwnCluster);
    let scene = Scene::new("later", &[("cachelib.test", "gadgets", READ)]).await;
    let mut builder = scene.builder();
    let gadgets = builder.cache::<Gadget>(scene.source()).build().unwrap();
    let running = builder.start();
    let missing = until(&gadgets, |readiness| readiness.cause().is_some()).await;
    assert_eq!(missing, Readiness::Failed(Cause::NotInstalled));

    install(scene.control_plane, "gadgets", "Gadget").await;
    running.synced(LIMIT).await.unwrap();
    let gadget: Gadget = object(json!({
        "apiVersion": "cachelib.test/v1", "kind": "Gadget", "metadata": {"name": "g"}, "spec": {},
    }));
    create(&scene.admin(), &gadget).await;
    seen("an object of the new kind", || gadgets.find("g").is_some()).await;
    scene.stores_equal_server(&running).await;
}

/// The first failure of a cache that uses this configuration.
async fn first_failure(config: Config) -> Cause {
    let clients = clients(config, USER_AGENT, &RequestCounter::new()).unwrap();
    let mut builder = Builder::new(clients.watch, Options::default());
    let cache = builder.cache::<ConfigMap>(cachelib::Source::all()).build().unwrap();
    let _running = builder.start();
    until(&cache, |readiness| readiness.cause().is_some()).await.cause().cloned().unwrap()
}

#[tokio::test]
async fn wrong_credentials_wrong_authority_and_no_server_are_told_apart() {
    let scene = Scene::new("unreachable", &[]).await;
    let wrong_token = scene.control_plane.config_for_token("not-a-token");
    assert_eq!(first_failure(wrong_token).await.class(), "unauthenticated");

    let mut wrong_authority = scene.config.clone();
    wrong_authority.root_cert = None;
    let Cause::Unreachable(text) = first_failure(wrong_authority).await else { panic!("not unreachable") };
    assert!(text.contains("certificate"), "{text}");

    // A port that was free a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let nobody = Config::new(format!("http://127.0.0.1:{port}").parse().unwrap());
    let Cause::Unreachable(text) = first_failure(nobody).await else { panic!("not unreachable") };
    assert!(text.contains("refused"), "{text}");
}
