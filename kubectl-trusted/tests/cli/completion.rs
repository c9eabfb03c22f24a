//! What the shell offers: words, flags, and the names of objects where there is a cluster.

use std::path::{Path, PathBuf};

use testenv::{ControlPlane, objects};
use tokio::process::Command;

use crate::run::{BINARY, Plugin, Ran, bare, path};
use crate::scene::Scene;

fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../completions")
}

/// The candidates without their descriptions, and the directive.
fn offered(ran: &Ran) -> (Vec<&str>, &str) {
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    let (candidates, directive) =
        ran.stdout.trim_end().rsplit_once('\n').unwrap_or(("", ran.stdout.trim_end()));
    (candidates.lines().map(|line| line.split('\t').next().unwrap()).collect(), directive)
}

#[tokio::test]
async fn words_and_flags_need_no_cluster() {
    let cases: [(&[&str], &[&str]); 6] = [
        (&["approve-ak", ""], &[]),
        (&["den"], &["deny-ak"]),
        (&["audit-api-calls", "s"], &["snapshot"]),
        (&["approve-ak", "--dry-run", "s"], &["server"]),
        (&["-n", "x", "approve-ak", "--over"], &["--override-denial"]),
        (&["status", "-o", "j"], &["json", "junit", "jsonpath="]),
    ];
    for (words, expected) in cases {
        let ran = bare(&[&["__complete"], words].concat()).await;
        assert_eq!(offered(&ran), (expected.to_vec(), ":4"), "{words:?}");
    }
    let verbs = bare(&["__complete", ""]).await;
    assert!(
        offered(&verbs).0.starts_with(&["status", "explain-machine", "approve-ak", "deny-ak", "revoke-ak"]),
        "{verbs:?}"
    );
    assert!(!verbs.stdout.contains("__complete"), "{verbs:?}");
}

#[tokio::test]
async fn without_a_cluster_there_are_no_names_and_no_words_about_it() {
    for words in [&["approve-ak", ""][..], &["approve-ak", "-s", "https://127.0.0.1:1", ""]] {
        let ran = bare(&[&["__complete"], words].concat()).await;
        assert_eq!(offered(&ran), (vec![], ":4"), "{words:?}");
    }
}

#[tokio::test]
async fn a_server_that_never_answers_is_not_waited_for() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let ran = bare(&["__complete", "approve-ak", "-s", &url, "--request-timeout", "60s", "x"]).await;
    assert_eq!(offered(&ran), (vec![], ":4"));
}

/// `decided` was denied, `trusted` is trusted, `other` and `waits` are pending.
async fn fleet(prefix: &str) -> Scene {
    let scene = Scene::new(prefix).await;
    for name in ["decided", "trusted", "waits", "other"] {
        scene.stage.key(name, Some(name)).await;
    }
    scene.stage.create(&objects::machine("machine", "waits")).await;
    scene.stage.approved("waits", "False", "AwaitingApproval", "").await;
    scene.stage.approved("trusted", "True", "MachineCreated", "").await;
    scene.approver.run(&["deny-ak", "decided", "-y", "--no-wait"]).await.exits(0);
    scene
}

#[tokio::test]
async fn each_verb_is_offered_the_keys_it_is_for() {
    let scene = fleet("offered").await;
    let viewer = scene.user("viewer");
    let cases: [(&[&str], &[&str]); 7] = [
        (&["approve-ak", ""], &["other", "waits"]),
        (&["explain-machine", ""], &["waits"]),
        (&["approve-ak", "w"], &["waits"]),
        (&["approve-ak", "waits", "o"], &["other"]),
        (&["deny-ak", "t"], &["trusted"]),
        (&["revoke-ak", "d"], &["decided"]),
        (&["status", "m"], &["machine"]),
    ];
    for (words, expected) in cases {
        let ran = viewer.run(&[&["__complete"], words].concat()).await;
        assert_eq!(offered(&ran).0, expected, "{words:?}");
    }
    for nothing in [&["approve-ak", "t"][..], &["approve-ak", "d"], &["deny-ak", "d"], &["revoke-ak", "w"]] {
        let ran = viewer.run(&[&["__complete"], nothing].concat()).await;
        assert!(offered(&ran).0.is_empty(), "{nothing:?}: {ran:?}");
    }
    let elsewhere = viewer.run(&["__complete", "-n", "default", "approve-ak", "w"]).await;
    assert!(offered(&elsewhere).0.is_empty(), "what may not be seen is not offered: {elsewhere:?}");
    let admin = scene.user("admin");
    let other = ControlPlane::shared().await.namespace("away").await;
    let flags = ["__complete", "approve-ak", "-n", scene.namespace.name(), "w"];
    assert_eq!(offered(&Plugin::as_user(&other, "admin").run(&flags).await).0, ["waits"]);
    assert!(
        admin
            .run(&["__complete", "approve-ak", "w"])
            .await
            .stdout
            .starts_with("waits\tAwaitingApproval, machine waits\n")
    );
}

/// kubectl finds the helper on PATH and hands on what it says.
#[tokio::test]
async fn kubectl_completes_the_plugin() {
    let scene = fleet("kubectl").await;
    let viewer = scene.user("viewer");
    let folders = [Path::new(BINARY).parent().unwrap().to_owned(), kept()];
    let folders: Vec<_> = folders.iter().map(|folder| path(folder)).collect();
    let output = Command::new(ControlPlane::shared().await.kubectl())
        .args(["__complete", "trusted", "approve-ak", "w"])
        .env_clear()
        .env("PATH", format!("{}:/usr/bin:/bin", folders.join(":")))
        .env("HOME", "/nonexistent")
        .env("KUBECONFIG", &viewer.kubeconfig)
        .output()
        .await
        .unwrap();
    let ran = Ran::of(output).exits(0);
    assert_eq!(ran.stdout, "waits\tAwaitingApproval, machine waits\n:4\n", "{}", ran.stderr);
}

#[tokio::test]
async fn the_scripts_are_scripts() {
    let helper = bare(&["completion", "kubectl"]).await.exits(0).stdout;
    assert_eq!(helper, std::fs::read_to_string(kept().join("kubectl_complete-trusted")).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("script");
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let script = bare(&["completion", shell]).await.exits(0).stdout;
        assert!(script.contains("override-denial"), "{shell}");
        std::fs::write(&file, script).unwrap();
        if shell == "bash" {
            let checked = Command::new("bash").args(["-n", path(&file)]).output().await.unwrap();
            Ran::of(checked).exits(0);
        }
    }
    bare(&["completion", "tcsh"]).await.exits(2);
}
