//! The certificate authority, serving certificate and ServiceAccount keys of one control plane.
//!
//! Purpose: clients verify the API server as they would anywhere, and no time is lost on RSA keys.
//!
//! Owns: key files in the data folder, all of which disappear with it.

use std::{fs, path::Path};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};

use crate::{Error, layout::Layout};

/// Names under which the API server is reached, from here and as pods would.
const SERVER_NAMES: [&str; 5] =
    ["127.0.0.1", "localhost", "kubernetes.default", "kubernetes.default.svc", "10.96.0.1"];

/// Writes all key material and returns the authority's certificate (DER).
pub(crate) fn write(layout: &Layout) -> Result<Vec<u8>, Error> {
    let mut authority = CertificateParams::default();
    authority.distinguished_name.push(DnType::CommonName, "testenv authority");
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    let authority_key = KeyPair::generate()?;
    let authority_certificate = authority.self_signed(&authority_key)?;

    let mut server = CertificateParams::new(SERVER_NAMES.map(str::to_owned))?;
    server.distinguished_name.push(DnType::CommonName, "kube-apiserver");
    server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let server_key = KeyPair::generate()?;
    let server_certificate = server.signed_by(&server_key, &Issuer::new(authority, authority_key))?;

    let account_key = KeyPair::generate()?;
    write_file(&layout.authority(), &authority_certificate.pem())?;
    write_file(&layout.server_certificate(), &server_certificate.pem())?;
    write_file(&layout.server_key(), &server_key.serialize_pem())?;
    write_file(&layout.account_signing_key(), &account_key.serialize_pem())?;
    write_file(&layout.account_public_key(), &account_key.public_key_pem())?;
    Ok(authority_certificate.der().to_vec())
}

fn write_file(path: &Path, text: &str) -> Result<(), Error> {
    fs::write(path, text).map_err(Error::io(path))
}
