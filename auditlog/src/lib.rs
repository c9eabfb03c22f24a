//! Counts the requests of a Kubernetes audit log, each of them once.
//!
//! A log holds up to four events for a request. Which of them counts, and what is remembered of the others, is decided
//! here alone, for the plug-in and for the scenarios that measure the operator.
//!
//! Owns the events, as far as counting needs them, and the counting rule. Must not read files, or know any client.

mod bounded;
mod event;
mod kind;
mod tally;

pub use event::{Event, Stage};
pub use kind::{Key, Kind, OpenWatches, path_class};
pub use tally::{Filter, Seen, Sink, Tally, Window};
