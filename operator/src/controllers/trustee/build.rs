//! Trustee's children as they shall be: its ConfigMaps and its Deployment. Pure.
//!
//! Everything Trustee reads is mounted read-only, in folders that do not lie in each other.

mod config_map;
mod deployment;

pub(super) use config_map::{attestation_policy, configuration_hash, trustee_data};
pub(super) use deployment::{Template, deployment};

/// Folder with the ConfigMap `trustee-data`.
const CONFIGURATION_DIR: &str = "/etc/trustee";
/// Trustee's own configuration.
const CONFIGURATION_FILE: &str = "kbs-config.toml";
/// The resource policy.
const RESOURCE_POLICY_FILE: &str = "policy.rego";
/// The reference values.
const REFERENCE_VALUES_FILE: &str = "reference-values.json";
/// Folder whose subfolder `opa` holds the attestation policies.
const POLICY_DIR: &str = "/opt/trustee/policies";
/// Folder the attestation service may write to.
const WORK_DIR: &str = "/opt/trustee/attestation-service";
/// Folder of the resource repository; what is in it is `<repository>/<type>/<tag>`.
const REPOSITORY_DIR: &str = "/opt/trustee/kbs-repository";
/// The repository that holds the disk keys; it has to exist when Trustee starts.
pub(super) const DISK_KEYS_DIR: &str = "/opt/trustee/kbs-repository/default";
/// Folder with the trusted attestation keys; without it every attestation fails.
pub(super) const ATTESTATION_KEYS_DIR: &str = "/etc/tpm/trusted_ak_keys";

#[cfg(test)]
mod policy_tests;
#[cfg(test)]
mod tests;
