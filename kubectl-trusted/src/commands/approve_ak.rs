//! `approve-ak`: trust attestation keys by hand, safely.
//!
//! Owns the verb: what is shown before asking, what is refused, and following an approval until Trustee has the
//! key. The approval is bound to the fingerprint that was shown; a key that is not the one shown is never approved.

mod document;
mod follow;
mod judge;
mod observe;
mod show;
mod stage;
mod write;

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::time::Duration;

use clap::{Args, ValueEnum};
use trusted_crds::names::MANAGED_NAMESPACE_LABEL;
use trusted_crds::{Fingerprint, FingerprintError};

use self::document::{Approval, Item, Outcome};
use self::judge::{Candidate, Plan, Rules};
use self::observe::Surroundings;
use self::write::Writer;
use crate::connect::{Connection, Existence};
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::output::progress::Progress;
use crate::output::time::parse_duration;
use crate::session::Session;

const HELP: &str = "\
Before anything is asked, each key is shown: its fingerprint (worked out here,
from the key itself), the machine it names, other keys of that machine, and the
same key under other names. What is approved is the key with this fingerprint
and nothing else.

The command then waits until the approval has an effect:
  recorded   the API server has it
  bound      the operator trusts the key
  delivered  Trustee has the key, and its rollout is complete

Examples:
  # Look first: shows all of it and changes nothing
  kubectl trusted approve-ak ak-1 --dry-run=client

  # Approve it if it is the key that was read from the machine's console
  kubectl trusted approve-ak ak-1 --expect-fingerprint sha256:1f0c...

  # In a script
  kubectl trusted approve-ak ak-1 ak-2 --yes --reason 'rack 7, ticket 4711' \\
    --timeout 2m -o json";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct ApproveArgs {
    /// AttestationKeys to approve, by name or as `kubectl get -o name` prints them
    #[arg(value_name = "NAME", required = true, value_parser = parse_name)]
    names: Vec<String>,

    /// Do not ask; needed where there is no terminal
    #[arg(short, long)]
    yes: bool,

    /// Approve only if the key has this fingerprint (with exactly one NAME)
    #[arg(long, value_name = "FINGERPRINT", value_parser = parse_fingerprint)]
    expect_fingerprint: Option<Fingerprint>,

    /// Why, for those who read the approval later
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,

    /// Also where a person approved another key of the same machine: that key is denied first
    #[arg(long)]
    replace: bool,

    /// Also where a person denied this key: the denial is overwritten
    #[arg(long)]
    override_denial: bool,

    /// Change nothing: only show (client), or let the API server check the change too (server)
    #[arg(long, value_name = "WHERE", value_enum)]
    dry_run: Option<DryRun>,

    /// End when the approval is recorded, without waiting for its effect
    #[arg(long)]
    no_wait: bool,

    /// How long to wait for the effect
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = parse_duration)]
    timeout: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DryRun {
    Client,
    Server,
}

/// `NAME`, or `KIND/NAME` where the kind is ours, in any of the forms kubectl knows.
fn parse_name(text: &str) -> std::result::Result<String, String> {
    let (kind, name) = text.split_once('/').unwrap_or(("ak", text));
    let (kind, group) = kind.split_once('.').unwrap_or((kind, trusted_crds::GROUP));
    let group = group.strip_prefix("v1alpha1.").unwrap_or(group);
    let is_key = ["ak", "attestationkey", "attestationkeys"].contains(&kind.to_ascii_lowercase().as_str());
    if is_key && group == trusted_crds::GROUP && !name.is_empty() && !name.contains('/') {
        Ok(name.to_owned())
    } else {
        Err(format!("\"{text}\" names no AttestationKey; write NAME or attestationkey/NAME"))
    }
}

fn parse_fingerprint(text: &str) -> std::result::Result<Fingerprint, String> {
    text.parse().map_err(|error: FingerprintError| error.to_string())
}

pub(crate) async fn run(session: &mut Session, args: ApproveArgs) -> Result<Exit> {
    check(session, &args)?;
    let connection = session.connection.connect().await?;
    let surroundings = {
        let _progress = Progress::start(&session.screen, "looking at the keys");
        Box::pin(observe::observe(&connection)).await?
    };
    let mut approval = Approval::new(&connection.namespace, args.dry_run);
    approval.warnings.extend(without_effect(&connection).await?);
    approval.warnings.iter().for_each(|warning| session.screen.warning(warning));
    let writer = match args.dry_run {
        Some(DryRun::Client) => None,
        dry_run => Some(Box::pin(Writer::new(&connection, dry_run, args.reason.clone())).await?),
    };
    let names = distinct(&args.names);
    for name in &names {
        let item = Box::pin(one(session, &args, &surroundings, writer.as_ref(), name)).await?;
        approval.items.push(item);
    }
    if args.dry_run.is_none() && !args.no_wait {
        Box::pin(wait(session, &connection, &args, &mut approval)).await;
    }
    approval.repeat(&session.connection.repeated_flags());
    session.screen.document(&approval)?;
    Ok(approval.exit())
}

