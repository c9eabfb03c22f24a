use k8s_openapi::ByteString;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::*;
use crate::secret::SecretMeta;

const BODY: &str = "AAECAwQFBgcICQ==";

fn pem(label: &str) -> String {
    format!("-----BEGIN {label}-----\n{BODY}\n-----END {label}-----\n")
}

fn secret(parts: &[(&str, &str)]) -> Secret {
    let data = parts.iter().map(|(key, text)| ((*key).to_owned(), ByteString(text.as_bytes().to_vec())));
    let mut secret = Secret { data: Some(data.collect()), ..Default::default() };
    secret.metadata.uid = Some("u".into());
    secret.metadata.resource_version = Some("10".into());
    secret
}

fn complete() -> Secret {
    let (certificate, key) = (pem("CERTIFICATE"), pem("PRIVATE KEY"));
    secret(&[(CERTIFICATE, &certificate), (PRIVATE_KEY, &key), (CA, &certificate)])
}

fn used(with_ca: bool) -> TlsUse {
    TlsUse { field: "trusteeSecret", secret: "cert".into(), with_ca }
}

#[test]
fn a_secret_serves_when_it_is_complete_and_pem() {
    let (certificate, key) = (pem("CERTIFICATE"), pem("EC PRIVATE KEY"));
    let without_ca = secret(&[(CERTIFICATE, &certificate), (PRIVATE_KEY, &key)]);
    assert!(Inspection::of(&complete()).verdict(&used(true)).is_ok());
    assert!(Inspection::of(&without_ca).verdict(&used(false)).is_ok());
    assert_eq!(Inspection::of(&without_ca).verdict(&used(true)), Err(TlsProblem::Lacks(vec![CA])));
    let nothing = Inspection::of(&Secret::default());
    assert_eq!(nothing.verdict(&used(false)), Err(TlsProblem::Lacks(vec![CERTIFICATE, PRIVATE_KEY])));
}

#[test]
fn what_is_no_pem_of_its_kind_is_refused() {
    let (certificate, key) = (pem("CERTIFICATE"), pem("PRIVATE KEY"));
    let cases = [
        "hello".to_owned(),
        key.clone(),
        "-----BEGIN CERTIFICATE-----\n".to_owned(),
        "-----BEGIN CERTIFICATE-----\n%%%%\n-----END CERTIFICATE-----\n".to_owned(),
        "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n".to_owned(),
    ];
    for bad in cases {
        let secret = secret(&[(CERTIFICATE, &bad), (PRIVATE_KEY, &key)]);
        let verdict = Inspection::of(&secret).verdict(&used(false));
        assert_eq!(verdict, Err(TlsProblem::NotPem(vec![CERTIFICATE])), "{bad:?}");
    }
    let locked = secret(&[(CERTIFICATE, &certificate), (PRIVATE_KEY, &pem("ENCRYPTED PRIVATE KEY"))]);
    assert_eq!(Inspection::of(&locked).verdict(&used(false)), Err(TlsProblem::NotPem(vec![PRIVATE_KEY])));
    let swapped = secret(&[(CERTIFICATE, &certificate), (PRIVATE_KEY, &certificate)]);
    assert_eq!(Inspection::of(&swapped).verdict(&used(false)), Err(TlsProblem::NotPem(vec![PRIVATE_KEY])));
}

#[test]
fn real_certificates_and_chains_serve() {
    let made = rcgen::generate_simple_self_signed(vec!["kbs".to_owned()]).unwrap();
    let chain = format!("some text\r\n{0}{0}", made.cert.pem().replace('\n', "\r\n"));
    let secret = secret(&[(CERTIFICATE, &chain), (PRIVATE_KEY, &made.signing_key.serialize_pem())]);
    assert!(Inspection::of(&secret).verdict(&used(false)).is_ok());
}

#[test]
fn a_key_of_another_certificate_is_refused() {
    let made = || rcgen::generate_simple_self_signed(vec!["kbs".to_owned()]).unwrap();
    let (one, other) = (made(), made());
    let mixed = secret(&[(CERTIFICATE, &one.cert.pem()), (PRIVATE_KEY, &other.signing_key.serialize_pem())]);
    let problem = Inspection::of(&mixed).verdict(&used(false)).unwrap_err();
    assert_eq!(problem, TlsProblem::Mismatch);
    assert!(problem.to_string().contains("tls.key that is not of its tls.crt"), "{problem}");
}

#[test]
fn the_hash_follows_the_content_and_says_nothing_of_it() {
    let hash = |secret: &Secret| Inspection::of(secret).verdict(&used(false)).unwrap().hash;
    let (certificate, key, other) = (pem("CERTIFICATE"), pem("PRIVATE KEY"), pem("RSA PRIVATE KEY"));
    let one = secret(&[(CERTIFICATE, &certificate), (PRIVATE_KEY, &key)]);
    let two = secret(&[(CERTIFICATE, &certificate), (PRIVATE_KEY, &other)]);
    assert_eq!(hash(&one), hash(&one));
    assert_ne!(hash(&one), hash(&two), "a new key alone restarts the server");
    assert!(!format!("{:?}", Inspection::of(&one)).contains(BODY));
}

#[test]
fn each_version_is_read_once() {
    let mut known = Inspections::default();
    let version = |uid: &str, version: &str| {
        SecretRecord::from(SecretMeta::new(ObjectMeta {
            name: Some("cert".into()),
            uid: Some(uid.into()),
            resource_version: Some(version.into()),
            ..Default::default()
        }))
    };
    assert!(known.of(&version("u", "10")).is_none());
    known.remember("cert", &complete());
    assert!(known.of(&version("u", "10")).is_some());
    assert!(known.of(&version("u", "9")).is_some(), "the read may be ahead of the store");
    assert!(known.of(&version("u", "11")).is_none(), "a new version is read");
    assert!(known.of(&version("other", "10")).is_none(), "a successor is read");
}

#[test]
fn a_server_is_never_started_without_the_tls_it_was_asked_for() {
    let obstacle = TlsProblem::Missing.of(&used(true));
    let waiting = TlsState::Waiting { secret: "cert".into(), obstacle: obstacle.clone() };
    assert_eq!(waiting.mount(None), Err(obstacle.clone()));
    let kept = waiting.mount(Some("before")).unwrap().unwrap();
    assert_eq!(
        kept,
        TlsMount { secret: "cert".into(), hash: "before".into() },
        "one that runs keeps what it has"
    );
    assert_eq!(TlsState::Plain.mount(None), Ok(None));
    let text = obstacle.to_string();
    assert!(text.contains("Secret cert named by trusteeSecret does not exist"), "{text}");
    assert!(text.contains("tls.crt, tls.key, ca.crt"), "{text}");
}
