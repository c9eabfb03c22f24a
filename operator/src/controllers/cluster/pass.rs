//! One pass over one cluster: observe, decide, apply, then report.

use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;
use tokio::time::Instant;
use trusted_crds::TrustedExecutionCluster;

use super::apply::{self, tls_state};
use super::build::FrontEnd;
use super::decide;
use super::observe::{self, Standing};
use super::progress::Progress;
use super::status::{self, Report};
use super::tls::TlsUse;
use crate::child::Outcome;
use crate::context::Context;
use crate::error::ReconcileError;

/// One pass over one cluster.
pub(super) struct Pass<'a> {
    pub(super) ctx: &'a Context,
    pub(super) standing: Standing,
    pub(super) cluster: Arc<TrustedExecutionCluster>,
}

impl Pass<'_> {
    /// Makes and repairs the children of the served cluster.
    pub(super) async fn install(
        &self,
        progress: &mut Progress,
        outcome: &mut Outcome,
    ) -> Result<(), ReconcileError> {
        let [first, second] = FrontEnd::ALL.map(|front_end| front_end.tls(&self.cluster.spec));
        let tls = [tls_state(self.ctx, first, outcome).await, tls_state(self.ctx, second, outcome).await];
        let children = observe::children(self.ctx);
        let plan = decide::plan(&self.cluster, &children, &tls, &self.ctx.images)?;
        apply::carry_out(self.ctx, plan, &mut progress.strangers, outcome).await;
        Ok(())
    }

    /// Writes the status if its window has passed and it says something new.
    pub(super) async fn report(
        &self,
        progress: &mut Progress,
        outcome: &mut Outcome,
    ) -> Result<(), ReconcileError> {
        let now = Instant::now();
        if let Some(rest) = progress.rest_of_window(now) {
            outcome.look_again(rest);
            return Ok(());
        }
        let key = self.ctx.key(self.cluster.metadata.name.as_deref().unwrap_or_default());
        // The cluster of this pass was read before the question, and may be older than the answer.
        let store = &self.ctx.caches.clusters;
        let as_read = |held: &TrustedExecutionCluster| {
            held.metadata.resource_version == self.cluster.metadata.resource_version
        };
        if !store.is_current(&key) || !store.get(&key).is_some_and(|held| as_read(&held)) {
            outcome.wait_for_store();
            return Ok(());
        }
        let mut report = self.observe_report(outcome).await;
        progress.note(!report.installed, report.rolling_out(), now);
        report.worth_a_word = progress.worth_a_word(now);
        let status = status::of(&self.cluster, &self.standing, &report, Timestamp::now());
        if status::differs(&self.cluster, &status) {
            apply::write_status(self.ctx, &self.cluster, &status, &report.obstacles).await?;
        }
        progress.reported();
        progress.patience(now).into_iter().for_each(|patience| outcome.look_again(patience));
        Ok(())
    }

    /// What the status is made from.
    async fn observe_report(&self, outcome: &mut Outcome) -> Report {
        let tls = TlsUse::trustee(&self.cluster.spec).filter(|_| self.standing == Standing::Served);
        let trustee_tls = tls_state(self.ctx, tls, outcome).await;
        let surroundings =
            observe::surroundings(self.ctx, self.cluster.metadata.uid.as_deref().unwrap_or_default());
        let mut obstacles = outcome.obstacles.clone();
        obstacles.extend(trustee_tls.obstacle().cloned());
        obstacles.extend(surroundings.trustee_obstacles.iter().cloned());
        Report {
            installed: outcome.settled && surroundings.trustee_installed && obstacles.is_empty(),
            obstacles: obstacles.into_iter().collect(),
            surroundings,
            trustee_tls,
            worth_a_word: status::WorthAWord::default(),
            counts: observe::counts(self.ctx),
        }
    }
}