/// What can be told to be wrong before anybody is asked anything.
fn check(session: &Session, args: &ApproveArgs) -> Result<()> {
    if session.connection.all_namespaces {
        return Err(Error::usage("approve-ak works in one namespace: name it with -n instead of -A"));
    }
    if args.expect_fingerprint.is_some() && distinct(&args.names).len() > 1 {
        return Err(Error::usage("--expect-fingerprint is of one key: approve the keys one by one"));
    }
    let is_asked = args.dry_run.is_none() && !args.yes;
    if is_asked && !(std::io::stdin().is_terminal() && session.screen.talks_to_a_terminal()) {
        return Err(Error::usage("There is no terminal to ask on, so nothing was approved")
            .next("add --yes to approve without being asked, or --dry-run=client to look only"));
    }
    Ok(())
}

/// Where no policy keeps approvals from being forged, the operator acts on none. Whether that is so is told by the
/// namespace's label, if it may be read.
async fn without_effect(connection: &Connection) -> Result<Option<String>> {
    match connection.existence().await {
        Existence::Missing => Err(connection.no_such_namespace()),
        Existence::NotVisible | Existence::Present { is_managed: true } => Ok(None),
        Existence::Present { is_managed: false } => Ok(Some(format!(
            "namespace {namespace} lacks the label {MANAGED_NAMESPACE_LABEL}=true, so an approval is recorded and has \
             no effect. An administrator adds it with: kubectl label namespace {namespace} \
             {MANAGED_NAMESPACE_LABEL}=true",
            namespace = connection.namespace
        ))),
    }
}

fn distinct(names: &[String]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    names.iter().filter(|name| seen.insert(name.as_str())).cloned().collect()
}

/// One key, from what was seen to what was done. Only failing to talk to the person ends the command.
async fn one(
    session: &mut Session,
    args: &ApproveArgs,
    surroundings: &Surroundings,
    writer: Option<&Writer>,
    name: &str,
) -> Result<Item> {
    let Some(candidate) = surroundings.candidate(name) else {
        return Ok(Item::not_found(name, &surroundings.namespace, surroundings.is_unreadable(name)));
    };
    let rules = Rules {
        expected: args.expect_fingerprint.as_ref(),
        replace: args.replace,
        override_denial: args.override_denial,
        named: &args.names,
    };
    let plan = judge::judge(&candidate, &rules);
    session.screen.talk(&show::candidate(&candidate, &plan));
    let denied_first = match plan {
        Plan::Refuse(refusal) => return Ok(Item::refused(&candidate, refusal)),
        Plan::Unchanged => {
            let stage = surroundings.stage(&candidate);
            return Ok(Item::unchanged(&candidate, stage));
        }
        Plan::Approve { deny_first } => deny_first,
    };
    let is_asked = args.dry_run.is_none() && !args.yes;
    if is_asked && !session.screen.ask(&format!("Trust AttestationKey {name}?")).await? {
        return Ok(Item::not_confirmed(&candidate));
    }
    Ok(match writer {
        None => Item::would_be_approved(&candidate, &rules),
        Some(writer) => {
            let item = Box::pin(write_all(writer, surroundings, &candidate, &denied_first)).await;
            if item.reason == document::DRY_RUN { Item::would_be_approved(&candidate, &rules) } else { item }
        }
    })
}

/// The former keys are denied first: should the approval then fail, no key is trusted that nobody wants.
async fn write_all(
    writer: &Writer,
    surroundings: &Surroundings,
    candidate: &Candidate,
    deny_first: &[String],
) -> Item {
    let mut denied = Vec::new();
    for former in deny_first {
        let Some(former) = surroundings.candidate(former) else { continue };
        if let Err(outcome) = writer.deny(&former, &candidate.name).await {
            return Item::failed(candidate, outcome.about(&former.name, &denied));
        }
        denied.push(former.name);
    }
    match writer.approve(candidate).await {
        Ok(generation) => Item::approved(candidate, generation),
        Err(outcome) => Item::failed(candidate, outcome.after(&denied)),
    }
}

async fn wait(session: &mut Session, connection: &Connection, args: &ApproveArgs, approval: &mut Approval) {
    if !approval.items.iter().any(|item| item.result == Outcome::Approved) {
        return;
    }
    follow::follow(session, connection, args.timeout, approval).await;
}
