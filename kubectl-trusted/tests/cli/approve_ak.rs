//! `approve-ak` on staged objects; the test plays the operator where one is needed.

use std::process::Stdio;
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Namespace;
use kube::Api;
use kube::api::{DeleteParams, Patch, PatchParams};
use serde_json::json;
use testenv::audit::Window;
use testenv::{ControlPlane, TestNamespace, eventually, objects};
use tokio::io::{AsyncBufReadExt, BufReader};
use trusted_crds::{AttestationKey, Decision};

use crate::run::{Plugin, Ran};
use crate::stage::Stage;
use crate::terminal::Terminal;

async fn staged(prefix: &str) -> (TestNamespace, Stage, Plugin) {
    let namespace = ControlPlane::shared().await.namespace(prefix).await;
    let stage = Stage::of(&namespace);
    let approver = Plugin::as_user(&namespace, "approver");
    (namespace, stage, approver)
}

async fn decision(stage: &Stage, name: &str) -> Option<trusted_crds::Approval> {
    stage.api::<AttestationKey>().get(name).await.unwrap().spec.approval
}

/// The one item of a result.
fn item(ran: &Ran) -> serde_json::Value {
    let document = ran.json();
    assert_eq!(document["kind"], "ApprovalResult");
    assert_eq!(document["items"].as_array().unwrap().len(), 1, "{document}");
    document["items"][0].clone()
}

#[tokio::test]
async fn an_approval_names_the_key_the_person_and_the_reason() {
    let (_namespace, stage, approver) = staged("approve").await;
    let key = stage.key("k", Some("node")).await;
    let ran = approver
        .run(&["approve-ak", "k", "-y", "--no-wait", "--reason", "rack 7", "-o", "json"])
        .await
        .exits(0);
    let item = item(&ran);
    assert_eq!((&item["result"], &item["stage"]), (&json!("approved"), &json!("recorded")));
    assert_eq!(item["fingerprint"], key.to_string());
    let approval = decision(&stage, "k").await.unwrap();
    assert_eq!(approval.decision, Decision::Approved);
    assert_eq!(approval.fingerprint, key.to_string());
    assert_eq!((approval.by.as_deref(), approval.reason.as_deref()), (Some("approver"), Some("rack 7")));
    let again = approver.run(&["approve-ak", "k", "-y", "-o", "json"]).await.exits(0);
    assert_eq!(again.json()["items"][0]["result"], "unchanged");
}

#[tokio::test]
async fn without_a_terminal_it_needs_a_yes() {
    let (_namespace, stage, approver) = staged("yes").await;
    stage.key("k", Some("node")).await;
    let ran = approver.run(&["approve-ak", "k", "-o", "json"]).await.exits(2);
    assert_eq!(ran.stdout, "");
    assert!(
        ran.stderr.starts_with("Error: There is no terminal to ask on, so nothing was approved\n"),
        "{}",
        ran.stderr
    );
    assert_eq!(decision(&stage, "k").await, None);
    approver.run(&["approve-ak", "k", "-y", "-A"]).await.exits(2);
}

#[tokio::test]
async fn what_will_be_trusted_is_shown_first() {
    let (namespace, stage, approver) = staged("show").await;
    stage.cluster("demo").await;
    let first = stage.key("first", Some("node")).await;
    stage.approved("first", "True", "MachineCreated", "").await;
    stage.machine("machine", "node", Some(("first", &first))).await;
    let second = stage.key("second", Some("node")).await;
    stage.approved("second", "False", "Conflict", "bound to first").await;
    let ran = approver.run(&["approve-ak", "second", "--dry-run=client"]).await.exits(0);
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
            namespace.name()
        )
    );
    assert_eq!(decision(&stage, "second").await, None);
}

