//! Budgets as files that are checked in beside the code they bound.
//!
//! Owns the format: YAML, so that a limit can carry its reason as a comment.
//!
//! ```yaml
//! apiVersion: trusted-execution-clusters.io/cli/v1
//! kind: ApiCallBudget
//! maxTotal: 130
//! maxIncrease: 5%          # of the total, in a comparison
//! max:
//!   list: 0                # stores are filled by watches
//!   patch/machines/status: 20
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;

use super::super::document::Kind;
use super::{Limits, Max, parse_percent};
use crate::error::{Error, Result};
use crate::output::machine::API_VERSION;

const KIND: &str = "ApiCallBudget";

/// A proposal leaves a tenth to spare: counts of writes depend on how events come together.
const SPARE: u64 = 10;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct File {
    api_version: Option<String>,
    kind: Option<String>,
    max_total: Option<u64>,
    max_increase: Option<Percent>,
    #[serde(default)]
    max: BTreeMap<String, u64>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Percent {
    Number(f64),
    Text(String),
}

pub(super) fn read(file: &Path) -> Result<Limits> {
    let text = std::fs::read_to_string(file).map_err(|error| {
        Error::input(format!("The budget \"{}\" cannot be read", file.display()))
            .why(error.to_string())
            .next("propose one with: kubectl trusted audit-api-calls snapshot --write-budget FILE")
    })?;
    parse(&file.display().to_string(), &text)
}

fn parse(name: &str, text: &str) -> Result<Limits> {
    let wrong = |problem: String| {
        Error::input(format!("\"{name}\" is no budget: {problem}")).next(
            "it may hold maxTotal: N, maxIncrease: P% and, under max, lines such as list: 0 or get/secrets: 3",
        )
    };
    let file: File = serde_saphyr::from_str(text)
        .map_err(|error| wrong(error.to_string().lines().next().unwrap_or_default().to_owned()))?;
    if file.kind.as_deref().is_some_and(|kind| kind != KIND) {
        return Err(wrong(format!("its kind is \"{}\", not {KIND}", file.kind.unwrap_or_default())));
    }
    if let Some(version) = file.api_version.filter(|version| version != API_VERSION) {
        return Err(wrong(format!("its apiVersion is \"{version}\", this program reads {API_VERSION}")));
    }
    let mut limits = Limits::default();
    for (what, most) in file.max {
        let given = format!("{name}: {what}: {most}");
        limits.max.push(Max::of(given, &what, most).map_err(&wrong)?);
    }
    limits.max_total.extend(file.max_total.map(|most| (format!("{name}: maxTotal: {most}"), most)));
    if let Some(percent) = file.max_increase {
        let most = match percent {
            Percent::Number(number) => parse_percent(&number.to_string()),
            Percent::Text(text) => parse_percent(&text),
        };
        let most = most.map_err(&wrong)?;
        limits.max_increase.push((format!("{name}: maxIncrease: {most}%"), most));
    }
    if limits.is_empty() {
        return Err(wrong("it holds no limit".to_owned()));
    }
    Ok(limits)
}

/// A file for what was counted. Verbs that read and were not used get a zero: that is the limit worth keeping.
pub(crate) fn proposal<'a>(measured: &str, counted: impl Iterator<Item = (&'a Kind, u64)>) -> String {
    let counted: Vec<_> = counted.filter(|(_, count)| *count > 0).collect();
    let covered = |what: &str| -> u64 {
        let max = Max::of(String::new(), what, 0).ok();
        let covered = counted.iter().filter(|(kind, _)| max.as_ref().is_some_and(|max| max.covers(kind)));
        covered.map(|(_, count)| count).sum()
    };
    let kinds: BTreeSet<String> = counted.iter().map(|(kind, _)| written(kind)).collect();
    let total: u64 = counted.iter().map(|(_, count)| count).sum();
    let mut text = format!(
        "# Proposed from {}.\n# Each number is what was counted and a tenth, rounded up; what is not named here is \
         bounded by maxTotal alone.\napiVersion: {API_VERSION}\nkind: {KIND}\nmaxTotal: {}  # counted: {total}\n\
         maxIncrease: 5%  # in a comparison with an earlier snapshot\nmax:\n",
        measured.replace(char::is_control, " "),
        spared(total)
    );
    for verb in ["get", "list"].into_iter().filter(|verb| covered(verb) == 0) {
        text.push_str(&format!("  {verb}: 0  # none was needed\n"));
    }
    // A line covers the subresources too, and all groups with that resource where it names none.
    for (kind, count) in kinds.iter().map(|kind| (kind, covered(kind))).filter(|(_, count)| *count > 0) {
        text.push_str(&format!("  {}: {}  # counted: {count}\n", key(kind), spared(count)));
    }
    text
}

