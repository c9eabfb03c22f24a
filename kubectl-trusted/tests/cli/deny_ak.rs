//! `deny-ak` and `revoke-ak` on staged objects; the test plays the operator where one is needed.

use std::time::Duration;

use serde_json::json;
use testenv::{eventually, objects};
use trusted_crds::{AttestationKey, Decision};

use crate::run::Ran;
use crate::scene::{Scene, item};
use crate::terminal::Terminal;

const NOW: [&str; 4] = ["-y", "--no-wait", "-o", "json"];

#[tokio::test]
async fn a_denial_names_the_key_the_person_and_the_reason() {
    let (scene, key) = Scene::with_key("deny").await;
    let ran =
        scene.approver.run(&[&["deny-ak", "k", "--reason", "stolen"], &NOW[..]].concat()).await.exits(0);
    assert_eq!(ran.json()["action"], "deny");
    let denied = item(&ran);
    assert_eq!((&denied["result"], &denied["stage"]), (&json!("denied"), &json!("recorded")));
    let decision = scene.decision("k").await.unwrap();
    assert_eq!((decision.decision, decision.fingerprint), (Decision::Denied, key.to_string()));
    assert_eq!(
        (decision.by.as_deref(), decision.reason.as_deref()),
        (Some(scene.namespace.user_name("approver")), Some("stolen"))
    );
    let again = item(&scene.approver.run(&["deny-ak", "k", "-y", "--no-wait", "-o", "json"]).await.exits(0));
    assert_eq!((&again["result"], &again["reason"]), (&json!("unchanged"), &json!("AlreadyDenied")));
}

#[tokio::test]
async fn what_a_denial_takes_away_is_shown_first() {
    let scene = Scene::new("lost").await;
    let pem = objects::public_key();
    let key = scene.stage.key_of("k", Some("node"), &pem).await;
    scene.stage.approved("k", "True", "MachineCreated", "").await;
    scene.stage.machine("machine", "node", Some(("k", &key))).await;
    scene.stage.key_of("copy", Some("other"), &pem).await;
    let ran = scene.approver.run(&["deny-ak", "k", "--dry-run=client"]).await.exits(0);
    let shown: Vec<&str> = ran.stderr.lines().filter(|line| !line.starts_with("  registered")).collect();
    assert_eq!(
        shown.join("\n").trim_end(),
        format!(
            "AttestationKey {}/k
  fingerprint  {key}
  algorithm    ECDSA P-256
  uuid         node
  machine      machine, bound to k
  now          trusted (MachineCreated)
  same key     copy, not looked at yet, {key}
  Note: the key is trusted now: machine node gets no disk key when it attests next, such as at its next boot.
  Note: copy is the same key and is denied with it.",
            scene.namespace.name()
        )
    );
    assert!(ran.stdout.contains("k     would be denied"), "{}", ran.stdout);
    let next =
        format!("Next: kubectl trusted deny-ak k -n {} --expect-fingerprint {key}\n", scene.namespace.name());
    assert!(ran.stdout.contains(&next), "{}", ran.stdout);
    let copy = item(&scene.approver.run(&["deny-ak", "copy", "-y", "-o", "json"]).await.exits(1));
    assert_eq!((&copy["result"], &copy["reason"]), (&json!("failed"), &json!("TrustedElsewhere")));
    assert_eq!((scene.decision("k").await, scene.decision("copy").await), (None, None));
}

#[tokio::test]
async fn a_denial_is_followed_until_trustee_has_the_key_no_more() {
    testenv::needs!(SimulatedNodes);
    let (scene, key) = Scene::with_key("undelivered").await;
    scene.stage.approved("k", "True", "MachineCreated", "").await;
    scene.stage.trustee(&[&key], &[]).await;
    let child = scene.follow("deny-ak");
    scene.decision_about_k().await;
    scene.stage.approved("k", "False", "Denied", "").await;
    scene.stage.trustee(&[], &[]).await;
    let ran = Ran::of(child.wait_with_output().await.unwrap()).exits(0);
    let item = item(&ran);
    assert_eq!((&item["stage"], &item["reason"]), (&json!("undelivered"), &json!("Denied")));
    let course: Vec<_> = ran.stderr.lines().filter(|line| line.starts_with("k: ")).collect();
    assert_eq!((course[0], *course.last().unwrap()), ("k: recorded", "k: undelivered"));
}

