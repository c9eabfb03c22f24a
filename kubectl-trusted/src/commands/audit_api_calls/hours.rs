//! The APIRequestCounts of OpenShift: one object for each resource, with the requests of each of the last 24 hours by
//! node, user and verb.
//!
//! Owns how hours are told apart, and what these objects leave out. Source: apiserver/v1/types_apirequestcount.go of
//! openshift/api.

mod object;

use std::collections::BTreeSet;

use jiff::Timestamp;
use kube::Api;
use kube::api::ListParams;
use kube::core::{ApiResource, GroupVersionKind, Object};

use self::object::{Hour, Spec, Status};
use super::count::{ANY_VERB, Counts, Key};
use super::document::{Filter, Instance, Kind, Notes, Source};
use super::instances::Part;
use super::reading::Reading;
use crate::connect::{AGENT, Connection};
use crate::error::{Attempt, Class, Error, Result};

const GROUP: &str = "apiserver.openshift.io";
const PLURAL: &str = "apirequestcounts";

/// Objects asked for at once; each may hold thousands of numbers.
const PAGE: u32 = 50;

const SECONDS: i64 = 3600;
const HOURS: usize = 24;
/// The same, for arithmetic with times.
const DAY: i64 = 24;

/// Resources named in a note.
const MOST_NAMED: usize = 5;

type Object24h = Object<Spec, Status>;

pub(crate) struct Hours {
    connection: Connection,
    filter: Filter,
    /// Nobody asked for them, and nobody has been told so far.
    untold: bool,
}

/// What is added up while objects come in.
struct Sum {
    filter: Filter,
    hours: Vec<Counts>,
    /// Resources that list their busiest users only, so that the one looked for may be among the others.
    hidden: BTreeSet<String>,
}

impl Hours {
    pub(crate) fn new(connection: Connection, filter: Filter, is_chosen: bool) -> Hours {
        Hours { connection, filter, untold: !is_chosen }
    }

    /// Whether it has to be said now that they were chosen; that is once.
    pub(crate) fn is_to_be_told(&mut self) -> bool {
        std::mem::take(&mut self.untold)
    }

    pub(crate) async fn read(&self) -> Result<Reading> {
        let kind = GroupVersionKind::gvk(GROUP, "v1", "APIRequestCount");
        let resource = ApiResource::from_gvk_with_plural(&kind, PLURAL);
        let objects: Api<Object24h> = Api::all_with(self.connection.client.clone(), &resource);
        let attempt = Attempt::new("list", format!("{PLURAL}.{GROUP}"));
        let mut sum = Sum::of(self.filter.clone());
        let mut page = ListParams::default().limit(PAGE);
        loop {
            let list = self.connection.ask(&attempt, objects.list(&page)).await.map_err(worded)?;
            list.items.iter().for_each(|object| sum.add(object));
            match list.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => page = page.continue_token(&token),
                None => return Ok(sum.reading(&self.connection.url, Timestamp::now())),
            }
        }
    }
}

fn worded(error: Error) -> Error {
    if error.class != Class::NotInstalled {
        return error;
    }
    Error::new(Class::NotInstalled, "this cluster has no APIRequestCounts, which are OpenShift's")
        .why(error.what)
        .next("count an audit log with --audit-log, or one ServiceAccount with --flow-schema-for")
}

impl Sum {
    fn of(filter: Filter) -> Sum {
        Sum { filter, hours: vec![Counts::default(); HOURS], hidden: BTreeSet::new() }
    }

    fn add(&mut self, object: &Object24h) {
        let name = object.metadata.name.as_deref().unwrap_or_default();
        let (resource, rest) = name.split_once('.').unwrap_or((name, ""));
        let group = rest.split_once('.').map_or("", |(_, group)| group);
        if self.filter.api_group.as_deref().is_some_and(|wanted| wanted != group) {
            return;
        }
        let kind = Kind { group: group.to_owned(), resource: resource.to_owned(), ..Kind::default() };
        let users = object.spec.users();
        let status = object.status.as_ref();
        let hours = status.and_then(|status| status.last24h.as_deref()).unwrap_or_default();
        for (at, hour) in hours.iter().enumerate().take(HOURS) {
            self.hour(at, hour, &kind, users);
        }
    }

    fn hour(&mut self, at: usize, hour: &Hour, kind: &Kind, users: usize) {
        for node in hour.nodes() {
            let (mut listed, mut is_there) = (0, false);
            for user in node.users() {
                listed += user.request_count;
                let is_wanted = self.filter.user.as_deref().is_none_or(|wanted| wanted == user.username);
                is_there |= is_wanted;
                // Our own readings are among them.
                let is_own = kind.resource == PLURAL && user.user_agent.starts_with(AGENT);
                if is_wanted && !is_own {
                    self.user(at, user, kind);
                }
            }
            match &self.filter.user {
                Some(_) if !is_there && node.users().len() >= users => {
                    self.hidden.insert(kind.resource.clone());
                }
                Some(_) => {}
                None => self.count(at, kind, ANY_VERB, node.request_count.saturating_sub(listed)),
            }
        }
    }

    fn user(&mut self, at: usize, user: &object::User, kind: &Kind) {
        let mut known = 0;
        for verb in user.verbs() {
            known += verb.request_count;
            self.count(at, kind, &verb.verb, verb.request_count);
        }
        self.count(at, kind, ANY_VERB, user.request_count.saturating_sub(known));
    }

    fn count(&mut self, at: usize, kind: &Kind, verb: &str, count: u64) {
        if let Some(hour) = self.hours.get_mut(at).filter(|_| count > 0) {
            let kind = Kind { verb: verb.to_owned(), ..kind.clone() };
            // The objects know no codes.
            hour.add(Key { kind, code: 0 }, count);
        }
    }

    /// Each hour is a part of its own, since its numbers begin anew a day later. All but the current one are over.
    fn reading(self, url: &str, now: Timestamp) -> Reading {
        let begun = now.as_second().div_euclid(SECONDS);
        let part = |(index, counts): (i64, Counts)| {
            let back = (begun - index).rem_euclid(DAY);
            let instance = Instance {
                url: url.to_owned(),
                process_start: Timestamp::from_second((begun - back) * SECONDS).ok(),
                closed: back > 0,
                ..Instance::default()
            };
            Part { instance, counts }
        };
        Reading {
            at: now,
            source: Source::ApiRequestCount,
            notes: notes(&self.filter, &self.hidden),
            parts: (0..).zip(self.hours).map(part).collect(),
            filter: self.filter,
            open_watches: Vec::new(),
            malformed: 0,
        }
    }
}

fn notes(filter: &Filter, hidden: &BTreeSet<String>) -> Notes {
    let mut notes = Notes::default();
    notes.note(
        "APIRequestCounts are brought up to date from time to time, not at once, and API servers that were restarted may \
         have lost some; they know no codes and no subresources",
    );
    if let Some(user) = filter.user.as_ref().filter(|_| !hidden.is_empty()) {
        let named: Vec<_> = hidden.iter().take(MOST_NAMED).map(String::as_str).collect();
        let more = hidden.len().saturating_sub(MOST_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        notes.doubt(format!(
            "only the busiest users are listed of {}{more}: requests of {user} for them may be missing",
            named.join(", ")
        ));
    }
    notes
}

#[cfg(test)]
mod tests;
