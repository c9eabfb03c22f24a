//! The command line, one struct per concern.

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use clap::{Args, Parser, Subcommand};
use kube::Config;
use kube::config::{KubeConfigOptions, Kubeconfig};

use crate::lease;
use crate::run::{DEFAULT_SYNC_TIMEOUT, RunConfig};

/// Where a pod finds the namespace it runs in.
const POD_NAMESPACE_FILE: &str = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

/// Keeps a Trustee key broker configured for confidential machines.
#[derive(Debug, Parser)]
#[command(name = "trusted-operator", version, about)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Watch one namespace and keep Trustee configured.
    Run(RunArgs),
    /// Print the CustomResourceDefinitions, or write one file each.
    Crds(CrdsArgs),
}

/// Options of `run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub client: ClientArgs,
    /// Longest time the stores may take to fill before the cause is reported, such as 120s or 2m.
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "120s")]
    pub sync_timeout: Duration,
    /// Serve /livez, /readyz, /metrics and /diagnostics on this address, such as 0.0.0.0:8080. Port 0 takes a free one,
    /// which the log tells.
    #[arg(long, value_name = "ADDRESS")]
    pub http_addr: Option<SocketAddr>,
    /// How often a watch has to prove that it still shows what happens, one kind after the other; at least 2m, 0s for
    /// never. Costs one LIST of one object's metadata each time.
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "5m")]
    pub canary_period: Duration,
    /// How long the lease lives without renewal, in whole seconds, at least 3s: as long as a standby waits where the
    /// leader ended without giving it back. It is renewed when a third of it is left.
    #[arg(long, value_name = "DURATION", value_parser = lease_duration, default_value = "60s")]
    pub lease_duration: Duration,
}

/// How the API server is reached.
#[derive(Debug, Args)]
pub struct ClientArgs {
    /// Namespace to serve [default: POD_NAMESPACE, the pod's own, the context's].
    #[arg(long, short, value_name = "NAME")]
    pub namespace: Option<String>,
    /// Kubeconfig file to use instead of the pod's ServiceAccount or the usual kubeconfig.
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
}

/// Options of `crds`.
#[derive(Debug, Args)]
pub struct CrdsArgs {
    /// Write one file for each kind into this folder instead of printing them.
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
}

impl RunArgs {
    /// Finds the API server and the namespace.
    pub async fn resolve(self) -> anyhow::Result<RunConfig> {
        let kube = self.client.config().await?;
        let namespace = self.client.namespace(&kube);
        let defaults = RunConfig::new(kube, namespace);
        let canary_period = Some(self.canary_period).filter(|period| !period.is_zero());
        let http = self.http_addr.map(listen).transpose()?;
        let (sync_timeout, lease_duration) = (self.sync_timeout, self.lease_duration);
        Ok(RunConfig { sync_timeout, lease_duration, canary_period, http, ..defaults })
    }
}

impl ClientArgs {
    async fn config(&self) -> anyhow::Result<Config> {
        if let Some(file) = &self.kubeconfig {
            let kubeconfig = Kubeconfig::read_from(file)
                .with_context(|| format!("cannot use the kubeconfig {}", file.display()))?;
            return Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
                .await
                .with_context(|| format!("the kubeconfig {} leads to no API server", file.display()));
        }
        // In a pod a stray kubeconfig must not win over the ServiceAccount, as it would with `infer`.
        if std::env::var_os("KUBERNETES_SERVICE_HOST").is_some() {
            return Config::incluster().context("cannot use the ServiceAccount of this pod");
        }
        Config::infer()
            .await
            .context("no API server: give --kubeconfig, or run in a pod with a ServiceAccount")
    }

    fn namespace(&self, kube: &Config) -> String {
        let not_empty = |text: String| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        self.namespace
            .clone()
            .or_else(|| std::env::var("POD_NAMESPACE").ok().and_then(not_empty))
            .or_else(|| std::fs::read_to_string(POD_NAMESPACE_FILE).ok().and_then(not_empty))
            .unwrap_or_else(|| kube.default_namespace.clone())
    }
}

fn listen(address: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).with_context(|| format!("cannot serve health and metrics on {address}"))
}

/// A duration with its unit, as in `90s`, `2m` or `1h`.
fn duration(text: &str) -> Result<Duration, String> {
    let span: jiff::SignedDuration = text
        .parse()
        .map_err(|_| format!("{text:?} is no duration; write for example {DEFAULT_SYNC_TIMEOUT:?}"))?;
    Duration::try_from(span).map_err(|_| "a duration cannot be negative".to_owned())
}

/// The lease counts in seconds, and has to be renewed before it has run out.
fn lease_duration(text: &str) -> Result<Duration, String> {
    let duration = duration(text)?;
    if duration < lease::SHORTEST {
        return Err(format!("a lease lives for {:?} at least", lease::SHORTEST));
    }
    if duration.subsec_nanos() > 0 {
        return Err("a lease lives for whole seconds".to_owned());
    }
    Ok(duration)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn durations_need_a_unit() {
        assert_eq!(duration("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        assert!(duration("90").is_err() && duration("-5s").is_err() && duration("").is_err());
    }

    #[test]
    fn the_lease_lives_for_whole_seconds_and_at_least_three() {
        let Command::Run(args) = Cli::parse_from(["trusted-operator", "run"]).command else {
            panic!("`run` is a command")
        };
        assert_eq!(args.lease_duration, lease::DURATION);
        assert_eq!(lease_duration("3s"), Ok(Duration::from_secs(3)));
        for bad in ["2s", "0s", "3500ms", "5"] {
            assert!(lease_duration(bad).is_err(), "{bad}");
        }
    }
}
