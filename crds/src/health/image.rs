//! Rules about ApprovedImages.

use super::{Context, Level, ROLLOUT, Say, Subject, created, explained, since, subject};
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
    let say = Say {
        reason: "NoApprovedImage",
        message: "no image is approved, so no machine can pass attestation yet".to_owned(),
        since: None,
        next: "kubectl explain approvedimage.spec".to_owned(),
    };
    context.found(Level::Info, object, say);
}

/// Whoever evaluates images has not come to it; that alone is no fault.
fn not_evaluated(context: &mut Context<'_, '_>, image: &ApprovedImage) {
    let object = subject(image);
    let say = Say {
        reason: reason::NOT_EVALUATED,
        message: "no controller has evaluated this image yet, so its measurements are not in force"
            .to_owned(),
        since: created(&image.metadata),
        next: format!("kubectl describe approvedimage {} -n {}", object.name, object.namespace),
    };
    context.found(Level::Info, object, say);
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
    let say = Say { reason: &committed.reason, message: explained(meaning, committed), since: began, next };
    context.found(level, object, say);
}
