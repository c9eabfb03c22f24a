//! Registration mistakes.

use k8s_openapi::api::core::v1::{ConfigMap, Secret};

use super::*;
use crate::{
    SecretMeta,
    fixture::{colors, refusal, scripted},
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
