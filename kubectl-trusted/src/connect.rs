//! From kubectl's connection flags to one client.
//!
//! Owns the flags, what of the kubeconfig they replace, and the identity the API server sees. The client is
//! made only when a command asks for it, so that `--help` and work on files never touch a kubeconfig.

mod kubeconfig;
mod lists;
mod namespace;

use std::collections::BTreeSet;
use std::future::Future;
use std::time::Duration;

use clap::Args;
use http::header::{HeaderValue, USER_AGENT};
use kube::{Client, Config};
use trusted_crds::names;

use crate::error::{Attempt, Class, Error, Result};
use crate::next;
use crate::output::time::parse_duration;

pub(crate) use self::lists::{Listed, Lists, attempt};
pub(crate) use self::namespace::Existence;

/// How the API server knows this program, in audit logs above all.
pub(crate) const AGENT: &str = concat!("kubectl-trusted/", env!("CARGO_PKG_VERSION"));

/// Nobody waits longer than this for a connection to be made.
const LONGEST_CONNECT: Duration = Duration::from_secs(10);

#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Connection (as kubectl)")]
pub(crate) struct ConnectionArgs {
    /// Namespace; without it that of the context, else "default". Status takes several: a,b
    #[arg(short, long, global = true, value_name = "NAMESPACE", conflicts_with = "all_namespaces", value_parser = namespace)]
    #[arg(value_delimiter = ',', num_args = 1)]
    pub(crate) namespace: Vec<String>,

    /// All namespaces. Taken in any place, so that the verbs without it can say so; `status` alone offers it.
    #[arg(short = 'A', long, global = true, hide = true)]
    pub(crate) all_namespaces: bool,

    /// Context of the kubeconfig
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) context: Option<String>,

    /// Cluster of the kubeconfig
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) cluster: Option<String>,

    /// User of the kubeconfig; with --audit-log the client whose requests are counted
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) user: Option<String>,

    /// Kubeconfig file; without it KUBECONFIG, else ~/.kube/config
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) kubeconfig: Option<std::path::PathBuf>,

    /// Act as this user
    #[arg(long = "as", global = true, value_name = "USER")]
    pub(crate) impersonate: Option<String>,

    /// Act as a member of this group; may be repeated
    #[arg(long = "as-group", global = true, value_name = "GROUP")]
    pub(crate) impersonate_groups: Vec<String>,

    /// Act with this uid
    #[arg(long = "as-uid", global = true, value_name = "UID")]
    pub(crate) impersonate_uid: Option<String>,

    /// The longest one request may take, such as 30s; 0 for no limit
    #[arg(long, global = true, value_name = "DURATION", default_value = "30s", value_parser = parse_duration)]
    pub(crate) request_timeout: Duration,

    /// Address of the API server
    #[arg(short, long, global = true, value_name = "URL", hide_short_help = true)]
    pub(crate) server: Option<String>,

    /// Bearer token
    #[arg(long, global = true, value_name = "TOKEN", hide_short_help = true)]
    pub(crate) token: Option<String>,

    /// File with the CA of the API server
    #[arg(long, global = true, value_name = "FILE", hide_short_help = true)]
    pub(crate) certificate_authority: Option<String>,

    /// Do not check the API server's certificate: anybody can then read and change what is sent
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) insecure_skip_tls_verify: bool,

    /// File with a client certificate
    #[arg(long, global = true, value_name = "FILE", hide_short_help = true)]
    pub(crate) client_certificate: Option<String>,

    /// File with the key of the client certificate
    #[arg(long, global = true, value_name = "FILE", hide_short_help = true)]
    pub(crate) client_key: Option<String>,

    /// Name expected in the API server's certificate
    #[arg(long, global = true, value_name = "NAME", hide_short_help = true)]
    pub(crate) tls_server_name: Option<String>,
}

/// A name that a namespace can have, or none: another one would lead to a path that the API server does not know.
fn namespace(text: &str) -> std::result::Result<String, String> {
    if text.is_empty() || names::is_label(text) {
        return Ok(text.to_owned());
    }
    Err("a namespace has at most 63 lower-case letters, digits and hyphens, and none of these at its ends"
        .to_owned())
}

/// A client and what messages need to know about it.
#[derive(Clone)]
pub(crate) struct Connection {
    pub(crate) client: Client,
    pub(crate) url: String,
    /// The namespace asked for, else that of the context.
    pub(crate) namespace: String,
    pub(crate) request_timeout: Option<Duration>,
}

impl ConnectionArgs {
    /// The client, for commands that work in one namespace.
    pub(crate) async fn connect(&self) -> Result<Connection> {
        match self.namespace.as_slice() {
            [] | [_] => self.connect_to_several().await,
            several => {
                Err(Error::usage(format!("This works in one namespace, not in {}", several.join(" and ")))
                    .next("name one of them with -n; kubectl trusted status takes several"))
            }
        }
    }

