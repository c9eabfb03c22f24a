//! The command line: names, flags and help, and nothing else.

use clap::{Args, Parser, Subcommand};

use crate::commands::audit_api_calls::AuditApiCallsArgs;
use crate::commands::completion::CompletionArgs;
use crate::commands::decide::{ApproveArgs, DenyArgs, RevokeArgs};
use crate::commands::explain_machine::ExplainArgs;
use crate::commands::report::ReportArgs;
use crate::commands::status::StatusArgs;
use crate::commands::version::VersionArgs;
use crate::connect::ConnectionArgs;
use crate::exit;
use crate::output::format::{Format, FormatParser};
use crate::output::paint::ColorChoice;

/// kubectl runs the program as `kubectl trusted`, so that is what its help calls it.
#[derive(Debug, Parser)]
#[command(
    name = "kubectl-trusted",
    bin_name = "kubectl trusted",
    version,
    about = "See, decide and count what keeps confidential machines trusted",
    after_help = exit::HELP,
    disable_help_subcommand = true,
    max_term_width = 110
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    pub(crate) connection: ConnectionArgs,
}

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Format of the result
    #[arg(short, long, global = true, value_parser = FormatParser, default_value = "table", value_name = "FORMAT")]
    pub(crate) output: Format,

    /// Colour: words carry the meaning without it; NO_COLOR and TERM=dumb are respected
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub(crate) color: ColorChoice,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Tell whether machines are served, and if not, what to do next
    Status(StatusArgs),
    /// Show what a machine needs until it gets its disk key, and where that breaks
    ExplainMachine(ExplainArgs),
    /// Trust attestation keys by hand, and wait until machines can attest with them
    ApproveAk(ApproveArgs),
    /// Refuse attestation keys for good, under any name, and wait until Trustee has them no more
    DenyAk(DenyArgs),
    /// Take back what was decided by hand about attestation keys
    RevokeAk(RevokeArgs),
    /// Count API requests, and compare before and after
    AuditApiCalls(AuditApiCallsArgs),
    /// Gather what others need to find out what is wrong, without secrets, into one archive
    Report(ReportArgs),
    /// Show which versions there are, and whether they go together
    Version(VersionArgs),
    /// Print the completion script of a shell, or the helper through which kubectl completes
    Completion(CompletionArgs),
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
    fn connection_flags_stand_before_or_after_the_verb() {
        let before = ["kubectl-trusted", "--context", "c", "-n", "x", "audit-api-calls", "snapshot"];
        let after = ["kubectl-trusted", "audit-api-calls", "snapshot", "--context", "c", "-n", "x"];
        for words in [&before[..], &after[..]] {
            let cli = Cli::try_parse_from(words).unwrap();
            assert_eq!(cli.connection.context.as_deref(), Some("c"));
            assert_eq!(cli.connection.namespace, ["x"]);
        }
    }
}
