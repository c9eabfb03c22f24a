//! Every row against a count that shares no code with the plug-in: of real logs, of a log of our own control plane, and
//! of the API server's counters over the same time.

use std::collections::{BTreeMap, HashSet};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use flate2::read::MultiGzDecoder;
use k8s_openapi::api::node::v1::RuntimeClass;
use kube::Api;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams, WatchParams};
use serde_json::{Value, json};
use testenv::{ControlPlane, eventually};

use super::{EXCERPT, snapshot, written};
use crate::run::{Plugin, path};

/// Verb, group, resource, subresource, code.
type Key = (String, String, String, String, u64);
type Rows = BTreeMap<Key, u64>;

/// The independent count: one for every audit id, at the first event that has an answer.
fn counted(log: &str, is_wanted: impl Fn(&Value) -> bool) -> Rows {
    let (mut rows, mut seen) = (Rows::new(), HashSet::new());
    for line in log.lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        let is_answer = event["stage"] != "RequestReceived";
        if is_answer && is_wanted(&event) && seen.insert(event["auditID"].as_str().unwrap().to_owned()) {
            let object = &event["objectRef"];
            let [group, mut resource, subresource] = ["apiGroup", "resource", "subresource"]
                .map(|field| object[field].as_str().unwrap_or("").to_owned());
            if resource.is_empty() {
                let path = event["requestURI"].as_str().unwrap().split(['/', '?']).nth(1).unwrap();
                resource = format!("/{path}");
            }
            let verb = event["verb"].as_str().unwrap().to_owned();
            let code = event["responseStatus"]["code"].as_u64().unwrap();
            *rows.entry((verb, group, resource, subresource, code)).or_default() += 1;
        }
    }
    rows
}

fn rows(document: &Value) -> Rows {
    let row = |row: &Value| {
        let [verb, group, resource, subresource] =
            ["verb", "group", "resource", "subresource"].map(|field| row[field].as_str().unwrap().to_owned());
        ((verb, group, resource, subresource, row["code"].as_u64().unwrap()), row["count"].as_u64().unwrap())
    };
    document["rows"].as_array().unwrap().iter().map(row).collect()
}

fn by_verb(rows: &Rows) -> BTreeMap<&str, u64> {
    let mut verbs = BTreeMap::new();
    for ((verb, ..), count) in rows {
        *verbs.entry(verb.as_str()).or_default() += count;
    }
    verbs
}

/// A log of an existing operator with 20 pairs. It lies beside the clone, not in it.
fn real_log(version: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/audit-logs");
    let file = folder.join(format!("existing-operator-{version}-20-pairs.log.gz"));
    let exists = file.is_file();
    if !exists {
        // Past the capture of libtest, which hides what passes.
        let line = format!("skipped: a count of a real log: there is no {}\n", file.display());
        let _ = std::io::stderr().write_all(line.as_bytes());
    }
    exists.then_some(file)
}

fn unpacked(file: &Path) -> String {
    let mut text = String::new();
    MultiGzDecoder::new(std::fs::File::open(file).unwrap()).read_to_string(&mut text).unwrap();
    text
}

async fn document(log: &Path, arguments: &[&str]) -> Value {
    snapshot(&[&["--audit-log", path(log), "-o", "json"], arguments].concat()).await.exits(0).json()
}

/// All clients together, and the operator alone.
async fn equals_an_independent_count(file: &Path, user: &str) -> (Rows, Value) {
    let log = unpacked(file);
    let all = document(file, &[]).await;
    assert_eq!(rows(&all), counted(&log, |_| true));
    let one = document(file, &["--user", user, "--as-claimed"]).await;
    let wanted = counted(&log, |event| event["user"]["username"] == user);
    assert_eq!(rows(&one), wanted);
    assert_eq!(one["total"], wanted.values().sum::<u64>());
    let own_group = |event: &Value| event["objectRef"]["apiGroup"] == trusted_crds::GROUP;
    assert_eq!(one["claimed"]["total"], counted(&log, own_group).values().sum::<u64>());
    (wanted, one)
}

#[tokio::test]
async fn every_row_of_the_excerpt_equals_an_independent_count() {
    let log = std::fs::read_to_string(EXCERPT).unwrap();
    let wanted = counted(&log, |event| event["user"]["username"] == "op-a");
    assert_eq!(rows(&document(Path::new(EXCERPT), &["--user", "op-a"]).await), wanted);
}

#[tokio::test]
async fn every_row_of_a_log_of_version_a_equals_an_independent_count() {
    let Some(file) = real_log("A") else { return };
    let (rows, document) = equals_an_independent_count(&file, "op-a").await;
    let verbs =
        [("create", 167), ("get", 257), ("list", 180), ("patch", 109), ("update", 132), ("watch", 21)];
    assert_eq!(by_verb(&rows), BTreeMap::from(verbs));
    assert_eq!((&document["total"], &document["claimed"]["total"]), (&866.into(), &1026.into()));
}

#[tokio::test]
async fn every_row_of_a_log_of_version_b_equals_an_independent_count() {
    let Some(file) = real_log("B") else { return };
    equals_an_independent_count(&file, "op-b").await;
}

