//! Waits until the admission policies act.
//!
//! Purpose: the API server takes a moment to compile a policy, and a test that ran before would see what the policy
//! forbids succeed.
//!
//! Owns: the namespace `testenv-probe-...`, which is gone again when the control plane is ready.

use k8s_openapi::api::core::v1::Namespace;
use kube::{
    Api, Client,
    api::{ApiResource, DeleteParams, DynamicObject, PostParams},
    core::GroupVersionKind,
};
use serde_json::{Value, json};
use trusted_crds::{API_VERSION, GROUP, names::MANAGED_NAMESPACE_LABEL};

use super::install::{TIMEOUT, object};
use crate::{
    Error,
    eventually::poll,
    identities::{PROBE, Run},
    objects,
};

/// Something that a policy must refuse to a user who holds the plain rights.
struct Probe {
    policy: &'static str,
    delete: bool,
    object: Value,
}

/// Tries what each policy forbids until it is refused by the policy.
pub(super) async fn wait_until_enforced(admin: &Client, prober: &Client, run: &Run) -> Result<(), Error> {
    let namespace = run.named("testenv-probe");
    prepare(admin, &namespace, run).await?;
    let fingerprint = format!("sha256:{}", "0".repeat(64));
    let approval = json!({"decision": "Denied", "fingerprint": fingerprint, "by": PROBE});
    let key = |name: &str| {
        json!({
            "apiVersion": API_VERSION, "kind": "AttestationKey", "metadata": {"name": name},
            "spec": {"publicKey": objects::public_key(), "approval": approval},
        })
    };
    let cluster = json!({
        "apiVersion": API_VERSION, "kind": "TrustedExecutionCluster", "metadata": {"name": "probe"}, "spec": {},
    });
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "ak-probe"}});
    create(admin, &namespace, &key("denied"), &PostParams::default())
        .await
        .map_err(Error::kube("create a denied key"))?;
    let probes = [
        Probe { policy: "changing an approval", delete: false, object: key("probe") },
        Probe { policy: "deleting a key with an approval", delete: true, object: key("denied") },
        Probe { policy: "creating a cluster that approves automatically", delete: false, object: cluster },
        Probe { policy: "writing a binding Secret", delete: false, object: secret },
    ];
    futures::future::try_join_all(probes.iter().map(|probe| refused(prober, &namespace, probe))).await?;
    Api::<Namespace>::all(admin.clone())
        .delete(&namespace, &DeleteParams::background())
        .await
        .map(|_| ())
        .map_err(Error::kube("delete the probe's namespace"))
}

/// The namespace, and a Role with the plain rights but none of the custom verbs.
async fn prepare(admin: &Client, name: &str, run: &Run) -> Result<(), Error> {
    let mut labels = run.labels();
    labels.insert(MANAGED_NAMESPACE_LABEL.to_owned(), "true".to_owned());
    let namespace: Namespace = object(json!({
        "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels},
    }))?;
    Api::<Namespace>::all(admin.clone())
        .create(&PostParams::default(), &namespace)
        .await
        .map_err(Error::kube("create the probe's namespace"))?;
    let rbac = "rbac.authorization.k8s.io";
    let role = json!({
        "apiVersion": format!("{rbac}/v1"), "kind": "Role", "metadata": {"name": PROBE},
        "rules": [
            {"apiGroups": [GROUP], "resources": ["attestationkeys", "trustedexecutionclusters"], "verbs": ["create", "delete"]},
            {"apiGroups": [""], "resources": ["secrets"], "verbs": ["create"]},
        ],
    });
    let binding = json!({
        "apiVersion": format!("{rbac}/v1"), "kind": "RoleBinding", "metadata": {"name": PROBE},
        "roleRef": {"apiGroup": rbac, "kind": "Role", "name": PROBE},
        "subjects": [{"kind": "User", "apiGroup": rbac, "name": run.user_name(PROBE)}],
    });
    for manifest in [role, binding] {
        create(admin, name, &manifest, &PostParams::default())
            .await
            .map_err(Error::kube("create the probe's rights"))?;
    }
    Ok(())
}

/// Waits until the policy refuses. A refusal by RBAC does not count: the Role takes a moment, too.
async fn refused(prober: &Client, namespace: &str, probe: &Probe) -> Result<(), Error> {
    poll(&format!("the admission policy against {} to act", probe.policy), TIMEOUT, || async {
        let answer = match probe.delete {
            true => delete(prober, namespace, &probe.object).await,
            false => {
                let dry_run = PostParams { dry_run: true, ..PostParams::default() };
                create(prober, namespace, &probe.object, &dry_run).await
            }
        };
        match answer {
            Ok(()) => Err("it was allowed".to_owned()),
            Err(error) if error.to_string().contains("ValidatingAdmissionPolicy") => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    })
    .await
}

async fn create(
    client: &Client,
    namespace: &str,
    value: &Value,
    params: &PostParams,
) -> Result<(), kube::Error> {
    let object: DynamicObject = serde_json::from_value(value.clone()).map_err(kube::Error::SerdeError)?;
    api(client, namespace, value).create(params, &object).await.map(|_| ())
}

async fn delete(client: &Client, namespace: &str, value: &Value) -> Result<(), kube::Error> {
    let name = value["metadata"]["name"].as_str().unwrap_or_default();
    api(client, namespace, value).delete(name, &DeleteParams::default().dry_run()).await.map(|_| ())
}

fn api(client: &Client, namespace: &str, value: &Value) -> Api<DynamicObject> {
    let text = |field: &str| value[field].as_str().unwrap_or_default();
    let (group, version) = text("apiVersion").split_once('/').unwrap_or(("", text("apiVersion")));
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, text("kind")));
    Api::namespaced_with(client.clone(), namespace, &resource)
}
