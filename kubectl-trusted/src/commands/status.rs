//! `status`: is everything all right, and if not, what is the next step.
//!
//! Owns the verb. One LIST per kind is all it asks for; the verdict comes from the health rules shared with the
//! operator.

mod collect;
mod document;
mod filter;
mod render;
mod rows;
mod tables;
mod wait;
mod watch;

use std::sync::Arc;
use std::time::Duration;

pub(crate) use self::collect::{Seen, collect};
pub(crate) use self::document::view;
use self::wait::{End, For, Place};

use clap::Args;
use jiff::Timestamp;
use kube::ResourceExt;
use kube::core::Selector;
use trusted_crds::health::Verdict;

use crate::connect::{Connection, Existence};
use crate::error::Result;
use crate::exit::Exit;
use crate::output::machine;
use crate::output::progress::Progress;
use crate::output::time::parse_duration;
use crate::selector;
use crate::session::Session;

const HELP: &str = "\
The verdict is one word:
  Healthy    every machine is served (exit code 0)
  Degraded   machines are served, but something waits for a person (exit code 3)
  Unhealthy  machines cannot get their keys (exit code 3)
  Unknown    not all may be seen, or there is nothing to judge (exit code 4)

A key counts as delivered when Trustee mounts it and its rollout is complete.

Examples:
  # The namespace of the current context, then all of them
  kubectl trusted status
  kubectl trusted status -A

  # Only what these names stand for, or what has these labels
  kubectl trusted status machine-1 ak-1
  kubectl trusted status -l rack=7

  # Several namespaces, as a table for a ticket
  kubectl trusted status -n one,two -o markdown

  # For a script
  kubectl trusted status -n trusted -o jsonpath={.verdict}

  # As it changes: a screen on a terminal, a line for each change in a pipe
  kubectl trusted status -w

  # In a pipeline: until the machine can attest, also if it is not there yet
  kubectl trusted status --wait --for=delivered=machine-1 --timeout=5m";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct StatusArgs {
    /// Show only these clusters, machines, keys and images; the verdict still is about all
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// Show only what has these labels, such as rack=7; the verdict still is about all
    #[arg(short = 'l', long, value_name = "LABELS", value_parser = selector::parse)]
    selector: Option<Selector>,

    // The flag of the same name that is taken in any place, shown where it means something.
    /// All namespaces
    #[arg(short = 'A', long)]
    all_namespaces: bool,

    /// Go on until Ctrl-C: redraw on a terminal; in a pipe one line, or one document, for each change
    #[arg(short = 'w', long, conflicts_with = "wait")]
    watch: bool,

    /// Wait until it is so, then show; exit code 124 if it was not in time
    #[arg(long)]
    wait: bool,

    /// What to wait for: healthy, or delivered=NAME of a machine or key
    #[arg(long = "for", value_name = "WHAT", default_value = "healthy", requires = "wait", value_parser = For::parse)]
    wait_for: For,

    /// How long to wait
    #[arg(long, value_name = "DURATION", default_value = "60s", requires = "wait", value_parser = parse_duration)]
    timeout: Duration,
}

impl StatusArgs {
    /// What was asked for of all that there is.
    fn shown(&self, mut status: document::Status, seens: &[Seen]) -> Result<document::Status> {
        if let Some(selector) = &self.selector {
            status.keep_labelled(&filter::labelled(seens, selector));
        }
        if !self.names.is_empty() {
            status.keep_only(&self.names)?;
        }
        Ok(status)
    }
}

/// The document of what was seen.
pub(crate) fn document(seens: &[Seen], namespaces: &[String], now: Timestamp) -> document::Status {
    document::of(seens, namespaces, "", now)
}

/// The schema of the document, as it is published in docs/schema.
pub fn schema() -> String {
    machine::schema::<document::Status>()
}

pub(crate) async fn run(session: &mut Session, args: &StatusArgs) -> Result<Exit> {
    let connection = session.connection.connect_to_several().await?;
    let namespaces = session.connection.places(&connection);
    let flags = session.connection.repeated_flags();
    let mut seens = {
        let _progress = Progress::start(&session.screen, "asking the API server");
        collect::collect_all(&connection, &namespaces).await?
    };
    let is_nothing = !args.watch && namespaces.len() == 1 && seens.iter().all(Seen::is_nothing);
    if is_nothing && !args.wait && connection.existence().await == Existence::Missing {
        return Err(connection.no_such_namespace());
    }
    let place = Place { connection: &connection, namespaces: &namespaces, flags: &flags };
    if args.watch {
        return watch::watch(session, &place, &mut seens, |status, seens| args.shown(status, seens)).await;
    }
    let (status, waited) = match args.wait {
        false => (place.status(&seens), None),
        true => {
            let message = format!("waiting for: {}", args.wait_for.words());
            let _progress = Progress::start(&session.screen, &message);
            let (status, end) = Box::pin(place.wait(&mut seens, &args.wait_for, args.timeout)).await?;
            (status, Some(end))
        }
    };
    let status = args.shown(status, &seens)?;
    session.screen.document(&status)?;
    if waited == Some(End::Late) {
        let (what, seconds) = (args.wait_for.words(), args.timeout.as_secs_f64());
        session.screen.warning(&format!("not {what} after {seconds} s"));
    }
    Ok(match (waited, status.verdict) {
        (Some(End::Reached), _) | (None, Verdict::Healthy) => Exit::Good,
        (Some(End::Late), _) => Exit::Deadline,
        (Some(End::NotVisible), _) | (None, Verdict::Unknown) => Exit::Incomplete,
        (None, Verdict::Degraded | Verdict::Unhealthy) => Exit::Unhealthy,
    })
}

/// The names that can be given, each with its kind.
pub(crate) async fn names(connection: &Connection, namespace: Option<&str>) -> Result<Vec<(String, String)>> {
    fn of<K: kube::Resource<DynamicType = ()>>(objects: Option<&Vec<Arc<K>>>) -> Vec<(String, String)> {
        let named = |object: &Arc<K>| (object.name_any(), K::kind(&()).into_owned());
        objects.into_iter().flatten().map(named).collect()
    }
    let seen = collect(connection, namespace).await?;
    let all = [
        of(seen.clusters.as_ref()),
        of(seen.machines.as_ref()),
        of(seen.attestation_keys.as_ref()),
        of(seen.approved_images.as_ref()),
    ];
    Ok(all.concat())
}
