//! Objects that come damaged although they are sound on the server.

use cachelib::{Cache, Readiness};
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::{Value, json};
use testenv::faults::{Events, Match, Refusal};

use super::{MAPS, behind_proxy, hold_watch, requests};
use crate::support::{color, gone, next, seen, until};

const REASON: &str = "data: invalid type: integer, expected a map";

fn damage(object: &mut Value) {
    object["data"] = json!(5);
}

fn malformed(cache: &Cache<ConfigMap>) -> Vec<(String, String)> {
    cache.malformed().into_iter().map(|(key, reason)| (key.name, reason)).collect()
}

#[tokio::test]
async fn a_malformed_object_in_a_list_costs_only_itself_until_the_next_list() {
    let (scene, proxy) = behind_proxy("badlist").await;
    scene.create_all(["a", "bad", "c"]).await;
    let damaged = proxy.on(Match::list(MAPS)).times(1).rewrite(|list| {
        let items = list["items"].as_array_mut().unwrap();
        items.iter_mut().filter(|item| item["metadata"]["name"] == "bad").for_each(damage);
    });
    let (cache, running) = scene.cache::<ConfigMap>().await;
    assert_eq!(damaged.hits(), 1);
    assert!(cache.find("a").is_some() && cache.find("c").is_some() && cache.find("bad").is_none());
    assert_eq!(malformed(&cache), [("bad".to_owned(), REASON.to_owned())]);
    scene.change("a", "blue").await;
    seen("a change of another object", || color(&cache, "a").as_deref() == Some("blue")).await;

    hold_watch(&proxy, Refusal::expired()).await.refuse().await;
    seen("the object as it is", || cache.find("bad").is_some()).await;
    until(&cache, Readiness::is_synced).await;
    assert_eq!((malformed(&cache), cache.status().lists), (Vec::new(), 2));
    scene.stores_equal_server(&running).await;
}

#[tokio::test]
async fn a_malformed_object_in_a_watch_costs_only_itself_until_its_next_event() {
    let (scene, proxy) = behind_proxy("badevent").await;
    scene.create_all(["a", "bad"]).await;
    let (cache, running) = scene.cache::<ConfigMap>().await;
    let mut lost = cache.subscribe(gone);
    let damaged = proxy.on(Events::modified(MAPS).named("bad")).times(1).rewrite(damage);
    scene.change("bad", "blue").await;
    assert_eq!(next(&mut lost).await, "bad", "what is not served any more is told as gone");
    assert_eq!(damaged.hits(), 1);
    assert_eq!(malformed(&cache), [("bad".to_owned(), REASON.to_owned())]);
    scene.change("a", "blue").await;
    seen("a change of another object", || color(&cache, "a").as_deref() == Some("blue")).await;
    assert!(cache.readiness().borrow().is_synced());

    scene.change("bad", "green").await;
    seen("the object as it is", || cache.find("bad").is_some()).await;
    assert_eq!((malformed(&cache), requests(&proxy)), (Vec::new(), (1, 1)));
    scene.stores_equal_server(&running).await;
}
