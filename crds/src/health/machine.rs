//! Rules about Machines. What a finding about one of its keys says already is not said again.

use super::{
    Context, FIRST_BOOT, Finding, Level, SETTLING, created, explained, operator_log, since, subject,
    unanswered,
};
use crate::condition::{self, ATTESTATION_KEY_BOUND, KEY_READY, has_status};
use crate::names::disk_key_secret;
use crate::{Condition, Delivered, DiskKeyRetention, Fingerprint, HasConditions, Machine, Status, reason};

pub(super) fn judge(context: &mut Context<'_, '_>) {
    for machine in context.view.machines.clone().into_iter().flatten() {
        if machine.conditions().is_empty() {
            unjudged(context, machine);
            continue;
        }
        match machine.condition(KEY_READY).filter(|ready| has_status(ready, Status::False)) {
            Some(ready) => no_disk_key(context, machine, ready),
            None => attestation(context, machine, machine.condition(ATTESTATION_KEY_BOUND)),
        }
    }
}

/// Whether the operator has done its part for the machine.
pub(super) fn is_ready(machine: &Machine) -> bool {
    let is_true = |type_| condition::is_true(machine.conditions(), type_);
    is_true(KEY_READY) && is_true(ATTESTATION_KEY_BOUND)
}

/// Whether Trustee's template mounts the disk key and the bound attestation key of the machine.
pub(super) fn is_mounted(delivered: &Delivered, machine: &Machine) -> bool {
    delivered.has_disk_key(&machine.spec.id)
        && bound(machine).is_some_and(|fingerprint| delivered.has_key(&fingerprint))
}

fn bound(machine: &Machine) -> Option<Fingerprint> {
    machine.status.as_ref()?.attestation_key.as_ref()?.fingerprint.parse().ok()
}

fn unjudged(context: &mut Context<'_, '_>, machine: &Machine) {
    let made = created(&machine.metadata);
    if context.is_overdue(made, SETTLING) && !context.has_no_cluster && !context.is_unanswered {
        context.found(unanswered(Level::Warning, subject(machine), made));
    }
}

fn no_disk_key(context: &mut Context<'_, '_>, machine: &Machine, ready: &Condition) {
    let object = subject(machine);
    let namespace = &object.namespace;
    let id = &machine.spec.id;
    let (meaning, next) = match ready.reason.as_str() {
        reason::DUPLICATE_ID => {
            duplicate(context, machine, ready);
            return;
        }
        reason::FOREIGN_SECRET => (
            "the machine has no disk key, since a Secret that is not the operator's has its name",
            format!("kubectl describe secret {} -n {namespace}", disk_key_secret(id)),
        ),
        // Said once for the namespace.
        reason::AWAITING_CLUSTER => return,
        _ => (
            "the machine has no disk key",
            format!("kubectl describe machines.trusted-execution-clusters.io {} -n {namespace}", object.name),
        ),
    };
    let message = explained(meaning, ready);
    let finding = Finding::new(Level::Warning, object, &ready.reason, message, next);
    context.found(finding.since(since(ready)));
}

/// The operator's words leave open which of the two may go; the wrong one may take the disk key with it.
fn duplicate(context: &mut Context<'_, '_>, machine: &Machine, ready: &Condition) {
    let object = subject(machine);
    let is_served = |other: &&&Machine| {
        let ready = other.condition(KEY_READY);
        other.spec.id == machine.spec.id
            && other.metadata.uid != machine.metadata.uid
            && ready.is_some_and(|ready| ready.reason != reason::DUPLICATE_ID)
    };
    let served = context.view.machines.iter().flatten().find(is_served);
    let served = served.and_then(|served| served.metadata.name.as_deref());
    let retention =
        super::served(context.view).map_or(DiskKeyRetention::Delete, |cluster| cluster.spec.retention());
    let (message, next) = match served {
        Some(served) => {
            let warning = match retention {
                DiskKeyRetention::Delete => ": deleting that one takes its disk key with it",
                DiskKeyRetention::Retain => "",
            };
            let message = format!(
                "Machine {served} has the same id and is served{warning}. This one has no disk key and can be deleted"
            );
            (
                message,
                format!(
                    "kubectl delete machines.trusted-execution-clusters.io {} -n {}",
                    object.name, object.namespace
                ),
            )
        }
        None => (
            "another Machine has the same id, so this one is not served".to_owned(),
            format!(
                "kubectl get machines.trusted-execution-clusters.io -n {} --field-selector spec.id={}",
                object.namespace, machine.spec.id
            ),
        ),
    };
    let finding = Finding::new(Level::Warning, object, &ready.reason, message, next);
    context.found(finding.since(since(ready)));
}

fn attestation(context: &mut Context<'_, '_>, machine: &Machine, bound: Option<&Condition>) {
    let Some(bound) = bound else { return };
    if has_status(bound, Status::True) {
        not_delivered(context, machine, bound);
        return;
    }
    if is_told_by_a_key(context, machine) {
        return;
    }
    let object = subject(machine);
    let began = since(bound);
    let namespace = &object.namespace;
    let (level, meaning, next) = match bound.reason.as_str() {
        reason::NO_KEY => (
            context.level_after(began, FIRST_BOOT),
            "the machine has not registered an attestation key: it has not booted, or cannot reach the cluster",
            format!(
                "kubectl get attestationkeys -n {namespace} --field-selector spec.uuid={}",
                machine.spec.id
            ),
        ),
        reason::AWAITING_APPROVAL => (
            Level::Warning,
            "the key of the machine waits for a person to approve it",
            format!(
                "kubectl get attestationkeys -n {namespace} --field-selector spec.uuid={}",
                machine.spec.id
            ),
        ),
        _ => (
            Level::Warning,
            "no key is bound to the machine, so it cannot attest",
            format!("kubectl describe machines.trusted-execution-clusters.io {} -n {namespace}", object.name),
        ),
    };
    let message = explained(meaning, bound);
    context.found(Finding::new(level, object, &bound.reason, message, next).since(began));
}

fn is_told_by_a_key(context: &Context<'_, '_>, machine: &Machine) -> bool {
    context.told_by_keys.contains(machine.spec.id.as_str())
}

/// Bound, and yet not in Trustee for longer than a window and a rollout take.
fn not_delivered(context: &mut Context<'_, '_>, machine: &Machine, bound: &Condition) {
    let Some(delivered) = &context.delivered else { return };
    if is_mounted(delivered, machine)
        || !context.is_overdue(since(bound), SETTLING)
        || is_told_by_a_key(context, machine)
        || context.lacks_trustee
    {
        return;
    }
    let object = subject(machine);
    let message = "Trustee does not have the machine's keys: it cannot unlock its disk";
    let next = operator_log(&object.namespace);
    let finding = Finding::new(Level::Warning, object, "NotDelivered", message, next);
    context.found(finding.since(since(bound)));
}
