//! The operator's Events of a namespace.
//!
//! Owns the one request for them; others' Events are not asked for.

use k8s_openapi::api::events::v1::Event;
use kube::Api;
use kube::api::ListParams;
use trusted_crds::names::FIELD_MANAGER;

use crate::connect::Connection;
use crate::error::{Attempt, Error, Incomplete};

/// The operator tells of troubles only and counts repetitions up, so that more than these tell nothing more.
const MOST: u32 = 500;

/// Without them the rest is worth showing; a server that does not answer at all ends the command.
pub(super) async fn list(connection: &Connection) -> Result<Vec<Event>, Result<Incomplete, Error>> {
    let attempt = Attempt::on::<Event>("list", Some(&connection.namespace));
    let events: Api<Event> = Api::namespaced(connection.client.clone(), &connection.namespace);
    let ours = ListParams::default().fields(&format!("reportingController={FIELD_MANAGER}")).limit(MOST);
    match connection.ask(&attempt, events.list(&ours)).await {
        Ok(list) => Ok(list.items),
        Err(error) => Err(Incomplete::of(&attempt, &error).ok_or(error)),
    }
}
