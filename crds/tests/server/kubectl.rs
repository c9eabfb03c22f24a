//! What a person sees with kubectl: columns, short names, category, selectable fields, explanations.

use std::process::Command;

use kube::api::PostParams;
use serde_json::{Value, json};
use testenv::{TestNamespace, objects};

use crate::support::{admin, api, clusters, keys, machines, namespace, operator, patch};

struct Kubectl {
    program: std::path::PathBuf,
    kubeconfig: std::ffi::OsString,
}

impl Kubectl {
    fn viewer(namespace: &TestNamespace) -> Kubectl {
        let kubeconfig = namespace.user_kubeconfig("viewer").unwrap();
        Kubectl { program: namespace.control_plane().kubectl(), kubeconfig }
    }

    fn run(&self, command: &str) -> String {
        let output = Command::new(&self.program)
            .env("KUBECONFIG", &self.kubeconfig)
            .args(command.split(' '))
            .output()
            .unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "kubectl {command}: {error}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Header and rows as words separated by two spaces or more.
    fn table(&self, command: &str) -> Vec<Vec<String>> {
        let words = |line: &str| {
            line.split("  ").map(str::trim).filter(|w| !w.is_empty()).map(str::to_owned).collect()
        };
        self.run(command).lines().map(words).collect()
    }
}

fn condition(type_: &str, status: &str, reason: &str) -> Value {
    json!({
        "type": type_, "status": status, "reason": reason, "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z",
    })
}

fn fingerprint() -> String {
    format!("sha256:{}", "0".repeat(64))
}

/// One object of each kind with the status the operator would write.
async fn fill(namespace: &TestNamespace) {
    let (admin, params) = (admin(namespace), PostParams::default());
    let image = format!("registry.example/os@sha256:{}", "0".repeat(64));
    clusters(&admin, namespace).create(&params, &objects::cluster("tec1")).await.unwrap();
    machines(&admin, namespace).create(&params, &objects::machine("mach1", "id-1")).await.unwrap();
    let key = objects::attestation_key("ak1", Some("id-1"), &objects::public_key());
    keys(&admin, namespace).create(&params, &key).await.unwrap();
    let images = api::<trusted_crds::ApprovedImage>(&admin, namespace);
    images.create(&params, &objects::approved_image("ai1", &image)).await.unwrap();

    let operator = operator(namespace).await;
    let params = kube::api::PatchParams::default();
    let merge = |status: Value| kube::api::Patch::Merge(json!({"status": status}));
    let status = merge(json!({
        "conditions": [condition("Installed", "True", "InstallationCompleted"), condition("TrusteeReady", "False", "RollingOut")],
        "machines": 3, "attestationKeys": {"trusted": 4, "pending": 5, "refused": 6}, "approvedImages": 7,
    }));
    clusters(&operator, namespace).patch_status("tec1", &params, &status).await.unwrap();
    let status = merge(json!({
        "conditions": [condition("KeyReady", "True", "KeyCreated"), condition("AttestationKeyBound", "True", "Bound")],
        "attestationKey": {"name": "ak1", "fingerprint": fingerprint()},
    }));
    machines(&operator, namespace).patch_status("mach1", &params, &status).await.unwrap();
    let status = merge(
        json!({"conditions": [condition("Approved", "True", "MachineCreated")], "fingerprint": fingerprint()}),
    );
    keys(&operator, namespace).patch_status("ak1", &params, &status).await.unwrap();
    let status = merge(json!({
        "conditions": [condition("Committed", "True", "ImageCommitted")],
        "referenceValues": [{"name": "tpm_pcr4", "values": ["00"]}],
    }));
    images.patch_status("ai1", &params, &status).await.unwrap();
}

/// All but the last word, which is the age.
fn without_age(row: &[String]) -> Vec<&str> {
    row[..row.len() - 1].iter().map(String::as_str).collect()
}

async fn assert_tables(prefix: &str, tables: &[(&str, &[&str], &[&str])]) {
    let namespace = namespace(prefix).await;
    fill(&namespace).await;
    let kubectl = Kubectl::viewer(&namespace);
    for (what, header, row) in tables {
        let table = kubectl.table(&format!("get {what}"));
        assert_eq!(table.len(), 2, "{what}: {table:?}");
        assert_eq!(without_age(&table[0]), *header, "{what}");
        assert_eq!(without_age(&table[1]), *row, "{what}");
        assert_eq!(table[0].last().unwrap(), "AGE");
    }
}

#[tokio::test]
async fn columns_answer_the_first_question() {
    let tables: [(&str, &[&str], &[&str]); 4] = [
        (
            "tec",
            &["NAME", "INSTALLED", "REASON", "TRUSTEE", "MACHINES", "TRUSTED", "PENDING", "REFUSED"],
            &["tec1", "True", "InstallationCompleted", "RollingOut", "3", "4", "5", "6"],
        ),
        (
            "mach",
            &["NAME", "ID", "DISK KEY", "BOUND", "REASON", "ATTESTATION KEY"],
            &["mach1", "id-1", "KeyCreated", "True", "Bound", "ak1"],
        ),
        (
            "ak",
            &["NAME", "UUID", "APPROVED", "REASON", "DECISION"],
            &["ak1", "id-1", "True", "MachineCreated"],
        ),
        ("ai", &["NAME", "COMMITTED", "REASON"], &["ai1", "True", "ImageCommitted"]),
    ];
    assert_tables("kubectl-columns", &tables).await;
}

#[tokio::test]
async fn wide_columns_add_the_details() {
    let fingerprint = fingerprint();
    let image = format!("registry.example/os@sha256:{}", "0".repeat(64));
    let wide = ["IMAGES", "APPROVAL", "ADDRESS"];
    let tables: [(&str, &[&str], &[&str]); 4] = [
        (
            "tec -o wide",
            &[
                &["NAME", "INSTALLED", "REASON", "TRUSTEE", "MACHINES", "TRUSTED", "PENDING", "REFUSED"][..],
                &wide,
            ]
            .concat(),
            &[
                "tec1",
                "True",
                "InstallationCompleted",
                "RollingOut",
                "3",
                "4",
                "5",
                "6",
                "7",
                "trustee.example.com:8080",
            ],
        ),
        (
            "mach -o wide",
            &["NAME", "ID", "DISK KEY", "BOUND", "REASON", "ATTESTATION KEY", "FINGERPRINT"],
            &["mach1", "id-1", "KeyCreated", "True", "Bound", "ak1", &fingerprint],
        ),
        (
            "ak -o wide",
            &["NAME", "UUID", "APPROVED", "REASON", "DECISION", "BY", "FINGERPRINT"],
            &["ak1", "id-1", "True", "MachineCreated", &fingerprint],
        ),
        ("ai -o wide", &["NAME", "COMMITTED", "REASON", "IMAGE"], &["ai1", "True", "ImageCommitted", &image]),
    ];
    assert_tables("kubectl-wide", &tables).await;
}

#[tokio::test]
async fn category_shows_every_kind() {
    let namespace = namespace("kubectl-category").await;
    fill(&namespace).await;
    let group = trusted_crds::GROUP;
    let mut names: Vec<String> =
        Kubectl::viewer(&namespace).run("get trusted -o name").lines().map(str::to_owned).collect();
    names.sort();
    let expected = [
        format!("approvedimage.{group}/ai1"),
        format!("attestationkey.{group}/ak1"),
        format!("machine.{group}/mach1"),
        format!("trustedexecutioncluster.{group}/tec1"),
    ];
    assert_eq!(names, expected);
}

#[tokio::test]
async fn fields_can_be_selected() {
    let namespace = namespace("kubectl-select").await;
    fill(&namespace).await;
    let kubectl = Kubectl::viewer(&namespace);
    let image = format!("registry.example/os@sha256:{}", "0".repeat(64));
    for (kind, selector, found) in [
        ("ak", "spec.uuid=id-1".to_owned(), true),
        ("ak", "spec.uuid=id".to_owned(), false),
        ("mach", "spec.id=id-1".to_owned(), true),
        ("mach", "spec.id!=id-1".to_owned(), false),
        ("ai", format!("spec.image={image}"), true),
        ("ai", "spec.image=other".to_owned(), false),
    ] {
        let names = kubectl.run(&format!("get {kind} -o name --field-selector {selector}"));
        assert_eq!(names.lines().count(), usize::from(found), "{kind} {selector}: {names}");
    }
}

#[tokio::test]
async fn every_field_is_explained() {
    let namespace = namespace("kubectl-explain").await;
    let kubectl = Kubectl::viewer(&namespace);
    for (path, text) in [
        ("tec", "TrustedExecutionCluster runs Trustee and the registration front ends"),
        ("tec.spec.publicTrusteeAddr", "host or host:port without a scheme"),
        ("tec.spec.attestationKeyApproval", "ENUM: Automatic Manual"),
        ("tec.spec.diskKeyRetention", "Retain: the Secret stays"),
        ("tec.status.conditions", "KnownTrusteeAddress"),
        ("machine", "Machine is one confidential machine."),
        ("machine.spec.id", "RFC 1123 label"),
        ("attestationkey", "kubectl trusted approve-ak"),
        ("attestationkey.spec.publicKey", "one PEM block PUBLIC KEY"),
        ("attestationkey.spec.approval.decision", "ENUM: Approved Denied"),
        ("attestationkey.status.fingerprint", "SHA-256 of its DER SubjectPublicKeyInfo"),
        ("approvedimage.spec.image", "NAME@sha256:DIGEST"),
    ] {
        let shown = kubectl.run(&format!("explain {path}"));
        let words: Vec<&str> = shown.split_whitespace().collect();
        assert!(words.join(" ").contains(text), "explain {path}: {shown}");
    }
    for kind in ["tec", "machine", "attestationkey", "approvedimage"] {
        let shown = kubectl.run(&format!("explain {kind} --recursive"));
        assert!(!shown.contains("<Object>\t<no description>"), "{shown}");
    }
}

#[tokio::test]
async fn status_is_a_subresource() {
    let namespace = namespace("kubectl-status").await;
    fill(&namespace).await;
    let keys = keys(&admin(&namespace), &namespace);
    let patched = patch(&keys, "ak1", json!({"status": {"fingerprint": "other"}})).await.unwrap();
    assert_eq!(
        patched.status.unwrap().fingerprint,
        Some(fingerprint()),
        "spec writers cannot write the status"
    );
    let change =
        kube::api::Patch::Merge(json!({"spec": {"uuid": "other"}, "status": {"fingerprint": "other"}}));
    let patched = keys.patch_status("ak1", &Default::default(), &change).await.unwrap();
    assert_eq!(patched.spec.uuid.as_deref(), Some("id-1"), "status writers cannot write the spec");
    assert_eq!(patched.status.unwrap().fingerprint.as_deref(), Some("other"));
}
