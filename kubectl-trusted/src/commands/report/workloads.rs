//! Which Deployments and Pods are those of operator, front ends and Trustee; pure.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use trusted_crds::names::{
    ATTESTATION_KEY_REGISTER, MANAGED_BY, MANAGED_BY_LABEL, OPERATOR_DEPLOYMENT, REGISTER_SERVER,
    TRUSTEE_DEPLOYMENT,
};

/// What the Deployments are called where they may not be seen.
const NAMES: [&str; 4] = [OPERATOR_DEPLOYMENT, TRUSTEE_DEPLOYMENT, REGISTER_SERVER, ATTESTATION_KEY_REGISTER];

/// The Deployments of operator, front ends and Trustee; none where they may not be seen.
pub(super) struct Workloads(pub(super) Option<Vec<Deployment>>);

impl Workloads {
    /// Ours of all the Deployments that there are.
    pub(super) fn among(deployments: Option<Vec<Deployment>>) -> Workloads {
        Workloads(deployments.map(|all| all.into_iter().filter(is_ours).collect()))
    }

    pub(super) fn have(&self, pod: &Pod) -> bool {
        match &self.0 {
            Some(deployments) => deployments.iter().any(|deployment| selects(deployment, pod)),
            None => NAMES.iter().any(|name| is_named_after(&pod.name_any(), name)),
        }
    }

    pub(super) fn is_operator(&self, pod: &Pod) -> bool {
        match &self.0 {
            Some(deployments) => {
                deployments.iter().any(|it| it.name_any() == OPERATOR_DEPLOYMENT && selects(it, pod))
            }
            None => is_named_after(&pod.name_any(), OPERATOR_DEPLOYMENT),
        }
    }

    /// Whether this is the name of a Deployment, or of one of its ReplicaSets or Pods.
    pub(super) fn name(&self, object: &str) -> bool {
        match &self.0 {
            Some(deployments) => deployments.iter().any(|it| is_named_after(object, &it.name_any())),
            None => NAMES.iter().any(|name| is_named_after(object, name)),
        }
    }
}

fn is_ours(deployment: &Deployment) -> bool {
    deployment.name_any() == OPERATOR_DEPLOYMENT
        || deployment.labels().get(MANAGED_BY_LABEL).is_some_and(|by| by == MANAGED_BY)
}

fn is_named_after(object: &str, deployment: &str) -> bool {
    object.strip_prefix(deployment).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
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
