//! Budgets in files, and what a pipeline is told.

use super::{EXCERPT, diff, snapshot, written};
use crate::run::{Ran, command, path};

const USER: [&str; 4] = ["--audit-log", EXCERPT, "--user", "op-a"];

async fn of_operator(arguments: &[&str]) -> Ran {
    snapshot(&[&USER[..], arguments].concat()).await
}

#[tokio::test]
async fn a_proposed_budget_is_kept_by_what_it_was_made_from() {
    let folder = tempfile::tempdir().unwrap();
    let (budget, kept) = (folder.path().join("budget.yaml"), folder.path().join("a.json"));
    of_operator(&["--write-budget", path(&budget), "--out", path(&kept)]).await.exits(0);
    let text = std::fs::read_to_string(&budget).unwrap();
    assert!(text.contains("kind: ApiCallBudget\nmaxTotal: 8  # counted: 7\n"), "{text}");
    of_operator(&["--budget", path(&budget)]).await.exits(0);
    let strict = written(folder.path(), "strict.yaml", text.replace("maxTotal: 8", "maxTotal: 6").as_bytes());
    let ran = of_operator(&["--budget", path(&strict), "-o", "json"]).await.exits(3).json();
    let limit = ran["budget"]["breaches"][0]["limit"].as_str().unwrap();
    assert!(limit.ends_with("strict.yaml: maxTotal: 6"), "{limit}");
    assert_eq!(ran["budget"]["breaches"][0]["rows"].as_array().unwrap().len(), 6);
    // Flags and file hold together; the increase is looked at where there are two sides.
    let both = of_operator(&["--budget", path(&budget), "--max", "create=1", "-o", "json"]).await.exits(3);
    assert_eq!(both.json()["budget"]["breaches"][0]["limit"], "--max create=1");
    let same =
        diff(&[path(&kept), path(&kept), "--budget", path(&budget), "-o", "json"]).await.exits(0).json();
    let checks = same["budget"]["checks"].as_array().unwrap();
    assert!(
        checks.iter().any(|check| check["limit"].as_str().unwrap().ends_with("maxIncrease: 5%")),
        "{same}"
    );
}

#[tokio::test]
async fn a_budget_that_cannot_be_understood_is_no_kept_one() {
    let folder = tempfile::tempdir().unwrap();
    let typo = written(folder.path(), "typo.yaml", b"max:\n  lists: 0\n");
    let ran = of_operator(&["--budget", path(&typo)]).await.exits(1);
    assert!(ran.stderr.contains("is no budget: \"lists\" is no verb of the audit log"), "{}", ran.stderr);
    let missing = of_operator(&["--budget", "/nonexistent"]).await.exits(1);
    assert!(missing.stderr.contains("The budget \"/nonexistent\" cannot be read"), "{}", missing.stderr);
}

#[tokio::test]
async fn doubts_end_with_four_only_where_it_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = std::fs::read(EXCERPT).unwrap();
    log.extend_from_slice(b"{\"kind\":\"Event\",\"apiVersion\":\"audit.k8s.io/v1\",\"aud");
    let cut = written(folder.path(), "cut.log", &log);
    snapshot(&["--audit-log", EXCERPT, "--strict"]).await.exits(0);
    snapshot(&["--audit-log", path(&cut)]).await.exits(0);
    let told = snapshot(&["--audit-log", path(&cut), "--strict", "-o", "json"]).await.exits(4).json();
    assert_eq!((&told["doubtful"], &told["invalid"]), (&true.into(), &serde_json::Value::Null));
    // A window shorter than a watch lives.
    let until = ["--until", "2026-11-30T17:15:40Z", "--strict"];
    let short = snapshot(&[&["--audit-log", EXCERPT][..], &until].concat()).await.exits(4);
    assert!(short.stdout.contains("is shorter than a watch lives"), "{}", short.stdout);
}

#[tokio::test]
async fn a_step_summary_is_added_to() {
    let folder = tempfile::tempdir().unwrap();
    let file = written(folder.path(), "summary.md", b"before\n");
    let arguments = ["audit-api-calls", "snapshot", "--audit-log", EXCERPT, "--step-summary"];
    let run = || {
        let mut command = command();
        command.args(arguments).env("GITHUB_STEP_SUMMARY", &file);
        command
    };
    let output = run().output().await.unwrap();
    let screen = Ran::of(output).exits(0).stdout;
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.starts_with("before\n") && text.contains("| GROUP | REQUESTS | PER MINUTE |"), "{text}");
    assert!(screen.contains("GROUP    REQUESTS  PER MINUTE"), "{screen}");
    let none = snapshot(&["--audit-log", EXCERPT, "--step-summary"]).await.exits(2);
    assert!(none.stderr.contains("GITHUB_STEP_SUMMARY is not set"), "{}", none.stderr);
}
