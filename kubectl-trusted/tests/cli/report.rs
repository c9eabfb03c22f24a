//! `report`: what is in the archive, and what never is.

use std::collections::BTreeMap;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use flate2::read::GzDecoder;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use kube::api::ListParams;
use serde_json::{Value, json};
use testenv::faults::{Call, FaultProxy, Match, Refusal};
use testenv::{ControlPlane, eventually};

use crate::run::{Plugin, bare, path};
use crate::stage::Stage;
use crate::terminal::Terminal;

const MARKER: &str = "hunter2-is-in-a-secret";

/// The files of an archive, without the folder that all are in.
fn unpacked(archive: &[u8]) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for entry in tar::Archive::new(GzDecoder::new(archive)).entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap().into_owned();
        let (folder, rest) = path.to_str().unwrap().split_once('/').unwrap();
        assert!(folder.starts_with("trusted-report-"), "{folder}");
        let mut text = String::new();
        entry.read_to_string(&mut text).unwrap();
        files.insert(rest.to_owned(), text);
    }
    files
}

fn read(file: &Path) -> BTreeMap<String, String> {
    unpacked(&std::fs::read(file).unwrap())
}

fn json_of(files: &BTreeMap<String, String>, file: &str) -> Value {
    let text = files.get(file).unwrap_or_else(|| panic!("no {file} among {:?}", files.keys()));
    serde_json::from_str(text).unwrap()
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|object| object["metadata"]["name"].as_str().unwrap()).collect()
}

/// A machine with its key, Trustee and an operator, and secrets wherever somebody may have put them.
async fn set(stage: &Stage) -> String {
    stage.cluster("cluster").await;
    stage.key("key", Some("m")).await;
    stage.machine("machine", "m", None).await;
    stage.trustee(&[], &[]).await;
    let labels = json!({"app.kubernetes.io/managed-by": "trusted-operator"});
    let secret = json!({
        "metadata": {"name": "luks-m", "labels": labels,
            "annotations": {"kubectl.kubernetes.io/last-applied-configuration": MARKER}},
        "stringData": {"root": MARKER},
    });
    stage.create::<Secret>(&serde_json::from_value(secret).unwrap()).await;
    let pem = stage.api::<trusted_crds::AttestationKey>().get("key").await.unwrap().spec.public_key;
    let map = json!({"metadata": {"name": "trustee-data", "labels": labels}, "data": {"a.pem": pem}});
    stage.create::<ConfigMap>(&serde_json::from_value(map).unwrap()).await;
    let operator: Deployment = serde_json::from_value(json!({
        "metadata": {"name": "trusted-operator"},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "operator"}}, "template": {
            "metadata": {"labels": {"app": "operator"}},
            "spec": {"containers": [{"name": "operator", "image": "example.org/o:1", "env": [
                {"name": "API_TOKEN", "value": MARKER},
            ]}]},
        }},
    }))
    .unwrap();
    stage.create(&operator).await;
    eventually("the pods", std::time::Duration::from_secs(60), || async {
        let pods = stage.api::<Pod>().list(&ListParams::default()).await.unwrap().items;
        if pods.len() == 2 { Ok(()) } else { Err(format!("{} pods", pods.len())) }
    })
    .await;
    pem.lines().nth(1).unwrap().to_owned()
}

#[tokio::test]
async fn a_report_holds_what_there_is_and_no_secret() {
    testenv::needs!(SimulatedNodes);
    let namespace = ControlPlane::shared().await.namespace("report").await;
    let stage = Stage::of(&namespace);
    let key_line = set(&stage).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.tar.gz");
    let admin = Plugin::as_user(&namespace, "admin");
    // Simulated pods have no logs and no pages: that is told, and the rest is there.
    let report = admin.run(&["report", "-o", "json", "--out", path(&file)]).await.exits(4).json();
    assert_eq!((&report["kind"], &report["file"]), (&json!("Report"), &json!(path(&file))));
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);

    let files = read(&file);
    let told: Vec<_> = report["files"].as_array().unwrap().iter().map(|file| &file["path"]).collect();
    assert_eq!(told.len(), files.len());
    for (file, text) in &files {
        assert!(!text.contains(MARKER) && !text.contains(&key_line), "{file}: {text}");
    }
    assert_eq!(names(&json_of(&files, "objects/machines.json")), ["machine"]);
    assert_eq!(names(&json_of(&files, "objects/trustedexecutionclusters.json")), ["cluster"]);
    assert_eq!(
        names(&json_of(&files, "objects/deployments.json")),
        ["trusted-operator", "trustee-deployment"]
    );
    assert_eq!(json_of(&files, "objects/pods.json").as_array().unwrap().len(), 2);
    assert_eq!(json_of(&files, "objects/secrets-metadata.json")[0]["name"], "luks-m");
    let key = &json_of(&files, "objects/attestationkeys.json")[0];
    assert!(key["spec"]["publicKey"].as_str().unwrap().starts_with("<key sha256:"), "{key}");
    assert_eq!(json_of(&files, "status.json")["kind"], "Status");
    assert_eq!(json_of(&files, "version.json")["kind"], "Version");
    let missing = json_of(&files, "missing.json");
    let resources: Vec<_> =
        missing.as_array().unwrap().iter().map(|missing| missing["resource"].as_str().unwrap()).collect();
    assert!(resources.iter().all(|resource| ["pods/log", "pods/proxy"].contains(resource)), "{missing}");
    let needs: String =
        missing.as_array().unwrap().iter().map(|missing| missing["need"].to_string()).collect();
    assert!(needs.contains("connection refused") && !needs.contains("<redacted>"), "{needs}");
    assert_eq!(missing, report["missing"]);
}

