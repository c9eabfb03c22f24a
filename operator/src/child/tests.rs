use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Service};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::{Value, json};

use super::*;
use crate::context::Images;
use crate::controllers::cluster::TlsMount;
use crate::controllers::cluster::build::{FrontEnd, deployment, services};

const OUR_UID: &str = "11111111-0000-4000-8000-000000000000";

fn cluster() -> TrustedExecutionCluster {
    let mut cluster = TrustedExecutionCluster::new("trusted", Default::default());
    cluster.metadata.uid = Some(OUR_UID.into());
    cluster.metadata.namespace = Some("ns".into());
    cluster
}

fn wanted_deployment() -> Desired<Deployment> {
    let tls = TlsMount { secret: "cert".into(), hash: "content".into() };
    let images =
        Images { trustee: "t".into(), register_server: "r".into(), attestation_key_register: "a".into() };
    let object = deployment(FrontEnd::REGISTER_SERVER, Some(&tls), &images, "ns");
    Desired::new(object, &cluster()).unwrap()
}

fn wanted_service() -> Desired<Service> {
    let [trustee, ..] = services(&Default::default(), "ns");
    Desired::new(trustee, &cluster()).unwrap()
}

fn wanted_config_map() -> Desired<ConfigMap> {
    let mut map = ConfigMap::default();
    map.metadata.name = Some("trustee-data".into());
    map.data = Some([("policy.rego".to_owned(), "package policy".to_owned())].into());
    Desired::new(map, &cluster()).unwrap()
}

/// A JSON merge patch as the API server applies it (RFC 7386).
fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    for (key, value) in patch {
        if value.is_null() {
            target.as_object_mut().unwrap().remove(key);
        } else {
            merge(&mut target[key], value);
        }
    }
}

/// What the API server makes of an object that was sent to it.
fn stored<K: ChildKind>(desired: &Desired<K>) -> Value {
    let mut object = serde_json::to_value(desired.object()).unwrap();
    let defaults = json!({"metadata": {
        "uid": "22222222-0000-4000-8000-000000000000", "resourceVersion": "7", "generation": 1,
        "creationTimestamp": "2026-01-01T00:00:00Z",
    }});
    merge(&mut object, &defaults);
    match &*K::kind(&()) {
        "Deployment" => deployment_defaults(&mut object),
        "Service" => {
            let defaults = json!({"spec": {
                "type": "ClusterIP", "clusterIP": "10.96.0.7", "clusterIPs": ["10.96.0.7"], "ipFamilies": ["IPv4"],
                "ipFamilyPolicy": "SingleStack", "internalTrafficPolicy": "Cluster", "sessionAffinity": "None",
            }, "status": {"loadBalancer": {}}});
            merge(&mut object, &defaults);
        }
        _ => {}
    }
    object
}

fn deployment_defaults(object: &mut Value) {
    let defaults = json!({
        "metadata": {"annotations": {"deployment.kubernetes.io/revision": "1"}},
        "spec": {
            "progressDeadlineSeconds": 600, "revisionHistoryLimit": 10,
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
            "template": {"spec": {
                "dnsPolicy": "ClusterFirst", "restartPolicy": "Always", "schedulerName": "default-scheduler",
                "serviceAccount": "register-machine", "terminationGracePeriodSeconds": 30,
            }},
        },
        "status": {"observedGeneration": 1, "replicas": 1},
    });
    merge(object, &defaults);
    let container = &mut object["spec"]["template"]["spec"]["containers"][0];
    let defaults = json!({
        "imagePullPolicy": "IfNotPresent", "resources": {}, "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "readinessProbe": {"failureThreshold": 3, "successThreshold": 1, "timeoutSeconds": 1},
    });
    merge(container, &defaults);
}

fn step<K: ChildKind>(desired: &Desired<K>, actual: &Value) -> Step {
    let object: K = serde_json::from_value(actual.clone()).unwrap();
    decide(desired, &View::Present(Arc::new(Folded::of(object)))).unwrap()
}

