//! Namespaces with settled rights, and shorthands for asking the API server.

use std::fmt::Debug;
use std::time::Duration;

use k8s_openapi::api::authorization::v1::{ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec};
use k8s_openapi::api::core::v1::Secret;
use kube::api::{ApiResource, DynamicObject, Patch, PatchParams, PostParams};
use kube::{Api, Client, Resource};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use testenv::{ControlPlane, TestNamespace, eventually};
use trusted_crds::{API_VERSION, AttestationKey, Machine, TrustedExecutionCluster};

pub const PATIENCE: Duration = Duration::from_secs(20);

/// A namespace in which every identity has its rights.
pub async fn namespace(prefix: &str) -> TestNamespace {
    ControlPlane::shared().await.namespace(prefix).await
}

pub fn admin(namespace: &TestNamespace) -> Client {
    namespace.control_plane().admin()
}

pub async fn operator(namespace: &TestNamespace) -> Client {
    Client::try_from(namespace.operator_config().await).unwrap()
}

pub async fn service_account(namespace: &TestNamespace, name: &str) -> Client {
    let token = namespace.service_account_token(name).await;
    Client::try_from(namespace.control_plane().config_for_token(&token)).unwrap()
}

/// Asks the API server what identities may do in a namespace, over one connection.
pub struct Reviewer<'a> {
    reviews: Api<SubjectAccessReview>,
    namespace: &'a TestNamespace,
}

impl Reviewer<'_> {
    pub fn of(namespace: &TestNamespace) -> Reviewer<'_> {
        Reviewer { reviews: Api::all(admin(namespace)), namespace }
    }
}

/// Whether RBAC allows it to a test user, or to anybody by the name that the API server knows.
pub async fn may(
    reviewer: &Reviewer<'_>,
    user: &str,
    verb: &str,
    resource: (&str, &str),
    name: Option<&str>,
) -> bool {
    let (group, resource) = resource;
    let (resource, subresource) = match resource.split_once('/') {
        Some((resource, subresource)) => (resource, Some(subresource.to_owned())),
        None => (resource, None),
    };
    let attributes = ResourceAttributes {
        namespace: Some(reviewer.namespace.name().to_owned()),
        verb: Some(verb.to_owned()),
        group: Some(group.to_owned()),
        resource: Some(resource.to_owned()),
        subresource,
        name: name.map(str::to_owned),
        ..ResourceAttributes::default()
    };
    let spec = SubjectAccessReviewSpec {
        user: Some(reviewer.namespace.user_name(user).to_owned()),
        resource_attributes: Some(attributes),
        ..SubjectAccessReviewSpec::default()
    };
    let review = SubjectAccessReview { spec, ..SubjectAccessReview::default() };
    let answer = reviewer.reviews.create(&PostParams::default(), &review).await;
    answer.unwrap().status.is_some_and(|status| status.allowed)
}

pub async fn wait_for_right(namespace: &TestNamespace, user: &str, verb: &str, group: &str, resource: &str) {
    let reviewer = Reviewer::of(namespace);
    eventually(&format!("{user} may {verb} {resource}"), PATIENCE, || async {
        may(&reviewer, user, verb, (group, resource), None).await.then_some(())
    })
    .await;
}

/// Gives a user further rights in the namespace, in addition to those of `deploy/rbac`.
pub async fn grant(namespace: &TestNamespace, user: &str, group: &str, resource: &str, verbs: &[&str]) {
    let name = format!("grant-{user}-{resource}");
    let rbac = "rbac.authorization.k8s.io";
    let role = json!({
        "apiVersion": format!("{rbac}/v1"), "kind": "Role", "metadata": {"name": name},
        "rules": [{"apiGroups": [group], "resources": [resource], "verbs": verbs}],
    });
    let binding = json!({
        "apiVersion": format!("{rbac}/v1"), "kind": "RoleBinding", "metadata": {"name": name},
        "roleRef": {"apiGroup": rbac, "kind": "Role", "name": name},
        "subjects": [{"kind": "User", "apiGroup": rbac, "name": namespace.user_name(user)}],
    });
    for manifest in [role, binding] {
        create_any(&admin(namespace), namespace.name(), &manifest).await.unwrap();
    }
    for verb in verbs {
        wait_for_right(namespace, user, verb, group, resource).await;
    }
}

/// Creates any object.
pub async fn create_any(client: &Client, namespace: &str, value: &Value) -> kube::Result<DynamicObject> {
    let object: DynamicObject = serde_json::from_value(value.clone()).unwrap();
    let kind = object.types.clone().unwrap().try_into().unwrap();
    let api: Api<DynamicObject> =
        Api::namespaced_with(client.clone(), namespace, &ApiResource::from_gvk(&kind));
    api.create(&PostParams::default(), &object).await
}

pub fn api<K>(client: &Client, namespace: &TestNamespace) -> Api<K>
where
    K: Resource<DynamicType = (), Scope = kube::core::NamespaceResourceScope>,
{
    Api::namespaced(client.clone(), namespace.name())
}

pub fn keys(client: &Client, namespace: &TestNamespace) -> Api<AttestationKey> {
    api(client, namespace)
}

