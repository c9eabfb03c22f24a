//! The fields of a kind, read off the schema in its CustomResourceDefinition, and values that do not belong there.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray,
};
use serde_json::{Value, json};

use crate::shuffle::Shuffler;

/// Larger than any field may be, and far below what a request may be.
const HUGE: usize = 100_000;

/// A field that is no object with fields of its own.
#[derive(Clone, Debug)]
pub(super) struct Field {
    /// Its names from the root of the object, `spec` or `status` first.
    pub(super) path: Vec<String>,
    schema: JSONSchemaProps,
}

impl Field {
    /// All below one field of the root, in the order of their names.
    pub(super) fn below(root: &str, crd: &CustomResourceDefinition) -> Vec<Field> {
        let mut fields = Vec::new();
        let schemas = crd.spec.versions.iter().filter_map(|version| version.schema.as_ref());
        let open = schemas.filter_map(|schema| schema.open_api_v3_schema.as_ref()).next();
        let start = open.and_then(|schema| schema.properties.as_ref()?.get(root));
        if let Some(schema) = start {
            collect(vec![root.to_owned()], schema, &mut fields);
        }
        fields
    }

    /// Something to put there: nothing, too much, the wrong type, another's value, or what only looks right.
    pub(super) fn value(&self, others: &[String], chance: &mut Shuffler) -> (&'static str, Value) {
        let mut values = vec![("nothing", Value::Null), ("an object", json!({"a": {"b": []}}))];
        match self.schema.type_.as_deref() {
            Some("string") => values.extend(strings(others, chance)),
            Some("integer") => values.extend([
                ("a negative number", json!(-1)),
                ("the largest number", json!(i64::MAX)),
                ("a word", json!("seven")),
                ("another number", json!(1 + chance.draw() % 65_535)),
            ]),
            Some("boolean") => {
                values.extend([("true", json!(true)), ("false", json!(false)), ("a word", json!("yes"))]);
            }
            _ => values.extend([("an empty list", json!([])), ("a word", json!("x"))]),
        }
        let allowed = self.schema.enum_.iter().flatten();
        values.extend(allowed.map(|value| ("an allowed value", value.0.clone())));
        values.swap_remove(chance.draw() as usize % values.len())
    }
}

fn strings(others: &[String], chance: &mut Shuffler) -> Vec<(&'static str, Value)> {
    let other = others.get(chance.draw() as usize % others.len().max(1));
    let mut values = vec![
        ("an empty string", json!("")),
        ("a huge string", json!("x".repeat(HUGE))),
        ("letters of other scripts", json!("\u{5bc6}\u{94a5}-\u{202e}\u{e9}\u{1f511}")),
        ("control characters", json!("a\u{0}\u{1b}[31m\r\nb")),
        ("spaces", json!("  ")),
        ("a number", json!(7)),
        ("some word", json!(format!("word-{:x}", chance.draw()))),
        ("half a PEM block", json!("-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYI")),
    ];
    values.extend(other.map(|other| ("another object's value", json!(other))));
    values
}

fn collect(path: Vec<String>, schema: &JSONSchemaProps, fields: &mut Vec<Field>) {
    let below = |name: &str| path.iter().cloned().chain([name.to_owned()]).collect();
    let properties = schema.properties.iter().flatten();
    let mut is_leaf = true;
    for (name, property) in properties {
        is_leaf = false;
        collect(below(name), property, fields);
    }
    let has_items = matches!(schema.items, Some(JSONSchemaPropsOrArray::Schema(_)));
    if is_leaf || has_items {
        fields.push(Field { path, schema: schema.clone() });
    }
}

/// A merge patch that sets one field.
pub(super) fn patch(path: &[String], value: Value) -> Value {
    path.iter().rev().fold(value, |inner, name| json!({name: inner}))
}

/// What an object has there; null where it has nothing.
pub(super) fn at(object: &Value, path: &[String]) -> Value {
    path.iter().fold(object, |inner, name| &inner[name]).clone()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use kube::CustomResourceExt;
    use trusted_crds::{AttestationKey, Machine};

    use super::*;

    #[test]
    fn every_field_of_the_schema_is_found() {
        let paths = |root, crd: CustomResourceDefinition| -> BTreeSet<String> {
            Field::below(root, &crd).iter().map(|field| field.path.join(".")).collect()
        };
        let approval =
            ["by", "decision", "fingerprint", "reason"].map(|name| format!("spec.approval.{name}"));
        let wanted = ["spec.publicKey", "spec.uuid"].map(str::to_owned);
        assert_eq!(paths("spec", AttestationKey::crd()), wanted.into_iter().chain(approval).collect());
        let status = paths("status", Machine::crd());
        assert!(status.contains("status.attestationKey.fingerprint") && status.contains("status.conditions"));
    }

    #[test]
    fn a_field_is_set_and_read_where_it_is() {
        let path = ["spec", "approval", "by"].map(str::to_owned);
        assert_eq!(patch(&path, json!("x")), json!({"spec": {"approval": {"by": "x"}}}));
        assert_eq!(at(&patch(&path, json!("x")), &path), json!("x"));
        assert_eq!(at(&json!({"spec": {}}), &path), Value::Null);
    }

    #[test]
    fn a_seed_gives_the_same_values_again() {
        let fields = Field::below("spec", &Machine::crd());
        let values = |seed| {
            let mut chance = Shuffler::new(seed);
            (0..40).map(|_| fields[0].value(&["one".to_owned()], &mut chance).0).collect::<Vec<_>>()
        };
        assert_eq!(values(3), values(3));
        assert!(values(3).contains(&"another object's value") && values(3).contains(&"nothing"));
    }
}
