//! Each rule with the level, the reason and the next command it must come to.

use serde_json::json;

use super::*;

const NOW: &str = "2026-11-30T12:00:00Z";
const KEY: &str = "-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEaxfR8uEsQkf4vOblY6RA8ncDfYEt
6zOg9KE5RdiYwpZP40Li/hp/m47n60p8D54WK84zV2sxXs7LtkBoN79R9Q==
-----END PUBLIC KEY-----
";
const OTHER_KEY: &str = "-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEi7wwxnc5uXFZ05svNxOtOvweeIad
8wVru5PZ49rS5+IBB5ozicWd3FifGAcEbzlH7hFr5lc23J0Xe2EvcXxrQA==
-----END PUBLIC KEY-----
";

fn ago(seconds: i64) -> String {
    let now: Timestamp = NOW.parse().unwrap();
    (now - SignedDuration::from_secs(seconds)).to_string()
}

/// Object metadata, made so many seconds ago.
fn meta(name: &str, seconds: i64) -> serde_json::Value {
    json!({"name": name, "namespace": "ns", "uid": name, "creationTimestamp": ago(seconds)})
}

/// Type, status, reason, seconds since the change.
type Says<'a> = (&'a str, &'a str, &'a str, i64);

fn status(says: &[Says<'_>]) -> serde_json::Value {
    let condition = |(type_, status, reason, seconds): &Says<'_>| json!({"type": type_, "status": status, "reason": reason, "message": "", "lastTransitionTime": ago(*seconds)});
    json!({"conditions": says.iter().map(condition).collect::<Vec<_>>()})
}

fn object<K: serde::de::DeserializeOwned>(
    kind: &str,
    meta: &serde_json::Value,
    spec: &serde_json::Value,
    says: &[Says<'_>],
) -> K {
    serde_json::from_value(json!({
        "apiVersion": crate::API_VERSION, "kind": kind, "metadata": meta, "spec": spec, "status": status(says),
    }))
    .unwrap()
}

fn cluster(says: &[Says<'_>]) -> TrustedExecutionCluster {
    object("TrustedExecutionCluster", &meta("c", 3600), &json!({}), says)
}

fn machine(says: &[Says<'_>]) -> Machine {
    object("Machine", &meta("m", 3600), &json!({"id": "id-m"}), says)
}

fn key(says: &[Says<'_>]) -> AttestationKey {
    object("AttestationKey", &meta("k", 3600), &json!({"publicKey": KEY, "uuid": "id-m"}), says)
}

fn image(says: &[Says<'_>]) -> ApprovedImage {
    object("ApprovedImage", &meta("i", 3600), &json!({"image": "x@sha256:0"}), says)
}

const GOOD: [Says<'static>; 3] = [
    ("Installed", "True", "InstallationCompleted", 3000),
    ("KnownTrusteeAddress", "True", "AddressFound", 3000),
    ("TrusteeReady", "True", "Available", 3000),
];
const SERVED: [Says<'static>; 2] =
    [("KeyReady", "True", "KeyCreated", 3000), ("AttestationKeyBound", "True", "Bound", 3000)];

/// Trustee with these attestation keys and disk keys, and so many pods available of one.
fn trustee(keys: &[&str], disks: &[&str], available: i32) -> Deployment {
    let sources = |names: &[&str], suffix: &str| {
        let source = |name: &&str| json!({"secret": {"name": name, "items": [{"key": "x", "path": format!("{name}{suffix}")}]}});
        names.iter().map(source).collect::<Vec<_>>()
    };
    serde_json::from_value(json!({
        "metadata": {"name": "trustee-deployment", "namespace": "ns", "generation": 2,
            "ownerReferences": [{"apiVersion": "x", "kind": "x", "name": "c", "uid": "c"}]},
        "spec": {"replicas": 1, "selector": {}, "template": {"spec": {"containers": [], "volumes": [
            {"name": "trusted-ak-keys", "projected": {"sources": sources(keys, ".pub")}},
            {"name": "disk-keys", "projected": {"sources": sources(disks, "/root")}},
        ]}}},
        "status": {"observedGeneration": 2, "replicas": 1, "updatedReplicas": 1, "availableReplicas": available},
    }))
    .unwrap()
}

fn hex() -> String {
    key::fingerprint(&key(&[])).unwrap().hex().to_owned()
}

/// A namespace in which everything is as it should be, to be spoilt by each test.
struct Scene {
    clusters: Vec<TrustedExecutionCluster>,
    machines: Vec<Machine>,
    keys: Vec<AttestationKey>,
    images: Vec<ApprovedImage>,
    trustee: Option<Deployment>,
}

impl Scene {
    fn good() -> Scene {
        let mut machine = machine(&SERVED);
        machine.status.as_mut().unwrap().attestation_key =
            Some(crate::BoundKey { name: "k".into(), fingerprint: format!("sha256:{}", hex()) });
        Scene {
            clusters: vec![cluster(&GOOD)],
            machines: vec![machine],
            keys: vec![key(&[("Approved", "True", "MachineCreated", 3000)])],
            images: vec![image(&[("Committed", "True", "ImageCommitted", 3000)])],
            trustee: Some(trustee(&[&hex()], &["id-m"], 1)),
        }
    }

    fn view(&self) -> View<'_> {
        View {
            namespace: "ns",
            clusters: Some(self.clusters.iter().collect()),
            machines: Some(self.machines.iter().collect()),
            attestation_keys: Some(self.keys.iter().collect()),
            approved_images: Some(self.images.iter().collect()),
            trustee: self.trustee.as_ref().map_or(Trustee::Absent, Trustee::Present),
        }
    }

    fn assess(&self) -> Assessment {
        assess(&self.view(), NOW.parse().unwrap())
    }

    /// Verdict, and level and reason of each finding.
    fn outcome(&self) -> (Verdict, Vec<(Level, String)>) {
        let assessment = self.assess();
        let findings =
            assessment.findings.iter().map(|finding| (finding.level, finding.reason.clone())).collect();
        (assessment.verdict, findings)
    }
}

fn one(level: Level, reason: &str) -> Vec<(Level, String)> {
    vec![(level, reason.to_owned())]
}

#[test]
fn all_well_is_healthy_without_a_word() {
    let assessment = Scene::good().assess();
    assert_eq!((assessment.verdict, assessment.findings), (Verdict::Healthy, vec![]));
    assert_eq!((assessment.counts.machines, assessment.counts.machines_served), (1, 1));
}

#[test]
fn during_a_rollout_machines_are_counted_apart() {
    let mut scene = Scene::good();
    let status = scene.trustee.as_mut().and_then(|trustee| trustee.status.as_mut()).unwrap();
    status.replicas = Some(2);
    let counts = scene.assess().counts;
    assert_eq!((counts.machines_served, counts.machines_rolling_out), (0, 1));
}

#[test]
fn conditions_of_the_cluster() {
    let rows: [(Says<'_>, Verdict, Level); 9] = [
        (("Installed", "False", "Installing", 10), Verdict::Degraded, Level::Warning),
        (("Installed", "False", "Installing", 900), Verdict::Unhealthy, Level::Critical),
        (("TrusteeReady", "False", "RollingOut", 10), Verdict::Healthy, Level::Info),
        (("TrusteeReady", "False", "RollingOut", 900), Verdict::Degraded, Level::Warning),
        (("TrusteeReady", "False", "Unavailable", 10), Verdict::Unhealthy, Level::Critical),
        (("TrusteeReady", "False", "TLSNotReady", 10), Verdict::Unhealthy, Level::Critical),
        (("KnownTrusteeAddress", "False", "NoAddressFound", 10), Verdict::Degraded, Level::Warning),
        (("ApprovalProtected", "False", "PolicyMissing", 10), Verdict::Degraded, Level::Warning),
        (("Installed", "False", "SomethingNew", 10), Verdict::Degraded, Level::Warning),
    ];
    for (says, verdict, level) in rows {
        let mut all: Vec<_> = GOOD.into_iter().filter(|good| good.0 != says.0).collect();
        all.push(says);
        let scene = Scene { clusters: vec![cluster(&all)], ..Scene::good() };
        assert_eq!(scene.outcome(), (verdict, one(level, says.2)), "{says:?}");
    }
    let unchecked = [&GOOD[..], &[("ApprovalProtected", "Unknown", "NotChecked", 10)]].concat();
    let scene = Scene { clusters: vec![cluster(&unchecked)], ..Scene::good() };
    assert_eq!(scene.outcome(), (Verdict::Healthy, vec![]));
}

#[test]
fn a_silent_operator_is_noticed_after_a_minute() {
    let mut fresh = cluster(&[]);
    let scene = |cluster: &TrustedExecutionCluster| Scene {
        clusters: vec![cluster.clone()],
        machines: vec![],
        keys: vec![],
        trustee: None,
        ..Scene::good()
    };
    assert_eq!(scene(&fresh).outcome(), (Verdict::Unhealthy, one(Level::Critical, "NotReconciled")));
    fresh.metadata.creation_timestamp = serde_json::from_value(json!(ago(5))).unwrap();
    assert_eq!(scene(&fresh).outcome(), (Verdict::Degraded, one(Level::Warning, "NotReconciled")));
}

#[test]
fn trustee_is_looked_at_itself() {
    let scene = Scene { trustee: None, ..Scene::good() };
    let (verdict, findings) = scene.outcome();
    assert_eq!(verdict, Verdict::Unhealthy);
    assert_eq!(findings[0], (Level::Critical, "TrusteeMissing".to_owned()));
    let down = Scene { trustee: Some(trustee(&[&hex()], &["id-m"], 0)), ..Scene::good() };
    assert_eq!(down.outcome(), (Verdict::Unhealthy, one(Level::Critical, "Unavailable")));
}

#[test]
fn a_key_that_trustee_lacks_is_told_once() {
    let scene = Scene { trustee: Some(trustee(&[], &["id-m"], 1)), ..Scene::good() };
    let assessment = scene.assess();
    assert_eq!(assessment.findings.len(), 1, "{:?}", assessment.findings);
    assert_eq!(
        (&*assessment.findings[0].reason, &*assessment.findings[0].object.kind),
        ("NotDelivered", "AttestationKey")
    );
    let scene = Scene { trustee: Some(trustee(&[&hex()], &[], 1)), ..Scene::good() };
    assert_eq!(scene.assess().findings[0].object.kind, "Machine");
    assert_eq!(scene.outcome(), (Verdict::Degraded, one(Level::Warning, "NotDelivered")));
}

#[test]
fn conditions_of_a_key() {
    let rows: [(&str, i64, Option<Level>); 11] = [
        ("AwaitingApproval", 10, Some(Level::Warning)),
        ("Conflict", 10, Some(Level::Warning)),
        ("ApprovalMismatch", 10, Some(Level::Warning)),
        ("InvalidKey", 10, Some(Level::Warning)),
        ("AwaitingMachine", 10, Some(Level::Info)),
        ("AwaitingMachine", 1200, Some(Level::Warning)),
        ("SomethingNew", 10, Some(Level::Warning)),
        ("Denied", 10, None),
        ("Superseded", 10, None),
        ("Withdrawn", 10, None),
        ("AwaitingCluster", 10, None),
    ];
    for (reason, seconds, level) in rows {
        let mut scene = Scene::good();
        let mut other = key(&[("Approved", "False", reason, seconds)]);
        other.metadata.name = Some("other".into());
        scene.keys.push(other);
        let expected = level.map(|level| one(level, reason)).unwrap_or_default();
        assert_eq!(scene.outcome().1, expected, "{reason} for {seconds} s");
    }
}

#[test]
fn the_next_command_can_be_copied() {
    let mut scene = Scene::good();
    scene.keys = vec![key(&[("Approved", "False", "AwaitingApproval", 10)])];
    let finding = &scene.assess().findings[0];
    assert_eq!(finding.next, "kubectl trusted approve-ak k -n ns");
    // Approving again would change nothing.
    scene.keys[0].spec.approval = Some(crate::Approval {
        decision: crate::Decision::Approved,
        fingerprint: format!("sha256:{}", hex()),
        by: None,
        reason: None,
    });
    assert_eq!(scene.assess().findings[0].next, "kubectl describe attestationkey k -n ns");
    scene.keys = vec![key(&[("Approved", "False", "Conflict", 10)])];
    assert_eq!(scene.assess().findings[0].next, "kubectl trusted approve-ak k -n ns --dry-run=client");
}

#[test]
fn conditions_of_a_machine() {
    let rows: [(Says<'_>, Option<Level>); 6] = [
        (("KeyReady", "False", "DuplicateId", 10), Some(Level::Warning)),
        (("KeyReady", "False", "ForeignSecret", 10), Some(Level::Warning)),
        (("KeyReady", "False", "AwaitingCluster", 10), None),
        (("AttestationKeyBound", "False", "NoKey", 10), Some(Level::Info)),
        (("AttestationKeyBound", "False", "NoKey", 1200), Some(Level::Warning)),
        (("AttestationKeyBound", "False", "AwaitingApproval", 10), Some(Level::Warning)),
    ];
    for (says, level) in rows {
        let all: Vec<_> = SERVED.into_iter().filter(|good| good.0 != says.0).chain([says]).collect();
        let scene = Scene { machines: vec![machine(&all)], keys: vec![], ..Scene::good() };
        let expected = level.map(|level| one(level, says.2)).unwrap_or_default();
        assert_eq!(scene.outcome().1, expected, "{says:?}");
    }
}

#[test]
fn what_a_key_says_its_machine_does_not_repeat() {
    let waiting =
        [("KeyReady", "True", "KeyCreated", 10), ("AttestationKeyBound", "False", "AwaitingApproval", 10)];
    let scene = Scene {
        machines: vec![machine(&waiting)],
        keys: vec![key(&[("Approved", "False", "AwaitingApproval", 10)])],
        ..Scene::good()
    };
    let assessment = scene.assess();
    assert_eq!(assessment.findings.len(), 1);
    assert_eq!(assessment.findings[0].object.kind, "AttestationKey");
}

#[test]
fn images_nobody_has_evaluated_do_not_lower_the_verdict() {
    let rows: [(&[Says<'_>], Verdict, Level, &str); 5] = [
        (&[], Verdict::Healthy, Level::Info, "NotEvaluated"),
        (&[("Committed", "False", "Computing", 10)], Verdict::Healthy, Level::Info, "Computing"),
        (&[("Committed", "False", "Computing", 900)], Verdict::Degraded, Level::Warning, "Computing"),
        (&[("Committed", "False", "PodPending", 900)], Verdict::Degraded, Level::Warning, "PodPending"),
        (
            &[("Committed", "False", "ComputationFailed", 1)],
            Verdict::Degraded,
            Level::Warning,
            "ComputationFailed",
        ),
    ];
    for (says, verdict, level, reason) in rows {
        let scene = Scene { images: vec![image(says)], ..Scene::good() };
        assert_eq!(scene.outcome(), (verdict, one(level, reason)), "{says:?}");
    }
    let none = Scene { images: vec![], ..Scene::good() };
    assert_eq!(none.outcome(), (Verdict::Healthy, one(Level::Info, "NoApprovedImage")));
}

#[test]
fn a_second_cluster_is_named_and_the_served_one_found() {
    let mut second = cluster(&[("Installed", "False", "NonUnique", 10)]);
    second.metadata.name = Some("second".into());
    second.metadata.uid = Some("second".into());
    second.metadata.creation_timestamp = serde_json::from_value(json!(ago(9000))).unwrap();
    let scene = Scene { clusters: vec![second, cluster(&GOOD)], ..Scene::good() };
    let assessment = scene.assess();
    assert_eq!(assessment.findings.len(), 1);
    assert_eq!(assessment.findings[0].object.name, "second");
    assert_eq!(served(&scene.view()).unwrap().metadata.name.as_deref(), Some("c"));
    // Without Trustee to tell, the one that is not told off.
    let bare = Scene { trustee: None, ..scene };
    assert_eq!(served(&bare.view()).unwrap().metadata.name.as_deref(), Some("c"));
}

#[test]
fn machines_without_a_cluster_are_not_served() {
    let scene = Scene { clusters: vec![], trustee: None, ..Scene::good() };
    let (verdict, findings) = scene.outcome();
    assert_eq!((verdict, &findings[0]), (Verdict::Unhealthy, &(Level::Critical, "NoCluster".to_owned())));
    let empty = Scene { clusters: vec![], machines: vec![], keys: vec![], images: vec![], trustee: None };
    assert_eq!(empty.outcome(), (Verdict::Unknown, one(Level::Info, "NoCluster")));
}

#[test]
fn what_cannot_be_seen_makes_the_verdict_unknown() {
    let scene = Scene::good();
    let hide: [fn(&mut View<'_>); 5] = [
        |view| view.clusters = None,
        |view| view.machines = None,
        |view| view.attestation_keys = None,
        |view| view.approved_images = None,
        |view| view.trustee = Trustee::NotVisible,
    ];
    for hide in hide {
        let mut view = scene.view();
        hide(&mut view);
        assert_eq!(assess(&view, NOW.parse().unwrap()).verdict, Verdict::Unknown);
    }
}

#[test]
fn findings_come_by_severity() {
    let mut scene = Scene::good();
    scene.images = vec![image(&[])];
    scene.keys.push(key(&[("Approved", "False", "Conflict", 10)]));
    scene.trustee = None;
    let levels: Vec<_> = scene.assess().findings.iter().map(|finding| finding.level).collect();
    assert!(levels.is_sorted(), "{levels:?}");
    assert_eq!(levels.first(), Some(&Level::Critical));
}

#[test]
fn messages_are_sentences_with_what_the_operator_found() {
    let mut scene = Scene::good();
    let mut other = key(&[("Approved", "False", "Conflict", 10)]);
    other.status.as_mut().unwrap().conditions[0].message = "the machine is bound to another key, k".into();
    scene.keys = vec![other];
    let message = &scene.assess().findings[0].message;
    assert!(message.starts_with("The key is not trusted"), "{message}");
    assert!(message.ends_with(". The machine is bound to another key, k."), "{message}");
}

/// The one finding with this reason, as the document has it.
fn told(scene: &Scene, reason: &str) -> serde_json::Value {
    let findings = scene.assess().findings;
    let found: Vec<_> = findings.iter().filter(|finding| finding.reason == reason).collect();
    assert_eq!(found.len(), 1, "{reason} in {findings:?}");
    serde_json::to_value(found[0]).unwrap()
}

/// A key of its own, refused in favour of another one.
fn conflicting(name: &str) -> AttestationKey {
    let mut key = key(&[("Approved", "False", "Conflict", 10)]);
    key.metadata.name = Some(name.into());
    key.spec.public_key = OTHER_KEY.to_owned();
    key
}

fn commands(finding: &serde_json::Value) -> Vec<&str> {
    let choices = finding["choices"].as_array().map(Vec::as_slice).unwrap_or_default();
    choices.iter().map(|choice| choice["command"].as_str().unwrap()).collect()
}

#[test]
fn a_conflict_can_be_ended_both_ways() {
    let mut scene = Scene::good();
    scene.keys.push(conflicting("stranger"));
    let finding = told(&scene, "Conflict");
    let [refuse, trust] = commands(&finding)[..] else { panic!("{finding}") };
    assert_eq!(refuse, "kubectl trusted deny-ak stranger -n ns");
    assert_eq!(trust, "kubectl trusted approve-ak stranger -n ns");
    // What a person chose before is given up only on request.
    scene.keys[0].spec.approval = Some(approved_by_hand());
    assert_eq!(commands(&told(&scene, "Conflict"))[1], "kubectl trusted approve-ak stranger -n ns --replace");
}

fn approved_by_hand() -> crate::Approval {
    let fingerprint = format!("sha256:{}", hex());
    crate::Approval { decision: crate::Decision::Approved, fingerprint, by: None, reason: None }
}

/// A denial holds for the key under any name, so it would take the trusted one away too.
#[test]
fn a_copy_of_a_trusted_key_is_not_denied_but_deleted() {
    let mut scene = Scene::good();
    let mut copy = key(&[("Approved", "False", "Conflict", 10)]);
    (copy.metadata.name, copy.spec.uuid) = (Some("copy".into()), Some("id-other".into()));
    scene.keys.push(copy);
    assert_eq!(commands(&told(&scene, "Conflict")), ["kubectl delete attestationkey copy -n ns"]);
}

#[test]
fn a_namespace_that_no_operator_serves_is_told_once() {
    let mut scene = Scene::good();
    scene.clusters = vec![cluster(&[])];
    scene.machines = vec![machine(&[])];
    scene.keys = vec![key(&[])];
    scene.trustee = None;
    let finding = told(&scene, "NotReconciled");
    assert_eq!(finding["object"]["kind"], "TrustedExecutionCluster");
    assert_eq!(finding["next"], "kubectl get deployments -A -l app.kubernetes.io/name=trusted-operator");
    let message = finding["message"].as_str().unwrap();
    assert!(message.contains("perhaps none serves this namespace"), "{message}");
    // A fresh one is waited for, not asked about again.
    scene.clusters[0].metadata.creation_timestamp = serde_json::from_value(json!(ago(5))).unwrap();
    let finding = told(&scene, "NotReconciled");
    assert_eq!(finding["level"], "Warning");
    assert!(finding["next"].as_str().unwrap().starts_with("kubectl wait trustedexecutioncluster c -n ns "));
}

#[test]
fn a_namespace_without_a_cluster_is_told_how_to_make_one() {
    let scene = Scene { clusters: vec![], trustee: None, ..Scene::good() };
    let finding = told(&scene, "NoCluster");
    assert_eq!(finding["next"], "kubectl apply -n ns -f deploy/samples/cluster.yaml");
    assert!(commands(&finding).contains(&"kubectl trusted status -A"), "{finding}");
}

#[test]
fn of_two_machines_with_one_id_the_served_one_is_named() {
    let mut scene = Scene::good();
    let mut twin = machine(&[("KeyReady", "False", "DuplicateId", 10)]);
    (twin.metadata.name, twin.metadata.uid) = (Some("twin".into()), Some("twin".into()));
    twin.status.as_mut().unwrap().conditions[0].message =
        "Machine m has the same spec.id and is served; delete one of the two".into();
    scene.machines.push(twin);
    let finding = told(&scene, "DuplicateId");
    let message = finding["message"].as_str().unwrap();
    assert!(message.contains("Machine m") && message.contains("takes its disk key with it"), "{message}");
    assert!(!message.contains("one of the two"), "{message}");
    assert_eq!(finding["next"], "kubectl delete machines.trusted-execution-clusters.io twin -n ns");
    scene.clusters[0].spec.disk_key_retention = Some(crate::DiskKeyRetention::Retain);
    assert!(!told(&scene, "DuplicateId")["message"].as_str().unwrap().contains("with it"));
}

#[test]
fn nothing_is_said_twice() {
    let mut scene = Scene::good();
    let mut second = cluster(&[("Installed", "False", "NonUnique", 10)]);
    second.metadata.name = Some("second".into());
    second.metadata.uid = Some("second".into());
    second.status.as_mut().unwrap().conditions[0].message =
        "one TrustedExecutionCluster per namespace is served, here c; delete one of them".into();
    scene.clusters.push(second);
    let mut invalid = key(&[("Approved", "False", "InvalidKey", 10)]);
    invalid.metadata.name = Some("invalid".into());
    invalid.status.as_mut().unwrap().conditions[0].message = "spec.publicKey is not usable: no PEM".into();
    scene.keys.push(invalid);
    let message = told(&scene, "NonUnique")["message"].as_str().unwrap().to_owned();
    assert_eq!(message.matches("is served").count(), 1, "{message}");
    assert!(message.contains("is served: c"), "{message}");
    assert_eq!(told(&scene, "InvalidKey")["message"], "spec.publicKey is not usable: no PEM.");
}

#[test]
fn sentences_leave_names_and_questions_as_they_are() {
    for (text, expected) in [
        ("the key waits", "The key waits."),
        ("the key waits.", "The key waits."),
        ("spec.uuid names no machine", "spec.uuid names no machine."),
        ("publicKey is empty", "publicKey is empty."),
        ("ak-first is bound", "ak-first is bound."),
        ("is it running?", "Is it running?"),
    ] {
        assert_eq!(sentence(text), expected);
    }
}
