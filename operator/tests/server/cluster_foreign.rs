//! Objects of others that have the name of a child are never touched.

use k8s_openapi::api::core::v1::{ConfigMap, Service};
use kube::ResourceExt;
use serde_json::json;
use testenv::eventually;
use trusted_crds::{TrustedExecutionCluster, condition, reason};

use crate::children::{RETRY, cluster};
use crate::support::{CLUSTER, Env};

#[tokio::test]
async fn a_foreign_config_map_is_left_alone_and_trustee_is_not_started_with_it() {
    let env = Env::without_cluster("foreignmap").await;
    let foreign: ConfigMap = serde_json::from_value(json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "trustee-data"},
        "data": {"policy.rego": "package policy\ndefault allow := true"},
    }))
    .unwrap();
    let foreign = env.create(&foreign).await;
    let made = env.create(&cluster(CLUSTER, |_| {})).await;
    let told = env.reason::<TrustedExecutionCluster>(CLUSTER, condition::INSTALLED, reason::INSTALLING).await;
    assert!(told.message.contains("ConfigMap trustee-data exists"), "{}", told.message);
    env.reason::<TrustedExecutionCluster>(CLUSTER, condition::TRUSTEE_READY, reason::UNAVAILABLE).await;
    env.child_of::<Service>("kbs-service", &made).await;
    env.child_of::<ConfigMap>("attestation-policy", &made).await;
    let deployments = env.api::<k8s_openapi::api::apps::v1::Deployment>();
    assert!(deployments.get_opt("trustee-deployment").await.unwrap().is_none());
    let untouched = env.api::<ConfigMap>().get("trustee-data").await.unwrap();
    assert_eq!(untouched.resource_version(), foreign.resource_version());

    env.delete::<ConfigMap>("trustee-data").await;
    eventually("the installation once the name is free", RETRY, || async {
        let status = env.cluster().await.status.unwrap_or_default();
        condition::is_true(&status.conditions, condition::INSTALLED).then_some(())
    })
    .await;
    env.installed(&made).await;
    env.finish().await;
}

#[tokio::test]
async fn a_foreign_service_keeps_nothing_else_from_being_installed() {
    testenv::needs!(SimulatedNodes);
    let env = Env::without_cluster("foreignsvc").await;
    let made = env.create(&cluster(CLUSTER, |_| {})).await;
    env.installed(&made).await;
    // With our label but of another owner: it is in our stores, and still not ours.
    let other: ConfigMap = serde_json::from_value(
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "other"}}),
    )
    .unwrap();
    let other = env.create(&other).await;
    let owner = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "name": "other", "uid": other.uid(), "controller": true,
    });
    let taken = json!({"metadata": {"ownerReferences": [owner]}});
    let taken = env.edit::<Service>("register-server", taken).await;
    let told = env.reason::<TrustedExecutionCluster>(CLUSTER, condition::INSTALLED, reason::INSTALLING).await;
    assert!(told.message.contains("Service register-server exists"), "{}", told.message);
    let untouched = env.api::<Service>().get("register-server").await.unwrap();
    assert_eq!(untouched.resource_version(), taken.resource_version());
    env.condition::<TrustedExecutionCluster>(CLUSTER, condition::TRUSTEE_READY, "True").await;
    env.finish().await;
}
