//! `status --watch`: goes on showing what is, as it changes.
//!
//! Owns the pace. On a terminal the screen is drawn again in its place; for a reader of lines each change is one line; for
//! a program each change is a document. It reads from caches that are kept up to date, so that watching for hours costs no
//! more requests than looking once.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;
use tokio::time::Instant;

use super::collect::Seen;
use super::document::Status;
use super::wait::{Place, Watched};
use crate::error::Result;
use crate::exit::Exit;
use crate::output::machine::{self, Document};
use crate::output::redrawn::Redrawn;
use crate::output::text::{Span, Text, Tone};
use crate::session::Session;

/// How often ages grow on a terminal, and how soon it is told that watches are interrupted.
const TICK: Duration = Duration::from_secs(2);

/// Shows what `shown` leaves of each status until Ctrl-C, or until nobody reads any more.
pub(super) async fn watch(
    session: &mut Session,
    place: &Place<'_>,
    seens: &mut [Seen],
    shown: impl Fn(Status, &[Seen]) -> Result<Status>,
) -> Result<Exit> {
    let interrupted = session.interrupt.attend();
    tokio::pin!(interrupted);
    let mut watched = Watched::start(place.connection, place.namespaces)?;
    let redrawn = Redrawn::on(&session.screen);
    let mut told = Told::default();
    // A name that stands for nothing is an error; what has gone since is none.
    let mut status = shown(place.status(seens), seens)?;
    loop {
        match &redrawn {
            Some(redrawn) => redrawn.show(&screen(&status, &watched.interrupted(seens))),
            None => told.tell(session, &status, &watched.interrupted(seens))?,
        }
        if session.screen.is_closed() {
            return Ok(Exit::Good);
        }
        tokio::select! {
            biased;
            () = &mut interrupted => break,
            _ = watched.next(seens, Instant::now() + TICK) => {}
        }
        status = shown(place.status(seens), seens).unwrap_or_else(|_| {
            let mut nothing = place.status(seens);
            nothing.keep_labelled(&BTreeSet::new());
            nothing
        });
    }
    if redrawn.is_some() {
        // The last screen stays, whole.
        drop(redrawn);
        session.screen.document(&status)?;
    }
    Ok(Exit::Interrupt)
}

fn screen(status: &Status, interrupted: &[String]) -> Text {
    let mut text = Text::default();
    for cause in interrupted {
        text.paragraph(0, [Span::new("Not up to date:", Tone::Bad), cause.as_str().into()]);
    }
    let shown = status.text();
    text.blocks.extend(shown.blocks);
    text
}

/// What was told of each object so far.
#[derive(Default)]
struct Told {
    facts: BTreeMap<String, String>,
    document: Option<Value>,
    interrupted: Vec<String>,
}

impl Told {
    fn tell(&mut self, session: &mut Session, status: &Status, interrupted: &[String]) -> Result<()> {
        if self.interrupted != interrupted {
            for cause in interrupted {
                session.screen.warning(&format!("not up to date: {cause}"));
            }
            self.interrupted = interrupted.to_vec();
        }
        if session.screen.is_for_people() {
            let now = facts(status);
            let lines = changes(&self.facts, &now, status.at);
            self.facts = now;
            return lines.iter().try_for_each(|line| session.screen.line(line));
        }
        let mut document = machine::value(status)?;
        if let Some(fields) = document.as_object_mut() {
            fields.remove("at");
        }
        if self.document.as_ref() != Some(&document) {
            session.screen.document(status)?;
            self.document = Some(document);
        }
        Ok(())
    }
}

/// What is said of each object, in words that change when it does.
fn facts(status: &Status) -> BTreeMap<String, String> {
    let delivered = |delivered: Option<bool>| match delivered {
        Some(true) => "delivered",
        Some(false) => "not delivered",
        None => "delivery unknown",
    };
    let mut facts = BTreeMap::from([("Verdict".to_owned(), status.verdict.as_str().to_owned())]);
    for row in &status.clusters {
        let what = format!("{}, Trustee {}", row.reason, row.trustee);
        facts.insert(format!("TrustedExecutionCluster {}/{}", row.namespace, row.name), what);
    }
    for row in &status.machines {
        let what = format!("{}, {}, {}", row.key_reason, row.bound_reason, delivered(row.delivered));
        facts.insert(format!("Machine {}/{}", row.namespace, row.name), what);
    }
    for row in &status.attestation_keys {
        let trusted = if row.approved { "trusted" } else { "not trusted" };
        let what = format!("{trusted} ({}), {}", row.reason, delivered(row.delivered));
        facts.insert(format!("AttestationKey {}/{}", row.namespace, row.name), what);
    }
    for row in &status.approved_images {
        facts.insert(format!("ApprovedImage {}/{}", row.namespace, row.name), row.reason.clone());
    }
    facts
}

/// One line for each that came, changed or went. The first time, everything came.
fn changes(before: &BTreeMap<String, String>, now: &BTreeMap<String, String>, at: Timestamp) -> Vec<String> {
    let at = format!("{at:.0}");
    let came = now.iter().filter_map(|(object, what)| match before.get(object) {
        Some(before) if before == what => None,
        Some(before) => Some(format!("{at} {object}: {what} (was: {before})")),
        None => Some(format!("{at} {object}: {what}")),
    });
    let went = before.keys().filter(|object| !now.contains_key(*object));
    came.chain(went.map(|object| format!("{at} {object}: gone"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_changes_and_goes_is_one_line_each() {
        let facts = |facts: &[(&str, &str)]| {
            facts.iter().map(|(object, what)| ((*object).to_owned(), (*what).to_owned())).collect()
        };
        let at = Timestamp::UNIX_EPOCH;
        let before = facts(&[("Machine a/m", "x"), ("Machine a/n", "y"), ("Verdict", "Healthy")]);
        let now = facts(&[("Machine a/m", "z"), ("Machine a/o", "w"), ("Verdict", "Healthy")]);
        assert_eq!(
            changes(&before, &now, at),
            [
                "1970-01-01T00:00:00Z Machine a/m: z (was: x)",
                "1970-01-01T00:00:00Z Machine a/o: w",
                "1970-01-01T00:00:00Z Machine a/n: gone",
            ]
        );
        assert_eq!(changes(&now, &now, at), Vec::<String>::new());
    }
}
