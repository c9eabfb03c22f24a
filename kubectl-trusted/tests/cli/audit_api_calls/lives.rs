//! `live`: on a terminal, in a pipe, to its end and to Ctrl-C.

use std::io::Write;
use std::process::Stdio;

use testenv::ControlPlane;
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::run::{BINARY, Plugin, Ran, bare, command, path};
use crate::terminal::Terminal;

#[tokio::test]
async fn a_terminal_shows_a_table_until_ctrl_c() {
    let namespace = ControlPlane::shared().await.namespace("live-terminal").await;
    let auditor = Plugin::as_user(&namespace, "auditor");
    let mut terminal =
        Terminal::run(&auditor, &["audit-api-calls", "live", "--interval", "1s", "--color", "never"]);
    let screen = terminal.shows("TOTAL/MIN");
    assert!(screen.contains("source  apiserver-metrics, all clients"), "{screen}");
    terminal.interrupt();
    let (code, screen) = terminal.ends();
    assert_eq!(code, 130, "{screen}");
    // The table has gone, and in its place is what was measured.
    let end = &screen[screen.rfind("\u{1b}[").unwrap()..];
    assert!(end.contains("  window  ") && !end.contains("TOTAL/MIN"), "{end:?}");
}

#[tokio::test]
async fn a_pipe_gets_what_changes_and_then_the_sum() {
    testenv::needs!(OwnCluster);
    let namespace = ControlPlane::shared().await.namespace("live-pipe").await;
    let auditor = Plugin::as_user(&namespace, "auditor");
    let viewer = Plugin::as_user(&namespace, "viewer");
    let mut live = auditor.command();
    live.args(["audit-api-calls", "live", "--interval", "1s", "--duration", "4s"]);
    let child = live.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (_, ran) = tokio::join!(viewer.run(&["status"]), child.wait_with_output());
    let ran = Ran::of(ran.unwrap()).exits(0);
    let (lines, sum) = ran.stdout.split_once(" requests").unwrap();
    assert!(lines.contains(" in all)\n") && lines.contains("+"), "{lines}");
    assert!(sum.contains("source  apiserver-metrics, all clients\n"), "{sum}");
    assert!(!ran.stdout.contains('\u{1b}'), "{}", ran.stdout);
}

#[tokio::test]
async fn programs_get_one_document_also_on_ctrl_c() {
    let namespace = ControlPlane::shared().await.namespace("live-json").await;
    let auditor = Plugin::as_user(&namespace, "auditor");
    let json = ["audit-api-calls", "live", "--interval", "1s", "-o", "json"];
    let document = auditor.run(&[&json[..], &["--duration", "1s"]].concat()).await.json();
    assert_eq!((&document["kind"], &document["added"]), (&"ApiCallSnapshot".into(), &true.into()));
    let mut live = auditor.command();
    let mut child = live.args(json).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let process = child.id().unwrap().to_string();
    let mut talk = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(talk.next_line().await.unwrap().unwrap().starts_with("Source: "));
    std::process::Command::new("kill").args(["-INT", &process]).status().unwrap();
    let output = child.wait_with_output().await.unwrap();
    assert_eq!(output.status.code(), Some(130));
    let text = String::from_utf8(output.stdout).unwrap();
    if !text.is_empty() {
        // Before the first reading there is nothing to hand out.
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap()["kind"], "ApiCallSnapshot");
    }
}

#[tokio::test]
async fn a_closed_pipe_ends_it() {
    let namespace = ControlPlane::shared().await.namespace("live-head").await;
    let auditor = Plugin::as_user(&namespace, "auditor");
    let script = format!("{BINARY} audit-api-calls live --interval 1s | head -1");
    let ran = auditor.shell(&script).await.exits(0);
    assert_eq!(ran.stdout.lines().count(), 1, "{}", ran.stdout);
}

/// An event as an API server of ours writes it, received now.
fn event(id: &str, resource: &str) -> String {
    let now = jiff::Timestamp::now();
    format!(
        "{{\"kind\":\"Event\",\"apiVersion\":\"audit.k8s.io/v1\",\"auditID\":\"{id}\",\"stage\":\"ResponseComplete\",\
         \"verb\":\"get\",\"requestURI\":\"/x\",\"user\":{{\"username\":\"op\"}},\
         \"objectRef\":{{\"resource\":\"{resource}\"}},\"responseStatus\":{{\"code\":200}},\
         \"requestReceivedTimestamp\":\"{now}\",\"stageTimestamp\":\"{now}\"}}\n"
    )
}

#[tokio::test]
async fn a_log_is_followed_across_half_lines_and_rotation() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("audit.log");
    std::fs::write(&log, event("before", "secrets")).unwrap();
    let mut live = command();
    live.args(["audit-api-calls", "live", "--audit-log", path(&log), "--user", "op", "--interval", "1s"]);
    let mut child = live.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let process = child.id().unwrap().to_string();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let append = |text: &str| {
        let mut file = std::fs::File::options().create(true).append(true).open(&log).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    };
    // It says nothing before its first line, so that events are written until it has seen one.
    let mut number = 0;
    let first = loop {
        append(&event(&format!("first-{number}"), "secrets"));
        number += 1;
        let wait = std::time::Duration::from_millis(300);
        if let Ok(line) = tokio::time::timeout(wait, lines.next_line()).await {
            break line.unwrap().unwrap();
        }
    };
    assert!(first.contains(" get secrets ("), "{first}");
    let half = event("half", "machines");
    append(&half[..40]);
    append(&half[40..]);
    std::fs::rename(&log, folder.path().join("audit-1.log")).unwrap();
    append(&event("rotated", "machines"));
    // Each of the two counts once, the half line as well as the one in the new file.
    while !lines.next_line().await.unwrap().unwrap().ends_with(" get machines (2 in all)") {}
    std::process::Command::new("kill").args(["-INT", &process]).status().unwrap();
    assert_eq!(child.wait().await.unwrap().code(), Some(130));
    let mut rest = Vec::new();
    while let Some(line) = lines.next_line().await.unwrap() {
        rest.push(line);
    }
    assert!(rest.iter().any(|line| line.starts_with("get") && line.contains("machines")), "{rest:?}");
}

#[tokio::test]
async fn what_cannot_be_followed_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let live = |arguments: Vec<String>| async move {
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        bare(&[&["audit-api-calls", "live"], &words[..]].concat()).await
    };
    let name = path(folder.path()).to_owned();
    live(vec!["--audit-log".into(), "-".into()]).await.exits(2);
    live(vec!["--audit-log".into(), name.clone()]).await.exits(1);
    live(vec!["--audit-log".into(), format!("{name}/none")]).await.exits(1);
    live(vec!["--interval".into(), "10ms".into()]).await.exits(2);
}
