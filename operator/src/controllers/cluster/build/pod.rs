//! Parts of pod templates that all workloads share: what the restricted pod security standard demands.

use k8s_openapi::api::core::v1::{
    Capabilities, PodSecurityContext, Probe, SeccompProfile, SecretVolumeSource, SecurityContext,
    TCPSocketAction, Volume, VolumeMount,
};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

use crate::controllers::cluster::tls;

/// Mode of mounted files; written out, since the API server fills it in.
pub(crate) const FILE_MODE: i32 = 0o644;

/// Pod-wide security settings. `user` is for images that do not name an unprivileged one themselves.
pub(crate) fn pod_security(user: Option<i64>) -> PodSecurityContext {
    PodSecurityContext {
        run_as_non_root: Some(true),
        run_as_user: user,
        seccomp_profile: Some(SeccompProfile { type_: "RuntimeDefault".into(), ..Default::default() }),
        ..Default::default()
    }
}

/// Security settings of a container.
pub(crate) fn container_security() -> SecurityContext {
    SecurityContext {
        allow_privilege_escalation: Some(false),
        capabilities: Some(Capabilities { drop: Some(vec!["ALL".into()]), ..Default::default() }),
        read_only_root_filesystem: Some(true),
        ..Default::default()
    }
}

/// Ready once the port accepts connections.
pub(crate) fn ready_on(port: i32) -> Probe {
    Probe {
        tcp_socket: Some(TCPSocketAction { port: IntOrString::Int(port), ..Default::default() }),
        period_seconds: Some(2),
        ..Default::default()
    }
}

/// The volume with a TLS Secret.
pub(crate) fn tls_volume(mount: &tls::TlsMount) -> Volume {
    Volume {
        name: tls::VOLUME.into(),
        secret: Some(SecretVolumeSource {
            secret_name: Some(mount.secret.clone()),
            default_mode: Some(FILE_MODE),
            ..Default::default()
        }),
        ..Default::default()
    }
}

/// Mounts a volume read-only.
pub(crate) fn read_only(volume: &str, path: &str) -> VolumeMount {
    VolumeMount { read_only: Some(true), ..writable(volume, path) }
}

/// Mounts a volume.
pub(crate) fn writable(volume: &str, path: &str) -> VolumeMount {
    VolumeMount { name: volume.into(), mount_path: path.into(), ..Default::default() }
}
