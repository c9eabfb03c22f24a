//! What happens to single events of a watch.

use std::time::{Duration, Instant};

use kube::{
    ResourceExt,
    api::{DeleteParams, WatchEvent},
};
use serde_json::json;
use testenv::{
    ControlPlane,
    faults::{Events, FaultProxy, Refusal, Rule},
};

use crate::support::Scene;

#[tokio::test]
async fn a_lost_event_is_lost_and_no_other() {
    testenv::needs!(AdminToken);
    let scene = Scene::new("lose").await;
    let mut watch = scene.watch().await;
    let rule = scene.proxy.on(Events::added("secrets")).nth(2).lose();
    scene.create(&["a", "b", "c"]).await;
    assert_eq!(watch.take(2).await, ["+a", "+c"]);
    assert_eq!(rule.hits(), 1);
    let log = scene.proxy.log();
    let passed: Vec<_> = log.events("secrets").iter().filter_map(|event| event.split('@').next()).collect();
    assert_eq!(passed, ["ADDED a", "ADDED c"]);
}

#[tokio::test]
async fn events_are_told_apart_by_type_name_uid_and_content() {
    testenv::needs!(AdminToken);
    let scene = Scene::new("select").await;
    let mut watch = scene.watch().await;
    let lose = |events: Events| scene.proxy.on(events).lose();
    scene.create(&["a", "b"]).await;
    let uid = scene.direct.get("a").await.unwrap().uid().unwrap();
    let mut rules: Vec<Rule> = vec![
        lose(Events::deleted("secrets").named("b")),
        lose(Events::modified("secrets").uid(&uid)),
        lose(Events::modified("secrets").when(|object| object["metadata"]["labels"]["label"] == "hidden")),
        lose(Events::changes("secrets").namespace("elsewhere")),
        lose(Events::changes("configmaps")),
    ];
    assert_eq!(watch.take(2).await, ["+a", "+b"]);
    scene.change("a", "anything").await;
    scene.change("b", "hidden").await;
    scene.change("b", "shown").await;
    scene.direct.delete("b", &DeleteParams::default()).await.unwrap();
    scene.direct.delete("a", &DeleteParams::default()).await.unwrap();
    assert_eq!(watch.take(2).await, ["~b", "-a"]);
    let hits: Vec<_> = rules.iter().map(Rule::hits).collect();
    assert_eq!(hits, [1, 1, 1, 0, 0]);
    rules.clear();
    scene.create(&["b"]).await;
    scene.direct.delete("b", &DeleteParams::default()).await.unwrap();
    assert_eq!(watch.take(2).await, ["+b", "-b"]);
}

#[tokio::test]
async fn delayed_events_keep_their_order_and_their_distance() {
    testenv::needs!(AdminToken);
    let scene = Scene::new("late").await;
    let mut watch = scene.watch().await;
    let delay = Duration::from_millis(300);
    let _rule = scene.proxy.on(Events::changes("secrets").named("a")).delay(delay);
    let started = Instant::now();
    scene.create(&["a", "b"]).await;
    assert_eq!(watch.next().await, "+a");
    assert!(started.elapsed() >= delay);
    assert_eq!(watch.next().await, "+b", "it came earlier and had to wait");
}

#[tokio::test]
async fn frozen_events_arrive_in_order_when_thawed() {
    testenv::needs!(AdminToken);
    let scene = Scene::new("freeze").await;
    let mut watch = scene.watch().await;
    let frozen = scene.proxy.on(Events::all("secrets")).freeze();
    scene.create(&["a", "b"]).await;
    scene.change("a", "changed").await;
    frozen.hit(3).await;
    assert!(watch.is_silent().await);
    assert_eq!(scene.proxy.log().events("secrets").len(), 0);
    frozen.lift();
    assert_eq!(watch.take(3).await, ["+a", "+b", "~a"]);
    scene.create(&["c"]).await;
    assert_eq!(watch.next().await, "+c");
}

#[tokio::test]
async fn rewritten_events_differ_from_the_object() {
    testenv::needs!(AdminToken);
    let scene = Scene::new("rewrite").await;
    let mut watch = scene.watch().await;
    let older = |object: &mut serde_json::Value| object["metadata"]["resourceVersion"] = json!("1");
    let _rule = scene.proxy.on(Events::added("secrets").named("a")).rewrite(older);
    let _bad =
        scene.proxy.on(Events::added("secrets").named("b")).rewrite(|object| object["data"] = json!(5));
    scene.create(&["a", "b", "c"]).await;
    let rewritten = watch.next_object().await;
    assert_eq!((rewritten.name_any(), rewritten.resource_version()), ("a".to_owned(), Some("1".to_owned())));
    assert!(watch.next().await.starts_with("error"), "data that is no map");
    assert_eq!(watch.next().await, "+c");
}