#[tokio::test]
async fn the_role_for_it_reads_all_but_secrets() {
    testenv::needs!(SimulatedNodes);
    let namespace = ControlPlane::shared().await.namespace("reportrole").await;
    set(&Stage::of(&namespace)).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("support.tar.gz");
    let support = Plugin::as_user(&namespace, "support");
    let report = support.run(&["report", "-o", "json", "--out", path(&file)]).await.exits(4).json();
    let missing = report["missing"].as_array().unwrap();
    let of = |resource: &str| missing.iter().filter(|missing| missing["resource"] == resource).count();
    // Simulated pods have neither logs nor pages; that these were refused would be told otherwise.
    assert_eq!(of("secrets") + of("pods/log") + of("pods/proxy"), missing.len(), "{missing:?}");
    assert_eq!(of("secrets"), 1, "{missing:?}");
    for missing in missing.iter().filter(|missing| missing["resource"] != "secrets") {
        assert!(missing["need"].as_str().unwrap().starts_with("an answer to get pods/"), "{missing}");
    }
    let files = read(&file);
    for gathered in ["machines", "deployments", "services", "configmaps", "events", "pods"] {
        assert!(files.contains_key(&format!("objects/{gathered}.json")), "{gathered}: {:?}", files.keys());
    }
    let denied = support.run(&["approve-ak", "key", "-y", "--no-wait"]).await;
    assert_ne!(denied.code, 0, "a person who helps decides nothing");
}

#[tokio::test]
async fn what_may_not_be_read_is_named_and_the_rest_is_gathered() {
    let namespace = ControlPlane::shared().await.namespace("reportpart").await;
    let stage = Stage::of(&namespace);
    stage.machine("machine", "m", None).await;
    stage.grant(&namespace, &["machines"]).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("part.tar.gz");
    let nobody = Plugin::as_user(&namespace, "nobody");
    let ran = nobody.run(&["report", "--out", path(&file)]).await.exits(4);
    let check = format!(
        "kubectl auth can-i list attestationkeys.trusted-execution-clusters.io -n {}",
        namespace.name()
    );
    let files = read(&file);
    assert_eq!(names(&json_of(&files, "objects/machines.json")), ["machine"]);
    assert!(!files.contains_key("objects/attestationkeys.json"), "{:?}", files.keys());
    let missing = json_of(&files, "missing.json");
    assert!(
        missing.as_array().unwrap().iter().any(|missing| missing["check"] == check.as_str()),
        "{missing}"
    );
    assert!(ran.stdout.contains("Missing") && ran.stdout.contains("list attestationkeys"), "{}", ran.stdout);
}

#[tokio::test]
async fn an_archive_goes_where_it_is_told_and_overwrites_nothing() {
    let namespace = ControlPlane::shared().await.namespace("reportout").await;
    Stage::of(&namespace).machine("machine", "m", None).await;
    let admin = Plugin::as_user(&namespace, "admin");
    let output = admin.command().args(["report", "--out", "-"]).output().await.unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(unpacked(&output.stdout).contains_key("objects/machines.json"));

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("there");
    std::fs::write(&file, "mine").unwrap();
    let refused = admin.run(&["report", "--out", path(&file)]).await;
    assert_ne!(refused.code, 0);
    assert!(refused.stderr.contains("remove that file"), "{}", refused.stderr);
    let at_once = bare(&["report", "--out", path(&file)]).await;
    assert!(at_once.stderr.contains("remove that file"), "before anything is asked: {}", at_once.stderr);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");

    let in_folder = admin.command().arg("report").current_dir(folder.path()).output().await.unwrap();
    assert!(in_folder.status.success(), "{in_folder:?}");
    let written: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    let prefix = format!("trusted-report-{}-", namespace.name());
    assert!(written.iter().any(|name| name.to_str().unwrap().starts_with(&prefix)), "{written:?}");
}

