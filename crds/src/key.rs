//! Attestation keys: strict parsing and the fingerprint that names a key everywhere.
//!
//! Of every key exactly one encoding is accepted, so that one key cannot appear under two fingerprints: DER, RSA with
//! NULL parameters, elliptic curve points on named curves and uncompressed. No error, message or Debug output here
//! ever holds bytes of the input, which may be a private key.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use der::asn1::{AnyRef, BitStringRef, ObjectIdentifier, UintRef};
use der::pem::{LineEnding, encode_string};
use der::{Decode, Tag, Tagged};
use pkcs1::RsaPublicKey;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use spki::SubjectPublicKeyInfoRef;

/// The longest `publicKey` that is looked at.
pub const MAX_PUBLIC_KEY_BYTES: usize = 8192;

const LABEL: &str = "PUBLIC KEY";
const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
const DASHES: &str = "-----";
const MIN_RSA_BITS: usize = 2048;
/// OpenSSL, which verifies the quotes, takes no larger modulus.
const MAX_RSA_BITS: usize = 16384;

const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
const EC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
/// Curve, name, bytes of one coordinate.
const CURVES: [(ObjectIdentifier, &str, usize); 3] = [
    (ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7"), "P-256", 32),
    (ObjectIdentifier::new_unwrap("1.3.132.0.34"), "P-384", 48),
    (ObjectIdentifier::new_unwrap("1.3.132.0.35"), "P-521", 66),
];

/// Why a `publicKey` cannot be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    #[error("the key is empty")]
    Empty,
    #[error(
        "the key is not one PEM block, from -----BEGIN PUBLIC KEY----- to -----END PUBLIC KEY----- and nothing else"
    )]
    NotPem,
    #[error(
        "this is a private key, which must never be sent; regard it as disclosed, and use the public key instead"
    )]
    PrivateKey,
    #[error("there is more than one PEM block; exactly one PUBLIC KEY is wanted")]
    SeveralBlocks,
    #[error(
        "the PEM block is not labelled PUBLIC KEY; a certificate or an RSA PUBLIC KEY has to be converted first"
    )]
    WrongLabel,
    #[error("the PEM block does not hold a well-formed public key (SubjectPublicKeyInfo in DER)")]
    Malformed,
    #[error("the RSA key has {bits} bits; at least {MIN_RSA_BITS} are needed")]
    WeakRsa { bits: usize },
    #[error("the key is neither RSA nor ECDSA on P-256, P-384 or P-521")]
    UnsupportedAlgorithm,
    #[error(
        "the key is too large: at most {MAX_PUBLIC_KEY_BYTES} bytes of PEM and {MAX_RSA_BITS} bits of RSA"
    )]
    TooLarge,
}

/// A public key that may be trusted.
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKey {
    fingerprint: Fingerprint,
    algorithm: String,
    pem: String,
}

impl PublicKey {
    /// Reads exactly one PEM block `PUBLIC KEY`. White space around lines and the kind of line ending do not matter.
    pub fn from_pem(text: &str) -> Result<PublicKey, KeyError> {
        let der = decode_pem(text)?;
        let algorithm = algorithm(&der)?;
        let pem = encode_string(LABEL, LineEnding::LF, &der).map_err(|_| KeyError::Malformed)?;
        Ok(PublicKey { fingerprint: Fingerprint::of(&der), algorithm, pem })
    }

    /// The name of this key everywhere.
    pub fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    /// Kind and size, such as `RSA 2048` or `ECDSA P-256`.
    pub fn algorithm(&self) -> &str {
        &self.algorithm
    }

    /// The one form in which the key is delivered: re-encoded from its DER, with LF line ends.
    pub fn to_pem(&self) -> String {
        self.pem.clone()
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({}, {})", self.algorithm, self.fingerprint)
    }
}

/// The DER in the one PEM block of `text`.
fn decode_pem(text: &str) -> Result<Vec<u8>, KeyError> {
    if text.len() > MAX_PUBLIC_KEY_BYTES {
        return Err(KeyError::TooLarge);
    }
    let lines: Vec<&str> = text.split(['\r', '\n']).map(str::trim_ascii).filter(|l| !l.is_empty()).collect();
    if lines.is_empty() {
        return Err(KeyError::Empty);
    }
    let labels = || lines.iter().filter_map(|line| line.strip_prefix(BEGIN)?.strip_suffix(DASHES));
    if labels().any(|label| label.ends_with("PRIVATE KEY")) {
        return Err(KeyError::PrivateKey);
    }
    let [begin, body @ .., end] = lines.as_slice() else {
        return Err(KeyError::NotPem);
    };
    let label =
        begin.strip_prefix(BEGIN).and_then(|rest| rest.strip_suffix(DASHES)).ok_or(KeyError::NotPem)?;
    if labels().count() > 1 {
        return Err(KeyError::SeveralBlocks);
    }
    if label != LABEL {
        return Err(KeyError::WrongLabel);
    }
    if end.strip_prefix(END).and_then(|rest| rest.strip_suffix(DASHES)) != Some(LABEL) {
        return Err(KeyError::NotPem);
    }
    STANDARD.decode(body.concat()).map_err(|_| KeyError::Malformed)
}