#[tokio::test]
async fn older_events_come_again() {
    testenv::needs!(AdminToken);
    let scene = Scene::new("replay").await;
    let mut watch = scene.watch().await;
    let _rule = scene.proxy.on(Events::deleted("secrets")).replay(2);
    scene.create(&["a", "b"]).await;
    scene.change("b", "changed").await;
    scene.direct.delete("b", &DeleteParams::default()).await.unwrap();
    scene.create(&["c"]).await;
    assert_eq!(watch.take(7).await, ["+a", "+b", "~b", "-b", "+b", "~b", "+c"]);
}

#[tokio::test]
async fn made_up_events_come_after_a_real_one() {
    testenv::needs!(AdminToken);
    let scene = Scene::new("inject").await;
    let version = scene.create(&["a"]).await;
    let old = scene.direct.get("a").await.unwrap();
    scene.change("a", "changed").await;
    let mut watch = scene.watch().await;
    let _rule = scene.proxy.on(Events::added("secrets").named("b")).inject([WatchEvent::Modified(old)]);
    scene.create(&["b"]).await;
    assert_eq!(watch.next().await, "+b");
    let old = watch.next_object().await;
    assert_eq!((old.name_any(), old.resource_version()), ("a".to_owned(), Some(version)));
}

#[tokio::test]
async fn shuffled_events_are_the_same_in_an_order_that_repeats() {
    testenv::needs!(AdminToken);
    let control_plane = ControlPlane::shared().await;
    let shuffled = async |seed| {
        let scene = Scene::with_proxy("shuffle", FaultProxy::start_with_seed(control_plane, seed)).await;
        let mut watch = scene.watch().await;
        let rule = scene.proxy.on(Events::changes("secrets")).shuffle(6);
        scene.create(&["a", "b", "c", "d", "e", "f", "g"]).await;
        let six = watch.take(6).await;
        rule.hit(7).await;
        rule.lift();
        assert_eq!(watch.next().await, "+g", "what is left comes when the rule is lifted");
        six
    };
    let first = shuffled(5).await;
    let mut sorted = first.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, ["+a", "+b", "+c", "+d", "+e", "+f"]);
    assert_ne!(first, sorted);
    assert_eq!(first, shuffled(5).await);
}

/// What comes after `a`, when `b` is created under a rule.
async fn after_a(prefix: &str, rule: impl AsyncFnOnce(&Scene) -> Rule) -> Vec<String> {
    let scene = Scene::new(prefix).await;
    let mut watch = scene.watch().await;
    let rule = rule(&scene).await;
    scene.create(&["a", "b"]).await;
    assert_eq!(watch.next().await, "+a");
    rule.hit(1).await;
    let mut seen = Vec::new();
    while seen.last().is_none_or(|last| last != "end") {
        seen.push(watch.next().await);
    }
    seen
}

fn b() -> Events {
    Events::added("secrets").named("b")
}

#[tokio::test]
async fn an_error_event_ends_the_stream() {
    testenv::needs!(AdminToken);
    let seen = after_a("error", async |scene| scene.proxy.on(b()).error_event(Refusal::expired())).await;
    assert_eq!(seen, ["ERROR 410", "end"]);
}

#[tokio::test]
async fn a_clean_cut_is_an_end() {
    testenv::needs!(AdminToken);
    assert_eq!(after_a("clean", async |scene| scene.proxy.on(b()).cut_clean()).await, ["end"]);
}

#[tokio::test]
async fn a_cut_in_mid_event_leaves_half_a_line() {
    testenv::needs!(AdminToken);
    let scene = Scene::new("half").await;
    let version = scene.create(&["a"]).await;
    let _rule = scene.proxy.on(b()).cut_mid_event();
    let uri = scene.secrets(&format!("watch=true&resourceVersion={version}"));
    let watch = crate::support::get(&scene.client, &uri).await.unwrap();
    scene.create(&["b"]).await;
    let (chunks, complete) = crate::support::read(watch).await;
    assert!(!complete, "the connection is cut");
    let text = String::from_utf8(chunks.concat()).unwrap();
    assert!(text.starts_with(r#"{"type":"ADDED","object":{"#) && !text.contains('\n'), "{text}");
}

#[tokio::test]
async fn silence_from_an_event_on_is_for_ever() {
    testenv::needs!(AdminToken);
    let scene = Scene::new("still").await;
    let mut watch = scene.watch().await;
    let rule = scene.proxy.on(b()).silence();
    scene.create(&["a", "b"]).await;
    assert_eq!(watch.next().await, "+a");
    rule.hit(1).await;
    rule.lift();
    scene.create(&["c"]).await;
    assert!(watch.is_silent().await);
    let mut fresh = scene.watch().await;
    scene.create(&["d"]).await;
    assert_eq!(fresh.next().await, "+d");
}