#[tokio::test]
async fn dry_runs_change_nothing_but_the_server_checks() {
    let (namespace, stage, approver) = staged("dry").await;
    stage.key("k", None).await;
    for place in ["client", "server"] {
        let ran =
            approver.run(&["approve-ak", "k", &format!("--dry-run={place}"), "-o", "json"]).await.exits(0);
        assert_eq!(ran.json()["dryRun"], place);
        assert_eq!(item(&ran)["stage"], json!(null));
    }
    let editor = Plugin::as_user(&namespace, "editor");
    editor.run(&["approve-ak", "k", "--dry-run=client"]).await.exits(0);
    let ran = editor.run(&["approve-ak", "k", "--dry-run=server", "-o", "json"]).await.exits(1);
    assert_eq!(item(&ran)["reason"], "ForbiddenByPolicy");
    assert_eq!(decision(&stage, "k").await, None);
}

#[tokio::test]
async fn a_dry_run_says_would_and_how_it_is_done() {
    let (namespace, stage, approver) = staged("would").await;
    let first = stage.key("first", Some("node")).await;
    stage.key("k", Some("node")).await;
    approver.run(&["approve-ak", "first", "-y", "--no-wait"]).await.exits(0);
    let key = stage.key("second", Some("node")).await;
    for (arguments, words) in [
        (&["--dry-run=client"][..], "would be approved"),
        (&["--dry-run=server"], "would be approved, the API server agrees"),
    ] {
        let all = [&["approve-ak", "second", "--replace"], arguments].concat();
        let shown = approver.run(&all).await.exits(0).stdout;
        assert!(shown.contains(&format!("second  {words}")), "{shown}");
        let command = format!(
            "Next: kubectl trusted approve-ak second -n {} --replace --expect-fingerprint {key}\n",
            namespace.name()
        );
        assert!(shown.contains(&command), "{shown}");
    }
    assert_ne!(first, key);
    assert_eq!(decision(&stage, "second").await, None);
}

#[tokio::test]
async fn names_are_taken_as_kubectl_prints_them() {
    let (_namespace, stage, approver) = staged("names").await;
    stage.key("k", None).await;
    for prefix in ["ak", "attestationkey", "attestationkeys", "attestationkey.trusted-execution-clusters.io"]
    {
        let name = format!("{prefix}/k");
        let ran = approver.run(&["approve-ak", &name, "--dry-run=client", "-o", "json"]).await.exits(0);
        assert_eq!(item(&ran)["name"], "k");
    }
    for wrong in ["machine/k", "ak/", "machines.trusted-execution-clusters.io/k", "a/b/c"] {
        let ran = approver.run(&["approve-ak", wrong, "-y"]).await.exits(2);
        assert!(ran.stderr.contains("NAME or attestationkey/NAME"), "{}", ran.stderr);
    }
}

