use serde_json::Value;

use super::*;
use crate::controllers::cluster::TlsMount;
use crate::controllers::trustee::delivery::{Wanted, render};

fn file(map: &k8s_openapi::api::core::v1::ConfigMap, name: &str) -> String {
    map.data.as_ref().unwrap()[name].clone()
}

fn template(tls: Option<&TlsMount>) -> Value {
    let delivered = render(&Wanted::default()).unwrap();
    let made = deployment(Template { image: "kbs:1", tls, delivered }, "ns");
    serde_json::to_value(made.spec.template).unwrap()
}

/// Folders and files that the pod mounts, by volume.
fn mounts(template: &Value) -> Vec<(&str, &str)> {
    let mounts = template["spec"]["containers"][0]["volumeMounts"].as_array().unwrap();
    mounts.iter().map(|m| (m["name"].as_str().unwrap(), m["mountPath"].as_str().unwrap())).collect()
}

#[test]
fn plain_http_is_configured_only_for_a_cluster_without_tls() {
    let (plain, tls) = (trustee_data(false, "ns"), trustee_data(true, "ns"));
    let (plain, tls) = (file(&plain, "kbs-config.toml"), file(&tls, "kbs-config.toml"));
    assert!(plain.contains("insecure_http = true") && !plain.contains("private_key"), "{plain}");
    assert!(!tls.contains("insecure_http"), "{tls}");
    assert!(tls.contains("private_key = \"/etc/tls/tls.key\"\ncertificate = \"/etc/tls/tls.crt\""), "{tls}");
    assert_ne!(configuration_hash(true), configuration_hash(false));
}

#[test]
fn every_path_of_the_configuration_is_mounted() {
    let tls = TlsMount { secret: "cert".into(), hash: "h".into() };
    let template = template(Some(&tls));
    let mounts = mounts(&template);
    let configuration = file(&trustee_data(true, "ns"), "kbs-config.toml");
    let paths = configuration.split('"').filter(|text| text.starts_with('/')).collect::<Vec<_>>();
    assert_eq!(paths.len(), 8, "{paths:?}");
    for path in paths {
        let covers = |mount: &str| path.starts_with(mount) || mount.starts_with(path);
        assert!(mounts.iter().any(|(_, mount)| covers(mount)), "{path} is not mounted: {mounts:?}");
    }
    assert!(mounts.contains(&("attestation-policy", "/opt/trustee/policies/opa")));
    assert!(mounts.contains(&("disk-keys", "/opt/trustee/kbs-repository/default")));
    assert!(mounts.contains(&("trusted-ak-keys", "/etc/tpm/trusted_ak_keys")));
}

#[test]
fn no_mount_lies_in_another() {
    let template = template(None);
    let mounts = mounts(&template);
    for (name, inner) in &mounts {
        let nested = mounts
            .iter()
            .any(|(_, outer)| inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('/')));
        assert!(!nested, "{name} at {inner} lies in another read-only mount");
    }
}

#[test]
fn the_pod_meets_the_restricted_standard_and_has_no_credentials() {
    let template = template(None);
    let pod = &template["spec"];
    assert_eq!(pod["automountServiceAccountToken"], false);
    assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
    assert_eq!(pod["securityContext"]["seccompProfile"]["type"], "RuntimeDefault");
    let container = &pod["containers"][0];
    assert_eq!(container["securityContext"]["allowPrivilegeEscalation"], false);
    assert_eq!(container["securityContext"]["capabilities"]["drop"][0], "ALL");
    assert_eq!(container["securityContext"]["readOnlyRootFilesystem"], true);
    assert_eq!(container["readinessProbe"]["tcpSocket"]["port"], 8080);
}

#[test]
fn a_change_of_certificate_or_configuration_rolls_the_pod() {
    let mount = |hash: &str| TlsMount { secret: "cert".into(), hash: hash.into() };
    let annotations = |tls: Option<&TlsMount>| template(tls)["metadata"]["annotations"].clone();
    assert_eq!(annotations(Some(&mount("a"))), annotations(Some(&mount("a"))));
    assert_ne!(annotations(Some(&mount("a"))), annotations(Some(&mount("b"))));
    assert_ne!(annotations(Some(&mount("a"))), annotations(None));
}

#[test]
fn all_policies_that_trustee_would_write_itself_are_there() {
    let policies = attestation_policy("ns");
    assert!(file(&policies, "default_cpu.rego").starts_with('#'));
    assert_eq!(file(&policies, "default_gpu.rego"), "");
    let data = trustee_data(false, "ns");
    assert_eq!(file(&data, "reference-values.json"), "[]");
    assert!(file(&data, "policy.rego").contains("package policy"));
}
