//! Whether a decision about a key may be written; a pure function of what was seen and of the flags.
//!
//! Owns the rules and the words of a refusal. The API server and the operator check again what matters.

mod against;

use jiff::Timestamp;
use trusted_crds::{Approval, Decision, Fingerprint, KeyError, PublicKey};

use super::action::Action;

/// A key and everything a person should know before deciding about it.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) name: String,
    pub(crate) namespace: String,
    pub(crate) uid: String,
    pub(crate) resource_version: String,
    pub(crate) uuid: Option<String>,
    pub(crate) created: Option<Timestamp>,
    pub(crate) is_leaving: bool,
    pub(crate) key: Result<PublicKey, KeyError>,
    pub(crate) approval: Option<Approval>,
    /// What the operator says of it now: whether it is trusted, why, in words.
    pub(crate) verdict: Option<(bool, String, String)>,
    pub(crate) machine: MachineMatch,
    /// Other keys that name the same machine.
    pub(crate) rivals: Vec<Other>,
    /// The same key under other names.
    pub(crate) namesakes: Vec<Other>,
}

/// The Machine that the key names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MachineMatch {
    /// The key names none.
    NotNamed,
    NotVisible,
    Missing,
    Found {
        name: String,
        bound: Option<String>,
    },
}

/// Another AttestationKey object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Other {
    pub(crate) name: String,
    pub(crate) uuid: Option<String>,
    pub(crate) fingerprint: Option<Fingerprint>,
    pub(crate) is_trusted: bool,
    pub(crate) decision: Option<Decision>,
    /// The operator's reason.
    pub(crate) reason: String,
}

impl Candidate {
    pub(crate) fn fingerprint(&self) -> Option<&Fingerprint> {
        self.key.as_ref().ok().map(PublicKey::fingerprint)
    }

    fn is_decided(&self, decision: Decision) -> bool {
        self.approval.as_ref().is_some_and(|approval| approval.decision == decision)
    }

    /// Whether a person has decided so about exactly this key.
    fn is_decided_for_this_key(&self, decision: Decision) -> bool {
        let fingerprint = self.fingerprint().map(ToString::to_string);
        self.is_decided(decision)
            && self.approval.as_ref().map(|approval| &approval.fingerprint) == fingerprint.as_ref()
    }

    pub(crate) fn is_trusted(&self) -> bool {
        self.verdict.as_ref().is_some_and(|(is_trusted, ..)| *is_trusted)
    }
}

/// The flags the decision rests on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules<'a> {
    pub(crate) action: Action,
    pub(crate) expected: Option<&'a Fingerprint>,
    pub(crate) replace: bool,
    pub(crate) override_denial: bool,
    /// All keys of this command.
    pub(crate) named: &'a [String],
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) reason: &'static str,
    pub(crate) message: String,
    pub(crate) next: Option<String>,
}

impl Refusal {
    pub(crate) fn new(reason: &'static str, message: impl Into<String>) -> Refusal {
        Refusal { reason, message: message.into(), next: None }
    }

    #[must_use]
    pub(crate) fn next(mut self, next: impl Into<String>) -> Refusal {
        self.next = Some(next.into());
        self
    }

    /// The refusal came while a former key was being denied.
    #[must_use]
    pub(crate) fn about(mut self, former: &str, denied: &[String]) -> Refusal {
        let message = self.message;
        self.message =
            format!("the former key {former} could not be denied, so nothing was approved: {message}");
        self.after(denied)
    }

