//! Writes decisions: one merge patch each, guarded by uid and resourceVersion.
//!
//! Owns the body of the patch and what a refusal means. A patch never lands on another object or another state
//! than the one that was shown: where only the status moved on meanwhile, the key is looked at again.

use k8s_openapi::api::authentication::v1::SelfSubjectReview;
use kube::Api;
use kube::api::{Patch, PatchParams, PostParams};
use kube::core::Status;
use serde_json::{Value, json};
use trusted_crds::{AttestationKey, Decision, PublicKey};

use super::action::Action;
use super::args::{DryRun, Request};
use super::judge::{self, Candidate, Refusal};
use crate::connect::Connection;
use crate::error::{Attempt, Class, Error, Result};

/// How audit logs and managedFields know what this program wrote.
const FIELD_MANAGER: &str = "kubectl-trusted";

/// Times to look again when only the operator's status came in between.
const ATTEMPTS: usize = 5;

/// What was decided, or why it was not.
type Decided<T> = std::result::Result<T, Refusal>;

/// What the API server answered.
type Answer<T> = std::result::Result<T, kube::Error>;

pub(crate) struct Writer {
    connection: Connection,
    keys: Api<AttestationKey>,
    parameters: PatchParams,
    is_dry: bool,
    action: Action,
    /// Who decides; nobody has to be named for taking a decision back.
    by: Option<String>,
    reason: Option<String>,
}

impl Writer {
    pub(crate) async fn new(connection: &Connection, request: &Request) -> Result<Writer> {
        let by = match request.action {
            Action::Approve | Action::Deny => Some(who(connection).await?),
            Action::Revoke => None,
        };
        let is_dry = request.dry_run == Some(DryRun::Server);
        Ok(Writer {
            keys: Api::namespaced(connection.client.clone(), &connection.namespace),
            connection: connection.clone(),
            parameters: PatchParams {
                dry_run: is_dry,
                field_manager: Some(FIELD_MANAGER.to_owned()),
                ..PatchParams::default()
            },
            is_dry,
            action: request.action,
            by,
            reason: request.reason.clone(),
        })
    }

    /// The generation that carries the decision; none where nothing was to be changed.
    pub(crate) async fn write(&self, candidate: &Candidate) -> Decided<Option<i64>> {
        let written = self.decide(candidate, self.action, self.reason.as_deref()).await?;
        Ok((!self.is_dry).then_some(written.metadata.generation.unwrap_or_default()))
    }

    /// Denies a former key of the machine.
    pub(crate) async fn replace(&self, former: &Candidate, successor: &str) -> Decided<()> {
        let reason = format!("replaced by AttestationKey {successor}");
        self.decide(former, Action::Deny, Some(&reason)).await.map(|_| ())
    }

    async fn decide(
        &self,
        candidate: &Candidate,
        action: Action,
        reason: Option<&str>,
    ) -> Decided<AttestationKey> {
        let approval = self.approval(candidate, action, reason)?;
        let mut version = candidate.resource_version.clone();
        for _ in 0..ATTEMPTS {
            let patch = Patch::Merge(json!({
                "metadata": {"uid": candidate.uid, "resourceVersion": version},
                "spec": {"approval": approval},
            }));
            let request = self.keys.patch(&candidate.name, &self.parameters, &patch);
            match self.timed(request).await? {
                Ok(written) => return Ok(written),
                Err(kube::Error::Api(status)) if is_conflict(&status) => {
                    version = self.look_again(candidate).await?;
                }
                Err(error) => return Err(self.refusal(candidate, &error)),
            }
        }
        Err(Refusal::new(
            "Conflict",
            "the object changes faster than it can be decided about; nothing was changed",
        )
        .next(format!("kubectl get attestationkey {} -n {} --watch", candidate.name, candidate.namespace)))
    }

    /// What is written. An absent reason is null: a merge would keep that of a former decision.
    fn approval(&self, candidate: &Candidate, action: Action, reason: Option<&str>) -> Decided<Value> {
        let decision = match action {
            Action::Approve => Decision::Approved,
            Action::Deny => Decision::Denied,
            Action::Revoke => return Ok(Value::Null),
        };
        let Some(fingerprint) = candidate.fingerprint() else {
            return Err(Refusal::new("InvalidKey", "the key has no fingerprint"));
        };
        Ok(json!({"decision": decision, "fingerprint": fingerprint, "by": self.by, "reason": reason}))
    }

