//! The program as such: kubectl runs it, its habits, and what it says when there is no good cluster.

use std::process::Stdio;

use testenv::ControlPlane;
use tokio::process::Command;

use crate::run::{BINARY, Plugin, Ran, bare, command, path};

#[tokio::test]
async fn kubectl_runs_it_as_a_plugin() {
    let control_plane = ControlPlane::shared().await;
    let namespace = control_plane.namespace("plugin").await;
    let viewer = Plugin::as_user(&namespace, "viewer");
    let folder = std::path::Path::new(BINARY).parent().expect("a folder");
    let output = Command::new(control_plane.kubectl())
        .args(["trusted", "status", "-n", namespace.name()])
        .env_clear()
        .env("PATH", format!("{}:/usr/bin:/bin", folder.display()))
        .env("HOME", "/nonexistent")
        .env("KUBECONFIG", &viewer.kubeconfig)
        .output()
        .await
        .expect("kubectl runs");
    let through_kubectl = Ran::of(output).exits(4);
    let direct = viewer.run(&["status", "-n", namespace.name()]).await.exits(4);
    assert_eq!(through_kubectl.stdout, direct.stdout);
    assert!(
        direct.stdout.starts_with(&format!("Unknown  namespace {}\n", namespace.name())),
        "{}",
        direct.stdout
    );
}

#[tokio::test]
async fn help_names_it_as_kubectl_does_and_touches_no_cluster() {
    let mut command = command();
    command.env("KUBECONFIG", "/nonexistent/kubeconfig");
    let help = Ran::of(command.arg("--help").output().await.unwrap()).exits(0);
    assert!(help.stdout.contains("Usage: kubectl trusted [OPTIONS] <COMMAND>"), "{}", help.stdout);
    assert!(help.stdout.contains("124  the effect did not come before the deadline"), "{}", help.stdout);
    assert_eq!(help.stderr, "");
    let sub = bare(&["approve-ak", "--help"]).await.exits(0);
    assert!(sub.stdout.contains("Usage: kubectl trusted approve-ak [OPTIONS] <NAME>..."), "{}", sub.stdout);
    assert_eq!(
        bare(&["--version"]).await.exits(0).stdout,
        concat!("kubectl-trusted ", env!("CARGO_PKG_VERSION"), "\n")
    );
}

const VERBS: [&str; 15] = [
    "",
    "status",
    "approve-ak",
    "deny-ak",
    "revoke-ak",
    "audit-api-calls",
    "audit-api-calls snapshot",
    "audit-api-calls diff",
    "audit-api-calls run",
    "audit-api-calls live",
    "audit-api-calls top",
    "audit-api-calls explain",
    "version",
    "completion",
    "explain-machine",
];

/// What is pasted from a help text has to work: no line is broken but by a backslash.
#[tokio::test]
async fn help_fits_the_screen_and_its_examples_can_be_pasted() {
    for verb in VERBS {
        for flag in ["--help", "-h"] {
            let mut command = command();
            command.env("COLUMNS", "80").args(verb.split(' ').filter(|word| !word.is_empty())).arg(flag);
            let help = Ran::of(command.output().await.unwrap()).exits(0).stdout;
            let wide: Vec<_> = help.lines().filter(|line| line.chars().count() > 80).collect();
            assert!(wide.is_empty(), "{verb} {flag}: {wide:#?}");
            let examples = help.split_once("Examples:\n").map(|(_, examples)| examples).unwrap_or_default();
            let mut goes_on = false;
            for line in examples.lines().filter(|line| !line.is_empty()) {
                assert!(line.len() <= 78, "{verb} {flag}: {line}");
                let is_whole = line.starts_with("  kubectl ") || line.starts_with("  # ");
                assert!(is_whole || goes_on, "{verb} {flag}: {line}");
                goes_on = line.ends_with('\\');
            }
        }
    }
}

#[tokio::test]
async fn only_status_offers_all_namespaces() {
    assert!(bare(&["status", "--help"]).await.exits(0).stdout.contains("-A, --all-namespaces"));
    for verb in ["approve-ak", "deny-ak", "revoke-ak", "explain-machine", "audit-api-calls"] {
        let help = bare(&[verb, "--help"]).await.exits(0).stdout;
        assert!(!help.contains("--all-namespaces"), "{help}");
    }
}

/// The samples are what `status` and the README tell people to start with.
#[tokio::test]
async fn the_samples_are_accepted() {
    let control_plane = ControlPlane::shared().await;
    let namespace = control_plane.namespace("samples").await;
    let editor = Plugin::as_user(&namespace, "editor");
    let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/../deploy/samples");
    let output = Command::new(control_plane.kubectl())
        .args(["apply", "--dry-run=server", "-f", samples])
        .env("KUBECONFIG", &editor.kubeconfig)
        .output()
        .await
        .expect("kubectl runs");
    let ran = Ran::of(output).exits(0);
    for kind in ["trustedexecutioncluster", "machine"] {
        assert!(ran.stdout.contains(&format!("{kind}.trusted-execution-clusters.io/")), "{}", ran.stdout);
    }
}

