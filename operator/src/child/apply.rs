//! Carries out the step that was decided for a child. The only part of this module that writes.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::{ChildKind, Desired, Drift, Folded, Obstacle, Ownership, Step, compare, ownership};
use crate::context::Context;
use crate::error::{Class, ReconcileError};
use crate::owner::is_managed;
use crate::writer::{Created, Target};

/// How long a name that somebody else's object has is left alone before it is tried again: objects without our
/// label are not watched, so nothing tells when they go.
const STRANGER_RETRY: Duration = Duration::from_secs(30);
/// The shortest time between two repairs of one child, so that two controllers with different ideas about it do
/// not keep the API server busy.
const REPAIR_PACE: Duration = Duration::from_secs(1);

/// What came of a step.
#[derive(Debug)]
pub enum Carried<K> {
    /// The child is as it shall be, and the store shows it.
    Kept,
    /// The child was written; the store will show it.
    Written(Box<Folded<K>>),
    /// A change in the store will bring the child up again.
    Awaiting,
    /// The child cannot be as it shall be.
    Blocked {
        /// Why.
        obstacle: Obstacle,
        /// When to look again if no change in the store comes first.
        retry: Option<Duration>,
    },
    /// It is too early for another repair.
    Paced(Duration),
}

/// What a controller remembers of the children it could not make, because no store shows it.
#[derive(Debug, Default)]
pub struct Strangers {
    blocked: HashMap<(String, String), (Instant, Obstacle)>,
    repaired: HashMap<(String, String), Instant>,
}

impl Strangers {
    fn blocked<K: ChildKind>(&self, name: &str, now: Instant) -> Option<(Obstacle, Duration)> {
        let (since, obstacle) = self.blocked.get(&id::<K>(name))?;
        let rest = STRANGER_RETRY.checked_sub(now.duration_since(*since))?;
        (!rest.is_zero()).then(|| (obstacle.clone(), rest))
    }

    fn block<K: ChildKind>(&mut self, name: &str, now: Instant, obstacle: Obstacle) -> Carried<K> {
        self.blocked.insert(id::<K>(name), (now, obstacle.clone()));
        Carried::Blocked { obstacle, retry: Some(STRANGER_RETRY) }
    }

    fn forget<K: ChildKind>(&mut self, name: &str) {
        self.blocked.remove(&id::<K>(name));
    }

    fn pace<K: ChildKind>(&mut self, name: &str, now: Instant) -> Option<Duration> {
        let last = self.repaired.get(&id::<K>(name));
        let rest = last.and_then(|last| REPAIR_PACE.checked_sub(now.duration_since(*last)));
        let rest = rest.filter(|rest| !rest.is_zero());
        if rest.is_none() {
            self.repaired.insert(id::<K>(name), now);
        }
        rest
    }
}

fn id<K: ChildKind>(name: &str) -> (String, String) {
    (K::kind(&()).into_owned(), name.to_owned())
}

/// Does what `step` says and reports what came of it. A write that the API server refuses for good is an obstacle,
/// tried again once in a while, so that it does not hold up the other children.
pub async fn carry_out<K: ChildKind>(
    ctx: &Context,
    desired: &Desired<K>,
    step: Step,
    strangers: &mut Strangers,
) -> Result<Carried<K>, ReconcileError> {
    match attempt(ctx, desired, step, strangers).await {
        Err(error) if matches!(error.class(), Class::Forbidden | Class::Invalid) => {
            tracing::warn!(%error, "a child cannot be written");
            let obstacle = Obstacle::Refused(error.to_string());
            Ok(strangers.block(desired.name(), Instant::now(), obstacle))
        }
        result => result,
    }
}

async fn attempt<K: ChildKind>(
    ctx: &Context,
    desired: &Desired<K>,
    step: Step,
    strangers: &mut Strangers,
) -> Result<Carried<K>, ReconcileError> {
    let (name, now) = (desired.name(), Instant::now());
    match step {
        Step::Keep => {
            strangers.forget::<K>(name);
            Ok(Carried::Kept)
        }
        Step::Await => Ok(Carried::Awaiting),
        Step::Blocked(obstacle) => Ok(Carried::Blocked { obstacle, retry: None }),
        Step::Create => match strangers.blocked::<K>(name, now) {
            Some((obstacle, rest)) => Ok(Carried::Blocked { obstacle, retry: Some(rest) }),
            None => create(ctx, desired, strangers).await,
        },
        Step::Replace { uid } => replace(ctx, desired, &uid, strangers).await,
        Step::Patch { uid, body, drift } => {
            if let Some((obstacle @ Obstacle::Refused(_), rest)) = strangers.blocked::<K>(name, now) {
                return Ok(Carried::Blocked { obstacle, retry: Some(rest) });
            }
            if !drift.wanted_changed
                && let Some(rest) = strangers.pace::<K>(name, now)
            {
                return Ok(Carried::Paced(rest));
            }
            patch(ctx, desired, &uid, (body, drift), strangers).await
        }
    }
}

