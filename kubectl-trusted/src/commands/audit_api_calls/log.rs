//! Audit logs: which files, which requests of them, each counted once.
//!
//! Owns the flags that name files and clients, and what must be said about what was read.

mod files;
mod lines;
mod merge;

use clap::Args;
use jiff::Timestamp;

use super::document::{Filter, Notes};
use crate::connect::ConnectionArgs;
use crate::error::{Error, Result};
use crate::output::progress::Progress;
use crate::output::time::{Moment, parse_moment};
use crate::session::Session;
pub(crate) use auditlog::{Event, Sink, Tally};

/// Whose requests, of which time, in which logs.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Audit log")]
pub(crate) struct LogArgs {
    /// Count the events of these audit logs: files, folders with rotated files, "-" for stdin; gzip is recognised. With
    /// it, --user names the client whose requests are counted, and -n the namespaces of the objects
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) audit_log: Vec<String>,

    /// Only requests of this ServiceAccount
    #[arg(long, value_name = "NAMESPACE/NAME", value_parser = service_account)]
    pub(crate) service_account: Option<String>,

    /// Only requests whose user agent begins with this, such as trusted-operator/
    #[arg(long, value_name = "PREFIX", requires = "audit_log")]
    user_agent: Option<String>,

    /// Only requests for this API group, such as trusted-execution-clusters.io
    #[arg(long, value_name = "GROUP")]
    pub(crate) api_group: Option<String>,

    /// Only requests received at or after this: an instant such as 2026-11-30T17:15:00Z, or 10m for ten minutes ago
    #[arg(long, value_name = "TIME", value_parser = parse_moment, requires = "audit_log")]
    since: Option<Moment>,

    /// Only requests received before this
    #[arg(long, value_name = "TIME", value_parser = parse_moment, requires = "audit_log")]
    until: Option<Moment>,
}

/// The user name of a ServiceAccount. Source: the Kubernetes documentation, "Authenticating".
pub(crate) fn service_account(text: &str) -> std::result::Result<String, String> {
    match text.split_once(['/', ':']) {
        Some((namespace, name))
            if !namespace.is_empty() && !name.is_empty() && !name.contains(['/', ':']) =>
        {
            Ok(format!("system:serviceaccount:{namespace}:{name}"))
        }
        _ => Err("write NAMESPACE/NAME".to_owned()),
    }
}

impl LogArgs {
    pub(crate) fn filter(&self, connection: &ConnectionArgs) -> Result<Filter> {
        let now = Timestamp::now();
        if self.service_account.is_some() && connection.user.is_some() {
            return Err(Error::usage("--user and --service-account both name the client: give one of them"));
        }
        let filter = Filter {
            user: connection.user.clone().or_else(|| self.service_account.clone()),
            user_agent: self.user_agent.clone(),
            namespaces: connection.namespace.iter().filter(|name| !name.is_empty()).cloned().collect(),
            api_group: self.api_group.clone(),
            since: self.since.map(|moment| moment.resolve(now)),
            until: self.until.map(|moment| moment.resolve(now)),
        };
        if filter.since.zip(filter.until).is_some_and(|(since, until)| since >= until) {
            return Err(Error::usage("--since is not before --until: no request can be between them"));
        }
        Ok(filter)
    }
}

/// Reads all logs once, each line given to all tallies. In a thread of its own, so that Ctrl-C is heard meanwhile.
pub(crate) async fn read<S: Sink + Send + 'static>(
    session: &Session,
    files: &[String],
    tallies: Vec<Tally<S>>,
) -> Result<(Vec<Tally<S>>, Notes)> {
    let files = files::all(files)?;
    let _progress = Progress::start(&session.screen, "reading audit events");
    let reading = tokio::task::spawn_blocking(move || merge::read(files, tallies));
    reading.await.map_err(|error| Error::input("Reading the audit log ended early").why(error.to_string()))?
}

/// What a reader of the numbers must know.
pub(crate) fn judge<S: Sink>(tally: &Tally<S>, notes: &mut Notes) {
    let filter = tally.filter();
    if tally.malformed > 0 {
        notes.doubt(format!("{} lines are no audit events and are not counted", tally.malformed));
    }
    if tally.repeated > 0 {
        notes.note(format!("{} repeated events were counted once", tally.repeated));
    }
    if tally.headless() > 0 {
        notes.note(format!(
            "{} watches began before this log and are not counted: they belong to the log before",
            tally.headless()
        ));
    }
    if tally.forgotten() > 0 {
        notes.doubt(format!(
            "more requests were open at once than can be remembered; up to {} may be counted twice",
            tally.forgotten()
        ));
    }
    unanswered(tally, notes);
    if let Some((since, first)) = filter.since.zip(tally.first()).filter(|(since, first)| since < first) {
        notes.doubt(format!("the log begins at {first}, after --since {since}"));
    }
    if tally.events == 0 {
        notes.invalidate("the log holds no event: nothing was measured");
    } else if tally.counted() == 0 {
        notes.invalidate(match filter.user.as_deref() {
            Some(user) => format!("no request of user \"{user}\" matches; {}", seen(&tally.other_users())),
            None => "no request matches: nothing was measured".to_owned(),
        });
    }
}

/// A few requests are under way at the end of any log; many mean that the policy omits the stages with answers.
fn unanswered<S: Sink>(tally: &Tally<S>, notes: &mut Notes) {
    const SHARE: u64 = 100;
    let missing = tally.unanswered() as u64;
    if missing * SHARE > tally.counted().max(SHARE) {
        notes.doubt(format!(
            "{missing} requests have no answer in this log and are not counted: does the policy omit ResponseComplete?"
        ));
    } else if missing > 0 {
        notes.note(format!("{missing} requests were under way when the log ended and are not counted"));
    }
}

fn seen(users: &[&str]) -> String {
    match users {
        [] => "nobody else sent one in this window".to_owned(),
        users => format!("seen were: {}", users.iter().take(8).copied().collect::<Vec<_>>().join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn service_accounts_become_user_names() {
        assert_eq!(service_account("a/b").unwrap(), "system:serviceaccount:a:b");
        assert_eq!(service_account("a:b").unwrap(), "system:serviceaccount:a:b");
        for wrong in ["a", "/b", "a/", "a/b/c", "system:serviceaccount:a:b"] {
            assert!(service_account(wrong).is_err(), "{wrong}");
        }
    }
}
