//! What must not leave the cluster, taken out of objects and logs; pure.
//!
//! Owns the rules. They err on the side of taking out too much, and look at the text itself, whatever field it is in.

use std::borrow::Cow;
use std::net::IpAddr;

use serde_json::Value;
use trusted_crds::PublicKey;

/// What is taken out besides keys, tokens and secrets.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Redaction {
    pub(crate) addresses: bool,
}

/// Fields that repeat the whole object, or tell nothing.
const SUPERFLUOUS: [&str; 2] = ["managedFields", "kubectl.kubernetes.io/last-applied-configuration"];

/// Fields of a cluster by which it is known outside.
const ADDRESS_FIELDS: [&str; 3] =
    ["publicTrusteeAddr", "publicRegisterServerAddr", "publicAttestationKeyRegisterAddr"];

/// Parts of a name of an environment variable whose value is a secret, in capitals.
const SECRET_NAMES: [&str; 5] = ["SECRET", "TOKEN", "PASSW", "CREDENTIAL", "KEY"];

/// As long as the shortest encoding of a key of 256 bits.
const LONGEST_PLAIN: usize = 40;

/// What follows `bearer` and is shorter is a word of prose.
const SHORTEST_TOKEN: usize = 16;

impl Redaction {
    /// An object as it may leave.
    pub(crate) fn object(self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(safe) = self.text(text) {
                    *text = safe;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.object(item)),
            Value::Object(fields) => {
                fields.retain(|name, _| !SUPERFLUOUS.contains(&name.as_str()));
                env(fields);
                for (name, value) in fields {
                    match value {
                        Value::String(pem) if name == "publicKey" => *pem = fingerprint(pem),
                        Value::String(secret) if is_secret_name(name) => "<redacted>".clone_into(secret),
                        Value::String(address)
                            if self.addresses && ADDRESS_FIELDS.contains(&name.as_str()) =>
                        {
                            "<address>".clone_into(address);
                        }
                        value => self.object(value),
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Text as it may leave.
    pub(crate) fn text(self, text: &str) -> Cow<'_, str> {
        let without_keys = pem(text);
        let is_break = |c: char| !(c.is_ascii_alphanumeric() || "+/=-_.:".contains(c));
        let mut safe = String::with_capacity(without_keys.len());
        let mut before = Before::default();
        for piece in without_keys.split_inclusive(is_break) {
            let word = piece.trim_end_matches(is_break);
            let end = &piece[word.len()..];
            safe.push_str(&self.word(word, before));
            safe.push_str(end);
            before = before.then(word, end);
        }
        if safe == text { Cow::Borrowed(text) } else { Cow::Owned(safe) }
    }

    fn word(self, word: &str, before: Before) -> Cow<'_, str> {
        // What follows a colon or an equals sign may be the secret by itself.
        let values = || word.split([':', '=']).chain([word]);
        if is_token(word) {
            return "<token>".into();
        }
        if before.announces(word) || values().any(is_key) {
            return "<redacted>".into();
        }
        match word.split_once(['=', ':']) {
            Some((name, value)) if is_secret_name(name) && value.contains(char::is_alphanumeric) => {
                format!("{}<redacted>", &word[..=name.len()]).into()
            }
            _ if self.addresses && is_address(word) => "<address>".into(),
            _ => Cow::Borrowed(word),
        }
    }
}

/// Whether the words before say that a secret comes now: `password = "`, `"token":"`, `Bearer `.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Before {
    #[default]
    Nothing,
    /// The name of a secret, which prose has, too.
    Name,
    /// A name and what sets it.
    Set,
    Bearer,
}

impl Before {
    fn announces(self, word: &str) -> bool {
        let is_value = word.contains(char::is_alphanumeric);
        match self {
            Before::Nothing | Before::Name => false,
            Before::Set => is_value,
            Before::Bearer => word.len() >= SHORTEST_TOKEN,
        }
    }

