//! Keeps a Trustee key broker configured for confidential machines: which machines exist and their disk keys,
//! which attestation keys are trusted, which boot images are approved.
//!
//! Everything is read from reflector stores ([`context::Caches`]); a reconcile sends no read to the API server.
//! Each controller is split into observe (from stores), decide (pure), build (pure), apply (the only writes)
//! and status (pure).

pub mod admin;
pub mod args;
pub mod caches;
pub mod child;
pub mod context;
pub mod controllers;
pub mod crd_files;
pub mod error;
pub mod facts;
pub mod lease;
pub mod metrics;
mod owner;
pub mod preflight;
pub mod queue;
mod run;
pub mod shutdown;
pub mod telemetry;
pub mod writer;

pub use run::{DEFAULT_SYNC_TIMEOUT, RunConfig, RunError, USER_AGENT, run};
