//! The sum that is often published for an operator, beside the one that tells what it costs.
//!
//! Owns what each of the two leaves out. The published one is the sum of the counters whose line names the operator's
//! own API group: everybody's requests for these kinds, and none of the operator's for Secrets, Deployments or Leases.

use serde::{Deserialize, Serialize};
use trusted_crds::GROUP;

use super::count::Counts;
use super::document::{Filter, Snapshot};
use super::log::{self, LogArgs, Tally};
use crate::error::Result;
use crate::session::Session;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Claimed {
    pub(crate) group: String,
    /// Requests for this group, of all clients, in the same window.
    pub(crate) total: u64,
    pub(crate) leaves_out: String,
    /// What the total of the document itself leaves out.
    pub(crate) total_leaves_out: String,
}

/// Reads the logs a second time: what was counted for one client says nothing of the others.
pub(crate) async fn of(session: &Session, args: &LogArgs, snapshot: &Snapshot) -> Result<Claimed> {
    let total = if args.audit_log.is_empty() {
        snapshot.rows.iter().filter(|row| row.kind.group == GROUP).map(|row| row.count).sum()
    } else {
        let Filter { since, until, .. } = snapshot.filter;
        let filter = Filter { api_group: Some(GROUP.to_owned()), since, until, ..Filter::default() };
        let (tallies, _) =
            log::read(session, &args.audit_log, vec![Tally::new(filter, Counts::default())]).await?;
        tallies.iter().map(Tally::counted).sum()
    };
    let total_leaves_out = match &snapshot.filter.user {
        Some(user) => format!("the requests of everybody but {user}"),
        None => "nothing, but it does not tell clients apart".to_owned(),
    };
    Ok(Claimed {
        group: GROUP.to_owned(),
        total,
        leaves_out: "all requests for other groups, such as those of the operator for Secrets, Deployments and Leases; \
                     it counts people and controllers as if they were the operator"
            .to_owned(),
        total_leaves_out,
    })
}
