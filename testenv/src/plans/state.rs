//! What a namespace holds, without what differs from run to run.
//!
//! Purpose: two runs of the same work have reached the same end when their states are equal, whatever happened on the
//! way. Uids, versions, times, addresses and the name of the namespace are left out or replaced; of a Secret only the
//! lengths of its entries are kept, never a byte.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use trusted_crds::names;

/// What only says when or where something was made.
const VOLATILE: [&str; 7] = [
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "generation",
    "managedFields",
    "namespace",
    "deletionGracePeriodSeconds",
];

/// Given by the API server anew each time.
const ADDRESSES: [&str; 4] = ["clusterIP", "clusterIPs", "nodePort", "healthCheckNodePort"];

/// Kept by the deployment controller.
const REVISION: &str = "deployment.kubernetes.io/revision";

/// Hashes of what has uids in it. What they are hashes of is compared itself.
const HASHES: [&str; 2] = [names::APPLIED_HASH_ANNOTATION, names::DELIVERY_HASH_ANNOTATION];

/// Stands for the namespace, whose name is another one in each run.
const NAMESPACE: &str = "NAMESPACE";

/// How much of a value a difference shows.
const SHOWN: usize = 160;

/// All objects, by kind and name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State(BTreeMap<String, Value>);

impl State {
    /// From objects as the API server has them, each with its kind.
    pub fn new(namespace: &str, objects: Vec<(&'static str, Value)>) -> State {
        let uids: BTreeMap<String, String> = objects
            .iter()
            .map(|(kind, object)| (text(&object["metadata"]["uid"]), identity(kind, object)))
            .collect();
        let normal = Normal { namespace, uids: &uids };
        State(objects.into_iter().map(|(kind, object)| normal.object(kind, object)).collect())
    }

    /// The first difference in words, with this state as the expected one.
    pub fn difference(&self, found: &State) -> Option<String> {
        for (identity, expected) in &self.0 {
            match found.0.get(identity) {
                None => return Some(format!("{identity} is missing")),
                Some(found) if found != expected => {
                    return Some(format!("{identity} {}", first_difference("", expected, found)));
                }
                Some(_) => {}
            }
        }
        found
            .0
            .keys()
            .find(|identity| !self.0.contains_key(*identity))
            .map(|more| format!("{more} should not be there"))
    }

    /// Only what tells who is trusted: Machines, keys and Secrets.
    pub fn of_trust(&self) -> State {
        let tells = |identity: &str| {
            ["Machine ", "AttestationKey ", "Secret "].iter().any(|kind| identity.starts_with(kind))
        };
        let objects = self.0.iter().filter(|(identity, _)| tells(identity));
        State(objects.map(|(identity, object)| (identity.clone(), object.clone())).collect())
    }
}

struct Normal<'a> {
    namespace: &'a str,
    uids: &'a BTreeMap<String, String>,
}

impl Normal<'_> {
    fn object(&self, kind: &str, mut object: Value) -> (String, Value) {
        let identity = identity(kind, &object);
        relate_generations(&mut object);
        let mut kept = Map::new();
        if let Some(fields) = object.as_object_mut() {
            for (name, value) in fields.iter_mut() {
                let value = match (name.as_str(), kind) {
                    ("metadata", _) => self.metadata(value.take()),
                    ("data", "Secret") => lengths(value),
                    ("status", "Deployment" | "Service") => continue,
                    _ => value.take(),
                };
                kept.insert(name.clone(), value);
            }
        }
        let mut kept = Value::Object(kept);
        self.clean(&mut kept);
        (identity, kept)
    }

    fn metadata(&self, mut metadata: Value) -> Value {
        if let Some(fields) = metadata.as_object_mut() {
            fields.retain(|name, _| !VOLATILE.contains(&name.as_str()));
            if let Some(when) = fields.get_mut("deletionTimestamp") {
                *when = json!("set");
            }
            let owners = fields.get_mut("ownerReferences").and_then(Value::as_array_mut);
            for owner in owners.into_iter().flatten() {
                let live = self.uids.get(&text(&owner["uid"])).cloned();
                owner["uid"] = json!(live.unwrap_or_else(|| "of an object that is gone".to_owned()));
            }
            if let Some(annotations) = fields.get_mut("annotations").and_then(Value::as_object_mut) {
                annotations.remove(REVISION);
            }
            fields.retain(|_, value| !value.as_object().is_some_and(Map::is_empty));
        }
        metadata
    }

    /// Addresses and times go; namespace and uids get names that are the same in each run.
    fn clean(&self, value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.retain(|name, _| !ADDRESSES.contains(&name.as_str()) && name != "lastTransitionTime");
                for hash in HASHES {
                    if let Some(hash) = fields.get_mut(hash) {
                        *hash = json!("set");
                    }
                }
                fields.values_mut().for_each(|value| self.clean(value));
            }
            Value::Array(values) => values.iter_mut().for_each(|value| self.clean(value)),
            Value::String(text) => {
                if text.contains(self.namespace) {
                    *text = text.replace(self.namespace, NAMESPACE);
                }
                for (uid, identity) in self.uids {
                    if !uid.is_empty() && text.contains(uid.as_str()) {
                        *text = text.replace(uid.as_str(), &format!("(uid of {identity})"));
                    }
                }
            }
            _ => {}
        }
    }
}

