//! Errors of the operator, and the class of each, which decides how it is retried, logged and counted.

use std::fmt::{self, Display};

use kube::Resource;
use trusted_crds::names::{APPROVAL_POLICY, CLUSTER_POLICY, KEY_DELETION_POLICY, SECRET_POLICY};

/// What kind of failure a failed write is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// The world moved between the store's view and the write; the store will show how, and the next pass
    /// decides anew.
    Conflict,
    /// The namespace or the object is on its way out; nothing is to be written there.
    Terminating,
    /// A right is missing.
    Forbidden,
    /// The API server refused what was sent; repeating it cannot help, changing the input can.
    Invalid,
    /// The API server or the network failed for now.
    Transient,
}

impl Class {
    /// The word used in logs and metrics.
    pub const fn label(self) -> &'static str {
        match self {
            Class::Conflict => "conflict",
            Class::Terminating => "terminating",
            Class::Forbidden => "forbidden",
            Class::Invalid => "invalid",
            Class::Transient => "transient",
        }
    }
}

impl Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}

/// A write that did not happen.
#[derive(Debug, thiserror::Error)]
#[error("cannot {verb} {kind} {name}: {message}")]
pub struct WriteError {
    verb: &'static str,
    kind: String,
    name: String,
    message: String,
    class: Class,
}

impl WriteError {
    /// Says what failed, without anything of the object's content: the API server echoes values in some
    /// refusals, so of those only the reason is kept.
    pub(crate) fn of<K: Resource<DynamicType = ()>>(
        verb: &'static str,
        name: &str,
        error: kube::Error,
    ) -> Self {
        let (class, message) = classify(error);
        WriteError { verb, kind: K::kind(&()).into_owned(), name: name.to_owned(), message, class }
    }

    /// A dry run that was refused for want of rights.
    pub(crate) fn refused<K: Resource<DynamicType = ()>>(name: &str, refusal: kube::core::Status) -> Self {
        Self::of::<K>("dry-run patch", name, kube::Error::Api(refusal.boxed()))
    }

    /// How the failure is to be treated.
    pub fn class(&self) -> Class {
        self.class
    }
}

fn classify(error: kube::Error) -> (Class, String) {
    let kube::Error::Api(status) = error else {
        return (Class::Transient, with_sources(&error));
    };
    let causes = status.details.as_ref().map(|d| d.causes.as_slice()).unwrap_or_default();
    match status.code {
        403 if causes.iter().any(|c| c.reason == "NamespaceTerminating") => {
            (Class::Terminating, "the namespace is being deleted".into())
        }
        403 => (Class::Forbidden, forbidden(&status.message).to_owned()),
        404 | 409 => (Class::Conflict, format!("it has changed or is gone ({})", status.reason)),
        // A uid of the past is answered as an attempt to change an immutable field.
        422 if causes.iter().any(|c| c.field == "metadata.uid") => {
            (Class::Conflict, "another object has taken its name".into())
        }
        400 | 405 | 413 | 415 | 422 => {
            let fields: Vec<&str> = causes.iter().map(|c| c.field.as_str()).collect();
            (Class::Invalid, format!("refused as {} ({})", status.reason, fields.join(", ")))
        }
        code => (Class::Transient, format!("the API server answered {code} {}", status.reason)),
    }
}

/// What may be repeated of a refusal: the words of RBAC, of a quota and of our own policies, which hold no content.
/// Any other admission plug-in, policy or webhook may echo what it was sent.
fn forbidden(message: &str) -> &str {
    const OURS: [&str; 4] = [APPROVAL_POLICY, KEY_DELETION_POLICY, CLUSTER_POLICY, SECRET_POLICY];
    // In front of all of these stand the resource and perhaps a name; in front of a webhook's words, its own name.
    let why = match message.split_once(" is forbidden: ") {
        Some((what, why)) if what.split(' ').count() <= 2 => why,
        _ => "",
    };
    let by_rbac = why.strip_prefix("User \"").is_some_and(|rest| {
        rest.split_once("\" cannot ").is_some_and(|(_, rest)| {
            rest.split_once(' ').is_some_and(|(_verb, rest)| rest.starts_with("resource \""))
        })
    });
    let by_quota = why.starts_with("exceeded quota: ");
    let policy = why.strip_prefix("ValidatingAdmissionPolicy '").and_then(|rest| rest.split_once('\''));
    if by_rbac || by_quota || policy.is_some_and(|(name, _)| OURS.contains(&name)) {
        message
    } else {
        "refused by an admission plug-in or webhook (403 Forbidden)"
    }
}

