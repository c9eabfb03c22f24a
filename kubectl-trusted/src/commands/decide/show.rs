//! What a person sees before being asked.
//!
//! Owns the wording. Nothing of a key but its fingerprint and algorithm is ever shown.

use jiff::Timestamp;
use trusted_crds::Decision;

use super::action::Action;
use super::judge::{Candidate, MachineMatch, Other, Plan};
use crate::output::text::{Span, Text, Tone};
use crate::output::time;

pub(crate) fn candidate(candidate: &Candidate, plan: &Plan, action: Action) -> Text {
    let mut text = Text::default();
    text.line([
        Span::new("AttestationKey ", Tone::Plain),
        Span::new(format!("{}/{}", candidate.namespace, candidate.name), Tone::Strong),
    ]);
    text.facts(facts(candidate));
    if let Plan::Write { deny_first } = plan {
        let consequences = match action {
            Action::Approve => of_approval(candidate, deny_first),
            Action::Deny => of_denial(candidate),
            Action::Revoke => of_revocation(candidate),
        };
        for consequence in consequences {
            text.paragraph(2, [Span::new("Note:", Tone::Warn), consequence.into()]);
        }
    }
    text.blank();
    text
}

fn facts(candidate: &Candidate) -> Vec<(&'static str, Span)> {
    let mut facts = Vec::new();
    match &candidate.key {
        Ok(key) => {
            facts.push(("fingerprint", Span::new(key.fingerprint().to_string(), Tone::Strong)));
            facts.push(("algorithm", key.algorithm().into()));
        }
        Err(error) => facts.push(("key", Span::new(error.to_string(), Tone::Bad))),
    }
    facts.push(("uuid", candidate.uuid.as_deref().unwrap_or("none").into()));
    facts.push(("machine", machine(&candidate.machine)));
    if let Some(created) = candidate.created {
        let ago = time::age(created, Timestamp::now());
        facts.push(("registered", format!("{ago} ago ({})", created.strftime("%Y-%m-%dT%H:%M:%SZ")).into()));
    }
    facts.push(("now", now(candidate)));
    if let Some(approval) = &candidate.approval {
        facts.push(("decision", decision(approval)));
    }
    facts.extend(candidate.rivals.iter().map(|rival| ("other key", other(rival))));
    facts.extend(candidate.namesakes.iter().map(|namesake| ("same key", other(namesake))));
    facts
}

fn machine(machine: &MachineMatch) -> Span {
    match machine {
        MachineMatch::NotNamed => Span::new("none: the key names no machine", Tone::Warn),
        MachineMatch::NotVisible => {
            Span::new("not visible: that takes the right to list machines", Tone::Warn)
        }
        MachineMatch::Missing => Span::new("none has this id yet", Tone::Warn),
        MachineMatch::Found { name, bound: None } => format!("{name}, no key is bound to it").into(),
        MachineMatch::Found { name, bound: Some(bound) } => format!("{name}, bound to {bound}").into(),
    }
}

fn now(candidate: &Candidate) -> Span {
    match &candidate.verdict {
        None => "the operator has not looked at it yet".into(),
        Some((true, reason, _)) => Span::new(format!("trusted ({reason})"), Tone::Good),
        Some((false, reason, message)) if message.is_empty() => {
            Span::new(format!("not trusted ({reason})"), Tone::Warn)
        }
        Some((false, reason, message)) => Span::new(format!("not trusted ({reason}): {message}"), Tone::Warn),
    }
}

fn decision(approval: &trusted_crds::Approval) -> Span {
    let by = approval.by.as_deref().unwrap_or("somebody");
    let why = approval.reason.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
    match approval.decision {
        Decision::Approved => Span::new(format!("approved by {by}{why}"), Tone::Good),
        Decision::Denied => Span::new(format!("denied by {by}{why}"), Tone::Bad),
    }
}

fn other(other: &Other) -> Span {
    let state = match (other.is_trusted, other.decision) {
        (_, Some(Decision::Denied)) => "denied".to_owned(),
        (true, Some(Decision::Approved)) => "trusted, approved by hand".to_owned(),
        (true, None) => format!("trusted ({})", other.reason),
        (false, Some(Decision::Approved)) => "approved by hand, without effect so far".to_owned(),
        (false, None) if other.reason.is_empty() => "not looked at yet".to_owned(),
        (false, None) => format!("not trusted ({})", other.reason),
    };
    let key = other.fingerprint.as_ref().map_or_else(|| "no valid key".to_owned(), ToString::to_string);
    let tone = if other.is_trusted || other.decision.is_some() { Tone::Warn } else { Tone::Plain };
    Span::new(format!("{}, {state}, {key}", other.name), tone)
}

/// What an approval changes beyond this key.
fn of_approval(candidate: &Candidate, deny_first: &[String]) -> Vec<String> {
    let mut notes = Vec::new();
    for former in deny_first {
        notes.push(format!(
            "{former}, approved by hand for this machine, will be denied, under any name, until a person says otherwise."
        ));
    }
    for rival in candidate.rivals.iter().filter(|rival| rival.is_trusted && !deny_first.contains(&rival.name))
    {
        notes.push(format!("{} is trusted for this machine now and will not be any more.", rival.name));
    }
    match candidate.machine {
        MachineMatch::Missing => {
            notes.push("no Machine has this id: the approval waits for it.".to_owned());
        }
        MachineMatch::NotNamed => {
            notes.push("the key names no machine: it is trusted for whatever machine holds it.".to_owned());
        }
        MachineMatch::NotVisible | MachineMatch::Found { .. } => {}
    }
    notes
}

fn of_denial(candidate: &Candidate) -> Vec<String> {
    let mut notes = end_of_trust(candidate);
    for namesake in &candidate.namesakes {
        notes.push(format!("{} is the same key and is denied with it.", namesake.name));
    }
    notes
}

fn of_revocation(candidate: &Candidate) -> Vec<String> {
    let Some(approval) = &candidate.approval else { return Vec::new() };
    match approval.decision {
        Decision::Approved => {
            let mut notes = end_of_trust(candidate);
            notes
                .push("without the approval the key is refused until a person approves it again.".to_owned());
            notes
        }
        Decision::Denied => {
            let elsewhere: Vec<_> = candidate
                .namesakes
                .iter()
                .filter(|namesake| namesake.decision == Some(Decision::Denied))
                .map(|namesake| namesake.name.as_str())
                .collect();
            vec![match elsewhere.as_slice() {
                [] => "the key stays refused until a person approves it.".to_owned(),
                names => format!("the key stays denied, as {}.", names.join(", ")),
            }]
        }
    }
}

/// A denial or a revocation of a key that is in use.
fn end_of_trust(candidate: &Candidate) -> Vec<String> {
    if !candidate.is_trusted() {
        return Vec::new();
    }
    let machine = match &candidate.uuid {
        Some(uuid) => format!("machine {uuid}"),
        None => "a machine that holds it".to_owned(),
    };
    vec![format!(
        "the key is trusted now: {machine} gets no disk key when it attests next, such as at its next boot."
    )]
}
