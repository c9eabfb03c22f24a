//! `approve-ak` on staged objects; the test plays the operator where one is needed.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Namespace;
use kube::Api;
use kube::api::{DeleteParams, Patch, PatchParams};
use serde_json::json;
use testenv::audit::Window;
use testenv::{ControlPlane, eventually, objects};
use tokio::io::{AsyncBufReadExt, BufReader};
use trusted_crds::{AttestationKey, Decision};

use crate::run::Ran;
use crate::scene::{Scene, item};
use crate::terminal::Terminal;

#[tokio::test]
async fn an_approval_names_the_key_the_person_and_the_reason() {
    let (scene, key) = Scene::with_key("approve").await;
    let ran = scene
        .approver
        .run(&["approve-ak", "k", "-y", "--no-wait", "--reason", "rack 7", "-o", "json"])
        .await
        .exits(0);
    let item = item(&ran);
    assert_eq!((&item["result"], &item["stage"]), (&json!("approved"), &json!("recorded")));
    assert_eq!(item["fingerprint"], key.to_string());
    let approval = scene.decision("k").await.unwrap();
    assert_eq!(approval.decision, Decision::Approved);
    assert_eq!(approval.fingerprint, key.to_string());
    assert_eq!(
        (approval.by.as_deref(), approval.reason.as_deref()),
        (Some(scene.namespace.user_name("approver")), Some("rack 7"))
    );
    let again = scene.approver.run(&["approve-ak", "k", "-y", "-o", "json"]).await.exits(0);
    assert_eq!(again.json()["items"][0]["result"], "unchanged");
}

#[tokio::test]
async fn without_a_terminal_it_needs_a_yes() {
    let (scene, _) = Scene::with_key("yes").await;
    let ran = scene.approver.run(&["approve-ak", "k", "-o", "json"]).await.exits(2);
    assert_eq!(ran.stdout, "");
    assert!(
        ran.stderr.starts_with("Error: There is no terminal to ask on, so nothing was approved\n"),
        "{}",
        ran.stderr
    );
    assert_eq!(scene.decision("k").await, None);
    scene.approver.run(&["approve-ak", "k", "-y", "-A"]).await.exits(2);
}

#[tokio::test]
async fn what_will_be_trusted_is_shown_first() {
    let scene = Scene::new("show").await;
    scene.stage.cluster("demo").await;
    let first = scene.stage.key("first", Some("node")).await;
    scene.stage.approved("first", "True", "MachineCreated", "").await;
    scene.stage.machine("machine", "node", Some(("first", &first))).await;
    let second = scene.stage.key("second", Some("node")).await;
    scene.stage.approved("second", "False", "Conflict", "bound to first").await;
    let ran = scene.approver.run(&["approve-ak", "second", "--dry-run=client"]).await.exits(0);
    let shown: Vec<&str> = ran.stderr.lines().filter(|line| !line.starts_with("  registered")).collect();
    assert_eq!(
        shown.join("\n").trim_end(),
        format!(
            "AttestationKey {}/second
  fingerprint  {second}
  algorithm    ECDSA P-256
  uuid         node
  machine      machine, bound to first
  now          not trusted (Conflict): bound to first
  other key    first, trusted (MachineCreated), {first}
  Note: first is trusted for this machine now and will not be any more.",
            scene.namespace.name()
        )
    );
    assert_eq!(scene.decision("second").await, None);
}

#[tokio::test]
async fn dry_runs_change_nothing_but_the_server_checks() {
    let scene = Scene::new("dry").await;
    scene.stage.key("k", None).await;
    for place in ["client", "server"] {
        let ran = scene
            .approver
            .run(&["approve-ak", "k", &format!("--dry-run={place}"), "-o", "json"])
            .await
            .exits(0);
        assert_eq!(ran.json()["dryRun"], place);
        assert_eq!(item(&ran)["stage"], json!(null));
    }
    let editor = scene.user("editor");
    editor.run(&["approve-ak", "k", "--dry-run=client"]).await.exits(0);
    let ran = editor.run(&["approve-ak", "k", "--dry-run=server", "-o", "json"]).await.exits(1);
    assert_eq!(item(&ran)["reason"], "ForbiddenByPolicy");
    assert_eq!(scene.decision("k").await, None);
}

