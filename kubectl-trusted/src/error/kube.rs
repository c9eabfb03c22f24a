//! What the API server or the way to it answered, in words that name the attempt.
//!
//! Owns the mapping from kube's errors. A message of the API server is repeated as it is; it never holds key
//! bytes, since the validation rules are written so.

use std::error::Error as _;

use kube::core::Status;

use super::{Class, Error};
use crate::connect::Connection;

/// A request as people and RBAC rules name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Attempt {
    pub(crate) verb: &'static str,
    /// `machines.trusted-execution-clusters.io`, or a path.
    pub(crate) resource: String,
    pub(crate) namespace: Option<String>,
    pub(crate) name: Option<String>,
}

impl Attempt {
    pub(crate) fn new(verb: &'static str, resource: impl Into<String>) -> Attempt {
        Attempt { verb, resource: resource.into(), namespace: None, name: None }
    }

    /// An attempt on a kind of ours or of Kubernetes.
    pub(crate) fn on<K: kube::Resource<DynamicType = ()>>(
        verb: &'static str,
        namespace: Option<&str>,
    ) -> Attempt {
        let (plural, group) = (K::plural(&()), K::group(&()));
        let resource = if group.is_empty() { plural.into_owned() } else { format!("{plural}.{group}") };
        Attempt { verb, resource, namespace: namespace.map(str::to_owned), name: None }
    }

    #[must_use]
    pub(crate) fn named(mut self, name: &str) -> Attempt {
        self.name = Some(name.to_owned());
        self
    }

    /// `list machines.x in namespace "a"`, as a right is asked for.
    pub(crate) fn need(&self) -> String {
        let name = self.name.as_ref().map(|name| format!(" \"{name}\"")).unwrap_or_default();
        match &self.namespace {
            Some(namespace) => format!("{} {}{name} in namespace \"{namespace}\"", self.verb, self.resource),
            None if self.resource.starts_with('/') => format!("{} {}", self.verb, self.resource),
            None => format!("{} {}{name} in all namespaces", self.verb, self.resource),
        }
    }

    /// The command that shows whether the right is there.
    pub(crate) fn can_i(&self) -> String {
        let place = match &self.namespace {
            Some(namespace) => format!(" -n {namespace}"),
            None if self.resource.starts_with('/') => String::new(),
            None => " -A".to_owned(),
        };
        format!("kubectl auth can-i {} {}{place}", self.verb, self.resource)
    }

    /// The error of this attempt.
    pub(crate) fn failed(&self, error: kube::Error, connection: &Connection) -> Error {
        match error {
            kube::Error::Api(status) => self.refused(&status),
            kube::Error::SerdeError(error) => {
                Error::new(Class::Server, format!("The answer to {} cannot be understood", self.need()))
                    .why(error.to_string())
                    .next("compare the versions of this plug-in, of the CRDs and of the API server")
            }
            other => unreachable(&other, &connection.url),
        }
    }

    /// The deadline of `--request-timeout` passed.
    pub(crate) fn too_slow(&self, connection: &Connection) -> Error {
        let seconds = connection.request_timeout.map(|limit| limit.as_secs_f64()).unwrap_or_default();
        Error::new(
            Class::Timeout,
            format!("The API server at {} did not answer within {seconds} s", connection.url),
        )
        .why(format!("the request was: {}", self.need()))
        .next("try again, or allow more time with --request-timeout")
    }