/// Changes the stored object at a JSON pointer and returns it.
fn with<K: ChildKind>(desired: &Desired<K>, pointer: &str, value: Value) -> Value {
    let mut object = stored(desired);
    set(&mut object, pointer, value);
    object
}

fn set(object: &mut Value, pointer: &str, value: Value) {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let key = key.replace("~1", "/");
    match object.pointer_mut(parent).unwrap_or_else(|| panic!("nothing at {parent}")) {
        Value::Array(list) if key == "-" => list.push(value),
        Value::Array(list) => list[key.parse::<usize>().unwrap()] = value,
        other => other[key] = value,
    }
}

#[test]
fn a_list_of_sources_without_any_is_no_drift() {
    let mut wanted = wanted_deployment().object();
    let volume = json!({"name": "keys", "projected": {"defaultMode": 288, "sources": []}});
    let pod = wanted.spec.template.spec.as_mut().unwrap();
    pod.volumes.get_or_insert_default().push(serde_json::from_value(volume).unwrap());
    let last = pod.volumes.as_ref().unwrap().len() - 1;
    let wanted = Desired::new(wanted, &cluster()).unwrap();
    let mut actual = stored(&wanted);
    let projected = format!("/spec/template/spec/volumes/{last}/projected");
    actual.pointer_mut(&projected).unwrap().as_object_mut().unwrap().remove("sources").unwrap();
    assert!(matches!(step(&wanted, &actual), Step::Keep));
}

#[track_caller]
fn assert_repaired<K: ChildKind>(desired: &Desired<K>, what: &str, actual: Value) {
    let Step::Patch { body, drift, .. } = step(desired, &actual) else {
        panic!("{what} is not repaired: {:?}", step(desired, &actual));
    };
    assert!(!drift.paths.is_empty(), "{what}: no path is named");
    let mut repaired = actual;
    merge(&mut repaired, &body);
    assert_eq!(step(desired, &repaired), Step::Keep, "{what}: the patch {body} does not repair it");
}

#[test]
fn what_the_api_server_fills_in_is_no_drift() {
    assert_eq!(step(&wanted_deployment(), &stored(&wanted_deployment())), Step::Keep);
    assert_eq!(step(&wanted_service(), &stored(&wanted_service())), Step::Keep);
    assert_eq!(step(&wanted_config_map(), &stored(&wanted_config_map())), Step::Keep);
}

#[test]
fn what_somebody_changed_in_a_deployment_is_repaired() {
    const POD: &str = "/spec/template/spec";
    const CONTAINER: &str = "/spec/template/spec/containers/0";
    let cases = [
        ("fewer replicas", "/spec/replicas".to_owned(), json!(0)),
        ("a paused rollout", "/spec/paused".to_owned(), json!(true)),
        ("another image", format!("{CONTAINER}/image"), json!("evil")),
        ("a second container", format!("{POD}/containers/-"), json!({"name": "spy", "image": "evil"})),
        ("an init container", format!("{POD}/initContainers"), json!([{"name": "spy", "image": "evil"}])),
        ("a host volume", format!("{POD}/volumes/-"), json!({"name": "h", "hostPath": {"path": "/"}})),
        ("another Secret", format!("{POD}/volumes/0/secret/secretName"), json!("other")),
        ("items of a Secret", format!("{POD}/volumes/0/secret/items"), json!([{"key": "a", "path": "b"}])),
        ("the network of the host", format!("{POD}/hostNetwork"), json!(true)),
        ("another ServiceAccount", format!("{POD}/serviceAccountName"), json!("trusted-operator")),
        ("another user", format!("{POD}/securityContext/runAsUser"), json!(0)),
        ("root", format!("{POD}/securityContext/runAsNonRoot"), json!(false)),
        ("a command", format!("{CONTAINER}/command"), json!(["sh"])),
        ("other arguments", format!("{CONTAINER}/args/0"), json!("run")),
        ("a variable", format!("{CONTAINER}/env/-"), json!({"name": "LD_PRELOAD", "value": "x"})),
        ("variables from a Secret", format!("{CONTAINER}/envFrom"), json!([{"secretRef": {"name": "s"}}])),
        ("a mount", format!("{CONTAINER}/volumeMounts/-"), json!({"name": "tls", "mountPath": "/x"})),
        ("privileges", format!("{CONTAINER}/securityContext/privileged"), json!(true)),
        ("a capability", format!("{CONTAINER}/securityContext/capabilities/add"), json!(["SYS_ADMIN"])),
        ("a port", format!("{CONTAINER}/ports/-"), json!({"containerPort": 1, "protocol": "TCP"})),
        ("another protocol", format!("{CONTAINER}/ports/0/protocol"), json!("UDP")),
        ("a hook", format!("{CONTAINER}/lifecycle"), json!({"postStart": {"exec": {"command": ["sh"]}}})),
        ("a probe that runs", format!("{CONTAINER}/livenessProbe"), json!({"exec": {"command": ["sh"]}})),
        ("no readiness probe", format!("{CONTAINER}/readinessProbe"), Value::Null),
        ("no TLS hash", "/spec/template/metadata/annotations".to_owned(), json!({})),
        ("no label on pods", "/spec/template/metadata/labels".to_owned(), json!({})),
        ("no owner", "/metadata/ownerReferences".to_owned(), json!([])),
    ];
    for (what, pointer, value) in cases {
        let desired = wanted_deployment();
        assert_repaired(&desired, what, with(&desired, &pointer, value));
    }
}

