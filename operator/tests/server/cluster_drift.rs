//! What somebody changes in a child is right again within two seconds; what is none of our business stays.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Service};
use serde_json::{Value, json};
use testenv::eventually;
use trusted_crds::names::{MANAGED_BY, MANAGED_BY_LABEL};

use crate::children::{CONFIG_MAPS, Child, DEPLOYMENTS, REPAIR, SERVICES, containers, spy, volumes};
use crate::support::{Env, TIMEOUT};

const RESTARTED_AT: &str = "kubectl.kubernetes.io/restartedAt";

#[tokio::test]
async fn a_deleted_child_is_made_anew() {
    let env = Env::new("deleted").await;
    env.installed(&env.cluster().await).await;
    for name in SERVICES {
        delete_and_see_again::<Service>(&env, name).await;
    }
    for name in CONFIG_MAPS {
        delete_and_see_again::<ConfigMap>(&env, name).await;
    }
    for name in DEPLOYMENTS {
        delete_and_see_again::<Deployment>(&env, name).await;
    }
    env.installed(&env.cluster().await).await;
    env.finish().await;
}

async fn delete_and_see_again<K: Child>(env: &Env, name: &str) {
    let before = env.api::<K>().get(name).await.unwrap();
    env.delete::<K>(name).await;
    let api = env.api::<K>();
    eventually(&format!("{} {name} to be made anew", K::kind(&())), REPAIR, || async {
        let now = api.get_opt(name).await.unwrap()?;
        (now.meta().uid != before.meta().uid).then_some(())
    })
    .await;
}

#[tokio::test]
async fn edited_services_and_config_maps_are_repaired() {
    let env = Env::new("edited").await;
    env.installed(&env.cluster().await).await;
    for name in SERVICES {
        env.edit::<Service>(name, json!({"spec": {"selector": {"app": "spy", "more": "yes"}}})).await;
        let right = |service: &Value| {
            let selector = &service["spec"]["selector"];
            selector["app"] != "spy" && selector["more"].is_null()
        };
        env.repaired::<Service>("the selector", name, right).await;
        env.rewrite::<Service>(name, |service| service["spec"]["ports"][0]["port"] = json!(9)).await;
        env.repaired::<Service>("the port", name, |service| service["spec"]["ports"][0]["port"] != 9).await;
    }
    for name in CONFIG_MAPS {
        let file = if name == "trustee-data" { "policy.rego" } else { "default_cpu.rego" };
        env.edit::<ConfigMap>(name, json!({"data": {file: "default allow := true", "more": "x"}})).await;
        let right = |map: &Value| {
            map["data"]["more"].is_null()
                && map["data"][file].as_str().is_some_and(|text| text.contains("package"))
        };
        env.repaired::<ConfigMap>("the policy", name, right).await;
    }
    env.finish().await;
}

#[tokio::test]
async fn whatever_somebody_puts_into_a_pod_is_taken_out() {
    let env = Env::new("intruder").await;
    env.installed(&env.cluster().await).await;
    for name in DEPLOYMENTS {
        env.rewrite::<Deployment>(name, |deployment| {
            let pod = &mut deployment["spec"]["template"]["spec"];
            pod["hostNetwork"] = json!(true);
            pod["initContainers"] = json!([{"name": "early", "image": "spy"}]);
            let volumes = pod["volumes"].as_array().cloned().unwrap_or_default();
            let host = json!({"name": "host", "hostPath": {"path": "/"}});
            pod["volumes"] = volumes.into_iter().chain([host]).collect();
            let mut added = spy();
            added["volumeMounts"] = json!([{"name": "host", "mountPath": "/host"}]);
            pod["containers"].as_array_mut().unwrap().push(added);
            pod["containers"][0]["image"] = json!("spy");
            pod["containers"][0]["env"].as_array_mut().unwrap().push(json!({"name": "SPY", "value": "1"}));
        })
        .await;
        let right = |deployment: &Value| {
            let pod = &deployment["spec"]["template"]["spec"];
            let containers = containers(deployment);
            pod["hostNetwork"].as_bool() != Some(true)
                && pod["initContainers"].is_null()
                && !volumes(deployment).contains(&"host")
                && containers.len() == 1
                && containers[0]["image"] != "spy"
                && containers[0]["env"].as_array().unwrap().len() == 1
        };
        env.repaired::<Deployment>("the pod", name, right).await;
    }
    env.rewrite::<Deployment>("trustee-deployment", |deployment| {
        let volumes = deployment["spec"]["template"]["spec"]["volumes"].as_array_mut().unwrap();
        let keys = volumes.iter_mut().find(|volume| volume["name"] == "trusted-ak-keys").unwrap();
        keys["projected"]["sources"] = json!([{"secret": {"name": "planted"}}]);
    })
    .await;
    let right = |deployment: &Value| !deployment.to_string().contains("planted");
    env.repaired::<Deployment>("the delivered keys", "trustee-deployment", right).await;
    env.finish().await;
}

