//! Events out of order: an older version of an object never takes the place of a newer one.

use std::sync::{Arc, Mutex};

use cachelib::{Cache, Subscription};
use k8s_openapi::api::core::v1::ConfigMap;
use testenv::faults::Events;

use super::{MAPS, behind_proxy, requests};
use crate::support::{Scene, color, config_map, create, seen, version};

/// Every step of an object back to an older version, for as long as the subscription lasts.
fn steps_back(cache: &Cache<ConfigMap>) -> (Arc<Mutex<Vec<String>>>, Subscription<()>) {
    let steps = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&steps);
    let subscription = cache.subscribe(move |old, new| {
        if let (Some(old), Some(new)) = (old, new)
            && version(new) <= version(old)
        {
            noted.lock().unwrap().push(format!("{} after {}", version(new), version(old)));
        }
        Vec::new()
    });
    (steps, subscription)
}

const OBJECTS: usize = 20;
const ROUNDS: usize = 10;

async fn change_all(scene: &Scene) {
    for round in 0..ROUNDS {
        for number in 0..OBJECTS {
            scene.change(&format!("object-{number}"), &round.to_string()).await;
        }
    }
}

fn all_show_the_last_round(cache: &Cache<ConfigMap>) -> bool {
    let last = Some((ROUNDS - 1).to_string());
    (0..OBJECTS).all(|number| color(cache, &format!("object-{number}")) == last)
}

#[tokio::test]
async fn the_highest_version_wins_among_shuffled_events() {
    let (scene, proxy) = behind_proxy("shuffled").await;
    scene.create_all((0..OBJECTS).map(|number| format!("object-{number}"))).await;
    let (cache, running) = scene.cache::<ConfigMap>().await;
    let (steps_back, _subscription) = steps_back(&cache);
    let shuffled = proxy.on(Events::modified(MAPS)).shuffle(OBJECTS * ROUNDS);
    change_all(&scene).await;
    shuffled.hit(OBJECTS * ROUNDS).await;
    scene.stores_equal_server(&running).await;
    assert!(all_show_the_last_round(&cache) && steps_back.lock().unwrap().is_empty(), "{steps_back:?}");

    let log = proxy.log();
    let versions: Vec<u64> =
        log.events(MAPS).iter().map(|event| event.rsplit_once('@').unwrap().1.parse().unwrap()).collect();
    assert!(!versions.is_sorted(), "they came in order");
    assert_eq!(requests(&proxy), (1, 1));
}

#[tokio::test]
async fn events_that_come_again_change_nothing() {
    let (scene, proxy) = behind_proxy("replayed").await;
    let (cache, running) = scene.cache::<ConfigMap>().await;
    let (steps_back, _subscription) = steps_back(&cache);
    let replayed = proxy.on(Events::added(MAPS).named("last")).replay(OBJECTS * (ROUNDS + 1));
    scene.create_all((0..OBJECTS).map(|number| format!("object-{number}"))).await;
    change_all(&scene).await;
    create(&scene.admin(), &config_map("last")).await;
    create(&scene.admin(), &config_map("end")).await;
    seen("what comes after the old events", || cache.find("end").is_some()).await;
    assert!(all_show_the_last_round(&cache) && steps_back.lock().unwrap().is_empty(), "{steps_back:?}");
    scene.stores_equal_server(&running).await;
    let repeated =
        proxy.log().events(MAPS).iter().filter(|event| event.starts_with("ADDED object-0@")).count();
    assert_eq!((replayed.hits(), repeated, requests(&proxy)), (1, 2, (1, 1)));
}
