//! Children: the objects the operator installs and owns on behalf of a TrustedExecutionCluster.
//!
//! Owns: what makes an object a child (label, owner reference, applied-hash), whose an existing object is, and
//! which single step brings it to what it shall be.
//! Must not: know what a particular child is for, or touch an object that is not a child.

mod apply;
mod compare;
mod document;
mod outcome;

use std::fmt;
use std::sync::Arc;

use k8s_openapi::api::core::v1::VolumeProjection;
use kube::Resource;
use serde_json::Value;
use trusted_crds::TrustedExecutionCluster;
use trusted_crds::names::{APPLIED_HASH_ANNOTATION, MANAGED_BY, MANAGED_BY_LABEL};

use crate::context::Context;
use crate::digest::hash_of;
use crate::owner::{is_managed, is_ours, owner_reference};
use crate::writer::Body;

pub use apply::{Carried, Strangers};
pub use compare::{Drift, compare};
pub use document::{ChildKind, Folded};
pub use outcome::Outcome;

/// A child as it shall be.
#[derive(Clone, Debug)]
pub struct Desired<K> {
    object: Folded<K>,
    lists: Vec<Vec<VolumeProjection>>,
    document: Value,
    hash: String,
    owner_uid: String,
}

impl<K: ChildKind> Desired<K> {
    /// Completes `object` with what every child carries: the label, the owner and the hash of what is written.
    pub fn new(mut object: K, owner: &TrustedExecutionCluster) -> Result<Self, serde_json::Error> {
        let reference = owner_reference(owner);
        let owner_uid = reference.uid.clone();
        let meta = object.meta_mut();
        meta.owner_references = Some(vec![reference]);
        meta.labels.get_or_insert_default().insert(MANAGED_BY_LABEL.into(), MANAGED_BY.into());
        let (mut object, lists) = Folded::with_lists(object);
        let hash = hash_of(&object.document()?)?;
        let annotations = object.object_mut().meta_mut().annotations.get_or_insert_default();
        annotations.insert(APPLIED_HASH_ANNOTATION.into(), hash.clone());
        let document = object.document()?;
        Ok(Desired { object, lists, document, hash, owner_uid })
    }

    /// Name of the child.
    pub fn name(&self) -> &str {
        self.object.meta().name.as_deref().unwrap_or_default()
    }

    /// What is sent when the child has to be made.
    pub fn object(&self) -> K {
        self.object.unfolded(&self.lists)
    }

    /// What is sent when it has to be changed by `patch`.
    fn body(&self, patch: Value) -> Result<Body, serde_json::Error> {
        self.object.body(patch, &self.lists)
    }

    /// Uid of the cluster that owns the child.
    pub fn owner_uid(&self) -> &str {
        &self.owner_uid
    }
}

/// What the store knows about a child.
#[derive(Clone, Debug)]
pub enum View<K> {
    /// A write of our own is not visible yet; nothing can be said.
    Unsettled,
    /// No object of that name with our label.
    Absent,
    /// The object, with our label.
    Present(Arc<Folded<K>>),
}

impl<K> View<K> {
    /// The object, if there is one to look at.
    pub fn present(&self) -> Option<&Folded<K>> {
        match self {
            View::Present(object) => Some(object),
            View::Unsettled | View::Absent => None,
        }
    }
}

/// Looks a child up in its store.
pub fn view<K: ChildKind>(ctx: &Context, name: &str) -> View<K> {
    let (store, key) = (K::store(&ctx.caches), ctx.key(name));
    if !store.is_current(&key) {
        return View::Unsettled;
    }
    store.get(&key).map_or(View::Absent, View::Present)
}

/// Whose an existing object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ownership {
    /// A child of our cluster, or one that lost its owner and is taken up again.
    Ours,
    /// On its way out: being deleted, or owned by another TrustedExecutionCluster (that of the same name before it
    /// was deleted and made anew, as a rule) and about to be collected with it.
    Leaving,
    /// Somebody else's.
    Foreign,
}

/// Whose an object is, seen from the cluster with `owner_uid`.
pub fn ownership(object: &impl Resource, owner_uid: &str) -> Ownership {
    let meta = object.meta();
    if meta.deletion_timestamp.is_some() {
        return Ownership::Leaving;
    }
    let owners = meta.owner_references.as_deref().unwrap_or_default();
    if owners.iter().any(|owner| owner.uid == owner_uid) {
        return Ownership::Ours;
    }
    match owners {
        [] if is_managed(object) => Ownership::Ours,
        owners if owners.iter().any(is_ours::<TrustedExecutionCluster>) => Ownership::Leaving,
        _ => Ownership::Foreign,
    }
}

/// The one step that is due for a child.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// It is as it shall be.
    Keep,
    /// It does not exist.
    Create,
    /// It differs; `body` is the merge patch that makes it right.
    Patch {
        /// Uid of the object the patch is for.
        uid: String,
        /// The merge patch.
        body: Value,
        /// Where it differs.
        drift: Drift,
    },
    /// It differs in a field that cannot be changed, so it goes and is made anew.
    Replace {
        /// Uid of the object to delete.
        uid: String,
    },
    /// The store has to catch up first.
    Await,
    /// Nothing can be done about it for now.
    Blocked(Obstacle),
}

/// Why a child cannot be as it shall be for now. Shown to people.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Obstacle {
    /// An object that is not ours has the name.
    Foreign {
        /// Its kind.
        kind: String,
        /// Its name.
        name: String,
    },
    /// What a former cluster left is still being collected.
    Leaving {
        /// Its kind.
        kind: String,
        /// Its name.
        name: String,
    },
    /// A TLS Secret is not usable; the text says which and why.
    Tls(String),
    /// The API server did not take the write; the text says which and why.
    Refused(String),
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Obstacle::Foreign { kind, name } => write!(
                f,
                "{kind} {name} exists and is not managed by trusted-operator, so it is left alone; delete or rename it"
            ),
            Obstacle::Leaving { kind, name } => {
                write!(f, "{kind} {name} of a deleted TrustedExecutionCluster is still being removed")
            }
            Obstacle::Tls(text) | Obstacle::Refused(text) => f.write_str(text),
        }
    }
}

/// What to do about a child, given what the store shows.
pub fn decide<K: ChildKind>(desired: &Desired<K>, view: &View<K>) -> Result<Step, serde_json::Error> {
    match view {
        View::Unsettled => Ok(Step::Await),
        View::Absent => Ok(Step::Create),
        View::Present(actual) => decide_present(desired, actual),
    }
}

fn decide_present<K: ChildKind>(desired: &Desired<K>, actual: &Folded<K>) -> Result<Step, serde_json::Error> {
    let (kind, name) = (K::kind(&()).into_owned(), desired.name().to_owned());
    match ownership(&**actual, &desired.owner_uid) {
        Ownership::Foreign => return Ok(Step::Blocked(Obstacle::Foreign { kind, name })),
        Ownership::Leaving => return Ok(Step::Blocked(Obstacle::Leaving { kind, name })),
        Ownership::Ours => {}
    }
    let (body, drift) = compare(desired, actual)?;
    let uid = actual.meta().uid.clone().unwrap_or_default();
    Ok(if drift.is_none() {
        Step::Keep
    } else if drift.needs_replacement() {
        Step::Replace { uid }
    } else {
        Step::Patch { uid, body, drift }
    })
}

#[cfg(test)]
mod tests;
