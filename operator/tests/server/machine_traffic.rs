//! What the operator costs the API server.

use jiff::Timestamp;
use k8s_openapi::api::apps::v1::Deployment;
use testenv::audit::{Request, Window};
use testenv::eventually;
use trusted_crds::{
    ApprovalPolicy, Decision, Delivered, Machine, TrustedExecutionCluster, TrustedExecutionClusterStatus,
    condition, names, reason,
};

use crate::support::{CLUSTER, Env, TIMEOUT};

const PAIRS: usize = 20;

#[tokio::test]
async fn a_pair_costs_its_five_writes_and_no_read() {
    testenv::needs!(AuditLog, SimulatedNodes);
    let mut env = Env::new("traffic").await;
    let from = Timestamp::now();
    let ids: Vec<String> = (0..PAIRS).map(|n| format!("m{n}")).collect();
    let create = ids.iter().map(async |id| {
        env.machine(id).await;
        env.key(&format!("key-{id}"), Some(id)).await
    });
    let keys = futures::future::join_all(create).await;
    for id in &ids {
        env.reason::<Machine>(id, condition::ATTESTATION_KEY_BOUND, reason::BOUND).await;
    }
    env.delivered(&keys.iter().collect::<Vec<_>>()).await;

    let audit = env.ns.control_plane().audit();
    let work = audit.settled(&env.operator_user(), Window::since(from)).await.unwrap().work();
    let rows = work.by_resource();
    assert_eq!(work.count("get", "*") + work.count("list", "*") + work.count("watch", "*"), 0, "{rows:?}");
    assert_eq!(work.answered(409) + work.answered(422), 0, "{rows:?}");
    assert_eq!(work.count("create", "secrets"), 2 * PAIRS, "{rows:?}");
    assert_eq!(work.count("patch", "attestationkeys"), PAIRS, "{rows:?}");
    assert_eq!(work.count("patch", "attestationkeys/status"), PAIRS, "{rows:?}");
    assert_eq!(work.count("patch", "machines/status"), PAIRS, "{rows:?}");
    // Nothing else but what many pairs share: Trustee's Deployment and the cluster's status.
    let is_shared =
        |request: &Request| ["deployments", "trustedexecutionclusters"].contains(&request.resource.as_str());
    let of_pairs = work.filter(|request| !is_shared(request));
    assert_eq!(of_pairs.writes(), 5 * PAIRS, "{rows:?}");

    // Everything is in place: a restart reads each kind once and writes nothing.
    env.stop_operator().await;
    let from = Timestamp::now();
    env.start_operator().await;
    env.machine("after-restart").await;
    env.condition::<Machine>("after-restart", condition::KEY_READY, "True").await;
    let requests = audit.settled(&env.operator_user(), Window::since(from)).await.unwrap();
    let work = requests.work();
    let rows = work.by_resource();
    assert_eq!(work.count("patch", "attestationkeys/status"), 0, "{rows:?}");
    assert_eq!(work.count("create", "secrets"), 1, "the new disk key alone: {rows:?}");
    let streams = requests.open_watches();
    assert!(streams.values().all(|open| *open == 1), "{streams:?}");
    assert_eq!(streams.len(), 8, "{streams:?}");
    env.finish().await;
}

#[tokio::test]
async fn a_restart_after_an_approval_by_hand_writes_nothing() {
    testenv::needs!(AuditLog, SimulatedNodes);
    let mut env = Env::with_policy("restart", ApprovalPolicy::Manual).await;
    env.machine("m").await;
    let key = env.key("k", Some("m")).await;
    env.approved("k", reason::AWAITING_APPROVAL).await;
    env.decide(&key, Some(Decision::Approved)).await;
    env.approved("k", reason::MANUALLY_APPROVED).await;
    env.delivered(&[&key]).await;
    env.reason::<TrustedExecutionCluster>(CLUSTER, condition::APPROVAL_PROTECTED, reason::ENFORCED).await;
    env.reason::<TrustedExecutionCluster>(CLUSTER, condition::TRUSTEE_READY, reason::AVAILABLE).await;
    env.reason::<Machine>("m", condition::ATTESTATION_KEY_BOUND, reason::BOUND).await;
    let before = env.counted(1).await;
    env.stop_operator().await;
    let from = Timestamp::now();
    env.start_operator().await;

    // Everything about this one comes after what a start might find to do.
    env.machine("later").await;
    env.condition::<Machine>("later", condition::KEY_READY, "True").await;
    env.has_disk_key("later").await;
    let after = env.counted(2).await;
    assert_eq!(after.conditions, before.conditions, "nothing has happened to the cluster");
    let audit = env.ns.control_plane().audit();
    let work = audit.settled(&env.operator_user(), Window::since(from)).await.unwrap().work();
    let is_about_later = |request: &Request| {
        let about = (request.verb.as_str(), request.resource.as_str(), request.name.as_str());
        matches!(
            about,
            ("create", "secrets", _)
                | ("patch", "machines", "later")
                | ("patch", "deployments", names::TRUSTEE_DEPLOYMENT)
                | ("patch", "trustedexecutionclusters", CLUSTER)
        )
    };
    let others = work.filter(|request| request.is_write() && !is_about_later(request));
    assert_eq!(others.writes(), 0, "{:?}", others.by_resource());
    let rows = work.by_resource();
    assert_eq!(work.count("create", "secrets"), 1, "its disk key: {rows:?}");
    assert_eq!(work.count("patch", "deployments"), 1, "its delivery: {rows:?}");
    assert_eq!(work.count("patch", "trustedexecutionclusters/status"), 1, "its number: {rows:?}");
    env.finish().await;
}

impl Env {
    /// Waits until the cluster reports this number of Machines.
    async fn counted(&self, machines: i32) -> TrustedExecutionClusterStatus {
        let clusters = self.api::<TrustedExecutionCluster>();
        eventually(&format!("{machines} Machines to be reported"), TIMEOUT, || async {
            let status = clusters.get(CLUSTER).await.unwrap().status.unwrap_or_default();
            let told = status.machines;
            (told == Some(machines)).then_some(status).ok_or_else(|| format!("{told:?}"))
        })
        .await
    }

    /// Waits until Trustee runs with the disk key of a machine.
    async fn has_disk_key(&self, id: &str) {
        let deployments = self.api::<Deployment>();
        eventually(&format!("Trustee to run with the disk key of {id}"), TIMEOUT, || async {
            let deployment = deployments.get(names::TRUSTEE_DEPLOYMENT).await.unwrap();
            let delivered = Delivered::read(&deployment);
            (delivered.rolled_out && delivered.has_disk_key(id)).then_some(()).ok_or(delivered.rolled_out)
        })
        .await;
    }
}