const ZEROS: &str = "sha256:0000000000000000000000000000000000000000000000000000000000000000";

#[tokio::test]
async fn what_cannot_be_understood_is_a_usage_error() {
    for arguments in [
        &["status", "-o", "xml"][..],
        &["status", "--nonsense"],
        &["status", "-n", "a", "-A"],
        &["status", "-n", "no/such"],
        &["status", "--request-timeout", "5"],
        &["statsu"],
        &[],
        &["approve-ak"],
        &["approve-ak", "k", "--expect-fingerprint", "12:34"],
        &["approve-ak", "--all", "-y"],
        &["approve-ak", "k", "-l", "a=b", "-y"],
        &["approve-ak", "k", "--pending", "-y"],
        &["approve-ak", "-l", "a b", "-y"],
        &["deny-ak"],
        &["deny-ak", "k", "l", "-y", "--expect-fingerprint", ZEROS],
        &["deny-ak", "k", "--replace"],
        &["explain-machine"],
        &["explain-machine", "m", "-A"],
        &["revoke-ak", "--all", "--pending"],
        &["revoke-ak", "k", "--reason", "x"],
        &["audit-api-calls", "snapshot", "--max", "lists=0"],
    ] {
        let ran = bare(arguments).await.exits(2);
        assert_eq!(ran.stdout, "", "{arguments:?}");
        assert!(!ran.stderr.is_empty(), "{arguments:?}");
    }
    let format = bare(&["status", "-o", "xml"]).await;
    assert!(
        format.stderr.contains(
            "the formats are: table, wide, json, yaml, name, markdown, csv, junit, prometheus, \
             jsonpath=TEMPLATE"
        ),
        "{}",
        format.stderr
    );
}

#[tokio::test]
async fn every_way_to_miss_the_cluster_has_its_own_message() {
    let control_plane = ControlPlane::shared().await;
    let namespace = control_plane.namespace("wrong").await;
    let viewer = Plugin::as_user(&namespace, "viewer");

    let none = bare(&["status"]).await.exits(1);
    assert_eq!(none.stdout, "");
    assert!(none.stderr.starts_with("Error: No cluster is configured\n"), "{}", none.stderr);

    let mut elsewhere = command();
    elsewhere.env("KUBECONFIG", "/missing/one:/missing/two").arg("status");
    let elsewhere = Ran::of(elsewhere.output().await.unwrap()).exits(1);
    assert!(
        elsewhere.stderr.contains("KUBECONFIG names /missing/one, /missing/two, which"),
        "{}",
        elsewhere.stderr
    );

    let context = viewer.run(&["status", "--context", "prod"]).await.exits(1);
    assert_eq!(
        context.stderr,
        "Error: The kubeconfig has no context \"prod\"\n  Cause: it has: testenv\n  Next: choose one of these with \
         --context, or another file with --kubeconfig\n"
    );

    let file = viewer.run(&["status", "--kubeconfig", "/nonexistent/x"]).await.exits(1);
    assert!(
        file.stderr.starts_with("Error: The kubeconfig /nonexistent/x cannot be read\n"),
        "{}",
        file.stderr
    );

    let away = viewer.run(&["status", "-s", "https://127.0.0.1:1"]).await.exits(1);
    assert!(
        away.stderr.starts_with("Error: The API server at https://127.0.0.1:1/ cannot be reached\n"),
        "{}",
        away.stderr
    );
    assert!(away.stderr.contains("Connection refused"), "{}", away.stderr);

    let stranger = viewer.run(&["status", "--token", "wrong"]).await.exits(1);
    assert!(stranger.stderr.starts_with("Error from server (Unauthorized): "), "{}", stranger.stderr);

    let url = format!("{}/elsewhere", control_plane.url().trim_end_matches('/'));
    let missing = Plugin::as_user(&namespace, "admin").run(&["status", "-s", &url]).await.exits(1);
    assert!(missing.stderr.starts_with("Error from server (NotInstalled): "), "{}", missing.stderr);
    assert!(missing.stderr.contains("the CRDs are not installed"), "{}", missing.stderr);
    assert!(missing.stderr.contains("kubectl apply -k deploy"), "{}", missing.stderr);
}

#[tokio::test]
async fn a_certificate_that_is_not_trusted_is_named_as_the_cause() {
    let control_plane = ControlPlane::shared().await;
    let namespace = control_plane.namespace("tls").await;
    let folder = tempfile::tempdir().unwrap();
    let authority = folder.path().join("ca.crt");
    let other = rcgen::generate_simple_self_signed(["other".to_owned()]).unwrap();
    std::fs::write(&authority, other.cert.pem()).unwrap();
    let viewer = Plugin::as_user(&namespace, "viewer");
    let ran = viewer.run(&["status", "--certificate-authority", path(&authority)]).await.exits(1);
    assert!(ran.stderr.contains("certificate"), "{}", ran.stderr);
    assert!(ran.stderr.contains("--certificate-authority"), "{}", ran.stderr);
    let careless = viewer.run(&["status", "--insecure-skip-tls-verify"]).await;
    assert_eq!(careless.code, 4, "{}", careless.stderr);
}