    /// The deadline of `--request-timeout`, with the answer of the API server left as it is.
    async fn timed<T>(&self, request: impl Future<Output = Answer<T>>) -> Decided<Answer<T>> {
        let Some(limit) = self.connection.request_timeout else { return Ok(request.await) };
        tokio::time::timeout(limit, request).await.map_err(|_| {
            let message = format!(
                "{} did not answer within {} s; whether the {} was recorded is not known",
                self.connection.url,
                limit.as_secs_f64(),
                self.action.noun()
            );
            Refusal::new("Timeout", message)
                .next("run the same command again: what was done already stays as it is")
        })
    }

    /// The version to try next, if the key and the decision about it still are those that were shown.
    async fn look_again(&self, candidate: &Candidate) -> Decided<String> {
        let found = match self.timed(self.keys.get(&candidate.name)).await? {
            Ok(found) => found,
            Err(error) => return Err(self.refusal(candidate, &error)),
        };
        let fingerprint =
            PublicKey::from_pem(&found.spec.public_key).ok().map(|key| key.fingerprint().clone());
        let is_same = found.metadata.uid.as_deref() == Some(candidate.uid.as_str())
            && fingerprint.as_ref() == candidate.fingerprint()
            && found.spec.uuid == candidate.uuid
            && found.spec.approval == candidate.approval
            && found.metadata.deletion_timestamp.is_none();
        if is_same {
            Ok(found.metadata.resource_version.unwrap_or_default())
        } else {
            Err(self.changed(candidate))
        }
    }

    fn refusal(&self, candidate: &Candidate, error: &kube::Error) -> Refusal {
        let namespace = &candidate.namespace;
        if let kube::Error::Api(status) = error {
            if status.code == 404 && !status.details.as_ref().is_none_or(|details| details.name.is_empty()) {
                return self.changed(candidate);
            }
            if let Some(policy) = refused_by_policy(status) {
                let can_i = format!(
                    "kubectl auth can-i approve attestationkeys.trusted-execution-clusters.io -n {namespace}"
                );
                return Refusal::new(
                    "ForbiddenByPolicy",
                    format!("an admission policy refuses it: {policy}"),
                )
                .next(can_i);
            }
        }
        let attempt = Attempt::on::<AttestationKey>("patch", Some(namespace)).named(&candidate.name);
        let error = attempt.failed(error, &self.connection.url);
        let message = match &error.why {
            Some(why) => format!("{}: {why}", error.what),
            None => error.what.clone(),
        };
        let next = match error.class {
            Class::Forbidden => Some(format!(
                "ask an administrator for the Role trusted-approver in namespace {namespace} (deploy/rbac)"
            )),
            _ => error.next,
        };
        Refusal { reason: error.class.word(), message, next }
    }

    fn changed(&self, candidate: &Candidate) -> Refusal {
        let message = format!(
            "the AttestationKey has changed since it was shown: somebody decided on it meanwhile, or it was replaced; \
             nothing was {} by this",
            self.action.done()
        );
        Refusal::new("Changed", message).next(judge::command(candidate, self.action, &[]))
    }
}

/// By which name the API server knows this person: the decision has to carry it.
async fn who(connection: &Connection) -> Result<String> {
    let reviews: Api<SelfSubjectReview> = Api::all(connection.client.clone());
    let attempt = Attempt::new("create", "selfsubjectreviews.authentication.k8s.io");
    let review = SelfSubjectReview::default();
    let answer = connection.ask(&attempt, reviews.create(&PostParams::default(), &review)).await?;
    let user = answer.status.and_then(|status| status.user_info).and_then(|info| info.username);
    user.ok_or_else(|| {
        Error::new(
            Class::Server,
            "the API server does not say who you are, and a decision has to name somebody",
        )
    })
}

/// A wrong uid is answered with 422 on metadata.uid where the version still matches.
fn is_conflict(status: &Status) -> bool {
    let names_uid = || {
        let causes = status.details.iter().flat_map(|details| &details.causes);
        causes.into_iter().any(|cause| cause.field == "metadata.uid")
    };
    status.code == 409 || (status.code == 422 && names_uid())
}

/// RBAC refuses without causes; a policy puts its message into them.
fn refused_by_policy(status: &Status) -> Option<String> {
    let causes = &status.details.as_ref()?.causes;
    let messages: Vec<_> =
        causes.iter().map(|cause| cause.message.as_str()).filter(|text| !text.is_empty()).collect();
    (status.code == 403 && !messages.is_empty()).then(|| messages.join("; "))
}
