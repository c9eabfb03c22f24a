//! Kinds that cannot be served for a while: the definition, the rights, the credentials or the server are gone.

use std::time::{Duration, Instant};

use cachelib::{Cause, Readiness, SecretMeta};
use k8s_openapi::{
    api::core::v1::{ConfigMap, Service},
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{Api, CustomResource, api::DeleteParams};
use serde::{Deserialize, Serialize};
use serde_json::json;
use testenv::{eventually, faults::Match};

use super::{MAPS, behind_proxy, requests};
use crate::support::{LIMIT, READ, Scene, color, config_map, create, install, next, object, seen, until};

/// A kind that one test takes away and brings back.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize)]
#[kube(group = "cachelib.test", version = "v1", kind = "Sprocket", namespaced, schema = "disabled")]
struct SprocketSpec {}

fn sprocket(name: &str) -> Sprocket {
    object(json!({
        "apiVersion": "cachelib.test/v1", "kind": "Sprocket", "metadata": {"name": name}, "spec": {},
    }))
}

/// Removes a definition and waits until it is gone with all its objects.
async fn uninstall(scene: &Scene, plural: &str) {
    let definitions = Api::<CustomResourceDefinition>::all(scene.control_plane.admin());
    let name = format!("{plural}.cachelib.test");
    definitions.delete(&name, &DeleteParams::default()).await.unwrap();
    eventually("the definition to go", LIMIT, || async {
        matches!(definitions.get_opt(&name).await, Ok(None)).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_kind_that_is_removed_and_installed_again_is_served_again() {
    let scene = Scene::new("removed", &[("cachelib.test", "sprockets", READ)]).await;
    install(scene.control_plane, "sprockets", "Sprocket").await;
    create(&scene.admin(), &sprocket("old")).await;
    let (cache, running) = scene.cache::<Sprocket>().await;
    let name = |object: Option<&Sprocket>| object.and_then(|object| object.metadata.name.clone());
    let mut gone = cache.subscribe(move |old, new| match new {
        Some(_) => Vec::new(),
        None => name(old).into_iter().collect(),
    });
    uninstall(&scene, "sprockets").await;
    assert_eq!(next(&mut gone).await, "old");
    until(&cache, |readiness| readiness.cause() == Some(&Cause::NotInstalled)).await;

    install(scene.control_plane, "sprockets", "Sprocket").await;
    create(&scene.admin(), &sprocket("new")).await;
    until(&cache, Readiness::is_synced).await;
    seen("an object of the new kind", || cache.find("new").is_some()).await;
    assert!(cache.find("old").is_none() && gone.is_empty());
    scene.stores_equal_server(&running).await;
}

#[tokio::test]
async fn rights_that_are_revoked_make_a_kind_stale_until_they_are_back() {
    let (scene, proxy) = behind_proxy("revoked").await;
    let right = ("", MAPS, READ);
    create(&scene.admin(), &config_map("a")).await;
    let (cache, running) = scene.cache::<ConfigMap>().await;
    scene.revoke(right).await;
    scene.change("a", "blue").await;
    seen("a change", || color(&cache, "a").as_deref() == Some("blue")).await;
    assert!(cache.readiness().borrow().is_synced(), "a watch that is open stays so");

    proxy.cut_connections().await;
    let stale =
        until(&cache, |readiness| readiness.cause().is_some_and(|cause| cause.class() == "forbidden")).await;
    let text = stale.to_string();
    assert!(text.contains(&format!("{} may not watch configmaps", scene.user())), "{text}");
    scene.delete("a").await;
    assert!(cache.find("a").is_some(), "what was known is served on");

    scene.bind(right).await;
    until(&cache, Readiness::is_synced).await;
    scene.stores_equal_server(&running).await;
    assert_eq!(proxy.log().count("list", MAPS), 1, "the watch goes on where it was");
}

#[tokio::test]
async fn credentials_that_are_not_accepted_for_a_while_heal() {
    let (scene, proxy) = behind_proxy("token").await;
    let (cache, running) = scene.cache::<ConfigMap>().await;
    let rotating = proxy.on(Match::any()).answer(401);
    proxy.cut_connections().await;
    let class = |readiness: &Readiness| readiness.cause().map(Cause::class);
    until(&cache, |readiness| class(readiness) == Some("unauthenticated")).await;
    create(&scene.admin(), &config_map("meanwhile")).await;
    rotating.hit(2).await;
    rotating.lift();
    until(&cache, Readiness::is_synced).await;
    scene.stores_equal_server(&running).await;
    assert_eq!(proxy.log().count("list", MAPS), 1);
}

#[tokio::test]
async fn a_server_that_restarts_is_asked_seldom_and_shown_soon() {
    let (scene, proxy) = behind_proxy("restart").await;
    let (cache, running) = scene.cache::<ConfigMap>().await;
    proxy.reset_connections().await;
    let outage = Duration::from_secs(10);
    create(&scene.admin(), &config_map("meanwhile")).await;
    // The outage itself is the subject: its length decides how many tries there may be.
    tokio::time::sleep(outage).await;
    let tries = proxy.log().resets();
    assert!((2..=6).contains(&tries), "{tries} connections in {outage:?}");
    proxy.accept_again().await;
    let back = Instant::now();
    until(&cache, Readiness::is_synced).await;
    // At most 5 s between two tries, and time to be answered on a busy machine.
    assert!(back.elapsed() < Duration::from_secs(8), "{:?}", back.elapsed());
    scene.stores_equal_server(&running).await;
    assert_eq!(requests(&proxy), (1, 2));
}

#[tokio::test]
async fn the_kinds_of_a_process_ask_a_server_that_is_down_in_turns() {
    let (scene, proxy) = behind_proxy("turns").await;
    scene.grant(("", "secrets", READ)).await;
    scene.grant(("", "services", READ)).await;
    let mut builder = scene.builder();
    let config_maps = builder.cache::<ConfigMap>(scene.source()).build().unwrap();
    builder.cache::<SecretMeta>(scene.source()).build().unwrap();
    builder.cache::<Service>(scene.source()).build().unwrap();
    let running = builder.start();
    running.synced(LIMIT).await.unwrap();

    let down = proxy.on(Match::any()).cut();
    let outage = Duration::from_secs(20);
    create(&scene.admin(), &config_map("meanwhile")).await;
    // The outage itself is the subject: its length decides how many tries there may be.
    tokio::time::sleep(outage).await;
    let log = proxy.log();
    // One watch of each was open before. Each kind tries once, and then one of them about every 5 s.
    let tries: Vec<_> = [MAPS, "secrets", "services"].map(|kind| log.count("watch", kind) - 1).into();
    assert!(tries.iter().all(|tries| (1..=3).contains(tries)), "{tries:?} in {outage:?}\n{log}");
    assert!((4..=8).contains(&tries.iter().sum::<usize>()), "{tries:?} in {outage:?}\n{log}");
    down.lift();
    let back = Instant::now();
    for kind in running.kinds() {
        assert!(matches!(kind.readiness, Readiness::Stale { .. }), "{kind:?}");
    }
    running.synced(LIMIT).await.unwrap();
    assert!(back.elapsed() < Duration::from_secs(8), "{:?}", back.elapsed());
    scene.stores_equal_server(&running).await;
    assert!(config_maps.find("meanwhile").is_some());
    assert_eq!(proxy.log().count("list", "*"), 3, "no kind is listed again");
}
