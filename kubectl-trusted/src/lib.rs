//! `kubectl trusted`: see whether confidential machines are all right, decide which keys to trust, count what
//! an operator costs the API server.
//!
//! ```text
//!   cli (words) -> commands (data) -> output (streams)
//!                     |
//!                  connect (one client, made when needed)
//! ```
//!
//! Owns the whole of a run from arguments to exit code. Only `output` prints; health itself is judged in
//! `trusted_crds::health`, where the operator shares it.

mod cli;
mod commands;
mod complete;
mod connect;
mod error;
mod exit;
mod interrupt;
mod next;
mod output;
mod selector;
mod session;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Command};
use crate::error::{Class, Error, Result};
use crate::exit::Exit;
use crate::output::Screen;
use crate::session::Session;

pub use crate::commands::completion::scripts;
pub use crate::commands::status::schema as status_schema;

/// The whole command line, for manual pages.
pub fn command() -> clap::Command {
    <Cli as clap::CommandFactory>::command()
}

/// Runs the program with the arguments of the process.
pub fn main() -> ExitCode {
    if let Some(words) = complete::asked() {
        return complete::run(words);
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let screen = Screen::new(cli.output.output, cli.output.color);
    let mut session = Session::new(screen, cli.connection);
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            let error = Error::new(Class::Output, "The program cannot start").why(error.to_string());
            session.screen.failure(&error);
            return error.exit().into();
        }
    };
    let exit = runtime.block_on(ended(&mut session, cli.command));
    // A thread may still wait for a file or for the terminal; nobody waits for it.
    runtime.shutdown_background();
    exit.into()
}

/// The command's end, by itself, by an error or by Ctrl-C.
async fn ended(session: &mut Session, command: Command) -> Exit {
    let interrupt = session.interrupt.clone();
    let ended = interrupt.or(run(session, command)).await;
    match ended {
        Some(Ok(exit)) => exit,
        Some(Err(error)) => {
            let error = error.repeating(&session.connection.repeated_flags());
            session.screen.failure(&error);
            error.exit()
        }
        None => {
            session.screen.note("Interrupted.");
            Exit::Interrupt
        }
    }
}

async fn run(session: &mut Session, command: Command) -> Result<Exit> {
    match command {
        Command::Status(args) => Box::pin(commands::status::run(session, &args)).await,
        Command::ExplainMachine(args) => Box::pin(commands::explain_machine::run(session, &args)).await,
        Command::ApproveAk(args) => Box::pin(commands::decide::run(session, args.into())).await,
        Command::DenyAk(args) => Box::pin(commands::decide::run(session, args.into())).await,
        Command::RevokeAk(args) => Box::pin(commands::decide::run(session, args.into())).await,
        Command::Report(args) => Box::pin(commands::report::run(session, &args)).await,
        Command::Completion(args) => commands::completion::run(session, &args),
        Command::Version(args) => Box::pin(commands::version::run(session, &args)).await,
        Command::AuditApiCalls(args) => Box::pin(commands::audit_api_calls::run(session, args)).await,
    }
}

/// Help and version go to stdout and are good; anything else is a usage error on stderr.
fn usage(error: &clap::Error) -> ExitCode {
    // A closed pipe or a full disk while printing help changes nothing about what was asked.
    let _ = error.print();
    match error.exit_code() {
        0 => Exit::Good.into(),
        _ => Exit::Usage.into(),
    }
}
