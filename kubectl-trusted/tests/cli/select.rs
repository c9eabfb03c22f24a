//! Which keys are meant: all that wait, those with labels, those of a file.

use kube::api::{Patch, PatchParams};
use serde_json::json;
use testenv::objects;
use trusted_crds::AttestationKey;

use crate::run::{Ran, path};
use crate::scene::Scene;
use crate::terminal::Terminal;

/// Names and results, in the order of the items.
fn results(ran: &Ran) -> Vec<(String, String)> {
    let document = ran.json();
    let text = |item: &serde_json::Value, field: &str| item[field].as_str().unwrap().to_owned();
    document["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| (text(item, "name"), text(item, "result")))
        .collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(name, result)| ((*name).to_owned(), (*result).to_owned())).collect()
}

async fn label(scene: &Scene, name: &str, rack: &str) {
    let patch = Patch::Merge(json!({"metadata": {"labels": {"rack": rack}}}));
    scene.stage.api::<AttestationKey>().patch(name, &PatchParams::default(), &patch).await.unwrap();
}

/// `waits` and `new` are pending; `refused` met a conflict, `trusted` is trusted, `decided` was denied.
async fn fleet(prefix: &str) -> Scene {
    let scene = Scene::new(prefix).await;
    for name in ["decided", "new", "refused", "trusted", "waits"] {
        scene.stage.key(name, Some(name)).await;
    }
    scene.stage.approved("waits", "False", "AwaitingApproval", "").await;
    scene.stage.approved("refused", "False", "Conflict", "").await;
    scene.stage.approved("trusted", "True", "MachineCreated", "").await;
    scene.approver.run(&["deny-ak", "decided", "-y", "--no-wait"]).await.exits(0);
    scene
}

#[tokio::test]
async fn all_pending_are_those_that_wait_and_nobody_decided_about() {
    let scene = fleet("pending").await;
    let arguments = ["approve-ak", "--all", "--pending", "-y", "--no-wait", "-o", "json"];
    let ran = scene.approver.run(&arguments).await.exits(0);
    assert_eq!(results(&ran), pairs(&[("new", "approved"), ("waits", "approved")]));
    assert!(ran.stderr.contains("/new\n") && ran.stderr.contains("/waits\n"), "listed first: {}", ran.stderr);
    let none = scene.approver.run(&arguments).await.exits(0);
    assert!(results(&none).is_empty(), "{}", none.stdout);
    assert!(none.stderr.contains("No AttestationKey in namespace"), "{}", none.stderr);
    let deny = scene.approver.run(&["deny-ak", "--all", "--pending", "--dry-run=client"]).await.exits(0);
    assert_eq!(deny.stdout, "Nothing to decide about.\n");
}

#[tokio::test]
async fn labels_choose_among_all_keys() {
    let scene = fleet("labels").await;
    for (name, rack) in [("waits", "7"), ("refused", "7"), ("new", "8")] {
        label(&scene, name, rack).await;
    }
    let seven = ["deny-ak", "-l", "rack in (7)", "--dry-run=client", "-o", "json"];
    let ran = scene.approver.run(&seven).await.exits(0);
    assert_eq!(results(&ran), pairs(&[("refused", "denied"), ("waits", "denied")]));
    let ran = scene.approver.run(&[&seven[..], &["--pending"]].concat()).await.exits(0);
    assert_eq!(results(&ran), pairs(&[("waits", "denied")]));
}

#[tokio::test]
async fn of_rivals_none_is_approved_by_all() {
    let scene = Scene::new("rivals").await;
    scene.stage.key("first", Some("node")).await;
    scene.stage.key("second", Some("node")).await;
    scene.stage.key("third", Some("other")).await;
    let ran =
        scene.approver.run(&["approve-ak", "--all", "--pending", "-y", "--no-wait", "-o", "json"]).await;
    let ran = ran.exits(1);
    assert_eq!(results(&ran), pairs(&[("first", "refused"), ("second", "refused"), ("third", "approved")]));
    assert_eq!(ran.json()["items"][0]["reason"], "Ambiguous");
}

#[tokio::test]
async fn many_are_asked_about_once() {
    let scene = fleet("once").await;
    let arguments = ["approve-ak", "--all", "--pending", "--no-wait"];
    let mut terminal = Terminal::run(&scene.approver, &arguments);
    let shown = terminal.shows("Trust these 2 AttestationKeys? [y/N] ").to_owned();
    assert!(shown.contains("/new") && shown.contains("/waits"), "{shown}");
    terminal.types("\n");
    let (code, screen) = terminal.ends();
    assert!(code == 1 && screen.matches("NotConfirmed").count() == 2, "{screen}");
    let mut terminal = Terminal::run(&scene.approver, &arguments);
    terminal.shows("[y/N] ");
    terminal.types("y\n");
    assert_eq!(terminal.ends().0, 0);
    assert!(scene.decision("new").await.is_some() && scene.decision("waits").await.is_some());
}

#[tokio::test]
async fn a_file_names_keys_and_means_the_keys_in_it() {
    let scene = Scene::new("files").await;
    let (own, other) = (objects::public_key(), objects::public_key());
    scene.stage.key_of("own", None, &own).await;
    scene.stage.key_of("swapped", None, &other).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys.yaml");
    let documents =
        [objects::attestation_key("own", None, &own), objects::attestation_key("swapped", None, &own)];
    let text: Vec<String> = documents.iter().map(|key| serde_json::to_string(key).unwrap()).collect();
    std::fs::write(&file, text.join("\n---\n")).unwrap();
    let run = async |file: &str| {
        scene.approver.run(&["approve-ak", "-f", file, "-y", "--no-wait", "-o", "json"]).await
    };
    let ran = run(path(&file)).await.exits(1);
    assert_eq!(results(&ran), pairs(&[("own", "approved"), ("swapped", "refused")]));
    assert_eq!(ran.json()["items"][1]["reason"], "FingerprintMismatch");
    assert_eq!(scene.decision("swapped").await, None);

    std::fs::write(&file, "apiVersion: v1\nkind: Secret\n").unwrap();
    let wrong = run(path(&file)).await.exits(1);
    assert_eq!(wrong.json()["error"]["reason"], "Input");
    let missing = run("/nonexistent/keys.yaml").await.exits(1);
    assert!(missing.stderr.contains("/nonexistent/keys.yaml names no AttestationKeys"), "{}", missing.stderr);
}
