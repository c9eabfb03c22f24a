//! AttestationKeys from files, as `kubectl get -o yaml` or `-o json` prints them.
//!
//! Owns what is read of a file: names, and the keys, so that what is decided about is the key in the file. Nothing of
//! the text is ever repeated, since it may be a key that should not be there.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;
use trusted_crds::PublicKey;

use super::select::Chosen;
use crate::error::{Error, Result};

/// More than any list of keys has, and little enough to be read whole.
const LONGEST: u64 = 64 * 1024 * 1024;

pub(crate) async fn read(files: &[PathBuf], namespace: &str) -> Result<Vec<Chosen>> {
    let mut chosen = Vec::new();
    for file in files {
        let (path, place) = (file.clone(), namespace.to_owned());
        // Off the thread that hears Ctrl-C: stdin may be a terminal.
        let reading = tokio::task::spawn_blocking(move || {
            let text = text(&path)?;
            parse(&text, &place).map_err(|why| unusable(&path, &why))
        });
        chosen.extend(reading.await.map_err(|error| unusable(file, &error.to_string()))??);
    }
    Ok(chosen)
}

fn text(file: &Path) -> Result<String> {
    let mut text = String::new();
    let read = if file == Path::new("-") {
        std::io::stdin().lock().take(LONGEST).read_to_string(&mut text)
    } else {
        std::fs::File::open(file).and_then(|open| open.take(LONGEST).read_to_string(&mut text))
    };
    read.map(|_| text).map_err(|error| unusable(file, &error.to_string()))
}

fn unusable(file: &Path, why: &str) -> Error {
    let name = if file == Path::new("-") { "stdin".to_owned() } else { file.display().to_string() };
    Error::input(format!("{name} names no AttestationKeys to decide about"))
        .why(why)
        .next("write such a file with: kubectl get attestationkeys -o yaml")
}

/// All AttestationKeys of the documents, lists unfolded.
fn parse(text: &str, namespace: &str) -> std::result::Result<Vec<Chosen>, String> {
    // The parser's own message quotes the text.
    let documents: Vec<Value> =
        serde_saphyr::from_multiple(text).map_err(|_| "it is neither YAML nor JSON".to_owned())?;
    let mut chosen = Vec::new();
    for document in documents.iter().filter(|document| !document.is_null()) {
        let items = document.get("items").and_then(Value::as_array);
        for object in items.map_or(std::slice::from_ref(document), Vec::as_slice) {
            chosen.push(key(object, namespace)?);
        }
    }
    if chosen.is_empty() { Err("it is empty".to_owned()) } else { Ok(chosen) }
}

fn key(object: &Value, namespace: &str) -> std::result::Result<Chosen, String> {
    let field = |path: &str| object.pointer(path).and_then(Value::as_str);
    let kind = field("/kind").unwrap_or_default();
    let version = field("/apiVersion").unwrap_or_default();
    if kind != "AttestationKey" || version.split('/').next() != Some(trusted_crds::GROUP) {
        return Err(format!("it holds something else than AttestationKeys of {}", trusted_crds::GROUP));
    }
    let Some(name) = field("/metadata/name").filter(|name| !name.is_empty()) else {
        return Err("it holds an AttestationKey without metadata.name".to_owned());
    };
    if let Some(other) = field("/metadata/namespace").filter(|other| *other != namespace) {
        return Err(format!(
            "AttestationKey {name} in it is of namespace \"{other}\", and this is about \"{namespace}\": name it with -n"
        ));
    }
    let expected = match field("/spec/publicKey") {
        None => None,
        Some(pem) => {
            let key = PublicKey::from_pem(pem);
            Some(
                key.map_err(|error| format!("AttestationKey {name} in it: spec.publicKey: {error}"))?
                    .fingerprint()
                    .clone(),
            )
        }
    };
    Ok(Chosen { name: name.to_owned(), expected })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "apiVersion: trusted-execution-clusters.io/v1alpha1\nkind: AttestationKey\n";
    const KEY: &str = "-----BEGIN PUBLIC KEY-----
    MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEaxfR8uEsQkf4vOblY6RA8ncDfYEt
    6zOg9KE5RdiYwpZP40Li/hp/m47n60p8D54WK84zV2sxXs7LtkBoN79R9Q==
    -----END PUBLIC KEY-----
";

    #[test]
    fn documents_and_lists_are_read_alike() {
        let two = format!("{HEAD}metadata: {{name: a}}\n---\n{HEAD}metadata: {{name: b, namespace: ns}}\n");
        let names = |text: &str| -> Vec<String> {
            parse(text, "ns").unwrap().into_iter().map(|chosen| chosen.name).collect()
        };
        assert_eq!(names(&two), ["a", "b"]);
        let list = serde_json::json!({"kind": "List", "apiVersion": "v1", "items": [
            {"apiVersion": trusted_crds::API_VERSION, "kind": "AttestationKey", "metadata": {"name": "c"}},
        ]});
        assert_eq!(names(&list.to_string()), ["c"]);
    }

    #[test]
    fn the_key_in_the_file_is_the_one_that_is_meant() {
        let text = format!("{HEAD}metadata: {{name: a}}\nspec:\n  publicKey: |\n    {KEY}");
        let chosen = parse(&text, "ns").unwrap();
        assert!(chosen[0].expected.as_ref().unwrap().as_str().starts_with("sha256:"));
    }

    #[test]
    fn what_is_wrong_is_told_without_its_text() {
        let broken = "c2VjcmV0: [";
        let private = format!("{HEAD}metadata: {{name: a}}\nspec: {{publicKey: c2VjcmV0}}\n");
        let elsewhere = format!("{HEAD}metadata: {{name: a, namespace: other}}\n");
        let cases = [
            ("", "empty"),
            (broken, "neither YAML nor JSON"),
            (private.as_str(), "spec.publicKey"),
            (elsewhere.as_str(), "-n"),
            ("apiVersion: v1\nkind: Secret\nmetadata: {name: c2VjcmV0}\n", "something else"),
            (HEAD, "without metadata.name"),
        ];
        for (text, says) in cases {
            let why = parse(text, "ns").unwrap_err();
            assert!(why.contains(says) && !why.contains("c2VjcmV0"), "{text}: {why}");
        }
    }
}
