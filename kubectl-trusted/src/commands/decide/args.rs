//! The flags of the three verbs, and the one request they become.
//!
//! Owns the help texts and what can be told to be wrong before a cluster is asked.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args, ValueEnum};
use kube::core::Selector;
use trusted_crds::{Fingerprint, FingerprintError};

use super::action::Action;
use crate::output::time::parse_duration;
use crate::selector;

const APPROVE_HELP: &str = "\
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

  # All that wait: they are listed, then there is one question
  kubectl trusted approve-ak --all --pending

  # Those of a rack; those of a file, if they are the keys in that file
  kubectl trusted approve-ak -l rack=7
  kubectl trusted approve-ak -f keys.yaml

  # In a script
  kubectl trusted approve-ak ak-1 ak-2 --yes --reason 'rack 7, ticket 4711' \\
    --timeout 2m -o json";

const DENY_HELP: &str = "\
A denial holds for the key, not for the object: no AttestationKey with this
fingerprint is trusted, under any name and for any machine, until a person
takes the denial back. A machine that runs keeps running; the next time it
attests it is refused.

The command then waits until the denial has an effect:
  recorded     the API server has it
  unbound      the operator does not trust the key
  undelivered  Trustee does not have the key, and its rollout is complete

Examples:
  # Look first: shows what would be lost and changes nothing
  kubectl trusted deny-ak ak-1 --dry-run=client

  # A stolen machine
  kubectl trusted deny-ak ak-1 --reason 'stolen, ticket 4712'

  # All that wait: they are listed, then there is one question
  kubectl trusted deny-ak --all --pending

  # In a script
  kubectl trusted deny-ak -l rack=7 --yes --timeout 2m -o json";

const REVOKE_HELP: &str = "\
Takes back an approval or a denial that a person gave. A key whose approval is
taken back is not trusted any more (reason Withdrawn). A key whose denial is
taken back is not trusted either: that takes approve-ak. Only the object that
is named changes; a denial under another name still holds.

The command then waits until that has an effect:
  recorded     the API server has it
  unbound      the operator does not trust the key
  undelivered  Trustee does not have the key, and its rollout is complete

Examples:
  # Look first: shows what would be lost and changes nothing
  kubectl trusted revoke-ak ak-1 --dry-run=client

  # An approval that was a mistake
  kubectl trusted revoke-ak ak-1

  # In a script
  kubectl trusted revoke-ak -f keys.yaml --yes --timeout 2m -o json";

const APPROVE_USAGE: &str = "\
kubectl trusted approve-ak [OPTIONS] <NAME>...
       kubectl trusted approve-ak [OPTIONS] <--all --pending|-l LABELS|-f FILE>";

const DENY_USAGE: &str = "\
kubectl trusted deny-ak [OPTIONS] <NAME>...
       kubectl trusted deny-ak [OPTIONS] <--all --pending|-l LABELS|-f FILE>";

const REVOKE_USAGE: &str = "\
kubectl trusted revoke-ak [OPTIONS] <NAME>...
       kubectl trusted revoke-ak [OPTIONS] <-l LABELS|-f FILE>";

/// The keys a verb is about.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("which").required(true))]
pub(crate) struct KeyArgs {
    /// AttestationKeys, by name or as `kubectl get -o name` prints them
    #[arg(value_name = "NAME", group = "which", value_parser = parse_name)]
    names: Vec<String>,

    /// All AttestationKeys with these labels, such as rack=7,stage!=test
    #[arg(short = 'l', long, value_name = "LABELS", group = "which", value_parser = selector::parse)]
    selector: Option<Selector>,

    /// The AttestationKeys in this file of YAML or JSON (- for stdin), if they have the keys that the file has
    #[arg(short, long, value_name = "FILE", group = "which")]
    filename: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct PendingArgs {
    /// All AttestationKeys of the namespace, of which only those that wait can be meant
    #[arg(long, group = "which", requires = "pending")]
    all: bool,

    /// Of those, the ones that wait: neither trusted nor refused, and nobody decided
    #[arg(long, conflicts_with_all = ["names", "filename"])]
    pending: bool,
}

/// How it is done.
#[derive(Debug, Args)]
pub(crate) struct CourseArgs {
    /// Do not ask; needed where there is no terminal
    #[arg(short, long)]
    yes: bool,

