//! What a client sees of each fault, on the real control plane.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod answers;
mod connections;
mod crash;
mod events;
mod plain;
mod requests;
mod support;
mod watches;
