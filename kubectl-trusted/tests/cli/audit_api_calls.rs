//! `audit-api-calls` on a real excerpt of an audit log, and on a running API server.

mod budgets;
mod counts;
mod exports;
mod flows;
mod hours;
mod lives;
mod logs;
mod own_budget;
mod pictures;
mod pods;
mod runs;
mod sources;

use std::io::Write;
use std::path::{Path, PathBuf};

use testenv::ControlPlane;

use crate::run::{Plugin, Ran, bare, path, piped};

const EXCERPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/audit-log-excerpt.jsonl");

async fn snapshot(arguments: &[&str]) -> Ran {
    bare(&[&["audit-api-calls", "snapshot"], arguments].concat()).await
}

async fn diff(arguments: &[&str]) -> Ran {
    bare(&[&["audit-api-calls", "diff"], arguments].concat()).await
}

fn written(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let file = folder.join(name);
    std::fs::write(&file, bytes).unwrap();
    file
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn the_screen_of_a_snapshot() {
    let ran = snapshot(&["--audit-log", EXCERPT, "--user", "op-a"]).await.exits(0);
    assert_eq!(
        ran.stdout,
        "7 requests, 0.9 per minute
  source  audit-log, user op-a
  window  2026-11-30T17:15:29Z to 2026-11-30T17:22:58Z (7m28s)

GROUP    REQUESTS  PER MINUTE
reads           2         0.3
writes          4         0.5
watches         1         0.1

VERB    REQUESTS  FAILED
create         2       1
get            1       1
list           1       0
patch          1       0
update         1       1
watch          1       0

VERB    RESOURCE                CODE  REQUESTS
create  secrets                  201         1
create  secrets                  409         1
get     secrets                  404         1
list    machines                 200         1
patch   attestationkeys/status   200         1
update  deployments              422         1
watch   machines                 200         1
"
    );
    assert_eq!(ran.stderr, "");
}

#[tokio::test]
async fn the_document_of_a_snapshot() {
    let document = snapshot(&["--audit-log", EXCERPT, "-o", "json"]).await.exits(0).json();
    assert_eq!(document["kind"], "ApiCallSnapshot");
    assert_eq!(document["source"], "audit-log");
    assert_eq!(document["total"], 8);
    let watch = document["rows"].as_array().unwrap().iter().find(|row| row["verb"] == "watch").unwrap();
    assert_eq!(
        *watch,
        serde_json::json!({"verb": "watch", "group": "trusted-execution-clusters.io", "resource": "machines",
            "subresource": "", "code": 200, "count": 1})
    );
    assert_eq!(document["warnings"], serde_json::json!([]));
    assert!(document["window"]["from"].as_str().unwrap().starts_with("2026-11-30T17:15:2"), "{document}");
}

#[tokio::test]
async fn gzip_stdin_and_parts_count_alike() {
    let folder = tempfile::tempdir().unwrap();
    let whole = std::fs::read(EXCERPT).unwrap();
    let lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    let (first, second) = lines.split_at(lines.len() / 2);
    let first = written(folder.path(), "first.log", &gzip(&first.concat()));
    let second = written(folder.path(), "second.log", &second.concat());
    let expected = snapshot(&["--audit-log", EXCERPT, "-o", "json"]).await.json();
    for parts in [[&first, &second], [&second, &first]] {
        let ran = snapshot(&["--audit-log", path(parts[0]), path(parts[1]), "-o", "json"]).await.exits(0);
        assert_eq!(ran.json()["rows"], expected["rows"]);
    }
    for input in [whole.clone(), gzip(&whole)] {
        let ran =
            piped(&["audit-api-calls", "snapshot", "--audit-log", "-", "-o", "json"], &input).await.exits(0);
        assert_eq!(ran.json()["rows"], expected["rows"]);
    }
}

#[tokio::test]
async fn filters_cut_by_group_and_time() {
    let group =
        snapshot(&["--audit-log", EXCERPT, "--api-group", "trusted-execution-clusters.io", "-o", "json"])
            .await;
    assert_eq!(group.exits(0).json()["total"], 3);
    let early =
        snapshot(&["--audit-log", EXCERPT, "--until", "2026-11-30T17:15:37Z", "-o", "json"]).await.json();
    let late =
        snapshot(&["--audit-log", EXCERPT, "--since", "2026-11-30T17:15:37Z", "-o", "json"]).await.json();
    assert_eq!(early["total"].as_u64().unwrap() + late["total"].as_u64().unwrap(), 8);
    assert!(early["total"].as_u64().unwrap() > 0 && late["total"].as_u64().unwrap() > 0, "{early} {late}");
    snapshot(&["--audit-log", EXCERPT, "--since", "1h", "--until", "2h"]).await.exits(2);
}

#[tokio::test]
async fn malformed_lines_are_counted_and_cost_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = b"not json\n{\"kind\":\"Event\"}\n".to_vec();
    log.extend(std::fs::read(EXCERPT).unwrap());
    log.extend_from_slice(b"{\"kind\":\"Event\",\"apiVersion\":\"audit.k8s.io/v1\",\"aud");
    let file = written(folder.path(), "audit.log", &log);
    let document = snapshot(&["--audit-log", path(&file), "-o", "json"]).await.exits(0).json();
    assert_eq!((&document["total"], &document["malformedLines"]), (&8.into(), &3.into()));
    assert_eq!(document["warnings"][0], "3 lines are no audit events and are not counted");
}

