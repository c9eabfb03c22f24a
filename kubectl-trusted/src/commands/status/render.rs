//! The screen of `status`: the verdict first, then reasons by severity, then what there is.
//!
//! Owns the layout. Every word comes from the document; the tables are drawn next door.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use trusted_crds::health::{Finding, Level, Verdict};
use trusted_crds::{ApprovedImage, AttestationKey, Machine, TrustedExecutionCluster};

use super::document::Status;
use super::tables::{self, Columns};
use crate::error::Incomplete;
use crate::output::machine::{Document, name_of};
use crate::output::text::{Span, Text, Tone};
use crate::output::time;

/// Findings that say the same of more objects than this are told once.
const MOST_ALIKE: usize = 3;

/// Objects named of such a group.
const MOST_NAMES: usize = 6;

impl Document for Status {
    const KIND: &'static str = "Status";

    fn text(&self) -> Text {
        screen(self, Columns::Usual)
    }

    fn wide(&self) -> Text {
        screen(self, Columns::All)
    }

    fn names(&self) -> Option<Vec<String>> {
        let clusters = self.clusters.iter().map(|row| name_of::<TrustedExecutionCluster>(&row.name));
        let machines = self.machines.iter().map(|row| name_of::<Machine>(&row.name));
        let keys = self.attestation_keys.iter().map(|row| name_of::<AttestationKey>(&row.name));
        let images = self.approved_images.iter().map(|row| name_of::<ApprovedImage>(&row.name));
        Some(clusters.chain(machines).chain(keys).chain(images).collect())
    }
}

fn screen(status: &Status, columns: Columns) -> Text {
    let mut text = Text::default();
    headline(&mut text, status);
    not_visible(&mut text, status);
    reasons(&mut text, status);
    tables::show(&mut text, status, columns);
    text
}

fn headline(text: &mut Text, status: &Status) {
    let tone = match status.verdict {
        Verdict::Healthy => Tone::Good,
        Verdict::Degraded => Tone::Warn,
        Verdict::Unhealthy | Verdict::Unknown => Tone::Bad,
    };
    let place = match status.namespaces.as_slice() {
        [] => "all namespaces".to_owned(),
        [one] => format!("namespace {one}"),
        several => format!("namespaces {}", several.join(", ")),
    };
    text.line([Span::new(status.verdict.as_str(), tone), format!("  {place}").into()]);
    let counts = counts(status);
    if !counts.is_empty() {
        text.paragraph(0, [counts.join("; ")]);
    }
}

/// What there is in numbers, as far as it was seen and is not nothing.
fn counts(status: &Status) -> Vec<String> {
    let counts = &status.counts;
    let mut parts = Vec::new();
    if counts.machines > 0 {
        let rolling_out = match counts.machines_rolling_out {
            0 => String::new(),
            machines => format!(" ({machines} in the rollout of Trustee that is under way)"),
        };
        parts.push(format!("{} of {} machines served{rolling_out}", counts.machines_served, counts.machines));
    }
    let keys = counts.attestation_keys;
    if !status.attestation_keys.is_empty() {
        parts.push(format!(
            "keys: {} trusted, {} pending, {} refused",
            keys.trusted, keys.pending, keys.refused
        ));
    }
    if counts.approved_images > 0 {
        parts.push(format!(
            "images: {} of {} committed",
            counts.approved_images_committed, counts.approved_images
        ));
    }
    parts
}

