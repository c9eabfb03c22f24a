//! Objects and single answers for the unit tests.

use std::{io, sync::Arc, time::Duration};

use bytes::Bytes;
use futures::{StreamExt, stream};
use http::{Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::{Client, client::Body};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::guard::Guard;

/// A ConfigMap in namespace `default` whose colour is the value of the index under test.
pub(crate) fn widget(name: &str, uid: &str, version: &str, color: &str) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(name.into()),
            namespace: Some("default".into()),
            uid: Some(uid.into()),
            resource_version: Some(version.into()),
            ..ObjectMeta::default()
        },
        data: Some([("color".to_owned(), color.to_owned())].into()),
        ..ConfigMap::default()
    }
}

pub(crate) fn sound(name: &str, uid: &str, version: &str, color: &str) -> Guard<ConfigMap> {
    Guard::Sound(widget(name, uid, version, color))
}

/// The same object with data that is no ConfigMap's.
pub(crate) fn malformed(name: &str, uid: &str, version: &str) -> Guard<ConfigMap> {
    let object = json!({
        "metadata": {"name": name, "namespace": "default", "uid": uid, "resourceVersion": version},
        "data": {"color": 7},
    });
    serde_json::from_str(&object.to_string()).unwrap()
}

pub(crate) fn colors(widget: &ConfigMap) -> Vec<String> {
    widget.data.iter().flat_map(|data| data.get("color")).cloned().collect()
}

pub(crate) fn name(widget: &ConfigMap) -> String {
    widget.metadata.name.clone().unwrap_or_default()
}

/// The answer to a request.
pub(crate) type Answer = Response<UnsyncBoxBody<Bytes, io::Error>>;

/// Paths and times of requests.
pub(crate) type Requests = Arc<Mutex<Vec<(String, Instant)>>>;

/// A client whose every request is answered by `answer`, given the path and how many requests came before it.
pub(crate) fn scripted(answer: impl Fn(&str, usize) -> Answer + Send + 'static) -> (Client, Requests) {
    let requests = Requests::default();
    let log = Arc::clone(&requests);
    let service = tower::service_fn(move |request: Request<Body>| {
        let path = request.uri().to_string();
        let mut log = log.lock();
        // A loop without delays would keep the paused clock, and with it the test, from ever going on.
        assert!(log.len() < 10_000, "a storm of requests");
        let answer = answer(&path, log.len());
        log.push((path, Instant::now()));
        async move { Ok::<_, std::convert::Infallible>(answer) }
    });
    (Client::new(service, "default"), requests)
}

pub(crate) fn answer(code: u16, body: &Value) -> Answer {
    let body = Full::new(Bytes::from(body.to_string())).map_err(|never| match never {});
    Response::builder().status(code).body(body.boxed_unsync()).unwrap()
}

pub(crate) fn refusal(code: u16, reason: &str, message: &str) -> Answer {
    let body =
        json!({"kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": message});
    answer(code, &body)
}

/// A complete list of one page.
pub(crate) fn page(version: &str, objects: &[ConfigMap]) -> Answer {
    page_of(version, objects, None)
}

/// A page of a list, with the token of the next one.
pub(crate) fn page_of(version: &str, objects: &[ConfigMap], next: Option<&str>) -> Answer {
    let metadata = json!({"resourceVersion": version, "continue": next});
    answer(200, &json!({"kind": "ConfigMapList", "apiVersion": "v1", "metadata": metadata, "items": objects}))
}

/// A watch that shows these events and stays open.
pub(crate) fn open_watch(events: &[String]) -> Answer {
    let lines: Vec<_> =
        events.iter().map(|event| Ok(Frame::data(Bytes::from(format!("{event}\n"))))).collect();
    let frames = stream::iter(lines).chain(stream::pending());
    Response::new(StreamBody::new(frames).boxed_unsync())
}

/// A watch that shows one of these events after each pause and stays open.
pub(crate) fn watch_after(pause: Duration, events: impl Iterator<Item = String> + Send + 'static) -> Answer {
    let lines = stream::iter(events).then(move |event| async move {
        tokio::time::sleep(pause).await;
        Ok(Frame::data(Bytes::from(format!("{event}\n"))))
    });
    Response::new(StreamBody::new(lines.chain(stream::pending())).boxed_unsync())
}

/// A watch that shows these events and is then ended by the server.
pub(crate) fn short_watch(events: &[String]) -> Answer {
    let lines: Vec<_> =
        events.iter().map(|event| Ok(Frame::data(Bytes::from(format!("{event}\n"))))).collect();
    Response::new(StreamBody::new(stream::iter(lines)).boxed_unsync())
}

/// A watch that stays open for a while before its connection breaks.
pub(crate) fn broken_watch(open_for: Duration) -> Answer {
    let broken = stream::once(async move {
        tokio::time::sleep(open_for).await;
        Err(io::Error::from(io::ErrorKind::ConnectionReset))
    });
    Response::new(StreamBody::new(broken).boxed_unsync())
}

/// A watch that the server ends at once.
pub(crate) fn ended_watch() -> Answer {
    Response::new(Full::default().map_err(|never| match never {}).boxed_unsync())
}

/// An answer whose body never comes.
pub(crate) fn hung() -> Answer {
    open_watch(&[])
}

/// A watch event with its fields in the order in which the API server writes them.
pub(crate) fn event(kind: &str, object: &ConfigMap) -> String {
    format!(r#"{{"type":"{kind}","object":{}}}"#, json!(object))
}