    fn then(self, word: &str, end: &str) -> Before {
        let name = word.trim_end_matches([':', '=']);
        match (name.is_empty(), name.len() < word.len()) {
            // Another line, or another field, is about something else.
            _ if end == "\n" || end == "," => Before::Nothing,
            (true, false) => self,
            (true, true) if self != Before::Nothing => Before::Set,
            (false, is_set) if is_secret_name(name) => {
                if is_set {
                    Before::Set
                } else {
                    Before::Name
                }
            }
            (false, false) if name.eq_ignore_ascii_case("bearer") => Before::Bearer,
            _ => Before::Nothing,
        }
    }
}

/// Whether a flag, field or variable of this name holds a secret. Names of Secrets and keys are none.
fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["token", "password", "passwd", "passphrase"].iter().any(|end| name.ends_with(end))
}

/// A secret that stands in an environment variable; one that is taken from a Secret is only a name.
fn env(fields: &mut serde_json::Map<String, Value>) {
    let name = fields.get("name").and_then(Value::as_str).unwrap_or_default().to_ascii_uppercase();
    let is_secret =
        SECRET_NAMES.iter().any(|part| name.contains(part)) && !name.starts_with("RELATED_IMAGE_");
    if let Some(Value::String(value)) = fields.get_mut("value").filter(|_| is_secret) {
        "<redacted>".clone_into(value);
    }
}

/// Enough to compare keys by.
fn fingerprint(pem: &str) -> String {
    match PublicKey::from_pem(pem) {
        Ok(key) => format!("<key {}>", key.fingerprint()),
        Err(_) => "<no public key>".to_owned(),
    }
}

/// Every PEM block, also one that is cut off or whose line breaks are escaped.
fn pem(text: &str) -> Cow<'_, str> {
    const BEGIN: &str = "-----BEGIN ";
    const END: &str = "-----END ";
    if !text.contains(BEGIN) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::new();
    let mut rest = text;
    while let Some(begin) = rest.find(BEGIN) {
        safe.push_str(&rest[..begin]);
        safe.push_str("<PEM>");
        let block = &rest[begin + BEGIN.len()..];
        let after = block.find(END).map(|end| &block[end + END.len()..]);
        rest = after.and_then(|after| after.find("-----").map(|end| &after[end + 5..])).unwrap_or("");
    }
    safe.push_str(rest);
    Cow::Owned(safe)
}

/// A JSON web token: three parts, the first of which begins like an encoded `{"`.
fn is_token(word: &str) -> bool {
    word.split(['=', ':']).any(|part| part.starts_with("eyJ") && part.matches('.').count() >= 2)
}

/// A long run of base64, of one of its alphabets (RFC 4648, sections 4 and 5; a path mixes them), that is no digest, no
/// name and no number. Digests are told in hexadecimal, and stay.
fn is_key(word: &str) -> bool {
    let is_of = |alphabet: &str| word.chars().all(|c| c.is_ascii_alphanumeric() || alphabet.contains(c));
    let has = |is: fn(&char) -> bool| word.chars().any(|c| is(&c));
    word.len() > LONGEST_PLAIN
        && (is_of("+/") || is_of("-_"))
        && !word.chars().all(|c| c.is_ascii_hexdigit())
        && has(char::is_ascii_uppercase)
        && has(char::is_ascii_lowercase)
        && has(char::is_ascii_digit)
}

