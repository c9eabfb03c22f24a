//! Documents for programs: JSON and YAML with `apiVersion` and `kind`.
//!
//! Owns the envelope. A document is the same data whatever the format or the verbosity.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::Value;

use super::format::Export;
use super::neutral;
use super::text::Text;
use crate::error::{Class, Error, Result};

/// The version of all documents the plug-in prints.
pub(crate) const API_VERSION: &str = "trusted-execution-clusters.io/cli/v1";

/// What a command hands out: data that can be written for programs and drawn for people.
pub(crate) trait Document: Serialize {
    /// The `kind` of the document.
    const KIND: &'static str;

    /// The screen for people.
    fn text(&self) -> Text;

    /// The same with nothing left out, for documents that leave something out.
    fn wide(&self) -> Text {
        self.text()
    }

    /// The objects it consists of, as `kubectl get -o name` prints them; none for a document that is something else.
    fn names(&self) -> Option<Vec<String>> {
        None
    }

    /// The whole text in a form for other programs; none for a document that has no such form.
    fn export(&self, _: Export) -> Option<String> {
        None
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Envelope<'a, D> {
    api_version: &'static str,
    kind: &'static str,
    #[serde(flatten)]
    body: &'a D,
}

pub(crate) fn json<D: Document>(document: &D) -> Result<String> {
    json_of(D::KIND, document)
}

pub(crate) fn yaml<D: Document>(document: &D) -> Result<String> {
    yaml_of(D::KIND, document)
}

/// The whole document, envelope included.
pub(crate) fn value<D: Document>(document: &D) -> Result<Value> {
    let envelope = Envelope { api_version: API_VERSION, kind: D::KIND, body: document };
    serde_json::to_value(&envelope).map_err(|error| {
        Error::new(Class::Output, "The document cannot be written as JSON").why(error.to_string())
    })
}

/// The schema of a document, envelope included, as JSON Schema 2020-12.
pub(crate) fn schema<D: Document + JsonSchema>() -> String {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut schema = settings.into_generator().into_root_schema_for::<D>();
    let object = schema.ensure_object();
    for (field, value) in [("kind", D::KIND), ("apiVersion", API_VERSION)] {
        if let Some(Value::Object(fields)) = object.get_mut("properties") {
            fields.insert(field.to_owned(), serde_json::json!({"const": value}));
        }
        if let Some(Value::Array(required)) = object.get_mut("required") {
            required.insert(0, field.into());
        }
    }
    format!("{:#}\n", schema.to_value())
}

/// An object of ours as other commands take it.
pub(crate) fn name_of<K: kube::Resource<DynamicType = ()>>(name: &str) -> String {
    format!("{}.{}/{name}", K::kind(&()).to_lowercase(), K::group(&()))
}

pub(crate) fn json_of<B: Serialize>(kind: &'static str, body: &B) -> Result<String> {
    let envelope = Envelope { api_version: API_VERSION, kind, body };
    let text = serde_json::to_string_pretty(&envelope).map_err(|error| {
        Error::new(Class::Output, "The document cannot be written as JSON").why(error.to_string())
    })?;
    Ok(neutral::for_json(&text).into_owned() + "\n")
}

pub(crate) fn yaml_of<B: Serialize>(kind: &'static str, body: &B) -> Result<String> {
    let envelope = Envelope { api_version: API_VERSION, kind, body };
    // One line per value, so that line-wise tools find them whole.
    let mut options = serde_saphyr::SerializerOptions::default();
    options.prefer_block_scalars = false;
    let text = serde_saphyr::to_string_with_options(&envelope, options).map_err(|error| {
        Error::new(Class::Output, "The document cannot be written as YAML").why(error.to_string())
    })?;
    // The serialiser escapes control characters, but not marks that reorder text. JSON, in which they can be
    // escaped everywhere, is YAML too.
    if neutral::is_harmless(&text) { Ok(text) } else { json_of(kind, body) }
}

/// The document printed instead when a command fails.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Failure {
    error: FailureBody,
    exit_code: u8,
}

/// An error as data.
#[derive(Debug, Serialize)]
pub(crate) struct FailureBody {
    reason: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

impl FailureBody {
    pub(crate) fn of(error: &Error) -> FailureBody {
        FailureBody {
            reason: error.class.word(),
            message: error.what.clone(),
            cause: error.why.clone(),
            next: error.next.clone(),
        }
    }
}

impl Failure {
    pub(crate) const KIND: &'static str = "Error";

    pub(crate) fn of(error: &Error) -> Failure {
        Failure { error: FailureBody::of(error), exit_code: error.exit().number() }
    }
}
