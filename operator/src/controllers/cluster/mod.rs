//! TrustedExecutionClusters: which one is served, the children that are no part of Trustee, and the one writer of
//! their whole status.
//!
//! Must not: write the Trustee Deployment or its ConfigMaps, which the trustee controller does alone.

mod apply;
pub(crate) mod build;
mod decide;
mod observe;
mod pass;
mod progress;
mod served;
mod status;
mod tls;
mod triggers;

use std::collections::HashMap;
use std::sync::Arc;

use futures::stream::BoxStream;
use tokio::sync::Mutex;
use tokio::time::Instant;

pub(crate) use apply::tls_state;
pub(crate) use decide::running_tls_hash;
pub use tls::{CERTIFICATE, Inspections, MOUNT_PATH, PRIVATE_KEY, TlsMount, TlsState, TlsUse};

use self::observe::Standing;
use self::pass::Pass;
use self::progress::Progress;
use crate::child::Outcome;
use crate::context::Context;
use crate::error::ReconcileError;
use crate::queue::{Next, Reconciler, Trigger};

/// Decides on one TrustedExecutionCluster at a time.
pub struct ClusterController {
    ctx: Arc<Context>,
    /// By name of the cluster. Held during a pass: which cluster is served is one decision about all of them.
    progress: Mutex<HashMap<String, Progress>>,
}

impl ClusterController {
    /// A controller that reads and writes through `ctx`, whose stores are complete.
    pub fn new(ctx: Arc<Context>) -> Self {
        // With no cluster there is no pass either that would say so.
        served::publish(&ctx);
        ClusterController { ctx, progress: Mutex::default() }
    }

    /// Names of the clusters that changes of the stores and of facts concern.
    pub fn triggers(ctx: &Context) -> Vec<BoxStream<'static, String>> {
        triggers::triggers(ctx)
    }
}

impl Reconciler for ClusterController {
    type Key = String;
    const NAME: &'static str = "cluster";

    async fn reconcile(&self, name: String, _: Trigger) -> Result<Next, ReconcileError> {
        let mut all = self.progress.lock().await;
        served::publish(&self.ctx);
        let Some(cluster) = self.ctx.caches.clusters.get(&self.ctx.key(&name)) else {
            all.remove(&name);
            return Ok(Next::Wait);
        };
        let progress = all.entry(name).or_default();
        progress.look(cluster.metadata.uid.as_deref(), Instant::now());
        let pass = Pass { ctx: &self.ctx, standing: observe::standing(&self.ctx, &cluster), cluster };
        let mut outcome = Outcome::default();
        if pass.standing == Standing::Served {
            pass.install(progress, &mut outcome).await?;
            if !outcome.any_in_place && outcome.error.is_none() {
                served::give_up(&self.ctx);
            }
        }
        pass.report(progress, &mut outcome).await?;
        match outcome.error {
            Some(error) => Err(error),
            None => Ok(outcome.again.map_or(Next::Wait, Next::After)),
        }
    }
}
