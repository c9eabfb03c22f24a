use serde_json::json;

use super::*;

fn fingerprint(digit: char) -> Fingerprint {
    format!("sha256:{}", digit.to_string().repeat(64)).parse().unwrap()
}

fn source<T>(as_: T, secret: &str) -> Source<T> {
    Source { as_, secret: secret.into(), uid: format!("uid-of-{secret}") }
}

fn wanted() -> Wanted {
    Wanted {
        disk_keys: vec![source("a".into(), "luks-a"), source("b".into(), "b")],
        attestation_keys: vec![source(fingerprint('1'), "ak-a")],
    }
}

#[test]
fn each_key_is_one_optional_file_from_one_secret() {
    let rendered = serde_json::to_value(render(&wanted()).unwrap().volumes).unwrap();
    let disk_key = |secret: &str, path: &str| json!({"secret": {"name": secret, "optional": true, "items": [{"key": "root", "path": path}]}});
    assert_eq!(rendered[0]["name"], "disk-keys");
    assert_eq!(
        rendered[0]["projected"]["sources"],
        json!([disk_key("luks-a", "a/root"), disk_key("b", "b/root")])
    );
    let file = format!("{}.pub", "1".repeat(64));
    assert_eq!(rendered[1]["name"], "trusted-ak-keys");
    assert_eq!(
        rendered[1]["projected"]["sources"],
        json!([{"secret": {"name": "ak-a", "optional": true, "items": [{"key": "public_key", "path": file}]}}])
    );
}

#[test]
fn both_folders_are_there_even_without_keys() {
    let rendered = render(&Wanted::default()).unwrap();
    let names: Vec<_> = rendered.mounts.iter().map(|mount| (mount.name.as_str(), mount.read_only)).collect();
    assert_eq!(names, [("disk-keys", Some(true)), ("trusted-ak-keys", Some(true))]);
    for volume in &rendered.volumes {
        assert_eq!(volume.projected.as_ref().unwrap().sources, Some(Vec::new()));
    }
}

#[test]
fn the_hash_changes_with_every_secret_and_with_nothing_else() {
    let hash = |wanted: &Wanted| render(wanted).unwrap().hash;
    assert_eq!(hash(&wanted()), hash(&wanted()));
    let mut fewer = wanted();
    fewer.disk_keys.pop();
    let mut remade = wanted();
    remade.attestation_keys[0].uid = "another".into();
    let mut other_key = wanted();
    other_key.attestation_keys[0].as_ = fingerprint('2');
    let all = [wanted(), fewer, remade, other_key, Wanted::default()].map(|wanted| hash(&wanted));
    let different: std::collections::BTreeSet<_> = all.iter().collect();
    assert_eq!(different.len(), all.len());
}

#[test]
fn what_is_dropped_is_told_by_kind_and_what_is_added_is_not() {
    let held = |wanted: &Wanted| {
        let spec = json!({
            "selector": {}, "template": {"spec": {"containers": [], "volumes": render(wanted).unwrap().volumes}},
        });
        Delivered::read(&serde_json::from_value(json!({"metadata": {}, "spec": spec})).unwrap())
    };
    let drops = |wanted: &Wanted, held: &Delivered| {
        (wanted.drops_disk_keys(held), wanted.dropped_attestation_keys(held))
    };
    let (mut fewer, mut other) = (wanted(), wanted());
    fewer.disk_keys.pop();
    other.attestation_keys[0].as_ = fingerprint('2');
    assert_eq!(drops(&wanted(), &held(&wanted())), (false, vec![]));
    assert_eq!(drops(&wanted(), &held(&Wanted::default())), (false, vec![]), "all are new");
    assert_eq!(drops(&wanted(), &held(&fewer)), (false, vec![]));
    assert_eq!(drops(&fewer, &held(&wanted())), (true, vec![]));
    let dropped = wanted().attestation_keys[0].as_.clone();
    assert_eq!(drops(&other, &held(&wanted())), (false, vec![dropped]), "as many as before");
}
