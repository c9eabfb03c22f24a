//! What kept the API server's metrics away.
//!
//! Owns the words.

use super::not_whole;
use crate::commands::audit_api_calls::metrics::fetch::{FOREIGN, Failure};
use crate::connect::Connection;
use crate::error::{Attempt, Class, Error};

pub(super) fn failed(connection: &Connection, failure: &Failure) -> Error {
    let attempt = Attempt::new("get", "/metrics");
    match failure {
        Failure::TooSlow => attempt.too_slow(connection),
        Failure::NoPage(kind) => {
            is_none(&connection.url, &format!("its /metrics is no page of metrics, but of type {kind}"))
        }
        Failure::Request(kube::Error::Api(status)) if status.code == 404 => {
            Error::new(Class::NotFound, format!("{} serves no /metrics", connection.url))
                .next("check that this is the address of an API server (--context, --server)")
        }
        Failure::Request(kube::Error::Api(status)) if status.reason == FOREIGN => is_none(
            &connection.url,
            &format!("it answered /metrics with status {}, and not as an API server does", status.code),
        ),
        Failure::Request(error) => {
            let error = attempt.failed(error, &connection.url);
            match error.class {
                Class::Forbidden => error.next(
                    "ask for the ClusterRole trusted-auditor, which allows get on the non-resource URL /metrics \
                     (as system:monitoring does), or count an audit log with --audit-log",
                ),
                _ => error,
            }
        }
        other => not_whole("The API server's metrics", other)
            .unwrap_or_else(|| Error::new(Class::Unreachable, "The API server's metrics cannot be read")),
    }
}

/// Something answers there that is no API server.
pub(super) fn is_none(url: &str, why: &str) -> Error {
    Error::new(Class::Server, format!("{url} is no Kubernetes API server"))
        .why(why)
        .next("check that this is the address of an API server (--context, --server)")
}
