//! What the stores say about one TrustedExecutionCluster. Reads stores and facts only.

use std::sync::Arc;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Service};
use trusted_crds::names::{
    ATTESTATION_KEY_REGISTER, ATTESTATION_POLICY, KBS_SERVICE, REGISTER_SERVER, TRUSTEE_DATA,
    TRUSTEE_DEPLOYMENT,
};
use trusted_crds::{KeyCounts, TrustedExecutionCluster, delivery};

use super::served::served;
use crate::child::{ChildKind, Folded, Obstacle, Ownership, View, ownership, view};
use crate::context::Context;
use crate::facts::Protection;

/// Where a cluster stands among those of its namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is the one that is served.
    Served,
    /// Another one is served.
    NotServed {
        /// Name of that one.
        by: String,
    },
    /// It is being deleted.
    Leaving,
}

/// The children this controller makes, as the stores show them.
#[derive(Clone, Debug)]
pub struct Children {
    /// The three Services, in the order they are built in.
    pub services: [View<Service>; 3],
    /// The two Deployments, likewise.
    pub deployments: [View<Deployment>; 2],
}

/// What the Trustee Deployment says about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broker {
    /// There is none.
    Absent,
    /// All its pods are available and made from the present template.
    Available,
    /// A former pod serves while a new one starts.
    RollingOut,
    /// No pod is available.
    Unavailable,
}

/// What the status reports beside the children.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// State of Trustee.
    pub broker: Broker,
    /// Whether the trustee controller's children are all in place.
    pub trustee_installed: bool,
    /// What keeps the trustee controller from its children.
    pub trustee_obstacles: Vec<Obstacle>,
    /// Whether approvals by hand are protected.
    pub protection: Protection,
}

/// Numbers of objects, which take a walk over the stores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Machines.
    pub machines: i32,
    /// AttestationKeys by state.
    pub attestation_keys: KeyCounts,
    /// ApprovedImages.
    pub approved_images: i32,
}

/// Where `cluster` stands.
pub fn standing(ctx: &Context, cluster: &TrustedExecutionCluster) -> Standing {
    if cluster.metadata.deletion_timestamp.is_some() {
        return Standing::Leaving;
    }
    match served(&ctx.caches) {
        Some(other) if other.metadata.uid != cluster.metadata.uid => {
            Standing::NotServed { by: other.metadata.name.clone().unwrap_or_default() }
        }
        _ => Standing::Served,
    }
}

/// The children of this controller.
pub fn children(ctx: &Context) -> Children {
    Children {
        services: [KBS_SERVICE, REGISTER_SERVER, ATTESTATION_KEY_REGISTER].map(|name| view(ctx, name)),
        deployments: [REGISTER_SERVER, ATTESTATION_KEY_REGISTER].map(|name| view(ctx, name)),
    }
}

/// What the status reports beside the children.
pub fn surroundings(ctx: &Context, owner_uid: &str) -> Surroundings {
    let deployment: View<Deployment> = view(ctx, TRUSTEE_DEPLOYMENT);
    let configuration = [TRUSTEE_DATA, ATTESTATION_POLICY].map(|name| view::<ConfigMap>(ctx, name));
    fn is_ours<K: ChildKind>(view: &View<K>, owner_uid: &str) -> bool {
        view.present().is_some_and(|object| ownership(&**object, owner_uid) == Ownership::Ours)
    }
    let in_place = is_ours(&deployment, owner_uid) && configuration.iter().all(|map| is_ours(map, owner_uid));
    Surroundings {
        broker: broker(ctx.caches.deployments.get(&ctx.key(TRUSTEE_DEPLOYMENT)).as_ref()),
        trustee_installed: in_place,
        trustee_obstacles: ctx.facts.trustee_obstacles(),
        protection: ctx.facts.approval_protected(),
    }
}

/// Counts what the status counts.
pub fn counts(ctx: &Context) -> Counts {
    let keys = ctx.caches.attestation_keys.list();
    let number = |count: usize| i32::try_from(count).unwrap_or(i32::MAX);
    Counts {
        machines: number(ctx.caches.machines.len()),
        attestation_keys: KeyCounts::of(keys.iter().map(AsRef::as_ref)),
        approved_images: number(ctx.caches.approved_images.len()),
    }
}

fn broker(deployment: Option<&Arc<Folded<Deployment>>>) -> Broker {
    let Some(deployment) = deployment else { return Broker::Absent };
    if delivery::rolled_out(deployment) {
        Broker::Available
    } else if delivery::is_available(deployment) {
        Broker::RollingOut
    } else {
        Broker::Unavailable
    }
}
