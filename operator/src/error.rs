//! Errors of the operator, and the class of each, which decides how it is retried, logged and counted.

use std::fmt::{self, Display};

use cachelib::Cause;
use kube::Resource;
use kube::core::Status;
use trusted_crds::names::{APPROVAL_POLICY, CLUSTER_POLICY, KEY_DELETION_POLICY, SECRET_POLICY};

/// What installs everything a cluster needs for us.
pub(crate) const INSTALL: &str = "kubectl apply -k deploy";

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
    /// The namespace or the kind that was to be written to does not exist; somebody has to make it.
    Missing,
    /// The API server does not know us.
    Unauthenticated,
    /// The lease is no longer surely ours: another operator may be working. Nothing was sent.
    NotLeading,
    /// Something was to be taken away on the word of a store that may be behind. Nothing was sent.
    Behind,
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
            Class::Missing => "missing",
            Class::Unauthenticated => "unauthenticated",
            Class::NotLeading => "not_leading",
            Class::Behind => "behind",
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
        error: &kube::Error,
    ) -> Self {
        let (class, message) = classify::<K>(verb, error);
        WriteError { verb, kind: K::kind(&()).into_owned(), name: name.to_owned(), message, class }
    }

    /// A write that was not sent, since another operator may be working.
    pub(crate) fn not_leading<K: Resource<DynamicType = ()>>(verb: &'static str, name: &str) -> Self {
        WriteError {
            verb,
            kind: K::kind(&()).into_owned(),
            name: name.to_owned(),
            message: "the lease has run out; another operator may be working".to_owned(),
            class: Class::NotLeading,
        }
    }

    /// A write that was not sent, since it would take something away and `store` may be behind.
    pub(crate) fn behind<K: Resource<DynamicType = ()>>(verb: &'static str, name: &str, store: &str) -> Self {
        WriteError {
            verb,
            kind: K::kind(&()).into_owned(),
            name: name.to_owned(),
            message: format!("nothing is taken away while it is not known what there is ({store})"),
            class: Class::Behind,
        }
    }

    /// A write that was not sent, since it would rest on an object that is being deleted.
    pub(crate) fn leaving<K: Resource<DynamicType = ()>>(verb: &'static str, name: &str) -> Self {
        WriteError {
            verb,
            kind: K::kind(&()).into_owned(),
            name: name.to_owned(),
            message: "it is being deleted".to_owned(),
            class: Class::Conflict,
        }
    }

    /// A dry run that was refused for want of rights.
    pub(crate) fn refused<K: Resource<DynamicType = ()>>(name: &str, refusal: Status) -> Self {
        Self::of::<K>("dry-run patch", name, &kube::Error::Api(refusal.boxed()))
    }

    /// How the failure is to be treated.
    pub fn class(&self) -> Class {
        self.class
    }
}

fn classify<K: Resource<DynamicType = ()>>(verb: &str, error: &kube::Error) -> (Class, String) {
    let known = match error {
        kube::Error::Api(status) => of_status(status),
        _ => None,
    };
    let resource = || format!("{}.{}", K::plural(&()), K::group(&()));
    known.unwrap_or_else(|| of_cause(&Cause::of(error, verb, resource().trim_end_matches('.'), None)))
}

/// Answers that mean something else for a write than for other requests.
fn of_status(status: &Status) -> Option<(Class, String)> {
    let causes = status.details.as_ref().map(|d| d.causes.as_slice()).unwrap_or_default();
    Some(match status.code {
        403 if causes.iter().any(|c| c.reason == "NamespaceTerminating") => {
            (Class::Terminating, "the namespace is being deleted".into())
        }
        403 => (Class::Forbidden, forbidden(&status.message).to_owned()),
        404 => not_found(status),
        409 => (Class::Conflict, format!("it has changed ({})", status.reason)),
        // A uid of the past is answered as an attempt to change an immutable field.
        422 if causes.iter().any(|c| c.field == "metadata.uid") => {
            (Class::Conflict, "another object has taken its name".into())
        }
        400 | 405 | 413 | 415 | 422 => {
            let fields: Vec<&str> = causes.iter().map(|c| c.field.as_str()).collect();
            (Class::Invalid, format!("refused as {} ({})", status.reason, fields.join(", ")))
        }
        _ => return None,
    })
}

