//! Proves, before an approval by hand takes effect, that the admission policy which guards approvals is in
//! force: the API server is asked whether it would accept a forged one, as a dry run.

use std::time::Duration;

use kube::ResourceExt;
use kube::core::Status;
use trusted_crds::AttestationKey;

use super::build;
use super::situation::ByHand;
use crate::context::Context;
use crate::error::WriteError;
use crate::facts::Protection;
use crate::writer::Target;

/// A policy that was just applied takes about a third of a second to act.
const ATTEMPTS: u32 = 6;
const BETWEEN: Duration = Duration::from_millis(200);

/// Whether approvals by hand may take effect, proved on `key`.
pub async fn prove(ctx: &Context, key: &AttestationKey, fingerprint: &str) -> Result<ByHand, WriteError> {
    for attempt in 1..=ATTEMPTS {
        let patch = build::forged_approval_patch(fingerprint);
        match ctx.writer.try_patch::<AttestationKey>(Target::any_version(key), patch).await? {
            Err(refusal) if is_by_policy(&refusal) => {
                ctx.facts.set_approval_protected(Protection::Enforced);
                return Ok(ByHand::Protected);
            }
            Err(refusal) => return Err(WriteError::refused::<AttestationKey>(&key.name_any(), *refusal)),
            Ok(()) if attempt < ATTEMPTS => tokio::time::sleep(BETWEEN).await,
            Ok(()) => {}
        }
    }
    tracing::warn!(
        key = key.name_any(),
        "approvals by hand are not acted on: the admission policy that guards them is not in force here"
    );
    ctx.facts.set_approval_protected(Protection::PolicyMissing);
    Ok(ByHand::Unprotected)
}

/// A refusal by an admission policy names it in its causes; one for want of rights has none.
fn is_by_policy(refusal: &Status) -> bool {
    let causes = refusal.details.as_ref().map(|details| details.causes.as_slice()).unwrap_or_default();
    causes.iter().any(|cause| cause.message.contains("ValidatingAdmissionPolicy"))
}
