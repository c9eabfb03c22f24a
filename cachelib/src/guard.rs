//! Parsing of single objects.
//!
//! Owns what may enter a store: every object of a list or watch event is parsed on its own from its raw JSON, so a
//! malformed one costs only itself, and `managedFields` and the last-applied configuration are cut out before the
//! object is built. Must never put content of an object into an error text: a reason names fields and types only.

use std::{borrow::Cow, collections::BTreeMap, fmt};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{Resource, core::DynamicResourceScope};
use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use serde_json::value::RawValue;

use crate::{Cached, Key};

mod reason;

const MANAGED_FIELDS: &str = "managedFields";
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// An object of kind `K`, or what is known of one that is no valid `K`.
#[derive(Clone)]
pub(crate) enum Guard<K> {
    /// The object, trimmed.
    Sound(K),
    /// Enough to name the object and to say what is wrong with it.
    Malformed(Box<Malformed>),
}

/// Identity of an object that could not be parsed, and why.
#[derive(Clone, Debug)]
pub(crate) struct Malformed {
    pub(crate) meta: ObjectMeta,
    pub(crate) reason: String,
}

impl<K: Cached> Guard<K> {
    pub(crate) fn key(&self) -> Key {
        Key::of(self)
    }

    fn parse(text: &str) -> Self {
        let trimmed = trimmed(text);
        match parse_at_path::<K>(&trimmed) {
            Ok(mut object) => {
                // The cut above works on text; this makes the promise hold for any spelling of the same JSON.
                let meta = object.meta_mut();
                meta.managed_fields = None;
                if let Some(annotations) = &mut meta.annotations {
                    annotations.remove(LAST_APPLIED);
                }
                // While it is parsed, a list with one owner gets room for four.
                if let Some(owners) = &mut meta.owner_references {
                    owners.shrink_to_fit();
                }
                Self::Sound(object)
            }
            Err(reason) => Self::Malformed(Box::new(Malformed { meta: identity(&trimmed), reason })),
        }
    }
}

impl<'de, K: Cached> Deserialize<'de> for Guard<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Ok(Self::parse(raw.get()))
    }
}

impl<K: Cached> fmt::Debug for Guard<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", K::kind(&()), self.key())
    }
}

impl<K: Cached> Resource for Guard<K> {
    type DynamicType = ();
    type Scope = DynamicResourceScope;

    fn metadata_api() -> bool {
        K::metadata_api()
    }

    fn kind((): &()) -> Cow<'_, str> {
        K::kind(&())
    }

    fn group((): &()) -> Cow<'_, str> {
        K::group(&())
    }

    fn version((): &()) -> Cow<'_, str> {
        K::version(&())
    }

    fn plural((): &()) -> Cow<'_, str> {
        K::plural(&())
    }

    fn meta(&self) -> &ObjectMeta {
        match self {
            Self::Sound(object) => object.meta(),
            Self::Malformed(malformed) => &malformed.meta,
        }
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        match self {
            Self::Sound(object) => object.meta_mut(),
            Self::Malformed(malformed) => &mut malformed.meta,
        }
    }
}

/// Parses an object; an error says where and what kind of mistake, without the value found there.
fn parse_at_path<K: DeserializeOwned>(text: &str) -> Result<K, String> {
    let mut json = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        let reason = reason::without_content(error.inner());
        if path == "." { reason } else { format!("{path}: {reason}") }
    })
}

/// Reads who the object is, leniently: whatever of it cannot be read is left out.
fn identity(text: &str) -> ObjectMeta {
    let read = |fields: &Fields<'_>, name: &str| {
        fields.get(name).and_then(|raw| serde_json::from_str::<String>(raw.get()).ok())
    };
    let metadata = serde_json::from_str::<Fields<'_>>(text)
        .ok()
        .and_then(|fields| fields.get("metadata").copied())
        .and_then(|raw| serde_json::from_str::<Fields<'_>>(raw.get()).ok())
        .unwrap_or_default();
    ObjectMeta {
        name: read(&metadata, "name"),
        namespace: read(&metadata, "namespace"),
        uid: read(&metadata, "uid"),
        resource_version: read(&metadata, "resourceVersion"),
        ..ObjectMeta::default()
    }
}

type Fields<'a> = BTreeMap<String, &'a RawValue>;

/// Cuts managed fields and the last-applied configuration out of an object's JSON before it is parsed.
///
/// Managed fields alone are more than half of a typical object once parsed, and building them only to drop them is
/// most of the cost of parsing. Text that has neither is used as it is.
fn trimmed(text: &str) -> Cow<'_, str> {
    if !text.contains(MANAGED_FIELDS) && !text.contains(LAST_APPLIED) {
        return Cow::Borrowed(text);
    }
    rebuilt(text, "metadata", |metadata| {
        let without_fields = without(metadata, MANAGED_FIELDS);
        let text = without_fields.as_deref().unwrap_or(metadata);
        rebuilt(text, "annotations", |annotations| without(annotations, LAST_APPLIED)).or(without_fields)
    })
    .map_or(Cow::Borrowed(text), Cow::Owned)
}

/// The object with one field replaced, or `None` when there is nothing to replace.
fn rebuilt(text: &str, field: &str, replace: impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut fields: Fields<'_> = serde_json::from_str(text).ok()?;
    let replacement = RawValue::from_string(replace(fields.get(field)?.get())?).ok()?;
    fields.insert(field.to_owned(), &replacement);
    serde_json::to_string(&fields).ok()
}

/// The object without one field, or `None` when it has no such field.
fn without(text: &str, field: &str) -> Option<String> {
    let mut fields: Fields<'_> = serde_json::from_str(text).ok()?;
    fields.remove(field)?;
    serde_json::to_string(&fields).ok()
}

#[cfg(test)]
mod tests;
