//! Sets the stage: objects as a user would make them, statuses as the operator would write them.

use jiff::Timestamp;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, Client};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use testenv::{TestNamespace, objects};
use trusted_crds::{AttestationKey, Fingerprint, Machine, PublicKey, TrustedExecutionCluster};

/// A namespace and a client that may write everything in it.
pub(crate) struct Stage {
    pub(crate) admin: Client,
    pub(crate) namespace: String,
}

impl Stage {
    pub(crate) fn of(namespace: &TestNamespace) -> Stage {
        Stage { admin: namespace.control_plane().admin(), namespace: namespace.name().to_owned() }
    }

    pub(crate) fn api<K>(&self) -> Api<K>
    where
        K: kube::Resource<DynamicType = (), Scope = kube::core::NamespaceResourceScope>,
    {
        Api::namespaced(self.admin.clone(), &self.namespace)
    }

    pub(crate) async fn create<K>(&self, object: &K) -> K
    where
        K: kube::Resource<DynamicType = (), Scope = kube::core::NamespaceResourceScope>
            + Clone
            + std::fmt::Debug
            + Serialize
            + DeserializeOwned,
    {
        self.api().create(&PostParams::default(), object).await.expect("the object is accepted")
    }

    pub(crate) async fn status<K>(&self, name: &str, status: Value)
    where
        K: kube::Resource<DynamicType = (), Scope = kube::core::NamespaceResourceScope>
            + Clone
            + std::fmt::Debug
            + DeserializeOwned,
    {
        let patch = Patch::Merge(json!({"status": status}));
        let patched = self.api::<K>().patch_status(name, &PatchParams::default(), &patch).await;
        patched.expect("the status is accepted");
    }

    pub(crate) async fn cluster(&self, name: &str) {
        self.create(&objects::cluster(name)).await;
        let conditions = [
            condition("Installed", "True", "InstallationCompleted", ""),
            condition("KnownTrusteeAddress", "True", "AddressFound", ""),
            condition("TrusteeReady", "True", "Available", ""),
        ];
        self.status::<TrustedExecutionCluster>(name, json!({"conditions": conditions})).await;
    }

    /// A machine with a disk key that is bound to a key, or to none.
    pub(crate) async fn machine(&self, name: &str, id: &str, bound: Option<(&str, &Fingerprint)>) {
        self.create(&objects::machine(name, id)).await;
        let (status, reason) = if bound.is_some() { ("True", "Bound") } else { ("False", "NoKey") };
        let conditions = [
            condition("KeyReady", "True", "KeyCreated", ""),
            condition("AttestationKeyBound", status, reason, ""),
        ];
        let key = bound.map(|(name, fingerprint)| json!({"name": name, "fingerprint": fingerprint}));
        self.status::<Machine>(name, json!({"conditions": conditions, "attestationKey": key})).await;
    }

    /// A fresh key; its fingerprint.
    pub(crate) async fn key(&self, name: &str, uuid: Option<&str>) -> Fingerprint {
        self.key_of(name, uuid, &objects::public_key()).await
    }

    pub(crate) async fn key_of(&self, name: &str, uuid: Option<&str>, pem: &str) -> Fingerprint {
        self.create(&objects::attestation_key(name, uuid, pem)).await;
        PublicKey::from_pem(pem).expect("a valid key").fingerprint().clone()
    }

    /// What the operator says of a key, for the generation it has now.
    pub(crate) async fn approved(&self, name: &str, status: &str, reason: &str, message: &str) {
        let key = self.api::<AttestationKey>().get(name).await.expect("the key is there");
        let mut condition = condition("Approved", status, reason, message);
        condition["observedGeneration"] = json!(key.metadata.generation);
        self.status::<AttestationKey>(name, json!({"conditions": [condition]})).await;
    }

    /// Trustee with these keys; kwok lets its pod become ready.
    pub(crate) async fn trustee(&self, keys: &[&Fingerprint], disks: &[&str]) {
        let key = |key: &&Fingerprint| json!({"secret": {"name": "k", "items": [{"key": "k", "path": trusted_crds::delivery::key_file(key)}]}});
        let disk = |id: &&str| json!({"secret": {"name": "d", "items": [{"key": "d", "path": trusted_crds::delivery::disk_key_path(id)}]}});
        let keys: Vec<_> = keys.iter().map(key).collect();
        let disks: Vec<_> = disks.iter().map(disk).collect();
        let deployment = json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "trustee-deployment", "labels": {"app.kubernetes.io/managed-by": "trusted-operator"}},
            "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "kbs"}}, "template": {
                "metadata": {"labels": {"app": "kbs"}},
                "spec": {"containers": [{"name": "kbs", "image": "example.org/kbs"}], "volumes": [
                    {"name": "trusted-ak-keys", "projected": {"sources": keys}},
                    {"name": "disk-keys", "projected": {"sources": disks}},
                ]},
            }},
        });
        let parameters = PatchParams::apply("test").force();
        let applied = self
            .api::<Deployment>()
            .patch("trustee-deployment", &parameters, &Patch::Apply(deployment))
            .await;
        applied.expect("the Deployment is accepted");
    }

    /// Lets `nobody` list these resources of our group.
    pub(crate) async fn grant(&self, namespace: &TestNamespace, resources: &[&str]) {
        let role: Role = serde_json::from_value(json!({
            "metadata": {"name": "part"},
            "rules": [{"apiGroups": ["trusted-execution-clusters.io"], "resources": resources, "verbs": ["list"]}],
        }))
        .unwrap();
        let binding: RoleBinding = serde_json::from_value(json!({
            "metadata": {"name": "part"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "part"},
            "subjects": [{
                "kind": "User", "name": namespace.user_name("nobody"), "apiGroup": "rbac.authorization.k8s.io",
            }],
        }))
        .unwrap();
        let roles: Api<Role> = self.api();
        roles.create(&PostParams::default(), &role).await.unwrap();
        let bindings: Api<RoleBinding> = self.api();
        bindings.create(&PostParams::default(), &binding).await.unwrap();
    }
}

pub(crate) fn condition(type_: &str, status: &str, reason: &str, message: &str) -> Value {
    let now = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    json!({"type": type_, "status": status, "reason": reason, "message": message, "lastTransitionTime": now})
}

/// The text with every age, instant and fingerprint replaced, so that it can be compared.
pub(crate) fn settled(text: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    for line in text.lines() {
        words.push(line.split(' ').map(replaced).collect::<Vec<_>>().join(" ").trim_end().to_owned());
    }
    words.join("\n") + "\n"
}

fn replaced(word: &str) -> String {
    let age = word.strip_suffix('s').filter(|number| !number.is_empty());
    if age.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit())) {
        return "AGE".to_owned();
    }
    if word.len() == 12 && word.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return "FINGERPRINT".to_owned();
    }
    word.to_owned()
}