fn is_address(word: &str) -> bool {
    let word = word.trim_matches(['.', ':', '=']);
    let is_ip = |text: &str| text.parse::<IpAddr>().is_ok() && text.contains(['.', ':']);
    let host = word.rsplit_once(':').map_or(word, |(host, _)| host);
    let range = word.split('/').next().unwrap_or_default();
    let last = word.rsplit(['=', '/']).next().unwrap_or_default();
    [word, host, range, last].into_iter().any(is_ip)
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
    use serde_json::json;

    use super::*;

    const KEY: &str = "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEaxfR8uEsQkf4vOblY6RA8ncDfYEt6zOg";

    fn text(text: &str) -> String {
        Redaction { addresses: true }.text(text).into_owned()
    }

    #[test]
    fn keys_and_tokens_never_leave() {
        let pem = format!("before -----BEGIN PUBLIC KEY-----\n{KEY}\n-----END PUBLIC KEY----- after");
        assert_eq!(text(&pem), "before <PEM> after");
        assert_eq!(text(&format!("cut -----BEGIN EC PRIVATE KEY-----\\n{KEY}")), "cut <PEM>");
        assert_eq!(text(&format!("key={KEY} next")), "<redacted> next");
        assert_eq!(text(&format!("\"{KEY}==\",")), "\"<redacted>\",");
        assert_eq!(text("Authorization: Bearer eyJhbGciOi.eyJzdWIi.c2ln"), "Authorization: Bearer <token>");
    }

    #[test]
    fn a_disk_key_never_leaves_in_any_alphabet_of_base64() {
        for first in 0..=255 {
            let bytes: Vec<u8> =
                (0..32u8).map(|place| place.wrapping_mul(37).wrapping_add(first) ^ (place << 3)).collect();
            for encoded in [STANDARD.encode(&bytes), URL_SAFE_NO_PAD.encode(&bytes)] {
                for line in [encoded.clone(), format!("k={encoded}"), format!("{{\"k\":\"{encoded}\"}}")] {
                    assert!(!text(&line).contains(&encoded[..43]), "{line}");
                }
            }
        }
    }

    #[test]
    fn what_is_named_a_secret_never_leaves() {
        let cases = [
            ("Authorization: Bearer abcdefghijklmnopqrstuvwxyz", "Authorization: Bearer <redacted>"),
            ("--token=hunter2 --verbose", "--token=<redacted> --verbose"),
            ("password = \"hunter2\"", "password = \"<redacted>\""),
            ("{\"token\":\"hunter2\",\"n\":1}", "{\"token\":\"<redacted>\",\"n\":1}"),
            ("{\\\"password\\\": \\\"hunter2\\\"}", "{\\\"password\\\": \\\"<redacted>\\\"}"),
            ("admin_token: hunter2", "admin_token: <redacted>"),
        ];
        for (line, safe) in cases {
            assert_eq!(text(line), safe);
        }
        let mut object = json!({"data": {"adminPassword": "hunter2", "path": "token"}});
        Redaction::default().object(&mut object);
        assert_eq!(object, json!({"data": {"adminPassword": "<redacted>", "path": "token"}}));
    }

    #[test]
    fn what_helps_stays() {
        let digest = format!("quay.io/x/y@sha256:{}", "0a".repeat(32));
        let lines = [
            "2026-12-01T04:00:00Z INFO machine 5f0c1a9e-6d0e-4f0f-8c4b-0a6f6d2b9a11 bound",
            digest.as_str(),
            "trusted-execution-clusters.io/v1alpha1, Kind=AttestationKey",
            "secret=luks-node-1 key=ak-1 the token has expired, bearer of the key",
            "pod attestation-key-register-7f9c8d6b54-x2x7k container containerd://0a0b0c",
            "Get \"https://node:10250/containerLogs/ns-966431f1/trusted-operator-7f69465447-fznbh/operator?tail=1\": no",
            "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384 chosen, volume projected/trusted-ak-keys",
        ];
        for line in lines {
            assert_eq!(text(line), line);
        }
    }

    #[test]
    fn addresses_go_on_request() {
        assert_eq!(
            text("from 10.0.0.7:8080 to fd00::1, 10.0.0.0/8"),
            "from <address> to <address>, <address>"
        );
        assert_eq!(Redaction::default().text("from 10.0.0.7"), "from 10.0.0.7");
        assert_eq!(text("at 12:30:05 version 1.37.2"), "at 12:30:05 version 1.37.2");
    }

    #[test]
    fn objects_lose_what_is_secret_and_what_repeats() {
        let pem = format!("-----BEGIN PUBLIC KEY-----\n{KEY}\n-----END PUBLIC KEY-----");
        let mut object = json!({
            "metadata": {"managedFields": [1], "annotations": {
                "kubectl.kubernetes.io/last-applied-configuration": pem, "note": pem,
            }},
            "spec": {"publicKey": "c2VjcmV0", "publicTrusteeAddr": "kbs.example.org:8080", "env": [
                {"name": "API_TOKEN", "value": "hunter2"}, {"name": "RELATED_IMAGE_KEY", "value": "quay.io/x"},
            ]},
        });
        Redaction { addresses: true }.object(&mut object);
        assert_eq!(
            object,
            json!({
                "metadata": {"annotations": {"note": "<PEM>"}},
                "spec": {"publicKey": "<no public key>", "publicTrusteeAddr": "<address>", "env": [
                    {"name": "API_TOKEN", "value": "<redacted>"}, {"name": "RELATED_IMAGE_KEY", "value": "quay.io/x"},
                ]},
            })
        );
    }
}
