//! `run`: a command between two readings.

use testenv::ControlPlane;

use crate::run::{BINARY, Plugin, bare, path};

#[tokio::test]
async fn what_a_command_asks_is_counted_and_its_exit_code_kept() {
    testenv::needs!(OwnCluster);
    let control_plane = ControlPlane::shared().await;
    let namespace = control_plane.namespace("run").await;
    let auditor = Plugin::as_user(&namespace, "auditor");
    let viewer = Plugin::as_user(&namespace, "viewer");
    let kubeconfig = viewer.kubeconfig.to_str().unwrap();
    let status = [BINARY, "status", "--kubeconfig", kubeconfig];
    let json = ["audit-api-calls", "run", "-o", "json", "--"];
    let ran = auditor.run(&[&json[..], &status].concat()).await.exits(4);
    let document = ran.json();
    let lists = document["rows"].as_array().unwrap().iter();
    let lists = lists.filter(|row| row["verb"] == "list" && row["resource"] == "approvedimages");
    assert!(lists.map(|row| row["count"].as_u64().unwrap()).sum::<u64>() >= 1, "{document}");
    assert_eq!(document["added"], true);
    // What the command printed did not get between the document.
    assert!(ran.stderr.contains("Unknown"), "{}", ran.stderr);
    for (command, code) in [("exit 7", 7), ("kill -9 $$", 137)] {
        auditor.run(&["audit-api-calls", "run", "--", "/bin/sh", "-c", command]).await.exits(code);
    }
    let missing = auditor.run(&["audit-api-calls", "run", "--", "/nonexistent"]).await.exits(1);
    assert!(missing.stderr.contains("The command \"/nonexistent\" cannot be run"), "{}", missing.stderr);
    let script = format!("{BINARY} status --kubeconfig {kubeconfig}; true");
    let over = ["audit-api-calls", "run", "--max-total", "0", "--", "/bin/sh", "-c", &script];
    auditor.run(&over).await.exits(3);
}

#[tokio::test]
async fn a_log_is_counted_from_start_to_end_of_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("audit.log");
    // Three requests, of which one was received before the command began.
    let script = r#"for at in 2000-01-01T00:00:00.000000Z $(date -u +%Y-%m-%dT%H:%M:%S.%6NZ) $(date -u +%Y-%m-%dT%H:%M:%S.%6NZ); do
        id=$((id+1))
        echo "{\"kind\":\"Event\",\"apiVersion\":\"audit.k8s.io/v1\",\"auditID\":\"$id\",\"stage\":\"ResponseComplete\",\"verb\":\"get\",\"requestURI\":\"/x\",\"requestReceivedTimestamp\":\"$at\",\"stageTimestamp\":\"$at\"}"
    done >> "$0""#;
    std::fs::write(&log, "").unwrap();
    let arguments =
        ["audit-api-calls", "run", "--audit-log", path(&log), "-o", "json", "--", "/bin/sh", "-c", script];
    let document = bare(&[&arguments[..], &[path(&log)]].concat()).await.exits(0).json();
    assert_eq!(document["total"], 2, "{document}");
    bare(&["audit-api-calls", "run", "--audit-log", path(&log), "--since", "1h", "--", "true"])
        .await
        .exits(2);
    bare(&["audit-api-calls", "run"]).await.exits(2);
}
