//! URLs as the API server's audit log reads them.

use super::*;

fn read(method: &Method, uri: &str) -> String {
    let labels = RequestLabels::of(method, &uri.parse().unwrap());
    let dry = if labels.dry_run { " dry" } else { "" };
    format!("{} {}/{}/{}{dry}", labels.verb, labels.group, labels.resource, labels.subresource)
}

#[test]
fn requests_read_like_the_audit_log() {
    let cases = [
        (Method::GET, "/api/v1/namespaces/ns/pods?limit=500", "list /pods/"),
        (Method::GET, "/api/v1/namespaces/ns/pods?watch=true&resourceVersion=5", "watch /pods/"),
        (Method::GET, "/api/v1/pods?&watch=1", "watch /pods/"),
        (Method::GET, "/api/v1/pods?watch=false", "list /pods/"),
        (Method::GET, "/api/v1/pods?allowWatchBookmarks=true", "list /pods/"),
        (Method::GET, "/api/v1/namespaces/ns/pods/p", "get /pods/"),
        (Method::HEAD, "/api/v1/namespaces/ns/pods/p", "get /pods/"),
        (Method::GET, "/api/v1/namespaces/ns/pods/p/log?follow=true", "get /pods/log"),
        (Method::POST, "/api/v1/namespaces/ns/secrets?&dryRun=All", "create /secrets/ dry"),
        (Method::PUT, "/apis/apps/v1/namespaces/ns/deployments/d/scale", "update apps/deployments/scale"),
        (
            Method::PATCH,
            "/apis/example.org/v1/namespaces/ns/machines/m/status?&force=true",
            "patch example.org/machines/status",
        ),
        (Method::DELETE, "/apis/example.org/v1/namespaces/ns/machines/m", "delete example.org/machines/"),
        (
            Method::DELETE,
            "/apis/example.org/v1/namespaces/ns/machines?labelSelector=a",
            "deletecollection example.org/machines/",
        ),
        (Method::GET, "/api/v1/namespaces", "list /namespaces/"),
        (Method::GET, "/api/v1/namespaces/ns", "get /namespaces/"),
        (Method::PUT, "/api/v1/namespaces/ns/finalize", "update /namespaces/finalize"),
        (Method::GET, "/api/v1/namespaces/ns/status", "get /namespaces/status"),
        (
            Method::GET,
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/x",
            "get apiextensions.k8s.io/customresourcedefinitions/",
        ),
        (Method::GET, "/api/v1/watch/namespaces/ns/pods", "watch /pods/"),
        (Method::GET, "/version?timeout=1s", "get //version/"),
        (Method::GET, "/apis", "get //apis/"),
        (Method::GET, "/apis/apps/v1", "get //apis/apps/v1/"),
        (Method::GET, "/api/v1", "get //api/v1/"),
        (Method::POST, "/metrics", "post //metrics/"),
        (Method::GET, "/", "get ///"),
    ];
    for (method, uri, expected) in cases {
        assert_eq!(read(&method, uri), expected, "{method} {uri}");
    }
}

#[test]
fn a_question_of_the_canary_is_a_list_of_one_object_at_most() {
    let is_canary = |method: &Method, uri: &str| RequestLabels::of(method, &uri.parse().unwrap()).canary;
    assert!(is_canary(&Method::GET, "/api/v1/secrets?&limit=1"));
    assert!(!is_canary(&Method::GET, "/api/v1/secrets?&limit=100"));
    assert!(!is_canary(&Method::GET, "/api/v1/secrets?watch=true&limit=1"));
    assert!(!is_canary(&Method::DELETE, "/api/v1/secrets?limit=1"));
}