/// How many generations a condition is behind, not which one it is of: an edit that was taken back leaves no trace.
fn relate_generations(object: &mut Value) {
    let generation = object["metadata"]["generation"].as_i64();
    let conditions = object.pointer_mut("/status/conditions").and_then(Value::as_array_mut);
    for condition in conditions.into_iter().flatten() {
        if let Some((now, observed)) = generation.zip(condition["observedGeneration"].as_i64()) {
            condition["observedGeneration"] = json!(format!("{} behind", now - observed));
        }
    }
}

fn identity(kind: &str, object: &Value) -> String {
    format!("{kind} {}", text(&object["metadata"]["name"]))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// How long each entry is, as base64.
fn lengths(data: &Value) -> Value {
    let entries = data.as_object().into_iter().flatten();
    entries.map(|(name, value)| (name.clone(), json!(value.as_str().map(str::len)))).collect()
}

fn first_difference(path: &str, expected: &Value, found: &Value) -> String {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => {
            let names = expected.keys().chain(found.keys().filter(|name| !expected.contains_key(*name)));
            for name in names {
                let (left, right) = (expected.get(name), found.get(name));
                if left != right {
                    let null = Value::Null;
                    let path = format!("{path}/{name}");
                    return first_difference(&path, left.unwrap_or(&null), right.unwrap_or(&null));
                }
            }
        }
        (Value::Array(expected), Value::Array(found)) if expected.len() == found.len() => {
            let pairs = expected.iter().zip(found).enumerate();
            if let Some((index, (left, right))) = pairs.into_iter().find(|(_, (left, right))| left != right) {
                return first_difference(&format!("{path}/{index}"), left, right);
            }
        }
        _ => {}
    }
    format!("{path}: expected {}, found {}", short(expected), short(found))
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(uid: &str, status: &str) -> (&'static str, Value) {
        let condition = json!({"type": "Ready", "status": status, "lastTransitionTime": uid});
        let metadata =
            json!({"name": "m", "uid": uid, "resourceVersion": uid, "annotations": {REVISION: uid}});
        ("Machine", json!({"metadata": metadata, "status": {"conditions": [condition]}}))
    }

    fn secret(owner: &str, data: &str) -> (&'static str, Value) {
        let owners = json!([{"kind": "Machine", "uid": owner}]);
        let metadata = json!({"name": "s", "uid": "u-s", "ownerReferences": owners});
        ("Secret", json!({"metadata": metadata, "data": {"root": data}}))
    }

    #[test]
    fn what_differs_from_run_to_run_makes_no_difference() {
        let one = State::new("ns-1", vec![machine("u-1", "True"), secret("u-1", "b25lIQ==")]);
        let other = State::new("ns-2", vec![machine("u-2", "True"), secret("u-2", "dHdvIQ==")]);
        assert_eq!(one.difference(&other), None);
        assert_eq!(one, other);
        assert!(!format!("{one:?}").contains("b25lIQ"), "no byte of a Secret is kept");
        let named =
            |ns: &str| vec![("Service", json!({"metadata": {"name": "s"}, "host": format!("s.{ns}.svc")}))];
        assert_eq!(State::new("ns-1", named("ns-1")), State::new("ns-2", named("ns-2")));
    }

    #[test]
    fn the_first_difference_is_told_with_its_place() {
        let clean = State::new("ns-1", vec![machine("u-1", "True"), secret("u-1", "b25lIQ==")]);
        let told = |objects| clean.difference(&State::new("ns-1", objects)).unwrap();
        assert_eq!(
            told(vec![machine("u-1", "False"), secret("u-1", "b25lIQ==")]),
            "Machine m /status/conditions/0/status: expected \"True\", found \"False\""
        );
        assert_eq!(told(vec![machine("u-1", "True")]), "Secret s is missing");
        assert!(
            told(vec![machine("u-1", "True"), secret("u-0", "b25lIQ==")]).contains("an object that is gone")
        );
        assert!(
            told(vec![machine("u-1", "True"), secret("u-1", "")]).contains("/data/root: expected 8, found 0")
        );
        let more = vec![
            machine("u-1", "True"),
            secret("u-1", "b25lIQ=="),
            ("Service", json!({"metadata": {"name": "x"}})),
        ];
        assert_eq!(told(more), "Service x should not be there");
    }
}
