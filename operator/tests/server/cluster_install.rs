//! Installation, uniqueness, and the end of a cluster.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Service};
use k8s_openapi::jiff::Timestamp;
use kube::ResourceExt;
use kube::api::{DeleteParams, ListParams};
use serde_json::json;
use testenv::audit::Window;
use testenv::observer::Observer;
use testenv::{eventually, objects};
use trusted_crds::names::{MANAGED_BY, MANAGED_BY_LABEL};
use trusted_crds::{TrustedExecutionCluster, condition, reason};

use crate::children::{CONFIG_MAPS, DEPLOYMENTS, SERVICES, cluster};
use crate::support::{CLUSTER, Env, TIMEOUT};

#[tokio::test]
async fn everything_is_installed_once_and_reported_truthfully() {
    testenv::needs!(SimulatedNodes);
    let env = Env::new("install").await;
    let cluster = env.cluster().await;
    env.installed(&cluster).await;
    env.condition::<TrustedExecutionCluster>(CLUSTER, condition::TRUSTEE_READY, "True").await;
    env.machine("m1").await;
    env.key("k1", Some("m1")).await;
    env.create(&objects::approved_image("os", &format!("example.com/os@sha256:{}", "1".repeat(64)))).await;
    let status = eventually("the numbers of the status", TIMEOUT, || async {
        let status = env.cluster().await.status.unwrap();
        let keys = status.attestation_keys.unwrap_or_default();
        let counted = (status.machines, keys.trusted, keys.pending, keys.refused, status.approved_images);
        (counted == (Some(1), 1, 0, 0, Some(1))).then_some(status).ok_or_else(|| format!("{counted:?}"))
    })
    .await;
    let said = |type_| condition::find(&status.conditions, type_).unwrap();
    assert_eq!(said(condition::KNOWN_TRUSTEE_ADDRESS).reason, reason::ADDRESS_FOUND);
    assert_eq!(said(condition::APPROVAL_PROTECTED).reason, reason::NOT_CHECKED);
    assert_eq!(status.observed_generation, cluster.metadata.generation);
    // What the API server made of the children was right from the start: no second write was needed.
    for name in ["register-server", "attestation-key-register"] {
        let deployment = env.child_of::<Deployment>(name, &cluster).await;
        assert_eq!(deployment.metadata.generation, Some(1), "{name} was written twice");
    }
    for manager in env.child_of::<Service>("kbs-service", &cluster).await.managed_fields() {
        assert_eq!(manager.operation.as_deref(), Some("Update"), "made by POST, not by apply");
    }
    env.finish().await;
}

#[tokio::test]
async fn an_address_added_later_is_reported() {
    let env = Env::without_cluster("address").await;
    env.create(&cluster(CLUSTER, |spec| spec.public_trustee_addr = None)).await;
    let missing = reason::NO_ADDRESS_FOUND;
    let type_ = condition::KNOWN_TRUSTEE_ADDRESS;
    let told = env.reason::<TrustedExecutionCluster>(CLUSTER, type_, missing).await;
    assert!(told.message.contains("spec.publicTrusteeAddr"), "{}", told.message);
    env.condition::<TrustedExecutionCluster>(CLUSTER, condition::INSTALLED, "True").await;
    let patch = json!({"spec": {"publicTrusteeAddr": "late.example.com:8080"}});
    let changed = env.edit::<TrustedExecutionCluster>(CLUSTER, patch).await;
    let told = env.reason::<TrustedExecutionCluster>(CLUSTER, type_, reason::ADDRESS_FOUND).await;
    assert!(told.message.contains("late.example.com:8080"), "{}", told.message);
    assert_eq!(told.observed_generation, changed.metadata.generation);
    env.condition::<TrustedExecutionCluster>(CLUSTER, condition::INSTALLED, "True").await;
    env.finish().await;
}

#[tokio::test]
async fn a_second_cluster_waits_until_the_first_is_gone() {
    let env = Env::new("unique").await;
    let first = env.cluster().await;
    env.installed(&first).await;
    let second = env.create(&objects::cluster("second")).await;
    let told =
        env.reason::<TrustedExecutionCluster>("second", condition::INSTALLED, reason::NON_UNIQUE).await;
    assert!(told.message.contains(CLUSTER), "{}", told.message);
    env.seen_by_operator(CLUSTER).await;
    env.installed(&first).await;

    env.delete::<trusted_crds::Machine>("marker-0").await;
    env.delete_cluster(CLUSTER, &DeleteParams::background()).await;
    env.installed(&second).await;
    env.finish().await;
}

#[tokio::test]
async fn of_clusters_made_at_once_exactly_one_is_served() {
    let env = Env::without_cluster("together").await;
    let names = ["a", "b", "c"];
    futures::future::join_all(names.map(|name| {
        let (env, made) = (&env, objects::cluster(name));
        async move { env.create(&made).await }
    }))
    .await;
    let api = env.api::<TrustedExecutionCluster>();
    let installed = eventually("one cluster installed and two told", TIMEOUT, || async {
        let clusters = api.list(&Default::default()).await.unwrap().items;
        let reason_of = |cluster: &TrustedExecutionCluster| {
            let status = cluster.status.as_ref()?;
            Some(condition::find(&status.conditions, condition::INSTALLED)?.reason.clone())
        };
        let reasons: Vec<_> = clusters.iter().filter_map(reason_of).collect();
        let count = |wanted: &str| reasons.iter().filter(|reason| *reason == wanted).count();
        let settled = count(reason::INSTALLATION_COMPLETED) == 1 && count(reason::NON_UNIQUE) == 2;
        let served =
            clusters.into_iter().find(|c| reason_of(c).as_deref() == Some(reason::INSTALLATION_COMPLETED));
        served.filter(|_| settled).ok_or_else(|| format!("{reasons:?}"))
    })
    .await;
    env.installed(&installed).await;
    env.finish().await;
}

