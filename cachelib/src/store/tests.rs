//! The store as a state machine: steps in, differences out, indexes always in agreement.

use k8s_openapi::api::core::v1::ConfigMap;
use proptest::prelude::*;

use super::*;
use crate::fixture::{self, colors, name};

fn store() -> Store<ConfigMap> {
    Store::new(vec![IndexSpec::new("color", colors)])
}

fn sound(name: &str, uid: &str, version: &str, color: &str) -> Arrival<ConfigMap> {
    Arrival::of(fixture::sound(name, uid, version, color), |object| object)
}

fn malformed(name: &str, uid: &str, version: &str) -> Arrival<ConfigMap> {
    Arrival::of(fixture::malformed(name, uid, version), |object| object)
}

/// The store is told that this object was deleted.
fn delete(store: &Store<ConfigMap>, gone: &Arrival<ConfigMap>) -> Vec<Change<ConfigMap>> {
    store.delete(&gone.key, &gone.identity.held())
}

/// Changes as `old>new` by version, for short comparisons.
fn told(changes: &[Change<ConfigMap>]) -> Vec<String> {
    let version = |object: &Option<Arc<ConfigMap>>| {
        object.as_ref().and_then(|object| object.metadata.resource_version.clone()).unwrap_or("-".into())
    };
    changes.iter().map(|change| format!("{}>{}", version(&change.old), version(&change.new))).collect()
}

fn names_of(store: &Store<ConfigMap>, color: &str) -> Vec<String> {
    store.by_index(0, color).iter().map(|object| name(object)).collect()
}

fn version_of(store: &Store<ConfigMap>, name: &str) -> Option<String> {
    store.get(&Key::new("default", name))?.metadata.resource_version.clone()
}

#[test]
fn a_change_moves_the_object_between_index_values() {
    let store = store();
    assert_eq!(told(&store.apply(sound("a", "1", "1", "red"))), ["->1"]);
    store.apply(sound("b", "2", "2", "red"));
    assert_eq!(names_of(&store, "red"), ["a", "b"]);
    assert_eq!(told(&store.apply(sound("a", "1", "3", "blue"))), ["1>3"]);
    assert_eq!(names_of(&store, "red"), ["b"]);
    assert_eq!(names_of(&store, "blue"), ["a"]);
    assert_eq!(told(&delete(&store, &sound("a", "1", "4", "blue"))), ["3>-"]);
    assert!(names_of(&store, "blue").is_empty());
    assert_eq!(store.len(), 1);
}

#[test]
fn an_unknown_index_is_told_apart_from_an_empty_one() {
    assert_eq!((store().position("color"), store().position("size")), (Some(0), None));
    assert!(store().by_index(0, "red").is_empty());
}

#[test]
fn the_same_version_again_is_no_change() {
    let store = store();
    store.apply(sound("a", "1", "5", "red"));
    assert!(store.apply(sound("a", "1", "5", "red")).is_empty());
}

#[test]
fn another_uid_is_a_deletion_and_an_addition() {
    let store = store();
    store.apply(sound("a", "1", "1", "red"));
    assert_eq!(told(&store.apply(sound("a", "2", "4", "red"))), ["1>-", "->4"]);
    // What is left of the first object's history changes nothing any more.
    assert!(delete(&store, &sound("a", "1", "2", "red")).is_empty());
    assert!(store.apply(sound("a", "1", "2", "blue")).is_empty());
    assert_eq!(version_of(&store, "a").as_deref(), Some("4"));
    // A later deletion under another uid means that ours has gone unseen.
    assert_eq!(told(&delete(&store, &sound("a", "3", "9", "red"))), ["4>-"]);
}

#[test]
fn a_list_reports_lost_changed_and_new_objects_only() {
    let store = store();
    for guard in
        [sound("same", "1", "1", "red"), sound("changed", "2", "2", "red"), sound("lost", "3", "3", "red")]
    {
        store.apply(guard);
    }
    let changes = store.replace(vec![
        sound("new", "4", "7", "blue"),
        sound("same", "1", "1", "red"),
        sound("changed", "2", "6", "blue"),
    ]);
    assert_eq!(told(&changes), ["->7", "2>6", "3>-"]);
    assert_eq!(names_of(&store, "blue"), ["changed", "new"]);
    assert_eq!(names_of(&store, "red"), ["same"]);
}

#[test]
fn an_older_list_entry_does_not_replace_a_newer_object_but_another_uid_does() {
    let store = store();
    store.apply(sound("a", "1", "10", "red"));
    store.apply(sound("b", "2", "11", "red"));
    let changes = store.replace(vec![sound("a", "1", "9", "blue"), sound("b", "3", "8", "blue")]);
    assert_eq!(told(&changes), ["11>-", "->8"]);
    assert_eq!(names_of(&store, "red"), ["a"]);
    assert_eq!(names_of(&store, "blue"), ["b"]);
}

