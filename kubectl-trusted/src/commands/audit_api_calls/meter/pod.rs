//! The metrics of a pod, through the API server, which passes the request on.
//!
//! Owns the path, the right it takes, and the words for what may be wrong with a pod.

use std::fmt;

use k8s_openapi::api::core::v1::Pod as Object;
use kube::Api;
use trusted_crds::names::is_label;

use super::not_whole;
use crate::commands::audit_api_calls::metrics::fetch::{FOREIGN, Failure};
use crate::connect::Connection;
use crate::error::{Attempt, Class, Error};

/// `[https:]NAME[:PORT]`, as the command line has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    is_https: bool,
    pod: String,
    port: Option<String>,
}

/// Parses `NAME`, `NAME:PORT` and `https:NAME:PORT`; the port is a number or a name.
pub(crate) fn parse(text: &str) -> std::result::Result<Name, String> {
    let (is_https, rest) = match text.strip_prefix("https:") {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (pod, port) = match rest.split_once(':') {
        Some((pod, port)) => (pod, Some(port)),
        None => (rest, None),
    };
    if !pod.split('.').all(is_label) || port.is_some_and(|port| !is_label(port)) {
        return Err("write NAME, NAME:PORT or https:NAME:PORT, the name being that of a pod".to_owned());
    }
    Ok(Name { is_https, pod: pod.to_owned(), port: port.map(str::to_owned) })
}

/// A pod that serves metrics.
#[derive(Clone, Debug)]
pub(crate) struct Pod {
    name: String,
    namespace: String,
    path: String,
}

impl fmt::Display for Pod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pod {} in namespace {}", self.name, self.namespace)
    }
}

impl Pod {
    pub(crate) fn of(name: &Name, namespace: &str) -> Pod {
        let Name { is_https, pod, port } = name;
        // The API server takes scheme and port together with the name; without a scheme it also wants no port left empty.
        let target = match (is_https, port) {
            (true, port) => format!("https:{pod}:{}", port.as_deref().unwrap_or_default()),
            (false, Some(port)) => format!("{pod}:{port}"),
            (false, None) => pod.clone(),
        };
        let path = format!("/api/v1/namespaces/{namespace}/pods/{target}/proxy/metrics");
        Pod { name: pod.clone(), namespace: namespace.to_owned(), path }
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    fn attempt(&self, resource: &str) -> Attempt {
        let namespace = Some(self.namespace.clone());
        Attempt { namespace, ..Attempt::new("get", resource).named(&self.name) }
    }

    pub(super) async fn failed(&self, connection: &Connection, failure: &Failure) -> Error {
        let attempt = self.attempt("pods/proxy");
        match failure {
            Failure::TooSlow => attempt.too_slow(connection),
            Failure::NoPage(kind) => {
                self.no_metrics(&format!("what it answers is no page of metrics, but of type {kind}"))
            }
            Failure::Request(kube::Error::Api(status)) if status.reason == FOREIGN => {
                self.refused(status.code)
            }
            Failure::Request(error) => {
                let error = attempt.failed(error, &connection.url);
                match error.class {
                    Class::Server => self.not_reached(connection, error).await,
                    Class::Forbidden => error.next(format!(
                        "ask for the right to get the subresource pods/proxy in namespace \"{}\"; check with: {}",
                        self.namespace,
                        attempt.can_i()
                    )),
                    Class::NotInstalled | Class::NotFound => self.missing(&error),
                    _ => error,
                }
            }
            other => {
                not_whole(&format!("The metrics of {self}"), other).unwrap_or_else(|| self.no_metrics(""))
            }
        }
    }

    fn missing(&self, error: &Error) -> Error {
        let Pod { name, namespace, .. } = self;
        Error::new(Class::NotFound, format!("there is no pod \"{name}\" in namespace \"{namespace}\""))
            .why(error.what.clone())
            .next(format!("see those there are with: kubectl get pods -n {namespace}"))
    }

    /// What the pod itself says.
    fn refused(&self, code: u16) -> Error {
        match code {
            401 | 403 => {
                Error::new(Class::Forbidden, format!("{self} refuses to show its metrics (status {code})"))
                    .why("the pod checks who asks, and the API server passes no credentials on")
                    .next("reach it some other way, with --metrics-url URL and --token TOKEN")
            }
            404 => self.no_metrics("it answers that it has no /metrics"),
            _ => self.no_metrics(&format!("it answers with status {code}")),
        }
    }

    fn no_metrics(&self, why: &str) -> Error {
        let Pod { name, namespace, .. } = self;
        Error::new(Class::NotFound, format!("{self} serves no metrics there")).why(why).next(format!(
            "name its port for metrics, --pod {name}:PORT; see its ports with: kubectl get pod {name} -n {namespace} -o yaml"
        ))
    }

    /// The API server could not pass the request on; the pod tells more. One request, and only then.
    async fn not_reached(&self, connection: &Connection, error: Error) -> Error {
        let pods: Api<Object> = Api::namespaced(connection.client.clone(), &self.namespace);
        let attempt = self.attempt("pods");
        let Ok(pod) = connection.ask(&attempt, pods.get(&self.name)).await else { return error };
        let Pod { name, namespace, .. } = self;
        let status = pod.status.unwrap_or_default();
        let mut conditions = status.conditions.iter().flatten();
        if conditions.any(|condition| condition.type_ == "Ready" && condition.status == "True") {
            return Error::new(Class::Unreachable, format!("{self} does not answer there"))
                .why(error.what)
                .next(format!("name its port for metrics, --pod {name}:PORT"));
        }
        let phase = status.phase.as_deref().unwrap_or("unknown");
        Error::new(Class::Unreachable, format!("{self} is not ready: its phase is {phase}"))
            .why(error.what)
            .next(format!("wait for it with: kubectl wait --for=condition=Ready pod/{name} -n {namespace}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pods_are_named_with_scheme_and_port() {
        let path = |text: &str| Pod::of(&parse(text).unwrap(), "n").path;
        assert_eq!(path("a-1"), "/api/v1/namespaces/n/pods/a-1/proxy/metrics");
        assert_eq!(path("a-1:8080"), "/api/v1/namespaces/n/pods/a-1:8080/proxy/metrics");
        assert_eq!(path("https:a:metrics"), "/api/v1/namespaces/n/pods/https:a:metrics/proxy/metrics");
        assert_eq!(path("https:a.b"), "/api/v1/namespaces/n/pods/https:a.b:/proxy/metrics");
        for wrong in ["", "a/b", "a:b/c", "https:", "a:", "A", "a:8080:1"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
