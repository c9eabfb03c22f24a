//! Keeps a Trustee key broker configured for confidential machines: which machines exist and their disk keys,
//! which attestation keys are trusted, which boot images are approved.
//!
//! Everything is read from reflector stores ([`context::Caches`]); a reconcile sends no read to the API server.
//! Each controller is split into observe (from stores), decide (pure), build (pure), apply (the only writes)
//! and status (pure).

mod admin;
pub mod args;
mod child;
pub mod crd_files;
mod digest;
mod error;
mod former;
mod owner;
mod preflight;
mod queue;
mod run;
pub mod shutdown;
pub mod telemetry;

// Tests put these together anew, with a real API server beneath.
pub mod caches;
pub mod context;
pub mod controllers;
pub mod events;
pub mod facts;
pub mod lease;
pub mod metrics;
pub mod secret;
pub mod writer;

pub use run::{DEFAULT_SYNC_TIMEOUT, RunConfig, RunError, USER_AGENT, run};
