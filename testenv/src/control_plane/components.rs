//! The command lines of the control plane's parts.

use std::{
    net::{Ipv4Addr, TcpListener},
    path::Path,
    process::Command,
};

use crate::{
    Error,
    assets::{Assets, Program},
    layout::Layout,
};

/// The audit policy: who asked for what, and how it was answered, for every request.
pub(super) const AUDIT_POLICY: &str = "\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
";

/// What simulated nodes and pods do; see `stages.yaml`.
pub(super) const STAGES: &str = include_str!("stages.yaml");

/// Ports on loopback that were free a moment ago.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ports {
    etcd: u16,
    etcd_peer: u16,
    pub(super) api_server: u16,
}

impl Ports {
    /// Lets the system choose. All are held at the same time, so they differ.
    pub(super) fn choose() -> Result<Ports, Error> {
        let bind =
            || TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(Error::io("a free port on 127.0.0.1"));
        let held = [bind()?, bind()?, bind()?];
        let port = |listener: &TcpListener| {
            listener.local_addr().map(|address| address.port()).map_err(Error::io("a free port on 127.0.0.1"))
        };
        Ok(Ports { etcd: port(&held[0])?, etcd_peer: port(&held[1])?, api_server: port(&held[2])? })
    }
}

/// etcd without fsync: its data is worth nothing after the test.
pub(super) fn etcd(assets: &Assets, layout: &Layout, ports: Ports) -> Command {
    let client = format!("http://127.0.0.1:{}", ports.etcd);
    let peer = format!("http://127.0.0.1:{}", ports.etcd_peer);
    let mut command = Command::new(assets.path(Program::Etcd));
    flag(&mut command, "data-dir", layout.etcd_data());
    flag(&mut command, "listen-client-urls", &client);
    flag(&mut command, "advertise-client-urls", &client);
    flag(&mut command, "listen-peer-urls", peer);
    command.arg("--unsafe-no-fsync");
    // 200,000 objects, each written twice, take more than half of the 2 GB that are the default.
    flag(&mut command, "quota-backend-bytes", "8589934592");
    command
}

/// kube-apiserver with RBAC, tokens, an audit log of every request, and the check of owner references that
/// OpenShift has on by default (a missing right on `*/finalizers` shows only there).
pub(super) fn api_server(assets: &Assets, layout: &Layout, ports: Ports) -> Command {
    let mut command = Command::new(assets.path(Program::ApiServer));
    flag(&mut command, "etcd-servers", format!("http://127.0.0.1:{}", ports.etcd));
    flag(&mut command, "secure-port", ports.api_server.to_string());
    flag(&mut command, "bind-address", "127.0.0.1");
    flag(&mut command, "tls-cert-file", layout.server_certificate());
    flag(&mut command, "tls-private-key-file", layout.server_key());
    flag(&mut command, "service-account-issuer", "https://kubernetes.default.svc");
    flag(&mut command, "service-account-signing-key-file", layout.account_signing_key());
    flag(&mut command, "service-account-key-file", layout.account_public_key());
    flag(&mut command, "service-cluster-ip-range", "10.96.0.0/16");
    flag(&mut command, "token-auth-file", layout.tokens());
    flag(&mut command, "authorization-mode", "RBAC");
    flag(&mut command, "enable-admission-plugins", "OwnerReferencesPermissionEnforcement");
    flag(&mut command, "audit-policy-file", layout.audit_policy());
    flag(&mut command, "audit-log-path", layout.audit_log());
    // Megabytes before the log is rotated: more than any run writes, since only one file is read.
    flag(&mut command, "audit-log-maxsize", "100000");
    flag(&mut command, "allow-privileged", "true");
    command
}

/// kube-controller-manager. Each controller has an identity of its own, which the admission policies rely on; the
/// client limits are raised, so that parallel tests do not wait for each other's garbage.
pub(super) fn controller_manager(assets: &Assets, layout: &Layout, kubeconfig: &Path) -> Command {
    let mut command = Command::new(assets.path(Program::ControllerManager));
    flag(&mut command, "kubeconfig", kubeconfig);
    flag(&mut command, "leader-elect", "false");
    flag(&mut command, "use-service-account-credentials", "true");
    flag(&mut command, "service-account-private-key-file", layout.account_signing_key());
    flag(&mut command, "root-ca-file", layout.authority());
    flag(&mut command, "kube-api-qps", "500");
    flag(&mut command, "kube-api-burst", "1000");
    flag(&mut command, "secure-port", "0");
    command
}

/// kube-scheduler. Like the controller-manager it serves nothing itself, so it needs no port.
pub(super) fn scheduler(assets: &Assets, kubeconfig: &Path) -> Command {
    let mut command = Command::new(assets.path(Program::Scheduler));
    flag(&mut command, "kubeconfig", kubeconfig);
    flag(&mut command, "leader-elect", "false");
    flag(&mut command, "secure-port", "0");
    command
}

/// kwok: plays the kubelet of every Node.
pub(super) fn kwok(assets: &Assets, layout: &Layout, kubeconfig: &Path) -> Command {
    let mut command = Command::new(assets.path(Program::Kwok));
    flag(&mut command, "kubeconfig", kubeconfig);
    flag(&mut command, "config", layout.stages());
    flag(&mut command, "manage-all-nodes", "true");
    flag(&mut command, "node-ip", "127.0.0.1");
    flag(&mut command, "node-lease-duration-seconds", "40");
    command
}

fn flag(command: &mut Command, name: &str, value: impl AsRef<std::ffi::OsStr>) {
    let mut argument = std::ffi::OsString::from(format!("--{name}="));
    argument.push(value);
    command.arg(argument);
}
