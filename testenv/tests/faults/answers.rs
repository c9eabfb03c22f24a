//! What happens to answers of the API server.

use std::time::{Duration, Instant};

use futures::StreamExt;
use http_body_util::BodyExt;
use kube::api::{ListParams, PostParams};
use serde_json::json;
use testenv::faults::Match;

use crate::support::{Scene, get, is_silent, read, secret};

#[tokio::test]
async fn a_delayed_answer_comes_late_but_the_effect_is_there() {
    testenv::needs!(AdminToken);
    let scene = Scene::new("delay").await;
    let delay = Duration::from_millis(400);
    let rule = scene.proxy.on(Match::create("secrets")).delay(delay);
    let (api, started) = (scene.api.clone(), Instant::now());
    let create = tokio::spawn(async move { api.create(&PostParams::default(), &secret("a")).await });
    rule.hit(1).await;
    scene.direct.get("a").await.unwrap();
    create.await.unwrap().unwrap();
    assert!(started.elapsed() >= delay);
}

#[tokio::test]
async fn an_older_list_hides_what_came_since() {
    testenv::needs!(AdminToken);
    let scene = Scene::new("older").await;
    scene.create(&["a"]).await;
    let old = scene.api.list(&ListParams::default()).await.unwrap();
    scene.create(&["b"]).await;
    let rule = scene.proxy.on(Match::list("secrets")).older_answer();
    let again = scene.api.list(&ListParams::default().at("0")).await.unwrap();
    assert_eq!(again.metadata.resource_version, old.metadata.resource_version);
    assert_eq!(scene.list().await, ["a"]);
    rule.lift();
    assert_eq!(scene.list().await, ["a", "b"]);
}

#[tokio::test]
async fn a_question_that_was_never_asked_gets_the_real_answer() {
    testenv::needs!(AdminToken);
    let scene = Scene::new("unasked").await;
    scene.create(&["a"]).await;
    let rule = scene.proxy.on(Match::list("secrets")).older_answer();
    assert_eq!(scene.list().await, ["a"]);
    assert_eq!(rule.hits(), 1);
}

#[tokio::test]
async fn a_list_can_hold_a_malformed_object() {
    testenv::needs!(AdminToken);
    let scene = Scene::new("malform").await;
    scene.create(&["a", "b"]).await;
    let rule = scene.proxy.on(Match::list("secrets")).rewrite(|list| list["items"][0]["data"] = json!(5));
    let error = scene.api.list(&ListParams::default()).await.unwrap_err();
    assert!(matches!(error, kube::Error::SerdeError(_)), "{error:?}");
    let (body, whole) = read(get(&scene.client, &scene.secrets("")).await.unwrap()).await;
    let list: serde_json::Value = serde_json::from_slice(&body.concat()).unwrap();
    assert!(whole);
    assert_eq!((&list["items"][0]["data"], &list["items"][1]["metadata"]["name"]), (&json!(5), &json!("b")));
    rule.lift();
    assert_eq!(scene.list().await, ["a", "b"]);
}

#[tokio::test]
async fn a_truncated_body_ends_well_and_a_cut_one_does_not() {
    testenv::needs!(AdminToken);
    let scene = Scene::new("trunc").await;
    let uri = scene.list_at(&scene.create(&["a"]).await);
    let whole = read(get(&scene.client, &uri).await.unwrap()).await.0.concat();

    let rule = scene.proxy.on(Match::list("secrets")).truncate(100);
    assert_eq!(read(get(&scene.client, &uri).await.unwrap()).await, (vec![whole[..100].to_vec()], true));
    let error = scene.api.list(&ListParams::default()).await.unwrap_err();
    assert!(matches!(error, kube::Error::SerdeError(_)), "{error:?}");
    rule.lift();

    let rule = scene.proxy.on(Match::list("secrets")).cut_after(100);
    assert_eq!(read(get(&scene.client, &uri).await.unwrap()).await, (vec![whole[..100].to_vec()], false));
    let error = scene.api.list(&ListParams::default()).await.unwrap_err();
    assert!(!matches!(error, kube::Error::SerdeError(_) | kube::Error::Api(_)), "{error:?}");
    rule.lift();
    assert_eq!(scene.list().await, ["a"]);
}

#[tokio::test]
async fn a_slow_body_comes_in_pieces_and_is_whole() {
    testenv::needs!(AdminToken);
    let scene = Scene::new("slow").await;
    let uri = scene.list_at(&scene.create(&["a"]).await);
    let whole = read(get(&scene.client, &uri).await.unwrap()).await.0.concat();
    let pause = Duration::from_millis(5);
    let _rule = scene.proxy.on(Match::list("secrets")).slow_body(50, pause);
    let started = Instant::now();
    let (pieces, complete) = read(get(&scene.client, &uri).await.unwrap()).await;
    assert!(complete);
    assert_eq!(pieces.concat(), whole);
    let pauses = u32::try_from(whole.len().div_ceil(50)).unwrap();
    assert!(started.elapsed() >= pause * pauses);
}

#[tokio::test]
async fn a_silent_answer_is_a_head_and_nothing_more() {
    testenv::needs!(AdminToken);
    let scene = Scene::new("mute").await;
    let rule = scene.proxy.on(Match::list("secrets")).silence();
    let silent = get(&scene.client, &scene.secrets("")).await.unwrap();
    assert_eq!(silent.status(), 200);
    let mut data = silent.into_body().into_data_stream();
    assert!(is_silent(&mut data).await);
    rule.lift();
    assert!(is_silent(&mut data).await, "what is silent stays so");
    assert_eq!(scene.list().await, [""; 0]);
    scene.proxy.cut_connections().await;
    assert!(data.next().await.expect("not an end").is_err());
}