async fn create<K: ChildKind>(
    ctx: &Context,
    desired: &Desired<K>,
    strangers: &mut Strangers,
) -> Result<Carried<K>, ReconcileError> {
    let (kind, name) = (K::kind(&()), desired.name());
    match ctx.writer.create(&desired.object()).await? {
        Created::New(object) => {
            tracing::info!(%kind, name, "created a child");
            Ok(Carried::Written(Box::new(Folded::of(object))))
        }
        Created::Exists if K::store(&ctx.caches).get(&ctx.key(name)).is_some() => Ok(Carried::Awaiting),
        Created::Exists => take_up(ctx, desired, strangers).await,
    }
}

/// The name is taken by an object that the store, which holds objects with our label only, does not show. One look
/// at it tells whether it is a child that lost its label.
async fn take_up<K: ChildKind>(
    ctx: &Context,
    desired: &Desired<K>,
    strangers: &mut Strangers,
) -> Result<Carried<K>, ReconcileError> {
    let (kind, name) = (K::kind(&()).into_owned(), desired.name().to_owned());
    let now = Instant::now();
    let Some(found) = ctx.writer.get::<K>(&name).await? else {
        return Ok(Carried::Paced(REPAIR_PACE));
    };
    if is_managed(&found) {
        return Ok(Carried::Awaiting);
    }
    match ownership(&found, desired.owner_uid()) {
        Ownership::Ours => {
            let uid = found.meta().uid.clone().unwrap_or_default();
            let (body, drift) = compare(desired, &Folded::of(found))?;
            if drift.needs_replacement() {
                return replace(ctx, desired, &uid, strangers).await;
            }
            patch(ctx, desired, &uid, (body, drift), strangers).await
        }
        Ownership::Leaving => {
            let obstacle = Obstacle::Leaving { kind, name };
            Ok(Carried::Blocked { obstacle, retry: Some(REPAIR_PACE) })
        }
        Ownership::Foreign => {
            tracing::warn!(
                kind,
                name,
                "an object of another owner has the name of a child; it is left alone"
            );
            let obstacle = Obstacle::Foreign { kind, name: name.clone() };
            Ok(strangers.block(&name, now, obstacle))
        }
    }
}

/// Deletes a child that cannot be changed into what it shall be. It is made anew when it is gone.
async fn replace<K: ChildKind>(
    ctx: &Context,
    desired: &Desired<K>,
    uid: &str,
    strangers: &mut Strangers,
) -> Result<Carried<K>, ReconcileError> {
    let (kind, name) = (K::kind(&()), desired.name());
    if let Some(rest) = strangers.pace::<K>(name, Instant::now()) {
        return Ok(Carried::Paced(rest));
    }
    tracing::info!(%kind, name, "replacing a child whose immutable fields differ");
    ctx.writer.delete::<K>(Target { name, uid, resource_version: None }).await?;
    // The store shows when it is gone, if it ever showed it.
    Ok(Carried::Paced(REPAIR_PACE))
}

async fn patch<K: ChildKind>(
    ctx: &Context,
    desired: &Desired<K>,
    uid: &str,
    (body, drift): (Value, Drift),
    strangers: &mut Strangers,
) -> Result<Carried<K>, ReconcileError> {
    let (kind, name) = (K::kind(&()), desired.name());
    tracing::info!(%kind, name, differs = ?drift.paths, wanted_changed = drift.wanted_changed, "changing a child");
    let target = Target { name, uid, resource_version: None };
    let written = Folded::of(ctx.writer.merge_patch::<K>(target, desired.body(body)?).await?);
    let (_, left) = compare(desired, &written)?;
    if left.is_none() {
        return Ok(Carried::Written(Box::new(written)));
    }
    let obstacle = Obstacle::Refused(format!(
        "{kind} {name} is changed by an admission webhook whenever it is written ({}); exempt it there",
        left.paths.join(", ")
    ));
    Ok(strangers.block(name, Instant::now(), obstacle))
}