#[tokio::test]
async fn a_file_that_was_cut_off_is_not_taken_for_whole() {
    let folder = tempfile::tempdir().unwrap();
    let packed = gzip(&std::fs::read(EXCERPT).unwrap());
    let file = written(folder.path(), "cut.gz", &packed[..packed.len() - 20]);
    let document = snapshot(&["--audit-log", path(&file), "-o", "json"]).await.exits(4).json();
    assert_eq!(document["invalid"], true);
}

#[tokio::test]
async fn a_measurement_of_nothing_is_not_good() {
    let folder = tempfile::tempdir().unwrap();
    let empty = written(folder.path(), "empty", b"");
    let text = written(folder.path(), "text", b"hello\nworld\n");
    let typo = snapshot(&["--audit-log", EXCERPT, "--user", "op-b", "--max", "list=0"]).await.exits(4);
    assert!(
        typo.stdout.contains("no request of user \"op-b\" matches; seen were: op-a, admin"),
        "{}",
        typo.stdout
    );
    snapshot(&["--audit-log", path(&empty)]).await.exits(4);
    let other = snapshot(&["--audit-log", path(&text)]).await.exits(1);
    assert!(
        other.stderr.contains("is no audit log: none of its lines is an audit event"),
        "{}",
        other.stderr
    );
    snapshot(&["--audit-log", "/nonexistent"]).await.exits(1);
    snapshot(&["--audit-log", path(folder.path())]).await.exits(4);
    snapshot(&["--audit-log", EXCERPT, EXCERPT]).await.exits(2);
}

#[tokio::test]
async fn budgets_decide_the_exit_code() {
    let user = ["--audit-log", EXCERPT, "--user", "op-a"];
    let with = |limit: &'static [&'static str]| [&user[..], limit].concat();
    snapshot(&with(&["--max", "list=1", "--max", "get/secrets=1", "--max-total", "7"])).await.exits(0);
    let over = snapshot(&with(&["--max", "list=0", "--max-total", "6", "-o", "json"])).await.exits(3).json();
    assert_eq!(over["budget"]["ok"], false);
    assert_eq!(over["budget"]["breaches"].as_array().unwrap().len(), 2);
    assert_eq!(over["budget"]["breaches"][1]["limit"], "--max list=0");
}

#[tokio::test]
async fn the_screen_of_a_comparison() {
    let folder = tempfile::tempdir().unwrap();
    let (before, after) = (folder.path().join("before.json"), folder.path().join("after.json"));
    let ran = snapshot(&["--audit-log", EXCERPT, "--user", "op-a", "--out", path(&before)]).await.exits(0);
    assert_eq!(ran.stdout, "");
    assert_eq!(ran.stderr, format!("{}: 7 requests, written for diff\n", before.display()));
    let fewer: Vec<String> = std::fs::read_to_string(EXCERPT)
        .unwrap()
        .lines()
        .filter(|line| !line.contains("\"verb\":\"list\"") && !line.contains("\"code\":409"))
        .map(|line| format!("{line}\n"))
        .collect();
    let log = written(folder.path(), "after.log", fewer.concat().as_bytes());
    snapshot(&["--audit-log", path(&log), "--user", "op-a", "--out", path(&after)]).await.exits(0);

    let ran = diff(&[path(&before), path(&after)]).await.exits(0);
    let shown = ran.stdout.replace(path(folder.path()), "DIR");
    let tables = shown.split_once("\n\nGROUP").map(|(_, tables)| format!("GROUP{tables}")).unwrap();
    assert!(shown.starts_with("7 requests before, 5 after  (-2, -28.6%)\n"), "{shown}");
    assert_eq!(
        tables,
        "GROUP              BEFORE  AFTER  DELTA  PERCENT  BEFORE/MIN  AFTER/MIN
reads                   2      1     -1   -50.0%         0.3        0.1
writes                  4      3     -1   -25.0%         0.5        0.4
watches                 1      1      0       0%         0.1        0.1
total                   7      5     -2   -28.6%         0.9        0.7
failed (4xx, 5xx)       3      2     -1   -33.3%           -          -

VERB    RESOURCE  BEFORE  AFTER  DELTA  PERCENT  BEFORE/MIN  AFTER/MIN
create  secrets        2      1     -1   -50.0%         0.3        0.1
list    machines       1      0     -1  -100.0%         0.1        0.0
... and 4 rows that did not change; -o wide shows them
"
    );
    let wide = diff(&[path(&before), path(&after), "-o", "wide"]).await.exits(0).stdout;
    assert!(wide.contains("\nwatch   machines ") && !wide.contains("did not change"), "{wide}");
    let json = diff(&[path(&before), path(&after), "-o", "json", "--max", "list=0"]).await.exits(0).json();
    assert_eq!(json["kind"], "ApiCallDiff");
    assert_eq!(json["total"], serde_json::json!({"before": 7, "after": 5, "delta": -2, "percent": -28.6}));
    assert_eq!(
        json["budget"],
        serde_json::json!({"ok": true, "breaches": [],
        "checks": [{"limit": "--max list=0", "counted": "0", "ok": true}]})
    );
    let groups = json["groups"].as_array().unwrap();
    assert_eq!((groups.len(), &groups[0]["name"], &groups[0]["delta"]), (3, &"reads".into(), &(-1).into()));
    let worse =
        diff(&[path(&after), path(&before), "--max-increase", "5%", "-o", "json"]).await.exits(3).json();
    assert_eq!(worse["budget"]["breaches"][0]["limit"], "--max-increase 5%");
}