pub(crate) fn with_sources(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}

/// Why one pass over one key failed.
#[derive(Debug, thiserror::Error)]
pub enum ReconcileError {
    /// A write failed.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The random source of the operating system failed.
    #[error("no random bytes from the operating system: {0}")]
    Random(String),
    /// An object could not be put into JSON; a programming error.
    #[error("cannot serialise: {0}")]
    Serialise(#[from] serde_json::Error),
}

impl ReconcileError {
    /// How the failure is to be treated.
    pub fn class(&self) -> Class {
        match self {
            ReconcileError::Write(error) => error.class(),
            ReconcileError::Random(_) => Class::Transient,
            ReconcileError::Serialise(_) => Class::Invalid,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::core::v1::Secret;
    use kube::core::Status;
    use kube::core::response::{StatusCause, StatusDetails};

    fn refused(code: u16, reason: &str, cause_reason: &str, field: &str) -> WriteError {
        let cause = StatusCause {
            reason: cause_reason.into(),
            message: "secret value echoed".into(),
            field: field.into(),
        };
        let details = StatusDetails {
            name: String::new(),
            group: String::new(),
            kind: String::new(),
            uid: String::new(),
            causes: vec![cause],
            retry_after_seconds: 0,
        };
        let status = Status {
            code,
            reason: reason.into(),
            message: "secret value echoed".into(),
            details: Some(details),
            ..Default::default()
        };
        WriteError::of::<Secret>("create", "luks-a", kube::Error::Api(status.boxed()))
    }

    #[test]
    fn each_refusal_has_its_class() {
        assert_eq!(refused(403, "Forbidden", "NamespaceTerminating", "").class(), Class::Terminating);
        assert_eq!(refused(403, "Forbidden", "", "").class(), Class::Forbidden);
        assert_eq!(refused(409, "Conflict", "", "").class(), Class::Conflict);
        assert_eq!(refused(404, "NotFound", "", "").class(), Class::Conflict);
        assert_eq!(refused(422, "Invalid", "", "metadata.uid").class(), Class::Conflict);
        assert_eq!(refused(422, "Invalid", "", "spec.ports").class(), Class::Invalid);
        assert_eq!(refused(503, "ServiceUnavailable", "", "").class(), Class::Transient);
    }

    fn refusal_to_create(message: &str) -> String {
        let status =
            Status { code: 403, reason: "Forbidden".into(), message: message.into(), ..Default::default() };
        WriteError::of::<Secret>("create", "luks-a", kube::Error::Api(status.boxed())).to_string()
    }

    #[test]
    fn a_refusal_is_repeated_only_where_it_cannot_echo_content() {
        let known = [
            r#"secrets is forbidden: User "bob" cannot create resource "secrets" in API group "" in the namespace "ns""#,
            r#"secrets "luks-a" is forbidden: exceeded quota: few, requested: secrets=1, used: secrets=9, limited: secrets=9"#,
            r#"secrets "luks-a" is forbidden: ValidatingAdmissionPolicy 'trusted-secret-protection' with binding 'trusted-secret-protection' denied request: ask somebody"#,
        ];
        for message in known {
            assert_eq!(refusal_to_create(message), format!("cannot create Secret luks-a: {message}"));
        }
        let unknown = [
            r#"admission webhook "x.example.com" denied the request: data hunter2"#,
            r#"admission webhook "x.example.com" denied the request: y is forbidden: data hunter2"#,
            r#"admission webhook "x.example.com" denied the request: y is forbidden: exceeded quota: hunter2"#,
            r#"admission webhook "x.example.com" denied the request: trusted-secret-protection says User "a" cannot create resource "hunter2""#,
            r#"secrets "luks-a" is forbidden: ValidatingAdmissionPolicy 'other' with binding 'b' denied request: hunter2 'trusted-secret-protection'"#,
            r#"secrets "luks-a" is forbidden: data hunter2 exceeded quota: "#,
            "hunter2",
        ];
        for message in unknown {
            assert_eq!(
                refusal_to_create(message),
                "cannot create Secret luks-a: refused by an admission plug-in or webhook (403 Forbidden)",
                "{message}"
            );
        }
    }

    #[test]
    fn an_invalid_object_is_named_without_its_values() {
        let text = refused(422, "Invalid", "FieldValueInvalid", "data.root").to_string();
        assert!(text.contains("Secret luks-a") && text.contains("data.root"), "{text}");
        assert!(!text.contains("secret value"), "{text}");
    }
}