#[test]
fn a_value_that_is_false_on_purpose_is_missed_when_it_is_gone() {
    let mut object = wanted_deployment().object();
    object.spec.template.spec.as_mut().unwrap().automount_service_account_token = Some(false);
    let desired = Desired::new(object, &cluster()).unwrap();
    let pointer = "/spec/template/spec/automountServiceAccountToken";
    assert_repaired(&desired, "a mounted token", with(&desired, pointer, Value::Null));
}

#[test]
fn what_somebody_changed_in_a_service_or_config_map_is_repaired() {
    let service = wanted_service();
    let cases = [
        ("a narrower selector", "/spec/selector/spy", json!("yes")),
        ("another selector", "/spec/selector/app", json!("spy")),
        ("another port", "/spec/ports/0/port", json!(1)),
        ("another target", "/spec/ports/0/targetPort", json!(1)),
        ("one port more", "/spec/ports/-", json!({"name": "x", "port": 1, "targetPort": 1})),
    ];
    for (what, pointer, value) in cases {
        assert_repaired(&service, what, with(&service, pointer, value));
    }
    let map = wanted_config_map();
    let cases = [
        ("an edited file", "/data/policy.rego", json!("default allow := true")),
        ("a file more", "/data/kbs.toml", json!("x")),
        ("no files", "/data", Value::Null),
        ("binary files", "/binaryData", json!({"a": "AA=="})),
    ];
    for (what, pointer, value) in cases {
        assert_repaired(&map, what, with(&map, pointer, value));
    }
}

#[test]
fn what_is_none_of_our_business_is_left_alone() {
    const POD: &str = "/spec/template/spec";
    let cases = [
        ("a restart", "/spec/template/metadata/annotations/kubectl.kubernetes.io~1restartedAt", json!("now")),
        ("an annotation", "/metadata/annotations/team", json!("a")),
        ("a label", "/metadata/labels/team", json!("a")),
        ("a label on pods", "/spec/template/metadata/labels/team", json!("a")),
        ("tolerations", &format!("{POD}/tolerations"), json!([{"operator": "Exists"}])),
        ("a node selector", &format!("{POD}/nodeSelector"), json!({"disk": "ssd"})),
        ("resources", &format!("{POD}/containers/0/resources"), json!({"limits": {"memory": "1Gi"}})),
        ("a pull policy", &format!("{POD}/containers/0/imagePullPolicy"), json!("Always")),
        ("a rollout strategy", "/spec/strategy", json!({"type": "Recreate"})),
    ];
    for (what, pointer, value) in cases {
        let desired = wanted_deployment();
        assert_eq!(step(&desired, &with(&desired, pointer, value)), Step::Keep, "{what}");
    }
    let service = wanted_service();
    for (pointer, value) in [("/spec/ports/0/nodePort", json!(31000)), ("/spec/type", json!("NodePort"))] {
        assert_eq!(step(&service, &with(&service, pointer, value)), Step::Keep, "{pointer}");
    }
}

