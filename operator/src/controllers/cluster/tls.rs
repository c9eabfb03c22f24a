//! Whether the TLS Secrets that a cluster names can be used. Pure.
//!
//! The stores hold Secrets without their data, so each version of a named Secret is read once. What is remembered is
//! which of its parts are usable and a hash, never a byte of it.

use std::collections::HashMap;
use std::fmt;

use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use rustls::InconsistentKeys;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use sha2::{Digest, Sha256};
use trusted_crds::{TrustedExecutionClusterSpec, hex};

use crate::child::Obstacle;
use crate::secret::SecretRecord;

/// Key of the certificate chain in a TLS Secret.
pub const CERTIFICATE: &str = "tls.crt";
/// Key of the private key in a TLS Secret.
pub const PRIVATE_KEY: &str = "tls.key";
/// Key of the CA certificate in a TLS Secret.
pub const CA: &str = "ca.crt";
/// Where a TLS Secret is mounted.
pub const MOUNT_PATH: &str = "/etc/tls";
/// Name of the volume with it.
pub const VOLUME: &str = "tls";

/// One field of a cluster that names a TLS Secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsUse {
    /// Name of the field.
    pub field: &'static str,
    /// Name of the Secret.
    pub secret: String,
    /// Whether machines have to be told its CA certificate.
    pub with_ca: bool,
}

impl TlsUse {
    /// What Trustee serves with.
    pub fn trustee(spec: &TrustedExecutionClusterSpec) -> Option<TlsUse> {
        Self::of("trusteeSecret", spec.trustee_secret.as_ref(), true)
    }

    /// What register-server serves with.
    pub fn register_server(spec: &TrustedExecutionClusterSpec) -> Option<TlsUse> {
        Self::of("registerServerSecret", spec.register_server_secret.as_ref(), false)
    }

    /// What attestation-key-register serves with.
    pub fn attestation_key_register(spec: &TrustedExecutionClusterSpec) -> Option<TlsUse> {
        Self::of("attestationKeyRegisterSecret", spec.attestation_key_register_secret.as_ref(), true)
    }

    /// All uses of a cluster.
    pub fn all(spec: &TrustedExecutionClusterSpec) -> impl Iterator<Item = TlsUse> {
        [Self::trustee(spec), Self::register_server(spec), Self::attestation_key_register(spec)]
            .into_iter()
            .flatten()
    }

    fn of(field: &'static str, secret: Option<&String>, with_ca: bool) -> Option<TlsUse> {
        secret.map(|secret| TlsUse { field, secret: secret.clone(), with_ca })
    }

    fn keys(&self) -> impl Iterator<Item = &'static str> {
        [CERTIFICATE, PRIVATE_KEY].into_iter().chain(self.with_ca.then_some(CA))
    }
}

/// Whether a server can be given TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TlsState {
    /// No Secret is named: plain HTTP is what was asked for.
    Plain,
    /// The Secret is complete.
    Ready(TlsMount),
    /// The Secret cannot be used; the server has to wait for it.
    Waiting {
        /// Name of the Secret.
        secret: String,
        /// What is wrong with it.
        obstacle: Obstacle,
    },
}

impl TlsState {
    /// What is wrong, if anything.
    pub fn obstacle(&self) -> Option<&Obstacle> {
        match self {
            TlsState::Waiting { obstacle, .. } => Some(obstacle),
            TlsState::Plain | TlsState::Ready(_) => None,
        }
    }

    /// What to mount, for a Deployment whose pods were last made with the TLS content of `running_hash`: while the
    /// Secret cannot be used, a server that runs keeps what it has. `Err` if a server may not be started.
    pub fn mount(&self, running_hash: Option<&str>) -> Result<Option<TlsMount>, Obstacle> {
        match (self, running_hash) {
            (TlsState::Plain, _) => Ok(None),
            (TlsState::Ready(mount), _) => Ok(Some(mount.clone())),
            (TlsState::Waiting { secret, .. }, Some(hash)) => {
                Ok(Some(TlsMount { secret: secret.clone(), hash: hash.to_owned() }))
            }
            (TlsState::Waiting { obstacle, .. }, None) => Err(obstacle.clone()),
        }
    }
}

/// A TLS Secret to mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsMount {
    /// Its name.
    pub secret: String,
    /// Hash of its content, so that a new certificate restarts the server.
    pub hash: String,
}

