//! Tests of key parsing: what is accepted, what is refused, and that nothing of the input leaks.

use der::Encode;
use der::asn1::Null;
use proptest::prelude::*;
use rcgen::KeyPair;
use spki::{AlgorithmIdentifier, SubjectPublicKeyInfo};

use super::*;

fn key(algorithm: &'static rcgen::SignatureAlgorithm) -> KeyPair {
    KeyPair::generate_for(algorithm).unwrap()
}

fn p256() -> KeyPair {
    key(&rcgen::PKCS_ECDSA_P256_SHA256)
}

fn pem(label: &str, der: &[u8]) -> String {
    encode_string(label, LineEnding::LF, der).unwrap()
}

fn spki(algorithm: ObjectIdentifier, parameters: Option<AnyRef<'_>>, key: &[u8]) -> Vec<u8> {
    let subject_public_key = BitStringRef::from_bytes(key).unwrap();
    let algorithm = AlgorithmIdentifier { oid: algorithm, parameters };
    SubjectPublicKeyInfo { algorithm, subject_public_key }.to_der().unwrap()
}

fn rsa_spki(modulus: &[u8], exponent: &[u8], parameters: Option<AnyRef<'_>>) -> Vec<u8> {
    let (modulus, public_exponent) = (UintRef::new(modulus).unwrap(), UintRef::new(exponent).unwrap());
    spki(RSA, parameters, &RsaPublicKey { modulus, public_exponent }.to_der().unwrap())
}

fn modulus(bits: usize) -> Vec<u8> {
    let mut bytes = vec![0xa5; bits.div_ceil(8)];
    bytes[0] = 0xff >> ((8 - bits % 8) % 8);
    bytes
}

fn rsa_pem(bits: usize) -> String {
    pem(LABEL, &rsa_spki(&modulus(bits), &[1, 0, 1], Some(AnyRef::from(Null))))
}

fn ec_spki(curve: ObjectIdentifier, point: &[u8]) -> Vec<u8> {
    spki(EC, Some(AnyRef::from(&curve)), point)
}

fn point(form: u8, coordinates: usize) -> Vec<u8> {
    let mut point = vec![form];
    point.resize(1 + coordinates, 7);
    point
}

#[test]
fn good_keys() {
    let p384 = key(&rcgen::PKCS_ECDSA_P384_SHA384);
    let p521 = pem(LABEL, &ec_spki(CURVES[2].0, &point(4, 132)));
    let table = [
        (p256().public_key_pem(), "ECDSA P-256"),
        (p384.public_key_pem(), "ECDSA P-384"),
        (p521, "ECDSA P-521"),
        (rsa_pem(2048), "RSA 2048"),
        (rsa_pem(3072), "RSA 3072"),
        (rsa_pem(4095), "RSA 4095"),
        (rsa_pem(16384), "RSA 16384"),
    ];
    for (text, algorithm) in table {
        let key = PublicKey::from_pem(&text).unwrap();
        assert_eq!(key.algorithm(), algorithm);
        assert_eq!(format!("{key:?}"), format!("PublicKey({algorithm}, {})", key.fingerprint()));
        assert_eq!(PublicKey::from_pem(&key.to_pem()).unwrap(), key);
    }
}

/// Made with OpenSSL; the fingerprint is `openssl pkey -pubin -outform DER | sha256sum`.
const KNOWN: &str = "-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEqGwvfpZbUV9ouNXmd7iFvH0akzMo
G9vuMJPM9su0FGVYEOV5xp3b7d3pc6MPgkL5CmPW0Qx3sNoPIG85qBKxIw==
-----END PUBLIC KEY-----
";
const KNOWN_FINGERPRINT: &str = "sha256:38a6156cab642b244b4f82e26e8e978eeee06b6e8f10220bbe02d16e3faddfa9";

#[test]
fn fingerprint_is_what_openssl_computes() {
    let key = PublicKey::from_pem(KNOWN).unwrap();
    assert_eq!(key.fingerprint().to_string(), KNOWN_FINGERPRINT);
    assert_eq!(key.fingerprint().hex(), &KNOWN_FINGERPRINT[7..]);
    assert_eq!(key.to_pem(), KNOWN);
}

