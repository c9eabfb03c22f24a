//! `status --watch`: on a terminal, for a reader of lines, for a program, and while the API server is away.

use std::process::Stdio;
use std::time::Duration;

use kube::api::DeleteParams;
use testenv::faults::FaultProxy;
use testenv::{ControlPlane, TestNamespace};
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout};

use crate::run::Plugin;
use crate::stage::Stage;
use crate::terminal::Terminal;

async fn stage(prefix: &str) -> (TestNamespace, Stage, Plugin) {
    let namespace = ControlPlane::shared().await.namespace(prefix).await;
    let (stage, viewer) = (Stage::of(&namespace), Plugin::as_user(&namespace, "viewer"));
    stage.cluster("demo").await;
    (namespace, stage, viewer)
}

fn watch(plugin: &Plugin, arguments: &[&str]) -> (Child, Lines<BufReader<ChildStdout>>) {
    let mut command = plugin.command();
    command.args(["status", "-w"]).args(arguments).stdin(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    (child, lines)
}

/// The next line that has this in it; lines about other objects may come before.
async fn line(lines: &mut Lines<BufReader<ChildStdout>>, wanted: &str) -> String {
    let found = async {
        loop {
            let line = lines.next_line().await.unwrap().unwrap_or_else(|| panic!("ended before {wanted:?}"));
            if line.contains(wanted) {
                return line;
            }
        }
    };
    let found = tokio::time::timeout(Duration::from_secs(30), found).await;
    found.unwrap_or_else(|_| panic!("no line with {wanted:?}"))
}

async fn interrupted(child: Child) {
    let process = child.id().unwrap().to_string();
    std::process::Command::new("kill").args(["-INT", &process]).status().unwrap();
    assert_eq!(child.wait_with_output().await.unwrap().status.code(), Some(130));
}

#[tokio::test]
async fn a_pipe_gets_a_line_for_each_change() {
    let (namespace, stage, viewer) = stage("watch-pipe").await;
    let (child, mut lines) = watch(&viewer, &[]);
    line(&mut lines, " Verdict: ").await;
    let place = namespace.name();
    stage.machine("machine", "node", None).await;
    let came = line(&mut lines, &format!(" Machine {place}/machine: ")).await;
    let (at, _) = came.split_once(' ').unwrap();
    at.parse::<jiff::Timestamp>().unwrap_or_else(|error| panic!("{came}: {error}"));
    stage.key("ak", Some("node")).await;
    line(&mut lines, &format!(" AttestationKey {place}/ak: not trusted")).await;
    stage.approved("ak", "True", "MachineCreated", "").await;
    let changed = line(&mut lines, &format!(" AttestationKey {place}/ak: trusted (MachineCreated)")).await;
    assert!(changed.contains("(was: not trusted"), "{changed}");
    stage.api::<trusted_crds::AttestationKey>().delete("ak", &DeleteParams::default()).await.unwrap();
    line(&mut lines, &format!(" AttestationKey {place}/ak: gone")).await;
    interrupted(child).await;
}

#[tokio::test]
async fn a_program_gets_a_document_for_each_change() {
    let (_namespace, stage, viewer) = stage("watch-json").await;
    let (child, mut lines) = watch(&viewer, &["-o", "jsonpath={.machines[*].name}{\"\\n\"}"]);
    stage.machine("machine", "node", None).await;
    assert_eq!(line(&mut lines, "machine").await, "machine");
    interrupted(child).await;
    let both = viewer.run(&["status", "-w", "--wait"]).await.exits(2);
    assert!(both.stderr.contains("--wait"), "{}", both.stderr);
    let nothing = viewer.run(&["status", "-w", "no-such-name"]).await;
    assert!(nothing.code != 0 && nothing.stderr.contains("no-such-name"), "{nothing:?}");
}

#[tokio::test]
async fn a_terminal_is_drawn_again_and_keeps_the_last_screen() {
    let (_namespace, stage, viewer) = stage("watch-screen").await;
    let mut terminal = Terminal::run(&viewer, &["status", "-w", "--color", "never"]);
    terminal.shows("demo");
    stage.machine("late-machine", "node", None).await;
    terminal.shows("late-machine");
    terminal.interrupt();
    let (code, screen) = terminal.ends();
    assert_eq!(code, 130, "{screen}");
    let end = &screen[screen.rfind("\u{1b}[").unwrap()..];
    assert!(end.contains("late-machine"), "the last screen stays: {end:?}");
}

// The proxy works on while the test waits for the terminal.
#[tokio::test(flavor = "multi_thread")]
async fn an_interruption_is_told_and_got_over() {
    let (namespace, stage, _) = stage("watch-outage").await;
    let proxy = FaultProxy::start(namespace.control_plane());
    let kubeconfig = namespace.user_kubeconfig("viewer").unwrap();
    let viewer = Plugin { kubeconfig: proxy.kubeconfig(std::path::Path::new(&kubeconfig)).unwrap().into() };
    let mut terminal = Terminal::run(&viewer, &["status", "-w", "--color", "never"]);
    terminal.shows("demo");
    proxy.refuse_connections().await;
    terminal.shows("Not up to date:");
    proxy.accept_again().await;
    stage.machine("after", "node", None).await;
    terminal.shows("after");
    terminal.interrupt();
    assert_eq!(terminal.ends().0, 130);
}
