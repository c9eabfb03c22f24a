//! Whose an object is: what marks it as made by us, and what names its owner. Pure.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::{Resource, ResourceExt};
use trusted_crds::GROUP;
use trusted_crds::names::{MANAGED_BY, MANAGED_BY_LABEL};

/// Whether an object carries our label.
pub(crate) fn is_managed(object: &impl Resource) -> bool {
    object.labels().get(MANAGED_BY_LABEL).is_some_and(|by| by == MANAGED_BY)
}

/// Whether an owner is of this kind of ours, in whatever version.
pub(crate) fn is_ours<K: Resource<DynamicType = ()>>(owner: &OwnerReference) -> bool {
    let group = owner.api_version.split_once('/').map(|(group, _)| group);
    owner.kind == K::kind(&()) && group == Some(GROUP)
}

/// The reference by which an object belongs to `owner` and goes with it.
pub(crate) fn owner_reference<K: Resource<DynamicType = ()>>(owner: &K) -> OwnerReference {
    OwnerReference {
        api_version: K::api_version(&()).into_owned(),
        kind: K::kind(&()).into_owned(),
        name: owner.name_any(),
        uid: owner.uid().unwrap_or_default(),
        controller: Some(true),
        block_owner_deletion: Some(true),
    }
}

#[cfg(test)]
mod tests {
    use trusted_crds::{AttestationKey, Machine, TrustedExecutionCluster};

    use super::*;

    #[test]
    fn an_owner_is_ours_by_its_whole_group_and_kind() {
        let mut owner = owner_reference(&Machine::default());
        assert!(is_ours::<Machine>(&owner));
        assert!(!is_ours::<AttestationKey>(&owner));
        owner.api_version = format!("{GROUP}/v9");
        assert!(is_ours::<Machine>(&owner), "of a later version");
        for other in [&format!("{GROUP}.evil/v1"), &format!("{GROUP}evil/v1"), GROUP, "v1", ""] {
            owner.api_version = other.to_owned();
            assert!(!is_ours::<Machine>(&owner), "{other}");
        }
        let cluster = owner_reference(&TrustedExecutionCluster::default());
        assert_eq!((cluster.controller, cluster.block_owner_deletion), (Some(true), Some(true)));
    }
}
