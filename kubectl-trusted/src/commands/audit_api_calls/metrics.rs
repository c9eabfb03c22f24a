//! The API server's own counters, read from its `/metrics` in the Prometheus text format.
//!
//! Owns the three series that are used and their meaning. The counters know no client: they count everybody.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::count::{Counts, Key, audit_verb};
use super::document::{Kind, OpenWatches};

const REQUESTS: &str = "apiserver_request_total";
const LONG_RUNNING: &str = "apiserver_longrunning_requests";
const PROCESS_START: &str = "process_start_time_seconds";

/// What one scrape says.
#[derive(Debug, Default)]
pub(crate) struct Scrape {
    /// Only this API group counts, if one is named.
    group: Option<String>,
    pub(crate) counts: Counts,
    open: BTreeMap<(String, String), u64>,
    pub(crate) process_start: Option<Timestamp>,
    /// Series with a known name that could not be read.
    pub(crate) malformed: u64,
    pub(crate) series: u64,
}

impl Scrape {
    pub(crate) fn of_group(group: Option<&str>) -> Scrape {
        Scrape { group: group.map(str::to_owned), ..Scrape::default() }
    }

    fn is_wanted(&self, labels: &BTreeMap<String, String>) -> bool {
        self.group.as_ref().is_none_or(|group| labels.get("group") == Some(group))
    }

    pub(crate) fn line(&mut self, line: &str) {
        let name = line.split(['{', ' ']).next().unwrap_or_default();
        if ![REQUESTS, LONG_RUNNING, PROCESS_START].contains(&name) {
            return;
        }
        let Some((labels, value)) = sample(&line[name.len()..]) else {
            self.malformed += 1;
            return;
        };
        match name {
            REQUESTS | LONG_RUNNING if !self.is_wanted(&labels) => {}
            REQUESTS => self.requests(labels, value),
            LONG_RUNNING => self.long_running(labels, value),
            _ => self.process_start = timestamp(value),
        }
    }

    fn requests(&mut self, mut labels: BTreeMap<String, String>, value: f64) {
        self.series += 1;
        let mut take = |name: &str| labels.remove(name).unwrap_or_default();
        let mut kind = Kind {
            verb: audit_verb(&take("verb")),
            group: take("group"),
            resource: take("resource"),
            subresource: take("subresource"),
        };
        if kind.resource.is_empty() && kind.subresource.starts_with('/') {
            kind.resource = std::mem::take(&mut kind.subresource);
        }
        let code = take("code").parse().unwrap_or_default();
        self.counts.add(Key { kind, code }, count(value));
    }

    fn long_running(&mut self, mut labels: BTreeMap<String, String>, value: f64) {
        let open = count(value);
        let verb = labels.get("verb").map(|verb| audit_verb(verb));
        if open > 0 && verb.as_deref() == Some("watch") {
            let mut take = |name: &str| labels.remove(name).unwrap_or_default();
            *self.open.entry((take("group"), take("resource"))).or_default() += open;
        }
    }

    pub(crate) fn open_watches(&self) -> Vec<OpenWatches> {
        let watches = |((group, resource), count): (&(String, String), &u64)| OpenWatches {
            group: group.clone(),
            resource: resource.clone(),
            count: *count,
        };
        self.open.iter().map(watches).collect()
    }
}

/// Labels and value of a series, from behind its name.
fn sample(rest: &str) -> Option<(BTreeMap<String, String>, f64)> {
    let (labels, value) = match rest.strip_prefix('{') {
        Some(inside) => labels(inside)?,
        None => (BTreeMap::new(), rest),
    };
    let value: f64 = value.split_whitespace().next()?.parse().ok()?;
    (value.is_finite() && value >= 0.0).then_some((labels, value))
}