fn spared(count: u64) -> u64 {
    count + count.div_ceil(SPARE)
}

fn written(kind: &Kind) -> String {
    let group = if kind.group.is_empty() { String::new() } else { format!(".{}", kind.group) };
    let subresource =
        if kind.subresource.is_empty() { String::new() } else { format!("/{}", kind.subresource) };
    format!("{}/{}{group}{subresource}", kind.verb, kind.resource)
}

/// Names of resources can be anything that a client put into a path; a JSON string is a YAML string, too.
fn key(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "./-".contains(c);
    if name.chars().all(is_plain) { name.to_owned() } else { serde_json::json!(name).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_holds_limits_and_their_reasons() {
        let text = "# why\nmaxTotal: 16\nmaxIncrease: 5%\nmax:\n  list: 0 # none\n  get//readyz: 3\n";
        let limits = parse("b.yaml", text).unwrap();
        assert_eq!(limits.max_total, [("b.yaml: maxTotal: 16".to_owned(), 16)]);
        assert_eq!(limits.max_increase, [("b.yaml: maxIncrease: 5%".to_owned(), 5.0)]);
        let given: Vec<_> = limits.max.iter().map(|max| max.given.as_str()).collect();
        assert_eq!(given, ["b.yaml: get//readyz: 3", "b.yaml: list: 0"]);
        assert_eq!(parse("b", "maxIncrease: 0").unwrap().max_increase[0].1, 0.0);
    }

    #[test]
    fn what_is_no_limit_is_refused() {
        let cases = [
            "",
            "max: {}",
            "max: {lists: 0}",
            "max: {list: few}",
            "max: {list: -1}",
            "maxTotl: 3",
            "maxIncrease: much",
            "kind: Pod\nmaxTotal: 1",
            "apiVersion: v1\nmaxTotal: 1",
            "- list",
            "max: {list: 1, list: 2}",
        ];
        for text in cases {
            let error = parse("b.yaml", text).unwrap_err();
            assert!(error.what.starts_with("\"b.yaml\" is no budget: "), "{text}: {}", error.what);
        }
    }

    #[test]
    fn a_proposal_is_kept_by_what_it_was_made_from() {
        let kind = |verb: &str, group: &str, resource: &str, subresource: &str| Kind {
            verb: verb.into(),
            group: group.into(),
            resource: resource.into(),
            subresource: subresource.into(),
        };
        let counted = [
            (kind("patch", "x.io", "machines", "status"), 21),
            (kind("patch", "x.io", "machines", ""), 5),
            (kind("get", "", "/readyz", ""), 3),
            (kind("create", "", "a\": b # c", ""), 1),
        ];
        let text = proposal("audit-log\nmax: {}", counted.iter().map(|(kind, count)| (kind, *count)));
        assert!(text.contains("\n  list: 0  # none was needed\n") && !text.contains("\n  get: 0"), "{text}");
        assert!(text.contains("\n  patch/machines.x.io/status: 24  # counted: 21\n"), "{text}");
        let limits = parse("p", &text).unwrap();
        assert!(limits.check(counted.iter().map(|(kind, count)| (kind, *count))).ok, "{text}");
        let more = counted.iter().map(|(kind, count)| (kind, count * 2));
        assert_eq!(limits.check(more).breaches.len(), 4, "{text}");
    }
}
