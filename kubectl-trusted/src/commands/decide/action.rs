//! The three decisions about a key, and what they are called.
//!
//! Owns the words that differ from verb to verb.

use serde::Serialize;

/// What a person decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Action {
    /// The key is trusted.
    Approve,
    /// The key is never trusted, under any name.
    Deny,
    /// What a person decided before is taken back.
    Revoke,
}

impl Action {
    pub(crate) fn verb(self) -> &'static str {
        match self {
            Action::Approve => "approve-ak",
            Action::Deny => "deny-ak",
            Action::Revoke => "revoke-ak",
        }
    }

    /// The word for what was done.
    pub(crate) fn done(self) -> &'static str {
        match self {
            Action::Approve => "approved",
            Action::Deny => "denied",
            Action::Revoke => "revoked",
        }
    }

    /// The word for what is written.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Action::Approve => "approval",
            Action::Deny => "denial",
            Action::Revoke => "revocation",
        }
    }

    pub(crate) fn question(self, keys: &str) -> String {
        match self {
            Action::Approve => format!("Trust {keys}?"),
            Action::Deny => format!("Deny {keys} for good?"),
            Action::Revoke => format!("Take back what was decided about {keys}?"),
        }
    }
}
