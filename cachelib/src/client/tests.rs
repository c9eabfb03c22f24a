//! Layers of the two clients, each against single answers.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    api::{Patch, PatchParams, PostParams},
};

use super::*;
use crate::fixture::{Answer, answer, refusal, widget};

/// The request client's layers over a service that answers from a list.
fn request_client(counter: &RequestCounter, answers: Vec<fn() -> Answer>) -> Client {
    let answers = Arc::new(parking_lot::Mutex::new(answers.into_iter()));
    let service = tower::service_fn(move |_: Request<Body>| {
        let answer = answers.lock().next();
        async move {
            match answer {
                Some(answer) => Ok::<_, BoxError>(answer()),
                None => std::future::pending().await,
            }
        }
    });
    with_deadline_and_retries(ClientBuilder::new(service, "default"), counter).unwrap()
}

fn overloaded() -> Answer {
    refusal(503, "ServiceUnavailable", "later")
}

fn found() -> Answer {
    answer(200, &serde_json::to_value(widget("a", "1", "1", "red")).unwrap())
}

fn counts(counter: &RequestCounter) -> Vec<(String, u16, u64)> {
    counter.snapshot().into_iter().map(|(labels, count)| (labels.verb, labels.code, count)).collect()
}

#[tokio::test(start_paused = true)]
async fn a_get_is_repeated_and_every_request_is_counted() {
    let counter = RequestCounter::new();
    let client = request_client(&counter, vec![overloaded, overloaded, found]);
    Api::<ConfigMap>::default_namespaced(client).get("a").await.unwrap();
    assert_eq!(counts(&counter), [("get".into(), 200, 1), ("get".into(), 503, 2)]);
    assert_eq!(counter.total(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_get_is_not_repeated_for_ever() {
    let counter = RequestCounter::new();
    let client = request_client(&counter, vec![overloaded; 9]);
    Api::<ConfigMap>::default_namespaced(client).get("a").await.unwrap_err();
    assert_eq!(counter.total(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_create_is_sent_once() {
    let counter = RequestCounter::new();
    let client = request_client(&counter, vec![overloaded, found]);
    let api = Api::<ConfigMap>::default_namespaced(client);
    let error = api.create(&PostParams::default(), &widget("a", "", "", "red")).await.unwrap_err();
    assert!(matches!(error, kube::Error::Api(status) if status.code == 503));
    assert_eq!(counts(&counter), [("create".into(), 503, 1)]);
}

#[tokio::test(start_paused = true)]
async fn server_side_apply_is_repeated_and_a_merge_patch_is_not() {
    let params = PatchParams::apply("test");
    let patch = serde_json::json!({"apiVersion": "v1", "kind": "ConfigMap"});
    let counter = RequestCounter::new();
    let api = Api::<ConfigMap>::default_namespaced(request_client(&counter, vec![overloaded, found]));
    api.patch("a", &params, &Patch::Apply(&patch)).await.unwrap();
    assert_eq!(counter.total(), 2);

    let counter = RequestCounter::new();
    let api = Api::<ConfigMap>::default_namespaced(request_client(&counter, vec![overloaded, found]));
    api.patch("a", &PatchParams::default(), &Patch::Merge(&patch)).await.unwrap_err();
    assert_eq!(counter.total(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_request_without_answer_ends_and_is_counted() {
    let counter = RequestCounter::new();
    let client = request_client(&counter, Vec::new());
    let error = Api::<ConfigMap>::default_namespaced(client).get("a").await.unwrap_err();
    let cause = crate::Cause::of(&error, "get", "configmaps", None);
    assert_eq!(cause.class(), "unreachable", "{cause}");
    assert_eq!(counts(&counter), [("get".into(), 0, 1)]);
}

#[tokio::test]
async fn a_user_agent_that_is_no_header_value_is_refused() {
    let config = Config::new("http://127.0.0.1:1".parse().unwrap());
    let refused = clients(config, "line\nbreak", &RequestCounter::new());
    assert!(matches!(refused, Err(ClientError::UserAgent(_))));
}
