//! Audit logs as they lie about: rotated, copied, in folders, with everybody's requests in them.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{EXCERPT, gzip, snapshot, written};
use crate::run::{bare, path};

#[tokio::test]
async fn a_folder_is_all_its_logs_however_they_overlap() {
    let folder = tempfile::tempdir().unwrap();
    let whole = std::fs::read(EXCERPT).unwrap();
    let lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    let (first, second) = lines.split_at(lines.len() / 2);
    written(folder.path(), "audit-2026-11-30T17-20-00.000.log.gz", &gzip(&first.concat()));
    written(folder.path(), "audit.log", &second.concat());
    written(folder.path(), "README", b"These are logs.\n");
    written(folder.path(), ".hidden", b"not json\n");
    let document = snapshot(&["--audit-log", path(folder.path()), "-o", "json"]).await.exits(0).json();
    assert_eq!((&document["total"], &document["malformedLines"]), (&8.into(), &0.into()));
    let notes = document["warnings"].to_string();
    assert!(notes.contains("README\\\" is no audit log and was passed over"), "{notes}");
    // A copy of it all changes nothing.
    written(folder.path(), "copy", &whole);
    let copied = snapshot(&["--audit-log", path(folder.path()), "-o", "json"]).await.exits(0).json();
    assert_eq!(copied["rows"], document["rows"]);
    let file = folder.path().join("copy");
    snapshot(&["--audit-log", path(folder.path()), path(&file)]).await.exits(2);
    let empty = tempfile::tempdir().unwrap();
    let ran = snapshot(&["--audit-log", path(empty.path())]).await.exits(1);
    assert!(ran.stderr.contains("holds no files"), "{}", ran.stderr);
}

#[tokio::test]
async fn clients_are_told_apart_in_every_way() {
    let folder = tempfile::tempdir().unwrap();
    let account =
        std::fs::read_to_string(EXCERPT).unwrap().replace("\"op-a\"", "\"system:serviceaccount:x:op\"");
    let log = written(folder.path(), "audit.log", account.as_bytes());
    let total = |arguments: &'static [&'static str]| {
        let log = path(&log).to_owned();
        async move {
            let all = [&["--audit-log", &log, "-o", "json"], arguments].concat();
            snapshot(&all).await.json()["total"].as_u64().unwrap()
        }
    };
    assert_eq!(total(&["--service-account", "x/op"]).await, 7);
    assert_eq!(total(&["--user-agent", "python-requests/"]).await, 1);
    assert_eq!(total(&["--user-agent", "kubectl/"]).await, 0);
    assert_eq!(total(&["-n", "trusted"]).await, 7);
    assert_eq!(total(&["-n", "trusted", "-n", "other"]).await, 7);
    assert_eq!(total(&["-n", "other"]).await, 0);
    snapshot(&["--audit-log", path(&log), "--user", "a", "--service-account", "x/op"]).await.exits(2);
    snapshot(&["--audit-log", path(&log), "--service-account", "op"]).await.exits(2);
    snapshot(&["--user-agent", "x"]).await.exits(2);
}

#[tokio::test]
async fn a_log_without_answers_is_not_taken_for_a_quiet_one() {
    let folder = tempfile::tempdir().unwrap();
    let log = std::fs::read_to_string(EXCERPT).unwrap();
    let answered: BTreeSet<&str> = log.lines().filter(|line| line.contains("ResponseComplete")).collect();
    let received: String = answered
        .iter()
        .map(|line| format!("{}\n", line.replace("ResponseComplete", "RequestReceived")))
        .collect();
    let file = written(folder.path(), "received.log", received.as_bytes());
    let document = snapshot(&["--audit-log", path(&file), "-o", "json"]).await.exits(4).json();
    let notes = document["warnings"].to_string();
    assert!(notes.contains("have no answer in this log"), "{notes}");
}

#[tokio::test]
async fn the_busiest_clients_come_first() {
    let top = |arguments: &'static [&'static str]| async move {
        bare(&[&["audit-api-calls", "top", "--audit-log", EXCERPT], arguments].concat()).await
    };
    let screen = top(&["--by", "user,verb", "--limit", "2"]).await.exits(0).stdout;
    let table = screen.split_once("\n\n").unwrap().1;
    assert_eq!(
        table,
        "USER  VERB    REQUESTS  SHARE  PER MINUTE  FAILED
op-a  create         2  25.0%         0.3       1
admin  create         1  12.5%         0.1       0
... and 5 requests of further rows; --limit shows more
"
        .replace("USER  VERB", "USER   VERB")
        .replace("op-a  create", "op-a   create")
    );
    let agents = top(&["--by", "agent", "-o", "json"]).await.exits(0).json();
    assert_eq!((&agents["kind"], &agents["total"]), (&"ApiCallTop".into(), &8.into()));
    let counts = agents["rows"].as_array().unwrap().iter().map(|row| row["count"].as_u64().unwrap());
    assert_eq!(counts.sum::<u64>(), 8);
    bare(&["audit-api-calls", "top"]).await.exits(2);
    top(&["--user", "nobody"]).await.exits(4);
}

#[tokio::test]
async fn the_published_sum_stands_beside_the_honest_one() {
    let common = ["--audit-log", EXCERPT, "--user", "op-a", "--as-claimed"];
    let document = snapshot(&[&common[..], &["-o", "json"]].concat()).await.exits(0).json();
    assert_eq!((&document["total"], &document["claimed"]["total"]), (&7.into(), &3.into()));
    let screen = snapshot(&common).await.exits(0).stdout;
    assert!(screen.contains("3 as claimed (group trusted-execution-clusters.io, all clients)"), "{screen}");
    assert!(screen.contains("The 7 counted here leave out the requests of everybody but op-a."), "{screen}");
}

#[tokio::test]
async fn habits_are_named_with_their_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let log = std::fs::read_to_string(EXCERPT).unwrap();
    let get = log.lines().find(|line| line.contains("\"verb\":\"get\"")).unwrap();
    let id = serde_json::from_str::<Value>(get).unwrap()["auditID"].as_str().unwrap().to_owned();
    let polls: String = (0..30).map(|at| format!("{}\n", get.replace(&id, &format!("poll-{at}")))).collect();
    let file = written(folder.path(), "polls.log", polls.as_bytes());
    let screen = bare(&["audit-api-calls", "explain", "--audit-log", path(&file)]).await.exits(0).stdout;
    assert!(
        screen.starts_with("30 requests, costly habits: 1, about 29 requests that need not be\n"),
        "{screen}"
    );
    assert!(screen.contains("Polling GETs  op-a\n  30 GETs of 1 secrets"), "{screen}");
    assert!(screen.contains("Fewer: Keep the kind in a store"), "{screen}");
    let quiet =
        bare(&["audit-api-calls", "explain", "--audit-log", EXCERPT, "-o", "json"]).await.exits(0).json();
    assert_eq!((&quiet["kind"], &quiet["findings"]), (&"ApiCallExplanation".into(), &serde_json::json!([])));
    assert!(quiet["warnings"].to_string().contains("policy level Metadata"), "{quiet}");
}
