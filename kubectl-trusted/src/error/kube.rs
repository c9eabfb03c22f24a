//! What the API server or the way to it answered, in words that name the attempt.
//!
//! Owns the words; what kind of failure it is, cachelib tells. A message of the API server is repeated as it is; it never holds key
//! bytes, since the validation rules are written so.

use cachelib::Cause;
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
        let place = self.place();
        match self.subresource() {
            Some((resource, part)) => {
                format!("kubectl auth can-i {} {resource} --subresource={part}{place}", self.verb)
            }
            None => format!("kubectl auth can-i {} {}{place}", self.verb, self.resource),
        }
    }

    /// The command that asks again, outside of this program.
    pub(crate) fn again(&self) -> String {
        let place = self.place();
        let name = self.name.as_ref().map(|name| format!(" {name}")).unwrap_or_default();
        match self.subresource() {
            _ if self.resource.starts_with('/') => format!("kubectl get --raw {}", self.resource),
            Some(("pods", "log")) => format!("kubectl logs{name}{place} --all-containers"),
            Some((resource, _)) => format!("kubectl get {resource}{name}{place}"),
            None => format!("kubectl get {}{name}{place}", self.resource),
        }
    }

    /// kubectl would take the part behind the slash for a name.
    fn subresource(&self) -> Option<(&str, &str)> {
        self.resource.split_once('/').filter(|(resource, _)| !resource.is_empty())
    }

    fn place(&self) -> String {
        match &self.namespace {
            Some(namespace) => format!(" -n {namespace}"),
            None if self.resource.starts_with('/') => String::new(),
            None => " -A".to_owned(),
        }
    }

    /// The error of this attempt. cachelib tells what kind of failure it is, so that both programs agree; the words
    /// are those of the API server where it said any.
    pub(crate) fn failed(&self, error: &kube::Error, url: &str) -> Error {
        let status = match error {
            kube::Error::Api(status) => Some(&**status),
            _ => None,
        };
        if let Some(status) = status.filter(|status| status.code == 404) {
            return self.missing(status);
        }
        let message = status.map(said);
        let asked = || format!("in answer to: {}", self.need());
        match Cause::of(error, self.verb, &self.resource, self.namespace.as_deref()) {
            Cause::Forbidden { .. } => self.forbidden(message.unwrap_or_default()),
            Cause::Unauthenticated(why) => {
                unauthenticated(message.map(|said| format!("{said} ({})", asked())), why)
            }
            Cause::Unreachable(why) => unreachable(why, url),
            Cause::Malformed(why) => {
                Error::new(Class::Server, format!("The answer to {} cannot be understood", self.need()))
                    .why(why.join("; "))
                    .next("compare the versions of this plug-in, of the CRDs and of the API server")
            }
            Cause::Throttled { retry_after } => {
                let error = Error::new(Class::Server, "the API server is too busy to answer").why(asked());
                error.next(match retry_after {
                    None => "try again in a moment".to_owned(),
                    Some(delay) => format!("try again in {} s", delay.as_secs()),
                })
            }
            other => match status {
                Some(status) => {
                    Error::new(Class::Server, format!("{} (status {})", said(status), status.code))
                        .why(asked())
                }
                None => Error::new(Class::Client, format!("The request to {} cannot be made", self.need()))
                    .why(other.to_string()),
            },
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

    fn forbidden(&self, message: String) -> Error {
        Error::new(Class::Forbidden, message).next(format!(
            "ask an administrator for the right to {}; check with: {}",
            self.need(),
            self.can_i()
        ))
    }

    /// The object is not there, or its kind is not.
    fn missing(&self, status: &Status) -> Error {
        let message = said(status);
        if is_not_installed(status) {
            return Error::new(
                Class::NotInstalled,
                format!("the API server does not know {}", self.resource),
            )
            .why(format!("{message} (in answer to: {})", self.need()))
            .next("install the CRDs (kubectl apply -k deploy), or choose another cluster with --context");
        }
        Error::new(Class::NotFound, message).next(match &self.namespace {
            Some(namespace) => format!("look for it with: kubectl get {} -n {namespace}", self.resource),
            None => format!("look for it with: kubectl get {} -A", self.resource),
        })
    }
}

fn said(status: &Status) -> String {
    if status.message.is_empty() { status.reason.clone() } else { status.message.clone() }
}

/// Refused by the API server, or not even got from the credential plug-in.
fn unauthenticated(refused: Option<String>, why: String) -> Error {
    let next = "renew the credentials of this context, or choose another with --context or --user";
    match refused {
        Some(said) => {
            Error::new(Class::Unauthorized, "the API server does not accept these credentials").why(said)
        }
        None => Error::new(Class::Kubeconfig, "The credentials of this context cannot be had").why(why),
    }
    .next(next)
}

/// Whether a 404 means that the kind is not there, not the object: then the path itself is unknown, and the
/// answer is no Status of its own or has no object in its details.
pub(crate) fn is_not_installed(status: &Status) -> bool {
    let names_an_object = status.details.as_ref().is_some_and(|details| !details.name.is_empty());
    status.code == 404 && !names_an_object
}

fn unreachable(why: String, url: &str) -> Error {
    let next = if why.contains("certificate") {
        "the server's certificate is not trusted: check the context, or name its CA with --certificate-authority"
    } else {
        "check that the cluster runs and that this is the right context (--context, --kubeconfig)"
    };
    Error::new(Class::Unreachable, format!("The API server at {url} cannot be reached")).why(why).next(next)
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

    fn failed(error: &kube::Error) -> Error {
        attempt().failed(error, "https://x/")
    }

    fn answered(code: u16) -> kube::Error {
        kube::Error::Api(Box::new(Status::failure("what the server says", "Reason").with_code(code)))
    }

    #[test]
    fn an_unknown_kind_is_not_a_missing_object() {
        assert_eq!(failed(&answered(404)).class, Class::NotInstalled);
        let missing = serde_json::json!({
            "status": "Failure", "code": 404, "reason": "NotFound", "message": "machines \"m\" not found",
            "details": {"name": "m", "group": "trusted-execution-clusters.io", "kind": "machines"}
        });
        let missing = kube::Error::Api(Box::new(serde_json::from_value(missing).unwrap()));
        assert_eq!(failed(&missing).class, Class::NotFound);
    }

    #[test]
    fn every_failure_has_its_own_words() {
        let no_number = serde_json::from_str::<u8>("\"c2VjcmV0\"").unwrap_err();
        let cases = [
            (answered(401), Class::Unauthorized),
            (answered(403), Class::Forbidden),
            (answered(404), Class::NotInstalled),
            (answered(429), Class::Server),
            (answered(500), Class::Server),
            (kube::Error::Service("connection refused".into()), Class::Unreachable),
            (kube::Error::Auth(kube::client::AuthError::UnrefreshableTokenResponse), Class::Kubeconfig),
            (kube::Error::SerdeError(no_number), Class::Server),
            (kube::Error::LinesCodecMaxLineLengthExceeded, Class::Client),
        ];
        let mut seen = std::collections::BTreeSet::new();
        for (error, class) in cases {
            let told = failed(&error);
            assert_eq!(told.class, class, "{error:?}");
            assert!(seen.insert(told.what.clone()), "{error:?}: {}", told.what);
            // The parser's own text quotes what it could not read.
            assert!(!format!("{told:?}").contains("c2VjcmV0"), "{told:?}");
        }
    }

    #[test]
    fn commands_to_check_with_are_such_that_kubectl_takes_them() {
        let log = Attempt { resource: "pods/log".into(), name: Some("p".into()), verb: "get", ..attempt() };
        let proxy = Attempt { resource: "pods/proxy".into(), ..log.clone() };
        assert_eq!(log.can_i(), "kubectl auth can-i get pods --subresource=log -n a");
        assert_eq!(log.again(), "kubectl logs p -n a --all-containers");
        assert_eq!(proxy.again(), "kubectl get pods p -n a");
        assert_eq!(attempt().again(), "kubectl get machines.trusted-execution-clusters.io -n a");
        let everywhere = Attempt { namespace: None, ..attempt() };
        assert_eq!(everywhere.again(), "kubectl get machines.trusted-execution-clusters.io -A");
        assert_eq!(Attempt::new("get", "/version").again(), "kubectl get --raw /version");
        assert_eq!(Attempt::new("get", "/version").can_i(), "kubectl auth can-i get /version");
    }

    #[test]
    fn a_missing_right_is_named_as_it_is_granted() {
        assert_eq!(
            failed(&answered(403)).next.unwrap(),
            "ask an administrator for the right to list machines.trusted-execution-clusters.io in namespace \"a\"; \
             check with: kubectl auth can-i list machines.trusted-execution-clusters.io -n a"
        );
    }
}
