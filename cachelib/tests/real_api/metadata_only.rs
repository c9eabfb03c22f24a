//! Contents of Secrets stay on the server, which is checked on the bytes received.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use cachelib::{Builder, Options, SecretMeta};
use http::Request;
use http_body::Frame;
use http_body_util::BodyExt;
use k8s_openapi::api::core::v1::Secret;
use kube::{
    Client, ResourceExt,
    api::{Patch, PatchParams},
    client::{Body, ClientBuilder},
};
use serde_json::json;
use tower::service_fn;

use crate::support::{READ, Scene, create, object, seen};

/// The marker, and how it reads in base64.
const MARKER: &str = "marker-of-a-secret-value";
const MARKER_BASE64: &str = "bWFya2VyLW9mLWEtc2VjcmV0LXZhbHVl";

/// All bytes of all answers, after decompression.
type Received = Arc<Mutex<Vec<u8>>>;

/// The watch client of a scene, with everything it receives.
fn recorded(scene: &Scene) -> (Client, Received) {
    let (inner, received) = (scene.clients().0.watch, Received::default());
    let record = Arc::clone(&received);
    let service = service_fn(move |request: Request<Body>| {
        let (inner, record) = (inner.clone(), Arc::clone(&record));
        async move {
            let response = inner.send(request).await?;
            Ok::<_, kube::Error>(response.map(|body| body.map_frame(move |frame| noted(frame, &record))))
        }
    });
    (ClientBuilder::new(service, scene.namespace.name()).build(), received)
}

fn noted(frame: Frame<Bytes>, record: &Received) -> Frame<Bytes> {
    record.lock().unwrap().extend(frame.data_ref().into_iter().flatten());
    frame
}

fn contains(received: &Received, text: &str) -> bool {
    received.lock().unwrap().windows(text.len()).any(|window| window == text.as_bytes())
}

async fn scene_with_secret(prefix: &str) -> Scene {
    let scene = Scene::new(prefix, &[("", "secrets", READ)]).await;
    let secret: Secret = object(json!({
        "metadata": {"name": "listed", "labels": {"kept": "yes"}}, "stringData": {"root": MARKER},
    }));
    create(&scene.admin(), &secret).await;
    scene
}

#[tokio::test]
async fn contents_of_secrets_are_never_received() {
    let scene = scene_with_secret("metadata").await;
    let (client, received) = recorded(&scene);
    let (secrets, running) = scene.cache_through::<SecretMeta>(client.clone(), Options::default()).await;
    let listed = secrets.find("listed").unwrap();
    assert_eq!(listed.labels()["kept"], "yes");
    assert!(listed.uid().is_some() && listed.metadata.managed_fields.is_none());

    let patch =
        Patch::Merge(json!({"stringData": {"more": MARKER}, "metadata": {"labels": {"kept": "changed"}}}));
    scene.admin::<Secret>().patch("listed", &PatchParams::default(), &patch).await.unwrap();
    seen("the change", || secrets.find("listed").is_some_and(|secret| secret.labels()["kept"] == "changed"))
        .await;
    let mut once = Builder::new(client, Options::default());
    let listed = once.cache::<SecretMeta>(scene.source()).build().unwrap();
    once.load().await;
    assert!(listed.find("listed").is_some());

    assert!(contains(&received, "listed"), "the record holds the answers");
    assert!(!contains(&received, MARKER) && !contains(&received, MARKER_BASE64));
    scene.stores_equal_server(&running).await;
}

/// The counterpart: the same look finds the marker where contents are asked for.
#[tokio::test]
async fn the_marker_is_found_in_a_cache_of_whole_secrets() {
    let scene = scene_with_secret("whole").await;
    let (client, received) = recorded(&scene);
    let (_secrets, running) = scene.cache_through::<Secret>(client, Options::default()).await;
    assert!(contains(&received, MARKER_BASE64));
    scene.stores_equal_server(&running).await;
}
