//! Development only: `up`, `demo` and `scenario` on a real control plane.
//!
//! Purpose: the commands with a fixed contract, behind the cargo aliases of the same names.
//!
//! Must not: be shipped, or be needed by anything that is.

mod bench;
mod cli;
mod convergence;
mod copies;
mod demo;
mod failure;
mod metrics;
mod output;
mod pairs;
mod programs;
mod scenario;
mod up;

use std::process::ExitCode;

use clap::Parser;

#[tokio::main]
async fn main() -> ExitCode {
    match cli::run(cli::Cli::parse()).await {
        Ok(code) => code,
        Err(failure) => {
            output::error(&failure);
            ExitCode::FAILURE
        }
    }
}
