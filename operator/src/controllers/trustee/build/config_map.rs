//! ConfigMaps with Trustee's configuration (version 0.17) and policies.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use sha2::{Digest, Sha256};
use trusted_crds::hex;
use trusted_crds::names::{ATTESTATION_POLICY, TRUSTEE_DATA};

use super::{
    ATTESTATION_KEYS_DIR, CONFIGURATION_DIR, CONFIGURATION_FILE, POLICY_DIR, REFERENCE_VALUES_FILE,
    REPOSITORY_DIR, RESOURCE_POLICY_FILE, WORK_DIR,
};
use crate::controllers::cluster::build::TRUSTEE_PORT;
use crate::controllers::cluster::{CERTIFICATE, MOUNT_PATH, PRIVATE_KEY};

const RESOURCE_POLICY: &str = include_str!("../policy/resource.rego");
const TPM_POLICY: &str = include_str!("../policy/attestation.rego");
/// Trustee writes a policy of its own where one is missing, which a read-only mount does not let it.
const UNUSED_POLICY: &str = "";
/// No boot measurement is approved yet.
const NO_REFERENCE_VALUES: &str = "[]";
/// Trustee silently ignores every key after this many; its own default is 100.
const MAX_ATTESTATION_KEYS: u32 = 100_000;
/// How long a session and the token it yields live.
const TOKEN_MINUTES: u32 = 5;

/// The ConfigMap with configuration, resource policy and reference values. `tls` says whether a TLS Secret is
/// named, ready or not: plain HTTP is never configured for a cluster that asked for TLS.
pub(crate) fn trustee_data(tls: bool, namespace: &str) -> ConfigMap {
    let data = [
        (CONFIGURATION_FILE, configuration(tls)),
        (RESOURCE_POLICY_FILE, RESOURCE_POLICY.to_owned()),
        (REFERENCE_VALUES_FILE, NO_REFERENCE_VALUES.to_owned()),
    ];
    config_map(TRUSTEE_DATA, namespace, data)
}

/// The ConfigMap with the attestation policies.
pub(crate) fn attestation_policy(namespace: &str) -> ConfigMap {
    let data = [("default_cpu.rego", TPM_POLICY.to_owned()), ("default_gpu.rego", UNUSED_POLICY.to_owned())];
    config_map(ATTESTATION_POLICY, namespace, data)
}

/// Hash of the part of the configuration that Trustee reads at its start only.
pub(crate) fn configuration_hash(tls: bool) -> String {
    hex(Sha256::digest(configuration(tls)))
}

fn config_map<const N: usize>(name: &str, namespace: &str, data: [(&str, String); N]) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(name.into()),
            namespace: Some(namespace.into()),
            ..Default::default()
        },
        data: Some(data.map(|(key, text)| (key.to_owned(), text)).into_iter().collect::<BTreeMap<_, _>>()),
        ..Default::default()
    }
}

fn configuration(tls: bool) -> String {
    let transport = if tls {
        format!("private_key = \"{MOUNT_PATH}/{PRIVATE_KEY}\"\ncertificate = \"{MOUNT_PATH}/{CERTIFICATE}\"")
    } else {
        "insecure_http = true".to_owned()
    };
    format!(
        r#"[http_server]
sockets = ["0.0.0.0:{TRUSTEE_PORT}"]
{transport}

[admin]
type = "DenyAll"

[policy_engine]
policy_path = "{CONFIGURATION_DIR}/{RESOURCE_POLICY_FILE}"

[attestation_token]
insecure_key = true

[attestation_service]
type = "coco_as_builtin"
work_dir = "{WORK_DIR}"
timeout = {TOKEN_MINUTES}

[attestation_service.attestation_token_broker]
duration_min = {TOKEN_MINUTES}
policy_dir = "{POLICY_DIR}"

[attestation_service.rvps_config]
type = "BuiltIn"

[attestation_service.rvps_config.storage]
type = "LocalJson"
file_path = "{CONFIGURATION_DIR}/{REFERENCE_VALUES_FILE}"

[attestation_service.verifier_config.tpm_verifier]
trusted_ak_keys_dir = "{ATTESTATION_KEYS_DIR}"
max_trusted_ak_keys = {MAX_ATTESTATION_KEYS}

[[plugins]]
name = "resource"
type = "LocalFs"
dir_path = "{REPOSITORY_DIR}"
"#
    )
}
