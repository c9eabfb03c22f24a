//! Why a kind is not served fresh.
//!
//! Owns the translation of kube's errors into causes that tell a person what to mend. Must never carry a response
//! body or object content.

use std::{error::Error as StdError, fmt, time::Duration};

use kube::{core::Status, runtime::watcher};

/// Why a kind could not be listed or watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The API server refused the request for lack of rights.
    Forbidden {
        /// `list` or `watch`.
        verb: String,
        /// Resource as RBAC names it, with its group: `machines.example.org`.
        resource: String,
        /// Namespace of the request, if it was for one.
        namespace: Option<String>,
        /// The user the API server took the request to be from, if it said so.
        user: Option<String>,
    },
    /// The API server does not know the resource: its CustomResourceDefinition or API group is missing.
    NotInstalled,
    /// The API server asks to slow down.
    Throttled {
        /// How long it asked to wait.
        retry_after: Option<Duration>,
    },
    /// The API server failed with this HTTP code.
    Server(u16),
    /// The server does not have the version that the watch was to go on from, because it is too old or, after a
    /// restore, too new; the kind is being listed again.
    Expired,
    /// The API server did not accept the credentials, or there are none.
    Unauthenticated(String),
    /// No answer: address, network, TLS or proxy.
    Unreachable(String),
    /// The answer was no valid list or event; the texts say what was wrong, without content.
    Malformed(Vec<String>),
    /// The list was not complete in time.
    Deadline,
    /// The watch is open and shows nothing: the API server has reached this version, and the watch has not.
    Frozen(u64),
    /// The caches were shut down.
    Stopped,
    /// Anything else.
    Other(String),
}

/// The request in whose place an error came.
#[derive(Clone, Copy)]
pub(crate) struct Attempt<'a> {
    pub(crate) verb: &'a str,
    pub(crate) resource: &'a str,
    pub(crate) namespace: Option<&'a str>,
}

impl Cause {
    /// The cause behind an error of a request for `resource`, for callers who make requests of their own.
    ///
    /// `verb` is the Kubernetes verb (`get`, `list`, ...), `resource` includes the group.
    pub fn of(error: &kube::Error, verb: &str, resource: &str, namespace: Option<&str>) -> Self {
        Self::of_error(error, Attempt { verb, resource, namespace })
    }

    /// A short fixed word for the class of cause, fit for a metric label.
    pub fn class(&self) -> &'static str {
        match self {
            Self::Forbidden { .. } => "forbidden",
            Self::NotInstalled => "not_installed",
            Self::Throttled { .. } => "throttled",
            Self::Server(_) => "server",
            Self::Expired => "expired",
            Self::Unauthenticated(_) => "unauthenticated",
            Self::Unreachable(_) => "unreachable",
            Self::Malformed(_) => "malformed",
            Self::Deadline => "deadline",
            Self::Frozen(_) => "frozen",
            Self::Stopped => "stopped",
            Self::Other(_) => "other",
        }
    }

    pub(crate) fn of_watcher(error: &watcher::Error, resource: &str, namespace: Option<&str>) -> Self {
        let attempt = |verb| Attempt { verb, resource, namespace };
        match error {
            watcher::Error::InitialListFailed(error) => Self::of_error(error, attempt("list")),
            watcher::Error::WatchStartFailed(error) | watcher::Error::WatchFailed(error) => {
                Self::of_error(error, attempt("watch"))
            }
            watcher::Error::WatchError(status) => Self::of_status(status, attempt("watch")),
            watcher::Error::NoResourceVersion => {
                Self::Malformed(vec!["answer without a resource version".to_owned()])
            }
        }
    }

    fn of_error(error: &kube::Error, attempt: Attempt<'_>) -> Self {
        match error {
            kube::Error::Api(status) => Self::of_status(status, attempt),
            kube::Error::Auth(error) => Self::Unauthenticated(error_chain(error)),
            kube::Error::HyperError(error) => Self::Unreachable(error_chain(error)),
            kube::Error::Service(error) => Self::Unreachable(error_chain(error.as_ref())),
            kube::Error::ReadEvents(error) => Self::Unreachable(error_chain(error)),
            kube::Error::RustlsTls(error) => Self::Unreachable(error_chain(error)),
            kube::Error::SerdeError(error) => {
                Self::Malformed(vec![format!("answer is not of the expected form ({:?})", error.classify())])
            }
            kube::Error::FromUtf8(_) => Self::Malformed(vec!["answer is not UTF-8".to_owned()]),
            other => Self::Other(error_chain(other)),
        }
    }

    fn of_status(status: &Status, attempt: Attempt<'_>) -> Self {
        match status.code {
            401 => Self::Unauthenticated("the API server did not accept the credentials (401)".to_owned()),
            403 => Self::Forbidden {
                verb: attempt.verb.to_owned(),
                resource: attempt.resource.to_owned(),
                namespace: attempt.namespace.map(str::to_owned),
                user: user_in(&status.message),
            },
            // An object that is not there is no fault of the kind.
            404 if matches!(attempt.verb, "list" | "watch") => Self::NotInstalled,
            410 => Self::Expired,
            504 if wants_future_version(status) => Self::Expired,
            429 => Self::Throttled { retry_after: retry_after(status) },
            code @ 500.. => Self::Server(code),
            // kube takes any JSON it cannot read for a Status, and an unreadable event becomes an empty one.
            0 if status.message.is_empty() && status.reason.is_empty() => {
                Self::Malformed(vec!["watch event could not be read".to_owned()])
            }
            code => Self::Other(format!("the API server answered {code} {}", status.reason)),
        }
    }
}