#[tokio::test]
async fn a_report_is_of_one_namespace_that_exists() {
    let everywhere = bare(&["report", "-A"]).await.exits(2);
    assert!(everywhere.stderr.contains("-n"), "{}", everywhere.stderr);
    let namespace = ControlPlane::shared().await.namespace("reportnone").await;
    let admin = Plugin::as_user(&namespace, "admin");
    let nowhere = admin.run(&["report", "-n", "no-such-namespace"]).await;
    assert!(nowhere.code != 0 && nowhere.stderr.contains("no-such-namespace"), "{nowhere:?}");
}

/// A log with what must not leave, and what helps.
fn log_of(container: &str, previous: &str, pem: &str, encoded: &str) -> String {
    let pem = pem.replace('\n', "\n2026-12-01T04:00:00Z ");
    format!(
        "2026-12-01T04:00:00Z {container} {previous} starts at 10.0.0.7\n2026-12-01T04:00:00Z {pem}\n\
         2026-12-01T04:00:01Z disk key {encoded} token={MARKER}\n"
    )
}

#[tokio::test]
async fn logs_before_and_after_a_restart_and_the_pages_of_the_operator_are_redacted() {
    testenv::needs!(SimulatedNodes);
    let namespace = ControlPlane::shared().await.namespace("reportlogs").await;
    let stage = Stage::of(&namespace);
    set(&stage).await;
    let pem = stage.api::<trusted_crds::AttestationKey>().get("key").await.unwrap().spec.public_key;
    let encoded = "q83vASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4k";
    let proxy = FaultProxy::start(namespace.control_plane());
    let _restarted = proxy.on(Match::list("pods")).rewrite(|pods| {
        for pod in pods["items"].as_array_mut().unwrap() {
            let name = pod["spec"]["containers"][0]["name"].clone();
            pod["status"]["containerStatuses"] = json!([{"name": name, "restartCount": 1, "ready": true,
                "image": "i", "imageID": "i"}]);
        }
    });
    let previous = |call: &Call| call.uri.query().is_some_and(|query| query.contains("previous=true"));
    let before = log_of("container", "previous", &pem, encoded);
    let after = log_of("container", "current", &pem, encoded);
    let _before = proxy.on(Match::get("pods/log").when(previous)).answer(Refusal::text(200, &before));
    let _after =
        proxy.on(Match::get("pods/log").when(move |call| !previous(call))).answer(Refusal::text(200, &after));
    let page = |page: &'static str| {
        Match::request("pods/proxy").when(move |call| call.uri.path().ends_with(&format!("/proxy/{page}")))
    };
    let _metrics = proxy.on(page("metrics")).answer(Refusal::text(200, "requests_total 7\n"));
    let diagnostics = json!({"stores": 9, "peer": "10.0.0.9", "note": encoded}).to_string();
    let _diagnostics = proxy.on(page("diagnostics")).answer(Refusal::text(200, &diagnostics));

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("logs.tar.gz");
    let kubeconfig = namespace.user_kubeconfig("admin").unwrap();
    let admin = Plugin { kubeconfig: proxy.kubeconfig(Path::new(&kubeconfig)).unwrap().into() };
    let report = admin.run(&["report", "--redact-addresses", "--out", path(&file)]).await.exits(0);
    assert!(!report.stdout.contains("Missing"), "{}", report.stdout);

    let files = read(&file);
    let ending = |ending: &str| {
        let found: Vec<_> = files.iter().filter(|(file, _)| file.ends_with(ending)).collect();
        assert!(!found.is_empty(), "no {ending} among {:?}", files.keys());
        found
    };
    assert_eq!(ending("operator.previous.log").len() + ending("kbs.previous.log").len(), 2);
    assert!(ending("operator.previous.log")[0].1.contains("container previous starts at <address>"));
    assert!(ending("operator.log")[0].1.contains("container current starts at <address>"));
    assert_eq!(ending("/metrics.prom")[0].1, "requests_total 7\n");
    let diagnostics: Value = serde_json::from_str(ending("/diagnostics.json")[0].1).unwrap();
    assert_eq!(diagnostics, json!({"stores": 9, "peer": "<address>", "note": "<redacted>"}));
    let lines: Vec<_> = pem.lines().filter(|line| !line.starts_with("-----")).collect();
    for (file, text) in &files {
        for secret in lines.iter().chain(&[MARKER, encoded]) {
            assert!(!text.contains(secret), "{secret} in {file}: {text}");
        }
    }
}