/// An object that is gone is told apart from a place for it that does not exist, which no later pass can mend.
fn not_found(status: &Status) -> (Class, String) {
    match &status.details {
        Some(details) if details.kind == "namespaces" => {
            let text = format!("namespace {} does not exist; create it, or serve another one", details.name);
            (Class::Missing, text)
        }
        Some(details) if !details.name.is_empty() => (Class::Conflict, "it is gone".into()),
        _ => {
            let text = format!("{}; apply the CustomResourceDefinitions ({INSTALL})", Cause::NotInstalled);
            (Class::Missing, text)
        }
    }
}

fn of_cause(cause: &Cause) -> (Class, String) {
    match cause {
        Cause::Unauthenticated(_) => {
            (Class::Unauthenticated, format!("{cause}. Renew the token or certificate"))
        }
        _ => (Class::Transient, cause.to_string()),
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
        WriteError::of::<Secret>("create", "luks-a", &kube::Error::Api(status.boxed()))
    }

    #[test]
    fn each_refusal_has_its_class() {
        assert_eq!(refused(403, "Forbidden", "NamespaceTerminating", "").class(), Class::Terminating);
        assert_eq!(refused(403, "Forbidden", "", "").class(), Class::Forbidden);
        assert_eq!(refused(409, "Conflict", "", "").class(), Class::Conflict);
        assert_eq!(refused_on("secrets", "luks-a", 404).class(), Class::Conflict);
        assert_eq!(refused(422, "Invalid", "", "metadata.uid").class(), Class::Conflict);
        assert_eq!(refused(422, "Invalid", "", "spec.ports").class(), Class::Invalid);
        assert_eq!(refused(503, "ServiceUnavailable", "", "").class(), Class::Transient);
    }

    fn refused_on(kind: &str, name: &str, code: u16) -> WriteError {
        let details = serde_json::json!({ "kind": kind, "name": name });
        let status = Status {
            code,
            reason: "NotFound".into(),
            details: serde_json::from_value(details).unwrap(),
            ..Default::default()
        };
        WriteError::of::<Secret>("create", "luks-a", &kube::Error::Api(status.boxed()))
    }

    #[test]
    fn a_place_that_does_not_exist_is_no_conflict() {
        let namespace = refused_on("namespaces", "west", 404);
        assert_eq!(namespace.class(), Class::Missing);
        assert_eq!(
            namespace.to_string(),
            "cannot create Secret luks-a: namespace west does not exist; create it, or serve another one"
        );
        for error in [refused_on("secrets", "", 404), refused(404, "NotFound", "", "")] {
            assert_eq!(error.class(), Class::Missing);
            assert!(error.to_string().contains("not installed"), "{error}");
        }
    }

    #[test]
    fn failures_without_an_answer_have_words_of_their_own_and_no_content() {
        let of = |error: &kube::Error| {
            let error = WriteError::of::<Secret>("create", "luks-a", error);
            (error.class(), error.to_string())
        };
        let broken = serde_json::from_str::<Vec<u8>>("[\"hunter2\"]").unwrap_err();
        let (class, text) = of(&kube::Error::SerdeError(broken));
        assert_eq!(class, Class::Transient);
        assert!(text.contains("malformed") && !text.contains("hunter2"), "{text}");
        let away = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
        let (class, text) = of(&kube::Error::Service(Box::new(away)));
        assert_eq!((class, text.contains("unreachable")), (Class::Transient, true), "{text}");
        let (class, text) = of(&kube::Error::Auth(kube::client::AuthError::AuthExec("no token".into())));
        assert_eq!((class, text.contains("not authenticated")), (Class::Unauthenticated, true), "{text}");
        assert_eq!(refused(401, "Unauthorized", "", "").class(), Class::Unauthenticated);
    }

    fn refusal_to_create(message: &str) -> String {
        let status =
            Status { code: 403, reason: "Forbidden".into(), message: message.into(), ..Default::default() };
        WriteError::of::<Secret>("create", "luks-a", &kube::Error::Api(status.boxed())).to_string()
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
