//! `status --wait`: for what is, what comes, what does not come, and what may not be seen.

use std::process::Stdio;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::json;
use testenv::audit::Window;
use testenv::{ControlPlane, TestNamespace, eventually};

use crate::run::{Plugin, Ran};
use crate::stage::Stage;

async fn empty(prefix: &str) -> (TestNamespace, Stage, Plugin) {
    let namespace = ControlPlane::shared().await.namespace(prefix).await;
    let (stage, viewer) = (Stage::of(&namespace), Plugin::as_user(&namespace, "viewer"));
    (namespace, stage, viewer)
}

#[tokio::test]
async fn what_does_not_exist_yet_can_be_waited_for() {
    testenv::needs!(SimulatedNodes);
    let (namespace, stage, viewer) = empty("awaited").await;
    let wait = |what: &str| {
        let mut command = viewer.command();
        command.args(["status", "--wait", what, "--timeout", "60s", "-o", "json"]).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let before = Timestamp::now();
    let waits = [wait("--for=healthy"), wait("--for=delivered=machine"), wait("--for=delivered=ak")];
    // They watch before there is anything to see.
    let audit = ControlPlane::shared().await.audit();
    eventually("the watches", Duration::from_secs(30), || async {
        let requests = audit.settled("viewer", Window::since(before)).await.unwrap();
        let ours =
            requests.filter(|request| request.namespace == namespace.name() && request.verb == "watch");
        let count = ours.iter().count();
        if count == 15 { Ok(()) } else { Err(format!("{count}")) }
    })
    .await;
    stage.cluster("demo").await;
    let key = stage.key("ak", Some("node")).await;
    stage.approved("ak", "True", "MachineCreated", "").await;
    stage.machine("machine", "node", Some(("ak", &key))).await;
    stage.trustee(&[&key], &["node"]).await;
    for wait in waits {
        let ran = Ran::of(wait.wait_with_output().await.unwrap()).exits(0);
        assert_eq!(ran.json()["machines"][0]["delivered"], true);
    }
    viewer.run(&["status", "--wait"]).await.exits(0);
}

#[tokio::test]
async fn what_does_not_come_in_time_ends_with_124() {
    let (_namespace, stage, viewer) = empty("late").await;
    stage.cluster("demo").await;
    stage.key("ak", Some("node")).await;
    let arguments = ["status", "--wait", "--for=delivered=ak", "--timeout", "1s", "-o", "json"];
    let late = viewer.run(&arguments).await.exits(124);
    assert_eq!(late.stderr, "Warning: not ak delivered after 1 s\n");
    assert_eq!(late.json()["attestationKeys"][0]["name"], "ak");
    for wrong in [
        &["--for=healthy"][..],
        &["--wait", "--for=soon"],
        &["--timeout", "1s"],
        &["--wait", "--for=delivered="],
    ] {
        viewer.run(&[&["status"], wrong].concat()).await.exits(2);
    }
}

#[tokio::test]
async fn what_may_not_be_seen_is_not_waited_for() {
    let (namespace, ..) = empty("unseen-wait").await;
    let nobody = Plugin::as_user(&namespace, "nobody");
    let ran = nobody.run(&["status", "--wait", "--timeout", "60s", "-o", "json"]).await.exits(4);
    assert_eq!(ran.json()["verdict"], json!("Unknown"));
}
