//! What Trustee has been given, read back from its Deployment.
//!
//! The operator mounts every disk key and every trusted attestation key into Trustee's pod template, and a plugin
//! that may not read Secrets sees from the same template what was delivered.

use std::collections::BTreeSet;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::VolumeProjection;

use crate::Fingerprint;

/// Projected volume with all disk keys.
pub const DISK_KEYS_VOLUME: &str = "disk-keys";
/// Projected volume with all trusted attestation keys.
pub const ATTESTATION_KEYS_VOLUME: &str = "trusted-ak-keys";

const KEY_FILE_SUFFIX: &str = ".pub";
const DISK_KEY_SUFFIX: &str = "/root";

/// File in [`ATTESTATION_KEYS_VOLUME`] that holds the key with this fingerprint.
pub fn key_file(fingerprint: &Fingerprint) -> String {
    format!("{}{KEY_FILE_SUFFIX}", fingerprint.hex())
}

/// File in [`DISK_KEYS_VOLUME`] that holds the disk key of the machine `id`.
pub fn disk_key_path(id: &str) -> String {
    format!("{id}{DISK_KEY_SUFFIX}")
}

/// What the pod template of Trustee mounts, and whether the pods that serve are made from it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delivered {
    /// Whether every Trustee pod was made from the present template and is available, with none left of a former one.
    pub rolled_out: bool,
    key_files: BTreeSet<String>,
    disk_key_paths: BTreeSet<String>,
}

impl Delivered {
    /// Reads the Trustee Deployment.
    pub fn read(deployment: &Deployment) -> Delivered {
        let volumes = || {
            let pod = deployment.spec.template.spec.iter();
            pod.flat_map(|pod| pod.volumes.iter().flatten())
        };
        Delivered::of(deployment, |name| {
            let named = volumes().filter(|volume| volume.name == name);
            let sources = named.filter_map(|volume| volume.projected.as_ref()?.sources.as_deref());
            sources.flat_map(secret_files).collect()
        })
    }

    /// The same where the files of each volume are told by `files`.
    pub fn of(deployment: &Deployment, files: impl Fn(&str) -> BTreeSet<String>) -> Delivered {
        Delivered {
            rolled_out: rolled_out(deployment),
            key_files: files(ATTESTATION_KEYS_VOLUME),
            disk_key_paths: files(DISK_KEYS_VOLUME),
        }
    }

    /// Whether the template mounts the key with this fingerprint as trusted.
    pub fn has_key(&self, fingerprint: &Fingerprint) -> bool {
        self.key_files.contains(&key_file(fingerprint))
    }

    /// The attestation keys that the template mounts as trusted.
    pub fn keys(&self) -> impl Iterator<Item = Fingerprint> {
        let hex = self.key_files.iter().filter_map(|file| file.strip_suffix(KEY_FILE_SUFFIX));
        hex.filter_map(|hex| format!("sha256:{hex}").parse().ok())
    }

    /// Whether the template mounts the disk key of the machine `id`.
    pub fn has_disk_key(&self, id: &str) -> bool {
        self.disk_key_paths.contains(&disk_key_path(id))
    }

    /// Number of attestation keys in the template.
    pub fn attestation_keys(&self) -> usize {
        self.key_files.len()
    }

    /// Number of disk keys in the template.
    pub fn disk_keys(&self) -> usize {
        self.disk_key_paths.len()
    }
}

/// Whether any pod of a Deployment is available, of whichever template.
pub fn is_available(deployment: &Deployment) -> bool {
    let available = deployment.status.as_ref().and_then(|status| status.available_replicas);
    available.unwrap_or_default() > 0
}

/// The files that the Secrets among the sources of a projected volume are mounted as.
pub fn secret_files(sources: &[VolumeProjection]) -> impl Iterator<Item = String> {
    let secrets = sources.iter().filter_map(|source| source.secret.as_ref());
    secrets.flat_map(|secret| secret.items.iter().flatten()).map(|item| item.path.clone())
}

/// Whether every pod of a Deployment was made from the present template and is available, with none left of a former
/// one.
pub fn rolled_out(deployment: &Deployment) -> bool {
    let Some(status) = &deployment.status else {
        return false;
    };
    let seen = status.observed_generation >= deployment.metadata.generation;
    let wanted = deployment.spec.replicas.unwrap_or(1);
    let all = |count: Option<i32>| count.unwrap_or(0) == wanted;
    seen && wanted > 0
        && all(status.updated_replicas)
        && all(status.replicas)
        && all(status.available_replicas)
}

#[cfg(test)]
#[path = "delivery_tests.rs"]
mod tests;
