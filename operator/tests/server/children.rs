//! What tests ask of the objects the operator installs.

use std::fmt::Debug;
use std::time::Duration;

use k8s_openapi::ByteString;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{Patch, PatchParams, PostParams};
use kube::core::NamespaceResourceScope;
use kube::{Resource, ResourceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use testenv::{eventually, objects};
use trusted_crds::names::{APPLIED_HASH_ANNOTATION, MANAGED_BY, MANAGED_BY_LABEL};
use trusted_crds::{TrustedExecutionCluster, TrustedExecutionClusterSpec, condition};

use crate::support::{CLUSTER, Env, TIMEOUT};

pub const SERVICES: [&str; 3] = ["kbs-service", "register-server", "attestation-key-register"];
pub const DEPLOYMENTS: [&str; 3] = ["register-server", "attestation-key-register", "trustee-deployment"];
pub const CONFIG_MAPS: [&str; 2] = ["trustee-data", "attestation-policy"];
/// Within this time what somebody changed is right again.
pub const REPAIR: Duration = Duration::from_secs(2);
/// Long enough for a name that was taken to be tried again.
pub const RETRY: Duration = Duration::from_secs(45);

/// A kind children are of.
pub trait Child:
    Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + Serialize + DeserializeOwned
{
}

impl<K> Child for K where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
        + Clone
        + Debug
        + Serialize
        + DeserializeOwned
{
}

/// A cluster with this spec, besides an address.
pub fn cluster(name: &str, change: impl FnOnce(&mut TrustedExecutionClusterSpec)) -> TrustedExecutionCluster {
    let mut cluster = objects::cluster(name);
    change(&mut cluster.spec);
    cluster
}

impl Env {
    /// Waits until a child exists that this cluster owns and that is not on its way out.
    pub async fn child_of<K: Child>(&self, name: &str, cluster: &TrustedExecutionCluster) -> K {
        let api = self.api::<K>();
        eventually(&format!("{} {name} of the cluster", K::kind(&())), TIMEOUT, || async {
            let object = api.get_opt(name).await.unwrap().ok_or("it does not exist")?;
            let owners: Vec<_> = object.owner_references().iter().map(|owner| owner.uid.clone()).collect();
            let live = object.meta().deletion_timestamp.is_none();
            let owned = owners == [cluster.uid().unwrap()];
            (owned && live).then_some(object).ok_or("it belongs to somebody else or is going")
        })
        .await
    }

    /// Waits until the cluster is installed, and checks that everything is there and its own.
    pub async fn installed(&self, cluster: &TrustedExecutionCluster) {
        self.condition::<TrustedExecutionCluster>(&cluster.name_any(), condition::INSTALLED, "True").await;
        for name in SERVICES {
            assert_child(&self.child_of::<Service>(name, cluster).await);
        }
        for name in DEPLOYMENTS {
            assert_child(&self.child_of::<Deployment>(name, cluster).await);
        }
        for name in CONFIG_MAPS {
            assert_child(&self.child_of::<ConfigMap>(name, cluster).await);
        }
    }

    /// The installed cluster.
    pub async fn cluster(&self) -> TrustedExecutionCluster {
        self.api::<TrustedExecutionCluster>().get(CLUSTER).await.unwrap()
    }

    /// Changes an object as an administrator would.
    pub async fn edit<K: Child>(&self, name: &str, patch: Value) -> K {
        self.api::<K>().patch(name, &PatchParams::default(), &Patch::Merge(&patch)).await.unwrap()
    }

    /// Changes an object by replacing it whole, which can reach into lists.
    pub async fn rewrite<K: Child>(&self, name: &str, change: impl Fn(&mut Value)) {
        let api = self.api::<K>();
        eventually(&format!("{} {name} to be rewritten", K::kind(&())), TIMEOUT, || async {
            let mut object = serde_json::to_value(api.get(name).await.unwrap()).unwrap();
            change(&mut object);
            let object: K = serde_json::from_value(object).unwrap();
            api.replace(name, &PostParams::default(), &object).await
        })
        .await;
    }

    /// Waits, no longer than a repair may take, for something to be true of an object.
    pub async fn repaired<K: Child>(&self, what: &str, name: &str, right: impl Fn(&Value) -> bool) {
        let api = self.api::<K>();
        eventually(&format!("{what} of {} {name} to be repaired", K::kind(&())), REPAIR, || async {
            let object = api.get_opt(name).await.unwrap().ok_or("it does not exist")?;
            let object = serde_json::to_value(object).unwrap();
            right(&object)
                .then_some(())
                .ok_or_else(|| object["spec"].to_string() + &object["data"].to_string())
        })
        .await;
    }

    /// Waits until the operator has certainly looked at everything that happened before: it counts a new Machine.
    pub async fn seen_by_operator(&self, cluster: &str) {
        let api = self.api::<TrustedExecutionCluster>();
        let count =
            |cluster: &TrustedExecutionCluster| cluster.status.as_ref().and_then(|status| status.machines);
        let before = count(&api.get(cluster).await.unwrap()).unwrap_or(0);
        self.machine(&format!("marker-{before}")).await;
        eventually("the operator to count another Machine", TIMEOUT, || async {
            let now = count(&api.get(cluster).await.unwrap());
            (now > Some(before)).then_some(()).ok_or_else(|| format!("{now:?}"))
        })
        .await;
    }

    /// Creates a Secret of these parts.
    pub async fn tls_secret(&self, name: &str, parts: &[(&str, &str)]) -> Secret {
        let data = parts.iter().map(|(key, text)| ((*key).to_owned(), ByteString(text.as_bytes().to_vec())));
        let metadata = ObjectMeta { name: Some(name.into()), ..Default::default() };
        self.create(&Secret { metadata, data: Some(data.collect()), ..Default::default() }).await
    }
}

/// A self-signed certificate and its key.
pub fn certificate() -> (String, String) {
    let made = rcgen::generate_simple_self_signed(vec!["kbs-service".to_owned()]).unwrap();
    (made.cert.pem(), made.signing_key.serialize_pem())
}

fn assert_child<K: Child>(object: &K) {
    assert_eq!(object.labels()[MANAGED_BY_LABEL], MANAGED_BY);
    assert_eq!(object.annotations()[APPLIED_HASH_ANNOTATION].len(), 64);
    let owner = &object.owner_references()[0];
    assert_eq!((owner.controller, owner.block_owner_deletion), (Some(true), Some(true)));
}

/// Containers of a Deployment.
pub fn containers(deployment: &Value) -> &Vec<Value> {
    deployment["spec"]["template"]["spec"]["containers"].as_array().unwrap()
}

/// Names of the volumes of a Deployment.
pub fn volumes(deployment: &Value) -> Vec<&str> {
    let volumes = deployment["spec"]["template"]["spec"]["volumes"].as_array();
    volumes.into_iter().flatten().map(|volume| volume["name"].as_str().unwrap()).collect()
}

/// A container that somebody adds.
pub fn spy() -> Value {
    json!({"name": "spy", "image": "spy", "volumeMounts": [{"name": "disk-keys", "mountPath": "/keys"}]})
}
