//! Follows decisions until Trustee has the keys, or has them no more, the deadline passes or Ctrl-C is pressed.
//!
//! Owns the wait. Reads from caches (one list and one watch for keys, the same for Trustee), so waiting long costs
//! no more requests than waiting shortly.

use std::future::Future;
use std::time::Duration;

use cachelib::{Builder, Cache, Cause, Options, Readiness, Running, Source};
use k8s_openapi::api::apps::v1::Deployment;
use tokio::time::Instant;
use trusted_crds::AttestationKey;
use trusted_crds::health::FIND_OPERATORS;
use trusted_crds::names::TRUSTEE_DEPLOYMENT;

use super::action::Action;
use super::document::{End, Item, Results};
use super::observe::managed;
use super::stage::{self, Delivery, Stage, Standing};
use crate::connect::Connection;
use crate::output::progress::Progress;
use crate::session::Session;

const WAITING: &str = "waiting for the effect";

struct Caches {
    keys: Cache<AttestationKey>,
    deployments: Cache<Deployment>,
    running: Running,
}

pub(crate) async fn follow(
    session: &mut Session,
    connection: &Connection,
    limit: Duration,
    results: &mut Results,
) {
    if waiting(results).next().is_none() {
        return;
    }
    let deadline = Instant::now() + limit;
    let interrupt = session.interrupt.attend();
    for item in waiting(results) {
        session.screen.note(&format!("{}: recorded", item.name));
    }
    let caches = match start(connection) {
        Ok(caches) => caches,
        Err(problem) => {
            for item in waiting(results) {
                unseen(item, &problem);
            }
            return;
        }
    };
    let ended = until_settled(session, &caches, results, deadline, interrupt).await;
    caches.running.shutdown();
    match ended {
        Ended::Settled => {}
        Ended::Interrupted => results.interrupted = true,
        Ended::Deadline => {
            for item in waiting(results) {
                item.end = if caches.blindness(item).is_some() { End::NotVisible } else { End::Deadline };
                let reached = item.stage.map_or("recorded", Stage::word);
                let why = caches.blindness(item).unwrap_or_else(|| item.message.clone());
                item.message = format!("stopped at \"{reached}\" after {} s: {why}", limit.as_secs_f64());
                item.next = Some(match item.reason.as_str() {
                    stage::NOT_ANSWERED => FIND_OPERATORS.to_owned(),
                    _ => format!("kubectl trusted status {} -n {}", item.name, item.namespace),
                });
            }
        }
    }
}

enum Ended {
    Settled,
    Deadline,
    Interrupted,
}

/// The items that may still come further.
fn waiting(results: &mut Results) -> impl Iterator<Item = &mut Item> {
    results.items.iter_mut().filter(|item| {
        item.result.is_done() && item.end == End::Reached && !item.stage.is_some_and(Stage::is_last)
    })
}

fn unseen(item: &mut Item, problem: &str) {
    item.end = End::NotVisible;
    item.message = format!("recorded; its effect cannot be followed: {problem}");
}

fn start(connection: &Connection) -> Result<Caches, String> {
    let mut builder = Builder::new(connection.client.clone(), Options::default());
    let keys = builder.cache::<AttestationKey>(Source::namespaced(&*connection.namespace)).build();
    let deployments = builder.cache::<Deployment>(managed(&connection.namespace)).build();
    match (keys, deployments) {
        (Ok(keys), Ok(deployments)) => Ok(Caches { keys, deployments, running: builder.start() }),
        (Err(error), _) | (_, Err(error)) => Err(error.to_string()),
    }
}

