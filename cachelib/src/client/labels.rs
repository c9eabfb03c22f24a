//! Requests in the words of the API server's audit log.
//!
//! Owns the reading of a method and URL into verb, group, resource and subresource by the API server's own rules, so
//! that counts made here can be compared with counts from an audit log. Must never keep names or namespaces: the
//! labels become metric labels.

use http::{Method, Uri, uri::PathAndQuery};

/// A request and its answer, in audit-log terms.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestLabels {
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete` or `deletecollection`; for requests outside
    /// resources (`/version`, `/apis`) the method in lower case.
    pub verb: String,
    /// API group, empty for the core group.
    pub group: String,
    /// Resource in plural; for requests outside resources their path.
    pub resource: String,
    /// Subresource such as `status`, empty if there is none.
    pub subresource: String,
    /// HTTP code, or 0 when no answer came.
    pub code: u16,
    /// Whether the request was a dry run, which changes nothing.
    pub dry_run: bool,
    /// Whether it is a question of the [canary](crate::Options::canary): a list of one object at most.
    pub canary: bool,
}

impl RequestLabels {
    /// Reads a request; the code is 0 until there is an answer.
    pub fn of(method: &Method, uri: &Uri) -> Self {
        let target = Target::of(uri.path());
        let verb = verb(method, uri, target.as_ref());
        Self {
            canary: verb == "list" && parameter(uri, "limit") == Some("1"),
            verb,
            group: target.as_ref().map(|target| target.group.to_owned()).unwrap_or_default(),
            resource: target.as_ref().map_or(uri.path(), |target| target.resource).to_owned(),
            subresource: target.and_then(|target| target.subresource).unwrap_or_default().to_owned(),
            code: 0,
            dry_run: parameter(uri, "dryRun").is_some(),
        }
    }

    /// The same request with its answer.
    #[must_use]
    pub fn answered(self, code: u16) -> Self {
        Self { code, ..self }
    }
}

/// Whether a request opens a watch.
pub(crate) fn is_watch(method: &Method, uri: &Uri) -> bool {
    RequestLabels::of(method, uri).verb == "watch"
}

/// What a path points at, if it is a resource.
struct Target<'a> {
    group: &'a str,
    resource: &'a str,
    named: bool,
    subresource: Option<&'a str>,
    old_watch: bool,
}

impl<'a> Target<'a> {
    /// Reads `/api/v1/...` and `/apis/GROUP/VERSION/...`; anything shorter or else is no resource.
    fn of(path: &'a str) -> Option<Self> {
        let parts: Vec<_> = path.split('/').filter(|part| !part.is_empty()).collect();
        let (group, parts) = match parts.as_slice() {
            ["api", _version, rest @ ..] => ("", rest),
            ["apis", group, _version, rest @ ..] => (*group, rest),
            _ => return None,
        };
        let (old_watch, parts) = match parts {
            ["watch", rest @ ..] if !rest.is_empty() => (true, rest),
            parts => (false, parts),
        };
        let parts = match parts {
            // A namespace is itself a resource, with subresources of its own.
            ["namespaces", _name, "status" | "finalize", ..] => parts,
            ["namespaces", _name, rest @ ..] if !rest.is_empty() => rest,
            parts => parts,
        };
        let resource = *parts.first()?;
        Some(Self { group, resource, named: parts.len() > 1, subresource: parts.get(2).copied(), old_watch })
    }
}

fn verb(method: &Method, uri: &Uri, target: Option<&Target<'_>>) -> String {
    let Some(target) = target else { return method.as_str().to_ascii_lowercase() };
    if target.old_watch {
        return "watch".to_owned();
    }
    let verb = match (method, target.named) {
        (&Method::POST, _) => "create",
        (&Method::PUT, _) => "update",
        (&Method::PATCH, _) => "patch",
        (&Method::DELETE, true) => "delete",
        (&Method::DELETE, false) => "deletecollection",
        (&Method::GET | &Method::HEAD, true) => "get",
        (&Method::GET | &Method::HEAD, false) if asks_to_watch(uri) => "watch",
        (&Method::GET | &Method::HEAD, false) => "list",
        _ => return String::new(),
    };
    verb.to_owned()
}

fn asks_to_watch(uri: &Uri) -> bool {
    parameter(uri, "watch").is_some_and(|value| value != "0" && !value.eq_ignore_ascii_case("false"))
}

/// The value of a query parameter as it is written.
fn parameter<'a>(uri: &'a Uri, name: &str) -> Option<&'a str> {
    let query = uri.path_and_query().and_then(PathAndQuery::query)?;
    query.split('&').find_map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        (key == name).then_some(value)
    })
}

#[cfg(test)]
mod tests;