fn algorithm(der: &[u8]) -> Result<String, KeyError> {
    let info = SubjectPublicKeyInfoRef::from_der(der).map_err(|_| KeyError::Malformed)?;
    let parameters = info.algorithm.parameters;
    match info.algorithm.oid {
        RSA => rsa(parameters, info.subject_public_key),
        EC => elliptic_curve(parameters, info.subject_public_key),
        _ => Err(KeyError::UnsupportedAlgorithm),
    }
}

fn rsa(parameters: Option<AnyRef<'_>>, key: BitStringRef<'_>) -> Result<String, KeyError> {
    if !parameters.is_some_and(AnyRef::is_null) {
        return Err(KeyError::Malformed);
    }
    let bytes = key.as_bytes().ok_or(KeyError::Malformed)?;
    let key = RsaPublicKey::<UintRef<'_>>::from_der(bytes).map_err(|_| KeyError::Malformed)?;
    let bits = bit_length(key.modulus.as_bytes());
    if bits < MIN_RSA_BITS {
        return Err(KeyError::WeakRsa { bits });
    }
    if bits > MAX_RSA_BITS {
        return Err(KeyError::TooLarge);
    }
    // An even modulus or exponent is no RSA key, and with the exponent 1 anybody can sign.
    let exponent = key.public_exponent.as_bytes();
    let odd = |number: &[u8]| number.last().is_some_and(|byte| byte % 2 == 1);
    if !odd(key.modulus.as_bytes()) || !odd(exponent) || exponent == [1] {
        return Err(KeyError::Malformed);
    }
    Ok(format!("RSA {bits}"))
}

fn bit_length(number: &[u8]) -> usize {
    let significant = number.iter().skip_while(|byte| **byte == 0).count();
    let leading = number.iter().find(|byte| **byte != 0).map_or(0, |byte| byte.leading_zeros() as usize);
    significant * 8 - leading
}

fn elliptic_curve(parameters: Option<AnyRef<'_>>, key: BitStringRef<'_>) -> Result<String, KeyError> {
    let parameters = parameters.ok_or(KeyError::Malformed)?;
    if parameters.tag() != Tag::ObjectIdentifier {
        return Err(KeyError::UnsupportedAlgorithm);
    }
    let curve: ObjectIdentifier = parameters.decode_as().map_err(|_| KeyError::Malformed)?;
    let known = CURVES.iter().find(|(oid, ..)| *oid == curve);
    let (_, name, coordinate) = known.ok_or(KeyError::UnsupportedAlgorithm)?;
    match key.as_bytes() {
        Some([4, point @ ..]) if point.len() == 2 * coordinate => Ok(format!("ECDSA {name}")),
        _ => Err(KeyError::Malformed),
    }
}

/// `sha256:` and the 64 lower-case hexadecimal digits of the SHA-256 of a key's DER SubjectPublicKeyInfo.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Fingerprint(String);

/// The text is no fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a fingerprint is 'sha256:' and 64 lower-case hexadecimal digits")]
pub struct FingerprintError;

impl Fingerprint {
    const PREFIX: &str = "sha256:";

    fn of(der: &[u8]) -> Fingerprint {
        Fingerprint(format!("{}{}", Self::PREFIX, crate::hex(Sha256::digest(der))))
    }

    /// The 64 hexadecimal digits.
    pub fn hex(&self) -> &str {
        self.0.strip_prefix(Self::PREFIX).unwrap_or(&self.0)
    }

    /// The whole text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Fingerprint {
    type Err = FingerprintError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let hex = text.strip_prefix(Self::PREFIX).ok_or(FingerprintError)?;
        let digit = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
        let good = hex.len() == 64 && hex.bytes().all(digit);
        good.then(|| Fingerprint(text.to_owned())).ok_or(FingerprintError)
    }
}

impl TryFrom<String> for Fingerprint {
    type Error = FingerprintError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Fingerprint> for String {
    fn from(fingerprint: Fingerprint) -> String {
        fingerprint.0
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
#[path = "key_tests.rs"]
mod tests;
