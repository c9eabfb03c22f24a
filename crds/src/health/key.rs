//! Rules about AttestationKeys. What a person decided (Denied, Superseded, Withdrawn) is no fault and no finding.

use super::{
    Context, FIRST_BOOT, Finding, Level, SETTLING, Subject, created, explained, operator_log, since, subject,
    told, unanswered,
};
use crate::condition::{APPROVED, has_status};
use crate::names::{binding_secret, binding_secret_without_machine, is_label};
use crate::{AttestationKey, Condition, Decision, Fingerprint, HasConditions, KeyState, Status, reason};

pub(super) fn judge(context: &mut Context<'_, '_>) {
    for key in context.view.attestation_keys.clone().into_iter().flatten() {
        let before = context.findings.len();
        match key.condition(APPROVED) {
            None => unjudged(context, key),
            Some(approved) if has_status(approved, Status::True) => trusted(context, key, approved),
            Some(approved) => refused(context, key, approved),
        }
        if context.findings.len() > before {
            context.told_by_keys.extend(key.spec.uuid.as_deref());
        }
    }
}

/// The fingerprint, worked out from the key itself.
pub(super) fn fingerprint(key: &AttestationKey) -> Option<Fingerprint> {
    key.public_key().ok().map(|key| key.fingerprint().clone())
}

fn is_approved_by_hand(key: &AttestationKey) -> bool {
    key.spec.approval.as_ref().is_some_and(|approval| approval.decision == Decision::Approved)
}

fn unjudged(context: &mut Context<'_, '_>, key: &AttestationKey) {
    let made = created(&key.metadata);
    if context.is_overdue(made, SETTLING) && !context.has_no_cluster && !context.is_unanswered {
        context.found(unanswered(Level::Warning, subject(key), made));
    }
}

/// A trusted key that Trustee does not have is of no use to its machine.
fn trusted(context: &mut Context<'_, '_>, key: &AttestationKey, approved: &Condition) {
    let Some(delivered) = &context.delivered else { return };
    let Some(fingerprint) = fingerprint(key) else { return };
    let trusted_since = since(approved);
    if context.lacks_trustee
        || delivered.has_key(&fingerprint)
        || !context.is_overdue(trusted_since, SETTLING)
    {
        return;
    }
    let object = subject(key);
    let message = "the key is trusted, but Trustee does not have it: its machine cannot attest";
    let next = operator_log(&object.namespace);
    let finding = Finding::new(Level::Warning, object, "NotDelivered", message, next);
    context.found(finding.since(trusted_since));
}

fn refused(context: &mut Context<'_, '_>, key: &AttestationKey, approved: &Condition) {
    let object = subject(key);
    let began = since(approved);
    let (name, namespace) = (object.name.clone(), object.namespace.clone());
    let approve = |more: &str| format!("kubectl trusted approve-ak {name} -n {namespace}{more}");
    let (level, meaning, next) = match approved.reason.as_str() {
        reason::AWAITING_APPROVAL if is_approved_by_hand(key) => (
            Level::Warning,
            "a person approved the key, and the approval has no effect so far",
            format!("kubectl describe attestationkey {name} -n {namespace}"),
        ),
        reason::AWAITING_APPROVAL => {
            (Level::Warning, "the key waits for a person to approve it", approve(""))
        }
        reason::CONFLICT => (
            Level::Warning,
            "the key is not trusted, because another one came first: a replaced TPM, or somebody else's key",
            // Shows both keys side by side and changes nothing.
            approve(" --dry-run=client"),
        ),
        reason::FOREIGN_SECRET => (
            Level::Warning,
            "the key is not trusted, since a Secret that is not the operator's has the name of its binding",
            format!("kubectl describe secret {} -n {namespace}", binding_secret_of(key)),
        ),
        reason::APPROVAL_MISMATCH => {
            (Level::Warning, "the approval is of another key than this one, so it has no effect", approve(""))
        }
        reason::INVALID_KEY => (Level::Warning, "the key cannot be used", delete(&object)),
        reason::AWAITING_MACHINE => (
            context.level_after(began, FIRST_BOOT),
            "the key waits for its machine to be registered",
            format!("kubectl get machines.trusted-execution-clusters.io -n {namespace}"),
        ),
        reason::DENIED | reason::SUPERSEDED | reason::WITHDRAWN | reason::AWAITING_CLUSTER => return,
        _ => (
            Level::Warning,
            "the key is not trusted",
            format!("kubectl describe attestationkey {name} -n {namespace}"),
        ),
    };
    let message = match approved.reason.as_str() {
        reason::INVALID_KEY => told(meaning, approved),
        _ => explained(meaning, approved),
    };
    let finding = Finding::new(level, object, &approved.reason, message, next).since(began);
    let finding = if approved.reason == reason::CONFLICT { ways_out(context, key, finding) } else { finding };
    context.found(finding);
}

fn binding_secret_of(key: &AttestationKey) -> String {
    match (key.spec.uuid.as_deref().filter(|uuid| is_label(uuid)), fingerprint(key)) {
        (Some(id), _) => binding_secret(id),
        (None, Some(fingerprint)) => binding_secret_without_machine(&fingerprint),
        (None, None) => String::new(),
    }
}

fn delete(object: &Subject) -> String {
    format!("kubectl delete attestationkey {} -n {}", object.name, object.namespace)
}

/// A conflict is ended by a person, one way or the other. Refusing is a denial, since a deleted key would come back with
/// its machine; but a denial holds for the key under any name, so that a copy of a trusted key must not be denied.
fn ways_out(context: &Context<'_, '_>, key: &AttestationKey, finding: Finding) -> Finding {
    let Some(fingerprint) = fingerprint(key) else { return finding };
    let others = || {
        let is_other = |other: &&&AttestationKey| other.metadata.name != key.metadata.name;
        context.view.attestation_keys.iter().flatten().filter(is_other)
    };
    if others().any(|other| {
        KeyState::of(other) == KeyState::Trusted && self::fingerprint(other) == Some(fingerprint.clone())
    }) {
        let command = delete(&finding.object);
        return finding.choice("To remove this copy of a trusted key", command);
    }
    let chosen_by_hand = others().any(|other| other.spec.uuid == key.spec.uuid && is_approved_by_hand(other));
    let Subject { name, namespace, .. } = &finding.object;
    let replace = if chosen_by_hand { " --replace" } else { "" };
    let trust = format!("kubectl trusted approve-ak {name} -n {namespace}{replace}");
    let refuse = format!("kubectl trusted deny-ak {name} -n {namespace}");
    finding.choice("To refuse it for good", refuse).choice("To trust it instead", trust)
}