#[tokio::test]
async fn a_dry_run_says_would_and_how_it_is_done() {
    let scene = Scene::new("would").await;
    scene.stage.key("first", Some("node")).await;
    scene.approve(&["first"]).await.exits(0);
    let key = scene.stage.key("second", Some("node")).await;
    for (arguments, words) in [
        (&["--dry-run=client"][..], "would be approved"),
        (&["--dry-run=server"], "would be approved, the API server agrees"),
    ] {
        let all = [&["approve-ak", "second", "--replace"], arguments].concat();
        let shown = scene.approver.run(&all).await.exits(0).stdout;
        assert!(shown.contains(&format!("second  {words}")), "{shown}");
        let command = format!(
            "Next: kubectl trusted approve-ak second -n {} --replace --expect-fingerprint {key}\n",
            scene.namespace.name()
        );
        assert!(shown.contains(&command), "{shown}");
    }
    assert_eq!(scene.decision("second").await, None);
}

#[tokio::test]
async fn names_are_taken_as_kubectl_prints_them() {
    let scene = Scene::new("names").await;
    scene.stage.key("k", None).await;
    for prefix in ["ak", "attestationkey", "attestationkeys", "attestationkey.trusted-execution-clusters.io"]
    {
        let name = format!("{prefix}/k");
        let ran = scene.approver.run(&["approve-ak", &name, "--dry-run=client", "-o", "json"]).await.exits(0);
        assert_eq!(item(&ran)["name"], "k");
    }
    for wrong in ["machine/k", "ak/", "machines.trusted-execution-clusters.io/k", "a/b/c"] {
        let ran = scene.approver.run(&["approve-ak", wrong, "-y"]).await.exits(2);
        assert!(ran.stderr.contains("NAME or attestationkey/NAME"), "{}", ran.stderr);
    }
}

