//! What limits cover, and which are refused.

use super::super::change::Change;
use super::super::document::Breach;
use super::check::increase;
use super::*;

/// Verb, group, resource, subresource and count.
const ROWS: [(&str, &str, &str, &str, u64); 4] = [
    ("list", "", "secrets", "", 2),
    ("get", "", "secrets", "", 3),
    ("patch", "x.io", "machines", "status", 5),
    ("patch", "y.io", "machines", "", 7),
];

fn checked(limits: &Limits) -> Vec<Breach> {
    let counted = ROWS.map(|(verb, group, resource, subresource, count)| {
        let [verb, group, resource, subresource] = [verb, group, resource, subresource].map(str::to_owned);
        (Kind { verb, group, resource, subresource }, count)
    });
    limits.check(counted.iter().map(|(kind, count)| (kind, *count))).breaches
}

fn breaches(max: &str) -> Vec<String> {
    let limits = Limits { max: vec![parse_max(max).unwrap()], ..Limits::default() };
    checked(&limits).into_iter().map(|breach| breach.counted).collect()
}

#[test]
fn limits_cover_what_they_name() {
    assert_eq!(breaches("list=0"), ["2"]);
    assert_eq!(breaches("list=2"), [""; 0]);
    assert_eq!(breaches("get/secrets=3"), [""; 0]);
    assert_eq!(breaches("*/secrets=4"), ["5"]);
    assert_eq!(breaches("patch/machines=0"), ["12"]);
    assert_eq!(breaches("patch/machines/status=0"), ["5"]);
    assert_eq!(breaches("PATCH/machines.y.io=0"), ["7"]);
    assert_eq!(breaches("delete=0"), [""; 0]);
}

#[test]
fn the_total_is_one_more_limit() {
    let limits = Limits { max_total: vec![("--max-total 16".into(), 16)], ..Limits::default() };
    assert_eq!(checked(&limits)[0].message, "17 requests, 1 more than the 16 allowed");
}

#[test]
fn misspelt_limits_are_refused() {
    for wrong in ["list", "list=", "list=-1", "lists=0", "get/=1", "get/pods/=1", "=1", "get/secrets=few"] {
        assert!(parse_max(wrong).is_err(), "{wrong}");
    }
    assert!(parse_percent("5%").is_ok() && parse_percent("0").is_ok());
    assert!(parse_percent("-5").is_err() && parse_percent("NaN").is_err() && parse_percent("much").is_err());
}

#[test]
fn growth_from_nothing_is_a_breach() {
    assert!(increase("", 1000.0, &Change::between(0, 1)).is_some());
    assert!(increase("", 0.0, &Change::between(0, 0)).is_none());
    assert!(increase("", 5.0, &Change::between(100, 105)).is_none());
    assert_eq!(increase("", 5.0, &Change::between(100, 106)).unwrap().counted, "6%");
    assert!(increase("", 0.0, &Change::between(100, 50)).is_none());
}
