//! The manifests of `deploy/`, applied as they are.
//!
//! Purpose: tests run under the very CRDs, Roles and admission policies that a user would apply.
//!
//! Owns: rendering (`kubectl kustomize`) and the split into what exists once per cluster and what each test
//! namespace gets.
//!
//! Must not: change the manifests, apart from the namespace.

use std::{
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use kube::{
    Api, Client,
    api::{ApiResource, DynamicObject, Patch, PatchParams},
    core::{GroupVersionKind, TypeMeta},
};
use serde_json::json;

use crate::{
    Error,
    identities::{Run, TEST_USERS},
    rights,
};

/// The name under which manifests are applied.
const MANAGER: &str = "testenv";

/// How long an API server that has just started may refuse manifests.
const STARTING_TIMEOUT: Duration = Duration::from_secs(10);

/// Kinds without a namespace that manifests of ours use.
const CLUSTER_SCOPED: [&str; 6] = [
    "Namespace",
    "CustomResourceDefinition",
    "ClusterRole",
    "ClusterRoleBinding",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
];

/// What lies in `deploy/`, rendered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Deploy {
    cluster: Vec<DynamicObject>,
    namespaced: Vec<DynamicObject>,
}

impl Deploy {
    /// Renders CRDs, RBAC and admission policies, and gives the users of this run their roles.
    pub(crate) fn load(kubectl: &Path, run: &Run) -> Result<Deploy, Error> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy");
        let mut deploy = Deploy::default();
        for part in ["crds", "rbac", "admission"] {
            let (cluster, namespaced): (Vec<_>, Vec<_>) =
                render(kubectl, &root.join(part))?.into_iter().partition(is_cluster_scoped);
            deploy.cluster.extend(cluster);
            deploy.namespaced.extend(namespaced);
        }
        for (user, role) in TEST_USERS.iter().filter_map(|user| Some((user.name, user.role?))) {
            deploy.bind(run, user, role)?;
        }
        Ok(deploy)
    }

    /// Applies what exists once.
    pub(crate) async fn apply_cluster_scoped(&self, client: &Client) -> Result<(), Error> {
        apply_all(client, None, self.cluster.iter().filter(|object| kind(object) != "Namespace")).await
    }

    /// Applies what each namespace has, the test users' Roles included.
    pub(crate) async fn apply_to_namespace(&self, client: &Client, namespace: &str) -> Result<(), Error> {
        let objects: Vec<DynamicObject> =
            self.namespaced.iter().map(|object| moved(object, namespace)).collect();
        apply_all(client, Some(namespace), objects.iter()).await?;
        rights::wait_until_granted(client, namespace, &objects).await
    }

    /// Gives a test user the Role `trusted-<role>`, in each namespace or, where it is a ClusterRole, everywhere.
    fn bind(&mut self, run: &Run, user: &str, role: &str) -> Result<(), Error> {
        let name = format!("trusted-{role}");
        let named = |object: &&DynamicObject| {
            object.metadata.name.as_ref() == Some(&name) && matches!(kind(object), "Role" | "ClusterRole")
        };
        let missing =
            || Error::Manifest { name: name.clone(), what: "deploy/rbac has no such Role".to_owned() };
        let found = self.namespaced.iter().chain(&self.cluster).find(named).ok_or_else(missing)?;
        let (role_kind, cluster_wide) = (kind(found).to_owned(), is_cluster_scoped(found));
        let group = "rbac.authorization.k8s.io";
        let binding = serde_json::from_value(json!({
            "apiVersion": format!("{group}/v1"), "kind": format!("{role_kind}Binding"),
            "metadata": {"name": run.named(&format!("test-user-{user}")), "labels": run.labels()},
            "roleRef": {"apiGroup": group, "kind": role_kind, "name": name},
            "subjects": [{"kind": "User", "apiGroup": group, "name": run.user_name(user)}],
        }))
        .map_err(|error| Error::Manifest { name: name.clone(), what: error.to_string() })?;
        if cluster_wide { &mut self.cluster } else { &mut self.namespaced }.push(binding);
        Ok(())
    }
}

fn kind(object: &DynamicObject) -> &str {
    object.types.as_ref().map_or("", |types| types.kind.as_str())
}

fn is_cluster_scoped(object: &DynamicObject) -> bool {
    CLUSTER_SCOPED.contains(&kind(object))
}

/// The object in another namespace, and with it the ServiceAccounts that a binding names.
fn moved(object: &DynamicObject, namespace: &str) -> DynamicObject {
    let mut object = object.clone();
    object.metadata.namespace = Some(namespace.to_owned());
    let subjects = object.data.get_mut("subjects").and_then(serde_json::Value::as_array_mut);
    for subject in subjects.into_iter().flatten() {
        if subject.get("kind").is_some_and(|kind| kind == "ServiceAccount") {
            subject["namespace"] = namespace.into();
        }
    }
    object
}

/// Runs kustomize, as `kubectl apply -k` does.
fn render(kubectl: &Path, dir: &Path) -> Result<Vec<DynamicObject>, Error> {
    let command = format!("kubectl kustomize {}", dir.display());
    let output = Command::new(kubectl)
        .arg("kustomize")
        .arg(dir)
        .output()
        .map_err(|source| Error::Spawn { program: "kubectl".to_owned(), source })?;
    if !output.status.success() {
        let output = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(Error::Command { command, output });
    }
    let text = String::from_utf8_lossy(&output.stdout);
    serde_saphyr::from_multiple(&text)
        .map_err(|error| Error::Manifest { name: dir.display().to_string(), what: error.to_string() })
}

async fn apply_all(
    client: &Client,
    namespace: Option<&str>,
    objects: impl Iterator<Item = &DynamicObject>,
) -> Result<(), Error> {
    futures::future::try_join_all(objects.map(|object| apply(client, namespace, object))).await.map(|_| ())
}

/// Applies with force: what was there in another version, whoever applied it, is now what `deploy/` says.
async fn apply(client: &Client, namespace: Option<&str>, object: &DynamicObject) -> Result<(), Error> {
    let name = object.metadata.name.clone().unwrap_or_default();
    let types = object.types.clone().unwrap_or(TypeMeta { api_version: String::new(), kind: String::new() });
    let kind = GroupVersionKind::try_from(&types)
        .map_err(|error| Error::Manifest { name: name.clone(), what: error.to_string() })?;
    let resource = ApiResource::from_gvk(&kind);
    let api: Api<DynamicObject> = match namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
        None => Api::all_with(client.clone(), &resource),
    };
    let what = format!("apply {} {name}", types.kind);
    let deadline = Instant::now() + STARTING_TIMEOUT;
    loop {
        match api.patch(&name, &PatchParams::apply(MANAGER).force(), &Patch::Apply(object)).await {
            Ok(_) => return Ok(()),
            // An API server that has just started refuses for a moment what it cannot decide yet.
            Err(error) if is_starting(&error) && Instant::now() < deadline => {
                tokio::time::sleep(Duration::from_millis(25)).await;
            }
            Err(error) => return Err(Error::kube(what)(error)),
        }
    }
}

/// Whether the answer means "not yet": some part of the API server has not read its objects yet.
fn is_starting(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if matches!(status.code, 403 | 404 | 429 | 500 | 503))
}
