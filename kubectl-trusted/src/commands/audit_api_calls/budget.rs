//! Budgets: how many requests may be, and what happens when there are more.
//!
//! Owns the forms `--max VERB[/RESOURCE]=N`, `--max-total N`, `--max-increase PERCENT` and what each covers. A limit
//! that cannot be understood is a usage error: a misspelt one must not pass for a kept one.

mod check;
mod file;

use std::path::PathBuf;

use clap::Args;

pub(crate) use self::check::Limits;
pub(crate) use self::file::proposal;
use super::count::VERBS;
use super::document::Kind;
use crate::error::Result;

/// The limits of a command line.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Budget (exit code 3 when over it)")]
pub(crate) struct BudgetArgs {
    /// At most N such requests: `list=0`, `get/secrets=3`, `patch/machines/status=10`, `*/secrets=0`; may be repeated
    #[arg(long, value_name = "VERB[/RESOURCE]=N", value_parser = parse_max)]
    max: Vec<Max>,

    /// At most N requests in all
    #[arg(long, value_name = "N")]
    max_total: Option<u64>,

    /// The limits of this YAML file as well: `maxTotal`, `maxIncrease`, and under `max` a number for each VERB[/RESOURCE]
    #[arg(long, value_name = "FILE")]
    budget: Option<PathBuf>,

    /// Propose such a file from what was counted, with a tenth to spare and nothing where there is nothing
    #[arg(long, value_name = "FILE")]
    pub(crate) write_budget: Option<PathBuf>,
}

impl BudgetArgs {
    /// The limits of the flags and of the file together; both hold.
    pub(crate) fn limits(&self) -> Result<Limits> {
        let mut limits = match &self.budget {
            Some(file) => file::read(file)?,
            None => Limits::default(),
        };
        limits.max.extend(self.max.iter().cloned());
        limits.max_total.extend(self.max_total.map(|most| (format!("--max-total {most}"), most)));
        Ok(limits)
    }
}

/// One limit on kinds of requests.
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

const FORM: &str = "write VERB[/RESOURCE]=N, such as list=0 or get/secrets=3";

pub(crate) fn parse_max(text: &str) -> std::result::Result<Max, String> {
    let (what, most) = text.rsplit_once('=').ok_or_else(|| format!("no number; {FORM}"))?;
    let most = most.parse().map_err(|_| format!("\"{most}\" is no number of requests; {FORM}"))?;
    Max::of(format!("--max {text}"), what, most).map_err(|problem| format!("{problem}; {FORM}"))
}

impl Max {
    /// `what` is `VERB[/RESOURCE]`.
    fn of(given: String, what: &str, most: u64) -> std::result::Result<Max, String> {
        let (verb, resource) = match what.split_once('/') {
            Some((verb, resource)) => (verb, Some(resource)),
            None => (what, None),
        };
        let verb = verb.to_ascii_lowercase();
        if verb != "*" && !VERBS.contains(&verb.as_str()) {
            return Err(format!("\"{verb}\" is no verb of the audit log; one of * {}", VERBS.join(" ")));
        }
        let resource = resource.map(pattern).transpose()?;
        Ok(Max { given, verb: (verb != "*").then_some(verb), resource, most })
    }

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

/// `RESOURCE[.GROUP][/SUBRESOURCE]`, or the path of a request to no resource, such as `/readyz`. Without a group it
/// stands for any group, without a subresource for the resource and all its subresources.
fn pattern(text: &str) -> std::result::Result<Pattern, String> {
    if text.len() > 1 && text.starts_with('/') {
        return Ok(Pattern { resource: text.to_owned(), group: None, subresource: None });
    }
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

/// Parses `5` or `5%`.
pub(crate) fn parse_percent(text: &str) -> std::result::Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim();
    match number.parse::<f64>() {
        Ok(percent) if percent.is_finite() && percent >= 0.0 => Ok(percent),
        _ => Err(format!("\"{text}\" is no percentage of 0 or more, such as 5%")),
    }
}

#[cfg(test)]
mod tests;
