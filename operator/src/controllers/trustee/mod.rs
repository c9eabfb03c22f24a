//! Trustee: the one writer of its Deployment and its ConfigMaps, and so of what is delivered to it.
//!
//! Must not: decide which key is trusted; a binding Secret made by the machine controller says so.

mod apply;
mod build;
mod decide;
mod delivery;
mod observe;
mod pass;
mod triggers;
mod window;

use std::fmt;
use std::sync::Arc;

use futures::stream::BoxStream;
use tokio::sync::Mutex;

use self::pass::Pass;
use self::window::Window;
use crate::child::Strangers;
use crate::context::Context;
use crate::error::ReconcileError;
use crate::queue::{Next, Reconciler, Trigger};

/// The one unit of work: there is one Trustee in a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Trustee;

impl fmt::Display for Trustee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Trustee")
    }
}

/// Keeps Trustee configured and supplied.
pub struct TrusteeController {
    ctx: Arc<Context>,
    state: Mutex<State>,
}

/// What is remembered between passes, for one cluster.
#[derive(Debug, Default)]
struct State {
    owner: Option<String>,
    window: Window,
    strangers: Strangers,
}

impl TrusteeController {
    /// A controller that reads and writes through `ctx`.
    pub fn new(ctx: Arc<Context>) -> Self {
        TrusteeController { ctx, state: Mutex::default() }
    }

    /// The changes of the stores that concern Trustee.
    pub fn triggers(ctx: &Context) -> Vec<BoxStream<'static, Trustee>> {
        triggers::triggers(ctx)
    }
}

impl Reconciler for TrusteeController {
    type Key = Trustee;
    const NAME: &'static str = "trustee";

    async fn reconcile(&self, _: Trustee, _: Trigger) -> Result<Next, ReconcileError> {
        let mut state = self.state.lock().await;
        let cluster = self.ctx.served_cluster().flatten();
        let owner = cluster.as_ref().and_then(|cluster| cluster.metadata.uid.clone());
        if state.owner != owner {
            *state = State { owner, ..State::default() };
        }
        let Some(cluster) = cluster else {
            self.ctx.facts.set_trustee_obstacles(Vec::new());
            return Ok(Next::Wait);
        };
        let pass = Pass { ctx: &self.ctx, cluster: &cluster };
        let outcome = pass.install(&mut state).await?;
        self.ctx.facts.set_trustee_obstacles(outcome.obstacles.into_iter().collect());
        match outcome.error {
            Some(error) => Err(error),
            None => Ok(outcome.again.map_or(Next::Wait, Next::After)),
        }
    }
}
