//! The metrics of a client at an address of its own.
//!
//! Owns the client for it, which has nothing of the kubeconfig, and the words for what may be wrong.

use std::fmt;
use std::time::Duration;

use http::Uri;
use kube::Client;

use super::not_whole;
use crate::commands::audit_api_calls::metrics::fetch::Failure;
use crate::connect::ConnectionArgs;
use crate::error::{Class, Error, Result};

/// Where metrics are, unless a path is named.
const USUAL_PATH: &str = "/metrics";

/// An address with a page of metrics.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    base: Uri,
    path: String,
    limit: Option<Duration>,
}

/// Parses an http or https address.
pub(crate) fn parse(text: &str) -> std::result::Result<Uri, String> {
    let wrong = || format!("\"{text}\" is no address; write http://HOST:PORT/metrics or https://...");
    let url: Uri = text.parse().map_err(|_| wrong())?;
    let is_web = matches!(url.scheme_str(), Some("http" | "https"));
    match url.authority() {
        // What stands before an @ is a secret, and would be shown in documents.
        Some(authority) if is_web && !authority.as_str().contains('@') => Ok(url),
        _ => Err(wrong()),
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let base = self.base.to_string();
        // What stands behind a ? may be a secret as well.
        let path = self.path.split('?').next().unwrap_or_default();
        write!(f, "{}{path}", base.trim_end_matches('/'))
    }
}

impl Address {
    pub(crate) fn of(url: &Uri, args: &ConnectionArgs) -> Result<(Client, Address)> {
        let mut parts = url.clone().into_parts();
        let asked = parts.path_and_query.take().filter(|path| path.as_str() != "/");
        parts.path_and_query = Some(http::uri::PathAndQuery::from_static("/"));
        let no_client =
            |why: String| Error::new(Class::Client, format!("No client can be made for {url}")).why(why);
        let base = Uri::from_parts(parts).map_err(|error| no_client(error.to_string()))?;
        let config = args.config_of(base.clone());
        let client = Client::try_from(config).map_err(|error| no_client(error.to_string()))?;
        let path = asked.map_or_else(|| USUAL_PATH.to_owned(), |path| path.to_string());
        let limit = Some(args.request_timeout).filter(|limit| !limit.is_zero());
        Ok((client, Address { base, path, limit }))
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    pub(super) fn limit(&self) -> Option<Duration> {
        self.limit
    }

    pub(super) fn failed(&self, failure: &Failure) -> Error {
        match failure {
            Failure::TooSlow => {
                let seconds = self.limit.map(|limit| limit.as_secs_f64()).unwrap_or_default();
                Error::new(Class::Timeout, format!("{self} did not answer within {seconds} s"))
                    .next("try again, or allow more time with --request-timeout")
            }
            Failure::NoPage(kind) => self.no_page(&format!("its type is {kind}")),
            Failure::Request(kube::Error::Api(status)) => match status.code {
                401 | 403 => Error::new(
                    Class::Forbidden,
                    format!("{self} refuses to show its metrics (status {})", status.code),
                )
                .next("give a token that may read them with --token"),
                404 => Error::new(Class::NotFound, format!("there is no page at {self}"))
                    .next("name the whole address: --metrics-url http://HOST:PORT/PATH"),
                code => {
                    Error::new(Class::Server, format!("{self} answered with status {code}")).next("try again")
                }
            },
            Failure::Request(error) => {
                Error::new(Class::Unreachable, format!("{self} cannot be reached")).why(causes(error)).next(
                    "check address and port; for a certificate that is not trusted name its CA with \
                     --certificate-authority",
                )
            }
            other => not_whole(&format!("The metrics at {self}"), other).unwrap_or_else(|| self.no_page("")),
        }
    }

    fn no_page(&self, why: &str) -> Error {
        Error::new(Class::Input, format!("What {self} answers is no page of metrics"))
            .why(why)
            .next("name the whole address: --metrics-url http://HOST:PORT/PATH")
    }
}

fn causes(error: &kube::Error) -> String {
    let first: &dyn std::error::Error = error;
    let all = std::iter::successors(Some(first), |error| error.source());
    all.last().map(ToString::to_string).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_a_path_and_no_secrets() {
        for wrong in ["", "host:80", "ftp://a/", "/metrics", "http://user:secret@host/", "https://"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        let address = |text: &str| {
            let path = parse(text).unwrap().path_and_query().unwrap().to_string();
            Address { base: Uri::from_static("http://h:1/"), path, limit: None }
        };
        assert_eq!(address("http://h:1/m?token=x").to_string(), "http://h:1/m");
    }
}
