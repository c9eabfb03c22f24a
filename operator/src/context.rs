//! What every controller is given: the stores it reads, the writer it writes through, the facts it shares.

use std::env;
use std::sync::Arc;

use cachelib::{Cache, Index, Key};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Service};
use trusted_crds::{ApprovedImage, AttestationKey, Machine, TrustedExecutionCluster};

use crate::child::Folded;
use crate::facts::{Facts, ServedCluster};
use crate::secret::SecretRecord;
use crate::writer::Writer;

/// One store per kind, all of one namespace, and the indexes that are asked; clones are cheap.
#[derive(Clone)]
pub struct Caches {
    /// TrustedExecutionClusters.
    pub clusters: Cache<TrustedExecutionCluster>,
    /// Machines.
    pub machines: Cache<Machine>,
    /// Machines by `spec.id`.
    pub machines_by_id: Index<Machine>,
    /// AttestationKeys.
    pub attestation_keys: Cache<AttestationKey>,
    /// AttestationKeys by `spec.uuid`.
    pub keys_by_uuid: Index<AttestationKey>,
    /// AttestationKeys by the fingerprint of their key.
    pub keys_by_fingerprint: Index<AttestationKey>,
    /// ApprovedImages.
    pub approved_images: Cache<ApprovedImage>,
    /// All Secrets of the namespace.
    pub secrets: Cache<SecretRecord>,
    /// Secrets by the fingerprint that their annotation names.
    pub secrets_by_fingerprint: Index<SecretRecord>,
    /// Deployments with our label.
    pub deployments: Cache<Folded<Deployment>>,
    /// Deployments by the uid of each owner.
    pub deployments_by_owner: Index<Folded<Deployment>>,
    /// ConfigMaps with our label.
    pub config_maps: Cache<Folded<ConfigMap>>,
    /// ConfigMaps by the uid of each owner.
    pub config_maps_by_owner: Index<Folded<ConfigMap>>,
    /// Services with our label.
    pub services: Cache<Folded<Service>>,
    /// Services by the uid of each owner.
    pub services_by_owner: Index<Folded<Service>>,
}

/// Says that a store may be behind, if so. What it does not show may be there, and what it shows may be gone, so nothing
/// is to be taken away on its word.
pub fn behind<T: Send + Sync + 'static>(cache: &Cache<T>) -> Option<String> {
    let readiness = cache.readiness().borrow().clone();
    (!readiness.is_synced()).then(|| format!("{}: {readiness}", cache.status().kind))
}

/// Images of the workloads the operator installs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Images {
    /// Trustee, the key broker.
    pub trustee: String,
    /// The front end where machines fetch their first configuration.
    pub register_server: String,
    /// The front end where machines register their attestation key.
    pub attestation_key_register: String,
}

impl Images {
    /// Reads the variables that the existing operator uses, so that a deployment of either sets them alike; ours is
    /// deploy/operator/deployment.yaml. What it does not say is as it is there, for an operator outside of a pod.
    pub fn from_env() -> Self {
        Self::from(|variable| env::var(variable).ok())
    }

    fn from(value: impl Fn(&str) -> Option<String>) -> Self {
        let or = |variable: &str, default: &str| {
            value(variable).filter(|v| !v.is_empty()).unwrap_or_else(|| default.to_owned())
        };
        let own = concat!("trusted-operator:", env!("CARGO_PKG_VERSION"));
        let trustee = "quay.io/trusted-execution-clusters/key-broker-service:v0.17.0";
        Images {
            trustee: or("RELATED_IMAGE_TRUSTEE", trustee),
            register_server: or("RELATED_IMAGE_REGISTRATION_SERVER", own),
            attestation_key_register: or("RELATED_IMAGE_ATTESTATION_KEY_REGISTER", own),
        }
    }
}

/// The whole surroundings of a reconcile.
pub struct Context {
    /// What is read.
    pub caches: Caches,
    /// What writes.
    pub writer: Writer,
    /// What controllers tell each other.
    pub facts: Facts,
    /// The namespace that is served.
    pub namespace: String,
    /// Images of the workloads.
    pub images: Images,
}

impl Context {
    /// The cluster that is served: which one it is, the cluster controller says, so that only that one makes the choice;
    /// what it says is in the store, which is never behind. The outer `None` means that nothing is known yet.
    pub fn served_cluster(&self) -> Option<Option<Arc<TrustedExecutionCluster>>> {
        let uid = match self.facts.served_cluster() {
            ServedCluster::NotYet => return None,
            ServedCluster::None => return Some(None),
            ServedCluster::Uid(uid) => uid,
        };
        let mut clusters = self.caches.clusters.list().into_iter();
        Some(clusters.find(|cluster| {
            cluster.metadata.uid.as_ref() == Some(&uid) && cluster.metadata.deletion_timestamp.is_none()
        }))
    }

    /// The store key of an object of the served namespace.
    pub fn key(&self, name: &str) -> Key {
        Key { namespace: self.namespace.clone(), name: name.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deployment_names_every_image_and_the_defaults_are_the_same() {
        let manifest = include_str!("../../deploy/operator/deployment.yaml");
        let deployment: Deployment = serde_saphyr::from_str(manifest).unwrap();
        let containers = deployment.spec.template.spec.unwrap().containers;
        let set = containers[0].env.clone().unwrap();
        let value = |variable: &str| {
            let set = set.iter().find(|set| set.name == variable);
            Some(set.unwrap_or_else(|| panic!("{variable} is not set")).value.clone().unwrap())
        };
        assert_eq!(Images::from(value), Images::from(|_| None));
        assert_eq!(containers[0].image, value("RELATED_IMAGE_REGISTRATION_SERVER"), "the same program");
    }
}
