//! Registration mistakes.

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use parking_lot::Mutex;

use super::*;
use crate::{
    Identity, SecretMeta,
    fixture::{colors, event, name, open_watch, page, refusal, scripted, widget},
};

fn builder() -> Builder {
    let (client, _) = scripted(|_, _| refusal(404, "NotFound", "no"));
    Builder::new(client, Options::default())
}

#[tokio::test]
async fn a_second_stream_for_the_same_objects_is_refused() {
    let mut builder = builder();
    builder.cache::<Secret>(Source::namespaced("a")).build().unwrap();
    builder.cache::<Secret>(Source::namespaced("b")).build().unwrap();
    builder.cache::<Secret>(Source::namespaced("a").labels("x=y")).build().unwrap();
    builder.cache::<ConfigMap>(Source::namespaced("a")).build().unwrap();
    let error = builder.cache::<SecretMeta>(Source::namespaced("a")).build().unwrap_err().to_string();
    assert!(error.starts_with("secrets (namespace a) is cached already, registered at "), "{error}");
    assert!(error.contains("builder/tests.rs:"), "{error}");
}

#[tokio::test]
async fn wrong_registrations_are_refused() {
    let mut builder = builder();
    let twice =
        builder.cache::<ConfigMap>(Source::all()).index("color", colors).index("color", colors).build();
    assert!(matches!(twice, Err(BuildError::DuplicateIndex { index, .. }) if index == "color"));
    let cache = builder.cache::<Secret>(Source::all()).index("owner", crate::owner_uids).build().unwrap();
    assert!(cache.index("owner").is_ok());
    let unknown = cache.index("color").unwrap_err();
    assert_eq!(unknown.to_string(), "secrets has no index named \"color\"");
    let empty = builder.cache::<ConfigMap>(Source::namespaced("")).build();
    assert!(matches!(empty, Err(BuildError::EmptyNamespace { .. })));
}

#[tokio::test]
async fn without_a_start_subscriptions_end() {
    let mut builder = builder();
    let cache = builder.cache::<ConfigMap>(Source::all()).build().unwrap();
    let mut subscription = cache.subscribe(|_, _| vec![()]);
    drop(builder);
    assert_eq!(subscription.next().await, None);
}

/// A server that lists these objects and shows these events; a second list has what `then` says.
fn served(listed: Vec<ConfigMap>, events: Vec<String>, then: Vec<ConfigMap>) -> Builder {
    let (client, _) = scripted(move |_, count| match count {
        0 => page("10", &listed),
        1 => open_watch(&events),
        2 => page("20", &then),
        _ => open_watch(&[]),
    });
    Builder::new(client, Options::default())
}

#[tokio::test(start_paused = true)]
async fn only_chosen_annotations_are_kept() {
    let annotated = |name: &str| {
        let mut object = widget(name, "1", "1", "red");
        let annotations = [("ours/x".to_owned(), "1".to_owned()), ("theirs/x".to_owned(), "2".to_owned())];
        object.metadata.annotations = Some(annotations.into());
        object
    };
    let mut builder =
        served(vec![annotated("listed")], vec![event("ADDED", &annotated("watched"))], Vec::new());
    let cache = builder
        .cache::<ConfigMap>(Source::namespaced("default"))
        .keep_annotations(["ours/"])
        .build()
        .unwrap();
    let mut came = cache.subscribe(|_, new| new.map(name).into_iter().collect());
    let _running = builder.start();
    for wanted in ["listed", "watched"] {
        assert_eq!(came.next().await.as_deref(), Some(wanted));
        let annotations = cache.find(wanted).unwrap().metadata.annotations.clone().unwrap();
        assert_eq!(annotations.into_keys().collect::<Vec<_>>(), ["ours/x"]);
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_kept_is_all_that_anybody_sees_and_is_made_once_for_each_version() {
    let changed = widget("a", "1", "3", "blue");
    let expired = r#"{"type":"ERROR","object":{"kind":"Status","status":"Failure","code":410}}"#;
    let events =
        [event("MODIFIED", &changed), event("DELETED", &widget("b", "2", "4", "blue")), expired.into()];
    let listed = vec![widget("a", "1", "1", "red"), widget("b", "2", "2", "blue")];
    let mut builder = served(listed, events.into(), vec![changed, widget("c", "3", "15", "green")]);
    let made = Arc::new(Mutex::new(Vec::new()));
    let note = Arc::clone(&made);
    let keep = move |object: ConfigMap| {
        let color = colors(&object).concat();
        note.lock().push(color.clone());
        color
    };
    let cache = builder
        .cache_as(Source::namespaced("default"), keep)
        .index("color", |color: &String| vec![color.clone()])
        .build()
        .unwrap();
    let mut moves = cache.subscribe(|old: Option<&String>, new| vec![(old.cloned(), new.cloned())]);
    let running = builder.start();
    let (red, blue) = (Some("red".to_owned()), Some("blue".to_owned()));
    let green = Some("green".to_owned());
    let told =
        [(None, red.clone()), (None, blue.clone()), (red, blue.clone()), (blue.clone(), None), (None, green)];
    for wanted in told {
        assert_eq!(moves.next().await, Some(wanted));
    }
    assert_eq!((cache.find("a").as_deref(), cache.find("b")), (blue.as_ref(), None));
    let by_color = cache.index("color").unwrap();
    assert_eq!((by_color.get("blue").len(), by_color.get("red").len()), (1, 0));
    assert_eq!(cache.status().reads, 4, "two by key, two by index; subscribers and lists do not count");
    assert_eq!(*made.lock(), ["red", "blue", "blue", "green"], "not again for the second list");
    let identity = |uid: &str, version: &str| Identity { uid: uid.to_owned(), version: version.to_owned() };
    let truth = [(cache.key("a"), identity("1", "3")), (cache.key("c"), identity("3", "15"))];
    let truth = truth.iter().map(|(key, identity)| (key, identity));
    assert_eq!(running.diagnostics()[0].checksum, crate::checksum(truth));
}
