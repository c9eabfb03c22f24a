//! What a control plane is given: our CRDs and our admission policies, and a Node where it is our own.

use std::{fmt::Debug, time::Duration};

use k8s_openapi::{
    api::core::v1::Node, apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, Client,
    api::{ListParams, PostParams},
};
use serde_json::json;
use trusted_crds::GROUP;

use super::probe;
use crate::{Error, deploy::Deploy, eventually::poll, identities::Run};

/// How long the parts of the control plane may take to act on what they are given.
pub(super) const TIMEOUT: Duration = Duration::from_secs(30);

/// Applies CRDs, policies and what else exists once, and waits until it is in force.
///
/// `prober` acts as a user without any right but those that the probes grant.
pub(super) async fn manifests(
    admin: &Client,
    prober: &Client,
    deploy: &Deploy,
    run: &Run,
) -> Result<(), Error> {
    deploy.apply_cluster_scoped(admin).await?;
    wait_for_definitions(admin).await?;
    probe::wait_until_enforced(admin, prober, run).await
}

/// One Node for all pods, which kwok brings to life.
pub(super) async fn node(client: &Client) -> Result<(), Error> {
    let nodes: Api<Node> = Api::all(client.clone());
    let node: Node = object(json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": "node-1", "labels": {"kubernetes.io/hostname": "node-1", "kubernetes.io/os": "linux"}},
    }))?;
    nodes.create(&PostParams::default(), &node).await.map_err(Error::kube("create the Node"))?;
    poll("the simulated Node to be ready", TIMEOUT, || async {
        let node = nodes.get("node-1").await.map_err(|error| error.to_string())?;
        let ready =
            node.status.as_ref().and_then(|status| status.conditions.as_ref()).is_some_and(|conditions| {
                conditions.iter().any(|condition| condition.type_ == "Ready" && condition.status == "True")
            });
        let tainted =
            node.spec.as_ref().is_some_and(|spec| spec.taints.as_ref().is_some_and(|t| !t.is_empty()));
        if ready && !tainted { Ok(()) } else { Err(format!("ready: {ready}, tainted: {tainted}")) }
    })
    .await
}

async fn wait_for_definitions(client: &Client) -> Result<(), Error> {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    poll("the CRDs to be established", TIMEOUT, || async {
        let list = definitions.list(&ListParams::default()).await.map_err(|error| error.to_string())?;
        let pending: Vec<String> = list
            .items
            .iter()
            .filter(|crd| crd.spec.group == GROUP && !established(crd))
            .filter_map(|crd| crd.metadata.name.clone())
            .collect();
        if pending.is_empty() { Ok(()) } else { Err(pending.join(", ")) }
    })
    .await
}

fn established(crd: &CustomResourceDefinition) -> bool {
    crd.status.as_ref().and_then(|status| status.conditions.as_ref()).is_some_and(|conditions| {
        conditions.iter().any(|condition| condition.type_ == "Established" && condition.status == "True")
    })
}

/// An object from literal JSON.
pub(super) fn object<T: serde::de::DeserializeOwned + Debug>(value: serde_json::Value) -> Result<T, Error> {
    serde_json::from_value(value)
        .map_err(|error| Error::Manifest { name: "literal".to_owned(), what: error.to_string() })
}