/// The delay a status asks for.
pub(crate) fn retry_after(status: &Status) -> Option<Duration> {
    let seconds = status.details.as_ref()?.retry_after_seconds;
    (seconds > 0).then(|| Duration::from_secs(seconds.into()))
}

/// Whether the server has not reached the version asked for and says so. After a restore it may never reach it.
fn wants_future_version(status: &Status) -> bool {
    let causes = status.details.iter().flat_map(|details| &details.causes);
    causes.into_iter().any(|cause| cause.reason == "ResourceVersionTooLarge")
}

/// The user named in the API server's message about a refused request.
fn user_in(message: &str) -> Option<String> {
    let (_, rest) = message.split_once("User \"")?;
    let (user, _) = rest.split_once('"')?;
    Some(user.to_owned())
}

/// An error and its sources in one line, without repeating a source whose text the error already includes. Only for
/// errors whose texts hold no content; [`Cause::of`] knows which of kube's do.
pub fn error_chain(error: &(dyn StdError + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let next = error.to_string();
        if !text.contains(&next) {
            text.push_str(": ");
            text.push_str(&next);
        }
        source = error.source();
    }
    text
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Forbidden { verb, resource, namespace, user } => {
                let user = user.as_deref().unwrap_or("this user");
                write!(f, "forbidden: {user} may not {verb} {resource}")?;
                match namespace {
                    Some(namespace) => write!(f, " in namespace {namespace}"),
                    None => f.write_str(" in the whole cluster"),
                }
            }
            Self::NotInstalled => f.write_str("not installed: the API server does not know this resource"),
            Self::Throttled { retry_after: Some(delay) } => {
                write!(f, "throttled: the API server asks to wait {} s", delay.as_secs())
            }
            Self::Throttled { retry_after: None } => {
                f.write_str("throttled: the API server asks to slow down")
            }
            Self::Server(code) => write!(f, "the API server failed with HTTP {code}"),
            Self::Expired => f.write_str("the server does not have the version to go on from: listing again"),
            Self::Unauthenticated(text) => write!(f, "not authenticated: {text}"),
            Self::Unreachable(text) => write!(f, "unreachable: {text}"),
            Self::Malformed(texts) => write!(f, "malformed: {}", texts.join("; ")),
            Self::Deadline => f.write_str("the list was not complete in time"),
            Self::Frozen(version) => {
                write!(f, "the watch is open and shows nothing; the API server has reached version {version}")
            }
            Self::Stopped => f.write_str("shut down"),
            Self::Other(text) => f.write_str(text),
        }
    }
}

#[cfg(test)]
mod tests;