/// The labels up to the closing brace, and what follows it.
fn labels(mut text: &str) -> Option<(BTreeMap<String, String>, &str)> {
    let mut labels = BTreeMap::new();
    loop {
        text = text.trim_start_matches([',', ' ']);
        if let Some(rest) = text.strip_prefix('}') {
            return Some((labels, rest));
        }
        let (name, rest) = text.split_once("=\"")?;
        let (value, rest) = quoted(rest)?;
        labels.insert(name.to_owned(), value);
        text = rest;
    }
}

/// A label's value up to its closing quote, without its escapes, and what follows it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => value.push(match characters.next()?.1 {
                'n' => '\n',
                other => other,
            }),
            other => value.push(other),
        }
    }
    None
}

/// Counters are floats in this format; requests are whole and far below 2^52.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "finite and not negative, see sample"
)]
fn count(value: f64) -> u64 {
    value.round() as u64
}

#[expect(clippy::cast_possible_truncation, reason = "milliseconds since 1970 fit")]
fn timestamp(seconds: f64) -> Option<Timestamp> {
    Timestamp::from_millisecond((seconds * 1000.0).round() as i64).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scrape(text: &str) -> Scrape {
        let mut scrape = Scrape::default();
        text.lines().for_each(|line| scrape.line(line));
        scrape
    }

    #[test]
    fn series_of_one_request_kind_add_up() {
        let scrape = scrape(concat!(
            "# TYPE apiserver_request_total counter\n",
            "apiserver_request_total{code=\"200\",component=\"apiserver\",dry_run=\"\",group=\"apps\",resource=\"deployments\",scope=\"resource\",subresource=\"status\",verb=\"PATCH\",version=\"v1\"} 3\n",
            "apiserver_request_total{code=\"200\",dry_run=\"All\",group=\"apps\",resource=\"deployments\",scope=\"resource\",subresource=\"status\",verb=\"APPLY\",version=\"v1\"} 1e+01\n",
            "apiserver_request_total{code=\"200\",group=\"\",resource=\"\",scope=\"\",subresource=\"/readyz\",verb=\"GET\",version=\"\"} 7\n",
            "apiserver_request_total_other{code=\"200\"} 99\n",
        ));
        let rows = scrape.counts.rows();
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[0].kind.resource.as_str(), rows[0].count), ("/readyz", 7));
        assert_eq!(
            (rows[1].kind.verb.as_str(), rows[1].kind.subresource.as_str(), rows[1].count),
            ("patch", "status", 13)
        );
    }

    #[test]
    fn open_watches_and_the_start_are_read() {
        let scrape = scrape(concat!(
            "apiserver_longrunning_requests{component=\"apiserver\",group=\"\",resource=\"pods\",scope=\"cluster\",subresource=\"\",verb=\"WATCH\",version=\"v1\"} 2\n",
            "apiserver_longrunning_requests{group=\"\",resource=\"pods\",scope=\"namespace\",subresource=\"\",verb=\"WATCH\",version=\"v1\"} 1\n",
            "apiserver_longrunning_requests{group=\"\",resource=\"pods\",subresource=\"exec\",verb=\"CONNECT\",version=\"v1\"} 5\n",
            "process_start_time_seconds 1.7646e+09\n",
        ));
        assert_eq!(
            scrape.open_watches(),
            [OpenWatches { group: String::new(), resource: "pods".into(), count: 3 }]
        );
        assert_eq!(scrape.process_start, "2025-12-01T14:40:00Z".parse().ok());
    }

    #[test]
    fn escapes_in_labels_and_broken_lines() {
        let mut scrape = scrape("apiserver_request_total{verb=\"GET\",resource=\"a\\\"},\\\\b\"} 1\n");
        for broken in ["{verb=\"GET\"", "{verb} 1", "{verb=\"GET\"} many", "{verb=\"GET\"} NaN", ""] {
            scrape.line(&format!("apiserver_request_total{broken}"));
        }
        assert_eq!(scrape.malformed, 5);
        let rows = scrape.counts.rows();
        assert_eq!((rows.len(), rows[0].kind.resource.as_str()), (1, "a\"},\\b"));
    }
}
