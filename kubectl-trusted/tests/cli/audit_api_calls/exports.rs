//! The forms of other programs, each read back by something that knows the form.

use super::{EXCERPT, diff, snapshot, written};
use crate::run::{bare, path};

/// Splits a line of comma-separated values in which nothing is quoted.
fn cells(line: &str) -> Vec<&str> {
    line.split(',').collect()
}

#[tokio::test]
async fn comma_separated_values_hold_every_row() {
    let json = snapshot(&["--audit-log", EXCERPT, "-o", "json"]).await.json();
    let csv = snapshot(&["--audit-log", EXCERPT, "-o", "csv"]).await.exits(0).stdout;
    let lines: Vec<_> = csv.lines().map(cells).collect();
    assert_eq!(lines[0], ["verb", "group", "resource", "subresource", "code", "count", "kind"]);
    assert_eq!(lines.len(), json["rows"].as_array().unwrap().len() + 1);
    let total: u64 = lines[1..].iter().map(|line| line[5].parse::<u64>().unwrap()).sum();
    assert_eq!(json["total"], total);
}

#[tokio::test]
async fn every_row_of_a_comparison_has_its_numbers_in_every_form() {
    let folder = tempfile::tempdir().unwrap();
    let (before, after) = (folder.path().join("a.json"), folder.path().join("b.json"));
    snapshot(&["--audit-log", EXCERPT, "--user", "op-a", "--out", path(&before)]).await.exits(0);
    snapshot(&["--audit-log", EXCERPT, "--out", path(&after)]).await.exits(0);
    let sides = [path(&before), path(&after)];
    let csv = diff(&[&sides[..], &["-o", "csv"]].concat()).await.exits(0).stdout;
    assert!(
        csv.contains("\ncreate,apiextensions.k8s.io,customresourcedefinitions,,0,1,1,,writes,audit-log\n"),
        "{csv}"
    );
    assert!(csv.contains("\ncreate,,secrets,,2,2,0,0,writes,audit-log\n"), "{csv}");
    let series = diff(&[&sides[..], &["-o", "prometheus", "--max", "list=0"]].concat()).await.exits(3).stdout;
    let wanted = [
        "# TYPE audit_api_calls_requests gauge",
        "audit_api_calls_requests{verb=\"list\",group=\"trusted-execution-clusters.io\",resource=\"machines\",\
         subresource=\"\",kind=\"reads\",side=\"before\",source=\"audit-log\"} 1",
        "audit_api_calls_valid 1",
        "audit_api_calls_budget_kept{limit=\"--max list=0\"} 0",
    ];
    for line in wanted {
        assert!(series.lines().any(|given| given == line), "{line}\n{series}");
    }
    let markdown = diff(&[&sides[..], &["-o", "markdown"]].concat()).await.exits(0).stdout;
    assert!(markdown.contains("| VERB | RESOURCE | BEFORE | AFTER | DELTA | PERCENT |"), "{markdown}");
}

#[tokio::test]
async fn a_test_report_fails_for_what_is_over_budget() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.xml");
    let limits = ["--max", "list=0", "--max-total", "7", "--junit", path(&file)];
    let common = ["--audit-log", EXCERPT, "--user", "op-a"];
    let shown = snapshot(&[&common[..], &limits, &["-o", "junit"]].concat()).await.exits(3).stdout;
    assert_eq!(std::fs::read_to_string(&file).unwrap(), shown);
    assert!(shown.contains("<testsuite name=\"audit-api-calls\" tests=\"3\" failures=\"1\""), "{shown}");
    assert!(
        shown.contains(
            "name=\"--max list=0\" time=\"0\">\n    <failure message=\"--max list=0: 1 requests, 1 more than \
             the 0 allowed\">--max list=0: 1 requests, 1 more than the 0 allowed\n1 list machines</failure>"
        ),
        "{shown}"
    );
    // A measurement of nothing fails as well.
    let empty = written(folder.path(), "empty", b"");
    let shown = snapshot(&["--audit-log", path(&empty), "-o", "junit"]).await.exits(4).stdout;
    assert!(shown.contains("tests=\"1\" failures=\"1\""), "{shown}");
}

#[tokio::test]
async fn rankings_and_habits_are_tables_too() {
    let top = ["audit-api-calls", "top", "--audit-log", EXCERPT, "--by", "user,verb"];
    let csv = bare(&[&top[..], &["-o", "csv"]].concat()).await.exits(0).stdout;
    let lines: Vec<_> = csv.lines().map(cells).collect();
    assert_eq!(lines[0], ["user", "verb", "count", "failed", "percent", "perMinute"]);
    assert_eq!(lines[1], ["op-a", "create", "2", "1", "25", "0.267"]);
    assert_eq!(lines[1..].iter().map(|line| line[2].parse::<u64>().unwrap()).sum::<u64>(), 8);
    let markdown = bare(&[&top[..], &["-o", "markdown"]].concat()).await.exits(0).stdout;
    assert!(markdown.contains("| op-a | create | 2 | 25.0% |"), "{markdown}");
    let refused = bare(&[&top[..], &["-o", "junit"]].concat()).await.exits(2).stderr;
    assert!(refused.contains("is for counts of requests: snapshot, run and diff"), "{refused}");

    let log = std::fs::read_to_string(EXCERPT).unwrap();
    let get = log.lines().find(|line| line.contains("\"verb\":\"get\"")).unwrap();
    let id = serde_json::from_str::<serde_json::Value>(get).unwrap()["auditID"].as_str().unwrap().to_owned();
    let polls: String = (0..30).map(|at| format!("{}\n", get.replace(&id, &format!("poll-{at}")))).collect();
    let folder = tempfile::tempdir().unwrap();
    let file = written(folder.path(), "polls.log", polls.as_bytes());
    let csv =
        bare(&["audit-api-calls", "explain", "--audit-log", path(&file), "-o", "csv"]).await.exits(0).stdout;
    assert!(
        csv.starts_with("habit,user,verb,group,resource,subresource,count,avoidable,what,fewer\n"),
        "{csv}"
    );
    assert!(csv.contains("\nPolling GETs,op-a,get,,secrets,,30,29,"), "{csv}");
}

#[tokio::test]
async fn other_results_have_no_such_form() {
    let ran = bare(&["version", "--client", "-o", "csv"]).await.exits(2);
    assert!(ran.stderr.contains("-o csv is for counts of requests"), "{}", ran.stderr);
}
