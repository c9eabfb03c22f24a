//! Carries out what was decided for Trustee. The only part of this controller that writes.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::ConfigMap;
use tokio::time::Instant;

use super::window::Window;
use crate::child::{Carried, Desired, Outcome, Step, Strangers};
use crate::context::Context;

/// Writes the ConfigMaps; says whether both are as they shall be, so that Trustee can be started with them.
pub async fn configure(
    ctx: &Context,
    steps: Vec<(Desired<ConfigMap>, Step)>,
    strangers: &mut Strangers,
    outcome: &mut Outcome,
) -> bool {
    let mut in_place = true;
    for (desired, step) in steps {
        in_place &= outcome.carry_out(ctx, (&desired, step), strangers).await.is_some();
    }
    in_place
}

/// Writes the Deployment and tells the window.
pub async fn serve(
    ctx: &Context,
    (desired, step): (Desired<Deployment>, Step),
    (window, strangers): (&mut Window, &mut Strangers),
    outcome: &mut Outcome,
) {
    let generation = |carried: &Deployment| carried.metadata.generation;
    match outcome.carry_out(ctx, (&desired, step), strangers).await {
        Some(Carried::Written(object)) => window.wrote(Instant::now(), generation(&object)),
        Some(Carried::Kept) => {
            let stored = ctx.caches.deployments.get(&ctx.key(desired.name()));
            window.unchanged(stored.and_then(|stored| generation(&stored)));
        }
        // Whatever keeps it will bring it up again; the window stays open.
        _ => {}
    }
}