#[test]
fn a_malformed_version_evicts_the_old_one_until_it_is_mended() {
    let store = store();
    store.apply(sound("a", "1", "1", "red"));
    assert_eq!(told(&store.apply(malformed("a", "1", "2"))), ["1>-"]);
    assert!(names_of(&store, "red").is_empty());
    let named = store.malformed();
    assert_eq!(named[0].0, Key::new("default", "a"));
    assert!(named[0].1.starts_with("data.color: invalid type: integer"), "{}", named[0].1);
    assert!(store.is_malformed(&named[0].0, &malformed("a", "1", "2").identity));
    // A late event of the version before does not bring the old state back.
    assert!(store.apply(sound("a", "1", "1", "red")).is_empty());
    assert_eq!(told(&store.apply(sound("a", "1", "3", "red"))), ["->3"]);
    assert!(store.malformed().is_empty());
}

#[test]
fn a_malformed_object_in_a_list_is_named_and_gone_with_the_next() {
    let store = store();
    store.apply(sound("a", "1", "1", "red"));
    assert_eq!(
        told(&store.replace(vec![malformed("a", "1", "2"), sound("b", "2", "3", "red")])),
        ["->3", "1>-"]
    );
    assert_eq!(store.malformed().len(), 1);
    delete(&store, &malformed("a", "1", "4"));
    assert!(store.malformed().is_empty());
    store.apply(malformed("a", "1", "5"));
    store.replace(Vec::new());
    assert!(store.malformed().is_empty() && store.len() == 0);
}

#[test]
fn readers_never_see_an_index_that_disagrees_with_its_object() {
    let store = store();
    store.apply(sound("a", "1", "1", "even"));
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for version in 2..5_000_u32 {
                let color = if version % 2 == 0 { "even" } else { "odd" };
                if version % 7 == 0 {
                    store.replace(vec![sound("a", "1", &version.to_string(), color)]);
                } else {
                    store.apply(sound("a", "1", &version.to_string(), color));
                }
            }
        });
        while !writer.is_finished() {
            for color in ["even", "odd"] {
                let found = store.by_index(0, color);
                assert!(found.iter().all(|object| colors(object) == [color]));
            }
            assert_eq!(store.list().len(), 1);
        }
    });
}

#[derive(Clone, Debug)]
enum Step {
    Apply(u8, u64, u8),
    Malformed(u8, u64),
    Delete(u8, u64),
    List(Vec<(u8, u64, u8)>),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let (who, when, color) = (0..4_u8, 1..60_u64, 0..3_u8);
    let step = prop_oneof![
        6 => (who.clone(), when.clone(), color.clone()).prop_map(|(who, when, color)| Step::Apply(who, when, color)),
        1 => (who.clone(), when.clone()).prop_map(|(who, when)| Step::Malformed(who, when)),
        2 => (who.clone(), when.clone()).prop_map(|(who, when)| Step::Delete(who, when)),
        1 => proptest::collection::vec((who, when, color), 0..5).prop_map(Step::List),
    ];
    proptest::collection::vec(step, 1..60)
}

fn run(store: &Store<ConfigMap>, step: Step) -> Vec<Change<ConfigMap>> {
    let object = |who: u8, when: u64, color: u8| {
        sound(&format!("n{who}"), &format!("u{who}"), &when.to_string(), &format!("c{color}"))
    };
    match step {
        Step::Apply(who, when, color) => store.apply(object(who, when, color)),
        Step::Malformed(who, when) => {
            store.apply(malformed(&format!("n{who}"), &format!("u{who}"), &when.to_string()))
        }
        Step::Delete(who, when) => delete(store, &object(who, when, 0)),
        Step::List(entries) => {
            let unique: BTreeMap<_, _> =
                entries.into_iter().map(|(who, when, color)| (who, (when, color))).collect();
            store.replace(unique.into_iter().map(|(who, (when, color))| object(who, when, color)).collect())
        }
    }
}

proptest! {
    #[test]
    fn whatever_happens_indexes_and_told_changes_agree_with_the_objects(steps in steps()) {
        let store = store();
        let mut followed = BTreeMap::new();
        for step in steps {
            for change in run(&store, step) {
                let key = Key::of(change.old.as_deref().or(change.new.as_deref()).unwrap());
                let before = match change.new {
                    Some(new) => followed.insert(key, new),
                    None => followed.remove(&key),
                };
                let version = |object: Option<Arc<ConfigMap>>| object.and_then(|object| object.metadata.resource_version.clone());
                prop_assert_eq!(version(before), version(change.old));
            }
            prop_assert_eq!(followed.values().cloned().collect::<Vec<_>>(), store.list());
            let mut indexed: Vec<_> = (0..3).flat_map(|color| store.by_index(0, &format!("c{color}"))).collect();
            indexed.sort_by_key(|object| Key::of(&**object));
            prop_assert_eq!(indexed, store.list());
        }
    }

    #[test]
    fn of_shuffled_versions_the_highest_wins(mut versions in Just((1..200_u64).collect::<Vec<_>>()).prop_shuffle()) {
        let store = store();
        for version in versions.drain(..) {
            store.apply(sound("a", "1", &version.to_string(), &format!("c{version}")));
        }
        prop_assert_eq!(version_of(&store, "a"), Some("199".to_owned()));
        prop_assert_eq!(names_of(&store, "c199").len(), 1);
    }
}
