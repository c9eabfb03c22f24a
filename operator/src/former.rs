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

use crate::context::{Caches, SecretMeta};
use crate::controllers::Subject;
use crate::owner::{is_managed, is_ours};

const FINALIZERS: [&str; 3] = [FORMER_MACHINE_FINALIZER, FORMER_IMAGE_FINALIZER, FORMER_RECORD_FINALIZER];

/// What a key was told that ends its trust.
const ENDED: [&str; 5] =
    [reason::DENIED, reason::SUPERSEDED, reason::WITHDRAWN, reason::APPROVAL_MISMATCH, reason::INVALID_KEY];

/// Whether a finalizer of the existing operator is on the object.
pub fn is_held(object: &impl Resource) -> bool {
    object.finalizers().iter().any(|finalizer| FINALIZERS.contains(&finalizer.as_str()))
}

/// The object's finalizers without those of the existing operator.
pub fn other_finalizers(object: &impl Resource) -> Vec<&str> {
    object
        .finalizers()
        .iter()
        .map(String::as_str)
        .filter(|finalizer| !FINALIZERS.contains(finalizer))
        .collect()
}

/// The Secret in which the existing operator recorded that it trusts `key`.
pub fn record_of(caches: &Caches, key: &AttestationKey) -> Option<Arc<SecretMeta>> {
    caches.secrets.find(&key.name_any()).filter(|secret| is_record_of(secret, key))
}

/// The record of a key, while the existing operator's word on it stands: nothing is bound in its place, and the key
/// was not refused.
pub fn record_in_force(caches: &Caches, key: &AttestationKey) -> Option<Arc<SecretMeta>> {
    let record = record_of(caches, key)?;
    let refused = key.condition(APPROVED).is_some_and(|approved| ENDED.contains(&approved.reason.as_str()));
    let binding = Subject::of_key(key).binding_secret().and_then(|name| caches.secrets.find(&name));
    let bound = binding.is_some_and(|secret| is_managed(secret.as_ref()));
    (!refused && !bound).then_some(record)
}

fn is_record_of(secret: &SecretMeta, key: &AttestationKey) -> bool {
    let [owner] = secret.owner_references() else { return false };
    let live = |meta: &kube::core::ObjectMeta| meta.deletion_timestamp.is_none();
    !is_managed(secret)
        && is_ours::<AttestationKey>(owner)
        && key.metadata.uid.as_ref() == Some(&owner.uid)
        && live(&secret.metadata)
        && live(&key.metadata)
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