pub fn machines(client: &Client, namespace: &TestNamespace) -> Api<Machine> {
    api(client, namespace)
}

pub fn clusters(client: &Client, namespace: &TestNamespace) -> Api<TrustedExecutionCluster> {
    api(client, namespace)
}

pub fn secrets(client: &Client, namespace: &TestNamespace) -> Api<Secret> {
    api(client, namespace)
}

/// Merge patch.
pub async fn patch<K>(api: &Api<K>, name: &str, change: Value) -> kube::Result<K>
where
    K: Clone + DeserializeOwned + Debug,
{
    api.patch(name, &PatchParams::default(), &Patch::Merge(change)).await
}

/// What the API server says against it. Panics when it is accepted.
pub fn refusal<T>(answer: kube::Result<T>) -> String {
    match answer {
        Ok(_) => panic!("it was accepted"),
        Err(kube::Error::Api(status)) => status.message,
        Err(error) => panic!("no answer of the API server: {error}"),
    }
}

/// Asserts that an admission policy refused it with 403, and returns the message.
pub fn refused_by<T>(policy: &str, answer: kube::Result<T>) -> String {
    match answer {
        Ok(_) => panic!("{policy} let it pass"),
        Err(kube::Error::Api(status)) => {
            let message = status.message.clone();
            assert!(
                message.contains(&format!("ValidatingAdmissionPolicy '{policy}'")),
                "{policy}: {message}"
            );
            assert_eq!(status.code, 403, "{message}");
            message
        }
        Err(error) => panic!("no answer of the API server: {error}"),
    }
}

/// Asserts that RBAC refused it.
pub fn forbidden<T>(answer: kube::Result<T>) {
    let message = refusal(answer);
    assert!(message.contains("cannot"), "not refused by RBAC: {message}");
}

pub fn metadata(name: &str) -> kube::api::ObjectMeta {
    kube::api::ObjectMeta { name: Some(name.to_owned()), ..kube::api::ObjectMeta::default() }
}

/// An owner reference as the operator writes it.
pub fn owned_by<K: Resource<DynamicType = ()>>(owner: &K) -> Value {
    let meta = owner.meta();
    json!([{
        "apiVersion": API_VERSION, "kind": K::kind(&()), "name": meta.name, "uid": meta.uid,
        "controller": true, "blockOwnerDeletion": true,
    }])
}

/// Asks the API server whether specs of one kind are valid. Nothing is stored but what an update starts from.
pub struct Specs {
    api: Api<DynamicObject>,
    types: kube::core::TypeMeta,
}

impl Specs {
    pub fn of<K: Resource<DynamicType = ()>>(namespace: &TestNamespace) -> Specs {
        let resource = ApiResource::erase::<K>(&());
        let api = Api::namespaced_with(admin(namespace), namespace.name(), &resource);
        Specs { api, types: kube::core::TypeMeta { api_version: resource.api_version, kind: resource.kind } }
    }

    fn object(&self, name: &str, spec: &Value) -> DynamicObject {
        let mut object = DynamicObject {
            types: Some(self.types.clone()),
            metadata: metadata(name),
            data: json!({"spec": spec}),
        };
        if spec.is_null() {
            object.data = json!({});
        }
        object
    }

    /// The answer to a create.
    pub async fn create(&self, spec: &Value) -> kube::Result<DynamicObject> {
        let dry_run = PostParams { dry_run: true, ..PostParams::default() };
        self.api.create(&dry_run, &self.object("new", spec)).await
    }

    /// The answer to a replacement of one spec by another.
    pub async fn replace(&self, from: &Value, to: &Value) -> kube::Result<DynamicObject> {
        let mut first = self.object("", from);
        first.metadata.name = None;
        first.metadata.generate_name = Some("old-".into());
        let stored = self.api.create(&PostParams::default(), &first).await.unwrap();
        let name = stored.metadata.name.clone().unwrap();
        let mut second = self.object(&name, to);
        second.metadata.resource_version = stored.metadata.resource_version;
        let dry_run = PostParams { dry_run: true, ..PostParams::default() };
        self.api.replace(&name, &dry_run, &second).await
    }

    pub async fn accepts(&self, spec: Value) {
        self.create(&spec).await.unwrap_or_else(|error| panic!("{spec}: {error}"));
    }

    pub async fn refuses(&self, spec: Value, message: &str) {
        let answer = self.create(&spec).await;
        assert!(answer.is_err(), "{spec} was accepted");
        let said = refusal(answer);
        assert!(said.contains(message), "{spec}: {said}");
    }

    pub async fn accepts_change(&self, from: Value, to: Value) {
        self.replace(&from, &to).await.unwrap_or_else(|error| panic!("{from} to {to}: {error}"));
    }

    pub async fn refuses_change(&self, from: Value, to: Value, message: &str) {
        let answer = self.replace(&from, &to).await;
        assert!(answer.is_err(), "{from} to {to} was accepted");
        let said = refusal(answer);
        assert!(said.contains(message), "{from} to {to}: {said}");
    }
}
