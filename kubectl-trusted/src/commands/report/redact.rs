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
        for piece in without_keys.split_inclusive(is_break) {
            let word = piece.trim_end_matches(is_break);
            match self.word(word) {
                Some(mark) => {
                    safe.push_str(mark);
                    safe.push_str(&piece[word.len()..]);
                }
                None => safe.push_str(piece),
            }
        }
        if safe == text { Cow::Borrowed(text) } else { Cow::Owned(safe) }
    }

    fn word(self, word: &str) -> Option<&'static str> {
        if is_token(word) {
            return Some("<token>");
        }
        // What follows a colon or an equals sign may be the secret by itself.
        let values = || word.split([':', '=']).chain([word]);
        if values().any(is_key) {
            return Some("<redacted>");
        }
        (self.addresses && is_address(word)).then_some("<address>")
    }
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

/// A long run of base64 that is no digest, no name and no number. Digests are told in hexadecimal, and stay.
fn is_key(word: &str) -> bool {
    let is_base64 = |c: char| c.is_ascii_alphanumeric() || "+/".contains(c);
    let has = |is: fn(&char) -> bool| word.chars().any(|c| is(&c));
    word.len() > LONGEST_PLAIN
        && word.chars().all(is_base64)
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
    fn what_helps_stays() {
        let digest = format!("quay.io/x/y@sha256:{}", "0a".repeat(32));
        let lines = [
            "2026-12-01T04:00:00Z INFO machine 5f0c1a9e-6d0e-4f0f-8c4b-0a6f6d2b9a11 bound",
            digest.as_str(),
            "trusted-execution-clusters.io/v1alpha1, Kind=AttestationKey",
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
