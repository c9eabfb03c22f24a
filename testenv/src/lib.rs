//! A real Kubernetes control plane on loopback, for tests, the demo and measurements.
//!
//! Purpose: give every test etcd, kube-apiserver, kube-controller-manager, kube-scheduler and simulated
//! nodes (kwok) as they are, with identities that the audit log can tell apart, and with the manifests of
//! `deploy/` applied from the very files a user would apply. With `TRUSTED_TEST_KUBECONFIG` set, the cluster that it
//! leads to takes their place, and tests say by [`needs!`] what only a control plane of our own has.
//!
//! Owns: finding or building the binaries, starting and ending the processes, test identities, a namespace
//! for each test, builders for our kinds, counting requests from the audit log, and a proxy that shows what a network
//! or an API server may do.
//!
//! Must not: stand in for the API server, or be depended on by anything that is shipped.

pub mod assets;
pub mod audit;
mod certificates;
mod control_plane;
mod deploy;
mod endpoint;
mod error;
mod eventually;
pub mod faults;
mod identities;
mod layout;
mod namespace;
mod needs;
pub mod objects;
pub mod observer;
pub mod operator;
pub mod plans;
pub mod process;
pub mod progress;
mod rights;
pub mod shuffle;
pub mod stores;

pub use control_plane::ControlPlane;
pub use error::Error;
pub use eventually::{Answer, eventually, poll};
pub use identities::{TEST_USERS, User};
pub use namespace::TestNamespace;
pub use needs::{Need, existing_cluster, is_skipped};