#[tokio::test]
async fn a_machine_format_is_one_document_also_on_failure() {
    let ran = bare(&["status", "-o", "json", "-s", "https://127.0.0.1:1"]).await.exits(1);
    let document = ran.json();
    assert_eq!(document["kind"], "Error");
    assert_eq!(document["apiVersion"], "trusted-execution-clusters.io/cli/v1");
    assert_eq!(document["error"]["reason"], "Unreachable");
    assert_eq!(document["exitCode"], 1);
}

#[tokio::test]
async fn a_closed_pipe_ends_quietly() {
    let control_plane = ControlPlane::shared().await;
    let namespace = control_plane.namespace("pipe").await;
    let viewer = Plugin::as_user(&namespace, "viewer");
    let mut child = viewer
        .command()
        .arg("status")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    drop(child.stdout.take());
    let ran = Ran::of(child.wait_with_output().await.unwrap()).exits(4);
    assert_eq!(ran.stderr, "");
    let mut child = command().arg("--help").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(Ran::of(child.wait_with_output().await.unwrap()).exits(0).stderr, "");
}

#[tokio::test]
async fn a_full_disk_is_an_error() {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/audit-log-excerpt.jsonl");
    let mut command = command();
    command.args(["audit-api-calls", "snapshot", "--audit-log", data]).stdout(full).stderr(Stdio::piped());
    let ran = Ran::of(command.spawn().unwrap().wait_with_output().await.unwrap()).exits(1);
    assert!(ran.stderr.starts_with("Error: The result cannot be written\n"), "{}", ran.stderr);
}

#[tokio::test]
async fn flags_work_on_either_side_and_impersonation_reaches_the_server() {
    let control_plane = ControlPlane::shared().await;
    let namespace = control_plane.namespace("flags").await;
    let admin = Plugin::as_user(&namespace, "admin");
    let (name, viewer, nobody) =
        (namespace.name(), namespace.user_name("viewer"), namespace.user_name("nobody"));
    let before = admin.run(&["--as", viewer, "-n", name, "status"]).await.exits(4);
    let after = admin.run(&["status", "-n", name, "--as", viewer]).await.exits(4);
    assert_eq!(before.stdout, after.stdout);
    assert!(!before.stdout.contains("Not visible"), "{}", before.stdout);
    let blind = admin.run(&["status", "--as", nobody]).await.exits(4);
    assert!(blind.stdout.contains("Not visible"), "{}", blind.stdout);
    let member = admin.run(&["status", "--as", nobody, "--as-group", "system:masters"]).await.exits(4);
    assert!(!member.stdout.contains("Not visible"), "{}", member.stdout);
    admin.run(&["status", "--as-group", "system:masters"]).await.exits(2);
    let unset = admin.run(&["status", "-n", ""]).await.exits(4);
    assert!(unset.stdout.contains(&format!("namespace {name}")), "that of the context: {}", unset.stdout);
}

#[tokio::test]
async fn colour_is_a_choice() {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/audit-log-excerpt.jsonl");
    let arguments = ["audit-api-calls", "snapshot", "--audit-log", data, "--color"];
    let always = bare(&[&arguments[..], &["always"]].concat()).await.exits(0);
    assert!(always.stdout.contains("\u{1b}["), "{}", always.stdout);
    for choice in ["auto", "never"] {
        let plain = bare(&[&arguments[..], &[choice]].concat()).await.exits(0);
        assert!(!plain.stdout.contains('\u{1b}'), "{choice}: {}", plain.stdout);
    }
}

/// A socket that takes connections and never answers.
fn silence() -> (std::net::TcpListener, String) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    (listener, url)
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up() {
    let (_listener, url) = silence();
    let ran = bare(&["status", "-s", &url, "--request-timeout", "1s"]).await.exits(1);
    assert_eq!(
        ran.stderr.lines().next().unwrap(),
        format!("Error: The API server at {url}/ did not answer within 1 s")
    );
}

#[tokio::test]
async fn ctrl_c_ends_it_with_130() {
    let (listener, url) = silence();
    let mut command = command();
    command.args(["status", "-s", &url]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let process = child.id().unwrap().to_string();
    // By the time it connects it listens for the signal.
    let connected = tokio::task::spawn_blocking(move || listener.accept());
    let _held = connected.await.unwrap().unwrap();
    std::process::Command::new("kill").args(["-INT", &process]).status().unwrap();
    let ran = Ran::of(child.wait_with_output().await.unwrap()).exits(130);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", "Interrupted.\n"));
}
