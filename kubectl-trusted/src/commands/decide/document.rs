//! The result of `approve-ak`, `deny-ak` and `revoke-ak`.
//!
//! Owns its field names, which are a contract, and how the items make one exit code.

use serde::Serialize;
use trusted_crds::AttestationKey;

use super::action::Action;
use super::args::DryRun;
use super::judge::{self, Candidate, Refusal, Unchanged};
use super::stage::Stage;
use crate::exit::Exit;
use crate::next;
use crate::output::machine::{self, Document};
use crate::output::text::{Span, Table, Text, Tone};

/// The reason of an item that was not to be changed.
pub(crate) const DRY_RUN: &str = "DryRun";

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Results {
    /// What was decided.
    pub(crate) action: Action,
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
    Denied,
    Revoked,
    Unchanged,
    /// Not approved, though it could have been.
    Refused,
    Failed,
}

impl Outcome {
    fn word(self) -> &'static str {
        match self {
            Outcome::Approved => Action::Approve.done(),
            Outcome::Denied => Action::Deny.done(),
            Outcome::Revoked => Action::Revoke.done(),
            Outcome::Unchanged => "unchanged",
            Outcome::Refused => "refused",
            Outcome::Failed => "failed",
        }
    }

    /// Something was written, or would have been.
    pub(crate) fn is_done(self) -> bool {
        matches!(self, Outcome::Approved | Outcome::Denied | Outcome::Revoked)
    }

    fn of(action: Action) -> Outcome {
        match action {
            Action::Approve => Outcome::Approved,
            Action::Deny => Outcome::Denied,
            Action::Revoke => Outcome::Revoked,
        }
    }

    /// A key that is not approved is refused; taking trust away can only fail.
    fn not(action: Action) -> Outcome {
        match action {
            Action::Approve => Outcome::Refused,
            Action::Deny | Action::Revoke => Outcome::Failed,
        }
    }
}

/// What keeps a decision from its effect, for the exit code.
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
    /// How far the decision has come; absent (null) where nothing was recorded.
    pub(crate) stage: Option<Stage>,
    #[serde(skip)]
    pub(crate) end: End,
    /// The generation that carries the decision.
    #[serde(skip)]
    pub(crate) generation: Option<i64>,
}

impl Results {
    pub(crate) fn new(namespace: &str, action: Action, dry_run: Option<DryRun>) -> Results {
        Results {
            action,
            namespace: namespace.to_owned(),
            dry_run: dry_run.map(DryRun::word),
            items: Vec::new(),
            warnings: Vec::new(),
            interrupted: false,
        }
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

    /// Written with this generation; without one nothing was to be changed.
    pub(crate) fn written(candidate: &Candidate, action: Action, generation: Option<i64>) -> Item {
        let item = Item::of(candidate, Outcome::of(action));
        let stage = generation.map(|_| Stage::Recorded);
        let reason = if stage.is_some() { "Recorded" } else { DRY_RUN };
        Item { stage, generation, reason: reason.to_owned(), ..item }
    }

    /// What was looked at only, with the command that does it to this key and to no other.
    pub(crate) fn with_command(self, candidate: &Candidate, action: Action, given: &[(bool, &str)]) -> Item {
        let mut next = judge::command(candidate, action, given);
        if let Some(fingerprint) = candidate.fingerprint() {
            next.push_str(&format!(" --expect-fingerprint {fingerprint}"));
        }
        Item { message: "nothing was changed".to_owned(), next: Some(next), ..self }
    }

    pub(crate) fn unchanged(candidate: &Candidate, stage: Stage, unchanged: &Unchanged) -> Item {
        let (reason, message, stage) = match unchanged {
            Unchanged::AlreadyApproved => {
                ("AlreadyApproved", "a person approved this key before", Some(stage))
            }
            Unchanged::AlreadyDenied => ("AlreadyDenied", "a person denied this key before", Some(stage)),
            Unchanged::NoDecision => {
                ("NoDecision", "nobody has decided about this key, and it is not trusted", None)
            }
        };
        let item = Item::of(candidate, Outcome::Unchanged);
        Item { stage, reason: reason.to_owned(), message: message.to_owned(), ..item }
    }

    pub(crate) fn refused(candidate: &Candidate, action: Action, refusal: Refusal) -> Item {
        Item { result: Outcome::not(action), ..Item::failed(candidate, refusal) }
    }

    pub(crate) fn failed(candidate: &Candidate, refusal: Refusal) -> Item {
        let item = Item::of(candidate, Outcome::Failed);
        Item { reason: refusal.reason.to_owned(), message: refusal.message, next: refusal.next, ..item }
    }

    pub(crate) fn not_confirmed(candidate: &Candidate, action: Action) -> Item {
        let message = "the question was not answered with yes".to_owned();
        Item { reason: "NotConfirmed".to_owned(), message, ..Item::of(candidate, Outcome::not(action)) }
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

impl Document for Results {
    const KIND: &'static str = "ApprovalResult";

    fn names(&self) -> Option<Vec<String>> {
        Some(self.items.iter().map(|item| machine::name_of::<AttestationKey>(&item.name)).collect())
    }

    fn text(&self) -> Text {
        let mut text = Text::default();
        if self.items.is_empty() {
            text.line(["Nothing to decide about."]);
            return text;
        }
        let mut table = Table::left(&["NAME", "RESULT", "STAGE", "REASON"]);
        for item in &self.items {
            let tone = match (item.result, item.end) {
                (Outcome::Refused | Outcome::Failed, _) | (_, End::Refused) => Tone::Bad,
                (_, End::Deadline | End::NotVisible) => Tone::Warn,
                _ => Tone::Good,
            };
            let result = match self.dry_run {
                Some("server") if item.result.is_done() => {
                    format!("would be {}, the API server agrees", item.result.word())
                }
                Some(_) if item.result.is_done() => format!("would be {}", item.result.word()),
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