#[tokio::test]
async fn a_child_that_lost_its_label_or_owner_is_taken_up_again() {
    let env = Env::new("unlabelled").await;
    let cluster = env.cluster().await;
    env.installed(&cluster).await;
    lose_label::<Service>(&env, "register-server").await;
    lose_label::<ConfigMap>(&env, "trustee-data").await;
    lose_label::<Deployment>(&env, "trustee-deployment").await;
    env.edit::<Service>("kbs-service", json!({"metadata": {"ownerReferences": []}})).await;
    env.installed(&cluster).await;
    env.finish().await;
}

async fn lose_label<K: Child>(env: &Env, name: &str) {
    let before = env.edit::<K>(name, json!({"metadata": {"labels": {MANAGED_BY_LABEL: null}}})).await;
    let right = |object: &Value| object["metadata"]["labels"][MANAGED_BY_LABEL] == MANAGED_BY;
    env.repaired::<K>("the label", name, right).await;
    assert_eq!(
        env.api::<K>().get(name).await.unwrap().meta().uid,
        before.meta().uid,
        "it is the same object"
    );
}

#[tokio::test]
async fn a_restart_and_other_peoples_settings_stay() {
    let env = Env::new("restart").await;
    env.installed(&env.cluster().await).await;
    for name in DEPLOYMENTS {
        let restart = json!({"spec": {"template": {"metadata": {"annotations": {RESTARTED_AT: "now"}}}}});
        env.edit::<Deployment>(name, restart).await;
        let settings = json!({
            "metadata": {"labels": {"team": "a"}, "annotations": {"team": "a"}},
            "spec": {"template": {"spec": {"nodeSelector": {"type": "kwok"}}}},
        });
        env.edit::<Deployment>(name, settings).await;
    }
    env.edit::<Service>("kbs-service", json!({"spec": {"type": "NodePort"}})).await;
    // A change of keys and a repair, each written by the operator after all that, take nothing of it away.
    env.machine("m").await;
    let key = env.key("k", Some("m")).await;
    eventually("the keys in Trustee's template", TIMEOUT, || async {
        let deployment = env.api::<Deployment>().get("trustee-deployment").await.unwrap();
        let fingerprint = crate::support::fingerprint(&key).parse().unwrap();
        trusted_crds::Delivered::read(&deployment).has_key(&fingerprint).then_some(())
    })
    .await;
    env.rewrite::<Deployment>("register-server", |deployment| deployment["spec"]["replicas"] = json!(0))
        .await;
    env.repaired::<Deployment>("the replicas", "register-server", |d| d["spec"]["replicas"] == 1).await;
    for name in DEPLOYMENTS {
        let deployment = serde_json::to_value(env.api::<Deployment>().get(name).await.unwrap()).unwrap();
        let template = &deployment["spec"]["template"];
        assert_eq!(template["metadata"]["annotations"][RESTARTED_AT], "now", "{name}");
        assert_eq!(template["spec"]["nodeSelector"]["type"], "kwok", "{name}");
        assert_eq!(deployment["metadata"]["labels"]["team"], "a", "{name}");
        assert_eq!(deployment["metadata"]["annotations"]["team"], "a", "{name}");
    }
    let service = env.api::<Service>().get("kbs-service").await.unwrap();
    assert_eq!(service.spec.unwrap().type_.as_deref(), Some("NodePort"));
    env.finish().await;
}
