//! Compares a child with what it shall be, and makes the patch that repairs it. Pure.
//!
//! What we ask for must be there and equal. What we do not ask for is left alone (defaults of the API server,
//! labels and annotations of others, an administrator's tolerations), except in the places listed in [`EXACT`]:
//! there anything we did not ask for gives somebody a way into the pod or its configuration, or keeps the pod from
//! what we write, and is removed.

use serde_json::{Map, Value};
use trusted_crds::names::APPLIED_HASH_ANNOTATION;

use super::{ChildKind, Desired, Folded};

/// Places in which nothing foreign is tolerated. `[]` stands for every element of a list.
const EXACT: &[&str] = &[
    "metadata.ownerReferences",
    "data",
    "binaryData",
    "spec.selector",
    // A paused Deployment takes in a withdrawn key and never rolls it out.
    "spec.paused",
    "spec.template.spec.volumes",
    "spec.template.spec.initContainers",
    "spec.template.spec.ephemeralContainers",
    "spec.template.spec.securityContext",
    "spec.template.spec.hostNetwork",
    "spec.template.spec.hostPID",
    "spec.template.spec.hostIPC",
    "spec.template.spec.shareProcessNamespace",
    "spec.template.spec.hostAliases",
    "spec.template.spec.containers[].command",
    "spec.template.spec.containers[].args",
    "spec.template.spec.containers[].workingDir",
    "spec.template.spec.containers[].env",
    "spec.template.spec.containers[].envFrom",
    "spec.template.spec.containers[].ports",
    "spec.template.spec.containers[].volumeMounts",
    "spec.template.spec.containers[].volumeDevices",
    "spec.template.spec.containers[].securityContext",
    "spec.template.spec.containers[].lifecycle",
    "spec.template.spec.containers[].livenessProbe",
    "spec.template.spec.containers[].startupProbe",
];

/// Values the API server fills in within [`EXACT`] places; they say what leaving the field out says.
const SERVER_DEFAULTS: &[(&str, Filled)] = &[
    ("apiVersion", Filled::Text("v1")),
    ("defaultMode", Filled::Number(0o644)),
    ("procMount", Filled::Text("Default")),
    ("protocol", Filled::Text("TCP")),
];

#[derive(Clone, Copy)]
enum Filled {
    Text(&'static str),
    Number(i64),
}

impl Filled {
    fn is(self, value: &Value) -> bool {
        match self {
            Filled::Text(text) => value.as_str() == Some(text),
            Filled::Number(number) => value.as_i64() == Some(number),
        }
    }
}

/// Fields that cannot be changed once set: the object has to be made anew.
const IMMUTABLE: &[(&str, &str)] = &[("Deployment", "spec.selector"), ("ConfigMap", "immutable")];

/// In which respects a child differs from what it shall be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drift {
    /// Paths that differ although we wrote them as they shall be: somebody else changed them.
    pub paths: Vec<String>,
    /// Whether what we want is not what we last wrote.
    pub wanted_changed: bool,
    needs_replacement: bool,
}

impl Drift {
    /// Whether there is no difference.
    pub fn is_none(&self) -> bool {
        self.paths.is_empty() && !self.wanted_changed
    }

    /// Whether only making the object anew can repair it.
    pub fn needs_replacement(&self) -> bool {
        self.needs_replacement
    }
}

/// The merge patch that makes `actual` right, and the differences it removes.
pub fn compare<K: ChildKind>(
    desired: &Desired<K>,
    actual: &Folded<K>,
) -> Result<(Value, Drift), serde_json::Error> {
    let actual_document = actual.document()?;
    let mut paths = Vec::new();
    let mut path = String::new();
    let body = Comparison { path: &mut path, drift: &mut paths }.of(&desired.document, &actual_document);
    let written = actual.meta().annotations.as_ref().and_then(|all| all.get(APPLIED_HASH_ANNOTATION));
    let wanted_changed = written != Some(&desired.hash);
    let frozen = actual_document.get("immutable") == Some(&Value::Bool(true));
    if frozen && (wanted_changed || !paths.is_empty()) {
        paths.push("immutable".into());
    }
    let kind = K::kind(&());
    let immutable =
        |path: &String| IMMUTABLE.iter().any(|(of, field)| *of == kind && is_at_or_below(path, field));
    let needs_replacement = paths.iter().any(immutable);
    paths.retain(|path| *path != format!("metadata.annotations.{APPLIED_HASH_ANNOTATION}"));
    Ok((body, Drift { paths, wanted_changed, needs_replacement }))
}

/// Walks both documents at once; `path` is where it is.
struct Comparison<'a> {
    path: &'a mut String,
    drift: &'a mut Vec<String>,
}

impl Comparison<'_> {
    /// What the patch holds at this place: lists whole, and null for what has to go.
    fn of(&mut self, desired: &Value, actual: &Value) -> Value {
        match (desired, actual) {
            (Value::Object(wanted), Value::Object(found)) => Value::Object(self.object(wanted, found)),
            (Value::Array(wanted), Value::Array(found)) => {
                self.list(wanted, found);
                desired.clone()
            }
            _ => {
                if desired != actual && !(holds_nothing(desired) && holds_nothing(actual)) {
                    self.drift.push(self.path.clone());
                }
                desired.clone()
            }
        }
    }

    fn object(&mut self, wanted: &Map<String, Value>, found: &Map<String, Value>) -> Map<String, Value> {
        let mut patch = Map::new();
        for (key, value) in wanted {
            let there = found.get(key).unwrap_or(&Value::Null);
            let part = self.at(key, |inner| inner.of(value, there));
            patch.insert(key.clone(), part);
        }
        for (key, value) in found.iter().filter(|(key, _)| !wanted.contains_key(*key)) {
            let foreign = self.at(key, |inner| inner.is_foreign(key, value));
            if foreign {
                patch.insert(key.clone(), Value::Null);
            }
        }
        patch
    }

    fn list(&mut self, wanted: &[Value], found: &[Value]) {
        if wanted.len() != found.len() {
            self.drift.push(self.path.clone());
            return;
        }
        let length = self.path.len();
        self.path.push_str("[]");
        for (value, there) in wanted.iter().zip(found) {
            self.of(value, there);
        }
        self.path.truncate(length);
    }

    fn is_foreign(&mut self, key: &str, value: &Value) -> bool {
        let default = |(field, filled): &(&str, Filled)| *field == key && filled.is(value);
        let foreign = !says_nothing(value)
            && EXACT.iter().any(|place| is_at_or_below(self.path, place))
            && !SERVER_DEFAULTS.iter().any(default);
        if foreign {
            self.drift.push(self.path.clone());
        }
        foreign
    }

    fn at<T>(&mut self, key: &str, look: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        if length > 0 {
            self.path.push('.');
        }
        self.path.push_str(key);
        let result = look(self);
        self.path.truncate(length);
        result
    }
}

fn is_at_or_below(path: &str, place: &str) -> bool {
    path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// Whether a value is a collection without content, which the API server may leave out.
fn holds_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Whether a value we did not ask for says no more than its absence.
fn says_nothing(value: &Value) -> bool {
    holds_nothing(value) || *value == Value::Bool(false) || *value == Value::String(String::new())
}
