//! Caches on a real API server, each test in a namespace and as a user of its own.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod changes;
mod faults;
mod malformed;
mod metadata_only;
mod own_writes;
mod readiness;
mod requests;
mod support;
