//! Machines and their attestation keys: disk keys, which key is trusted, approval, ownership, both statuses.

mod apply;
mod build;
mod claims;
mod decide;
mod observe;
mod protection;
mod situation;
mod status;
mod subject;

use std::sync::Arc;
use std::time::Duration;

use futures::stream::BoxStream;

pub use subject::Subject;

use self::apply::{Memory, Pass};
use self::decide::Plan;
use self::observe::Observed;
use self::protection::Prober;
use self::situation::ByHand;
use crate::context::Context;
use crate::error::ReconcileError;
use crate::queue::{Next, Reconciler, Trigger};

/// How soon to look again at a subject whose own writes are not visible yet; the event itself comes earlier.
const STALE: Duration = Duration::from_secs(1);

/// Decides on one machine id, or one key without machine, at a time.
pub struct MachineController {
    ctx: Arc<Context>,
    memory: Memory,
    prober: Prober,
}

impl MachineController {
    /// A controller that reads and writes through `ctx`.
    pub fn new(ctx: Arc<Context>) -> Self {
        MachineController { ctx, memory: Memory::default(), prober: Prober::default() }
    }

    /// The subjects that changes of the stores concern.
    pub fn triggers(ctx: &Context) -> Vec<BoxStream<'static, Subject>> {
        subject::triggers(ctx)
    }

    /// Decides; where a person's approval is about to take effect, only after its protection was proved.
    async fn plan(&self, observed: &mut Observed) -> Result<Plan, ReconcileError> {
        let plan = decide::decide(&observed.situation);
        let Some(key) = plan.prove_on else { return Ok(plan) };
        let fingerprint =
            observed.situation.keys[key].key.as_ref().map(ToString::to_string).unwrap_or_default();
        observed.situation.by_hand = self.prober.prove(&self.ctx, &observed.keys[key], &fingerprint).await?;
        Ok(decide::decide(&observed.situation))
    }

    fn release_claim(&self, observed: &Observed) {
        if let Some(binding) = &observed.situation.binding
            && let Some(fingerprint) = &binding.fingerprint
        {
            self.memory.claims.release(fingerprint, &binding.secret);
        }
    }
}

impl Reconciler for MachineController {
    type Key = Subject;
    const NAME: &'static str = "machine";

    async fn reconcile(&self, subject: Subject, trigger: Trigger) -> Result<Next, ReconcileError> {
        let Some(mut observed) = observe::observe(&self.ctx, &subject) else { return Ok(Next::After(STALE)) };
        self.release_claim(&observed);
        let plan = self.plan(&mut observed).await?;
        let pass = Pass {
            ctx: &self.ctx,
            memory: &self.memory,
            subject: &subject,
            observed: &observed,
            quiet_for: trigger.quiet_for,
        };
        let next = pass.apply(plan).await?;
        let unprotected = observed.situation.by_hand == ByHand::Unprotected;
        Ok(if unprotected && next == Next::Wait { Next::After(protection::ASK_AGAIN) } else { next })
    }
}