#[tokio::test]
async fn yaml_is_the_same_document() {
    let folder = tempfile::tempdir().unwrap();
    let yaml = snapshot(&["--audit-log", EXCERPT, "-o", "yaml"]).await.exits(0);
    let file = written(folder.path(), "a.yaml", yaml.stdout.as_bytes());
    let ran = diff(&[path(&file), path(&file), "-o", "json"]).await.exits(0);
    assert_eq!(ran.json()["total"]["delta"], 0);
}

#[tokio::test]
async fn a_log_given_for_a_snapshot_is_told_apart() {
    let ran = diff(&[EXCERPT, EXCERPT]).await.exits(1);
    assert!(ran.stderr.contains("is an audit log, not a snapshot of one"), "{}", ran.stderr);
    diff(&["-", "-"]).await.exits(2);
    diff(&["/nonexistent", "-"]).await.exits(1);
}

#[tokio::test]
async fn the_api_servers_own_counters_show_what_was_added() {
    testenv::needs!(OwnCluster);
    let control_plane = ControlPlane::shared().await;
    let namespace = control_plane.namespace("metrics").await;
    let auditor = Plugin::as_user(&namespace, "auditor");
    let viewer = Plugin::as_user(&namespace, "viewer");
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("1.json"), folder.path().join("2.json"));
    auditor.run(&["audit-api-calls", "snapshot", "--out", path(&first)]).await.exits(0);
    viewer.run(&["status"]).await.exits(4);
    let ran = auditor.run(&["audit-api-calls", "snapshot", "--out", path(&second)]).await.exits(0);
    assert!(ran.stderr.contains("count all clients together"), "{}", ran.stderr);
    let json = diff(&[path(&first), path(&second), "-o", "json"]).await.exits(0).json();
    let rows = json["rows"].as_array().unwrap();
    let lists = rows.iter().find(|row| row["verb"] == "list" && row["resource"] == "approvedimages").unwrap();
    assert!(lists["delta"].as_i64().unwrap() >= 1, "{lists}");
    assert_eq!(lists["source"], "apiserver-metrics");
    // What is true of both sides is said once.
    let warnings: Vec<_> =
        json["warnings"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
    for words in ["count all clients together", "count a watch when it ends"] {
        assert_eq!(warnings.iter().filter(|text| text.contains(words)).count(), 1, "{warnings:?}");
    }
    // The same two the other way round: counters never fall.
    let ran = diff(&[path(&second), path(&first)]).await.exits(4);
    assert!(ran.stdout.contains("which a counter never does"), "{}", ran.stdout);
}

#[tokio::test]
async fn metrics_need_a_right_that_is_named() {
    let control_plane = ControlPlane::shared().await;
    let namespace = control_plane.namespace("no-metrics").await;
    let ran = Plugin::as_user(&namespace, "nobody").run(&["audit-api-calls", "snapshot"]).await.exits(1);
    assert!(ran.stderr.starts_with("Error from server (Forbidden): "), "{}", ran.stderr);
    assert!(ran.stderr.contains("non-resource URL /metrics"), "{}", ran.stderr);
    assert!(ran.stderr.contains("ClusterRole trusted-auditor"), "{}", ran.stderr);
}
