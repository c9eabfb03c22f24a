//! Whether a kind is served, and if not, why.
//!
//! Owns the states a kind goes through and the report over all kinds. Must never tell readiness through anything
//! that wakes only one waiter: every receiver of the channel is woken.

use std::{fmt, time::Duration};

use jiff::Timestamp;
use serde::{Serialize, Serializer, ser::SerializeStruct};

use crate::{Cause, Key};

/// State of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Readiness {
    /// Not synced yet, and nothing has gone wrong so far.
    #[default]
    Pending,
    /// The store holds the whole kind, and the API server has accepted the watch that keeps it up to date.
    Synced,
    /// The kind was never synced; the last try failed for this cause. The kind's task goes on trying.
    Failed(Cause),
    /// The store holds a complete but aging state: it was synced, and the stream is interrupted since.
    Stale {
        /// Why the stream is interrupted, as of the last try.
        cause: Cause,
        /// When the interruption began.
        since: Timestamp,
    },
}

impl Readiness {
    /// Whether the store is complete and kept up to date.
    pub fn is_synced(&self) -> bool {
        matches!(self, Self::Synced)
    }

    /// The cause why it is not, if one is known.
    pub fn cause(&self) -> Option<&Cause> {
        match self {
            Self::Pending | Self::Synced => None,
            Self::Failed(cause) | Self::Stale { cause, .. } => Some(cause),
        }
    }

    /// The state after a failed try. An interruption keeps the time it began.
    pub(crate) fn after(&self, cause: Cause) -> Self {
        match self {
            Self::Pending | Self::Failed(_) => Self::Failed(cause),
            Self::Synced => Self::Stale { cause, since: Timestamp::now() },
            Self::Stale { since, .. } => Self::Stale { cause, since: *since },
        }
    }
}

impl fmt::Display for Readiness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pending => f.write_str("no answer yet"),
            Self::Synced => f.write_str("synced"),
            Self::Failed(cause) => write!(f, "{cause}"),
            Self::Stale { cause, since } => write!(f, "stale since {since:.0}: {cause}"),
        }
    }
}

/// As the fields `state` and, where they apply, `cause`, `class` ([`Cause::class`]) and `since`.
impl Serialize for Readiness {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (state, since) = match self {
            Self::Pending => ("pending", None),
            Self::Synced => ("synced", None),
            Self::Failed(_) => ("failed", None),
            Self::Stale { since, .. } => ("stale", Some(since)),
        };
        let mut fields = serializer.serialize_struct("Readiness", 4)?;
        fields.serialize_field("state", state)?;
        if let Some(cause) = self.cause() {
            fields.serialize_field("cause", &cause.to_string())?;
            fields.serialize_field("class", cause.class())?;
        }
        if let Some(since) = since {
            fields.serialize_field("since", since)?;
        }
        fields.end()
    }
}

/// What is known of one kind, for health checks, metrics and diagnostics.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct KindStatus {
    /// Resource with its group, as RBAC names it: `machines.example.org`, `secrets`.
    pub kind: String,
    /// The one namespace looked at, if there is one.
    pub namespace: Option<String>,
    /// The label selector, if there is one.
    pub labels: Option<String>,
    /// Whether [`Running::ready`](crate::Running::ready) waits for it.
    pub required: bool,
    /// Current state.
    #[serde(flatten)]
    pub readiness: Readiness,
    /// Number of objects in the store.
    pub objects: usize,
    /// Objects that could not be parsed and are therefore not in the store.
    pub malformed: Vec<Key>,
    /// Number of subscribers.
    pub subscribers: usize,
    /// Complete lists taken in since the start.
    pub lists: u64,
    /// Failed tries since the start.
    pub errors: u64,
    /// Reads answered from memory since the start: one object, those of an index value, or all.
    pub reads: u64,
    /// Highest resource version seen, where versions are numbers.
    pub version: Option<u64>,
    /// When the last event or complete list was taken in.
    pub last_event: Option<Timestamp>,
}

/// Not every kind was synced in time. The tasks go on trying.
#[derive(Clone, Debug)]
pub struct SyncError {
    /// How long was waited.
    pub waited: Duration,
    /// The kinds that are not synced, each with its state.
    pub kinds: Vec<(String, Readiness)>,
}

impl fmt::Display for SyncError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not synced within {:?}:", self.waited)?;
        for (position, (kind, readiness)) in self.kinds.iter().enumerate() {
            let separator = if position == 0 { "" } else { ";" };
            write!(f, "{separator} {kind}: {readiness}")?;
        }
        Ok(())
    }
}

impl std::error::Error for SyncError {}

#[cfg(test)]
mod tests;
