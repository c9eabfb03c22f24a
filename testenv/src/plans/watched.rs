//! The state of a namespace as it changes, by watching it past the proxy.

use std::time::Duration;

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Secret, Service},
};
use kube::{Api, Client, Resource};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::time::Instant;
use trusted_crds::{AttestationKey, Delivered, Machine, TrustedExecutionCluster, names::TRUSTEE_DEPLOYMENT};

use super::state::State;
use crate::observer::Observer;

/// After a change, let those that come with it arrive before looking.
const PAUSE: Duration = Duration::from_millis(50);

/// Kubernetes puts it into every namespace, when it gets round to it.
const ROOT_CA: &str = "kube-root-ca.crt";

/// All that the operator reads or makes in one namespace.
#[derive(Debug)]
pub(super) struct Watched {
    namespace: String,
    clusters: Observer<TrustedExecutionCluster>,
    machines: Observer<Machine>,
    keys: Observer<AttestationKey>,
    secrets: Observer<Secret>,
    deployments: Observer<Deployment>,
    config_maps: Observer<ConfigMap>,
    services: Observer<Service>,
}

impl Watched {
    pub(super) fn start(client: &Client, namespace: &str) -> Watched {
        fn observe<K>(client: &Client, namespace: &str) -> Observer<K>
        where
            K: Resource<DynamicType = (), Scope = kube::core::NamespaceResourceScope>
                + Clone
                + std::fmt::Debug
                + DeserializeOwned
                + Send
                + 'static,
        {
            Observer::start(Api::namespaced(client.clone(), namespace), |_| ())
        }
        Watched {
            namespace: namespace.to_owned(),
            clusters: observe(client, namespace),
            machines: observe(client, namespace),
            keys: observe(client, namespace),
            secrets: observe(client, namespace),
            deployments: observe(client, namespace),
            config_maps: observe(client, namespace),
            services: observe(client, namespace),
        }
    }

    /// The state now.
    pub(super) fn state(&self) -> State {
        let mut objects = Vec::new();
        add("TrustedExecutionCluster", &self.clusters, &mut objects);
        add("Machine", &self.machines, &mut objects);
        add("AttestationKey", &self.keys, &mut objects);
        add("Secret", &self.secrets, &mut objects);
        add("Deployment", &self.deployments, &mut objects);
        add("ConfigMap", &self.config_maps, &mut objects);
        add("Service", &self.services, &mut objects);
        objects.retain(|(_, object)| object["metadata"]["name"] != ROOT_CA);
        let rolled_out = self.deployments.read(|deployments| {
            deployments.get(TRUSTEE_DEPLOYMENT).is_some_and(|trustee| Delivered::read(trustee).rolled_out)
        });
        objects.push(("Rollout", json!({"metadata": {"name": "trustee"}, "complete": rolled_out})));
        State::new(&self.namespace, objects)
    }

    /// Waits until something holds for the state; the last answer where it does not in time.
    pub(super) async fn until(
        &mut self,
        timeout: Duration,
        mut check: impl FnMut(&State) -> Result<(), String>,
    ) -> Result<(), String> {
        let deadline = Instant::now() + timeout;
        loop {
            let Err(problem) = check(&self.state()) else { return Ok(()) };
            if tokio::time::timeout_at(deadline, self.changed()).await.is_err() {
                return Err(problem);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn changed(&mut self) {
        tokio::select! {
            () = self.clusters.changed() => (),
            () = self.machines.changed() => (),
            () = self.keys.changed() => (),
            () = self.secrets.changed() => (),
            () = self.deployments.changed() => (),
            () = self.config_maps.changed() => (),
            () = self.services.changed() => (),
        }
    }
}

fn add<K>(kind: &'static str, observer: &Observer<K>, objects: &mut Vec<(&'static str, Value)>)
where
    K: Resource<DynamicType = ()> + Clone + std::fmt::Debug + DeserializeOwned + Serialize + Send + 'static,
{
    // What was read from JSON can be written as JSON.
    observer.read(|all| {
        objects.extend(all.values().map(|object| (kind, serde_json::to_value(object).unwrap_or_default())));
    });
}
