//! One pass: observe, decide, apply.

use k8s_openapi::api::apps::v1::Deployment;
use tokio::time::Instant;
use trusted_crds::TrustedExecutionCluster;
use trusted_crds::names::{ATTESTATION_POLICY, TRUSTEE_DATA, TRUSTEE_DEPLOYMENT};

use super::observe::{self, Behind};
use super::{State, apply, decide, delivery};
use crate::child::{Outcome, Ownership, View, ownership, view};
use crate::context::Context;
use crate::controllers::cluster::{TlsState, TlsUse, tls_state};
use crate::error::{ReconcileError, WriteError};

/// One pass for the cluster that is served.
pub(super) struct Pass<'a> {
    pub(super) ctx: &'a Context,
    pub(super) cluster: &'a TrustedExecutionCluster,
}

impl Pass<'_> {
    /// Makes and repairs what Trustee consists of.
    pub(super) async fn install(&self, state: &mut State) -> Result<Outcome, ReconcileError> {
        let mut outcome = Outcome::default();
        let tls = tls_state(self.ctx, TlsUse::trustee(&self.cluster.spec), &mut outcome).await;
        let views = [TRUSTEE_DATA, ATTESTATION_POLICY].map(|name| view(self.ctx, name));
        let steps = decide::configuration(self.cluster, &views)?;
        let configured = apply::configure(self.ctx, steps, &mut state.strangers, &mut outcome).await;
        if self.is_due(configured, state, &mut outcome) {
            self.serve(&tls, state, &mut outcome).await?;
        }
        Ok(outcome)
    }

    /// Whether the Deployment is to be looked at now.
    fn is_due(&self, configured: bool, state: &mut State, outcome: &mut Outcome) -> bool {
        let (now, owner) = (Instant::now(), self.cluster.metadata.uid.as_deref().unwrap_or_default());
        let rest = match view::<Deployment>(self.ctx, TRUSTEE_DEPLOYMENT) {
            View::Unsettled => {
                outcome.wait_for_store();
                return false;
            }
            // Without its configuration a pod could not start, or would start with somebody else's.
            View::Absent => {
                state.window.reset();
                return configured;
            }
            View::Present(deployment) if ownership(&**deployment, owner) == Ownership::Ours => {
                state.window.gather(now).or_else(|| state.window.hold(now, decide::rollout(&deployment)))
            }
            View::Present(_) => None,
        };
        rest.into_iter().for_each(|rest| outcome.look_again(rest));
        rest.is_none()
    }

    async fn serve(
        &self,
        tls: &TlsState,
        state: &mut State,
        outcome: &mut Outcome,
    ) -> Result<(), ReconcileError> {
        let deployment = view(self.ctx, TRUSTEE_DEPLOYMENT);
        let behind = Behind::now(self.ctx);
        let wanted = observe::wanted(self.ctx);
        if let Some(store) = behind.doubt(self.ctx, deployment.present(), &wanted) {
            outcome.fail(WriteError::behind::<Deployment>("change", TRUSTEE_DEPLOYMENT, &store).into());
            return Ok(());
        }
        let delivered = delivery::render(&wanted)?;
        match decide::broker(self.cluster, &deployment, tls, (&self.ctx.images.trustee, delivered))? {
            Ok(step) => {
                apply::serve(self.ctx, step, (&mut state.window, &mut state.strangers), outcome).await;
            }
            Err(obstacle) => outcome.block(obstacle),
        }
        Ok(())
    }
}
