//! `scenario faults`: whether the operator comes to the same end whatever happens to it.

use std::{path::PathBuf, process::ExitCode};

use clap::Args;
use testenv::{
    plans::{self, Options, Plan, Report},
    shuffle,
};

use crate::{failure::Failure, output, programs::Programs, up};

/// Options of `scenario faults`.
#[derive(Clone, Debug, Args)]
pub(crate) struct FaultsArgs {
    /// What happens to the operator.
    #[arg(long, value_name = "PLAN")]
    plan: Plan,
    /// From which everything left to chance follows [default: another one each time, which is told].
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// How often each crash is repeated.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    repeats: u16,
    /// Over how many seeds a plan goes that leaves things to chance [default: a few, each plan its own number].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    seeds: Option<u16>,
    /// Runs at a time, each with an operator of its own.
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u16).range(1..))]
    jobs: u16,
    /// Only the run of this name, to look into it.
    #[arg(long, value_name = "RUN")]
    only: Option<String>,
    /// Write what the operator and the proxy of each failed run had to tell into this folder.
    #[arg(long, value_name = "FOLDER")]
    logs: Option<PathBuf>,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// Runs the plan and reports.
pub(crate) async fn run(args: FaultsArgs) -> Result<ExitCode, Failure> {
    let programs = tokio::task::spawn_blocking(Programs::build)
        .await
        .map_err(|error| Failure::Unexpected(error.to_string()))??;
    let control_plane = up::start().await?;
    let options = Options {
        seed: args.seed.unwrap_or_else(shuffle::some_seed),
        repeats: args.repeats.into(),
        seeds: args.seeds.map(usize::from),
        jobs: args.jobs.into(),
        only: args.only,
        logs: args.logs,
    };
    let report = plans::run(control_plane, &programs.operator, args.plan, &options).await?;
    if args.json {
        output::json(&report);
    } else {
        output::line(&report.to_string());
    }
    tell(&report, options.logs.is_some());
    Ok(if report.holds() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What does not hold, and how to see it again.
fn tell(report: &Report, kept: bool) {
    for failed in &report.failed {
        let (plan, run) = failed.run.split_once('/').unwrap_or((&report.plan, &failed.run));
        output::note(&format!("BROKEN: {plan}, run {run}: {}", failed.why));
        let logs = if kept { "" } else { " --logs FOLDER" };
        output::note(&format!(
            "  again: cargo scenario faults --plan {plan} --seed {} --only {run}{logs}",
            report.seed
        ));
    }
}
