//! `approve-ak`, `deny-ak`, `revoke-ak`: decide about attestation keys by hand, safely.
//!
//! Owns the verbs: what is shown before asking, what is refused, and following a decision until Trustee has the key, or
//! has it no more. A decision is bound to the fingerprint that was shown; about a key that is not the one shown nothing
//! is ever decided.

mod action;
mod args;
mod document;
mod follow;
mod judge;
mod manifest;
mod observe;
mod select;
mod show;
mod stage;
mod write;

use std::io::IsTerminal;

use trusted_crds::names::MANAGED_NAMESPACE_LABEL;

use self::action::Action;
pub(crate) use self::args::{ApproveArgs, DenyArgs, RevokeArgs};
use self::args::{DryRun, Request, Which};
use self::document::{Item, Results};
use self::judge::{Candidate, Plan, Rules};
use self::observe::Surroundings;
pub(crate) use self::observe::keys;
use self::select::Chosen;
pub(crate) use self::select::is_pending;
use self::write::Writer;
use crate::connect::{Connection, Existence};
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::output::progress::Progress;
use crate::session::Session;

pub(crate) async fn run(session: &mut Session, request: Request) -> Result<Exit> {
    check(session, &request)?;
    let connection = session.connection.connect().await?;
    let named = select::named(&request, &connection.namespace).await?;
    let surroundings = {
        let _progress = Progress::start(&session.screen, "looking at the keys");
        Box::pin(observe::observe(&connection)).await?
    };
    let mut results = Results::new(&connection.namespace, request.action, request.dry_run);
    results.warnings.extend(without_effect(&connection, request.action).await?);
    results.warnings.iter().for_each(|warning| session.screen.warning(warning));
    let chosen = named.unwrap_or_else(|| select::among(&request, surroundings.keys()));
    if chosen.is_empty() {
        session.screen.note(&format!("No AttestationKey in namespace {} is meant.", connection.namespace));
    }
    let planned = plan(session, &request, &surroundings, &chosen).await?;
    let writer = match request.dry_run {
        Some(DryRun::Client) => None,
        _ if !planned.iter().any(Planned::is_to_be_written) => None,
        _ => Some(Box::pin(Writer::new(&connection, &request)).await?),
    };
    for planned in planned {
        let item = Box::pin(carry_out(&request, &surroundings, writer.as_ref(), planned)).await;
        results.items.push(item);
    }
    if request.dry_run.is_none() && !request.no_wait {
        Box::pin(follow::follow(session, &connection, request.timeout, &mut results)).await;
    }
    results.repeat(&session.connection.repeated_flags());
    session.screen.document(&results)?;
    Ok(results.exit())
}

/// What can be told to be wrong before anybody is asked anything.
fn check(session: &Session, request: &Request) -> Result<()> {
    if session.connection.all_namespaces {
        let verb = request.action.verb();
        return Err(Error::usage(format!("{verb} works in one namespace: name it with -n instead of -A")));
    }
    select::check(request)?;
    if request.is_asked() && !(std::io::stdin().is_terminal() && session.screen.talks_to_a_terminal()) {
        let done = request.action.done();
        return Err(Error::usage(format!("There is no terminal to ask on, so nothing was {done}"))
            .next("add --yes to do it without being asked, or --dry-run=client to look only"));
    }
    Ok(())
}

/// Where no policy keeps approvals from being forged, the operator acts on none. Whether that is so is told by the
/// namespace's label, if it may be read. Denials and their removal count anywhere.
async fn without_effect(connection: &Connection, action: Action) -> Result<Option<String>> {
    match connection.existence().await {
        Existence::Missing => Err(connection.no_such_namespace()),
        Existence::Present { is_managed: false } if action == Action::Approve => Ok(Some(format!(
            "namespace {namespace} lacks the label {MANAGED_NAMESPACE_LABEL}=true, so an approval is recorded and has \
             no effect. An administrator adds it with: kubectl label namespace {namespace} \
             {MANAGED_NAMESPACE_LABEL}=true",
            namespace = connection.namespace
        ))),
        Existence::NotVisible | Existence::Present { .. } => Ok(None),
    }
}

/// What is to become of one key.
enum Planned {
    /// Known already.
    Settled(Item),
    Write {
        candidate: Box<Candidate>,
        deny_first: Vec<String>,
    },
}

