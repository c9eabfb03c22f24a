//! The result of `approve-ak`.
//!
//! Owns its field names, which are a contract, and how the items make one exit code.

use serde::Serialize;

use super::DryRun;
use super::judge::{self, Candidate, Refusal, Rules};
use super::stage::Stage;
use crate::exit::Exit;
use crate::next;
use crate::output::machine::Document;
use crate::output::text::{Span, Table, Text, Tone};

/// The reason of an item that was not to be changed.
pub(crate) const DRY_RUN: &str = "DryRun";

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Approval {
    pub(crate) namespace: String,
    /// `client` or `server` when nothing was to be changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dry_run: Option<&'static str>,
    pub(crate) items: Vec<Item>,
    /// What keeps approvals from having an effect.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<String>,
    #[serde(skip)]
    pub(crate) interrupted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Outcome {
    Approved,
    Unchanged,
    Refused,
    Failed,
}

impl Outcome {
    fn word(self) -> &'static str {
        match self {
            Outcome::Approved => "approved",
            Outcome::Unchanged => "unchanged",
            Outcome::Refused => "refused",
            Outcome::Failed => "failed",
        }
    }
}

/// What keeps an approved key from its effect, for the exit code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum End {
    #[default]
    Reached,
    Deadline,
    /// The operator decided against it.
    Refused,
    /// The effect cannot be seen.
    NotVisible,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Item {
    pub(crate) name: String,
    pub(crate) namespace: String,
    pub(crate) uuid: Option<String>,
    pub(crate) fingerprint: Option<String>,
    pub(crate) result: Outcome,
    /// One word: why it was refused, or what the operator says of it.
    pub(crate) reason: String,
    /// The same for people.
    pub(crate) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
    /// How far the approval has come; absent (null) where nothing was recorded.
    pub(crate) stage: Option<Stage>,
    #[serde(skip)]
    pub(crate) end: End,
    /// The generation that carries the approval.
    #[serde(skip)]
    pub(crate) generation: Option<i64>,
}

impl Approval {
    pub(crate) fn new(namespace: &str, dry_run: Option<DryRun>) -> Approval {
        let dry_run = dry_run.map(|dry_run| match dry_run {
            DryRun::Client => "client",
            DryRun::Server => "server",
        });
        let (items, warnings) = (Vec::new(), Vec::new());
        Approval { namespace: namespace.to_owned(), dry_run, items, warnings, interrupted: false }
    }

    /// Suggested commands reach the same cluster as this one did.
    pub(crate) fn repeat(&mut self, flags: &str) {
        let nexts = self.items.iter_mut().filter_map(|item| item.next.as_mut());
        nexts.for_each(|text| next::repeat(text, flags));
    }

    /// The worst of the items, in this order: interrupted, failed, out of time, not visible.
    pub(crate) fn exit(&self) -> Exit {
        let any = |is: fn(&Item) -> bool| self.items.iter().any(is);
        if self.interrupted {
            Exit::Interrupt
        } else if any(|item| {
            matches!(item.result, Outcome::Refused | Outcome::Failed) || item.end == End::Refused
        }) {
            Exit::Error
        } else if any(|item| item.end == End::Deadline) {
            Exit::Deadline
        } else if any(|item| item.end == End::NotVisible) {
            Exit::Incomplete
        } else {
            Exit::Good
        }
    }
}

impl Item {
    fn of(candidate: &Candidate, result: Outcome) -> Item {
        Item {
            name: candidate.name.clone(),
            namespace: candidate.namespace.clone(),
            uuid: candidate.uuid.clone(),
            fingerprint: candidate.fingerprint().map(ToString::to_string),
            result,
            reason: String::new(),
            message: String::new(),
            next: None,
            stage: None,
            end: End::Reached,
            generation: None,
        }
    }

