//! The only place of the operator that writes to the API server, or reads a single object from it.
//!
//! Every write names the object it means by uid or, for a create, lets the API server refuse a name that is
//! taken, and is entered into the store's ledger of own writes, so that no later decision rests on a store
//! that has not seen it yet. Nothing here decides whether to write.

mod body;

use std::fmt::Debug;

use cachelib::{Cache, Key};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service};
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams, Preconditions};
use kube::{Resource, ResourceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use trusted_crds::names::FIELD_MANAGER;
use trusted_crds::{ApprovedImage, AttestationKey, HasConditions, Machine, TrustedExecutionCluster};

use crate::child::Folded;
use crate::context::{Caches, behind};
use crate::error::{ReconcileError, WriteError};
use crate::events::Events;
use crate::lease::Tenure;
use crate::secret::{SecretMeta, SecretRecord};

pub use body::Body;

/// Names one existing object so that a write can never reach its successor of the same name.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// Name of the object.
    pub name: &'a str,
    /// Its uid.
    pub uid: &'a str,
    /// The version the decision rests on; the write is refused if the object has moved on. Required where a
    /// uid does not guard the write (statuses).
    pub resource_version: Option<&'a str>,
}

impl<'a> Target<'a> {
    /// The object at exactly the version held by the store.
    pub fn exactly<K: Resource>(object: &'a K) -> Self {
        let meta = object.meta();
        Target { resource_version: meta.resource_version.as_deref(), ..Self::any_version(object) }
    }

    /// The object in whatever version, guarded by its uid alone.
    pub fn any_version<K: Resource>(object: &'a K) -> Self {
        let meta = object.meta();
        Target {
            name: meta.name.as_deref().unwrap_or_default(),
            uid: meta.uid.as_deref().unwrap_or_default(),
            resource_version: None,
        }
    }
}

/// Answer to a create.
#[derive(Debug)]
pub enum Created<K> {
    /// The object is ours: the API server stored it as sent.
    New(K),
    /// An object of that name exists already; nothing was changed.
    Exists,
}

/// A kind the operator writes, and the store that will show the write.
pub trait Written:
    Resource<DynamicType = (), Scope = NamespaceResourceScope>
    + Clone
    + Debug
    + Serialize
    + DeserializeOwned
    + Send
    + Sync
    + 'static
{
    /// What the store of this kind holds.
    type Stored: Send + Sync + 'static;
    /// The store of this kind.
    fn store(caches: &Caches) -> &Cache<Self::Stored>;
    /// Which of the stores that a decision to delete such an object rests on may be behind, in words.
    fn behind(caches: &Caches) -> Option<String>;
}

macro_rules! written {
    ($($kind:ty as $stored:ty => $field:ident $(because of $ground:ident)?),+ $(,)?) => {$(
        impl Written for $kind {
            type Stored = $stored;
            fn store(caches: &Caches) -> &Cache<$stored> {
                &caches.$field
            }

            fn behind(caches: &Caches) -> Option<String> {
                behind(&caches.$field)$(.or_else(|| behind(&caches.$ground)))?
            }
        }
    )+};
}

written! {
    TrustedExecutionCluster as TrustedExecutionCluster => clusters,
    Machine as Machine => machines,
    AttestationKey as AttestationKey => attestation_keys,
    ApprovedImage as ApprovedImage => approved_images,
    Secret as SecretRecord => secrets because of attestation_keys,
    SecretMeta as SecretRecord => secrets because of attestation_keys,
    Deployment as Folded<Deployment> => deployments because of clusters,
    ConfigMap as Folded<ConfigMap> => config_maps because of clusters,
    Service as Folded<Service> => services because of clusters,
}

/// Sends writes to one namespace.
#[derive(Clone)]
pub struct Writer {
    client: kube::Client,
    namespace: String,
    caches: Caches,
    tenure: Tenure,
    events: Events,
}

impl Writer {
    /// A writer into `namespace` that keeps the ledgers of `caches` and sends nothing outside of `tenure`.
    pub fn new(
        client: kube::Client,
        namespace: String,
        caches: Caches,
        tenure: Tenure,
        events: Events,
    ) -> Self {
        Writer { client, namespace, caches, tenure, events }
    }

