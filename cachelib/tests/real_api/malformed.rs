//! Objects that the server takes and the program's type does not.

use cachelib::{Builder, Key, Options};
use kube::{
    Api,
    api::{ApiResource, DynamicObject, Patch, PatchParams, PostParams},
};
use serde_json::json;

use crate::support::{LIMIT, READ, Scene, Widget, create, install, object, seen};

/// Widgets as the server sees them, with any spec.
fn untyped(scene: &Scene) -> Api<DynamicObject> {
    let resource = ApiResource::erase::<Widget>(&());
    Api::namespaced_with(scene.control_plane.admin(), scene.namespace.name(), &resource)
}

fn widget(name: &str, size: &serde_json::Value) -> DynamicObject {
    object(json!({
        "apiVersion": "cachelib.test/v1", "kind": "Widget",
        "metadata": {"name": name}, "spec": {"size": size},
    }))
}

#[tokio::test]
async fn a_malformed_object_costs_only_itself_in_a_list_and_in_a_watch() {
    testenv::needs!(OwnCluster);
    let scene = Scene::new("malformed", &[("cachelib.test", "widgets", READ)]).await;
    install(scene.control_plane, "widgets", "Widget").await;
    let api = untyped(&scene);
    create(&api, &widget("sound", &json!(1))).await;
    create(&api, &widget("listed", &json!("hunter2"))).await;

    let (cache, running) = scene.cache::<Widget>().await;
    assert_eq!(cache.find("sound").unwrap().spec.size, 1);
    let listed = Key::new(scene.namespace.name(), "listed");
    let reason = "spec.size: invalid type: string, expected u32".to_owned();
    assert_eq!(cache.malformed(), [(listed.clone(), reason.clone())]);

    let mut told = cache.subscribe(|old, new| vec![(old.map(Key::of), new.map(Key::of))]);
    while told.try_next().is_some() {}
    let size = |size| Patch::Merge(json!({"spec": {"size": size}}));
    api.patch("sound", &PatchParams::default(), &size(json!("hunter2"))).await.unwrap();
    seen("the eviction", || cache.find("sound").is_none()).await;
    let sound = Key::new(scene.namespace.name(), "sound");
    let evicted = tokio::time::timeout(LIMIT, told.next()).await.expect("in time");
    assert_eq!(evicted, Some((Some(sound.clone()), None)));
    assert_eq!(cache.malformed(), [(listed, reason.clone()), (sound.clone(), reason)]);
    assert_eq!(cache.status().malformed.len(), 2);

    create(&api, &widget("later", &json!(3))).await;
    seen("an object after the malformed one", || cache.find("later").is_some()).await;
    assert!(cache.readiness().borrow().is_synced());

    api.patch("sound", &PatchParams::default(), &size(json!(2))).await.unwrap();
    seen("the mended object", || cache.find("sound").is_some_and(|widget| widget.spec.size == 2)).await;
    api.delete("listed", &kube::api::DeleteParams::default()).await.unwrap();
    seen("the end of the other", || cache.malformed().is_empty()).await;
    assert_eq!(cache.len(), 2);
    scene.stores_equal_server(&running).await;
}

#[tokio::test]
async fn a_single_list_names_malformed_objects_too() {
    testenv::needs!(OwnCluster);
    let scene = Scene::new("oneshot", &[("cachelib.test", "widgets", READ)]).await;
    install(scene.control_plane, "widgets", "Widget").await;
    let api = untyped(&scene);
    for (name, size) in [("b", json!(2)), ("bad", json!(null)), ("a", json!(1))] {
        api.create(&PostParams::default(), &widget(name, &size)).await.unwrap();
    }
    let (clients, counter) = scene.clients();
    let mut builder = Builder::new(clients.request, Options::default());
    let listed = builder.cache::<Widget>(scene.source()).build().unwrap();
    assert!(builder.load().await.failure(&listed).is_none());
    let names: Vec<_> = listed.list().iter().map(|widget| Key::of(&**widget).name).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(listed.malformed().len(), 1);
    assert_eq!(listed.malformed()[0].0, Key::new(scene.namespace.name(), "bad"));
    assert_eq!(counter.total(), 1);
}
