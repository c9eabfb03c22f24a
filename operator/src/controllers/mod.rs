//! The controllers, and the table that starts them.

pub(crate) mod cluster;
mod finalizers;
mod machine;
mod trustee;

use std::sync::Arc;

use futures::stream::BoxStream;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use self::cluster::ClusterController;
use self::finalizers::FinalizerController;
use self::machine::MachineController;
pub(crate) use self::machine::Subject;
use self::trustee::TrusteeController;
use crate::context::Context;
use crate::metrics::Metrics;
use crate::queue::{Reconciler, drive};

/// Subjects worked on at once. Each waits for the API server most of the time; more would only queue there.
const SUBJECTS_AT_ONCE: usize = 16;

/// Starts all controllers into `running`, each of which then ends with its name after `stop`.
pub fn spawn(
    running: &mut JoinSet<&'static str>,
    ctx: &Arc<Context>,
    metrics: &Metrics,
    stop: &CancellationToken,
) {
    let machine = (MachineController::new(ctx.clone()), MachineController::triggers(ctx));
    let cluster = (ClusterController::new(ctx.clone()), ClusterController::triggers(ctx));
    let finalizers = (FinalizerController::new(ctx.clone()), FinalizerController::triggers(ctx));
    let trustee = (TrusteeController::new(ctx.clone()), TrusteeController::triggers(ctx));
    start(running, cluster, 1, metrics, stop);
    start(running, machine, SUBJECTS_AT_ONCE, metrics, stop);
    start(running, trustee, 1, metrics, stop);
    start(running, finalizers, SUBJECTS_AT_ONCE, metrics, stop);
}

fn start<R: Reconciler>(
    running: &mut JoinSet<&'static str>,
    (reconciler, triggers): (R, Vec<BoxStream<'static, R::Key>>),
    concurrency: usize,
    metrics: &Metrics,
    stop: &CancellationToken,
) {
    let metrics = metrics.of_controller(R::NAME);
    let driven = drive(Arc::new(reconciler), triggers, concurrency, metrics, stop.clone());
    running.spawn(async move {
        driven.await;
        R::NAME
    });
}