/// What is missing, together with what it would take; rights of one kind and place in one sentence.
fn not_visible(text: &mut Text, status: &Status) {
    let mut forbidden = BTreeMap::<(&str, &str), Vec<&Incomplete>>::new();
    for incomplete in &status.incomplete {
        if incomplete.forbidden {
            let place = (incomplete.verb, incomplete.namespace.as_str());
            forbidden.entry(place).or_default().push(incomplete);
        }
    }
    for ((verb, namespace), alike) in forbidden {
        let place = match namespace {
            "" => "all namespaces".to_owned(),
            namespace => format!("namespace \"{namespace}\""),
        };
        let resources: Vec<_> = alike.iter().map(|incomplete| incomplete.resource.as_str()).collect();
        let needs = format!("needs the right to {verb} in {place}: {}", resources.join(", "));
        text.blank();
        text.paragraph(0, [Span::new("Not visible:", Tone::Bad), needs.into()]);
        text.paragraph(4, ["The Role trusted-viewer grants all that status shows."]);
        text.verbatim(4, "Next: ", alike[0].check.clone());
    }
    for incomplete in status.incomplete.iter().filter(|incomplete| !incomplete.forbidden) {
        text.blank();
        text.paragraph(
            0,
            [Span::new("Not visible:", Tone::Bad), format!("needs {}", incomplete.need).into()],
        );
        text.verbatim(4, "Next: ", incomplete.check.clone());
    }
}

fn reasons(text: &mut Text, status: &Status) {
    let mut told = BTreeSet::new();
    for (index, finding) in status.reasons.iter().enumerate() {
        if told.contains(&index) {
            continue;
        }
        let alike: Vec<usize> = (index..status.reasons.len())
            .filter(|other| is_alike(finding, &status.reasons[*other]))
            .collect();
        text.blank();
        if alike.len() > MOST_ALIKE {
            let group: Vec<_> = alike.iter().map(|other| &status.reasons[*other]).collect();
            group_of(text, &group, status.at);
            told.extend(alike);
        } else {
            single(text, finding, status.at);
        }
    }
}

fn is_alike(one: &Finding, other: &Finding) -> bool {
    one.level == other.level && one.reason == other.reason && one.object.kind == other.object.kind
}

fn level(level: Level) -> Span {
    let tone = match level {
        Level::Critical => Tone::Bad,
        Level::Warning => Tone::Warn,
        Level::Info => Tone::Faint,
    };
    Span::new(level.as_str(), tone)
}

fn single(text: &mut Text, finding: &Finding, now: Timestamp) {
    let object = &finding.object;
    let name = match object.namespace.as_str() {
        "" => object.name.clone(),
        namespace if object.kind == "Namespace" => namespace.to_owned(),
        namespace => format!("{namespace}/{}", object.name),
    };
    let since = finding.since.map(|since| format!(" for {}", time::age(since, now))).unwrap_or_default();
    text.paragraph(
        0,
        [level(finding.level), format!("{} {name}: {}{since}", object.kind, finding.reason).into()],
    );
    text.paragraph(4, [finding.message.as_str()]);
    text.verbatim(4, "Next: ", finding.next.clone());
    choices(text, finding);
}

fn choices(text: &mut Text, finding: &Finding) {
    for choice in &finding.choices {
        text.verbatim(4, &format!("{}: ", choice.purpose), choice.command.clone());
    }
}

/// Many objects with the same trouble: said once, with the first names and the first command.
fn group_of(text: &mut Text, group: &[&Finding], now: Timestamp) {
    let [first, ..] = group else { return };
    let since = group.iter().filter_map(|finding| finding.since).min();
    let since = since.map(|since| format!(", the longest for {}", time::age(since, now))).unwrap_or_default();
    let head = format!("{} {}s: {}{since}", group.len(), first.object.kind, first.reason);
    text.paragraph(0, [level(first.level), head.into()]);
    text.paragraph(4, [first.message.as_str()]);
    let mut names: Vec<_> =
        group.iter().take(MOST_NAMES).map(|finding| finding.object.name.as_str()).collect();
    let more = format!("and {} more", group.len().saturating_sub(MOST_NAMES));
    if group.len() > MOST_NAMES {
        names.push(&more);
    }
    text.paragraph(4, [Span::new("Objects:", Tone::Faint), names.join(", ").into()]);
    text.verbatim(4, "Next, for the first: ", first.next.clone());
    choices(text, first);
}
