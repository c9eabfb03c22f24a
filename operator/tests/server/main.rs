//! The operator in-process, on the real control plane.

#![expect(clippy::unwrap_used, reason = "what a test cannot go on without has failed it")]

mod behind;
mod children;
mod cluster_drift;
mod cluster_foreign;
mod cluster_install;
mod cluster_tls;
mod crowd;
mod events;
mod how_to;
mod leadership;
mod machine_binding;
mod machine_by_hand;
mod machine_disk_key;
mod machine_traffic;
mod migration;
mod owners;
mod start;
mod statuses;
mod stores;
mod support;
mod trustee_delivery;
