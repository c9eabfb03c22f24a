//! The names of objects that a verb can be about.
//!
//! Owns the deadline: somebody waits with a finger on the key, so an answer that is late is no answer.

use std::time::Duration;

use kube::ResourceExt;
use trusted_crds::{AttestationKey, Decision, condition};

use crate::commands::{decide, explain_machine, status};
use crate::connect::ConnectionArgs;
use crate::error::Result;

/// For all of it, from connection to answer.
const PATIENCE: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Keys that wait, about which nobody has decided.
    Undecided,
    NotDenied,
    Decided,
    /// Machines, by their ids.
    Machines,
    /// Every object of ours.
    Anything,
}

/// Names, each with what to tell it by; none where there is no answer in time.
pub(super) fn ask(connection: &ConnectionArgs, wanted: Wanted) -> Vec<(String, String)> {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return Vec::new();
    };
    let connection = ConnectionArgs { request_timeout: PATIENCE, ..connection.clone() };
    let names = runtime.block_on(async {
        let asking = Box::pin(names(&connection, wanted));
        tokio::time::timeout(PATIENCE, asking).await.ok().and_then(Result::ok)
    });
    // A credential plug-in may still run; nobody waits for it.
    runtime.shutdown_background();
    names.unwrap_or_default()
}

async fn names(connection: &ConnectionArgs, wanted: Wanted) -> Result<Vec<(String, String)>> {
    let all_namespaces = connection.all_namespaces;
    let connection = connection.connect().await?;
    let namespace = (!all_namespaces).then(|| connection.namespace.clone());
    match wanted {
        Wanted::Anything => return status::names(&connection, namespace.as_deref()).await,
        Wanted::Machines => return explain_machine::ids(&connection).await,
        Wanted::Undecided | Wanted::NotDenied | Wanted::Decided => {}
    }
    let keys = decide::keys(&connection).await?;
    let is_wanted = |key: &&AttestationKey| {
        let decision = key.spec.approval.as_ref().map(|approval| approval.decision);
        match wanted {
            Wanted::Undecided => decide::is_pending(key),
            Wanted::NotDenied => {
                decision != Some(Decision::Denied) && key.metadata.deletion_timestamp.is_none()
            }
            Wanted::Decided => decision.is_some(),
            Wanted::Anything | Wanted::Machines => true,
        }
    };
    let told = |key: &AttestationKey| (key.name_any(), description(key));
    Ok(keys.iter().map(AsRef::as_ref).filter(is_wanted).map(told).collect())
}

fn description(key: &AttestationKey) -> String {
    let conditions = key.status.as_ref().map_or(&[][..], |status| &status.conditions);
    let approved = condition::find(conditions, condition::APPROVED);
    let reason = approved.map_or("not looked at yet", |approved| approved.reason.as_str());
    match &key.spec.uuid {
        Some(uuid) => format!("{reason}, machine {uuid}"),
        None => format!("{reason}, no machine"),
    }
}