    /// Only if the key has this fingerprint (with exactly one NAME)
    #[arg(long, value_name = "FINGERPRINT", value_parser = parse_fingerprint)]
    expect_fingerprint: Option<Fingerprint>,

    /// Change nothing: only show (client), or let the API server check the change too (server)
    #[arg(long, value_name = "WHERE", value_enum)]
    dry_run: Option<DryRun>,

    /// End when the decision is recorded, without waiting for its effect
    #[arg(long)]
    no_wait: bool,

    /// How long to wait for the effect
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = parse_duration)]
    timeout: Duration,
}

#[derive(Debug, Args)]
#[command(after_help = APPROVE_HELP, override_usage = APPROVE_USAGE)]
pub(crate) struct ApproveArgs {
    #[command(flatten)]
    keys: KeyArgs,

    #[command(flatten)]
    pending: PendingArgs,

    #[command(flatten)]
    course: CourseArgs,

    /// Why, for those who read the approval later
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,

    /// Also where a person approved another key of the same machine: that key is denied first
    #[arg(long)]
    replace: bool,

    /// Also where a person denied this key: the denial is overwritten
    #[arg(long)]
    override_denial: bool,
}

#[derive(Debug, Args)]
#[command(after_help = DENY_HELP, override_usage = DENY_USAGE)]
pub(crate) struct DenyArgs {
    #[command(flatten)]
    keys: KeyArgs,

    #[command(flatten)]
    pending: PendingArgs,

    #[command(flatten)]
    course: CourseArgs,

    /// Why, for those who read the denial later
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = REVOKE_HELP, override_usage = REVOKE_USAGE)]
pub(crate) struct RevokeArgs {
    #[command(flatten)]
    keys: KeyArgs,

    #[command(flatten)]
    course: CourseArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DryRun {
    Client,
    Server,
}

impl DryRun {
    pub(crate) fn word(self) -> &'static str {
        match self {
            DryRun::Client => "client",
            DryRun::Server => "server",
        }
    }
}

/// Which keys are meant, before any is looked at.
#[derive(Debug)]
pub(crate) enum Which {
    Names(Vec<String>),
    Files(Vec<PathBuf>),
    Labelled { selector: Selector, only_pending: bool },
    AllPending,
}

/// What was asked for, whatever the verb.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) action: Action,
    pub(crate) which: Which,
    pub(crate) yes: bool,
    pub(crate) expect_fingerprint: Option<Fingerprint>,
    pub(crate) reason: Option<String>,
    pub(crate) replace: bool,
    pub(crate) override_denial: bool,
    pub(crate) dry_run: Option<DryRun>,
    pub(crate) no_wait: bool,
    pub(crate) timeout: Duration,
}

impl Request {
    fn new(action: Action, keys: KeyArgs, pending: Option<&PendingArgs>, course: CourseArgs) -> Request {
        let only_pending = pending.is_some_and(|pending| pending.pending);
        let which = match keys.selector {
            Some(selector) => Which::Labelled { selector, only_pending },
            None if !keys.filename.is_empty() => Which::Files(keys.filename),
            None if only_pending => Which::AllPending,
            None => Which::Names(keys.names),
        };
        Request {
            action,
            which,
            yes: course.yes,
            expect_fingerprint: course.expect_fingerprint,
            reason: None,
            replace: false,
            override_denial: false,
            dry_run: course.dry_run,
            no_wait: course.no_wait,
            timeout: course.timeout,
        }
    }

    /// Whether a person is asked before anything changes.
    pub(crate) fn is_asked(&self) -> bool {
        self.dry_run.is_none() && !self.yes
    }
}

impl From<ApproveArgs> for Request {
    fn from(args: ApproveArgs) -> Request {
        let request = Request::new(Action::Approve, args.keys, Some(&args.pending), args.course);
        let (replace, override_denial) = (args.replace, args.override_denial);
        Request { reason: args.reason, replace, override_denial, ..request }
    }
}

impl From<DenyArgs> for Request {
    fn from(args: DenyArgs) -> Request {
        let request = Request::new(Action::Deny, args.keys, Some(&args.pending), args.course);
        Request { reason: args.reason, ..request }
    }
}

impl From<RevokeArgs> for Request {
    fn from(args: RevokeArgs) -> Request {
        Request::new(Action::Revoke, args.keys, None, args.course)
    }
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
