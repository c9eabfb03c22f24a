//! Deployments of the front ends where machines fetch their first configuration and register their key.

use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1::{Deployment, DeploymentSpec};
use k8s_openapi::api::core::v1::{
    Container, ContainerPort, EnvVar, EnvVarSource, ObjectFieldSelector, PodSpec, PodTemplateSpec,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};
use trusted_crds::names::{
    ATTESTATION_KEY_REGISTER, REGISTER_ATTESTATION_KEY_SERVICE_ACCOUNT, REGISTER_MACHINE_SERVICE_ACCOUNT,
    REGISTER_SERVER, TLS_HASH_ANNOTATION,
};

use super::APP_LABEL;
use super::pod::{container_security, pod_security, read_only, ready_on, tls_volume};
use crate::context::Images;
use crate::controllers::cluster::tls::{self, TlsMount, TlsUse};
use trusted_crds::TrustedExecutionClusterSpec;

/// One front end: a subcommand of the operator's own program under a ServiceAccount of its own. The program does not
/// have these subcommands yet, so that until then their pods end at once and are started again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrontEnd {
    pub(crate) name: &'static str,
    pub(crate) port: i32,
    subcommand: &'static str,
    service_account: &'static str,
}

impl FrontEnd {
    pub(crate) const REGISTER_SERVER: FrontEnd = FrontEnd {
        name: REGISTER_SERVER,
        port: 8000,
        subcommand: "register-machine",
        service_account: REGISTER_MACHINE_SERVICE_ACCOUNT,
    };
    pub(crate) const ATTESTATION_KEY_REGISTER: FrontEnd = FrontEnd {
        name: ATTESTATION_KEY_REGISTER,
        port: 8001,
        subcommand: "register-attestation-key",
        service_account: REGISTER_ATTESTATION_KEY_SERVICE_ACCOUNT,
    };
    pub(crate) const ALL: [FrontEnd; 2] = [Self::REGISTER_SERVER, Self::ATTESTATION_KEY_REGISTER];

    /// The TLS Secret the cluster names for it.
    pub(crate) fn tls(self, spec: &TrustedExecutionClusterSpec) -> Option<TlsUse> {
        match self.name {
            REGISTER_SERVER => TlsUse::register_server(spec),
            _ => TlsUse::attestation_key_register(spec),
        }
    }

    fn image(self, images: &Images) -> String {
        match self.name {
            REGISTER_SERVER => images.register_server.clone(),
            _ => images.attestation_key_register.clone(),
        }
    }

    fn args(self, tls: Option<&TlsMount>) -> Vec<String> {
        let mut args = vec![self.subcommand.to_owned(), "--port".into(), self.port.to_string()];
        if tls.is_some() {
            for (flag, file) in [("--cert-path", tls::CERTIFICATE), ("--key-path", tls::PRIVATE_KEY)] {
                args.extend([flag.to_owned(), format!("{}/{file}", tls::MOUNT_PATH)]);
            }
        }
        args
    }
}

/// The Deployment of a front end as it shall be.
pub(crate) fn deployment(
    front_end: FrontEnd,
    tls: Option<&TlsMount>,
    images: &Images,
    namespace: &str,
) -> Deployment {
    let app = BTreeMap::from([(APP_LABEL.to_owned(), front_end.name.to_owned())]);
    let hash = tls.map(|tls| BTreeMap::from([(TLS_HASH_ANNOTATION.to_owned(), tls.hash.clone())]));
    Deployment {
        metadata: ObjectMeta {
            name: Some(front_end.name.into()),
            namespace: Some(namespace.into()),
            labels: Some(app.clone()),
            ..Default::default()
        },
        spec: DeploymentSpec {
            replicas: Some(1),
            selector: LabelSelector { match_labels: Some(app.clone()), ..Default::default() },
            template: PodTemplateSpec {
                metadata: Some(ObjectMeta { labels: Some(app), annotations: hash, ..Default::default() }),
                spec: Some(PodSpec {
                    service_account_name: Some(front_end.service_account.into()),
                    security_context: Some(pod_security(None)),
                    containers: vec![container(front_end, tls, images)],
                    volumes: tls.map(|tls| vec![tls_volume(tls)]),
                    ..Default::default()
                }),
            },
            ..Default::default()
        },
        ..Default::default()
    }
}

fn container(front_end: FrontEnd, tls: Option<&TlsMount>, images: &Images) -> Container {
    Container {
        name: front_end.name.into(),
        image: Some(front_end.image(images)),
        args: Some(front_end.args(tls)),
        env: Some(vec![namespace_variable()]),
        ports: Some(vec![ContainerPort {
            container_port: front_end.port,
            protocol: Some("TCP".into()),
            ..Default::default()
        }]),
        readiness_probe: Some(ready_on(front_end.port)),
        security_context: Some(container_security()),
        volume_mounts: tls.map(|_| vec![read_only(tls::VOLUME, tls::MOUNT_PATH)]),
        ..Default::default()
    }
}

/// The program learns from its pod which namespace it serves.
fn namespace_variable() -> EnvVar {
    EnvVar {
        name: "POD_NAMESPACE".into(),
        value_from: Some(EnvVarSource {
            field_ref: Some(ObjectFieldSelector {
                api_version: Some("v1".into()),
                field_path: "metadata.namespace".into(),
            }),
            ..Default::default()
        }),
        ..Default::default()
    }
}
