//! What a request was for.

use serde::{Deserialize, Serialize};

/// What a request was for.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Kind {
    pub verb: String,
    #[serde(default)]
    pub group: String,
    /// The resource; for a request to no resource the first part of its path, such as `/readyz`.
    #[serde(default)]
    pub resource: String,
    #[serde(default)]
    pub subresource: String,
}

/// A kind of request and how it was answered: what is counted together.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    pub kind: Kind,
    pub code: u16,
}

impl Key {
    /// Whether the request stays open on purpose, as the API server sees it.
    pub fn is_long_running(verb: &str, subresource: &str) -> bool {
        matches!(verb, "watch" | "proxy")
            || matches!(subresource, "attach" | "exec" | "proxy" | "log" | "portforward")
    }
}

/// Watches that were open when the numbers were taken.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct OpenWatches {
    pub group: String,
    pub resource: String,
    pub count: u64,
}

/// A request to no resource, by the first part of its path, so that the number of rows stays small whatever
/// clients ask for.
pub fn path_class(path: &str) -> &'static str {
    const KNOWN: [&str; 11] = [
        "/api",
        "/apis",
        "/healthz",
        "/livez",
        "/readyz",
        "/metrics",
        "/openapi",
        "/version",
        "/logs",
        "/debug",
        "/.well-known",
    ];
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let first = path.split('/').nth(1).unwrap_or_default();
    KNOWN.into_iter().find(|known| known[1..] == *first).unwrap_or("/other")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_fall_into_few_classes() {
        assert_eq!(path_class("/openapi/v3?x=y"), "/openapi");
        assert_eq!(path_class("/readyz"), "/readyz");
        assert_eq!(path_class("/wp-login.php"), "/other");
        assert_eq!(path_class(""), "/other");
    }
}
