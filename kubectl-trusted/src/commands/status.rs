//! `status`: is everything all right, and if not, what is the next step.
//!
//! Owns the verb. One LIST per kind is all it asks for; the verdict comes from the health rules shared with the
//! operator.

mod collect;
mod document;
mod render;
mod rows;
mod tables;

use std::sync::Arc;

pub(crate) use self::collect::collect;
pub(crate) use self::document::view;

use clap::Args;
use jiff::Timestamp;
use kube::ResourceExt;
use trusted_crds::health::Verdict;

use crate::connect::{Connection, Existence};
use crate::error::Result;
use crate::exit::Exit;
use crate::output::progress::Progress;
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

  # Only what these names stand for: clusters, machines, keys or images
  kubectl trusted status machine-1 ak-1

  # For a script
  kubectl trusted status -n trusted -o json | jq -r .verdict";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct StatusArgs {
    /// Show only these clusters, machines, keys and images; the verdict still is about all
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    // The flag of the same name that is taken in any place, shown where it means something.
    /// All namespaces
    #[arg(short = 'A', long)]
    all_namespaces: bool,
}

pub(crate) async fn run(session: &mut Session, args: &StatusArgs) -> Result<Exit> {
    let connection = session.connection.connect().await?;
    let namespace = (!session.connection.all_namespaces).then(|| connection.namespace.clone());
    let seen = {
        let _progress = Progress::start(&session.screen, "asking the API server");
        collect(&connection, namespace.as_deref()).await?
    };
    if namespace.is_some() && seen.is_nothing() && connection.existence().await == Existence::Missing {
        return Err(connection.no_such_namespace());
    }
    let flags = session.connection.repeated_flags();
    let mut status = document::of(&seen, namespace.as_deref(), &flags, Timestamp::now());
    if !args.names.is_empty() {
        status.keep_only(&args.names)?;
    }
    session.screen.document(&status)?;
    Ok(match status.verdict {
        Verdict::Healthy => Exit::Good,
        Verdict::Degraded | Verdict::Unhealthy => Exit::Unhealthy,
        Verdict::Unknown => Exit::Incomplete,
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