    /// The namespaces to look at: those named, else that of the context; none stands for all.
    pub(crate) fn places(&self, connection: &Connection) -> Vec<String> {
        let named: BTreeSet<_> =
            self.namespace.iter().filter(|namespace| !namespace.is_empty()).cloned().collect();
        match (self.all_namespaces, named.is_empty()) {
            (true, _) => Vec::new(),
            (false, true) => vec![connection.namespace.clone()],
            (false, false) => named.into_iter().collect(),
        }
    }

    /// The client. Plug-ins for credentials run while it is made, so this happens off the async threads.
    pub(crate) async fn connect_to_several(&self) -> Result<Connection> {
        let config = self.config().await?;
        let url = config.cluster_url.to_string();
        // `-n "$UNSET"` asks for nothing, as with kubectl.
        let given = self.namespace.first().filter(|namespace| !namespace.is_empty());
        let namespace = given.cloned().unwrap_or_else(|| config.default_namespace.clone());
        let request_timeout = Some(self.request_timeout).filter(|limit| !limit.is_zero());
        let building = tokio::task::spawn_blocking(move || Client::try_from(config));
        let client = match building.await {
            Ok(Ok(client)) => client,
            Ok(Err(error)) => return Err(no_client(&error.to_string())),
            Err(error) => return Err(no_client(&error.to_string())),
        };
        Ok(Connection { client, url, namespace, request_timeout })
    }

    async fn config(&self) -> Result<Config> {
        // A second provider cannot be installed; the first one is the same.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut config = kubeconfig::load(self).await?;
        config.connect_timeout = Some(if self.request_timeout.is_zero() {
            LONGEST_CONNECT
        } else {
            LONGEST_CONNECT.min(self.request_timeout)
        });
        // Failures are told at once: a person decides whether to try again.
        config.default_retry = false;
        config.headers.push((USER_AGENT, HeaderValue::from_static(AGENT)));
        self.impersonate(&mut config)?;
        Ok(config)
    }

    /// How to reach something else than an API server: of the flags those for TLS and the token, of the kubeconfig nothing.
    pub(crate) fn config_of(&self, url: http::Uri) -> Config {
        // A second provider cannot be installed; the first one is the same.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut config = Config::new(url);
        config.connect_timeout = Some(LONGEST_CONNECT);
        config.default_retry = false;
        config.headers.push((USER_AGENT, HeaderValue::from_static(AGENT)));
        config.auth_info.token = self.token.clone().map(Into::into);
        config.root_cert_file = self.certificate_authority.clone().map(Into::into);
        config.accept_invalid_certs = self.insecure_skip_tls_verify;
        config.tls_server_name.clone_from(&self.tls_server_name);
        config
    }

    fn impersonate(&self, config: &mut Config) -> Result<()> {
        if self.impersonate.is_none()
            && (!self.impersonate_groups.is_empty() || self.impersonate_uid.is_some())
        {
            return Err(Error::usage(
                "--as-group and --as-uid need --as: a group or uid alone cannot be impersonated",
            ));
        }
        if let Some(user) = &self.impersonate {
            config.auth_info.impersonate = Some(user.clone());
            config.auth_info.impersonate_groups =
                Some(self.impersonate_groups.clone()).filter(|groups| !groups.is_empty());
            config.auth_info.impersonate_uid.clone_from(&self.impersonate_uid);
        }
        Ok(())
    }

    /// The flags a person has to repeat so that a suggested command reaches the same cluster as the same person. A
    /// token is never printed.
    pub(crate) fn repeated_flags(&self) -> String {
        let kubeconfig = self.kubeconfig.as_ref().map(|file| file.display().to_string());
        let named = [
            ("--context", &self.context),
            ("--cluster", &self.cluster),
            ("--user", &self.user),
            ("--kubeconfig", &kubeconfig),
            ("--server", &self.server),
            ("--certificate-authority", &self.certificate_authority),
            ("--client-certificate", &self.client_certificate),
            ("--client-key", &self.client_key),
            ("--tls-server-name", &self.tls_server_name),
            ("--as", &self.impersonate),
            ("--as-uid", &self.impersonate_uid),
        ];
        let given = named.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?)));
        let groups = self.impersonate_groups.iter().map(|group| ("--as-group", group.as_str()));
        let mut flags: String = given.chain(groups).map(|(name, value)| next::flag(name, value)).collect();
        if self.insecure_skip_tls_verify {
            flags.push_str(" --insecure-skip-tls-verify");
        }
        flags
    }
}

fn no_client(cause: &str) -> Error {
    Error::new(Class::Kubeconfig, "No client can be made from this configuration")
        .why(cause)
        .next("check the context's user: its certificate, key, token or credential plug-in")
}

impl Connection {
    /// One request with the deadline of `--request-timeout`.
    pub(crate) async fn ask<T>(
        &self,
        attempt: &Attempt,
        request: impl Future<Output = std::result::Result<T, kube::Error>>,
    ) -> Result<T> {
        let answer = match self.request_timeout {
            None => request.await,
            Some(limit) => match tokio::time::timeout(limit, request).await {
                Ok(answer) => answer,
                Err(_) => return Err(attempt.too_slow(self)),
            },
        };
        answer.map_err(|error| attempt.failed(&error, &self.url))
    }
}
