//! Counters of several processes, and pages that are none.

use std::sync::{Arc, Mutex};

use serde_json::Value;
use testenv::ControlPlane;

use super::diff;
use crate::pages::{Answer, Pages, Twins};
use crate::run::{Ran, bare, path};

/// A page of the real API server.
async fn real_page() -> String {
    let client = ControlPlane::shared().await.admin();
    let request = http::Request::get("/metrics").body(Vec::new()).unwrap();
    client.request_text(request).await.unwrap()
}

/// Two API servers behind one address that answer in turn.
async fn two() -> Pages {
    let mut twins = Twins::of(real_page().await);
    let mut turn = 0;
    Pages::serve(move |_| {
        turn += 1;
        match turn % 2 {
            1 => twins.page(0, 1.7e9, 3),
            _ => twins.page(1, 1.6e9, 4),
        }
    })
    .await
}

async fn at(pages: &Pages, verb: &str, arguments: &[&str]) -> Ran {
    let url = pages.url();
    bare(&[&["audit-api-calls", verb, "-s", &url], arguments].concat()).await
}

fn count(document: &Value, verb: &str, resource: &str) -> u64 {
    let rows = document["rows"].as_array().unwrap().iter();
    let rows = rows.filter(|row| row["verb"] == verb && row["resource"] == resource);
    rows.map(|row| row["count"].as_u64().unwrap()).sum()
}

