//! What happens to whole watches, open ones and new ones.

use futures::StreamExt;
use kube::{
    ResourceExt,
    runtime::watcher::{self, watcher},
};
use testenv::faults::{Events, Match, Refusal};
use tokio::time::timeout;

use crate::support::{LIMIT, Scene};

fn watches() -> Match {
    Match::watch("secrets")
}

#[tokio::test]
async fn an_open_watch_ends_at_once_and_a_new_one_too() {
    testenv::needs!(AdminToken);
    let scene = Scene::new("ends").await;
    let mut open = scene.watch().await;
    let rule = scene.proxy.on(watches()).times(2).end_at_once();
    assert_eq!(open.next().await, "end");
    assert_eq!(scene.watch().await.next().await, "end");
    assert_eq!(rule.hits(), 2);
    let mut third = scene.watch().await;
    scene.create(&["a"]).await;
    assert_eq!(third.next().await, "+a");
}

#[tokio::test]
async fn an_open_watch_gets_an_error_event_at_once_and_a_new_one_too() {
    testenv::needs!(AdminToken);
    let scene = Scene::new("errors").await;
    let mut open = scene.watch().await;
    let _rule = scene.proxy.on(watches()).error_event(Refusal::expired());
    assert_eq!(open.take(2).await, ["ERROR 410", "end"]);
    assert_eq!(scene.watch().await.take(2).await, ["ERROR 410", "end"]);
}

#[tokio::test]
async fn an_open_watch_is_silent_and_a_new_one_too() {
    testenv::needs!(AdminToken);
    let scene = Scene::new("silent").await;
    let mut open = scene.watch().await;
    let rule = scene.proxy.on(watches()).silence();
    rule.hit(1).await;
    let mut new = scene.watch().await;
    scene.create(&["a"]).await;
    assert!(open.is_silent().await && new.is_silent().await);
    assert_eq!(rule.hits(), 2);
}

#[tokio::test]
async fn an_open_watch_is_cut_and_a_new_one_gets_no_answer() {
    testenv::needs!(AdminToken);
    let scene = Scene::new("cuts").await;
    let mut open = scene.watch().await;
    let rule = scene.proxy.on(watches()).cut();
    rule.hit(1).await;
    // kube takes a cut between two events for an end.
    assert_eq!(open.next().await, "end");
    assert!(scene.api.watch(&kube::api::WatchParams::default(), "0").await.is_err());
}

#[tokio::test]
async fn a_rule_leaves_other_watches_alone() {
    testenv::needs!(AdminToken);
    let scene = Scene::new("others").await;
    let mut open = scene.watch().await;
    let rule = scene.proxy.on(watches().namespace("elsewhere")).end_at_once();
    scene.create(&["a"]).await;
    assert_eq!(open.next().await, "+a");
    assert_eq!(rule.hits(), 0);
}

/// Drives a watcher until an object is applied.
async fn until_applied(
    events: &mut (
             impl StreamExt<Item = watcher::Result<watcher::Event<k8s_openapi::api::core::v1::Secret>>> + Unpin
         ),
    name: &str,
) {
    let applied = async {
        loop {
            match events.next().await.expect("a watcher never ends") {
                Ok(watcher::Event::Apply(object) | watcher::Event::InitApply(object))
                    if object.name_any() == name =>
                {
                    return;
                }
                _ => {}
            }
        }
    };
    timeout(LIMIT, applied).await.expect("in time");
}

#[tokio::test]
async fn a_watcher_lists_again_after_410_and_only_then() {
    testenv::needs!(AdminToken);
    let scene = Scene::new("relist").await;
    scene.create(&["a"]).await;
    let mut events = watcher(scene.api.clone(), watcher::Config::default()).boxed();
    until_applied(&mut events, "a").await;
    let _cut = scene.proxy.on(Events::added("secrets").named("b")).times(1).cut_mid_event();
    let _expired = scene.proxy.on(Events::added("secrets").named("c")).times(1).error_event(410);
    scene.create(&["b"]).await;
    until_applied(&mut events, "b").await;
    let log = scene.proxy.log();
    assert_eq!((log.count("list", "secrets"), log.count("watch", "secrets")), (1, 2), "{log}");
    scene.create(&["c"]).await;
    until_applied(&mut events, "c").await;
    assert_eq!(scene.proxy.log().count("list", "secrets"), 2);
}

#[tokio::test]
async fn a_watcher_goes_back_in_time_with_an_older_list() {
    testenv::needs!(AdminToken);
    let scene = Scene::new("backward").await;
    scene.create(&["a"]).await;
    let mut events = watcher(scene.api.clone(), watcher::Config::default()).boxed();
    until_applied(&mut events, "a").await;
    scene.create(&["b"]).await;
    until_applied(&mut events, "b").await;
    let _older = scene.proxy.on(Match::list("secrets")).older_answer();
    let frozen = scene.proxy.on(Events::all("secrets")).freeze();
    let _relist = scene.proxy.on(watches()).times(1).error_event(410);
    let listed = async {
        let mut names = Vec::new();
        loop {
            match events.next().await.expect("a watcher never ends") {
                Ok(watcher::Event::InitApply(object)) => names.push(object.name_any()),
                Ok(watcher::Event::InitDone) => return names,
                _ => {}
            }
        }
    };
    assert_eq!(timeout(LIMIT, listed).await.expect("in time"), ["a"], "b is not there yet");
    frozen.lift();
    until_applied(&mut events, "b").await;
}
