//! The Trustee Deployment.

use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1::{Deployment, DeploymentSpec};
use k8s_openapi::api::core::v1::{
    ConfigMapVolumeSource, Container, ContainerPort, EmptyDirVolumeSource, EnvVar, PodSpec, PodTemplateSpec,
    Volume, VolumeMount,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};
use trusted_crds::names::{
    ATTESTATION_POLICY, CONFIGURATION_HASH_ANNOTATION, DELIVERY_HASH_ANNOTATION, TLS_HASH_ANNOTATION,
    TRUSTEE_DATA, TRUSTEE_DEPLOYMENT,
};

use super::{CONFIGURATION_DIR, CONFIGURATION_FILE, POLICY_DIR, WORK_DIR, configuration_hash};
use crate::controllers::cluster::build::pod::{
    FILE_MODE, container_security, pod_security, read_only, ready_on, tls_volume, writable,
};
use crate::controllers::cluster::build::{APP_LABEL, TRUSTEE_APP, TRUSTEE_PORT};
use crate::controllers::cluster::{MOUNT_PATH, TlsMount};
use crate::controllers::trustee::delivery::Rendered;

/// Trustee's image names no unprivileged user.
const NOBODY: i64 = 65534;
const CONTAINER: &str = "kbs";
const WORK_VOLUME: &str = "attestation-service";
const TEMPORARY_VOLUME: &str = "tmp";

/// What Trustee's pods are made from.
#[derive(Clone, Debug)]
pub(crate) struct Template<'a> {
    pub(crate) image: &'a str,
    pub(crate) tls: Option<&'a TlsMount>,
    pub(crate) delivered: Rendered,
}

/// The Deployment as it shall be.
pub(crate) fn deployment(template: Template<'_>, namespace: &str) -> Deployment {
    let app = BTreeMap::from([(APP_LABEL.to_owned(), TRUSTEE_APP.to_owned())]);
    Deployment {
        metadata: ObjectMeta {
            name: Some(TRUSTEE_DEPLOYMENT.into()),
            namespace: Some(namespace.into()),
            labels: Some(app.clone()),
            ..Default::default()
        },
        spec: DeploymentSpec {
            replicas: Some(1),
            // A template lists every key; former ones are of no use, since they are never what is wanted again.
            revision_history_limit: Some(1),
            selector: LabelSelector { match_labels: Some(app.clone()), ..Default::default() },
            template: PodTemplateSpec {
                metadata: Some(ObjectMeta {
                    labels: Some(app),
                    annotations: Some(annotations(&template)),
                    ..Default::default()
                }),
                spec: Some(pod(template)),
            },
            ..Default::default()
        },
        ..Default::default()
    }
}

fn annotations(template: &Template<'_>) -> BTreeMap<String, String> {
    let tls = template.tls.map(|tls| (TLS_HASH_ANNOTATION, tls.hash.clone()));
    let always = [
        (DELIVERY_HASH_ANNOTATION, template.delivered.hash.clone()),
        (CONFIGURATION_HASH_ANNOTATION, configuration_hash(template.tls.is_some())),
    ];
    always.into_iter().chain(tls).map(|(name, value)| (name.to_owned(), value)).collect()
}

fn pod(template: Template<'_>) -> PodSpec {
    let mut volumes = vec![
        config_map_volume(TRUSTEE_DATA),
        config_map_volume(ATTESTATION_POLICY),
        empty_volume(WORK_VOLUME),
        empty_volume(TEMPORARY_VOLUME),
    ];
    let mut mounts = vec![
        read_only(TRUSTEE_DATA, CONFIGURATION_DIR),
        read_only(ATTESTATION_POLICY, &format!("{POLICY_DIR}/opa")),
        writable(WORK_VOLUME, WORK_DIR),
        writable(TEMPORARY_VOLUME, "/tmp"),
    ];
    if let Some(tls) = template.tls {
        volumes.push(tls_volume(tls));
        mounts.push(read_only(&volumes[volumes.len() - 1].name, MOUNT_PATH));
    }
    volumes.extend(template.delivered.volumes);
    mounts.extend(template.delivered.mounts);
    PodSpec {
        automount_service_account_token: Some(false),
        security_context: Some(pod_security(Some(NOBODY))),
        containers: vec![container(template.image, mounts)],
        volumes: Some(volumes),
        ..Default::default()
    }
}

fn container(image: &str, mounts: Vec<VolumeMount>) -> Container {
    Container {
        name: CONTAINER.into(),
        image: Some(image.into()),
        command: Some(vec!["/usr/local/bin/kbs".into()]),
        args: Some(vec!["--config-file".into(), format!("{CONFIGURATION_DIR}/{CONFIGURATION_FILE}")]),
        env: Some(vec![EnvVar { name: "RUST_LOG".into(), value: Some("info".into()), ..Default::default() }]),
        ports: Some(vec![ContainerPort {
            container_port: TRUSTEE_PORT,
            protocol: Some("TCP".into()),
            ..Default::default()
        }]),
        readiness_probe: Some(ready_on(TRUSTEE_PORT)),
        security_context: Some(container_security()),
        volume_mounts: Some(mounts),
        ..Default::default()
    }
}

fn config_map_volume(name: &str) -> Volume {
    Volume {
        name: name.into(),
        config_map: Some(ConfigMapVolumeSource {
            name: name.into(),
            default_mode: Some(FILE_MODE),
            ..Default::default()
        }),
        ..Default::default()
    }
}

fn empty_volume(name: &str) -> Volume {
    Volume { name: name.into(), empty_dir: Some(EmptyDirVolumeSource::default()), ..Default::default() }
}
