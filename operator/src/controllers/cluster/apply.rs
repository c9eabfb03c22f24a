//! Carries out what was decided for a cluster: its children, its status, and the one read of each TLS Secret.

use k8s_openapi::api::core::v1::Secret;
use trusted_crds::condition::INSTALLED;
use trusted_crds::{HasConditions, TrustedExecutionCluster, TrustedExecutionClusterStatus};

use super::decide::Plan;
use super::tls::{TlsMount, TlsProblem, TlsState, TlsUse};
use crate::child::{Obstacle, Outcome, Strangers};
use crate::context::Context;
use crate::error::{ReconcileError, WriteError};

/// Carries out a plan, child by child; one that fails does not hold up the others.
pub async fn carry_out(ctx: &Context, plan: Plan, strangers: &mut Strangers, outcome: &mut Outcome) {
    plan.obstacles.into_iter().for_each(|obstacle| outcome.block(obstacle));
    for (desired, step) in plan.services {
        outcome.carry_out(ctx, (&desired, step), strangers).await;
    }
    for (desired, step) in plan.deployments {
        outcome.carry_out(ctx, (&desired, step), strangers).await;
    }
}

/// Whether a server can be given TLS. Reads the Secret only if this version of it was not read before. What cannot
/// be read counts as not ready, and the failure is noted in `outcome`.
pub async fn tls_state(ctx: &Context, tls: Option<TlsUse>, outcome: &mut Outcome) -> TlsState {
    let Some(tls) = tls else { return TlsState::Plain };
    let obstacle = match inspect(ctx, &tls).await {
        Ok(Ok(mount)) => return TlsState::Ready(mount),
        Ok(Err(problem)) => problem.of(&tls),
        Err(error) => {
            let obstacle = Obstacle::Refused(error.to_string());
            outcome.fail(error.into());
            obstacle
        }
    };
    TlsState::Waiting { secret: tls.secret, obstacle }
}

async fn inspect(ctx: &Context, tls: &TlsUse) -> Result<Result<TlsMount, TlsProblem>, WriteError> {
    let mut inspections = ctx.facts.tls.lock().await;
    let Some(stored) = ctx.caches.secrets.get(&ctx.key(&tls.secret)) else {
        return Ok(Err(TlsProblem::Missing));
    };
    if let Some(known) = inspections.of(&stored) {
        return Ok(known.verdict(tls));
    }
    let Some(secret) = ctx.writer.get::<Secret>(&tls.secret).await? else {
        return Ok(Err(TlsProblem::Missing));
    };
    let found = inspections.remember(&tls.secret, &secret);
    let verdict = found.verdict(tls);
    tracing::info!(
        secret = tls.secret,
        field = tls.field,
        usable = verdict.is_ok(),
        "looked into a TLS Secret"
    );
    Ok(verdict)
}

/// Applies the whole status of a cluster, and tells of the obstacles that its present one does not name.
pub async fn write_status(
    ctx: &Context,
    cluster: &TrustedExecutionCluster,
    status: &TrustedExecutionClusterStatus,
    obstacles: &[Obstacle],
) -> Result<(), ReconcileError> {
    let written = ctx.writer.apply_status(cluster, status).await?;
    let told = cluster.condition(INSTALLED).map(|condition| condition.message.as_str());
    ctx.writer.events().of_obstacles(cluster, obstacles, told.unwrap_or_default());
    let reasons: Vec<String> = written
        .conditions()
        .iter()
        .map(|condition| format!("{}={}", condition.type_, condition.reason))
        .collect();
    tracing::info!(
        cluster = cluster.metadata.name.as_deref().unwrap_or_default(),
        conditions = reasons.join(" "),
        "reported the status"
    );
    Ok(())
}