#[tokio::test]
async fn an_approval_that_nothing_acts_on_is_warned_of() {
    let (namespace, stage, approver) = staged("unlabelled").await;
    stage.key("k", None).await;
    let warning = "Warning: namespace ";
    let admin = Plugin::as_user(&namespace, "admin");
    let arguments = ["approve-ak", "k", "--dry-run=client"];
    let labelled = admin.run(&arguments).await.exits(0);
    assert!(!labelled.stderr.contains(warning), "{}", labelled.stderr);
    let namespaces: Api<Namespace> = Api::all(stage.admin.clone());
    let patch = json!({"metadata": {"labels": {"trusted-execution-clusters.io/managed": null}}});
    namespaces.patch(namespace.name(), &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
    let bare = admin.run(&arguments).await.exits(0);
    assert!(bare.stderr.contains(warning) && bare.stderr.contains("no effect"), "{}", bare.stderr);
    let label =
        format!("kubectl label namespace {} trusted-execution-clusters.io/managed=true", namespace.name());
    assert!(bare.stderr.contains(&label), "{}", bare.stderr);
    let document = admin.run(&["approve-ak", "k", "--dry-run=client", "-o", "json"]).await.exits(0).json();
    assert!(document["warnings"][0].as_str().unwrap().contains("no effect"), "{document}");
    // Whoever may not see the namespace is told nothing.
    let unseen = approver.run(&arguments).await.exits(0);
    assert!(!unseen.stderr.contains(warning), "{}", unseen.stderr);
    let nowhere = admin.run(&["approve-ak", "k", "-y", "-n", "nope"]).await.exits(1);
    assert!(nowhere.stderr.contains("there is no namespace \"nope\""), "{}", nowhere.stderr);
}

#[tokio::test]
async fn policy_and_rights_refuse_in_different_words() {
    let (namespace, stage, _) = staged("forbidden").await;
    stage.key("k", Some("node")).await;
    let arguments = ["approve-ak", "k", "-y", "--no-wait", "-o", "json"];
    let editor = item(&Plugin::as_user(&namespace, "editor").run(&arguments).await.exits(1));
    assert_eq!((&editor["result"], &editor["reason"]), (&json!("failed"), &json!("ForbiddenByPolicy")));
    assert!(editor["message"].as_str().unwrap().contains("verb approve"), "{editor}");
    let viewer = item(&Plugin::as_user(&namespace, "viewer").run(&arguments).await.exits(1));
    assert_eq!((&viewer["result"], &viewer["reason"]), (&json!("failed"), &json!("Forbidden")));
    assert!(viewer["next"].as_str().unwrap().contains("right to patch attestationkeys"), "{viewer}");
    let nobody = Plugin::as_user(&namespace, "nobody").run(&arguments).await.exits(1);
    assert_eq!(nobody.json()["error"]["reason"], "Forbidden");
    assert_eq!(decision(&stage, "k").await, None);
}

#[tokio::test]
async fn only_the_expected_key_is_approved() {
    let (_namespace, stage, approver) = staged("expect").await;
    let key = stage.key("k", Some("node")).await.to_string();
    let other = format!("sha256:{}", "0".repeat(64));
    let run = async |expected: &str| {
        approver
            .run(&["approve-ak", "k", "-y", "--no-wait", "-o", "json", "--expect-fingerprint", expected])
            .await
    };
    let refused = item(&run(&other).await.exits(1));
    assert_eq!((&refused["result"], &refused["reason"]), (&json!("refused"), &json!("FingerprintMismatch")));
    assert_eq!(decision(&stage, "k").await, None);
    assert_eq!(item(&run(&key).await.exits(0))["result"], "approved");
    approver.run(&["approve-ak", "k", "l", "-y", "--expect-fingerprint", &key]).await.exits(2);
}

#[tokio::test]
async fn what_is_no_public_key_is_refused_and_never_shown() {
    let (_namespace, stage, approver) = staged("invalid").await;
    let body = "MC4CAQAwBQYDK2VwBCIEIHb0k2Rz";
    stage.create(&objects::attestation_key("text", None, body)).await;
    let ran = approver.run(&["approve-ak", "text", "-y", "-o", "json"]).await.exits(1);
    assert_eq!(item(&ran)["reason"], "InvalidKey");
    assert!(!ran.stdout.contains(body) && !ran.stderr.contains(body), "{ran:?}");
}

#[tokio::test]
async fn hand_displaces_hand_only_on_request() {
    let (_namespace, stage, approver) = staged("replace").await;
    let first = stage.key("first", Some("node")).await;
    stage.key("second", Some("node")).await;
    approver.run(&["approve-ak", "first", "-y", "--no-wait"]).await.exits(0);
    let refused =
        item(&approver.run(&["approve-ak", "second", "-y", "--no-wait", "-o", "json"]).await.exits(1));
    assert_eq!((&refused["result"], &refused["reason"]), (&json!("refused"), &json!("BoundByHand")));
    assert_eq!(decision(&stage, "second").await, None);

    approver.run(&["approve-ak", "second", "-y", "--no-wait", "--replace"]).await.exits(0);
    let former = decision(&stage, "first").await.unwrap();
    assert_eq!((former.decision, former.fingerprint), (Decision::Denied, first.to_string()));
    assert_eq!(former.reason.as_deref(), Some("replaced by AttestationKey second"));
    assert_eq!(decision(&stage, "second").await.unwrap().decision, Decision::Approved);

    let denied =
        item(&approver.run(&["approve-ak", "first", "-y", "--no-wait", "-o", "json"]).await.exits(1));
    assert_eq!(denied["reason"], "Denied");
    let both = ["approve-ak", "first", "-y", "--no-wait", "--override-denial", "--replace"];
    approver.run(&both).await.exits(0);
    let back = decision(&stage, "first").await.unwrap();
    assert_eq!((back.decision, back.reason), (Decision::Approved, None));
    assert_eq!(decision(&stage, "second").await.unwrap().decision, Decision::Denied);
}

#[tokio::test]
async fn a_denial_under_another_name_is_named() {
    let (_namespace, stage, approver) = staged("twin").await;
    let pem = objects::public_key();
    stage.key_of("twin", Some("a"), &pem).await;
    stage.key_of("k", Some("b"), &pem).await;
    approver.run(&["approve-ak", "twin", "-y", "--no-wait"]).await.exits(0);
    let mut twin = stage.api::<AttestationKey>().get("twin").await.unwrap();
    let approval = twin.spec.approval.as_mut().unwrap();
    (approval.decision, approval.by) = (Decision::Denied, Some("admin".to_owned()));
    stage.api::<AttestationKey>().replace("twin", &Default::default(), &twin).await.unwrap();
    let refused = item(&approver.run(&["approve-ak", "k", "-y", "--no-wait", "-o", "json"]).await.exits(1));
    assert_eq!(refused["reason"], "DeniedElsewhere");
    assert!(refused["message"].as_str().unwrap().contains("denied as AttestationKey twin"), "{refused}");
}

#[tokio::test]
async fn one_failure_does_not_stop_the_others() {
    let (_namespace, stage, approver) = staged("several").await;
    stage.key("a", None).await;
    stage.key("c", None).await;
    let ran =
        approver.run(&["approve-ak", "a", "b", "c", "a", "-y", "--no-wait", "-o", "json"]).await.exits(1);
    let items = ran.json()["items"].clone();
    let results: Vec<_> =
        items.as_array().unwrap().iter().map(|item| item["result"].as_str().unwrap()).collect();
    assert_eq!(results, ["approved", "failed", "approved"]);
    assert_eq!(items[1]["reason"], "NotFound");
}

#[tokio::test]
async fn the_deadline_says_where_it_stopped_and_why() {
    let (_namespace, stage, approver) = staged("deadline").await;
    stage.key("k", Some("node")).await;
    let arguments = ["approve-ak", "k", "-y", "--timeout", "1s", "-o", "json"];
    let item = item(&approver.run(&arguments).await.exits(124));
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
    let (_namespace, stage, approver) = staged("follow").await;
    let key = stage.key("k", Some("node")).await;
    stage.trustee(&[], &[]).await;
    let child = approver
        .command()
        .args(["approve-ak", "k", "-y", "-o", "json", "--timeout", "30s"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    eventually("the approval", Duration::from_secs(10), || async { decision(&stage, "k").await }).await;
    stage.approved("k", "True", "ManuallyApproved", "").await;
    stage.trustee(&[&key], &[]).await;
    let ran = Ran::of(child.wait_with_output().await.unwrap()).exits(0);
    let item = item(&ran);
    assert_eq!((&item["stage"], &item["reason"]), (&json!("delivered"), &json!("ManuallyApproved")));
    let course: Vec<_> = ran.stderr.lines().filter(|line| line.starts_with("k: ")).collect();
    assert_eq!(course, ["k: recorded", "k: bound to machine node", "k: delivered"]);
}

#[tokio::test]
async fn a_decision_against_it_ends_the_wait() {
    let (_namespace, stage, approver) = staged("against").await;
    stage.key("k", Some("node")).await;
    // What the operator said of the key before it was approved is not an answer to the approval.
    stage.approved("k", "False", "Conflict", "before").await;
    let child = approver
        .command()
        .args(["approve-ak", "k", "-y", "-o", "json", "--timeout", "60s"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    eventually("the approval", Duration::from_secs(10), || async { decision(&stage, "k").await }).await;
    stage.approved("k", "False", "Conflict", "bound to another machine").await;
    let item = item(&Ran::of(child.wait_with_output().await.unwrap()).exits(1));
    assert_eq!((&item["result"], &item["reason"]), (&json!("approved"), &json!("Conflict")));
    assert_eq!(item["message"], "the operator does not trust it: bound to another machine");
}

#[tokio::test]
async fn a_wait_costs_no_more_requests_the_longer_it_takes() {
    let (namespace, stage, approver) = staged("waiting").await;
    stage.key("k", Some("node")).await;
    let before = Timestamp::now();
    approver.run(&["approve-ak", "k", "-y", "--timeout", "3s"]).await.exits(124);
    let audit = ControlPlane::shared().await.audit();
    let requests = audit.settled("approver", Window::since(before)).await.unwrap();
    let ours = requests.filter(|request| request.namespace == namespace.name());
    let counts = ["list", "watch", "patch", "get"]
        .map(|verb| ours.iter().filter(|request| request.verb == verb).count());
    assert_eq!(counts, [5, 2, 1, 1], "{:?}", ours.by_resource());
}

#[tokio::test]
async fn a_person_is_asked_and_a_no_is_a_no() {
    let (_namespace, stage, approver) = staged("ask").await;
    stage.key("k", Some("node")).await;
    let mut terminal = Terminal::run(&approver, &["approve-ak", "k", "--no-wait"]);
    let shown = terminal.shows("Trust AttestationKey k? [y/N] ").to_owned();
    assert!(shown.contains("fingerprint"), "{shown}");
    terminal.types("n\n");
    let (code, screen) = terminal.ends();
    assert_eq!(code, 1, "{screen}");
    assert!(screen.contains("NotConfirmed"), "{screen}");
    assert_eq!(decision(&stage, "k").await, None);

    let mut terminal = Terminal::run(&approver, &["approve-ak", "k", "--no-wait"]);
    terminal.shows("[y/N] ");
    terminal.types("yes\n");
    let (code, screen) = terminal.ends();
    assert_eq!(code, 0, "{screen}");
    assert!(decision(&stage, "k").await.is_some());
}

#[tokio::test]
async fn a_key_that_changes_while_the_question_stands_is_not_approved() {
    let (_namespace, stage, approver) = staged("changed").await;
    stage.key("k", Some("node")).await;
    let mut terminal = Terminal::run(&approver, &["approve-ak", "k", "--no-wait"]);
    terminal.shows("[y/N] ");
    let keys = stage.api::<AttestationKey>();
    keys.delete("k", &DeleteParams::default()).await.unwrap();
    eventually("the deletion", Duration::from_secs(10), || async {
        keys.get_opt("k").await.unwrap().is_none().then_some(())
    })
    .await;
    stage.key("k", Some("node")).await;
    terminal.types("y\n");
    let (code, screen) = terminal.ends();
    assert_eq!(code, 1, "{screen}");
    assert!(screen.contains("Changed"), "{screen}");
    assert_eq!(decision(&stage, "k").await, None);
}

#[tokio::test]
async fn a_status_written_while_the_question_stands_does_not_matter() {
    let (_namespace, stage, approver) = staged("moved").await;
    stage.key("k", Some("node")).await;
    let mut terminal = Terminal::run(&approver, &["approve-ak", "k", "--no-wait"]);
    terminal.shows("[y/N] ");
    stage.approved("k", "False", "AwaitingMachine", "").await;
    terminal.types("y\n");
    let (code, screen) = terminal.ends();
    assert_eq!(code, 0, "{screen}");
    assert!(decision(&stage, "k").await.is_some());
}

#[tokio::test]
async fn ctrl_c_tells_how_far_it_came() {
    let (_namespace, stage, approver) = staged("interrupt").await;
    stage.key("k", Some("node")).await;
    let mut child = approver
        .command()
        .args(["approve-ak", "k", "-y", "-o", "json", "--timeout", "60s"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let process = child.id().unwrap().to_string();
    let mut course = BufReader::new(child.stderr.take().unwrap()).lines();
    while course.next_line().await.unwrap().expect("the wait begins") != "k: recorded" {}
    std::process::Command::new("kill").args(["-INT", &process]).status().unwrap();
    let ran = Ran::of(child.wait_with_output().await.unwrap()).exits(130);
    assert_eq!(item(&ran)["stage"], "recorded");
}