#[test]
fn white_space_does_not_make_another_key() {
    let der = PublicKey::from_pem(KNOWN).map(|_| decode_pem(KNOWN).unwrap()).unwrap();
    let one_line = format!("{BEGIN}{LABEL}{DASHES}\n{}\n{END}{LABEL}{DASHES}", STANDARD.encode(&der));
    let variants = [
        KNOWN.replace('\n', "\r\n"),
        KNOWN.replace('\n', "\r"),
        KNOWN.trim_end().to_owned(),
        format!("\n\n  {}\n\t\n", KNOWN.replace('\n', "  \n   ")),
        KNOWN.replace('\n', "\n\n"),
        one_line,
    ];
    for variant in variants {
        let key = PublicKey::from_pem(&variant).unwrap();
        assert_eq!(key.fingerprint().to_string(), KNOWN_FINGERPRINT, "{variant:?}");
        assert_eq!(key.to_pem(), KNOWN);
    }
}

#[test]
fn what_is_not_one_public_key_block() {
    let good = p256().public_key_pem();
    let private = p256().serialize_pem();
    let body = good.lines().nth(1).unwrap();
    let relabel = |label: &str| good.replace("PUBLIC KEY", label);
    let table = [
        (String::new(), KeyError::Empty),
        (" \r\n\t ".into(), KeyError::Empty),
        ("not a key".into(), KeyError::NotPem),
        (body.to_owned(), KeyError::NotPem),
        (good.replace(END, "-----STOP "), KeyError::NotPem),
        (good.lines().next().unwrap().into(), KeyError::NotPem),
        (good.lines().take(2).collect::<Vec<_>>().join("\n"), KeyError::NotPem),
        (format!("Public-Key: (256 bit)\n{good}"), KeyError::NotPem),
        (format!("{good}trailing"), KeyError::NotPem),
        (private.clone(), KeyError::PrivateKey),
        (format!("{good}{private}"), KeyError::PrivateKey),
        (format!("{private}{good}"), KeyError::PrivateKey),
        (relabel("RSA PRIVATE KEY"), KeyError::PrivateKey),
        (relabel("ENCRYPTED PRIVATE KEY"), KeyError::PrivateKey),
        (relabel("OPENSSH PRIVATE KEY"), KeyError::PrivateKey),
        (format!("{good}{good}"), KeyError::SeveralBlocks),
        (format!("{good}{}", relabel("CERTIFICATE")), KeyError::SeveralBlocks),
        (relabel("CERTIFICATE"), KeyError::WrongLabel),
        (relabel("RSA PUBLIC KEY"), KeyError::WrongLabel),
        (relabel("public key"), KeyError::WrongLabel),
        (relabel(" PUBLIC KEY"), KeyError::WrongLabel),
        (good.replacen(body, &format!("Proc-Type: 4\n{body}"), 1), KeyError::Malformed),
        (good.replacen(body, &format!("*{}", &body[1..]), 1), KeyError::Malformed),
        (format!("{BEGIN}{LABEL}{DASHES}\n{END}{LABEL}{DASHES}\n"), KeyError::Malformed),
        ("x".repeat(MAX_PUBLIC_KEY_BYTES + 1), KeyError::TooLarge),
    ];
    for (text, error) in table {
        assert_eq!(PublicKey::from_pem(&text), Err(error), "{text}");
    }
}