async fn until_settled(
    session: &mut Session,
    caches: &Caches,
    results: &mut Results,
    deadline: Instant,
    interrupt: impl Future<Output = ()>,
) -> Ended {
    let mut keys = caches.keys.subscribe(|_, _| vec![()]);
    let mut deployments = caches.deployments.subscribe(|_, _| vec![()]);
    let (mut keys_ready, mut deployments_ready) = (caches.keys.readiness(), caches.deployments.readiness());
    let timer = tokio::time::sleep_until(deadline);
    tokio::pin!(timer, interrupt);
    let mut progress = Progress::start(&session.screen, WAITING);
    let action = results.action;
    loop {
        for item in waiting(results) {
            if let Some(line) = caches.look(action, item) {
                // The sign of life and a line of text would write over each other.
                drop(std::mem::take(&mut progress));
                session.screen.note(&line);
                progress = Progress::start(&session.screen, WAITING);
            }
        }
        if waiting(results).next().is_none() {
            return Ended::Settled;
        }
        tokio::select! {
            Some(()) = keys.next() => {}
            Some(()) = deployments.next() => {}
            Ok(()) = keys_ready.changed() => {}
            Ok(()) = deployments_ready.changed() => {}
            () = &mut timer => return Ended::Deadline,
            () = &mut interrupt => return Ended::Interrupted,
        }
    }
}

impl Caches {
    /// Brings an item up to what is seen now; the line to say when it came further.
    fn look(&self, action: Action, item: &mut Item) -> Option<String> {
        if let Some(right) = missing_right(&self.keys.readiness().borrow()) {
            unseen(item, &right);
            return None;
        }
        if !self.keys.readiness().borrow().is_synced() {
            return None;
        }
        let Some(key) = self.keys.find(&item.name) else {
            item.end = End::Refused;
            item.reason = "Deleted".to_owned();
            "the AttestationKey was deleted after the decision".clone_into(&mut item.message);
            return Some(format!("{}: deleted", item.name));
        };
        // The store may still be older than the decision; its generation tells.
        let generation = item.generation.unwrap_or_default();
        if key.metadata.generation.unwrap_or_default() < generation {
            return None;
        }
        let standing = stage::standing(action, &key, generation, self.delivery(item));
        let line = take(action, item, standing);
        if item.stage.is_some_and(Stage::is_up_to_trustee)
            && let Some(right) = missing_right(&self.deployments.readiness().borrow())
        {
            item.end = End::NotVisible;
            item.message = format!("whether Trustee has the key cannot be seen: {right}");
        }
        line
    }

    fn delivery(&self, item: &Item) -> Delivery {
        let Some(fingerprint) = item.fingerprint.as_ref().and_then(|text| text.parse().ok()) else {
            return Delivery::NotVisible;
        };
        match &*self.deployments.readiness().borrow() {
            Readiness::Pending | Readiness::Failed(_) => Delivery::NotVisible,
            Readiness::Synced | Readiness::Stale { .. } => {
                Delivery::of(self.deployments.find(TRUSTEE_DEPLOYMENT).as_deref(), &fingerprint)
            }
        }
    }

    /// Why the next stage of an item cannot be seen.
    fn blindness(&self, item: &Item) -> Option<String> {
        let problem = |readiness: &Readiness| readiness.cause().map(ToString::to_string);
        problem(&self.keys.readiness().borrow()).or_else(|| {
            let is_up_to_trustee = item.stage.is_some_and(Stage::is_up_to_trustee);
            is_up_to_trustee.then(|| problem(&self.deployments.readiness().borrow())).flatten()
        })
    }
}

/// Notes where an item stands; the line to say when it came further.
fn take(action: Action, item: &mut Item, standing: Standing) -> Option<String> {
    let came_further = Some(standing.stage) > item.stage;
    item.stage = Some(standing.stage);
    item.reason = standing.reason;
    item.message = standing.message;
    if standing.is_final {
        item.end = End::Refused;
        item.next = Some(match action {
            Action::Revoke => format!("kubectl trusted deny-ak {} -n {}", item.name, item.namespace),
            Action::Approve | Action::Deny => {
                format!("kubectl describe attestationkey {} -n {}", item.name, item.namespace)
            }
        });
        return Some(format!("{}: {}", item.name, item.message));
    }
    came_further.then(|| match (standing.stage, &item.uuid) {
        (Stage::Bound, Some(uuid)) => format!("{}: bound to machine {uuid}", item.name),
        (stage, _) => format!("{}: {}", item.name, stage.word()),
    })
}

/// Waiting for a right that is missing is of no use.
fn missing_right(readiness: &Readiness) -> Option<String> {
    match readiness.cause()? {
        cause @ (Cause::Forbidden { .. } | Cause::NotInstalled) => Some(cause.to_string()),
        _ => None,
    }
}
