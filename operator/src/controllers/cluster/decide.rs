//! What is due for the children of the served cluster. Pure.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Service;
use trusted_crds::TrustedExecutionCluster;
use trusted_crds::names::TLS_HASH_ANNOTATION;

use super::build::{FrontEnd, deployment, services};
use super::observe::Children;
use super::tls::TlsState;
use crate::child::{Desired, Obstacle, Step, View, decide};
use crate::context::Images;

/// One step per child.
#[derive(Debug)]
pub struct Plan {
    /// Steps for the Services.
    pub services: Vec<(Desired<Service>, Step)>,
    /// Steps for the Deployments.
    pub deployments: Vec<(Desired<Deployment>, Step)>,
    /// What keeps children from being made at all.
    pub obstacles: Vec<Obstacle>,
}

/// Decides for all children of `cluster`; `tls` is that of the front ends in the order of [`FrontEnd::ALL`].
pub fn plan(
    cluster: &TrustedExecutionCluster,
    children: &Children,
    tls: &[TlsState; 2],
    images: &Images,
) -> Result<Plan, serde_json::Error> {
    let namespace = cluster.metadata.namespace.as_deref().unwrap_or_default();
    let mut plan = Plan { services: Vec::new(), deployments: Vec::new(), obstacles: Vec::new() };
    for (object, view) in services(&cluster.spec, namespace).into_iter().zip(&children.services) {
        let desired = Desired::new(object, cluster)?;
        let step = decide(&desired, view)?;
        plan.services.push((desired, step));
    }
    for ((front_end, view), tls) in FrontEnd::ALL.into_iter().zip(&children.deployments).zip(tls) {
        plan.obstacles.extend(tls.obstacle().cloned());
        let Ok(mount) = tls.mount(running_tls_hash(view)) else { continue };
        let desired = Desired::new(deployment(front_end, mount.as_ref(), images, namespace), cluster)?;
        let step = decide(&desired, view)?;
        plan.deployments.push((desired, step));
    }
    Ok(plan)
}

/// Hash of the TLS content that the pods of an existing Deployment were made with.
pub fn running_tls_hash(view: &View<Deployment>) -> Option<&str> {
    let template = &view.present()?.spec.template;
    let annotations = template.metadata.as_ref()?.annotations.as_ref()?;
    annotations.get(TLS_HASH_ANNOTATION).map(String::as_str)
}

#[cfg(test)]
mod tests;