#[tokio::test]
async fn a_cluster_made_anew_at_once_gets_children_of_its_own() {
    testenv::needs!(SimulatedNodes);
    let env = Env::new("recreate").await;
    let mut cluster = env.cluster().await;
    env.installed(&cluster).await;
    for params in [DeleteParams::background(), DeleteParams::foreground(), DeleteParams::background()] {
        env.delete_cluster(CLUSTER, &params).await;
        cluster = eventually("the name to be free", TIMEOUT, || async {
            env.api().create(&Default::default(), &objects::cluster(CLUSTER)).await
        })
        .await;
        env.installed(&cluster).await;
        env.condition::<TrustedExecutionCluster>(CLUSTER, condition::TRUSTEE_READY, "True").await;
    }
    env.finish().await;
}

#[tokio::test]
async fn nothing_is_made_again_under_a_cluster_that_is_going() {
    let env = Env::new("going").await;
    let cluster = env.cluster().await;
    env.installed(&cluster).await;
    // A finalizer of somebody else keeps the cluster; its children are collected before it in foreground.
    env.edit::<TrustedExecutionCluster>(CLUSTER, json!({"metadata": {"finalizers": ["example.com/hold"]}}))
        .await;
    env.delete_cluster(CLUSTER, &DeleteParams::foreground()).await;
    env.reason::<TrustedExecutionCluster>(CLUSTER, condition::INSTALLED, reason::UNINSTALLING).await;
    for name in SERVICES {
        env.gone::<Service>(name).await;
    }
    for name in DEPLOYMENTS {
        env.gone::<Deployment>(name).await;
    }
    for name in CONFIG_MAPS {
        env.gone::<ConfigMap>(name).await;
    }
    env.seen_by_operator(CLUSTER).await;
    // Clusters put ConfigMaps of their own into each namespace.
    let ours = ListParams::default().labels(&format!("{MANAGED_BY_LABEL}={MANAGED_BY}"));
    let children = (
        env.api::<Service>().list(&Default::default()).await.unwrap().items.len(),
        env.api::<Deployment>().list(&Default::default()).await.unwrap().items.len(),
        env.api::<ConfigMap>().list(&ours).await.unwrap().items.len(),
    );
    assert_eq!(children, (0, 0, 0), "Services, Deployments, ConfigMaps of ours");
    env.edit::<TrustedExecutionCluster>(CLUSTER, json!({"metadata": {"finalizers": []}})).await;
    env.gone::<TrustedExecutionCluster>(CLUSTER).await;
    env.finish().await;
}

impl Env {
    async fn delete_cluster(&self, name: &str, params: &DeleteParams) {
        let confirm =
            json!({"metadata": {"annotations": {"trusted-execution-clusters.io/confirm-delete": name}}});
        self.edit::<TrustedExecutionCluster>(name, confirm).await;
        self.api::<TrustedExecutionCluster>().delete(name, params).await.unwrap();
    }
}

#[tokio::test]
async fn an_installation_costs_one_write_per_child_and_one_status() {
    testenv::needs!(AuditLog, SimulatedNodes);
    let env = Env::without_cluster("frugal").await;
    // A rollout that lasts is worth a status of its own; on a busy machine it does.
    let told = Arc::new(Mutex::new(BTreeSet::new()));
    let note = Arc::clone(&told);
    let _observer = Observer::start(env.api::<TrustedExecutionCluster>(), move |cluster| {
        let conditions = cluster.status.iter().flat_map(|status| &status.conditions);
        let reasons: Vec<_> = conditions.map(|told| (told.type_.clone(), told.reason.clone())).collect();
        if !reasons.is_empty() {
            note.lock().unwrap().insert(reasons);
        }
    });
    let started = Timestamp::now();
    env.create(&objects::cluster(CLUSTER)).await;
    env.condition::<TrustedExecutionCluster>(CLUSTER, condition::INSTALLED, "True").await;
    env.condition::<TrustedExecutionCluster>(CLUSTER, condition::TRUSTEE_READY, "True").await;
    let installed = Timestamp::now();
    env.seen_by_operator(CLUSTER).await;
    let requests = env.ns.control_plane().audit().read(&env.operator_user(), Window::since(started)).unwrap();
    for (kind, children) in [("services", 3), ("deployments", 3), ("configmaps", 2)] {
        assert_eq!(requests.count("create", kind), children, "{kind}");
        assert_eq!(requests.work().count("get", kind) + requests.work().count("update", kind), 0, "{kind}");
    }
    let until_installed = requests.within(Window::between(started, installed));
    assert_eq!(until_installed.count("patch", "deployments"), 0);
    let told = told.lock().unwrap().clone();
    let written = until_installed.count("patch", "trustedexecutionclusters/status");
    assert_eq!(written, told.len(), "each status once: {told:?}");
    assert!(written <= 2, "{told:?}");
    assert_eq!(requests.answered(409) + requests.answered(422), 0);
    env.finish().await;
}
