//! What others write into our statuses.

use std::fmt::Debug;

use k8s_openapi::jiff::Timestamp;
use kube::api::{Patch, PatchParams};
use kube::{Resource, ResourceExt};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use testenv::{eventually, objects};
use trusted_crds::{AttestationKey, Decision, Machine, TrustedExecutionCluster, condition, reason};

use crate::support::{Env, TIMEOUT, fingerprint};

/// Writes something into the status of an object, as an administrator, and waits until it is gone again.
async fn does_not_last<K>(env: &Env, name: &str, field: &str, forged: Value)
where
    K: Resource<DynamicType = (), Scope = kube::core::NamespaceResourceScope>
        + Clone
        + Debug
        + DeserializeOwned
        + serde::Serialize,
{
    let api = env.api::<K>();
    let patch = Patch::Merge(json!({ "status": { field: forged } }));
    let written = api.patch_status(name, &PatchParams::default(), &patch).await.unwrap();
    eventually(&format!("{field} of {} {name} to be gone", K::kind(&())), TIMEOUT, || async {
        let object = serde_json::to_value(api.get(name).await.unwrap()).unwrap();
        let left = &object["status"][field];
        if left.is_null() { Ok(()) } else { Err(left.to_string()) }
    })
    .await;
    let conditions = serde_json::to_value(&written).unwrap()["status"]["conditions"].clone();
    let now = serde_json::to_value(api.get(name).await.unwrap()).unwrap()["status"]["conditions"].clone();
    assert_eq!(now, conditions, "the rest of the status of {}", written.name_any());
}

#[tokio::test]
async fn what_we_leave_out_of_a_status_is_not_said_by_others_either() {
    let env = Env::new("statuses").await;
    env.machine("m").await;
    env.reason::<Machine>("m", condition::ATTESTATION_KEY_BOUND, reason::NO_KEY).await;
    let mirror = json!({ "name": "nobody", "fingerprint": "sha256:0" });
    does_not_last::<Machine>(&env, "m", "attestationKey", mirror).await;

    env.create(&objects::attestation_key("invalid", Some("m"), "no key")).await;
    env.approved("invalid", reason::INVALID_KEY).await;
    does_not_last::<AttestationKey>(&env, "invalid", "fingerprint", json!("sha256:0")).await;

    env.create(&objects::cluster("second")).await;
    env.reason::<TrustedExecutionCluster>("second", condition::INSTALLED, reason::NON_UNIQUE).await;
    does_not_last::<TrustedExecutionCluster>(&env, "second", "machines", json!(7)).await;
    let counts = json!({ "trusted": 7, "pending": 0, "refused": 0 });
    does_not_last::<TrustedExecutionCluster>(&env, "second", "attestationKeys", counts).await;
    env.finish().await;
}

#[tokio::test]
async fn a_refusal_that_others_write_over_is_told_again() {
    let env = Env::new("refusals").await;
    env.machine("m").await;
    let first = env.key("first", Some("m")).await;
    env.approved("first", reason::MACHINE_CREATED).await;
    let second = env.key("second", Some("m")).await;
    env.approved("second", reason::CONFLICT).await;
    env.decide(&second, Some(Decision::Approved)).await;
    let told = env.approved("first", reason::SUPERSEDED).await;

    let api = env.api::<AttestationKey>();
    let now = Timestamp::now();
    let forged = json!({
        "type": condition::APPROVED, "status": "True", "reason": reason::SUPERSEDED, "message": "all is well",
        "lastTransitionTime": now.to_string(),
    });
    let patch = Patch::Merge(json!({ "status": { "conditions": [forged], "fingerprint": "sha256:0" } }));
    api.patch_status("first", &PatchParams::default(), &patch).await.unwrap();
    eventually("the refusal to be told again", TIMEOUT, || async {
        let status = api.get("first").await.unwrap().status.unwrap_or_default();
        let right = status.fingerprint == Some(fingerprint(&first));
        let now = condition::find(&status.conditions, condition::APPROVED).cloned().ok_or("no condition")?;
        let same = (&now.status, &now.reason, &now.message) == (&told.status, &told.reason, &told.message);
        if right && same { Ok(()) } else { Err(format!("{now:?} {:?}", status.fingerprint)) }
    })
    .await;
    env.finish().await;
}