#[tokio::test]
async fn api_servers_behind_one_address_are_told_apart_and_own_readings_taken_out() {
    let pages = two().await;
    let ran = at(&pages, "run", &["--instances", "2", "-o", "json", "--", "true"]).await.exits(0);
    let document = ran.json();
    // Each was read once before and once after: 3 and 4 lists more, and our own reading of each, which does not count.
    assert_eq!((&document["total"], count(&document, "list", "widgets")), (&7.into(), 7), "{document}");
    assert_eq!(count(&document, "get", "/metrics"), 0);
    assert_eq!(document["instances"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn another_api_server_is_not_compared_with_the_first() {
    let pages = two().await;
    let document = at(&pages, "run", &["-o", "json", "--", "true"]).await.exits(4).json();
    assert_eq!(document["total"], 0, "{document}");
    assert!(
        document["warnings"].to_string().contains("another instance behind the same address"),
        "{document}"
    );
}

#[tokio::test]
async fn snapshots_of_several_are_compared_one_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second, one) =
        (folder.path().join("1.json"), folder.path().join("2.json"), folder.path().join("one.json"));
    let pages = two().await;
    at(&pages, "snapshot", &["--instances", "2", "--out", path(&first)]).await.exits(0);
    let screen = at(&pages, "snapshot", &["--instances", "2"]).await.exits(0).stdout;
    assert!(screen.contains("instances  2\n"), "{screen}");
    at(&pages, "snapshot", &["--instances", "2", "--out", path(&second)]).await.exits(0);
    at(&pages, "snapshot", &["--out", path(&one)]).await.exits(0);
    let lists = |document: &Value| {
        let rows = document["rows"].as_array().unwrap().iter();
        let mut rows = rows.filter(|row| row["resource"] == "widgets");
        rows.next().map(|row| row["delta"].as_i64().unwrap())
    };
    let both = diff(&[path(&first), path(&second), "-o", "json"]).await.exits(0).json();
    assert_eq!(lists(&both), Some(2 * 3 + 2 * 4), "{both}");
    // Of the one that was seen on both sides alone, and said so.
    let ran = diff(&[path(&first), path(&one), "-o", "json"]).await.exits(0);
    assert_eq!(lists(&ran.json()), Some(3 * 3));
    assert!(ran.json()["warnings"].to_string().contains("seen before and not after: 1"), "{}", ran.stdout);
    diff(&[path(&first), path(&one), "--strict"]).await.exits(4);
}

#[tokio::test]
async fn fewer_instances_than_were_asked_for_are_told() {
    let pages = two().await;
    let ran = at(&pages, "snapshot", &["--instances", "3", "-o", "json"]).await.exits(0);
    let notes = ran.json()["warnings"].to_string();
    assert!(notes.contains("of the 3 instances that were asked for, 2 answered"), "{notes}");
}

#[tokio::test]
async fn a_restart_is_told_and_nothing_becomes_negative() {
    let mut twins = Twins::of(real_page().await);
    let mut turn = 0;
    let pages = Pages::serve(move |_| {
        turn += 1;
        // The second one starts in the year 2096, which is after the first reading.
        if turn == 1 { twins.page(1, 1.7e9, 0) } else { twins.page(0, 4e9, 0) }
    })
    .await;
    let document = at(&pages, "run", &["-o", "json", "--", "true"]).await.exits(4).json();
    assert_eq!(count(&document, "list", "widgets"), 1000);
    let notes = document["warnings"].to_string();
    assert!(notes.contains("were started in the window: 1"), "{notes}");
    assert!(notes.contains("so that the numbers are too low"), "{notes}");
}

#[tokio::test]
async fn starts_are_compared_with_the_clock_of_the_server() {
    let mut twins = Twins::of(real_page().await);
    let mut turn = 0;
    let pages = Pages::serve(move |_| {
        turn += 1;
        // Its clock stands at 1970, an hour after which the second one starts.
        let start = if turn == 1 { 60.0 } else { 4000.0 };
        twins.page(turn, start, 0).dated("Thu, 01 Jan 1970 00:10:00 GMT")
    })
    .await;
    let document = at(&pages, "run", &["-o", "json", "--", "true"]).await.exits(4).json();
    assert_eq!(count(&document, "list", "widgets"), 3000, "{document}");
}

#[tokio::test]
async fn a_restart_and_an_outage_do_not_end_what_is_live() {
    let mut twins = Twins::of(real_page().await);
    let mut turn = 0;
    let pages = Pages::serve(move |_| {
        turn += 1;
        match turn {
            1 => twins.page(0, 1.7e9, 5),
            2 => Answer::page("").status(500),
            3 => twins.page(0, 1.7e9, 5),
            // Started after the first reading.
            _ => twins.page(1, 4e9, 2),
        }
    })
    .await;
    let ran =
        at(&pages, "live", &["--interval", "1s", "--duration", "4s", "--color", "never"]).await.exits(0);
    assert!(ran.stderr.contains("Warning: no reading: "), "{}", ran.stderr);
    assert!(ran.stderr.contains("Warning: an instance was started at 2096-"), "{}", ran.stderr);
    // 5 lists in spite of the outage, then all 2000 of the new process, then 2 more or so.
    let lines: Vec<_> = ran.stdout.lines().filter(|line| line.contains(" list widgets (")).collect();
    assert!(lines[0].contains(" +5 list widgets (5 in all)"), "{lines:?}");
    assert!(lines[1].contains(" +2000 list widgets (2005 in all)"), "{lines:?}");
    assert!(!ran.stdout.contains("get /metrics"), "{}", ran.stdout);
}

#[tokio::test]
async fn a_page_that_is_none_or_not_whole_is_an_error_of_its_own() {
    let page = real_page().await;
    let cut = page.len() / 2;
    let html = "<html><body>Welcome</body></html>\n";
    let cases = [
        (Answer::page(&page[..cut]), "were cut short: its last line has no end"),
        (Answer::page(page.clone()).longer(), "broke off while being read"),
        (
            Answer::of("application/openmetrics-text; version=1.0.0", page.clone()),
            "does not end with \"# EOF\"",
        ),
        (Answer::of("text/html", html), "is no Kubernetes API server"),
        (Answer::of("text/html", html).status(404), "serves no /metrics"),
        (Answer::of("text/html", html).status(403), "is no Kubernetes API server"),
        (Answer::of("application/json", "{\"a\": 1}\n"), "is no Kubernetes API server"),
        (Answer::page("process_start_time_seconds 1.7e+09\n"), "its /metrics has no apiserver_request_total"),
    ];
    for (answer, words) in cases {
        let pages = Pages::serve(move |_| answer.clone()).await;
        for verb in [&["snapshot"][..], &["run", "--", "true"], &["live", "--duration", "1s"]] {
            let ran = at(&pages, verb[0], &verb[1..]).await.exits(1);
            assert!(ran.stderr.contains(words), "{verb:?}: {}", ran.stderr);
            assert_eq!(ran.stdout, "");
        }
    }
}

#[tokio::test]
async fn a_client_tells_what_it_sends_at_an_address_of_its_own() {
    let sent = Arc::new(Mutex::new(5));
    let counter = Arc::clone(&sent);
    let pages = Pages::serve(move |path| {
        if path != "/metrics" {
            return Answer::page("not found").status(404);
        }
        let mut sent = counter.lock().unwrap();
        *sent += 2;
        Answer::page(format!(
            "process_start_time_seconds 1.7e+09\nrest_client_requests_total{{code=\"200\",host=\"x\",method=\"GET\"}} {sent}\n"
        ))
    })
    .await;
    let url = pages.url();
    let arguments = ["audit-api-calls", "run", "--metrics-url", &url, "-o", "json"];
    let document = bare(&[&arguments[..], &["--", "true"]].concat()).await.exits(0).json();
    assert_eq!((&document["source"], &document["total"]), (&"client-metrics".into(), &2.into()));
    assert_eq!(count(&document, "GET", ""), 2);
    assert!(document["warnings"].to_string().contains("GET stands for get, list and watch"), "{document}");
    // A limit that such numbers cannot be held against does not pass for a kept one.
    let limit = |limit: &'static [&'static str]| [&arguments[..], limit, &["--", "true"]].concat();
    bare(&limit(&["--max", "list=0"])).await.exits(4);
    bare(&limit(&["--max-total", "1"])).await.exits(3);
    bare(&limit(&["--max-total", "2"])).await.exits(0);
    bare(&limit(&["--api-group", "apps"])).await.exits(2);
    bare(&["audit-api-calls", "snapshot", "--metrics-url", &url, "--as-claimed"]).await.exits(2);
    bare(&["audit-api-calls", "snapshot", "--metrics-url", &url, "--service-account", "a/b"]).await.exits(2);
    let other = format!("{url}/other");
    let ran = bare(&["audit-api-calls", "snapshot", "--metrics-url", &other]).await.exits(1);
    assert!(ran.stderr.contains(&format!("there is no page at {url}/other")), "{}", ran.stderr);
    for wrong in ["host:80", "http://user:secret@127.0.0.1/"] {
        bare(&["audit-api-calls", "snapshot", "--metrics-url", wrong]).await.exits(2);
    }
    bare(&["audit-api-calls", "snapshot", "--metrics-url", &url, "--pod", "p"]).await.exits(2);
    drop(pages);
    let ran = bare(&["audit-api-calls", "snapshot", "--metrics-url", &url]).await.exits(1);
    assert!(ran.stderr.contains("cannot be reached"), "{}", ran.stderr);
}

#[tokio::test]
async fn the_counters_of_a_real_client_go_are_read_over_https() {
    testenv::needs!(OwnCluster);
    let control_plane = ControlPlane::shared().await;
    // kube-apiserver is a client of itself, with client-go.
    let url = format!("{}metrics", control_plane.url());
    let kubeconfig = control_plane.user_kubeconfig("client-go", "admin", "default").unwrap();
    let kubeconfig = std::fs::read_to_string(kubeconfig).unwrap();
    let token =
        kubeconfig.lines().find_map(|line| line.trim().strip_prefix("token: ")).unwrap().trim_matches('"');
    let arguments = ["audit-api-calls", "snapshot", "--metrics-url", &url, "--insecure-skip-tls-verify"];
    let document = bare(&[&arguments[..], &["--token", token, "-o", "json"]].concat()).await.exits(0).json();
    assert!(count(&document, "GET", "") > 0, "{document}");
    let ran = bare(&arguments).await.exits(1);
    assert!(ran.stderr.contains("give a token that may read them with --token"), "{}", ran.stderr);
    let untrusted = bare(&arguments[..4]).await.exits(1);
    assert!(untrusted.stderr.contains("certificate"), "{}", untrusted.stderr);
}