#[test]
fn what_we_want_otherwise_than_we_wrote_is_changed() {
    let desired = wanted_deployment();
    let stale =
        with(&desired, "/metadata/annotations/trusted-execution-clusters.io~1applied-hash", json!("old"));
    let Step::Patch { drift, body, .. } = step(&desired, &stale) else { panic!("no patch") };
    assert!(drift.wanted_changed && drift.paths.is_empty());
    assert!(
        body["spec"]["template"]["spec"]["containers"][0]["name"].is_string(),
        "lists are sent whole: {body}"
    );
}

#[test]
fn what_cannot_be_changed_is_made_anew() {
    let deployment = wanted_deployment();
    let other = with(&deployment, "/spec/selector/matchLabels/app", json!("spy"));
    assert!(matches!(step(&deployment, &other), Step::Replace { .. }));
    let map = wanted_config_map();
    let mut frozen = with(&map, "/immutable", json!(true));
    assert_eq!(step(&map, &frozen), Step::Keep, "as long as it is right");
    set(&mut frozen, "/data/policy.rego", json!("x"));
    assert!(matches!(step(&map, &frozen), Step::Replace { .. }));
}

#[test]
fn whose_an_object_is() {
    let owner = |kind: &str, uid: &str| {
        let group = if kind == "TrustedExecutionCluster" { trusted_crds::API_VERSION } else { "v1" };
        json!({"apiVersion": group, "kind": kind, "name": "x", "uid": uid, "controller": true})
    };
    let ours = owner("TrustedExecutionCluster", OUR_UID);
    let former = owner("TrustedExecutionCluster", "dead");
    let mut lookalike = former.clone();
    lookalike["apiVersion"] = json!(format!("{}.evil/v1", trusted_crds::GROUP));
    let labels = json!({MANAGED_BY_LABEL: MANAGED_BY});
    let meta = |labels: &Value, owners: Value, deleting: bool| -> ObjectMeta {
        let mut meta = json!({"name": "x", "labels": labels, "ownerReferences": owners});
        if deleting {
            meta["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        }
        serde_json::from_value(meta).unwrap()
    };
    let cases = [
        ("ours", meta(&labels, json!([ours]), false), Ownership::Ours),
        ("ours without label", meta(&json!({}), json!([ours]), false), Ownership::Ours),
        ("orphaned", meta(&labels, json!([]), false), Ownership::Ours),
        ("ours but going", meta(&labels, json!([ours]), true), Ownership::Leaving),
        ("of the former cluster", meta(&labels, json!([former]), false), Ownership::Leaving),
        ("somebody's with a group like ours", meta(&labels, json!([lookalike]), false), Ownership::Foreign),
        ("somebody's", meta(&json!({}), json!([]), false), Ownership::Foreign),
        (
            "somebody's with an owner",
            meta(&labels, json!([owner("Deployment", "d")]), false),
            Ownership::Foreign,
        ),
    ];
    for (what, meta, expected) in cases {
        let object = ConfigMap { metadata: meta, ..Default::default() };
        assert_eq!(ownership(&object, OUR_UID), expected, "{what}");
    }
}

#[test]
fn nothing_is_decided_on_a_store_that_has_not_caught_up() {
    let desired = wanted_service();
    assert_eq!(decide(&desired, &View::Unsettled).unwrap(), Step::Await);
    assert_eq!(decide(&desired, &View::Absent).unwrap(), Step::Create);
    let mut foreign = stored(&desired);
    set(
        &mut foreign,
        "/metadata/ownerReferences",
        json!([{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "p"}]),
    );
    let Step::Blocked(obstacle) = step(&desired, &foreign) else { panic!("a foreign object is touched") };
    assert!(obstacle.to_string().starts_with("Service kbs-service exists and is not managed"));
}
