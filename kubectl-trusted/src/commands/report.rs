//! `report`: all that helps others to find out what is wrong, in one archive.
//!
//! Owns the verb. What goes into the archive passes `redact` without exception; what cannot be had is listed in it.

mod bundle;
mod document;
mod gather;
mod redact;
mod workloads;

use std::path::PathBuf;

use clap::Args;
use jiff::Timestamp;

use self::bundle::Bundle;
use self::document::Report;
use self::gather::Gathering;
use self::redact::Redaction;
use super::status::{self, Seen};
use super::version;
use crate::connect::Existence;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::next;
use crate::output::Screen;
use crate::output::machine::Document;
use crate::output::progress::Progress;
use crate::session::Session;

const HELP: &str = "\
The archive holds, as far as it may be read: our objects; Deployments, Pods,
Services and ConfigMaps of operator, front ends and Trustee; Events about them;
their logs, also of containers that were restarted; metrics and diagnostics of
the operator; what `status` and `version` say; and missing.json, the list of
what could not be had.

Never in it: data of Secrets, keys (only their fingerprints), tokens, values of
environment variables that look like secrets. Look into it before you send it:
logs of others are not ours to know.

Examples:
  # Writes trusted-report-NAMESPACE-TIME.tar.gz here
  kubectl trusted report -n trusted

  # For the public: without addresses
  kubectl trusted report -n trusted --redact-addresses

  # Looked at at once
  kubectl trusted report --out - | tar tzv";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct ReportArgs {
    /// File to write, which must not exist yet; - for stdout
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Replace IP addresses, and the addresses that clusters are known by
    #[arg(long)]
    redact_addresses: bool,

    /// Lines of each log, the last ones
    #[arg(long, value_name = "LINES", default_value_t = 2000, allow_hyphen_values = true)]
    #[arg(value_parser = clap::value_parser!(i64).range(1..))]
    tail: i64,
}

pub(crate) async fn run(session: &mut Session, args: &ReportArgs) -> Result<Exit> {
    if session.connection.all_namespaces {
        return Err(Error::usage("report works in one namespace: name it with -n instead of -A"));
    }
    let is_stdout = args.out.as_deref().is_some_and(|file| file.as_os_str() == "-");
    if is_stdout {
        takes_a_file(&session.screen)?;
    } else if let Some(file) = &args.out {
        bundle::refuse_existing(file)?;
    }
    let connection = session.connection.connect().await?;
    let now = Timestamp::now();
    let name = format!("trusted-report-{}-{}", connection.namespace, now.strftime("%Y%m%dT%H%M%SZ"));
    let file = args.out.clone().unwrap_or_else(|| PathBuf::from(format!("{name}.tar.gz")));
    let mut bundle = Bundle::new(&name, now, Redaction { addresses: args.redact_addresses });
    let mut missing = {
        let _progress = Progress::start(&session.screen, "gathering");
        let mut gathering = Gathering::new(&connection, args.tail);
        said(&mut gathering, &mut bundle, now).await?;
        Box::pin(gathering.all(&mut bundle)).await?;
        gathering.missing
    };
    let flags = session.connection.repeated_flags();
    missing.iter_mut().for_each(|missing| next::repeat(&mut missing.check, &flags));
    bundle.json("missing.json", &missing)?;
    let files = bundle.contents();
    let archive = bundle.finish()?;
    let exit = if missing.is_empty() { Exit::Good } else { Exit::Incomplete };
    let report = Report { file: file.display().to_string(), bytes: archive.len(), files, missing };
    if is_stdout {
        session.screen.bytes(&archive)?;
        session.screen.talk(&report.text());
    } else {
        bundle::write(&file, &archive)?;
        session.screen.document(&report)?;
    }
    Ok(exit)
}

/// The archive is all that stdout can hold, and nothing that a person could read.
fn takes_a_file(screen: &Screen) -> Result<()> {
    if !screen.is_for_people() {
        return Err(Error::usage(
            "with --out - stdout is the archive: leave out -o, or name a file with --out",
        ));
    }
    if screen.shows_on_a_terminal() {
        return Err(Error::usage(
            "an archive is nothing for a terminal: name a file with --out, or pipe it on",
        ));
    }
    Ok(())
}

/// What our other commands say. A cluster of which they can say nothing needs the rest all the more.
async fn said(gathering: &mut Gathering<'_>, bundle: &mut Bundle, now: Timestamp) -> Result<()> {
    let connection = gathering.connection;
    let namespace = connection.namespace.as_str();
    let seen = gathering.said("status", Box::pin(status::collect(connection, Some(namespace))).await)?;
    let is_nothing = seen.as_ref().is_none_or(Seen::is_nothing);
    if is_nothing && connection.existence().await == Existence::Missing {
        return Err(connection.no_such_namespace());
    }
    if let Some(seen) = seen {
        bundle.document("status.json", &status::document(&[seen], &[namespace.to_owned()], now))?;
    }
    match gathering.said("version", Box::pin(version::of(connection)).await)? {
        Some(versions) => bundle.document("version.json", &versions),
        None => Ok(()),
    }
}
