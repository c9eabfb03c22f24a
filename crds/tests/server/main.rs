//! What the real API server makes of the definitions, the admission policies and the Roles.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests fail by panicking; clippy knows only the tests themselves"
)]

mod approval_policy;
mod approved_image;
mod attestation_key;
mod cluster;
mod cluster_policy;
mod deletion;
mod kubectl;
mod machine;
mod private_key;
mod rights;
mod rights_in_use;
mod secret_policy;
mod support;
