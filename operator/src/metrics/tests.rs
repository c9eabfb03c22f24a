use std::collections::{BTreeMap, BTreeSet, HashSet};

use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, Patch, PatchParams};
use kube::{Client, Config};
use serde_json::json;

use super::*;

#[tokio::test]
async fn a_dry_run_is_a_series_of_its_own() {
    let counter = RequestCounter::default();
    // Nothing listens there; a request without an answer is counted with code 0.
    let config = Config::new("http://127.0.0.1:1".parse().unwrap());
    let client: Client = cachelib::clients(config, "test", &counter).unwrap().request;
    for dry_run in [false, true, true] {
        let params = PatchParams { dry_run, ..PatchParams::default() };
        let secrets = Api::<Secret>::namespaced(client.clone(), "ns");
        secrets.patch("a", &params, &Patch::Merge(json!({}))).await.unwrap_err();
    }
    let text = Metrics::new(counter, Arc::new(Vec::new), Counter::default()).text();
    let series: Vec<(&str, &str)> = text
        .lines()
        .filter_map(|line| line.strip_prefix("trusted_operator_http_requests_total")?.rsplit_once(' '))
        .collect();
    let labels = |dry_run: &str| {
        format!(
            r#"{{verb="patch",group="",resource="secrets",subresource="",code="0",dry_run="{dry_run}",canary="false"}}"#
        )
    };
    let named: HashSet<&str> = series.iter().map(|(labels, _)| *labels).collect();
    assert_eq!(named.len(), series.len(), "series with equal labels: {text}");
    assert!(series.contains(&(&labels("false"), "1")) && series.contains(&(&labels("true"), "2")), "{text}");
}

/// A process that has done one of each.
async fn used() -> Metrics {
    let counter = RequestCounter::default();
    let config = Config::new("http://127.0.0.1:1".parse().unwrap());
    let client: Client = cachelib::clients(config, "test", &counter).unwrap().request;
    Api::<Secret>::namespaced(client.clone(), "ns").get("a").await.unwrap_err();
    let mut builder = cachelib::Builder::new(client, cachelib::Options::default());
    let mut store = builder.cache::<Secret>(cachelib::Source::all()).build().unwrap().status();
    store.version = Some(1);
    store.last_event = Some(jiff::Timestamp::UNIX_EPOCH);
    let metrics = Metrics::new(counter, Arc::new(move || vec![store.clone()]), Counter::default());
    let controller = metrics.of_controller("machine");
    controller.finished(Outcome::Success);
    controller.handled(Duration::from_millis(1));
    controller.depth(1);
    metrics
}

/// The reference as a table, from what is served.
fn reference(text: &str) -> String {
    let mut families: BTreeMap<&str, (&str, &str, BTreeSet<&str>)> = BTreeMap::new();
    for line in text.lines() {
        let words: Vec<&str> = line.splitn(4, ' ').collect();
        match words[..] {
            ["#", "HELP", name, help] => families.entry(name).or_default().0 = help,
            ["#", "TYPE", name, kind] => families.entry(name).or_default().1 = kind,
            ["#", ..] => {}
            _ => {
                let name = line.split(['{', ' ']).next().unwrap();
                let labels =
                    line.split_once('{').and_then(|(_, rest)| rest.split_once('}')).map_or("", |(l, _)| l);
                let labels = labels.split(',').filter_map(|label| Some(label.split_once('=')?.0));
                let family = families.range_mut(..=name).next_back().unwrap();
                assert!(name.starts_with(family.0), "{name} belongs to no family");
                family.1.2.extend(labels.filter(|label| *label != "le"));
            }
        }
    }
    let mut table = String::from("| metric | type | labels | meaning |\n|---|---|---|---|\n");
    for (name, (help, kind, labels)) in families {
        let suffix = match kind {
            "counter" => "_total",
            "info" => "_info",
            _ => "",
        };
        let labels: Vec<String> = labels.into_iter().map(|label| format!("`{label}`")).collect();
        let help = help.trim_end_matches('.');
        table.push_str(&format!("| `{name}{suffix}` | {kind} | {} | {help} |\n", labels.join(", ")));
    }
    table
}

/// `UPDATE_DOCS=1 cargo test -p trusted-operator --lib metrics` writes the table anew.
#[tokio::test]
async fn the_reference_says_what_is_served() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/metrics.md");
    let found = std::fs::read_to_string(path).unwrap();
    let (before, rest) = found.split_once("| metric |").unwrap();
    let after = rest.split_once("\n\n").map_or("", |(_, after)| after);
    let table = reference(&used().await.text());
    let wanted = format!("{before}{table}\n{after}");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &wanted).unwrap();
        return;
    }
    assert!(
        found == wanted,
        "docs/metrics.md is stale: UPDATE_DOCS=1 cargo test -p trusted-operator --lib metrics"
    );
}

/// Rules and dashboards ask for nothing that is not served.
#[tokio::test]
async fn rules_and_dashboard_name_metrics_that_exist() {
    let text = used().await.text();
    let served: HashSet<&str> =
        text.lines().filter_map(|line| line.split(['{', ' ']).next()).filter(|name| *name != "#").collect();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../deploy/components/monitoring");
    let mut asked = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let content = std::fs::read_to_string(&path).unwrap();
        let names = content.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        for name in names.filter(|name| name.starts_with("trusted_operator_")) {
            asked += 1;
            assert!(served.contains(name), "{}: {name} is not served", path.display());
        }
    }
    assert!(asked > 10, "{asked}");
}
