//! What is due for Trustee's children. Pure.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::ConfigMap;
use trusted_crds::{TrustedExecutionCluster, delivery};

use super::build::{Template, attestation_policy, deployment, trustee_data};
use super::delivery::Rendered;
use super::window::Rollout;
use crate::child::{Desired, Obstacle, Step, View, decide};
use crate::controllers::cluster::{TlsState, running_tls_hash};

/// The steps for the two ConfigMaps, whose views come in the order `trustee-data`, `attestation-policy`.
pub fn configuration(
    cluster: &TrustedExecutionCluster,
    views: &[View<ConfigMap>; 2],
) -> Result<Vec<(Desired<ConfigMap>, Step)>, serde_json::Error> {
    let namespace = cluster.metadata.namespace.as_deref().unwrap_or_default();
    let tls = cluster.spec.trustee_secret.is_some();
    let maps = [trustee_data(tls, namespace), attestation_policy(namespace)];
    let step = |(object, view)| {
        let desired = Desired::new(object, cluster)?;
        let step = decide(&desired, view)?;
        Ok((desired, step))
    };
    maps.into_iter().zip(views).map(step).collect()
}

/// The step for the Deployment, or why it may not be made yet.
pub fn broker(
    cluster: &TrustedExecutionCluster,
    view: &View<Deployment>,
    tls: &TlsState,
    (image, delivered): (&str, Rendered),
) -> Result<Result<(Desired<Deployment>, Step), Obstacle>, serde_json::Error> {
    let namespace = cluster.metadata.namespace.as_deref().unwrap_or_default();
    let mount = match tls.mount(running_tls_hash(view)) {
        Ok(mount) => mount,
        Err(obstacle) => return Ok(Err(obstacle)),
    };
    let template = Template { image, tls: mount.as_ref(), delivered };
    let desired = Desired::new(deployment(template, namespace), cluster)?;
    let step = decide(&desired, view)?;
    Ok(Ok((desired, step)))
}

/// What an existing Deployment says about the last write.
pub fn rollout(deployment: &Deployment) -> Rollout {
    Rollout { generation: deployment.metadata.generation, complete: delivery::rolled_out(deployment) }
}