#[tokio::test]
async fn what_could_not_be_listed_is_not_shown_as_empty() {
    testenv::needs!(SimulatedNodes);
    let namespace = ControlPlane::shared().await.namespace("reportblind").await;
    let stage = Stage::of(&namespace);
    set(&stage).await;
    let proxy = FaultProxy::start(namespace.control_plane());
    let _no_deployments = proxy.on(Match::list("deployments")).answer(403);
    let kubeconfig = namespace.user_kubeconfig("admin").unwrap();
    let admin = Plugin { kubeconfig: proxy.kubeconfig(Path::new(&kubeconfig)).unwrap().into() };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("blind.tar.gz");
    admin.run(&["report", "--out", path(&file)]).await.exits(4);
    let files = read(&file);
    assert!(!files.contains_key("objects/deployments.json"), "{:?}", files.keys());
    assert_eq!(json_of(&files, "objects/pods.json").as_array().unwrap().len(), 2, "known by their names");

    let _no_pods = proxy.on(Match::list("pods")).answer(403);
    let file = folder.path().join("blinder.tar.gz");
    admin.run(&["report", "--out", path(&file)]).await.exits(4);
    let files = read(&file);
    assert!(!files.contains_key("objects/pods.json"), "{:?}", files.keys());
}

#[tokio::test]
async fn a_status_that_cannot_be_made_does_not_keep_the_rest_away() {
    let namespace = ControlPlane::shared().await.namespace("reportbare").await;
    let proxy = FaultProxy::start(namespace.control_plane());
    let not_served = || Refusal::text(404, "404 page not found\n");
    let _kinds = ["trustedexecutionclusters", "machines", "attestationkeys", "approvedimages"]
        .map(|kind| proxy.on(Match::list(kind)).answer(not_served()));
    let kubeconfig = namespace.user_kubeconfig("admin").unwrap();
    let admin = Plugin { kubeconfig: proxy.kubeconfig(Path::new(&kubeconfig)).unwrap().into() };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bare.tar.gz");
    admin.run(&["report", "--out", path(&file)]).await.exits(4);
    let files = read(&file);
    assert!(!files.contains_key("status.json"), "{:?}", files.keys());
    assert!(files.contains_key("version.json") && files.contains_key("objects/events.json"));
    let missing = json_of(&files, "missing.json");
    let told = |resource: &str| {
        missing.as_array().unwrap().iter().any(|missing| missing["resource"].as_str() == Some(resource))
    };
    assert!(told("status") && told("machines.trusted-execution-clusters.io"), "{missing}");
}

#[tokio::test]
async fn a_server_that_is_not_there_leaves_no_archive() {
    let namespace = ControlPlane::shared().await.namespace("reportgone").await;
    let proxy = FaultProxy::start(namespace.control_plane());
    let kubeconfig = namespace.user_kubeconfig("admin").unwrap();
    let admin = Plugin { kubeconfig: proxy.kubeconfig(Path::new(&kubeconfig)).unwrap().into() };
    proxy.refuse_connections().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("gone.tar.gz");
    admin.run(&["report", "--out", path(&file)]).await.exits(1);
    assert!(!file.exists());
}

#[tokio::test]
async fn an_archive_on_stdout_is_all_that_is_there() {
    let formatted = bare(&["report", "--out", "-", "-o", "json"]).await.exits(2);
    assert!(formatted.stderr.contains("-o") && formatted.stdout.is_empty(), "{formatted:?}");
    let tail = bare(&["report", "--tail", "-1"]).await.exits(2);
    assert!(tail.stderr.contains("--tail"), "{}", tail.stderr);

    let namespace = ControlPlane::shared().await.namespace("reportpipe").await;
    let nobody = Plugin::as_user(&namespace, "nobody");
    let output = nobody.command().args(["report", "--out", "-"]).output().await.unwrap();
    assert_eq!(output.status.code(), Some(4));
    assert!(unpacked(&output.stdout).contains_key("missing.json"));
    let talk = String::from_utf8(output.stderr).unwrap();
    assert!(talk.contains("Missing") && talk.contains("list machines"), "{talk}");
    let mut terminal = Terminal::run(&nobody, &["report", "--out", "-"]);
    terminal.shows("terminal");
    assert_eq!(terminal.ends().0, 2);
}
