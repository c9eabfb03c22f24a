//! Builders for objects of our kinds, and keys to put into them.

use kube::api::ObjectMeta;
use rcgen::KeyPair;
use trusted_crds::{
    ApprovedImage, ApprovedImageSpec, AttestationKey, AttestationKeySpec, Machine, MachineSpec,
    TrustedExecutionCluster, TrustedExecutionClusterSpec,
};

fn named(name: &str) -> ObjectMeta {
    ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() }
}

/// A cluster that approves keys automatically and serves plain HTTP, at an address nobody needs to reach.
pub fn cluster(name: &str) -> TrustedExecutionCluster {
    let spec = TrustedExecutionClusterSpec {
        public_trustee_addr: Some("trustee.example.com:8080".to_owned()),
        public_attestation_key_register_addr: Some("register.example.com:8001".to_owned()),
        ..TrustedExecutionClusterSpec::default()
    };
    TrustedExecutionCluster { metadata: named(name), spec, status: None }
}

/// A Machine of this id.
pub fn machine(name: &str, id: &str) -> Machine {
    Machine { metadata: named(name), spec: MachineSpec { id: id.to_owned() }, status: None }
}

/// A key that was registered for the machine with this id, or for none.
pub fn attestation_key(name: &str, uuid: Option<&str>, pem: &str) -> AttestationKey {
    let spec = AttestationKeySpec {
        public_key: pem.to_owned(),
        uuid: uuid.map(str::to_owned),
        ..AttestationKeySpec::default()
    };
    AttestationKey { metadata: named(name), spec, status: None }
}

/// An image in digest form.
pub fn approved_image(name: &str, reference: &str) -> ApprovedImage {
    let spec = ApprovedImageSpec { image: reference.to_owned() };
    ApprovedImage { metadata: named(name), spec, status: None }
}

/// A fresh P-256 public key (PEM).
pub fn public_key() -> String {
    fresh().public_key_pem()
}

/// A fresh P-256 private key (PEM, PKCS#8), as somebody might paste by mistake.
pub fn private_key() -> String {
    fresh().serialize_pem()
}

#[expect(clippy::panic, reason = "fails only where the system has no random numbers")]
fn fresh() -> KeyPair {
    match KeyPair::generate() {
        Ok(pair) => pair,
        Err(error) => panic!("no key for the test: {error}"),
    }
}
