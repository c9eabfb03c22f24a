//! Pairs that are settled already.
//!
//! Purpose: far more objects than an operator can be waited for to settle. It settles one pair, and the others are
//! made as copies of what that became, so that they are just as the operator leaves them.

use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::api::core::v1::Secret;
use kube::{
    Api, Client, Resource,
    api::{Patch, PatchParams, PostParams},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use testenv::{TestNamespace, objects};
use trusted_crds::{AttestationKey, Machine, PublicKey, names};

use crate::{failure::Failure, pairs::Pairs};

/// Pairs in the making at a time.
const CONCURRENCY: usize = 32;

/// One settled pair, and how to make more.
pub(crate) struct Copies {
    machines: Api<Machine>,
    keys: Api<AttestationKey>,
    /// As the operator, which alone may make its Secrets.
    secrets: Api<Secret>,
    model: Model,
}

/// A pair as JSON, without what the API server gives each object.
struct Model {
    machine: Value,
    key: Value,
    disk_key: Value,
    binding: Value,
    /// What is different in each pair: identity, public key and fingerprint, as JSON texts without their quotes.
    texts: Vec<String>,
    uids: [String; 2],
}

impl Copies {
    /// Takes the first pair for the model.
    pub(crate) async fn of_first(
        admin: &Client,
        operator: &Client,
        namespace: &TestNamespace,
    ) -> Result<Copies, Failure> {
        let machines: Api<Machine> = Api::namespaced(admin.clone(), namespace.name());
        let keys: Api<AttestationKey> = Api::namespaced(admin.clone(), namespace.name());
        let secrets: Api<Secret> = Api::namespaced(operator.clone(), namespace.name());
        let id = Pairs::id(0);
        let machine = get(&machines, &Pairs::machine_name(0)).await?;
        let key = get(&keys, &Pairs::key_name(0)).await?;
        let uid = |object: &Value| object["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
        let pem = key["spec"]["publicKey"].as_str().unwrap_or_default();
        let model = Model {
            disk_key: template(get(&secrets, &names::disk_key_secret(&id)).await?),
            binding: template(get(&secrets, &names::binding_secret(&id)).await?),
            texts: texts(0, pem)?,
            uids: [uid(&machine), uid(&key)],
            machine: template(machine),
            key: template(key),
        };
        Ok(Copies { machines, keys, secrets, model })
    }

    /// Makes all pairs but the first.
    pub(crate) async fn fill(&self, pairs: usize) -> Result<(), Failure> {
        stream::iter(1..pairs)
            .map(|pair| self.make(pair))
            .buffer_unordered(CONCURRENCY)
            .try_for_each(|()| async { Ok(()) })
            .await
    }

    async fn make(&self, pair: usize) -> Result<(), Failure> {
        let texts = texts(pair, &objects::public_key())?;
        let mut changes: Vec<_> = self.model.texts.iter().map(String::as_str).zip(texts).collect();
        let [machine_uid, key_uid] = &self.model.uids;
        let machine = create(&self.machines, &copied(&self.model.machine, &changes)?).await?;
        changes.push((machine_uid, machine));
        let key = create(&self.keys, &copied(&self.model.key, &changes)?).await?;
        changes.push((key_uid, key));
        create(&self.secrets, &copied(&self.model.disk_key, &changes)?).await?;
        create(&self.secrets, &copied(&self.model.binding, &changes)?).await?;
        Ok(())
    }
}

/// What is different in each pair.
fn texts(pair: usize, pem: &str) -> Result<Vec<String>, Failure> {
    let fingerprint = PublicKey::from_pem(pem)
        .map_err(|error| Failure::Unexpected(format!("the key of pair {pair}: {error}")))?
        .fingerprint()
        .to_string();
    let pem = json!(pem).to_string().trim_matches('"').to_owned();
    Ok(vec![Pairs::machine_name(pair), Pairs::key_name(pair), Pairs::id(pair), fingerprint, pem])
}

/// An object without what the API server gives it.
fn template(mut object: Value) -> Value {
    if let Some(metadata) = object["metadata"].as_object_mut() {
        for field in ["uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"] {
            metadata.remove(field);
        }
    }
    object
}

fn copied(model: &Value, changes: &[(&str, String)]) -> Result<Value, Failure> {
    let mut text = model.to_string();
    for (from, to) in changes {
        text = text.replace(from, to);
    }
    serde_json::from_str(&text).map_err(|error| Failure::Unexpected(format!("a copy of an object: {error}")))
}

async fn get<K>(api: &Api<K>, name: &str) -> Result<Value, Failure>
where
    K: Clone + DeserializeOwned + Serialize + std::fmt::Debug,
{
    let object = api.get(name).await.map_err(Failure::kube("read the pair to copy"))?;
    serde_json::to_value(object).map_err(|error| Failure::Unexpected(error.to_string()))
}

/// Creates an object with its status, if it has one; returns its uid.
async fn create<K>(api: &Api<K>, copy: &Value) -> Result<String, Failure>
where
    K: Resource + Clone + DeserializeOwned + Serialize + std::fmt::Debug,
{
    let object =
        serde_json::from_value(copy.clone()).map_err(|error| Failure::Unexpected(error.to_string()))?;
    let created: K =
        api.create(&PostParams::default(), &object).await.map_err(Failure::kube("create a copy"))?;
    let meta = created.meta();
    if let (Some(status), Some(name)) = (copy.get("status"), &meta.name) {
        let patch = Patch::Merge(json!({ "status": status }));
        let patched = api.patch_status(name, &PatchParams::default(), &patch).await;
        patched.map_err(Failure::kube("write the status of a copy"))?;
    }
    Ok(meta.uid.clone().unwrap_or_default())
}
