//! Proves, before an approval by hand takes effect, that the admission policy which guards approvals is in
//! force: the API server is asked whether it would accept a forged one, as a dry run.

use std::time::Duration;

use kube::ResourceExt;
use kube::core::Status;
use tokio::sync::Mutex;
use tokio::time::Instant;
use trusted_crds::AttestationKey;
use trusted_crds::names::APPROVAL_POLICY;

use super::build;
use super::situation::ByHand;
use crate::context::Context;
use crate::error::WriteError;
use crate::facts::Protection;
use crate::writer::Target;

/// How often to ask again whether a missing policy has been installed.
pub const ASK_AGAIN: Duration = Duration::from_secs(10);
/// A policy that was just applied takes about a third of a second to act.
const ATTEMPTS: u32 = 6;
const BETWEEN: Duration = Duration::from_millis(200);

/// Asks for all keys, one at a time, and no more often than is of use.
#[derive(Debug, Default)]
pub struct Prober {
    /// When the policy was last found missing.
    missing_since: Mutex<Option<Instant>>,
}

impl Prober {
    /// Whether approvals by hand may take effect, proved on `key`.
    pub async fn prove(
        &self,
        ctx: &Context,
        key: &AttestationKey,
        fingerprint: &str,
    ) -> Result<ByHand, WriteError> {
        let mut missing_since = self.missing_since.lock().await;
        if missing_since.is_some_and(|since| since.elapsed() < ASK_AGAIN) {
            return Ok(ByHand::Unprotected);
        }
        let attempts = if missing_since.is_some() { 1 } else { ATTEMPTS };
        let protected = is_forgery_refused(ctx, key, fingerprint, attempts).await?;
        *missing_since = (!protected).then(Instant::now);
        if protected {
            ctx.facts.set_approval_protected(Protection::Enforced);
            return Ok(ByHand::Protected);
        }
        tracing::warn!(
            key = key.name_any(),
            "approvals by hand are not acted on: the admission policy that guards them is not in force here"
        );
        ctx.facts.set_approval_protected(Protection::PolicyMissing);
        Ok(ByHand::Unprotected)
    }
}

async fn is_forgery_refused(
    ctx: &Context,
    key: &AttestationKey,
    fingerprint: &str,
    attempts: u32,
) -> Result<bool, WriteError> {
    for attempt in 1..=attempts {
        let patch = build::forged_approval_patch(fingerprint);
        match ctx.writer.try_patch::<AttestationKey>(Target::any_version(key), patch).await? {
            Err(refusal) if is_by_policy(&refusal) => return Ok(true),
            Err(refusal) => return Err(WriteError::refused::<AttestationKey>(&key.name_any(), *refusal)),
            Ok(()) if attempt < attempts => tokio::time::sleep(BETWEEN).await,
            Ok(()) => {}
        }
    }
    Ok(false)
}

/// A refusal by an admission policy names it in its causes; one for want of rights has none.
fn is_by_policy(refusal: &Status) -> bool {
    let causes = refusal.details.as_ref().map(|details| details.causes.as_slice()).unwrap_or_default();
    // A kustomization may have put a prefix before the name.
    causes.iter().any(|cause| {
        cause.message.contains("ValidatingAdmissionPolicy") && cause.message.contains(APPROVAL_POLICY)
    })
}
