//! Runs the real binary against a real control plane, as people with different rights.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

mod approve_ak;
mod audit_api_calls;
mod chain;
mod completion;
mod deny_ak;
mod explain_machine;
mod formats;
mod pages;
mod plugin;
mod report;
mod run;
mod scene;
mod select;
mod stage;
mod status;
mod terminal;
mod version;
mod wait;
mod watch;
