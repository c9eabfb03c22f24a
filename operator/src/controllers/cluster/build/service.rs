//! Services in front of Trustee and of the two front ends.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Service, ServicePort, ServiceSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use trusted_crds::names::{ATTESTATION_KEY_REGISTER, KBS_SERVICE, REGISTER_SERVER};
use trusted_crds::{
    DEFAULT_ATTESTATION_KEY_REGISTER_PORT, DEFAULT_REGISTER_SERVER_PORT, DEFAULT_TRUSTEE_KBS_PORT,
    TrustedExecutionClusterSpec,
};

use super::front_end::FrontEnd;
use super::{APP_LABEL, TRUSTEE_APP, TRUSTEE_PORT};

struct Exposed {
    name: &'static str,
    app: &'static str,
    port_name: &'static str,
    port: i32,
    target_port: i32,
    /// Left open for Trustee, which has to be reached from outside in whatever way a cluster offers.
    service_type: Option<&'static str>,
}

/// The three Services as they shall be.
pub(crate) fn services(spec: &TrustedExecutionClusterSpec, namespace: &str) -> [Service; 3] {
    let trustee = Exposed {
        name: KBS_SERVICE,
        app: TRUSTEE_APP,
        port_name: "kbs-port",
        port: spec.trustee_kbs_port.unwrap_or(DEFAULT_TRUSTEE_KBS_PORT),
        target_port: TRUSTEE_PORT,
        service_type: None,
    };
    let register_server = Exposed {
        name: REGISTER_SERVER,
        app: REGISTER_SERVER,
        port_name: "register-server-port",
        port: spec.register_server_port.unwrap_or(DEFAULT_REGISTER_SERVER_PORT),
        target_port: FrontEnd::REGISTER_SERVER.port,
        service_type: Some("ClusterIP"),
    };
    let attestation_key_register = Exposed {
        name: ATTESTATION_KEY_REGISTER,
        app: ATTESTATION_KEY_REGISTER,
        port_name: "http",
        port: spec.attestation_key_register_port.unwrap_or(DEFAULT_ATTESTATION_KEY_REGISTER_PORT),
        target_port: FrontEnd::ATTESTATION_KEY_REGISTER.port,
        service_type: Some("ClusterIP"),
    };
    [trustee, register_server, attestation_key_register].map(|exposed| service(&exposed, namespace))
}

fn service(exposed: &Exposed, namespace: &str) -> Service {
    let app = BTreeMap::from([(APP_LABEL.to_owned(), exposed.app.to_owned())]);
    Service {
        metadata: ObjectMeta {
            name: Some(exposed.name.into()),
            namespace: Some(namespace.into()),
            labels: Some(app.clone()),
            ..Default::default()
        },
        spec: Some(ServiceSpec {
            selector: Some(app),
            type_: exposed.service_type.map(Into::into),
            ports: Some(vec![ServicePort {
                name: Some(exposed.port_name.into()),
                port: exposed.port,
                protocol: Some("TCP".into()),
                target_port: Some(IntOrString::Int(exposed.target_port)),
                ..Default::default()
            }]),
            ..Default::default()
        }),
        ..Default::default()
    }
}
