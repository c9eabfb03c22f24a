//! Hours that pass, users that are not listed.

use jiff::SignedDuration;
use serde_json::{Value, json};

use super::*;

fn object(name: &str, hours: &[(usize, Value)]) -> Object24h {
    let mut all = vec![json!({"byNode": null}); HOURS];
    for (at, nodes) in hours {
        all[*at] = json!({"byNode": nodes});
    }
    let object = json!({"apiVersion": "apiserver.openshift.io/v1", "kind": "APIRequestCount", "metadata": {"name": name},
        "spec": {"numberOfUsersToReport": 2}, "status": {"last24h": all}});
    serde_json::from_value(object).unwrap()
}

fn node(total: u64, users: &[(&str, u64)]) -> Value {
    let user = |(name, count): &(&str, u64)| {
        json!({"username": name, "userAgent": "x/1", "requestCount": count,
            "byVerb": [{"verb": "list", "requestCount": count}]})
    };
    json!({"nodeName": "n", "requestCount": total, "byUser": users.iter().map(user).collect::<Vec<_>>()})
}

fn reading(user: Option<&str>, objects: &[Object24h], now: &str) -> Reading {
    let filter = Filter { user: user.map(str::to_owned), ..Filter::default() };
    let mut sum = Sum::of(filter);
    objects.iter().for_each(|object| sum.add(object));
    sum.reading("https://x/", now.parse().unwrap())
}

fn rows(reading: Reading) -> Vec<(String, String, String, u64)> {
    let rows = reading.since_start().rows.into_iter();
    rows.map(|row| (row.kind.verb, row.kind.group, row.kind.resource, row.count)).collect()
}

fn row(verb: &str, group: &str, resource: &str, count: u64) -> (String, String, String, u64) {
    (verb.into(), group.into(), resource.into(), count)
}

#[test]
fn who_is_not_listed_is_counted_without_a_verb() {
    let objects = [
        object("secrets.v1", &[(17, json!([node(10, &[("a", 5), ("b", 3)]), node(4, &[("a", 4)])]))]),
        object("deployments.v1.apps", &[(3, json!([node(7, &[("a", 7)])]))]),
    ];
    let all = reading(None, &objects, "2026-11-30T17:30:00Z");
    let expected =
        [row("any", "", "secrets", 2), row("list", "", "secrets", 12), row("list", "apps", "deployments", 7)];
    assert_eq!(rows(all), expected);
    let one = reading(Some("b"), &objects, "2026-11-30T17:30:00Z");
    assert!(!one.notes.doubtful, "{:?}", one.notes);
    assert_eq!(rows(one), [row("list", "", "secrets", 3)]);
    let hidden = reading(Some("c"), &objects, "2026-11-30T17:30:00Z");
    assert!(
        hidden.notes.doubtful && hidden.notes.warnings[1].contains("secrets: requests of c"),
        "{:?}",
        hidden.notes
    );
}

#[test]
fn own_readings_are_left_out() {
    let mut counts = node(9, &[("admin", 6), ("admin", 3)]);
    counts["byUser"][0]["userAgent"] = json!(AGENT);
    let objects = [object("apirequestcounts.v1.apiserver.openshift.io", &[(17, json!([counts]))])];
    let expected = [row("list", GROUP, PLURAL, 3)];
    assert_eq!(rows(reading(None, &objects, "2026-11-30T17:30:00Z")), expected);
}

#[test]
fn an_hour_that_began_in_between_counts_as_a_whole_whatever_it_held_a_day_before() {
    let pods = |hours: &[(usize, u64)]| {
        let hour = |(at, count): &(usize, u64)| (*at, json!([node(*count, &[("a", *count)])]));
        [object("pods.v1", &hours.iter().map(hour).collect::<Vec<_>>())]
    };
    // At 18 there still are the 50 of yesterday.
    let before = reading(None, &pods(&[(16, 9), (17, 20), (18, 50)]), "2026-11-30T17:50:00Z");
    let after = reading(None, &pods(&[(16, 9), (17, 26), (18, 3)]), "2026-11-30T18:10:00Z");
    let added = after.since(&before);
    assert_eq!(
        (added.total, added.notes.invalid, added.notes.doubtful),
        (9, false, false),
        "{:?}",
        added.notes
    );
    assert_eq!(added.window.length(), Some(SignedDuration::from_mins(20)));
    assert_eq!(added.instances.len(), 1);
}