    pub(crate) fn approved(candidate: &Candidate, generation: Option<i64>) -> Item {
        let item = Item::of(candidate, Outcome::Approved);
        let stage = generation.map(|_| Stage::Recorded);
        let reason = if stage.is_some() { "Recorded" } else { DRY_RUN };
        Item { stage, generation, reason: reason.to_owned(), ..item }
    }

    /// What was looked at only, with the command that does it to this key and to no other.
    pub(crate) fn would_be_approved(candidate: &Candidate, rules: &Rules<'_>) -> Item {
        let item = Item::approved(candidate, None);
        let mut next = judge::again(candidate, rules, "");
        if let Some(fingerprint) = candidate.fingerprint() {
            next.push_str(&format!(" --expect-fingerprint {fingerprint}"));
        }
        Item { message: "nothing was changed".to_owned(), next: Some(next), ..item }
    }

    pub(crate) fn unchanged(candidate: &Candidate, stage: Stage) -> Item {
        let message = "a person approved this key before".to_owned();
        let item = Item::of(candidate, Outcome::Unchanged);
        Item { stage: Some(stage), reason: "AlreadyApproved".to_owned(), message, ..item }
    }

    pub(crate) fn refused(candidate: &Candidate, refusal: Refusal) -> Item {
        let item = Item::of(candidate, Outcome::Refused);
        Item { reason: refusal.reason.to_owned(), message: refusal.message, next: refusal.next, ..item }
    }

    pub(crate) fn failed(candidate: &Candidate, refusal: Refusal) -> Item {
        Item { result: Outcome::Failed, ..Item::refused(candidate, refusal) }
    }

    pub(crate) fn not_confirmed(candidate: &Candidate) -> Item {
        let message = "the question was not answered with yes".to_owned();
        Item { reason: "NotConfirmed".to_owned(), message, ..Item::of(candidate, Outcome::Refused) }
    }

    pub(crate) fn not_found(name: &str, namespace: &str, unreadable: Option<&str>) -> Item {
        let (reason, message) = match unreadable {
            Some(problem) => {
                ("Unreadable", format!("the object is not of the form this version knows: {problem}"))
            }
            None => {
                ("NotFound", format!("there is no AttestationKey \"{name}\" in namespace \"{namespace}\""))
            }
        };
        Item {
            name: name.to_owned(),
            namespace: namespace.to_owned(),
            uuid: None,
            fingerprint: None,
            result: Outcome::Failed,
            reason: reason.to_owned(),
            message,
            next: Some(format!("kubectl get attestationkeys -n {namespace}")),
            stage: None,
            end: End::Reached,
            generation: None,
        }
    }
}

impl Document for Approval {
    const KIND: &'static str = "ApprovalResult";

    fn text(&self) -> Text {
        let mut text = Text::default();
        let mut table = Table::left(&["NAME", "RESULT", "STAGE", "REASON"]);
        for item in &self.items {
            let tone = match (item.result, item.end) {
                (Outcome::Refused | Outcome::Failed, _) | (_, End::Refused) => Tone::Bad,
                (_, End::Deadline | End::NotVisible) => Tone::Warn,
                _ => Tone::Good,
            };
            let result = match self.dry_run {
                Some("server") if item.result == Outcome::Approved => {
                    "would be approved, the API server agrees".to_owned()
                }
                Some(_) if item.result == Outcome::Approved => "would be approved".to_owned(),
                _ => item.result.word().to_owned(),
            };
            let stage = item.stage.map_or("-", Stage::word);
            table.row(vec![
                item.name.as_str().into(),
                Span::new(result, tone),
                stage.into(),
                item.reason.as_str().into(),
            ]);
        }
        text.table(table);
        for item in self.items.iter().filter(|item| !item.message.is_empty()) {
            text.blank();
            text.paragraph(
                0,
                [Span::new(format!("{}:", item.name), Tone::Strong), item.message.as_str().into()],
            );
            if let Some(next) = &item.next {
                text.verbatim(4, "Next: ", next.clone());
            }
        }
        text
    }
}