#[test]
fn what_is_no_acceptable_key() {
    let null = || Some(AnyRef::from(Null));
    let p256_oid = CURVES[0].0;
    let secp256k1 = ObjectIdentifier::new_unwrap("1.3.132.0.10");
    let good = ec_spki(p256_oid, &point(4, 64));
    let mut trailing = good.clone();
    trailing.push(0);
    let ed25519 = ObjectIdentifier::new_unwrap("1.3.101.112");
    let table = [
        ("RSA 1024", rsa_spki(&modulus(1024), &[1, 0, 1], null()), KeyError::WeakRsa { bits: 1024 }),
        ("RSA 2047", rsa_spki(&modulus(2047), &[1, 0, 1], null()), KeyError::WeakRsa { bits: 2047 }),
        ("RSA 16385", rsa_spki(&modulus(16385), &[1, 0, 1], null()), KeyError::TooLarge),
        ("RSA exponent 1", rsa_spki(&modulus(2048), &[1], null()), KeyError::Malformed),
        ("RSA exponent 2", rsa_spki(&modulus(2048), &[2], null()), KeyError::Malformed),
        (
            "RSA even modulus",
            rsa_spki(&[&modulus(2040)[..], &[2]].concat(), &[3], null()),
            KeyError::Malformed,
        ),
        ("RSA without parameters", rsa_spki(&modulus(2048), &[1, 0, 1], None), KeyError::Malformed),
        ("RSA that is no RSA", spki(RSA, null(), &[1, 2, 3]), KeyError::Malformed),
        (
            "RSA-PSS",
            spki(ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.10"), None, &[0]),
            KeyError::UnsupportedAlgorithm,
        ),
        ("Ed25519", spki(ed25519, None, &[7; 32]), KeyError::UnsupportedAlgorithm),
        ("secp256k1", ec_spki(secp256k1, &point(4, 64)), KeyError::UnsupportedAlgorithm),
        ("no curve", spki(EC, None, &point(4, 64)), KeyError::Malformed),
        ("explicit curve", spki(EC, null(), &point(4, 64)), KeyError::UnsupportedAlgorithm),
        ("compressed point", ec_spki(p256_oid, &point(2, 32)), KeyError::Malformed),
        ("hybrid point", ec_spki(p256_oid, &point(6, 64)), KeyError::Malformed),
        ("short point", ec_spki(p256_oid, &point(4, 63)), KeyError::Malformed),
        ("point of another curve", ec_spki(p256_oid, &point(4, 96)), KeyError::Malformed),
        ("empty point", ec_spki(p256_oid, &[]), KeyError::Malformed),
        ("trailing bytes", trailing, KeyError::Malformed),
        ("cut", good[..good.len() - 1].to_vec(), KeyError::Malformed),
        ("no sequence", vec![2, 1, 5], KeyError::Malformed),
    ];
    for (case, der, error) in table {
        assert_eq!(PublicKey::from_pem(&pem(LABEL, &der)), Err(error), "{case}");
    }
}

#[test]
fn errors_hold_nothing_of_the_input() {
    let private = p256().serialize_pem();
    let error = PublicKey::from_pem(&private).unwrap_err();
    let shown = format!("{error} {error:?}");
    for line in private.lines().filter(|line| !line.starts_with(DASHES)) {
        assert!(!shown.contains(line));
    }
    assert!(shown.contains("private key"), "{shown}");
}

#[test]
fn debug_of_an_object_shows_no_key() {
    let public_key = p256().public_key_pem();
    let spec =
        crate::AttestationKeySpec { public_key: public_key.clone(), uuid: Some("m1".into()), approval: None };
    let shown = format!("{:?}", crate::AttestationKey::new("k", spec));
    assert!(shown.contains("m1") && shown.contains(&format!("<{} bytes>", public_key.len())), "{shown}");
    assert!(!shown.contains(public_key.lines().nth(1).unwrap()));
}

#[test]
fn fingerprints_have_one_form() {
    let good = format!("sha256:{}", "0123456789abcdef".repeat(4));
    let parsed: Fingerprint = good.parse().unwrap();
    assert_eq!((parsed.to_string(), parsed.as_str(), parsed.hex()), (good.clone(), &*good, &good[7..]));
    assert_eq!(serde_json::to_value(&parsed).unwrap(), serde_json::json!(good));
    assert_eq!(serde_json::from_value::<Fingerprint>(serde_json::json!(good)).unwrap(), parsed);
    let upper = good.to_uppercase();
    for bad in [
        "",
        "sha256:",
        &good[7..],
        &good[..70],
        &format!("{good}0"),
        &upper,
        &format!(" {good}"),
        &good.replace('f', "g"),
    ] {
        assert_eq!(bad.parse::<Fingerprint>(), Err(FingerprintError), "{bad:?}");
        assert!(serde_json::from_value::<Fingerprint>(serde_json::json!(bad)).is_err());
    }
}

proptest! {
    #[test]
    fn any_text_is_answered(text in "\\PC*") {
        let _ = PublicKey::from_pem(&text);
    }

    #[test]
    fn any_bytes_are_answered(bytes in proptest::collection::vec(any::<u8>(), 0..9000)) {
        let _ = PublicKey::from_pem(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_lines_in_a_block_are_answered(lines in "[-A-Z =+/a-z0-9\r\n]{0,300}") {
        let _ = PublicKey::from_pem(&format!("{BEGIN}{LABEL}{DASHES}\n{lines}\n{END}{LABEL}{DASHES}\n"));
    }

    #[test]
    fn any_bytes_in_a_block_are_answered(der in proptest::collection::vec(any::<u8>(), 0..600)) {
        prop_assert!(PublicKey::from_pem(&pem(LABEL, &der)).is_err());
    }

    /// Damage to a good key is refused, or gives a key that is re-encoded to the very bytes it came from.
    #[test]
    fn damage_never_makes_two_names_for_one_encoding(at in 0usize..91, value: u8) {
        let mut der = ec_spki(CURVES[0].0, &point(4, 64));
        der[at] = value;
        if let Ok(key) = PublicKey::from_pem(&pem(LABEL, &der)) {
            prop_assert_eq!(decode_pem(&key.to_pem()).unwrap(), der);
        }
    }
}
