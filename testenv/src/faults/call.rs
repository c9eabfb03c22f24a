//! One request, in the words of the audit log.

use std::fmt;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Uri, uri::PathAndQuery};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde_json::Value;

/// Verbs that change something.
pub(super) const WRITES: &[&str] = &["create", "update", "patch", "delete", "deletecollection"];

/// A request as the API server's audit log would name it.
pub struct Call {
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete` or `deletecollection`; for requests outside
    /// resources (`/version`, `/apis`) the method in lower case.
    pub verb: String,
    /// API group, empty for the core group.
    pub group: String,
    /// Resource in plural form; for requests outside resources their path.
    pub resource: String,
    /// Subresource such as `status`, empty for none.
    pub subresource: String,
    /// Namespace, empty for none.
    pub namespace: String,
    /// Object name, for a create the one in the body; empty for none.
    pub name: String,
    /// HTTP method.
    pub method: Method,
    /// Path and query.
    pub uri: Uri,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

impl Call {
    /// Reads a request and its whole body: what is sent to an API server is small, and a rule may ask for a name in it.
    pub(super) async fn read(request: Request<Incoming>) -> Result<Call, hyper::Error> {
        let (head, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        Ok(Call::new(head.method, &head.uri, head.headers, body))
    }

    fn new(method: Method, uri: &Uri, headers: HeaderMap, body: Bytes) -> Call {
        let target = Target::of(uri.path());
        let mut call = Call {
            verb: method.as_str().to_ascii_lowercase(),
            group: String::new(),
            resource: uri.path().to_owned(),
            subresource: String::new(),
            namespace: String::new(),
            name: String::new(),
            method,
            uri: uri.clone(),
            headers,
            body,
        };
        if let Some(target) = target {
            call.verb = verb(&call.method, uri, target.name.is_some()).to_owned();
            call.group = target.group.to_owned();
            call.resource = target.resource.to_owned();
            call.subresource = target.subresource.unwrap_or_default().to_owned();
            call.namespace = target.namespace.unwrap_or_default().to_owned();
            call.name = match target.name {
                Some(name) => name.to_owned(),
                None => call.json()["metadata"]["name"].as_str().unwrap_or_default().to_owned(),
            };
        }
        call
    }

    /// The body; null when there is none or it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// True for verbs that change something.
    pub fn is_write(&self) -> bool {
        WRITES.contains(&self.verb.as_str())
    }

    /// Whether it is about this resource, which may have a subresource as in `machines/status`; `*` is any.
    pub(super) fn is_about(&self, resource: &str) -> bool {
        let (wanted, subresource) = resource.split_once('/').unwrap_or((resource, ""));
        wanted == "*" || (self.resource == wanted && self.subresource == subresource)
    }

    /// True when the answer is an object or a list of them, and will come again for the same question.
    pub(super) fn is_read(&self) -> bool {
        matches!(self.verb.as_str(), "get" | "list")
            && self.subresource.is_empty()
            && !self.resource.starts_with('/')
    }

    pub(super) fn is_watch(&self) -> bool {
        self.verb == "watch"
    }

    /// What is asked for, without how recent it has to be: two reads with the same question can be answered alike.
    pub(super) fn question(&self) -> String {
        let query = self.uri.query().unwrap_or_default();
        let lasting = query.split('&').filter(|pair| {
            let key = pair.split('=').next().unwrap_or_default();
            !matches!(key, "resourceVersion" | "resourceVersionMatch" | "timeoutSeconds")
        });
        format!("{}?{}", self.uri.path(), lasting.collect::<Vec<_>>().join("&"))
    }
}

/// Without headers and body, which hold tokens and contents.
impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.uri)?;
        if self.verb == "create" && !self.name.is_empty() {
            write!(f, " ({})", self.name)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// What a path points at, if it is a resource.
struct Target<'a> {
    group: &'a str,
    namespace: Option<&'a str>,
    resource: &'a str,
    name: Option<&'a str>,
    subresource: Option<&'a str>,
}

impl<'a> Target<'a> {
    /// Reads `/api/v1/...` and `/apis/GROUP/VERSION/...`; anything shorter or else is no resource.
    fn of(path: &'a str) -> Option<Target<'a>> {
        let parts: Vec<_> = path.split('/').filter(|part| !part.is_empty()).collect();
        let (group, parts) = match parts.as_slice() {
            ["api", _version, rest @ ..] => ("", rest),
            ["apis", group, _version, rest @ ..] => (*group, rest),
            _ => return None,
        };
        let (namespace, parts) = match parts {
            // A namespace is itself a resource, with subresources of its own.
            ["namespaces", name, "status" | "finalize", ..] | ["namespaces", name] => (Some(*name), parts),
            ["namespaces", name, rest @ ..] => (Some(*name), rest),
            parts => (None, parts),
        };
        let part = |index| parts.get(index).copied();
        Some(Target { group, namespace, resource: part(0)?, name: part(1), subresource: part(2) })
    }
}

fn verb<'a>(method: &'a Method, uri: &Uri, named: bool) -> &'a str {
    match (method, named) {
        (&Method::POST, _) => "create",
        (&Method::PUT, _) => "update",
        (&Method::PATCH, _) => "patch",
        (&Method::DELETE, true) => "delete",
        (&Method::DELETE, false) => "deletecollection",
        (&Method::GET, true) => "get",
        (&Method::GET, false) if asks_to_watch(uri) => "watch",
        (&Method::GET, false) => "list",
        _ => method.as_str(),
    }
}

fn asks_to_watch(uri: &Uri) -> bool {
    let query = uri.path_and_query().and_then(PathAndQuery::query).unwrap_or_default();
    query.split('&').any(|pair| matches!(pair, "watch=true" | "watch=1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(method: &str, uri: &'static str, body: &'static str) -> Call {
        let method = method.parse().unwrap();
        Call::new(method, &Uri::from_static(uri), HeaderMap::new(), Bytes::from_static(body.as_bytes()))
    }

    #[test]
    fn a_request_is_read_as_the_audit_log_names_it() {
        let rows = [
            ("GET", "/api/v1/namespaces/n/secrets?limit=500", ["list", "", "secrets", "", "n", ""]),
            ("GET", "/api/v1/secrets?watch=true", ["watch", "", "secrets", "", "", ""]),
            ("GET", "/apis/g/v1/namespaces/n/machines/m", ["get", "g", "machines", "", "n", "m"]),
            (
                "PATCH",
                "/apis/g/v1/namespaces/n/machines/m/status",
                ["patch", "g", "machines", "status", "n", "m"],
            ),
            ("PUT", "/apis/g/v1/namespaces/n/machines/m", ["update", "g", "machines", "", "n", "m"]),
            ("DELETE", "/api/v1/namespaces/n", ["delete", "", "namespaces", "", "n", "n"]),
            ("DELETE", "/api/v1/namespaces/n/pods", ["deletecollection", "", "pods", "", "n", ""]),
            ("GET", "/version", ["get", "", "/version", "", "", ""]),
        ];
        for (method, uri, expected) in rows {
            let call = call(method, uri, "");
            let read =
                [&call.verb, &call.group, &call.resource, &call.subresource, &call.namespace, &call.name];
            assert_eq!(read, expected, "{uri}");
        }
    }

    #[test]
    fn a_create_has_the_name_in_its_body() {
        let create = call("POST", "/api/v1/namespaces/n/secrets", r#"{"metadata":{"name":"s"}}"#);
        assert_eq!((create.verb.as_str(), create.name.as_str()), ("create", "s"));
        assert!(create.is_write());
    }

    #[test]
    fn a_resource_does_not_stand_for_its_subresource() {
        let status = call("PATCH", "/apis/g/v1/namespaces/n/machines/m/status", "");
        assert!(status.is_about("machines/status") && status.is_about("*"));
        assert!(!status.is_about("machines"));
    }

    #[test]
    fn the_same_question_at_another_version_is_the_same() {
        let question = |uri| call("GET", uri, "").question();
        let first = question("/api/v1/secrets?limit=500");
        assert_eq!(first, question("/api/v1/secrets?limit=500&resourceVersion=7"));
        assert_ne!(first, question("/api/v1/secrets?limit=500&labelSelector=a"));
    }
}