/// What is wrong with a TLS Secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TlsProblem {
    /// It does not exist.
    Missing,
    /// It lacks these keys.
    Lacks(Vec<&'static str>),
    /// What these keys hold is not PEM of the right kind.
    NotPem(Vec<&'static str>),
    /// The private key is not that of the certificate.
    Mismatch,
}

impl TlsProblem {
    /// The problem as an obstacle that tells a person what to do.
    pub fn of(self, tls: &TlsUse) -> Obstacle {
        let keys: Vec<_> = tls.keys().collect();
        Obstacle::Tls(format!(
            "Secret {} named by {} {self}; nothing is served without it, so create it with {} in PEM",
            tls.secret,
            tls.field,
            keys.join(", ")
        ))
    }
}

impl fmt::Display for TlsProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TlsProblem::Missing => f.write_str("does not exist"),
            TlsProblem::Lacks(keys) => write!(f, "lacks {}", keys.join(", ")),
            TlsProblem::NotPem(keys) => write!(f, "holds no usable PEM in {}", keys.join(", ")),
            TlsProblem::Mismatch => write!(f, "holds a {PRIVATE_KEY} that is not of its {CERTIFICATE}"),
        }
    }
}

/// What was found in one version of a Secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspection {
    hash: String,
    absent: Vec<&'static str>,
    unusable: Vec<&'static str>,
    mismatched: bool,
}

impl Inspection {
    /// Looks into a Secret; only whether its parts are there, PEM, and of each other is kept.
    pub fn of(secret: &Secret) -> Self {
        let part =
            |key: &str| secret.data.as_ref().and_then(|data| data.get(key)).map_or(&[][..], |bytes| &bytes.0);
        let mut found = Inspection {
            hash: String::new(),
            absent: Vec::new(),
            unusable: Vec::new(),
            mismatched: is_mismatched(part(CERTIFICATE), part(PRIVATE_KEY)),
        };
        let mut digest = Sha256::new();
        for key in [CERTIFICATE, PRIVATE_KEY, CA] {
            let bytes = part(key);
            digest.update(bytes.len().to_be_bytes());
            digest.update(bytes);
            if bytes.is_empty() {
                found.absent.push(key);
            } else if !is_usable(key, bytes) {
                found.unusable.push(key);
            }
        }
        found.hash = hex(digest.finalize());
        found
    }

    /// Whether it serves for `tls`.
    pub fn verdict(&self, tls: &TlsUse) -> Result<TlsMount, TlsProblem> {
        let among = |keys: &[&'static str]| tls.keys().filter(|key| keys.contains(key)).collect::<Vec<_>>();
        let (absent, unusable) = (among(&self.absent), among(&self.unusable));
        if !absent.is_empty() {
            Err(TlsProblem::Lacks(absent))
        } else if !unusable.is_empty() {
            Err(TlsProblem::NotPem(unusable))
        } else if self.mismatched {
            Err(TlsProblem::Mismatch)
        } else {
            Ok(TlsMount { secret: tls.secret.clone(), hash: self.hash.clone() })
        }
    }
}

/// Whether a part holds PEM of its kind. An encrypted private key is none: no server here could use it.
fn is_usable(key: &str, bytes: &[u8]) -> bool {
    if key == PRIVATE_KEY {
        PrivateKeyDer::from_pem_slice(bytes).is_ok_and(|der| !der.secret_der().is_empty())
    } else {
        CertificateDer::from_pem_slice(bytes).is_ok_and(|der| !der.is_empty())
    }
}

/// Whether the private key is surely of another certificate. What rustls cannot tell is left to the server.
fn is_mismatched(certificate: &[u8], key: &[u8]) -> bool {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(certificate).collect();
    let (Ok(chain), Ok(key)) = (chain, PrivateKeyDer::from_pem_slice(key)) else { return false };
    let pair = CertifiedKey::from_der(chain, key, &ring::default_provider());
    matches!(pair, Err(rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch)))
}

/// What was found in the TLS Secrets so far, by name; shared by the controllers so that each version is read once.
#[derive(Debug, Default)]
pub struct Inspections(HashMap<String, (Version, Inspection)>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Version {
    uid: String,
    resource_version: String,
}

impl Inspections {
    /// What was found in the version that the store shows, or in a later one.
    pub fn of(&self, stored: &SecretRecord) -> Option<&Inspection> {
        let (seen, inspection) = self.0.get(stored.name())?;
        let shown = Version { uid: stored.uid().into(), resource_version: stored.version().into() };
        let later = || Some(seen.number()? >= shown.number()?);
        let known = *seen == shown || (seen.uid == shown.uid && later().unwrap_or(false));
        known.then_some(inspection)
    }

    /// Notes what was found in a Secret.
    pub fn remember(&mut self, name: &str, secret: &Secret) -> Inspection {
        let inspection = Inspection::of(secret);
        self.0.insert(name.to_owned(), (Version::of(&secret.metadata), inspection.clone()));
        inspection
    }
}

impl Version {
    fn of(meta: &ObjectMeta) -> Self {
        let text = |field: &Option<String>| field.clone().unwrap_or_default();
        Version { uid: text(&meta.uid), resource_version: text(&meta.resource_version) }
    }

    fn number(&self) -> Option<u64> {
        self.resource_version.parse().ok()
    }
}

#[cfg(test)]
mod tests;
