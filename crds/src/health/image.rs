//! Rules about ApprovedImages.

use super::{Context, Finding, Level, ROLLOUT, Subject, created, explained, since, subject};
use crate::condition::{self, COMMITTED};
use crate::{ApprovedImage, Condition, HasConditions, Status, reason};

pub(super) fn judge(context: &mut Context<'_, '_>) {
    let Some(images) = context.view.approved_images.clone() else { return };
    if images.is_empty() && context.view.clusters.as_ref().is_some_and(|clusters| !clusters.is_empty()) {
        none(context);
    }
    for image in images {
        match image.condition(COMMITTED) {
            None => not_evaluated(context, image),
            Some(committed) if condition::has_status(committed, Status::True) => {}
            Some(committed) => not_committed(context, image, committed),
        }
    }
}

pub(super) fn is_committed(image: &ApprovedImage) -> bool {
    condition::is_true(image.conditions(), COMMITTED)
}

/// A fresh cluster has none, and that is no fault; but nobody should be surprised that nothing attests.
fn none(context: &mut Context<'_, '_>) {
    let namespace = context.namespace().to_owned();
    let object = Subject { kind: "Namespace".to_owned(), namespace: namespace.clone(), name: namespace };
    let message = "no image is approved, so no machine can pass attestation yet";
    let next = "kubectl explain approvedimage.spec";
    context.found(Finding::new(Level::Info, object, "NoApprovedImage", message, next));
}

/// Whoever evaluates images has not come to it; that alone is no fault.
fn not_evaluated(context: &mut Context<'_, '_>, image: &ApprovedImage) {
    let object = subject(image);
    let message = "no controller has evaluated this image yet, so its measurements are not in force";
    let next = format!("kubectl describe approvedimage {} -n {}", object.name, object.namespace);
    let finding = Finding::new(Level::Info, object, reason::NOT_EVALUATED, message, next);
    context.found(finding.since(created(&image.metadata)));
}

fn not_committed(context: &mut Context<'_, '_>, image: &ApprovedImage, committed: &Condition) {
    let object = subject(image);
    let began = since(committed);
    let describe = format!("kubectl describe approvedimage {} -n {}", object.name, object.namespace);
    let (level, meaning, next) = match committed.reason.as_str() {
        reason::COMPUTING => (context.level_after(began, ROLLOUT), "the image is being measured", describe),
        reason::POD_PENDING => (
            context.level_after(began, ROLLOUT),
            "the pod that measures the image cannot start",
            format!("kubectl get pods -n {}", object.namespace),
        ),
        _ => (Level::Warning, "machines that run this image cannot attest", describe),
    };
    let message = explained(meaning, committed);
    context.found(Finding::new(level, object, &committed.reason, message, next).since(began));
}