#[tokio::test]
async fn an_approval_that_nothing_acts_on_is_warned_of() {
    let scene = Scene::new("unlabelled").await;
    scene.stage.key("k", None).await;
    let warning = "Warning: namespace ";
    let admin = scene.user("admin");
    let arguments = ["approve-ak", "k", "--dry-run=client"];
    let labelled = admin.run(&arguments).await.exits(0);
    assert!(!labelled.stderr.contains(warning), "{}", labelled.stderr);
    let namespaces: Api<Namespace> = Api::all(scene.stage.admin.clone());
    let patch = json!({"metadata": {"labels": {"trusted-execution-clusters.io/managed": null}}});
    namespaces.patch(scene.namespace.name(), &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
    let bare = admin.run(&arguments).await.exits(0);
    assert!(bare.stderr.contains(warning) && bare.stderr.contains("no effect"), "{}", bare.stderr);
    let label = format!(
        "kubectl label namespace {} trusted-execution-clusters.io/managed=true",
        scene.namespace.name()
    );
    assert!(bare.stderr.contains(&label), "{}", bare.stderr);
    let document = admin.run(&["approve-ak", "k", "--dry-run=client", "-o", "json"]).await.exits(0).json();
    assert!(document["warnings"][0].as_str().unwrap().contains("no effect"), "{document}");
    // Whoever may not see the namespace is told nothing.
    let unseen = scene.approver.run(&arguments).await.exits(0);
    assert!(!unseen.stderr.contains(warning), "{}", unseen.stderr);
    let nowhere = admin.run(&["approve-ak", "k", "-y", "-n", "nope"]).await.exits(1);
    assert!(nowhere.stderr.contains("there is no namespace \"nope\""), "{}", nowhere.stderr);
}

#[tokio::test]
async fn policy_and_rights_refuse_in_different_words() {
    let (scene, _) = Scene::with_key("forbidden").await;
    let arguments = ["approve-ak", "k", "-y", "--no-wait", "-o", "json"];
    let editor = item(&scene.user("editor").run(&arguments).await.exits(1));
    assert_eq!((&editor["result"], &editor["reason"]), (&json!("failed"), &json!("ForbiddenByPolicy")));
    assert!(editor["message"].as_str().unwrap().contains("verb approve"), "{editor}");
    let viewer = item(&scene.user("viewer").run(&arguments).await.exits(1));
    assert_eq!((&viewer["result"], &viewer["reason"]), (&json!("failed"), &json!("Forbidden")));
    assert!(viewer["next"].as_str().unwrap().contains("Role trusted-approver"), "{viewer}");
    let nobody = scene.user("nobody").run(&arguments).await.exits(1);
    assert_eq!(nobody.json()["error"]["reason"], "Forbidden");
    assert_eq!(scene.decision("k").await, None);
}

#[tokio::test]
async fn only_the_expected_key_is_approved() {
    let scene = Scene::new("expect").await;
    let key = scene.stage.key("k", Some("node")).await.to_string();
    let other = format!("sha256:{}", "0".repeat(64));
    let run = async |expected: &str| {
        scene
            .approver
            .run(&["approve-ak", "k", "-y", "--no-wait", "-o", "json", "--expect-fingerprint", expected])
            .await
    };
    let refused = item(&run(&other).await.exits(1));
    assert_eq!((&refused["result"], &refused["reason"]), (&json!("refused"), &json!("FingerprintMismatch")));
    assert_eq!(scene.decision("k").await, None);
    assert_eq!(item(&run(&key).await.exits(0))["result"], "approved");
    scene.approver.run(&["approve-ak", "k", "l", "-y", "--expect-fingerprint", &key]).await.exits(2);
}

#[tokio::test]
async fn what_is_no_public_key_is_refused_and_never_shown() {
    let scene = Scene::new("invalid").await;
    let body = "MC4CAQAwBQYDK2VwBCIEIHb0k2Rz";
    scene.stage.create(&objects::attestation_key("text", None, body)).await;
    let ran = scene.approver.run(&["approve-ak", "text", "-y", "-o", "json"]).await.exits(1);
    assert_eq!(item(&ran)["reason"], "InvalidKey");
    assert!(!ran.stdout.contains(body) && !ran.stderr.contains(body), "{ran:?}");
}

#[tokio::test]
async fn hand_displaces_hand_only_on_request() {
    let scene = Scene::new("replace").await;
    let first = scene.stage.key("first", Some("node")).await;
    scene.stage.key("second", Some("node")).await;
    scene.approve(&["first"]).await.exits(0);
    let refused = item(&scene.approve(&["second"]).await.exits(1));
    assert_eq!((&refused["result"], &refused["reason"]), (&json!("refused"), &json!("BoundByHand")));
    assert_eq!(scene.decision("second").await, None);

    scene.approver.run(&["approve-ak", "second", "-y", "--no-wait", "--replace"]).await.exits(0);
    let former = scene.decision("first").await.unwrap();
    assert_eq!((former.decision, former.fingerprint), (Decision::Denied, first.to_string()));
    assert_eq!(former.reason.as_deref(), Some("replaced by AttestationKey second"));
    assert_eq!(scene.decision("second").await.unwrap().decision, Decision::Approved);

    let denied = item(&scene.approve(&["first"]).await.exits(1));
    assert_eq!(denied["reason"], "Denied");
    let both = ["approve-ak", "first", "-y", "--no-wait", "--override-denial", "--replace"];
    scene.approver.run(&both).await.exits(0);
    let back = scene.decision("first").await.unwrap();
    assert_eq!((back.decision, back.reason), (Decision::Approved, None));
    assert_eq!(scene.decision("second").await.unwrap().decision, Decision::Denied);
}

#[tokio::test]
async fn a_denial_under_another_name_is_named() {
    let scene = Scene::new("twin").await;
    let pem = objects::public_key();
    scene.stage.key_of("twin", Some("a"), &pem).await;
    scene.stage.key_of("k", Some("b"), &pem).await;
    scene.approve(&["twin"]).await.exits(0);
    let mut twin = scene.stage.api::<AttestationKey>().get("twin").await.unwrap();
    let approval = twin.spec.approval.as_mut().unwrap();
    (approval.decision, approval.by) =
        (Decision::Denied, Some(scene.namespace.user_name("admin").to_owned()));
    scene.stage.api::<AttestationKey>().replace("twin", &Default::default(), &twin).await.unwrap();
    let refused = item(&scene.approve(&["k"]).await.exits(1));
    assert_eq!(refused["reason"], "DeniedElsewhere");
    assert!(refused["message"].as_str().unwrap().contains("denied as AttestationKey twin"), "{refused}");
}

#[tokio::test]
async fn one_failure_does_not_stop_the_others() {
    let scene = Scene::new("several").await;
    scene.stage.key("a", None).await;
    scene.stage.key("c", None).await;
    let ran = scene.approve(&["a", "b", "c", "a"]).await.exits(1);
    let items = ran.json()["items"].clone();
    let results: Vec<_> =
        items.as_array().unwrap().iter().map(|item| item["result"].as_str().unwrap()).collect();
    assert_eq!(results, ["approved", "failed", "approved"]);
    assert_eq!(items[1]["reason"], "NotFound");
}

#[tokio::test]
async fn the_deadline_says_where_it_stopped_and_why() {
    let (scene, _) = Scene::with_key("deadline").await;
    let arguments = ["approve-ak", "k", "-y", "--timeout", "1s", "-o", "json"];
    let item = item(&scene.approver.run(&arguments).await.exits(124));
    assert_eq!((&item["result"], &item["stage"]), (&json!("approved"), &json!("recorded")));
    let message = item["message"].as_str().unwrap();
    assert!(
        message.starts_with("stopped at \"recorded\" after 1 s: the operator has not answered yet"),
        "{message}"
    );
    assert_eq!(item["next"], "kubectl get deployments -A -l app.kubernetes.io/name=trusted-operator");
}

#[tokio::test]
async fn the_effect_is_followed_until_trustee_has_the_key() {
    testenv::needs!(SimulatedNodes);
    let (scene, key) = Scene::with_key("follow").await;
    scene.stage.trustee(&[], &[]).await;
    let child = scene.follow("approve-ak");
    scene.decision_about_k().await;
    scene.stage.approved("k", "True", "ManuallyApproved", "").await;
    scene.stage.trustee(&[&key], &[]).await;
    let ran = Ran::of(child.wait_with_output().await.unwrap()).exits(0);
    let item = item(&ran);
    assert_eq!((&item["stage"], &item["reason"]), (&json!("delivered"), &json!("ManuallyApproved")));
    let course: Vec<_> = ran.stderr.lines().filter(|line| line.starts_with("k: ")).collect();
    assert_eq!(course, ["k: recorded", "k: bound to machine node", "k: delivered"]);
}

#[tokio::test]
async fn a_decision_against_it_ends_the_wait() {
    let (scene, _) = Scene::with_key("against").await;
    // What the operator said of the key before it was approved is not an answer to the approval.
    scene.stage.approved("k", "False", "Conflict", "before").await;
    let child = scene.follow("approve-ak");
    scene.decision_about_k().await;
    scene.stage.approved("k", "False", "Conflict", "bound to another machine").await;
    let item = item(&Ran::of(child.wait_with_output().await.unwrap()).exits(1));
    assert_eq!((&item["result"], &item["reason"]), (&json!("approved"), &json!("Conflict")));
    assert_eq!(item["message"], "the operator does not trust it: bound to another machine");
}

#[tokio::test]
async fn a_wait_costs_no_more_requests_the_longer_it_takes() {
    testenv::needs!(AuditLog);
    let (scene, _) = Scene::with_key("waiting").await;
    let before = Timestamp::now();
    scene.approver.run(&["approve-ak", "k", "-y", "--timeout", "3s"]).await.exits(124);
    let audit = ControlPlane::shared().await.audit();
    let requests = audit.settled("approver", Window::since(before)).await.unwrap();
    let ours = requests.filter(|request| request.namespace == scene.namespace.name());
    let counts = ["list", "watch", "patch", "get"]
        .map(|verb| ours.iter().filter(|request| request.verb == verb).count());
    assert_eq!(counts, [5, 2, 1, 1], "{:?}", ours.by_resource());
}

#[tokio::test]
async fn a_person_is_asked_and_a_no_is_a_no() {
    let (scene, _) = Scene::with_key("ask").await;
    let mut terminal = Terminal::run(&scene.approver, &["approve-ak", "k", "--no-wait"]);
    let shown = terminal.shows("Trust AttestationKey k? [y/N] ").to_owned();
    assert!(shown.contains("fingerprint"), "{shown}");
    terminal.types("n\n");
    let (code, screen) = terminal.ends();
    assert_eq!(code, 1, "{screen}");
    assert!(screen.contains("NotConfirmed"), "{screen}");
    assert_eq!(scene.decision("k").await, None);

    let mut terminal = Terminal::run(&scene.approver, &["approve-ak", "k", "--no-wait"]);
    terminal.shows("[y/N] ");
    terminal.types("yes\n");
    let (code, screen) = terminal.ends();
    assert_eq!(code, 0, "{screen}");
    assert!(scene.decision("k").await.is_some());
}

#[tokio::test]
async fn a_key_that_changes_while_the_question_stands_is_not_approved() {
    let (scene, _) = Scene::with_key("changed").await;
    let mut terminal = Terminal::run(&scene.approver, &["approve-ak", "k", "--no-wait"]);
    terminal.shows("[y/N] ");
    let keys = scene.stage.api::<AttestationKey>();
    keys.delete("k", &DeleteParams::default()).await.unwrap();
    eventually("the deletion", Duration::from_secs(10), || async {
        keys.get_opt("k").await.unwrap().is_none().then_some(())
    })
    .await;
    scene.stage.key("k", Some("node")).await;
    terminal.types("y\n");
    let (code, screen) = terminal.ends();
    assert_eq!(code, 1, "{screen}");
    assert!(screen.contains("Changed"), "{screen}");
    assert_eq!(scene.decision("k").await, None);
}

#[tokio::test]
async fn a_status_written_while_the_question_stands_does_not_matter() {
    let (scene, _) = Scene::with_key("moved").await;
    let mut terminal = Terminal::run(&scene.approver, &["approve-ak", "k", "--no-wait"]);
    terminal.shows("[y/N] ");
    scene.stage.approved("k", "False", "AwaitingMachine", "").await;
    terminal.types("y\n");
    let (code, screen) = terminal.ends();
    assert_eq!(code, 0, "{screen}");
    assert!(scene.decision("k").await.is_some());
}

#[tokio::test]
async fn ctrl_c_tells_how_far_it_came() {
    let (scene, _) = Scene::with_key("interrupt").await;
    let mut child = scene.follow("approve-ak");
    let process = child.id().unwrap().to_string();
    let mut course = BufReader::new(child.stderr.take().unwrap()).lines();
    while course.next_line().await.unwrap().expect("the wait begins") != "k: recorded" {}
    std::process::Command::new("kill").args(["-INT", &process]).status().unwrap();
    let ran = Ran::of(child.wait_with_output().await.unwrap()).exits(130);
    assert_eq!(item(&ran)["stage"], "recorded");
}
