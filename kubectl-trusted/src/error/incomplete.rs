//! What could not be seen, and what it would take to see it.
//!
//! Owns which failures leave the rest worth showing: a right, a kind or an answer that is missing. A server that cannot be
//! reached does not.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Attempt, Class, Error};

/// A right that was missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Incomplete {
    pub(crate) verb: &'static str,
    pub(crate) resource: String,
    /// Empty for all namespaces.
    pub(crate) namespace: String,
    /// What has to be granted or done, in words.
    pub(crate) need: String,
    /// The command that checks it.
    pub(crate) check: String,
    #[serde(skip)]
    pub(crate) forbidden: bool,
}

impl Incomplete {
    /// What an error makes invisible; none for an error that leaves nothing to show.
    pub(crate) fn of(attempt: &Attempt, error: &Error) -> Option<Incomplete> {
        let (need, check) = match error.class {
            Class::Forbidden => (format!("the right to {}", attempt.need()), attempt.can_i()),
            Class::NotInstalled => {
                (format!("the CRD {}", attempt.resource), format!("kubectl get crd {}", attempt.resource))
            }
            Class::Server => (format!("an answer to {}: {}", attempt.need(), error.what), attempt.again()),
            _ => return None,
        };
        Some(Incomplete::new(attempt, need, check, error.class == Class::Forbidden))
    }

    /// Whatever kept the answer away, where the rest is worth having all the same.
    pub(crate) fn failed(attempt: &Attempt, error: &Error) -> Incomplete {
        let why = error.why.as_deref().unwrap_or(&error.what);
        let need = format!("an answer to {}: {why}", attempt.need());
        Incomplete::new(attempt, need, attempt.again(), false)
    }

    /// What another command of ours would have shown.
    pub(crate) fn command(verb: &str, namespace: &str, error: &Error) -> Incomplete {
        let mut attempt = Attempt::new("get", verb);
        attempt.namespace = Some(namespace.to_owned());
        let check = format!("kubectl trusted {verb} -n {namespace}");
        Incomplete::new(&attempt, format!("what `{check}` needs: {}", error.what), check, false)
    }

    fn new(attempt: &Attempt, need: String, check: String, forbidden: bool) -> Incomplete {
        Incomplete {
            verb: attempt.verb,
            resource: attempt.resource.clone(),
            namespace: attempt.namespace.clone().unwrap_or_default(),
            need,
            check,
            forbidden,
        }
    }
}
