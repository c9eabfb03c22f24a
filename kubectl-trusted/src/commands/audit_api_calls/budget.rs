//! Budgets: how many requests may be, and what happens when there are more.
//!
//! Owns the forms `--max VERB[/RESOURCE]=N`, `--max-total N`, `--max-increase PERCENT`. A limit that cannot be
//! understood is a usage error: a misspelt one must not pass for a kept one.

use clap::Args;

use super::count::VERBS;
use super::document::{Breach, Budget, Change, Kind};

/// The limits of a command line.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Budget (exit code 3 when over it)")]
pub(crate) struct Limits {
    /// At most N such requests: `list=0`, `get/secrets=3`, `patch/machines/status=10`, `*/secrets=0`; may be repeated
    #[arg(long, value_name = "VERB[/RESOURCE]=N", value_parser = parse_max)]
    pub(crate) max: Vec<Max>,

    /// At most N requests in all
    #[arg(long, value_name = "N")]
    pub(crate) max_total: Option<u64>,
}

/// One `--max`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Max {
    given: String,
    verb: Option<String>,
    resource: Option<Pattern>,
    most: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Pattern {
    resource: String,
    group: Option<String>,
    subresource: Option<String>,
}

pub(crate) fn parse_max(text: &str) -> Result<Max, String> {
    let form = "write VERB[/RESOURCE]=N, such as list=0 or get/secrets=3";
    let (what, most) = text.rsplit_once('=').ok_or_else(|| format!("no number; {form}"))?;
    let most = most.parse().map_err(|_| format!("\"{most}\" is no number of requests; {form}"))?;
    let (verb, resource) = match what.split_once('/') {
        Some((verb, resource)) => (verb, Some(resource)),
        None => (what, None),
    };
    let verb = verb.to_ascii_lowercase();
    if verb != "*" && !VERBS.contains(&verb.as_str()) {
        return Err(format!("\"{verb}\" is no verb of the audit log; one of * {}", VERBS.join(" ")));
    }
    let resource = resource.map(pattern).transpose().map_err(|problem| format!("{problem}; {form}"))?;
    Ok(Max { given: format!("--max {text}"), verb: (verb != "*").then_some(verb), resource, most })
}

/// `RESOURCE[.GROUP][/SUBRESOURCE]`. Without a group it stands for any group, without a subresource for the
/// resource and all its subresources.
fn pattern(text: &str) -> Result<Pattern, String> {
    let (resource, subresource) = match text.split_once('/') {
        Some((resource, subresource)) => (resource, Some(subresource.to_owned())),
        None => (text, None),
    };
    let (resource, group) = match resource.split_once('.') {
        Some((resource, group)) => (resource, Some(group.to_owned())),
        None => (resource, None),
    };
    if resource.is_empty() || subresource.as_deref() == Some("") {
        return Err("the resource is empty".to_owned());
    }
    Ok(Pattern { resource: resource.to_owned(), group, subresource })
}

impl Max {
    fn covers(&self, kind: &Kind) -> bool {
        let verb = self.verb.as_deref().is_none_or(|verb| *verb == kind.verb);
        let resource = self.resource.as_ref().is_none_or(|pattern| {
            pattern.resource == kind.resource
                && pattern.group.as_deref().is_none_or(|group| group == kind.group)
                && pattern.subresource.as_deref().is_none_or(|subresource| subresource == kind.subresource)
        });
        verb && resource
    }
}

/// Parses `5` or `5%`.
pub(crate) fn parse_percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim();
    match number.parse::<f64>() {
        Ok(percent) if percent.is_finite() && percent >= 0.0 => Ok(percent),
        _ => Err(format!("\"{text}\" is no percentage of 0 or more, such as 5%")),
    }
}

impl Limits {
    pub(crate) fn is_empty(&self) -> bool {
        self.max.is_empty() && self.max_total.is_none()
    }

    /// Judges kinds of requests and how many there were of each.
    pub(crate) fn check<'a>(&self, counted: impl Iterator<Item = (&'a Kind, u64)>) -> Budget {
        let counted: Vec<_> = counted.collect();
        let total: u64 = counted.iter().map(|(_, count)| count).sum();
        let mut breaches = Vec::new();
        if let Some(most) = self.max_total.filter(|most| total > *most) {
            breaches.push(over(&format!("--max-total {most}"), total, most));
        }
        for max in &self.max {
            let covered = counted.iter().filter(|(kind, _)| max.covers(kind));
            let covered: u64 = covered.map(|(_, count)| count).sum();
            if covered > max.most {
                breaches.push(over(&max.given, covered, max.most));
            }
        }
        Budget { ok: breaches.is_empty(), breaches }
    }
}

fn over(limit: &str, counted: u64, most: u64) -> Breach {
    let message = format!("{counted} requests, {} more than the {most} allowed", counted - most);
    Breach { limit: limit.to_owned(), counted: counted.to_string(), message }
}

/// `--max-increase`: how much the total may grow. Judged by the exact numbers, shown rounded.
#[expect(clippy::cast_precision_loss, reason = "counts of requests stay far below 2^52")]
pub(crate) fn increase(most: f64, total: &Change) -> Option<Breach> {
    if total.delta as f64 * 100.0 <= most * total.before as f64 {
        return None;
    }
    let limit = format!("--max-increase {most}%");
    let (counted, message) = match total.percent {
        Some(percent) => (
            format!("{percent}%"),
            format!("{} requests became {} ({percent:+}%)", total.before, total.after),
        ),
        None => ("unlimited".to_owned(), format!("no request became {}", total.after)),
    };
    Some(Breach { limit, counted, message })
}

#[cfg(test)]
mod tests {
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
            let [verb, group, resource, subresource] =
                [verb, group, resource, subresource].map(str::to_owned);
            (Kind { verb, group, resource, subresource }, count)
        });
        limits.check(counted.iter().map(|(kind, count)| (kind, *count))).breaches
    }

    fn breaches(max: &str) -> Vec<String> {
        let limits = Limits { max: vec![parse_max(max).unwrap()], max_total: None };
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
        let limits = Limits { max: vec![], max_total: Some(16) };
        assert_eq!(checked(&limits)[0].message, "17 requests, 1 more than the 16 allowed");
    }

    #[test]
    fn misspelt_limits_are_refused() {
        for wrong in ["list", "list=", "list=-1", "lists=0", "get/=1", "get/pods/=1", "=1", "get/secrets=few"]
        {
            assert!(parse_max(wrong).is_err(), "{wrong}");
        }
        assert!(parse_percent("5%").is_ok() && parse_percent("0").is_ok());
        assert!(
            parse_percent("-5").is_err() && parse_percent("NaN").is_err() && parse_percent("much").is_err()
        );
    }

    #[test]
    fn growth_from_nothing_is_a_breach() {
        assert!(increase(1000.0, &Change::between(0, 1)).is_some());
        assert!(increase(0.0, &Change::between(0, 0)).is_none());
        assert!(increase(5.0, &Change::between(100, 105)).is_none());
        assert_eq!(increase(5.0, &Change::between(100, 106)).unwrap().counted, "6%");
        assert!(increase(0.0, &Change::between(100, 50)).is_none());
    }
}
