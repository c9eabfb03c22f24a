//! Which Deployments and Pods are those of operator, front ends and Trustee; pure.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use trusted_crds::names::{MANAGED_BY, MANAGED_BY_LABEL, OPERATOR_DEPLOYMENT};

pub(super) fn is_ours(deployment: &Deployment) -> bool {
    deployment.name_any() == OPERATOR_DEPLOYMENT
        || deployment.labels().get(MANAGED_BY_LABEL).is_some_and(|by| by == MANAGED_BY)
}

/// Whether one of these Deployments selects the pod.
pub(super) fn is_of(pod: &Pod, deployments: &[Deployment]) -> bool {
    deployments.iter().any(|deployment| selects(deployment, pod))
}

pub(super) fn is_operator(pod: &Pod, deployments: &[Deployment]) -> bool {
    deployments.iter().any(|it| it.name_any() == OPERATOR_DEPLOYMENT && selects(it, pod))
}

fn selects(deployment: &Deployment, pod: &Pod) -> bool {
    let wanted = deployment.spec.selector.match_labels.iter().flatten();
    let mut wanted = wanted.peekable();
    wanted.peek().is_some() && wanted.all(|(name, value)| pod.labels().get(name) == Some(value))
}

/// Every container of a pod, and whether it was restarted, so that there is a log of before.
pub(super) fn containers(pod: &Pod) -> Vec<(String, bool)> {
    let spec = pod.spec.iter();
    let all = spec.flat_map(|spec| spec.init_containers.iter().flatten().chain(&spec.containers));
    let statuses = || {
        let status = pod.status.iter();
        status.flat_map(|status| {
            status.init_container_statuses.iter().flatten().chain(status.container_statuses.iter().flatten())
        })
    };
    let restarted = |name: &str| statuses().any(|status| status.name == name && status.restart_count > 0);
    all.map(|container| (container.name.clone(), restarted(&container.name))).collect()
}