impl Planned {
    fn is_to_be_written(&self) -> bool {
        matches!(self, Planned::Write { .. })
    }
}

/// Shows every key and asks: for keys that were named one by one, for many with one question after all were shown.
/// Only failing to talk to the person ends the command.
async fn plan(
    session: &mut Session,
    request: &Request,
    surroundings: &Surroundings,
    chosen: &[Chosen],
) -> Result<Vec<Planned>> {
    let named: Vec<String> = chosen.iter().map(|key| key.name.clone()).collect();
    let is_asked_for_each = matches!(request.which, Which::Names(_));
    let mut all = Vec::with_capacity(chosen.len());
    for key in chosen {
        let Some(candidate) = surroundings.candidate(&key.name) else {
            let problem = surroundings.is_unreadable(&key.name);
            all.push(Planned::Settled(Item::not_found(&key.name, &surroundings.namespace, problem)));
            continue;
        };
        let rules = rules(request, key, &named);
        let plan = judge::judge(&candidate, &rules);
        session.screen.talk(&show::candidate(&candidate, &plan, request.action));
        all.push(match plan {
            Plan::Refuse(refusal) => Planned::Settled(Item::refused(&candidate, request.action, refusal)),
            Plan::Unchanged(unchanged) => {
                let stage = surroundings.stage(&candidate, request.action);
                Planned::Settled(Item::unchanged(&candidate, stage, &unchanged))
            }
            Plan::Write { deny_first } => {
                let question = request.action.question(&format!("AttestationKey {}", key.name));
                if request.is_asked() && is_asked_for_each && !session.screen.ask(&question).await? {
                    Planned::Settled(Item::not_confirmed(&candidate, request.action))
                } else {
                    Planned::Write { candidate: Box::new(candidate), deny_first }
                }
            }
        });
    }
    let count = all.iter().filter(|planned| planned.is_to_be_written()).count();
    if count > 0 && request.is_asked() && !is_asked_for_each {
        let keys = if count == 1 {
            "this AttestationKey".to_owned()
        } else {
            format!("these {count} AttestationKeys")
        };
        if !session.screen.ask(&request.action.question(&keys)).await? {
            all = all.into_iter().map(|planned| planned.declined(request.action)).collect();
        }
    }
    Ok(all)
}

impl Planned {
    fn declined(self, action: Action) -> Planned {
        match self {
            Planned::Write { candidate, .. } => Planned::Settled(Item::not_confirmed(&candidate, action)),
            settled @ Planned::Settled(_) => settled,
        }
    }
}

fn rules<'a>(request: &Request, key: &'a Chosen, named: &'a [String]) -> Rules<'a> {
    Rules {
        action: request.action,
        expected: key.expected.as_ref(),
        replace: request.replace,
        override_denial: request.override_denial,
        named,
    }
}

async fn carry_out(
    request: &Request,
    surroundings: &Surroundings,
    writer: Option<&Writer>,
    planned: Planned,
) -> Item {
    let (candidate, deny_first) = match planned {
        Planned::Settled(item) => return item,
        Planned::Write { candidate, deny_first } => (candidate, deny_first),
    };
    let item = match writer {
        None => Item::written(&candidate, request.action, None),
        Some(writer) => {
            Box::pin(write_all(request.action, writer, surroundings, &candidate, &deny_first)).await
        }
    };
    let given = [(request.replace, "--replace"), (request.override_denial, "--override-denial")];
    if item.reason == document::DRY_RUN {
        item.with_command(&candidate, request.action, &given)
    } else {
        item
    }
}

/// The former keys are denied first: should the approval then fail, no key is trusted that nobody wants.
async fn write_all(
    action: Action,
    writer: &Writer,
    surroundings: &Surroundings,
    candidate: &Candidate,
    deny_first: &[String],
) -> Item {
    let mut denied = Vec::new();
    for former in deny_first {
        let Some(former) = surroundings.candidate(former) else { continue };
        if let Err(outcome) = writer.replace(&former, &candidate.name).await {
            return Item::failed(candidate, outcome.about(&former.name, &denied));
        }
        denied.push(former.name);
    }
    match writer.write(candidate).await {
        Ok(generation) => Item::written(candidate, action, generation),
        Err(outcome) => Item::failed(candidate, outcome.after(&denied)),
    }
}
