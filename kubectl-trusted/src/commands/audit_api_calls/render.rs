//! The screens of `audit-api-calls`.
//!
//! Owns the layout: totals first, then groups or verbs, then kinds of request, the notes last. Numbers come from the
//! documents alone.

mod diff;
mod live;
mod snapshot;

pub(crate) use self::live::{live, live_lines};

use std::collections::{BTreeMap, BTreeSet};

use super::document::{Breach, Budget, Filter, Notes, Source, Window};
use crate::output::text::{Span, Text, Tone};
use crate::output::time;

/// Where numbers are from and whose they are.
pub(crate) fn describe(source: Source, is_cumulative: bool, filter: &Filter) -> String {
    let mut words = source.word().to_owned();
    match (&filter.user, source) {
        (Some(user), _) => words.push_str(&format!(", user {user}")),
        (None, Source::AuditLog | Source::ApiRequestCount) => words.push_str(", all users"),
        (None, Source::ApiserverMetrics) => words.push_str(", all clients"),
        (None, Source::ClientMetrics | Source::FlowSchema) => {}
    }
    if is_cumulative {
        words.push_str(if source == Source::ClientMetrics { ", " } else { " " });
        words.push_str(source.since());
    }
    if let Some(agent) = &filter.user_agent {
        words.push_str(&format!(", agent {agent}"));
    }
    if !filter.namespaces.is_empty() {
        words.push_str(&format!(", namespace {}", filter.namespaces.join(" and ")));
    }
    if let Some(group) = &filter.api_group {
        words.push_str(&format!(", group {group}"));
    }
    words
}

pub(crate) fn interval(window: &Window) -> String {
    match (window.from, window.to, window.length()) {
        (Some(from), Some(to), Some(length)) => {
            format!("{} to {} ({})", instant(from), instant(to), time::duration(length))
        }
        _ => "unknown".to_owned(),
    }
}

/// To the second: nobody reads microseconds; the document has them.
fn instant(at: jiff::Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

fn rate(per_minute: Option<f64>) -> String {
    per_minute.map(|rate| format!(", {rate:.1} per minute")).unwrap_or_default()
}

/// A rate in a table.
pub(crate) fn each_minute(rate: Option<f64>) -> Span {
    rate.map_or_else(|| "-".to_owned(), |rate| format!("{rate:.1}")).into()
}

/// A limit that is not kept, on one line, and below it the requests that it covers.
pub(crate) fn breach(breach: &Breach) -> String {
    let named =
        Names::of(breach.rows.iter().map(|row| (row.kind.group.as_str(), row.kind.resource.as_str())));
    let mut lines = vec![format!("{}: {}", breach.limit, breach.message)];
    lines.extend(breach.rows.iter().map(|row| {
        let kind = &row.kind;
        format!("{} {} {}", row.count, kind.verb, named.name(&kind.group, &kind.resource, &kind.subresource))
    }));
    lines.join("\n")
}

fn show_budget(text: &mut Text, budget: &Budget) {
    if budget.breaches.is_empty() {
        return;
    }
    text.blank();
    text.line([Span::new("Over budget", Tone::Bad)]);
    for over in &budget.breaches {
        for (at, line) in breach(over).lines().enumerate() {
            text.paragraph(if at == 0 { 2 } else { 4 }, [line]);
        }
    }
}

pub(crate) fn notes(text: &mut Text, notes: &Notes) {
    if notes.warnings.is_empty() {
        return;
    }
    text.blank();
    for warning in &notes.warnings {
        text.paragraph(0, [Span::new("Note:", Tone::Warn), warning.as_str().into()]);
    }
}

/// Resource names as short as they can be: the group is shown only where two groups share a resource's name.
pub(crate) struct Names(BTreeSet<String>);

impl Names {
    pub(crate) fn of<'a>(kinds: impl Iterator<Item = (&'a str, &'a str)>) -> Names {
        let mut groups = BTreeMap::<&str, BTreeSet<&str>>::new();
        for (group, resource) in kinds {
            groups.entry(resource).or_default().insert(group);
        }
        Names(
            groups
                .into_iter()
                .filter(|(_, groups)| groups.len() > 1)
                .map(|(name, _)| name.to_owned())
                .collect(),
        )
    }

    pub(crate) fn name(&self, group: &str, resource: &str, subresource: &str) -> String {
        let mut name = resource.to_owned();
        if self.0.contains(resource) && !group.is_empty() {
            name = format!("{name}.{group}");
        }
        if subresource.is_empty() { name } else { format!("{name}/{subresource}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_shown_only_where_names_collide() {
        let kinds = [("", "events"), ("events.k8s.io", "events"), ("apps", "deployments")];
        let named = Names::of(kinds.into_iter());
        assert_eq!(named.name("events.k8s.io", "events", ""), "events.events.k8s.io");
        assert_eq!(named.name("", "events", ""), "events");
        assert_eq!(named.name("apps", "deployments", "status"), "deployments/status");
    }
}