    /// What was done before it came, so that nobody believes everything is as it was.
    #[must_use]
    pub(crate) fn after(mut self, denied: &[String]) -> Refusal {
        if !denied.is_empty() {
            self.message.push_str(&format!("; already denied: {}", denied.join(", ")));
        }
        self
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Plan {
    /// These former keys, approved by hand, are denied before.
    Write {
        deny_first: Vec<String>,
    },
    Unchanged(Unchanged),
    Refuse(Refusal),
}

/// Why nothing is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unchanged {
    AlreadyApproved,
    AlreadyDenied,
    NoDecision,
}

type Check = fn(&Candidate, &Rules<'_>) -> Option<Refusal>;

pub(crate) fn judge(candidate: &Candidate, rules: &Rules<'_>) -> Plan {
    let (first, unchanged, then): (&[Check], _, &[Check]) = match rules.action {
        Action::Approve => (
            &[leaving, unusable, unexpected, ambiguous],
            candidate.is_decided_for_this_key(Decision::Approved).then_some(Unchanged::AlreadyApproved),
            &[denied, denied_elsewhere, bound_elsewhere, bound_by_hand],
        ),
        Action::Deny => (
            &[leaving, unusable, unexpected],
            candidate.is_decided_for_this_key(Decision::Denied).then_some(Unchanged::AlreadyDenied),
            &[against::trusted_elsewhere],
        ),
        Action::Revoke => (
            &[leaving, unexpected, against::not_by_hand],
            candidate.approval.is_none().then_some(Unchanged::NoDecision),
            &[],
        ),
    };
    let refusal = |checks: &[Check]| checks.iter().find_map(|check| check(candidate, rules));
    if let Some(refusal) = refusal(first) {
        return Plan::Refuse(refusal);
    }
    if let Some(unchanged) = unchanged {
        return Plan::Unchanged(unchanged);
    }
    if let Some(refusal) = refusal(then) {
        return Plan::Refuse(refusal);
    }
    let is_replacing = rules.action == Action::Approve;
    let former = by_hand(candidate).filter(|_| is_replacing);
    Plan::Write { deny_first: former.map(|rival| rival.name.clone()).collect() }
}

fn leaving(candidate: &Candidate, _: &Rules<'_>) -> Option<Refusal> {
    candidate.is_leaving.then(|| Refusal::new("Deleting", "the AttestationKey is being deleted"))
}

/// The reason never holds anything of the text that is in place of a key.
fn unusable(candidate: &Candidate, _: &Rules<'_>) -> Option<Refusal> {
    let error = candidate.key.as_ref().err()?;
    let reason = if *error == KeyError::PrivateKey { "PrivateKey" } else { "InvalidKey" };
    let delete = format!("kubectl delete attestationkey {} -n {}", candidate.name, candidate.namespace);
    Some(Refusal::new(reason, format!("spec.publicKey is no key to decide about: {error}")).next(delete))
}

fn unexpected(candidate: &Candidate, rules: &Rules<'_>) -> Option<Refusal> {
    let (expected, found) = (rules.expected?, candidate.fingerprint()?);
    (expected != found).then(|| {
        let message = format!("the key has the fingerprint {found}, not the expected {expected}");
        Refusal::new("FingerprintMismatch", message)
            .next("compare both with the fingerprint that the machine itself shows, and approve neither until you know")
    })
}

/// One machine has one key: which of several that are named it shall be, nobody has said.
fn ambiguous(candidate: &Candidate, rules: &Rules<'_>) -> Option<Refusal> {
    let rivals: Vec<_> = candidate
        .rivals
        .iter()
        .filter(|rival| rules.named.contains(&rival.name))
        .map(|rival| rival.name.as_str())
        .collect();
    if rivals.is_empty() {
        return None;
    }
    let message = format!(
        "{} was to be approved too, for the same machine, and a machine has one key: approve the one that is right by \
         its name",
        rivals.join(", ")
    );
    let next =
        format!("kubectl trusted approve-ak {} -n {} --dry-run=client", candidate.name, candidate.namespace);
    Some(Refusal::new("Ambiguous", message).next(next))
}

fn denied(candidate: &Candidate, rules: &Rules<'_>) -> Option<Refusal> {
    if rules.override_denial || !candidate.is_decided(Decision::Denied) {
        return None;
    }
    let approval = candidate.approval.as_ref();
    let by = approval.and_then(|approval| approval.by.as_deref()).unwrap_or("somebody");
    let why = approval.and_then(|approval| approval.reason.as_deref()).map(|why| format!(" ({why})"));
    let message = format!("{by} denied this key{}", why.unwrap_or_default());
    Some(Refusal::new("Denied", message).next(more(candidate, rules, "--override-denial")))
}

/// A denial holds for the key under any name, so approving one object alone would have no effect.
fn denied_elsewhere(candidate: &Candidate, rules: &Rules<'_>) -> Option<Refusal> {
    let is_overridden = |other: &Other| rules.override_denial && rules.named.contains(&other.name);
    let denied: Vec<_> = candidate
        .namesakes
        .iter()
        .filter(|other| other.decision == Some(Decision::Denied) && !is_overridden(other))
        .map(|other| other.name.as_str())
        .collect();
    if denied.is_empty() {
        return None;
    }
    let message = format!(
        "the same key is denied as AttestationKey {}, and a denial holds for the key under any name",
        denied.join(", ")
    );
    let next = format!(
        "kubectl trusted approve-ak {} {} --override-denial -n {}",
        candidate.name,
        denied.join(" "),
        candidate.namespace
    );
    Some(Refusal::new("DeniedElsewhere", message).next(next))
}

fn bound_elsewhere(candidate: &Candidate, _: &Rules<'_>) -> Option<Refusal> {
    let other = candidate.namesakes.iter().find(|other| other.is_trusted && other.uuid != candidate.uuid)?;
    let place = other.uuid.as_deref().unwrap_or("no machine");
    let message = format!(
        "this key is trusted already, as AttestationKey {} for {place}; a key serves one machine",
        other.name
    );
    let next = format!("kubectl get attestationkey {} -n {} -o yaml", other.name, candidate.namespace);
    Some(Refusal::new("BoundElsewhere", message).next(next))
}

/// Other keys of the machine that a person approved.
fn by_hand(candidate: &Candidate) -> impl Iterator<Item = &Other> {
    candidate.rivals.iter().filter(|rival| rival.decision == Some(Decision::Approved))
}

fn bound_by_hand(candidate: &Candidate, rules: &Rules<'_>) -> Option<Refusal> {
    let rival = by_hand(candidate).next().filter(|_| !rules.replace)?;
    let message = format!(
        "a person approved another key of this machine, AttestationKey {}; it has to be denied first",
        rival.name
    );
    Some(Refusal::new("BoundByHand", message).next(more(candidate, rules, "--replace")))
}

/// The same approval with the flag it lacks.
fn more(candidate: &Candidate, rules: &Rules<'_>, flag: &str) -> String {
    let given = [(rules.replace, "--replace"), (rules.override_denial, "--override-denial")];
    format!("{} {flag}", command(candidate, rules.action, &given))
}

/// The command that decides about this key alone, with those of the flags that were given.
pub(crate) fn command(candidate: &Candidate, action: Action, given: &[(bool, &str)]) -> String {
    let given = given.iter().filter(|(is_given, _)| *is_given);
    let flags: String = given.map(|(_, flag)| format!(" {flag}")).collect();
    format!("kubectl trusted {} {} -n {}{flags}", action.verb(), candidate.name, candidate.namespace)
}

#[cfg(test)]
mod tests;