    /// Asked at the last moment before a write is sent: this process may have been stopped since it decided.
    fn may_write<K: Written>(&self, verb: &'static str, name: &str) -> Result<(), WriteError> {
        if self.tenure.is_ours() { Ok(()) } else { Err(WriteError::not_leading::<K>(verb, name)) }
    }

    /// Creates `object`; an object of the same name is left untouched.
    pub async fn create<K: Written>(&self, object: &K) -> Result<Created<K>, WriteError> {
        let name = object.name_any();
        let params = PostParams { field_manager: Some(FIELD_MANAGER.into()), ..Default::default() };
        self.may_write::<K>("create", &name)?;
        match self.api::<K>().create(&params, object).await {
            Ok(created) => {
                self.expect_version(&created);
                tracing::debug!(kind = %K::kind(&()), name, "created");
                Ok(Created::New(created))
            }
            Err(kube::Error::Api(status)) if status.is_already_exists() => Ok(Created::Exists),
            Err(error) => Err(WriteError::of::<K>("create", &name, &error)),
        }
    }

    /// Changes an object by one merge patch; `patch` need not hold the preconditions of `target`.
    pub async fn merge_patch<K: Written>(
        &self,
        target: Target<'_>,
        patch: impl Into<Body>,
    ) -> Result<K, WriteError> {
        let body = patch.into().guarded(target);
        let params = PatchParams { field_manager: Some(FIELD_MANAGER.into()), ..Default::default() };
        self.may_write::<K>("patch", target.name)?;
        let answer = self.api::<K>().patch(target.name, &params, &Patch::Merge(&body)).await;
        self.written("patch", target, answer)
    }

    /// Applies the whole status of an object, in exactly the version given: a uid does not guard a status write. What a
    /// person should learn from it becomes an Event.
    pub async fn apply_status<K: Written + HasConditions>(
        &self,
        object: &K,
        status: &impl Serialize,
    ) -> Result<K, ReconcileError> {
        let (target, status) = (Target::exactly(object), serde_json::to_value(status)?);
        let body = json!({ "apiVersion": K::api_version(&()), "kind": K::kind(&()), "status": status });
        let body = Body::from(body).guarded(target);
        let params = PatchParams::apply(FIELD_MANAGER).force();
        self.may_write::<K>("apply the status of", target.name)?;
        let answer = self.api::<K>().patch_status(target.name, &params, &Patch::Apply(&body)).await;
        let written = self.written("apply the status of", target, answer)?;
        let written = self.remove_left(written, &status).await?;
        self.events.of_conditions(&written, object.conditions(), written.conditions());
        Ok(written)
    }

    /// Removes fields of a status that were left out and are there all the same: an apply takes back only what nobody else
    /// has written too. Conditions of others are within a field of ours and stay.
    async fn remove_left<K: Written>(&self, written: K, applied: &Value) -> Result<K, ReconcileError> {
        let stored = serde_json::to_value(&written)?;
        let fields = stored["status"].as_object().into_iter().flatten();
        let left: Map<String, Value> = fields
            .filter(|(field, _)| applied.get(field.as_str()).is_none())
            .map(|(field, _)| (field.clone(), Value::Null))
            .collect();
        if left.is_empty() {
            return Ok(written);
        }
        let (verb, target) = ("take something out of the status of", Target::exactly(&written));
        let body = Body::from(json!({ "status": left })).guarded(target);
        let params = PatchParams { field_manager: Some(FIELD_MANAGER.into()), ..Default::default() };
        self.may_write::<K>(verb, target.name)?;
        let answer = self.api::<K>().patch_status(target.name, &params, &Patch::Merge(&body)).await;
        Ok(self.written(verb, target, answer)?)
    }

    /// Where Events are told that no condition of their own goes with.
    pub fn events(&self) -> &Events {
        &self.events
    }

