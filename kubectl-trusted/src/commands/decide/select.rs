//! From what was asked for to the names of the keys, and what each of them must be.
//!
//! Owns the meaning of `--all --pending`, `-l` and `-f`.

use std::collections::BTreeSet;

use kube::core::SelectorExt;
use kube::{Resource, ResourceExt};
use trusted_crds::{AttestationKey, Fingerprint, KeyState};

use super::args::{Request, Which};
use super::manifest;
use crate::error::{Error, Result};

/// A key to decide about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub(crate) name: String,
    /// The fingerprint without which nothing is done.
    pub(crate) expected: Option<Fingerprint>,
}

/// What is known without asking the API server; none where the keys themselves have to tell.
pub(crate) async fn named(request: &Request, namespace: &str) -> Result<Option<Vec<Chosen>>> {
    let chosen = match &request.which {
        Which::Names(names) => names
            .iter()
            .map(|name| Chosen { name: name.clone(), expected: request.expect_fingerprint.clone() })
            .collect(),
        Which::Files(files) => manifest::read(files, namespace).await?,
        Which::Labelled { .. } | Which::AllPending => return Ok(None),
    };
    Ok(Some(distinct(chosen)))
}

/// The keys that are meant, of those that there are.
pub(crate) fn among<'a>(request: &Request, keys: impl Iterator<Item = &'a AttestationKey>) -> Vec<Chosen> {
    let is_meant = |key: &&AttestationKey| match &request.which {
        Which::AllPending => is_pending(key),
        Which::Labelled { selector, only_pending } => {
            let labels = key.meta().labels.clone().unwrap_or_default();
            selector.matches(&labels) && (!only_pending || is_pending(key))
        }
        Which::Names(_) | Which::Files(_) => false,
    };
    keys.filter(is_meant).map(|key| Chosen { name: key.name_any(), expected: None }).collect()
}

/// Neither trusted nor refused, and nobody has decided about it.
pub(crate) fn is_pending(key: &AttestationKey) -> bool {
    let is_leaving = key.metadata.deletion_timestamp.is_some();
    KeyState::of(key) == KeyState::Pending && key.spec.approval.is_none() && !is_leaving
}

/// A fingerprint is of one key.
pub(crate) fn check(request: &Request) -> Result<()> {
    let is_one = match &request.which {
        Which::Names(names) => names.iter().collect::<BTreeSet<_>>().len() == 1,
        _ => false,
    };
    if request.expect_fingerprint.is_some() && !is_one {
        return Err(Error::usage("--expect-fingerprint is of one key: name the keys one by one"));
    }
    Ok(())
}

fn distinct(chosen: Vec<Chosen>) -> Vec<Chosen> {
    let mut seen = BTreeSet::new();
    chosen.into_iter().filter(|key| seen.insert(key.name.clone())).collect()
}
