//! `explain-machine`: what a machine needs until it gets its disk key, and where that breaks.
//!
//! Owns the verb. The judgement is that of `status`: the same lists, the same health rules; Events are asked for besides.

mod chain;
mod document;
mod events;
mod render;
mod subject;
mod timeline;

use cachelib::Source;
use clap::Args;
use jiff::Timestamp;
use kube::ResourceExt;
use trusted_crds::Machine;

use self::document::{Explanation, Verdict};
use self::subject::Subject;
use super::status;
use crate::connect::{Connection, Existence};
use crate::error::{Class, Error, Result};
use crate::exit::Exit;
use crate::output::progress::Progress;
use crate::session::Session;

const HELP: &str = "\
A machine gets its disk key when every link of this chain holds: the cluster is
installed, the Machine is registered, its disk key exists, its attestation key
is trusted and bound to it, and Trustee has been given both. Whether its image
is approved only Trustee can tell; the approved images are shown.

Each link is ok, noted (worth knowing), waiting (passes by itself or by a
person's decision), broken, or not visible. The first one that does not hold is
named, with the command to run next. Exit codes: 0 served, 3 not served, 4 not
all may be seen.

Examples:
  # By the id of the machine, or by the name of its Machine
  kubectl trusted explain-machine 5f0c1a9e-6d0e-4f0f-8c4b-0a6f6d2b9a11

  # The link that breaks, for a script
  kubectl trusted explain-machine machine-1 -o json | jq .firstBroken";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct ExplainArgs {
    /// Id of the machine, or name of its Machine
    #[arg(value_name = "ID")]
    id: String,
}

pub(crate) async fn run(session: &mut Session, args: &ExplainArgs) -> Result<Exit> {
    if session.connection.all_namespaces {
        return Err(Error::usage("explain-machine works in one namespace: name it with -n instead of -A"));
    }
    let connection = session.connection.connect().await?;
    let (seen, events) = {
        let _progress = Progress::start(&session.screen, "asking the API server");
        futures::join!(
            Box::pin(status::collect(&connection, Some(&connection.namespace))),
            Box::pin(events::list(&connection)),
        )
    };
    let mut seen = seen?;
    let events =
        events.or_else(|missing| missing.map(|missing| seen.incomplete.push(missing)).map(|()| vec![]))?;
    let view = status::view(&seen, &connection.namespace);
    let Some(subject) = Subject::find(&view, &args.id) else {
        if seen.is_nothing() && connection.existence().await == Existence::Missing {
            return Err(connection.no_such_namespace());
        }
        return Err(not_found(
            &args.id,
            &connection.namespace,
            seen.incomplete.first().map(|it| it.need.as_str()),
        ));
    };
    let now = Timestamp::now();
    let mut explanation = Explanation::new(&view, &subject, &seen.incomplete, now);
    explanation.timeline = timeline::of(&view, &subject, &events);
    explanation.repeat(&session.connection.repeated_flags());
    session.screen.document(&explanation)?;
    Ok(match explanation.verdict {
        Verdict::Served => Exit::Good,
        Verdict::NotServed => Exit::Unhealthy,
        Verdict::Unknown => Exit::Incomplete,
    })
}

fn not_found(id: &str, namespace: &str, need: Option<&str>) -> Error {
    let error = Error::new(
        Class::NotFound,
        format!("no Machine and no AttestationKey knows the machine \"{id}\" in namespace \"{namespace}\""),
    );
    match need {
        Some(need) => error.why(format!("not everything may be seen: it needs {need}")),
        None => error.next(format!("kubectl get machines.trusted-execution-clusters.io -n {namespace}")),
    }
}

/// The ids that can be given, each with the name of its Machine.
pub(crate) async fn ids(connection: &Connection) -> Result<Vec<(String, String)>> {
    let mut lists = connection.lists();
    let machines = lists.add::<Machine>(Source::namespaced(connection.namespace.as_str()))?;
    match lists.load().await.error(&machines) {
        Some(error) => Err(error),
        None => {
            let named = machines.list().into_iter();
            Ok(named
                .map(|machine| (machine.spec.id.clone(), format!("Machine {}", machine.name_any())))
                .collect())
        }
    }
}