#[tokio::test]
async fn every_row_of_our_own_log_equals_an_independent_count() {
    testenv::needs!(AuditLog);
    let control_plane = ControlPlane::shared().await;
    let namespace = control_plane.namespace("counts").await;
    Plugin::as_user(&namespace, "viewer").run(&["status"]).await;
    let folder = tempfile::tempdir().unwrap();
    // The API server goes on writing, so both counts are of a copy that ends with a whole line.
    let text = std::fs::read_to_string(control_plane.audit().path()).unwrap();
    let text = &text[..=text.rfind('\n').unwrap()];
    let log = written(folder.path(), "audit.log", text.as_bytes());
    assert_eq!(rows(&document(&log, &[]).await), counted(text, |_| true));
    for user in [namespace.user_name("viewer"), "system:apiserver"] {
        let wanted = counted(text, |event| event["user"]["username"] == user);
        assert!(!wanted.is_empty(), "{user}");
        assert_eq!(rows(&document(&log, &["--user", user]).await), wanted, "{user}");
    }
}

/// The group of a kind that no other test uses.
const GROUP: &str = "node.k8s.io";

/// Requests of every verb, of which the API server refuses two and leaves one watch open.
async fn ask(classes: &Api<RuntimeClass>, name: &str) -> impl Sized {
    let class: RuntimeClass =
        serde_json::from_value(json!({"metadata": {"name": name}, "handler": "x"})).unwrap();
    classes.create(&PostParams::default(), &class).await.unwrap();
    classes.create(&PostParams::default(), &class).await.unwrap_err();
    let label = json!({"metadata": {"labels": {"a": "b"}}});
    classes.patch(name, &PatchParams::default(), &Patch::Merge(&label)).await.unwrap();
    let apply = json!({"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": name},
        "handler": "x"});
    classes.patch(name, &PatchParams::apply("counts").force(), &Patch::Apply(&apply)).await.unwrap();
    let read = classes.get(name).await.unwrap();
    classes.replace(name, &PostParams::default(), &read).await.unwrap();
    classes.get("nobody").await.unwrap_err();
    let ended = classes.watch(&WatchParams::default().timeout(1), "0").await.unwrap();
    futures::StreamExt::count(ended).await;
    let open = classes.watch(&WatchParams::default(), "0").await.unwrap();
    let listed = classes.list(&ListParams::default().limit(1)).await.unwrap();
    assert!(!listed.items.is_empty());
    classes.delete(name, &DeleteParams::default()).await.unwrap();
    open
}

fn open_watches(snapshot: &Value) -> i64 {
    let open = snapshot["openWatches"].as_array().unwrap().iter().filter(|open| open["group"] == GROUP);
    open.map(|open| open["count"].as_i64().unwrap()).sum()
}

/// What counters added between two snapshots, apart from watches; and the watches that ended.
fn added(before: &Rows, after: &Rows) -> (Rows, i64) {
    let (mut added, mut ended) = (Rows::new(), 0);
    for (key, count) in after.iter().filter(|(key, _)| key.1 == GROUP) {
        match count - before.get(key).unwrap_or(&0) {
            0 => {}
            more if key.0 == "watch" => ended += i64::try_from(more).unwrap(),
            more => *added.entry(key.clone()).or_default() += more,
        }
    }
    (added, ended)
}

/// The difference that is documented: a log has a watch when it starts, the counters when it ends. So the watches that
/// one has more are those that are open at the end and were not at the beginning.
#[tokio::test]
async fn the_log_and_the_counters_differ_by_open_watches_alone() {
    testenv::needs!(AuditLog);
    let control_plane = ControlPlane::shared().await;
    let namespace = control_plane.namespace("counters").await;
    let auditor = Plugin::as_user(&namespace, "auditor");
    let metrics =
        || async { auditor.run(&["audit-api-calls", "snapshot", "-o", "json"]).await.exits(0).json() };
    let before = metrics().await;
    let classes: Api<RuntimeClass> = Api::all(control_plane.admin());
    let _open = ask(&classes, namespace.name()).await;
    let log = control_plane.audit();
    let since = before["window"]["to"].as_str().unwrap().to_owned();
    // An answer is sent before it is counted, and written to the log later still.
    let patience = Duration::from_secs(60);
    eventually("the log and the counters to agree", patience, || async {
        let after = metrics().await;
        let until = after["window"]["to"].as_str().unwrap();
        let window = ["--api-group", GROUP, "--since", &since, "--until", until];
        let logged = rows(&document(log.path(), &window).await);
        let (counted, ended) = added(&rows(&before), &rows(&after));
        let (watches, logged): (Rows, Rows) = logged.into_iter().partition(|(key, _)| key.0 == "watch");
        let started = i64::try_from(watches.values().sum::<u64>()).unwrap();
        let opened = open_watches(&after) - open_watches(&before);
        let agree = logged == counted && logged.len() >= 7 && started >= 2 && opened == started - ended;
        if agree { Ok(()) } else { Err(format!("{logged:?} {counted:?}; {started} - {ended}, {opened:?}")) }
    })
    .await;
}
