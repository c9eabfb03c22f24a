//! The tables of `status`: what there is, kind by kind.
//!
//! Owns the columns, and what is left out of them where the screen is narrow.

use jiff::Timestamp;
use trusted_crds::ApprovalPolicy;

use super::document::Status;
use crate::output::text::{Span, Table, Text, Tone};
use crate::output::time;

/// Rows of a table; beyond them the screen would scroll for minutes. The document holds all.
const MOST_ROWS: usize = 100;

/// Digits shown of a fingerprint or digest.
const SHORT: usize = 12;

/// Which columns are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Columns {
    /// Those that fit a screen, fingerprints and digests shortened.
    Usual,
    /// All of them, with nothing shortened.
    All,
}

pub(super) fn show(text: &mut Text, status: &Status, columns: Columns) {
    clusters(text, status, columns);
    machines(text, status, columns);
    keys(text, status, columns);
    images(text, status, columns);
}

/// A table whose first column is the namespace when all of them are shown.
struct Section {
    table: Table,
    columns: Columns,
    with_namespace: bool,
    /// Where nothing at all may be seen, that is said once.
    is_told_apart: bool,
    rows: usize,
}

impl Section {
    fn new(status: &Status, columns: Columns, usual: &[&'static str], more: &[&'static str]) -> Section {
        let with_namespace = status.namespace.is_none();
        let mut all = if with_namespace { vec!["NAMESPACE"] } else { vec![] };
        all.extend_from_slice(usual);
        if columns == Columns::All {
            all.extend_from_slice(more);
        }
        let hidden = status.hidden;
        let is_told_apart =
            !(hidden.clusters && hidden.machines && hidden.attestation_keys && hidden.approved_images);
        let table = Table { is_whole: columns == Columns::All, ..Table::left(&all) };
        Section { table, columns, with_namespace, is_told_apart, rows: 0 }
    }

    fn row(&mut self, namespace: &str, mut cells: Vec<Span>, more: Vec<Span>) {
        self.rows += 1;
        if self.rows > MOST_ROWS {
            return;
        }
        if self.columns == Columns::All {
            cells.extend(more);
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

fn clusters(text: &mut Text, status: &Status, columns: Columns) {
    let usual = ["NAME", "INSTALLED", "TRUSTEE", "NEW KEYS", "TRUSTEE ADDRESS", "AGE"];
    let mut section = Section::new(status, columns, &usual, &["SERVED", "APPROVALS BY HAND"]);
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
        let protected = Some(row.approval_protected.as_str()).filter(|reason| !reason.is_empty());
        section.row(&row.namespace, cells, vec![yes_or(row.served, ""), or_none(protected)]);
    }
    section.show(text, "Clusters", status.hidden.clusters);
}

fn machines(text: &mut Text, status: &Status, columns: Columns) {
    // A machine is often named after its id; then one of the two is enough.
    let with_id = columns == Columns::All || status.machines.iter().any(|row| !row.name.contains(&row.id));
    let mut usual = vec!["NAME"];
    if with_id {
        usual.push("ID");
    }
    usual.extend(["DISK KEY", "ATTESTATION KEY", "DELIVERED", "AGE"]);
    let mut section = Section::new(status, columns, &usual, &["FINGERPRINT"]);
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
        section.row(&row.namespace, cells, vec![or_none(row.bound_fingerprint.as_deref())]);
    }
    section.show(text, "Machines", status.hidden.machines);
}

fn keys(text: &mut Text, status: &Status, columns: Columns) {
    let usual = ["NAME", "UUID", "APPROVED", "DELIVERED", "FINGERPRINT", "AGE"];
    let mut section = Section::new(status, columns, &usual, &["MACHINE", "DECISION", "BY"]);
    for row in &status.attestation_keys {
        let approved = match (row.approved, row.reason.as_str()) {
            (_, "") => or_none(None),
            (true, reason) => Span::new(format!("yes, {reason}"), Tone::Good),
            (false, reason) => Span::new(format!("no, {reason}"), Tone::Warn),
        };
        let fingerprint = row.fingerprint.as_deref().map(|whole| match columns {
            Columns::Usual => short(whole),
            Columns::All => whole,
        });
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
            or_none(fingerprint),
            age(row.created, status.at),
        ];
        let more = [&row.machine, &row.decision, &row.decided_by].map(|cell| or_none(cell.as_deref()));
        section.row(&row.namespace, cells, more.to_vec());
    }
    section.show(text, "Attestation keys", status.hidden.attestation_keys);
}

/// Enough of a fingerprint to tell keys apart on one screen; `-o wide`, `-o json` and approve-ak show all of it.
fn short(fingerprint: &str) -> &str {
    let hex = fingerprint.strip_prefix("sha256:").unwrap_or(fingerprint);
    hex.get(..SHORT).unwrap_or(hex)
}

/// An image with as much of its digest.
fn short_image(image: &str) -> String {
    match image.split_once("@sha256:") {
        Some((name, hex)) => format!("{name}@{}", short(hex)),
        None => image.to_owned(),
    }
}

fn images(text: &mut Text, status: &Status, columns: Columns) {
    let usual = ["NAME", "COMMITTED", "REASON", "IMAGE", "AGE"];
    let mut section = Section::new(status, columns, &usual, &[]);
    for row in &status.approved_images {
        let committed = if row.reason == trusted_crds::reason::NOT_EVALUATED {
            or_none(None)
        } else {
            yes_or(row.committed, "")
        };
        let image = match columns {
            Columns::Usual => short_image(&row.image),
            Columns::All => row.image.clone(),
        };
        let cells = vec![
            row.name.as_str().into(),
            committed,
            row.reason.as_str().into(),
            image.into(),
            age(row.created, status.at),
        ];
        section.row(&row.namespace, cells, vec![]);
    }
    section.show(text, "Approved images", status.hidden.approved_images);
}
