//! One operator works at a time, and one that is no longer sure of that writes nothing.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use testenv::faults::{FaultProxy, Match};
use testenv::{eventually, objects};
use tokio::time::Instant;
use trusted_crds::{Machine, TrustedExecutionCluster, names};
use trusted_operator::lease::{self, LEASE, Tenure};
use trusted_operator::{RunConfig, RunError};

use crate::stores::context;
use crate::support::{CLUSTER, Env, RunningOperator, TIMEOUT};

/// Short enough for a test to wait for its end.
const LEASE_DURATION: Duration = Duration::from_secs(3);

async fn holder(env: &Env) -> Option<String> {
    env.api::<Lease>().get_opt(LEASE).await.unwrap()?.spec?.holder_identity
}

async fn short_lease(env: &Env) -> RunConfig {
    let config = RunConfig::new(env.ns.operator_config().await, env.ns.name());
    RunConfig { lease_duration: LEASE_DURATION, ..config }
}

#[tokio::test]
async fn a_second_operator_waits_and_takes_over() {
    let env = Env::bare("standby").await;
    // The lease itself lives for twice as long as this test waits.
    assert!(lease::DURATION >= 2 * TIMEOUT);
    let first = RunningOperator::start(&env.ns).await;
    let leader = eventually("a leader", TIMEOUT, || holder(&env)).await;
    let second = RunningOperator::start(&env.ns).await;
    env.create(&objects::cluster(CLUSTER)).await;
    env.condition::<TrustedExecutionCluster>(CLUSTER, "Installed", "True").await;
    assert_eq!(holder(&env).await, Some(leader.clone()));

    first.stop().await;
    eventually("the other one to lead", TIMEOUT, || async {
        holder(&env).await.filter(|holder| *holder != leader)
    })
    .await;
    env.create(&objects::machine("m-1", "m-1")).await;
    env.condition::<Machine>("m-1", "KeyReady", "True").await;
    second.stop().await;
}

#[tokio::test]
async fn a_leader_that_cannot_renew_ends_without_another_write() {
    let env = Env::bare("fenced").await;
    let proxy = FaultProxy::start(env.ns.control_plane());
    let mut config = short_lease(&env).await;
    config.kube = proxy.config(&config.kube);
    let operator = RunningOperator::with(config);
    env.create(&objects::cluster(CLUSTER)).await;
    env.condition::<TrustedExecutionCluster>(CLUSTER, "Installed", "True").await;

    // Only the lease hangs: all else it could go on with.
    let unanswered = proxy.on(Match::patch("leases")).hang();
    unanswered.hit(1).await;
    assert!(matches!(operator.ended().await, Err(RunError::LeaseLost)));
    let before = proxy.log().writes();
    env.create(&objects::machine("late", "late")).await;
    let luks = names::disk_key_secret("late");
    assert!(env.api::<Secret>().get_opt(&luks).await.unwrap().is_none());
    assert_eq!(proxy.log().writes(), before);
}

#[tokio::test]
async fn nothing_is_sent_once_the_lease_has_run_out() {
    let env = Env::bare("overdue").await;
    let tenure = Tenure::default();
    tenure.lasts(Instant::now());
    let (ctx, streams) = context(&env, tenure.clone()).await;
    let machine = env.create(&objects::machine("m-1", "m-1")).await;
    // No name of ours, which the admission policies would ask more of.
    let mut secret = Secret::default();
    secret.metadata.name = Some("late".to_owned());
    let refused = ctx.writer.create(&secret).await.unwrap_err();
    assert_eq!(refused.class().label(), "not_leading", "{refused}");
    let target = trusted_operator::writer::Target::exactly(&machine);
    let deleted = ctx.writer.delete::<Machine>(target).await.unwrap_err();
    assert_eq!(deleted.class().label(), "not_leading", "{deleted}");
    assert!(env.api::<Secret>().get_opt("late").await.unwrap().is_none());
    assert_eq!(env.api::<Machine>().get("m-1").await.unwrap().uid(), machine.uid());

    tenure.lasts(Instant::now() + TIMEOUT);
    ctx.writer.create(&secret).await.unwrap();
    streams.equals_server(&env.admin, TIMEOUT).await.unwrap();
}
