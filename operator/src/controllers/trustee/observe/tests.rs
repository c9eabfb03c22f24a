use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde_json::{Value, json};
use trusted_crds::{AttestationKeySpec, MachineSpec};

use trusted_crds::names::{FINGERPRINT_ANNOTATION, MANAGED_BY, MANAGED_BY_LABEL};
use trusted_crds::{Decision, condition};

use super::*;
use crate::secret::SecretMeta;

fn fingerprint() -> Fingerprint {
    format!("sha256:{}", "a".repeat(64)).parse().unwrap()
}

fn meta(name: &str, managed: bool, owners: &[(&str, &str)]) -> SecretMeta {
    let owners: Vec<Value> = owners
        .iter()
        .map(|(kind, uid)| json!({"apiVersion": "x", "kind": kind, "name": "n", "uid": uid}))
        .collect();
    let labels = if managed { json!({MANAGED_BY_LABEL: MANAGED_BY}) } else { json!({}) };
    let annotations = json!({FINGERPRINT_ANNOTATION: fingerprint().to_string()});
    let meta = json!({"name": name, "labels": labels, "annotations": annotations, "ownerReferences": owners});
    SecretMeta::new(serde_json::from_value(meta).unwrap())
}

fn secret(name: &str, managed: bool, owners: &[(&str, &str)]) -> SecretRecord {
    meta(name, managed, owners).into()
}

fn machine(uid: &str, key_ready: Option<&str>) -> Arc<Machine> {
    let mut machine = Machine::new("m", MachineSpec { id: "a".into() });
    machine.metadata.uid = Some(uid.into());
    let wanted = key_ready.map(|reason| condition::new(KEY_READY, true, reason, ""));
    let now = k8s_openapi::jiff::Timestamp::UNIX_EPOCH;
    let conditions = condition::merge(&[], &Vec::from_iter(wanted), 1, now);
    machine.status = Some(trusted_crds::MachineStatus { conditions, ..Default::default() });
    Arc::new(machine)
}

fn key(uid: &str, approval: Option<(Decision, &str)>) -> Arc<AttestationKey> {
    let approval = approval.map(|(decision, fingerprint)| trusted_crds::Approval {
        decision,
        fingerprint: fingerprint.into(),
        by: None,
        reason: None,
    });
    let mut key = AttestationKey::new("k", AttestationKeySpec { approval, ..Default::default() });
    key.metadata.uid = Some(uid.into());
    Arc::new(key)
}

#[test]
fn a_disk_key_is_the_machines_own_or_a_kept_one() {
    let machines = [machine("m1", None), machine("m2", None)];
    let is = |managed, owners: &[(&str, &str)]| is_disk_key_of(&secret("luks-a", managed, owners), &machines);
    assert!(is(true, &[("Machine", "m1")]));
    assert!(is(true, &[("Machine", "m2")]), "a duplicate that owns the key is the one served");
    assert!(is(true, &[]), "kept, or restored from a backup");
    assert!(!is(true, &[("Machine", "gone")]), "of a machine that is gone");
    assert!(!is(false, &[("Machine", "m1")]), "planted");
    assert!(!is(false, &[]), "somebody's");
}

#[test]
fn a_former_disk_key_is_used_by_the_machine_that_adopted_it() {
    let owned = secret("a", false, &[("Machine", "m1")]);
    let is = |secret: &SecretRecord, machines: &[Arc<Machine>]| is_adopted_by(secret, machines, false);
    assert!(is(&owned, &[machine("m1", Some(reason::KEY_ADOPTED))]));
    assert!(!is(&owned, &[machine("m1", Some(reason::KEY_CREATED))]));
    assert!(is(&owned, &[machine("m1", None)]), "nothing was decided yet, and it has no other");
    assert!(!is_adopted_by(&owned, &[machine("m1", None)], true), "it has one of ours");
    let two = [machine("m2", None), machine("m3", Some(reason::KEY_ADOPTED))];
    assert!(!is(&owned, &two), "another machine's adoption does not count");
    assert!(is(&secret("a", true, &[]), &two), "retained");
    assert!(!is(&secret("a", false, &[]), &two), "somebody's");
    assert!(!is(&secret("luks-a", true, &[]), &two), "the disk key of machine a, not of luks-a");
}

#[test]
fn only_our_live_records_count_as_bindings() {
    assert_eq!(binding(&secret("ak-a", true, &[])), Some(fingerprint()));
    assert_eq!(binding(&secret("ak-a", false, &[])), None, "planted");
    assert_eq!(binding(&secret("luks-a", true, &[])), None);
    let mut deleting = meta("ak-a", true, &[]);
    deleting.metadata.deletion_timestamp = Some(Time(k8s_openapi::jiff::Timestamp::UNIX_EPOCH));
    assert_eq!(binding(&deleting.into()), None);
    let mut unmarked = meta("ak-a", true, &[]);
    unmarked.metadata.annotations =
        Some([(FINGERPRINT_ANNOTATION.to_owned(), "sha256:zz".to_owned())].into());
    assert_eq!(binding(&unmarked.into()), None);
}

#[test]
fn a_bound_key_is_trusted_while_its_attestation_key_lives_and_none_denies_it() {
    let bound = secret("ak-a", true, &[("AttestationKey", "k1")]);
    let text = fingerprint().to_string();
    let trusted = |bearers: &[Arc<AttestationKey>]| is_trusted(&bound, &fingerprint(), bearers);
    assert!(trusted(&[key("k1", None)]));
    assert!(trusted(&[key("k1", Some((Decision::Approved, &text)))]));
    assert!(!trusted(&[]), "its AttestationKey is gone");
    assert!(!trusted(&[key("k2", None)]), "made anew under its name");
    let denial = key("k2", Some((Decision::Denied, &text)));
    assert!(!trusted(&[key("k1", None), denial]), "a denial holds for the key, not the object");
    assert!(trusted(&[key("k1", None), key("k2", Some((Decision::Denied, "sha256:of another key")))]));
    let mut going = (*key("k1", None)).clone();
    going.metadata.deletion_timestamp = Some(Time(k8s_openapi::jiff::Timestamp::UNIX_EPOCH));
    assert!(!trusted(&[Arc::new(going)]));
}
