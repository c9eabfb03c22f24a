//! The operator's own request counter, from its metrics, and whether the audit log agrees with it.

use std::collections::BTreeMap;

use testenv::audit::Requests;

const COUNTER: &str = "trusted_operator_http_requests_total{";

/// Verb, group, resource, subresource and code of requests that are counted together.
pub(crate) type Key = (String, String, String, String, u16);

/// Reads the counter from Prometheus text. Requests without an answer are left out, since the API server may never
/// have seen them. A request that is about no resource has its path in the resource's place, as in the audit log.
pub(crate) fn requests(text: &str) -> BTreeMap<Key, u64> {
    let mut counts = BTreeMap::new();
    for line in text.lines() {
        let Some((labels, value)) = line.strip_prefix(COUNTER).and_then(|rest| rest.rsplit_once('}')) else {
            continue;
        };
        let labels = parse_labels(labels);
        let label = |name: &str| labels.get(name).cloned().unwrap_or_default();
        let code: u16 = label("code").parse().unwrap_or_default();
        let count =
            value.split_whitespace().next().and_then(|value| value.parse::<f64>().ok()).unwrap_or_default();
        if code == 0 || count < 1.0 {
            continue;
        }
        let key = (label("verb"), label("group"), label("resource"), label("subresource"), code);
        // Counters are whole numbers in a floating point notation.
        *counts.entry(key).or_default() += count as u64;
    }
    counts
}

/// `a="b",c="d"`; none of our label values holds a quote or a comma.
fn parse_labels(text: &str) -> BTreeMap<&str, String> {
    let pairs = text.split(',').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (name.trim(), value.trim_matches('"').to_owned())).collect()
}

/// The same counts as the audit log has them.
pub(crate) fn audited(requests: &Requests) -> BTreeMap<Key, u64> {
    let rows = requests.by_resource().into_iter();
    rows.map(|row| ((row.verb, row.group, row.resource, row.subresource, row.code), row.count as u64))
        .collect()
}

/// The counts that differ, in words.
pub(crate) fn differences(own: &BTreeMap<Key, u64>, audited: &BTreeMap<Key, u64>) -> Vec<String> {
    let keys = own.keys().chain(audited.keys().filter(|key| !own.contains_key(*key)));
    let count = |map: &BTreeMap<Key, u64>, key: &Key| map.get(key).copied().unwrap_or_default();
    keys.filter(|key| count(own, key) != count(audited, key))
        .map(|key| {
            let (verb, group, resource, subresource, code) = key;
            let resource =
                if subresource.is_empty() { resource.clone() } else { format!("{resource}/{subresource}") };
            format!(
                "{verb} {resource} {group} {code}: {} by its own counter, {} by the audit log",
                count(own, key),
                count(audited, key)
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"# HELP trusted_operator_http_requests Requests.
# TYPE trusted_operator_http_requests counter
trusted_operator_http_requests_total{verb="patch",group="trusted-execution-clusters.io",resource="machines",subresource="status",code="200",dry_run="false"} 7
trusted_operator_http_requests_total{verb="patch",group="trusted-execution-clusters.io",resource="machines",subresource="status",code="200",dry_run="true"} 2
trusted_operator_http_requests_total{verb="get",group="",resource="/version",subresource="",code="200"} 3
trusted_operator_http_requests_total{verb="list",group="",resource="secrets",subresource="",code="0"} 1
trusted_operator_reconciles_total{controller="machine",result="success"} 5
# EOF
"#;

    fn key(verb: &str, resource: &str, subresource: &str) -> Key {
        let group = "trusted-execution-clusters.io".to_owned();
        (verb.to_owned(), group, resource.to_owned(), subresource.to_owned(), 200)
    }

    #[test]
    fn only_answered_requests_are_compared() {
        let version = ("get".to_owned(), String::new(), "/version".to_owned(), String::new(), 200);
        assert_eq!(requests(TEXT), [(key("patch", "machines", "status"), 9), (version, 3)].into());
    }

    #[test]
    fn every_difference_is_told_in_both_directions() {
        let own = [(key("patch", "machines", "status"), 9), (key("list", "machines", ""), 1)].into();
        let audited = [(key("patch", "machines", "status"), 9), (key("watch", "machines", ""), 1)].into();
        let told = differences(&own, &audited);
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(
            told[0].contains("list machines") && told[0].contains("1 by its own counter, 0 by the audit log")
        );
        assert!(
            told[1].contains("watch machines")
                && told[1].contains("0 by its own counter, 1 by the audit log")
        );
        assert!(differences(&own, &own).is_empty());
    }
}
