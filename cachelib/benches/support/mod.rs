//! A server on paper: answers lists page by page and watches from a channel, without a socket in between, so that
//! what is measured is the cache.

#![allow(dead_code, reason = "each bench uses its own part")]

use std::{convert::Infallible, sync::Arc};

use bytes::Bytes;
use futures::{StreamExt, stream};
use http::{Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{Client, CustomResource, client::Body};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::mpsc;

/// An object of the size and form of an AttestationKey: a public key in, a verdict out.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize)]
#[kube(
    group = "cachelib.test",
    version = "v1",
    kind = "Sample",
    namespaced,
    schema = "disabled",
    status = "SampleStatus"
)]
#[serde(rename_all = "camelCase")]
pub struct SampleSpec {
    pub public_key: String,
    pub uuid: Option<String>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct SampleStatus {
    pub conditions: Vec<Condition>,
    pub fingerprint: String,
}

/// The index under measurement.
pub fn uuid(sample: &Sample) -> Vec<String> {
    sample.spec.uuid.clone().into_iter().collect()
}

/// One object as the API server sends it, managed fields included.
pub fn sample(number: usize, version: usize) -> String {
    let field = |name: &str| (format!("f:{name}"), json!({}));
    let fields = |names: &[&str]| names.iter().map(|name| field(name)).collect::<serde_json::Map<_, _>>();
    let entry = |manager: &str, operation: &str, tree: serde_json::Value| {
        json!({"manager": manager, "operation": operation, "apiVersion": "cachelib.test/v1",
               "time": "2026-11-30T10:00:00Z", "fieldsType": "FieldsV1", "fieldsV1": tree})
    };
    let condition = ["lastTransitionTime", "message", "observedGeneration", "reason", "status", "type"];
    json!({
        "apiVersion": "cachelib.test/v1", "kind": "Sample",
        "metadata": {
            "name": format!("sample-{number}"), "namespace": "default", "generation": 1,
            "uid": format!("00000000-0000-4000-8000-{number:012}"), "resourceVersion": version.to_string(),
            "creationTimestamp": "2026-11-30T10:00:00Z",
            "labels": {"app.kubernetes.io/managed-by": "trusted-operator"},
            "ownerReferences": [{"apiVersion": "cachelib.test/v1", "kind": "Machine", "controller": true,
                                 "name": format!("machine-{number}"), "blockOwnerDeletion": true,
                                 "uid": format!("11111111-0000-4000-8000-{number:012}")}],
            "managedFields": [
                entry("kubectl-create", "Update", json!({"f:spec": fields(&["publicKey", "uuid"])})),
                entry("trusted-operator", "Update", json!({"f:metadata": {"f:labels": fields(&["."]), "f:ownerReferences":
                    {"k:{\"uid\":\"11111111\"}": fields(&["."])}}})),
                entry("trusted-operator", "Apply", json!({"f:status": {"f:fingerprint": {}, "f:conditions":
                    {"k:{\"type\":\"Approved\"}": fields(&condition)}}})),
            ],
        },
        "spec": {"publicKey": format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n", "A".repeat(392)),
                 "uuid": format!("machine-{number}")},
        "status": {
            "fingerprint": format!("sha256:{number:064}"),
            "conditions": [{"type": "Approved", "status": "True", "reason": "MachineCreated", "observedGeneration": 1,
                            "lastTransitionTime": "2026-11-30T10:00:00Z", "message": "bound to its Machine, first key"}],
        },
    })
    .to_string()
}

type Answer = Response<UnsyncBoxBody<Bytes, Infallible>>;

/// Sends events into the watch that was opened last.
#[derive(Clone, Default)]
pub struct Watch(Arc<Mutex<Option<mpsc::UnboundedSender<Bytes>>>>);

impl Watch {
    /// Sends one event of this type.
    pub fn send(&self, kind: &str, object: &str) {
        let line = Bytes::from(format!("{{\"type\":\"{kind}\",\"object\":{object}}}\n"));
        if let Some(watch) = &*self.0.lock() {
            let _ = watch.send(line);
        }
    }

    /// Makes the client list anew.
    pub fn expire(&self) {
        self.send(
            "ERROR",
            r#"{"kind":"Status","status":"Failure","code":410,"reason":"Expired","message":"old"}"#,
        );
    }

    fn open(&self) -> Answer {
        let (sender, receiver) = mpsc::unbounded_channel();
        *self.0.lock() = Some(sender);
        let lines = stream::unfold(receiver, |mut receiver| async {
            receiver.recv().await.map(|line| (Ok(Frame::data(line)), receiver))
        });
        Response::new(StreamBody::new(lines.boxed()).boxed_unsync())
    }
}

/// A client of a server that holds `count` objects.
pub fn server(count: usize) -> (Client, Watch) {
    let watch = Watch::default();
    let opened = watch.clone();
    let service = tower::service_fn(move |request: Request<Body>| {
        let query = request.uri().query().unwrap_or_default();
        let answer = if query.contains("watch=true") { opened.open() } else { page(query, count) };
        async move { Ok::<_, Infallible>(answer) }
    });
    (Client::new(service, "default"), watch)
}

fn page(query: &str, count: usize) -> Answer {
    let number = |name: &str, default: usize| {
        query.split('&').find_map(|pair| pair.strip_prefix(name)?.parse().ok()).unwrap_or(default)
    };
    let (from, limit) = (number("continue=", 0), number("limit=", usize::MAX));
    let to = count.min(from.saturating_add(limit));
    let next = if to < count { format!(r#","continue":"{to}""#) } else { String::new() };
    let items: Vec<_> = (from..to).map(|number| sample(number, number + 1)).collect();
    let body = format!(
        r#"{{"apiVersion":"cachelib.test/v1","kind":"SampleList","metadata":{{"resourceVersion":"{}"{next}}},"items":[{}]}}"#,
        count + 1,
        items.join(",")
    );
    Response::new(Full::new(Bytes::from(body)).boxed_unsync())
}
