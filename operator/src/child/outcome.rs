//! What comes of carrying out the steps of several children.

use std::collections::BTreeSet;
use std::time::Duration;

use super::apply::{Carried, carry_out};
use super::{ChildKind, Desired, Obstacle, Step, Strangers};
use crate::context::Context;
use crate::error::{Class, ReconcileError};

/// How soon to look again when the store has not shown an own write.
const CATCH_UP: Duration = Duration::from_secs(1);

/// What came of a number of steps.
#[derive(Debug)]
pub struct Outcome {
    /// What keeps children from being as they shall be.
    pub obstacles: BTreeSet<Obstacle>,
    /// Whether every child is in place and the stores show it.
    pub settled: bool,
    /// Whether any child is in place, even if the stores do not show it yet.
    pub any_in_place: bool,
    /// When to look again if nothing changes before.
    pub again: Option<Duration>,
    /// The first failure that is worth a retry; the other children were looked after nevertheless.
    pub error: Option<ReconcileError>,
}

impl Default for Outcome {
    fn default() -> Self {
        Outcome { obstacles: BTreeSet::new(), settled: true, any_in_place: false, again: None, error: None }
    }
}

impl Outcome {
    /// Carries out one step and adds what came of it. Returns it if the child now is as it shall be, even if the
    /// store does not show it yet.
    pub async fn carry_out<K: ChildKind>(
        &mut self,
        ctx: &Context,
        (desired, step): (&Desired<K>, Step),
        strangers: &mut Strangers,
    ) -> Option<Carried<K>> {
        // Requests with whole objects in them make large futures.
        match Box::pin(carry_out(ctx, desired, step, strangers)).await {
            Ok(Carried::Kept) => {
                self.any_in_place = true;
                return Some(Carried::Kept);
            }
            Ok(Carried::Written(object)) => {
                self.any_in_place = true;
                self.wait_for_store();
                return Some(Carried::Written(object));
            }
            Ok(Carried::Awaiting) => self.wait_for_store(),
            Ok(Carried::Paced(rest)) => {
                self.settled = false;
                self.look_again(rest);
            }
            Ok(Carried::Blocked { obstacle, retry }) => {
                self.block(obstacle);
                retry.into_iter().for_each(|retry| self.look_again(retry));
            }
            Err(error) => self.fail(error),
        }
        None
    }

    /// Notes an obstacle.
    pub fn block(&mut self, obstacle: Obstacle) {
        self.settled = false;
        self.obstacles.insert(obstacle);
    }

    /// Notes a failure, and shows it to people unless it only means that the stores have to catch up.
    pub fn fail(&mut self, error: ReconcileError) {
        self.settled = false;
        if !matches!(error.class(), Class::Conflict | Class::Terminating) {
            self.obstacles.insert(Obstacle::Refused(error.to_string()));
        }
        self.error.get_or_insert(error);
    }

    /// Notes that a store has to catch up. Its event comes as a rule; the look is for one that never does.
    pub fn wait_for_store(&mut self) {
        self.settled = false;
        self.look_again(CATCH_UP);
    }

    /// Asks for another look after `wait` at the latest.
    pub fn look_again(&mut self, wait: Duration) {
        self.again = Some(self.again.map_or(wait, |already| already.min(wait)));
    }
}
