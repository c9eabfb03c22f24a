//! `trusted-operator`: parse, run, exit code.

use std::process::ExitCode;

use clap::Parser;
use trusted_operator::args::{Cli, Command};
use trusted_operator::{crd_files, run, shutdown, telemetry};

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Run(args) => start(args),
        Command::Crds(args) => crd_files::write(args.out.as_deref()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            shutdown::report(&error);
            ExitCode::FAILURE
        }
    }
}

#[tokio::main]
async fn start(args: trusted_operator::args::RunArgs) -> anyhow::Result<()> {
    telemetry::start();
    let config = args.resolve().await?;
    run(config, shutdown::requested()).await.map_err(Into::into)
}