    fn refused(&self, status: &Status) -> Error {
        let message = if status.message.is_empty() { status.reason.clone() } else { status.message.clone() };
        match status.code {
            401 => Error::new(Class::Unauthorized, "the API server does not accept these credentials")
                .why(format!("{message} (in answer to: {})", self.need()))
                .next("renew the credentials of this context, or choose another with --context or --user"),
            403 => Error::new(Class::Forbidden, message).next(format!(
                "ask an administrator for the right to {}; check with: {}",
                self.need(),
                self.can_i()
            )),
            404 if is_not_installed(status) => Error::new(
                Class::NotInstalled,
                format!("the API server does not know {}", self.resource),
            )
            .why(format!("{message} (in answer to: {})", self.need()))
            .next("install the CRDs (kubectl apply -k deploy), or choose another cluster with --context"),
            404 => Error::new(Class::NotFound, message).next(match &self.namespace {
                Some(namespace) => format!("look for it with: kubectl get {} -n {namespace}", self.resource),
                None => format!("look for it with: kubectl get {} -A", self.resource),
            }),
            429 => Error::new(Class::Server, "the API server is too busy to answer").why(message).next(
                match status.details.as_ref().map_or(0, |details| details.retry_after_seconds) {
                    0 => "try again in a moment".to_owned(),
                    seconds => format!("try again in {seconds} s"),
                },
            ),
            code => Error::new(Class::Server, format!("{message} (status {code})"))
                .why(format!("in answer to: {}", self.need())),
        }
    }
}

/// Whether a 404 means that the kind is not there, not the object: then the path itself is unknown, and the
/// answer is no Status of its own or has no object in its details.
pub(crate) fn is_not_installed(status: &Status) -> bool {
    let names_an_object = status.details.as_ref().is_some_and(|details| !details.name.is_empty());
    status.code == 404 && !names_an_object
}

fn unreachable(error: &kube::Error, url: &str) -> Error {
    let cause = chain(error);
    let next = if cause.contains("certificate") {
        "the server's certificate is not trusted: check the context, or name its CA with --certificate-authority"
    } else {
        "check that the cluster runs and that this is the right context (--context, --kubeconfig)"
    };
    Error::new(Class::Unreachable, format!("The API server at {url} cannot be reached")).why(cause).next(next)
}

/// The causes from the outside in. Many libraries repeat the inner cause in the outer text; that is told once.
fn chain(error: &kube::Error) -> String {
    let mut causes: Vec<String> = Vec::new();
    let mut next = error.source();
    while let Some(cause) = next {
        let text = cause.to_string();
        if let Some(last) = causes.last_mut().filter(|last| last.contains(&text)) {
            let outer = last.replace(&text, "");
            *last = outer.trim_end_matches([' ', ':', '(', ')']).to_owned();
        }
        causes.push(text);
        next = cause.source();
    }
    causes.retain(|cause| !cause.is_empty());
    if causes.is_empty() { error.to_string() } else { causes.join(": ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt() -> Attempt {
        Attempt {
            verb: "list",
            resource: "machines.trusted-execution-clusters.io".into(),
            namespace: Some("a".into()),
            name: None,
        }
    }

    fn status(json: serde_json::Value) -> Status {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn an_unknown_kind_is_not_a_missing_object() {
        let unknown = Status::failure("404 page not found", "Failed to parse error data").with_code(404);
        assert_eq!(attempt().refused(&unknown).class, Class::NotInstalled);
        let missing = status(serde_json::json!({
            "status": "Failure", "code": 404, "reason": "NotFound", "message": "machines \"m\" not found",
            "details": {"name": "m", "group": "trusted-execution-clusters.io", "kind": "machines"}
        }));
        assert_eq!(attempt().refused(&missing).class, Class::NotFound);
    }

    #[test]
    fn every_class_has_its_own_words_and_next_step() {
        let mut seen = std::collections::BTreeSet::new();
        for code in [401, 403, 404, 429, 500] {
            let error = attempt().refused(&Status::failure("no", "No").with_code(code));
            assert!(seen.insert(error.what.clone()), "{code}: {}", error.what);
        }
        let forbidden = attempt().refused(&Status::failure("forbidden", "Forbidden").with_code(403));
        assert_eq!(
            forbidden.next.unwrap(),
            "ask an administrator for the right to list machines.trusted-execution-clusters.io in namespace \"a\"; \
             check with: kubectl auth can-i list machines.trusted-execution-clusters.io -n a"
        );
    }
}
