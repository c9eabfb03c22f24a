//! The command line.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use testenv::existing_cluster;

use crate::{
    demo::{self, DemoArgs},
    failure::Failure,
    scenario::{
        calls::{self, CallsArgs},
        faults::{self, FaultsArgs},
        latency::{self, LatencyArgs},
        sync::{self, SyncArgs},
    },
    up,
};

/// A real Kubernetes control plane on this machine, for development, a demo and measurements.
#[derive(Debug, Parser)]
#[command(name = "testenv", bin_name = "testenv")]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Start a control plane and keep it until Ctrl-C.
    Up,
    /// Show the operator and the plugin at work.
    Demo(DemoArgs),
    /// Measure the operator.
    #[command(subcommand)]
    Scenario(Scenario),
}

#[derive(Debug, Subcommand)]
enum Scenario {
    /// Count what the operator asks of the API server, from its start to a restart.
    Calls(CallsArgs),
    /// Measure the time from the creation of a Machine and its key to the key's approval.
    Latency(LatencyArgs),
    /// Measure a start where everything is in place already.
    Sync(SyncArgs),
    /// Show that the operator comes to the same end whatever happens to it.
    Faults(FaultsArgs),
}

/// Runs what was asked for.
pub(crate) async fn run(cli: Cli) -> Result<ExitCode, Failure> {
    if let Some(refusal) = refusal(&cli.command).filter(|_| existing_cluster().is_some()) {
        return Err(Failure::Unexpected(refusal.to_owned()));
    }
    match cli.command {
        Command::Up => up::run().await,
        Command::Demo(args) => Box::pin(demo::run(&args)).await,
        Command::Scenario(Scenario::Calls(args)) => Box::pin(calls::run(&args)).await,
        Command::Scenario(Scenario::Latency(args)) => Box::pin(latency::run(&args)).await,
        Command::Scenario(Scenario::Sync(args)) => Box::pin(sync::run(&args)).await,
        Command::Scenario(Scenario::Faults(args)) => Box::pin(faults::run(args)).await,
    }
}

/// Why a command cannot be run on a cluster that is there already.
fn refusal(command: &Command) -> Option<&'static str> {
    match command {
        Command::Up => Some(
            "`up` starts a control plane of its own, but TRUSTED_TEST_KUBECONFIG names a cluster that runs already; \
             unset it",
        ),
        Command::Demo(_) => None,
        Command::Scenario(_) => Some(
            "scenarios count requests in the API server's audit log, which the cluster of TRUSTED_TEST_KUBECONFIG does \
             not show; unset it",
        ),
    }
}
