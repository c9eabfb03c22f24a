//! The screen of `status`: the verdict first, then reasons by severity, then what there is.
//!
//! Owns the layout. Every word comes from the document.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use trusted_crds::ApprovalPolicy;
use trusted_crds::health::{Finding, Level, Verdict};

use super::document::Status;
use crate::output::machine::Document;
use crate::output::text::{Span, Table, Text, Tone};
use crate::output::time;

/// Rows of a table; beyond them the screen would scroll for minutes. The document holds all.
const MOST_ROWS: usize = 100;

/// Findings that say the same of more objects than this are told once.
const MOST_ALIKE: usize = 3;

/// Objects named of such a group.
const MOST_NAMES: usize = 6;

impl Document for Status {
    const KIND: &'static str = "Status";

    fn text(&self) -> Text {
        let mut text = Text::default();
        headline(&mut text, self);
        not_visible(&mut text, self);
        reasons(&mut text, self);
        clusters(&mut text, self);
        machines(&mut text, self);
        keys(&mut text, self);
        images(&mut text, self);
        text
    }
}

fn headline(text: &mut Text, status: &Status) {
    let tone = match status.verdict {
        Verdict::Healthy => Tone::Good,
        Verdict::Degraded => Tone::Warn,
        Verdict::Unhealthy | Verdict::Unknown => Tone::Bad,
    };
    let place = match &status.namespace {
        Some(namespace) => format!("namespace {namespace}"),
        None => "all namespaces".to_owned(),
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
        parts.push(format!("{} of {} machines served", counts.machines_served, counts.machines));
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
    let mut forbidden = BTreeMap::<(&str, &str), Vec<&str>>::new();
    for incomplete in &status.incomplete {
        if incomplete.forbidden {
            let place = (incomplete.verb, incomplete.namespace.as_str());
            forbidden.entry(place).or_default().push(&incomplete.resource);
        }
    }
    for ((verb, namespace), resources) in forbidden {
        let (place, flag) = match namespace {
            "" => ("all namespaces".to_owned(), "-A".to_owned()),
            namespace => (format!("namespace \"{namespace}\""), format!("-n {namespace}")),
        };
        let needs = format!("needs the right to {verb} in {place}: {}", resources.join(", "));
        text.blank();
        text.paragraph(0, [Span::new("Not visible:", Tone::Bad), needs.into()]);
        text.paragraph(4, ["The Role trusted-viewer grants all that status shows."]);
        text.verbatim(4, "Next: ", format!("kubectl auth can-i {verb} {} {flag}", resources[0]));
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
}

/// A table whose first column is the namespace when all of them are shown.
struct Section {
    table: Table,
    with_namespace: bool,
    /// Where nothing at all may be seen, that is said once.
    is_told_apart: bool,
    rows: usize,
}

impl Section {
    fn new(status: &Status, columns: &[&'static str]) -> Section {
        let with_namespace = status.namespace.is_none();
        let mut all = if with_namespace { vec!["NAMESPACE"] } else { vec![] };
        all.extend_from_slice(columns);
        let hidden = status.hidden;
        let is_told_apart =
            !(hidden.clusters && hidden.machines && hidden.attestation_keys && hidden.approved_images);
        Section { table: Table::left(&all), with_namespace, is_told_apart, rows: 0 }
    }

    fn row(&mut self, namespace: &str, mut cells: Vec<Span>) {
        self.rows += 1;
        if self.rows > MOST_ROWS {
            return;
        }
        if self.with_namespace {
            cells.insert(0, namespace.into());
        }
        self.table.row(cells);
    }

    fn show(self, text: &mut Text, title: &str, hidden: bool) {
        if hidden && self.is_told_apart {
            text.heading(title);
            text.line([Span::new("not visible", Tone::Bad)]);
        } else if self.rows > 0 && !hidden {
            text.heading(title);
            text.table(self.table);
            if self.rows > MOST_ROWS {
                let line = format!("... and {} more; -o json shows all", self.rows - MOST_ROWS);
                text.line([Span::new(line, Tone::Faint)]);
            }
        }
    }
}

fn yes_or(is: bool, no: &str) -> Span {
    if is {
        Span::new("yes", Tone::Good)
    } else if no.is_empty() {
        Span::new("no", Tone::Warn)
    } else {
        Span::new(no, Tone::Warn)
    }
}

fn delivered(delivered: Option<bool>) -> Span {
    match delivered {
        Some(is) => yes_or(is, ""),
        None => Span::new("not visible", Tone::Bad),
    }
}

fn age(created: Option<Timestamp>, now: Timestamp) -> Span {
    created.map(|created| time::age(created, now)).unwrap_or_default().into()
}

fn or_none(text: Option<&str>) -> Span {
    match text {
        Some(text) => text.into(),
        None => Span::new("-", Tone::Faint),
    }
}

fn clusters(text: &mut Text, status: &Status) {
    let mut section =
        Section::new(status, &["NAME", "INSTALLED", "TRUSTEE", "NEW KEYS", "TRUSTEE ADDRESS", "AGE"]);
    for row in &status.clusters {
        let policy = match row.approval {
            ApprovalPolicy::Automatic => "first is trusted",
            ApprovalPolicy::Manual => "by hand only",
        };
        let trustee =
            if row.trustee.is_empty() { or_none(None) } else { yes_or(row.trustee_ready, &row.trustee) };
        let cells = vec![
            row.name.as_str().into(),
            yes_or(row.installed, &row.reason),
            trustee,
            policy.into(),
            or_none(row.address.as_deref()),
            age(row.created, status.at),
        ];
        section.row(&row.namespace, cells);
    }
    section.show(text, "Clusters", status.hidden.clusters);
}

fn machines(text: &mut Text, status: &Status) {
    // A machine is often named after its id; then one of the two is enough.
    let with_id = status.machines.iter().any(|row| !row.name.contains(&row.id));
    let mut columns = vec!["NAME"];
    if with_id {
        columns.push("ID");
    }
    columns.extend(["DISK KEY", "ATTESTATION KEY", "DELIVERED", "AGE"]);
    let mut section = Section::new(status, &columns);
    for row in &status.machines {
        let key = match (&row.bound_key, row.bound_reason.as_str()) {
            (Some(name), _) => name.as_str().into(),
            (None, "") => or_none(None),
            (None, reason) => Span::new(reason, Tone::Warn),
        };
        let mut cells = vec![row.name.as_str().into()];
        if with_id {
            cells.push(row.id.as_str().into());
        }
        // Nothing can be delivered before a key is bound.
        let has_it = match row.delivered {
            Some(false) if row.bound_key.is_none() => or_none(None),
            is => delivered(is),
        };
        cells.extend([yes_or(row.key_ready, &row.key_reason), key, has_it, age(row.created, status.at)]);
        section.row(&row.namespace, cells);
    }
    section.show(text, "Machines", status.hidden.machines);
}

fn keys(text: &mut Text, status: &Status) {
    let mut section = Section::new(status, &["NAME", "UUID", "APPROVED", "DELIVERED", "FINGERPRINT", "AGE"]);
    for row in &status.attestation_keys {
        let approved = match (row.approved, row.reason.as_str()) {
            (_, "") => or_none(None),
            (true, reason) => Span::new(format!("yes, {reason}"), Tone::Good),
            (false, reason) => Span::new(format!("no, {reason}"), Tone::Warn),
        };
        let cells = vec![
            row.name.as_str().into(),
            or_none(row.uuid.as_deref()),
            approved,
            // Nobody expects Trustee to have a key that is not trusted.
            if row.approved || row.delivered != Some(false) {
                delivered(row.delivered)
            } else {
                or_none(None)
            },
            row.fingerprint.as_deref().map_or_else(|| or_none(None), |fingerprint| short(fingerprint).into()),
            age(row.created, status.at),
        ];
        section.row(&row.namespace, cells);
    }
    section.show(text, "Attestation keys", status.hidden.attestation_keys);
}

/// Enough of a fingerprint to tell keys apart on one screen; `-o json` and approve-ak show all of it.
fn short(fingerprint: &str) -> &str {
    let hex = fingerprint.strip_prefix("sha256:").unwrap_or(fingerprint);
    hex.get(..12).unwrap_or(hex)
}

fn images(text: &mut Text, status: &Status) {
    let mut section = Section::new(status, &["NAME", "COMMITTED", "REASON", "IMAGE", "AGE"]);
    for row in &status.approved_images {
        let committed = if row.reason == trusted_crds::reason::NOT_EVALUATED {
            or_none(None)
        } else {
            yes_or(row.committed, "")
        };
        let cells = vec![
            row.name.as_str().into(),
            committed,
            row.reason.as_str().into(),
            row.image.as_str().into(),
            age(row.created, status.at),
        ];
        section.row(&row.namespace, cells);
    }
    section.show(text, "Approved images", status.hidden.approved_images);
}
