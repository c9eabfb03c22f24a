//! `audit-api-calls`: what clients cost an API server, and whether it is more than before.
//!
//! Owns the subcommands. What they count is from the API server (audit log, metrics, FlowSchemas, APIRequestCounts) or
//! from a client of it (its own metrics).

mod budget;
mod change;
mod chart;
mod claim;
mod count;
mod diff;
mod document;
mod explain;
mod export;
mod flow;
mod group;
mod hours;
mod instances;
mod live;
mod log;
mod meter;
mod metrics;
mod reading;
mod render;
mod report;
mod run;
mod snapshot;
mod source;
mod top;
mod validity;

use clap::{Args, Subcommand};

use crate::error::Result;
use crate::exit::Exit;
use crate::session::Session;

const EXAMPLES: &str = "\
A request counts once, whatever number of stages the log holds: a watch when it
starts, everything else when it is answered.

Examples:
  # What did the operator cost? From an audit log, for one client
  kubectl trusted audit-api-calls snapshot --audit-log audit.log \\
    --user system:serviceaccount:trusted:trusted-operator

  # Before and after, with a limit that fails a pipeline
  kubectl trusted audit-api-calls snapshot --audit-log before.log.gz \\
    --user op --out before.json
  kubectl trusted audit-api-calls snapshot --audit-log after.log.gz \\
    --user op --out after.json
  kubectl trusted audit-api-calls diff before.json after.json \\
    --max list=0 --max-increase 0% --chart calls.svg

  # The same in a pipeline: a budget beside the code, and a report
  kubectl trusted audit-api-calls diff before.json after.json \\
    --budget budget.yaml --junit report.xml --step-summary --strict

  # What do these tests cost?
  kubectl trusted audit-api-calls run --audit-log audit.log -- make e2e

  # What is being asked just now? A table that is drawn again
  kubectl trusted audit-api-calls live --duration 10m

  # What does a client count itself? Any with client-go, kubert, or ours
  kubectl trusted audit-api-calls live --pod my-operator-0:8080 -n mine

  # What does one ServiceAccount send? By a FlowSchema made for the time
  kubectl trusted audit-api-calls run --flow-schema-for mine/op -- make e2e

  # Who asks most?
  kubectl trusted audit-api-calls top --audit-log /var/log/kubernetes/audit

  # Why so many, and how would it be fewer?
  kubectl trusted audit-api-calls explain --audit-log audit.log --user op

  # All clients together, from the counters of a running API server
  kubectl trusted audit-api-calls snapshot --out 1.json; sleep 600
  kubectl trusted audit-api-calls snapshot --out 2.json
  kubectl trusted audit-api-calls diff 1.json 2.json";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AuditApiCallsArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Count requests now (metrics) or in audit logs
    #[command(after_help = EXAMPLES)]
    Snapshot(Box<snapshot::SnapshotArgs>),
    /// Compare two snapshots
    #[command(after_help = EXAMPLES)]
    Diff(Box<diff::DiffArgs>),
    /// Count requests while a command runs, and end with its exit code
    #[command(after_help = EXAMPLES)]
    Run(Box<run::RunArgs>),
    /// Show what is being asked now, interval by interval
    #[command(after_help = EXAMPLES)]
    Live(Box<live::LiveArgs>),
    /// Show who sends most requests, by client, verb and resource
    #[command(after_help = EXAMPLES)]
    Top(Box<top::TopArgs>),
    /// Name habits of clients that cost requests, and how to do with fewer
    #[command(after_help = EXAMPLES)]
    Explain(Box<explain::ExplainArgs>),
}

pub(crate) async fn run(session: &mut Session, args: AuditApiCallsArgs) -> Result<Exit> {
    match args.what {
        What::Snapshot(args) => snapshot::run(session, *args).await,
        What::Diff(args) => diff::run(session, &args),
        What::Run(args) => run::run(session, *args).await,
        What::Live(args) => live::run(session, *args).await,
        What::Top(args) => top::run(session, &args).await,
        What::Explain(args) => explain::run(session, &args).await,
    }
}