#[tokio::test]
async fn while_trustee_mounts_the_key_the_denial_is_not_done() {
    let (scene, key) = Scene::with_key("mounted").await;
    scene.stage.trustee(&[&key], &[]).await;
    scene.approver.run(&["deny-ak", "k", "-y", "--no-wait"]).await.exits(0);
    scene.stage.approved("k", "False", "Denied", "").await;
    let unchanged = item(&scene.approver.run(&["deny-ak", "k", "-y", "-o", "json"]).await.exits(0));
    assert_eq!((&unchanged["result"], &unchanged["stage"]), (&json!("unchanged"), &json!("unbound")));
    scene.approver.run(&["revoke-ak", "k", "-y", "--no-wait"]).await.exits(0);
    let late = scene.approver.run(&["deny-ak", "k", "-y", "--timeout", "1s", "-o", "json"]).await.exits(124);
    assert!(item(&late)["message"].as_str().unwrap().starts_with("stopped at \"recorded\" after 1 s: "));
}

#[tokio::test]
async fn what_a_person_decided_can_be_taken_back() {
    let (scene, _) = Scene::with_key("revoke").await;
    for decide in ["approve-ak", "deny-ak"] {
        scene.approver.run(&[&[decide, "k"], &NOW[..]].concat()).await.exits(0);
        assert!(scene.decision("k").await.is_some());
        let ran = scene.approver.run(&[&["revoke-ak", "k"], &NOW[..]].concat()).await.exits(0);
        let item = item(&ran);
        assert_eq!((&item["result"], &item["stage"]), (&json!("revoked"), &json!("recorded")));
        assert_eq!(scene.decision("k").await, None);
    }
    let again = item(&scene.approver.run(&["revoke-ak", "k", "-y", "-o", "json"]).await.exits(0));
    assert_eq!((&again["result"], &again["reason"]), (&json!("unchanged"), &json!("NoDecision")));
    scene.stage.approved("k", "True", "MachineCreated", "").await;
    let automatic = item(&scene.approver.run(&["revoke-ak", "k", "-y", "-o", "json"]).await.exits(1));
    assert_eq!((&automatic["result"], &automatic["reason"]), (&json!("failed"), &json!("NotByHand")));
    let deny = format!("kubectl trusted deny-ak k -n {}", scene.namespace.name());
    assert_eq!(automatic["next"], deny);
}

#[tokio::test]
async fn a_revocation_that_ends_no_trust_says_so() {
    let (scene, _) = Scene::with_key("still").await;
    scene.approver.run(&["approve-ak", "k", "-y", "--no-wait"]).await.exits(0);
    let child = scene.follow("revoke-ak");
    eventually("the revocation", Duration::from_secs(10), || async {
        scene.decision("k").await.is_none().then_some(())
    })
    .await;
    scene.stage.approved("k", "True", "MachineCreated", "first key of its machine").await;
    let item = item(&Ran::of(child.wait_with_output().await.unwrap()).exits(1));
    assert_eq!((&item["result"], &item["reason"]), (&json!("revoked"), &json!("MachineCreated")));
    assert_eq!(item["message"], "the operator still trusts the key: first key of its machine");
}

#[tokio::test]
async fn rights_are_needed_for_every_decision() {
    let (scene, _) = Scene::with_key("rights").await;
    scene.approver.run(&["approve-ak", "k", "-y", "--no-wait"]).await.exits(0);
    for verb in ["deny-ak", "revoke-ak"] {
        let arguments = [verb, "k", "-y", "--no-wait", "-o", "json"];
        let editor = item(&scene.user("editor").run(&arguments).await.exits(1));
        assert_eq!((&editor["result"], &editor["reason"]), (&json!("failed"), &json!("ForbiddenByPolicy")));
        let viewer = item(&scene.user("viewer").run(&arguments).await.exits(1));
        assert_eq!((&viewer["result"], &viewer["reason"]), (&json!("failed"), &json!("Forbidden")));
    }
    assert_eq!(scene.decision("k").await.unwrap().decision, Decision::Approved);
}

#[tokio::test]
async fn a_person_is_asked_before_a_key_is_denied() {
    let (scene, _) = Scene::with_key("asked").await;
    scene.approver.run(&["deny-ak", "k"]).await.exits(2);
    let mut terminal = Terminal::run(&scene.approver, &["deny-ak", "k", "--no-wait"]);
    terminal.shows("Deny AttestationKey k for good? [y/N] ");
    terminal.types("n\n");
    let (code, screen) = terminal.ends();
    assert_eq!((code, scene.decision("k").await), (1, None), "{screen}");
    let mut terminal = Terminal::run(&scene.approver, &["deny-ak", "k", "--no-wait"]);
    terminal.shows("[y/N] ");
    let keys = scene.stage.api::<AttestationKey>();
    scene.approver.run(&["approve-ak", "k", "-y", "--no-wait"]).await.exits(0);
    terminal.types("y\n");
    let (code, screen) = terminal.ends();
    assert!(code == 1 && screen.contains("Changed"), "{screen}");
    assert_eq!(keys.get("k").await.unwrap().spec.approval.unwrap().decision, Decision::Approved);
}
