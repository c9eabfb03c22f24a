//! What the existing operator leaves in a namespace that this one takes over. Pure; docs/how-to/migrate.md tells the
//! whole.
//!
//! It records that it trusts a key in a Secret named and owned like the AttestationKey. Such a record counts until the
//! key is bound or refused, so that no key leaves Trustee meanwhile. Its finalizers have nothing to wait for here:
//! what is delivered is worked out anew from what exists.

use std::sync::Arc;

use kube::{Resource, ResourceExt};
use trusted_crds::condition::APPROVED;
use trusted_crds::names::{FORMER_IMAGE_FINALIZER, FORMER_MACHINE_FINALIZER, FORMER_RECORD_FINALIZER};
use trusted_crds::{AttestationKey, HasConditions, reason};

use crate::context::Caches;
use crate::controllers::Subject;
use crate::secret::{OwnerKind, SecretRecord};
use crate::writer::Target;

const FINALIZERS: [&str; 3] = [FORMER_MACHINE_FINALIZER, FORMER_IMAGE_FINALIZER, FORMER_RECORD_FINALIZER];

/// What a key was told that ends its trust.
const ENDED: [&str; 5] =
    [reason::DENIED, reason::SUPERSEDED, reason::WITHDRAWN, reason::APPROVAL_MISMATCH, reason::INVALID_KEY];

/// What is kept of an object that may have finalizers.
pub trait Finalized {
    /// Its finalizers.
    fn finalizers(&self) -> impl Iterator<Item = &str>;
    /// Whether it is being deleted.
    fn is_deleting(&self) -> bool;
    /// The object at exactly the version that is known of.
    fn target(&self) -> Target<'_>;
}

impl<K: Resource> Finalized for K {
    fn finalizers(&self) -> impl Iterator<Item = &str> {
        self.meta().finalizers.iter().flatten().map(String::as_str)
    }

    fn is_deleting(&self) -> bool {
        self.meta().deletion_timestamp.is_some()
    }

    fn target(&self) -> Target<'_> {
        Target::exactly(self)
    }
}

impl Finalized for SecretRecord {
    fn finalizers(&self) -> impl Iterator<Item = &str> {
        SecretRecord::finalizers(self)
    }

    fn is_deleting(&self) -> bool {
        SecretRecord::is_deleting(self)
    }

    fn target(&self) -> Target<'_> {
        SecretRecord::target(self)
    }
}

/// Whether a finalizer of the existing operator is on the object.
pub fn is_held(object: &impl Finalized) -> bool {
    object.finalizers().any(|finalizer| FINALIZERS.contains(&finalizer))
}

/// The object's finalizers without those of the existing operator.
pub fn other_finalizers(object: &impl Finalized) -> Vec<&str> {
    object.finalizers().filter(|finalizer| !FINALIZERS.contains(finalizer)).collect()
}

/// The Secret in which the existing operator recorded that it trusts `key`.
pub fn record_of(caches: &Caches, key: &AttestationKey) -> Option<Arc<SecretRecord>> {
    caches.secrets.find(&key.name_any()).filter(|secret| is_record_of(secret, key))
}

/// The record of a key, while the existing operator's word on it stands: nothing is bound in its place, and the key
/// was not refused.
pub fn record_in_force(caches: &Caches, key: &AttestationKey) -> Option<Arc<SecretRecord>> {
    let record = record_of(caches, key)?;
    let refused = key.condition(APPROVED).is_some_and(|approved| ENDED.contains(&approved.reason.as_str()));
    let binding = Subject::of_key(key).binding_secret().and_then(|name| caches.secrets.find(&name));
    let bound = binding.is_some_and(|secret| secret.is_managed());
    (!refused && !bound).then_some(record)
}

fn is_record_of(secret: &SecretRecord, key: &AttestationKey) -> bool {
    let [owner] = secret.owners() else { return false };
    !secret.is_managed()
        && owner.kind == OwnerKind::AttestationKey
        && key.metadata.uid.as_deref() == Some(&*owner.uid)
        && !secret.is_deleting()
        && key.metadata.deletion_timestamp.is_none()
}

#[cfg(test)]
mod tests {
    use trusted_crds::MachineSpec;

    use super::*;

    #[test]
    fn finalizers_of_others_stay() {
        let mut machine = trusted_crds::Machine::new("m", MachineSpec { id: "m".into() });
        assert!(!is_held(&machine));
        let theirs = "example.com/theirs".to_owned();
        machine.metadata.finalizers = Some(vec![theirs.clone()]);
        assert!(!is_held(&machine));
        machine.metadata.finalizers = Some(vec![FORMER_MACHINE_FINALIZER.to_owned(), theirs]);
        assert!(is_held(&machine));
        assert_eq!(other_finalizers(&machine), ["example.com/theirs"]);
    }
}
