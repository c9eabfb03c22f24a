//! Namespaces with an identity of their own, and what the tests of this crate create in them.

use std::{collections::BTreeMap, fmt::Debug, hash::Hash, time::Duration};

use cachelib::{
    Builder, Cache, Cached, Clients, Key, Options, Readiness, RequestCounter, Running, Subscription, clients,
};
use futures::{StreamExt, stream};
use k8s_openapi::{
    api::{
        authorization::v1::SubjectAccessReview,
        core::v1::{ConfigMap, ServiceAccount},
        rbac::v1::{Role, RoleBinding},
    },
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, Client, Config, CustomResource, Resource,
    api::{DeleteParams, ObjectMeta, Patch, PatchParams, PostParams},
    core::NamespaceResourceScope,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use testenv::{ControlPlane, TestNamespace, eventually};

/// Longest wait for anything; far above what a healthy run needs.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

pub(crate) const USER_AGENT: &str = "cachelib-test/1";

/// The ServiceAccount as which the code under test acts.
const ACCOUNT: &str = "cache";

/// A resource and the verbs a test may use on it.
pub(crate) type Right<'a> = (&'a str, &'a str, &'a [&'a str]);

/// What a cache needs of a kind.
pub(crate) const READ: &[&str] = &["list", "watch"];

/// A namespace, and a user who may do in it only what the test says.
pub(crate) struct Scene {
    pub(crate) control_plane: &'static ControlPlane,
    pub(crate) namespace: TestNamespace,
    pub(crate) config: Config,
    /// Has all rights. One for the whole test: to connect takes longer than to ask.
    admin: Client,
}

impl Scene {
    pub(crate) async fn new(prefix: &str, rights: &[Right<'_>]) -> Self {
        let control_plane = ControlPlane::shared().await;
        let namespace = control_plane.namespace(prefix).await;
        let admin = control_plane.admin();
        let account: ServiceAccount = object(json!({"metadata": {"name": ACCOUNT}}));
        create(&Api::namespaced(admin.clone(), namespace.name()), &account).await;
        let token = namespace.service_account_token(ACCOUNT).await;
        let mut config = control_plane.config_for_token(&token);
        config.default_namespace = namespace.name().to_owned();
        let scene = Self { control_plane, namespace, config, admin };
        for right in rights {
            scene.grant(*right).await;
        }
        scene
    }

    /// Grants a right and waits until the API server acts on it.
    pub(crate) async fn grant(&self, right: Right<'_>) {
        let (group, resource, verbs) = right;
        let rule = json!({"apiGroups": [group], "resources": [resource], "verbs": verbs});
        let role: Role = object(json!({"metadata": {"name": role_of(right)}, "rules": [rule]}));
        create(&self.admin(), &role).await;
        self.bind(right).await;
    }

    /// Grants a right once more that was revoked.
    pub(crate) async fn bind(&self, right: Right<'_>) {
        let name = role_of(right);
        let binding: RoleBinding = object(json!({
            "metadata": {"name": name},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
            "subjects": [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": self.namespace.name()}],
        }));
        create(&self.admin(), &binding).await;
        self.wait_until_allowed(right, true).await;
    }

    /// Takes a right away and waits until the API server acts on it. A watch that is open stays so.
    pub(crate) async fn revoke(&self, right: Right<'_>) {
        let bindings = self.admin::<RoleBinding>();
        bindings.delete(&role_of(right), &DeleteParams::default()).await.unwrap();
        self.wait_until_allowed(right, false).await;
    }

    async fn wait_until_allowed(&self, (group, resource, verbs): Right<'_>, allowed: bool) {
        let review: SubjectAccessReview = object(json!({"metadata": {}, "spec": {
            "user": self.user(),
            "resourceAttributes": {
                "group": group, "resource": resource, "verb": verbs[0], "namespace": self.namespace.name(),
            },
        }}));
        // Asked as admin, so that the user under test has made no request yet.
        let reviews = Api::<SubjectAccessReview>::all(self.admin.clone());
        eventually("the API server to know the rights", LIMIT, || async {
            let review = reviews.create(&PostParams::default(), &review).await.ok()?;
            review.status.filter(|status| status.allowed == allowed)
        })
        .await;
    }

    /// The user's name in the audit log.
    pub(crate) fn user(&self) -> String {
        self.namespace.service_account_user(ACCOUNT)
    }

    pub(crate) fn source(&self) -> cachelib::Source {
        cachelib::Source::namespaced(self.namespace.name())
    }

    /// Requests with all rights.
    pub(crate) fn admin<K>(&self) -> Api<K>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    {
        Api::namespaced(self.admin.clone(), self.namespace.name())
    }

    pub(crate) fn clients(&self) -> (Clients, RequestCounter) {
        let counter = RequestCounter::new();
        (clients(self.config.clone(), USER_AGENT, &counter).unwrap(), counter)
    }

    pub(crate) fn builder(&self) -> Builder {
        Builder::new(self.clients().0.watch, Options::default())
    }

    /// Ends a test: every store must come to hold exactly what the API server holds. Asked as admin, so that the user
    /// under test makes no request for it.
    pub(crate) async fn stores_equal_server(&self, running: &Running) {
        running.equals_server(&self.admin, LIMIT).await.unwrap();
    }

    /// A running cache of one kind with the index `owner`, which may not be synced yet.
    pub(crate) fn start<K: Cached>(&self, client: Client, options: Options) -> (Cache<K>, Running) {
        let mut builder = Builder::new(client, options);
        let cache = builder.cache::<K>(self.source()).index("owner", cachelib::owner_uids).build().unwrap();
        (cache, builder.start())
    }

    /// The same, synced.
    pub(crate) async fn cache_through<K: Cached>(
        &self,
        client: Client,
        options: Options,
    ) -> (Cache<K>, Running) {
        let (cache, running) = self.start(client, options);
        running.synced(LIMIT).await.unwrap();
        (cache, running)
    }

    /// A running, synced cache of one kind with the index `owner`.
    pub(crate) async fn cache<K: Cached>(&self) -> (Cache<K>, Running) {
        self.cache_through(self.clients().0.watch, Options::default()).await
    }

    /// Creates ConfigMaps, several at a time.
    pub(crate) async fn create_all(&self, names: impl IntoIterator<Item = impl AsRef<str>>) {
        let api = self.admin::<ConfigMap>();
        let create = async |name: String| drop(create(&api, &config_map(&name)).await);
        let names: Vec<_> = names.into_iter().map(|name| name.as_ref().to_owned()).collect();
        stream::iter(names).for_each_concurrent(8, create).await;
    }

    /// Changes the data of a ConfigMap.
    pub(crate) async fn change(&self, name: &str, color: &str) -> ConfigMap {
        let patch = Patch::Merge(json!({"data": {"color": color}}));
        self.admin::<ConfigMap>().patch(name, &PatchParams::default(), &patch).await.unwrap()
    }

    /// Deletes a ConfigMap.
    pub(crate) async fn delete(&self, name: &str) {
        self.admin::<ConfigMap>().delete(name, &DeleteParams::default()).await.unwrap();
    }
}

/// The Role, and RoleBinding, of a right.
fn role_of((_, resource, _): Right<'_>) -> String {
    format!("cache-{resource}")
}

pub(crate) fn object<K: DeserializeOwned>(value: Value) -> K {
    serde_json::from_value(value).unwrap()
}

pub(crate) async fn create<K>(api: &Api<K>, object: &K) -> K
where
    K: Clone + Debug + DeserializeOwned + Serialize,
{
    api.create(&PostParams::default(), object).await.unwrap()
}

pub(crate) fn config_map(name: &str) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() },
        data: Some(BTreeMap::from([("color".to_owned(), "red".to_owned())])),
        ..ConfigMap::default()
    }
}

/// Waits until the cache is in some state.
pub(crate) async fn until<K: Cached>(cache: &Cache<K>, what: impl FnMut(&Readiness) -> bool) -> Readiness {
    let mut readiness = cache.readiness();
    let reached = tokio::time::timeout(LIMIT, readiness.wait_for(what)).await;
    reached.expect("in time").expect("not stopped").clone()
}

/// Waits until a condition holds on the cache.
pub(crate) async fn seen(what: &str, condition: impl Fn() -> bool) {
    eventually(what, LIMIT, || async { condition().then_some(()) }).await;
}

/// The next item of a subscription.
pub(crate) async fn next<T: Hash + Eq + Clone + Send + Sync + 'static>(
    subscription: &mut Subscription<T>,
) -> T {
    tokio::time::timeout(LIMIT, subscription.next()).await.expect("in time").expect("not stopped")
}

