//! What a person should learn of becomes an Event on the object that it is about, and once.

use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::api::events::v1::Event;
use kube::ResourceExt;
use kube::api::ListParams;
use serde_json::json;
use testenv::{eventually, objects};
use trusted_crds::names::TRUSTEE_DATA;
use trusted_crds::{AttestationKey, condition, reason};

use crate::support::{CLUSTER, Env, TIMEOUT};

async fn events(env: &Env) -> Vec<(String, String, String)> {
    let all = env.api::<Event>().list(&ListParams::default()).await.unwrap();
    let ours = all
        .items
        .into_iter()
        .filter(|event| event.reporting_controller.as_deref() == Some("trusted-operator"));
    ours.map(|event| {
        let about = event.regarding.and_then(|object| object.name).unwrap_or_default();
        (about, event.reason.unwrap_or_default(), event.note.unwrap_or_default())
    })
    .collect()
}

#[tokio::test]
async fn a_conflict_is_told_once_and_what_goes_well_is_not() {
    let mut env = Env::new("events-conflict").await;
    env.machine("m-1").await;
    env.key("first", Some("m-1")).await;
    env.approved("first", reason::MACHINE_CREATED).await;
    env.key("second", Some("m-1")).await;
    let told = env.approved("second", reason::CONFLICT).await;
    let conflict = ("second".to_owned(), reason::CONFLICT.to_owned(), told.message);
    eventually("the Event", TIMEOUT, || async {
        let all = events(&env).await;
        (all == [conflict.clone()]).then_some(()).ok_or(format!("{all:?}"))
    })
    .await;

    // After a restart nothing is told again; the next key shows that the new operator has looked at all of them.
    env.stop_operator().await;
    env.start_operator().await;
    env.create(&objects::attestation_key("third", Some("m-1"), "no key")).await;
    env.reason::<AttestationKey>("third", condition::APPROVED, reason::INVALID_KEY).await;
    eventually("another Event", TIMEOUT, || async {
        let mut reasons: Vec<_> =
            events(&env).await.into_iter().map(|(about, reason, _)| (about, reason)).collect();
        reasons.sort();
        let wanted = [("second", reason::CONFLICT), ("third", reason::INVALID_KEY)];
        let same = reasons.iter().map(|(about, reason)| (about.as_str(), reason.as_str())).eq(wanted);
        same.then_some(()).ok_or(format!("{reasons:?}"))
    })
    .await;
    env.finish().await;
}

#[tokio::test]
async fn an_object_in_the_way_is_told_on_the_cluster() {
    let env = Env::without_cluster("events-foreign").await;
    let foreign: ConfigMap =
        serde_json::from_value(json!({"metadata": {"name": TRUSTEE_DATA}, "data": {"a": "b"}})).unwrap();
    let foreign = env.create(&foreign).await;
    env.create(&objects::cluster(CLUSTER)).await;
    eventually("the Event", TIMEOUT, || async {
        let all = events(&env).await;
        let told = all.iter().any(|(about, reason, note)| {
            about == CLUSTER && reason == "ForeignObject" && note.contains(&foreign.name_any())
        });
        told.then_some(()).ok_or(format!("{all:?}"))
    })
    .await;
    env.finish().await;
}