    /// Deletes an object, if it still is the one meant and the stores say so that surely are not behind.
    pub async fn delete<K: Written>(&self, target: Target<'_>) -> Result<(), WriteError> {
        if let Some(store) = K::behind(&self.caches) {
            return Err(WriteError::behind::<K>("delete", target.name, &store));
        }
        self.delete_as_told::<K>(target).await
    }

    /// Deletes an object because a person said so, if it still is the one meant. That word holds, however old the stores
    /// are.
    pub async fn delete_as_told<K: Written>(&self, target: Target<'_>) -> Result<(), WriteError> {
        let preconditions = Preconditions {
            uid: Some(target.uid.to_owned()),
            resource_version: target.resource_version.map(str::to_owned),
        };
        let params = DeleteParams::default().preconditions(preconditions);
        self.may_write::<K>("delete", target.name)?;
        match self.api::<K>().delete(target.name, &params).await {
            Ok(_) => {}
            Err(kube::Error::Api(status)) if status.is_not_found() => {}
            Err(error) => return Err(WriteError::of::<K>("delete", target.name, &error)),
        }
        K::store(&self.caches).expect_gone(&self.key(target.name), target.uid);
        Ok(())
    }

    /// Reads one object from the API server, where no store can answer: what a Secret holds, of which the stores have
    /// the metadata alone, or what has a name that a create found taken. `None` if it does not exist.
    pub async fn get<K: Written>(&self, name: &str) -> Result<Option<K>, WriteError> {
        self.api::<K>().get_opt(name).await.map_err(|error| WriteError::of::<K>("read", name, &error))
    }

    /// Asks the API server whether it would accept `patch`, without changing anything. `Err` holds its refusal.
    pub async fn try_patch<K: Written>(
        &self,
        target: Target<'_>,
        patch: Value,
    ) -> Result<Result<(), Box<kube::core::Status>>, WriteError> {
        let body = Body::from(patch).guarded(target);
        let params =
            PatchParams { dry_run: true, field_manager: Some(FIELD_MANAGER.into()), ..Default::default() };
        match self.api::<K>().patch(target.name, &params, &Patch::Merge(&body)).await {
            Ok(_) => Ok(Ok(())),
            Err(kube::Error::Api(status)) if status.is_forbidden() => Ok(Err(status)),
            Err(error) => Err(WriteError::of::<K>("dry-run patch", target.name, &error)),
        }
    }

    /// Asks the API server whether an object still is the one that the store shows and is to stay, without changing
    /// anything. Whoever is made an owner is asked for so, since garbage collection takes what belongs to nobody.
    pub async fn confirm<K: Written>(&self, object: &K) -> Result<(), WriteError> {
        let (verb, target) = ("confirm", Target::any_version(object));
        let params = PatchParams { dry_run: true, ..PatchParams::default() };
        let body = Body::from(json!({})).guarded(target);
        match self.api::<K>().patch(target.name, &params, &Patch::Merge(&body)).await {
            Ok(found) if found.meta().deletion_timestamp.is_none() => Ok(()),
            Ok(_) => Err(WriteError::leaving::<K>(verb, target.name)),
            Err(error) => Err(WriteError::of::<K>(verb, target.name, &error)),
        }
    }

    fn api<K: Written>(&self) -> Api<K> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    fn key(&self, name: &str) -> Key {
        Key { namespace: self.namespace.clone(), name: name.to_owned() }
    }

    fn written<K: Written>(
        &self,
        verb: &'static str,
        target: Target<'_>,
        answer: Result<K, kube::Error>,
    ) -> Result<K, WriteError> {
        match answer {
            Ok(object) => {
                self.expect_version(&object);
                tracing::debug!(kind = %K::kind(&()), name = target.name, verb, "written");
                Ok(object)
            }
            Err(error) => Err(WriteError::of::<K>(verb, target.name, &error)),
        }
    }

    fn expect_version<K: Written>(&self, object: &K) {
        let meta = object.meta();
        if let (Some(uid), Some(version)) = (&meta.uid, &meta.resource_version) {
            K::store(&self.caches).expect_version(&self.key(&object.name_any()), uid, version);
        }
    }
}