/// The version of an object as a number, which it is since Kubernetes 1.35.
pub(crate) fn version(object: &ConfigMap) -> u64 {
    object.metadata.resource_version.as_deref().unwrap().parse().unwrap()
}

/// What [`Scene::change`] changes, as the cache shows it.
pub(crate) fn color(cache: &Cache<ConfigMap>, name: &str) -> Option<String> {
    cache.find(name)?.data.as_ref()?.get("color").cloned()
}

/// The name of an object that came, changed or went.
pub(crate) fn names(old: Option<&ConfigMap>, new: Option<&ConfigMap>) -> Vec<String> {
    old.or(new).map(|object| Key::of(object).name).into_iter().collect()
}

/// The name of an object that went.
pub(crate) fn gone(old: Option<&ConfigMap>, new: Option<&ConfigMap>) -> Vec<String> {
    if new.is_none() { names(old, None) } else { Vec::new() }
}

/// A kind of the malformed tests: the server takes any spec, the program only this one.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize)]
#[kube(group = "cachelib.test", version = "v1", kind = "Widget", namespaced, schema = "disabled")]
pub(crate) struct WidgetSpec {
    pub(crate) size: u32,
}

/// A kind that is not installed until a test does so.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize)]
#[kube(group = "cachelib.test", version = "v1", kind = "Gadget", namespaced, schema = "disabled")]
pub(crate) struct GadgetSpec {}

/// Installs a kind whose objects may have any spec.
pub(crate) async fn install(control_plane: &ControlPlane, plural: &str, kind: &str) {
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let definition: CustomResourceDefinition = object(json!({
        "metadata": {"name": format!("{plural}.cachelib.test")},
        "spec": {
            "group": "cachelib.test", "scope": "Namespaced",
            "names": {"plural": plural, "singular": kind.to_lowercase(), "kind": kind},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
    }));
    let definitions = Api::<CustomResourceDefinition>::all(control_plane.admin());
    match definitions.create(&PostParams::default(), &definition).await {
        Err(kube::Error::Api(status)) if status.code == 409 => {}
        other => drop(other.unwrap()),
    }
    eventually("the installed kind", LIMIT, || async {
        let found = definitions.get(&format!("{plural}.cachelib.test")).await.ok()?;
        found
            .status?
            .conditions?
            .into_iter()
            .find(|condition| condition.type_ == "Established" && condition.status == "True")
    })
    .await;
}
