//! What passes the guard, and what is said about what does not.

use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use kube::{Resource, ResourceExt, core::ObjectList};
use serde_json::{Value, json};

use super::*;
use crate::{SecretMeta, fixture::widget};

fn parse<K: Cached>(object: &Value) -> Guard<K> {
    serde_json::from_str(&object.to_string()).unwrap()
}

fn reason<K: Cached>(object: &Value) -> String {
    match parse::<K>(object) {
        Guard::Malformed(malformed) => malformed.reason,
        Guard::Sound(object) => panic!("{object:?} is sound"),
    }
}

fn applied() -> Value {
    json!({
        "metadata": {
            "name": "a", "namespace": "default", "uid": "u", "resourceVersion": "5",
            "managedFields": [{"manager": "kubectl", "fieldsV1": {"f:data": {"f:color": {}}}}],
            "annotations": {LAST_APPLIED: "{\"data\":{\"color\":\"old\"}}", "kept": "yes \"quoted\" \u{e9}"},
            "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "owner"}],
        },
        "data": {"color": "red", "managedFields": "a data key of that name stays"},
    })
}

#[test]
fn managed_fields_and_last_applied_are_cut_and_all_else_is_kept() {
    let Guard::Sound(object) = parse::<ConfigMap>(&applied()) else { panic!("not sound") };
    assert_eq!(object.metadata.managed_fields, None);
    assert_eq!(
        object.annotations().iter().collect::<Vec<_>>(),
        [(&"kept".to_owned(), &"yes \"quoted\" \u{e9}".to_owned())]
    );
    assert_eq!(crate::owner_uids(&object), ["owner"]);
    assert_eq!(object.data.unwrap().len(), 2);
}

#[test]
fn trimming_leaves_no_trace_in_the_text_that_is_parsed() {
    let text = applied().to_string();
    let trimmed = trimmed(&text);
    assert!(!trimmed.contains("f:color") && !trimmed.contains(LAST_APPLIED));
    assert!(trimmed.contains("a data key of that name stays"));
}

#[test]
fn an_unusual_spelling_of_the_same_fields_is_not_stored_either() {
    let text = r#"{"metadata": {"name": "a", "managed\u0046ields": [{"manager": "m"}],
        "annotations": {"kubectl.kubernetes.io\/last-applied-configuration": "{}", "kept": "yes"}}}"#;
    let Guard::Sound(object) = serde_json::from_str::<Guard<ConfigMap>>(text).unwrap() else {
        panic!("not sound")
    };
    assert_eq!(object.metadata.managed_fields, None);
    assert_eq!(object.annotations().len(), 1);
}

#[test]
fn text_with_nothing_to_trim_is_not_copied() {
    let text = serde_json::to_string(&widget("a", "u", "5", "red")).unwrap();
    assert!(matches!(trimmed(&text), Cow::Borrowed(_)));
}

#[test]
fn a_malformed_object_costs_only_itself() {
    let list = json!({
        "kind": "ConfigMapList", "apiVersion": "v1", "metadata": {"resourceVersion": "9"},
        "items": [widget("a", "u", "5", "red"),
                  {"metadata": {"name": "b", "namespace": "default", "uid": "v", "resourceVersion": "6"}, "data": 1}],
    });
    let list: ObjectList<Guard<ConfigMap>> = serde_json::from_str(&list.to_string()).unwrap();
    assert!(matches!(&list.items[0], Guard::Sound(object) if object.name_any() == "a"));
    assert!(matches!(&list.items[1], Guard::Malformed(_)));
    assert_eq!(list.items[1].key(), Key::new("default", "b"));
    assert_eq!(list.items[1].meta().resource_version.as_deref(), Some("6"));
    assert_eq!(list.items[1].meta().uid.as_deref(), Some("v"));
}

#[test]
fn a_reason_names_the_field_and_never_the_value() {
    let secret = json!({"metadata": {"name": "s"}, "data": {"root": {"hunter2": "hunter2"}}});
    let text = reason::<Secret>(&secret);
    assert!(text.starts_with("data.root: invalid type: map, expected"), "{text}");
    assert!(!text.contains("hunter2"));

    let text = reason::<Secret>(&json!({"metadata": {"name": "s"}, "type": ["hunter2, expected x"]}));
    assert!(text.starts_with("type: invalid type: sequence"), "{text}");
    let text = reason::<Secret>(&json!({"metadata": {"name": "s"}, "immutable": "hunter2, expected `b`"}));
    assert_eq!(text, "immutable: invalid type: string, expected a boolean");
    let text = reason::<Secret>(&json!({"metadata": {"name": "s", "creationTimestamp": "hunter2"}}));
    assert!(!text.contains("hunter2") && text.starts_with("metadata.creationTimestamp"), "{text}");
}

#[test]
fn enum_and_field_mistakes_hide_the_value_too() {
    #[derive(Clone, Debug, Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    enum Mode {
        On,
    }
    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Spec {
        #[serde(rename = "mode")]
        _mode: Mode,
    }
    let wrong = |text: &str| reason::without_content(&serde_json::from_str::<Spec>(text).unwrap_err());
    assert_eq!(wrong(r#"{"mode": "hunter2"}"#), "unknown variant, expected `on`");
    assert_eq!(wrong(r#"{"hunter2": 1}"#), "unknown field, expected `mode`");
    assert_eq!(wrong("{}"), "missing field `mode`");
    assert_eq!(wrong("{\"mode\": hunter2"), "not valid JSON");
    let _ = Mode::On;
}

#[test]
fn metadata_only_is_forwarded() {
    assert!(Guard::<SecretMeta>::metadata_api());
    assert!(!Guard::<Secret>::metadata_api());
    assert_eq!(SecretMeta::url_path(&(), Some("x")), Secret::url_path(&(), Some("x")));
    assert_eq!(Guard::<Pod>::url_path(&(), None), "/api/v1/pods");
}

#[test]
fn metadata_of_a_full_object_drops_its_content() {
    let secret = json!({"metadata": {"name": "s"}, "data": {"root": "aHVudGVyMg=="}});
    let Guard::Sound(meta) = parse::<SecretMeta>(&secret) else { panic!("not sound") };
    assert_eq!(meta.name_any(), "s");
    assert!(!format!("{meta:?}").contains("aHVudGVyMg"));
}

#[test]
fn debug_output_names_the_object_only() {
    let text = format!("{:?}", parse::<ConfigMap>(&applied()));
    assert_eq!(text, "ConfigMap default/a");
}
