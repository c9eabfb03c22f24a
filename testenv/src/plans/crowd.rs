//! Many objects at once, with a bounded number of requests at a time.

use std::time::Duration;

use futures::{StreamExt, TryStreamExt, stream};
use kube::api::ListParams;
use trusted_crds::{AttestationKey, Machine, condition};

use super::workload::Hands;
use crate::{Error, objects, poll};

/// Requests at a time.
const CONCURRENCY: usize = 8;
/// How long keys may take to be trusted.
const LIMIT: Duration = Duration::from_secs(90);

/// Does something for each.
pub(super) async fn each<T>(all: &[T], act: impl AsyncFn(&T) -> Result<(), Error>) -> Result<(), Error> {
    stream::iter(all).map(|one| act(one)).buffer_unordered(CONCURRENCY).try_collect().await
}

/// A Machine and its key, of one name, the key first.
pub(super) async fn create_pair(hands: &Hands, name: &str, pem: &str) -> Result<(), Error> {
    hands.create(&objects::attestation_key(name, Some(name), pem)).await?;
    hands.create(&objects::machine(name, name)).await
}

/// Deletes both: a key that did not become the Machine's does not go with it.
pub(super) async fn destroy_pair(hands: &Hands, name: &str) -> Result<(), Error> {
    hands.delete::<Machine>(name).await?;
    hands.delete::<AttestationKey>(name).await?;
    hands.gone::<Machine>(name).await?;
    hands.gone::<AttestationKey>(name).await
}

/// Waits until the keys of these names are trusted and owned.
pub(super) async fn trusted(hands: &Hands, names: &[&String]) -> Result<(), Error> {
    let keys = hands.api::<AttestationKey>();
    poll("the keys to be trusted", LIMIT, || async {
        let all = keys.list(&ListParams::default()).await.map_err(|error| error.to_string())?;
        let trusted = |key: &&AttestationKey| {
            let owned = key.metadata.owner_references.as_ref().is_some_and(|owners| !owners.is_empty());
            owned && is_trusted(key)
        };
        let trusted: Vec<_> =
            all.items.iter().filter(trusted).filter_map(|key| key.metadata.name.as_ref()).collect();
        let missing = names.iter().filter(|name| !trusted.contains(*name)).count();
        if missing == 0 { Ok(()) } else { Err(format!("{missing} are not")) }
    })
    .await
}

/// Whether a key is told that it is trusted.
pub(super) fn is_trusted(key: &AttestationKey) -> bool {
    let conditions = key.status.as_ref().map_or(&[][..], |status| &status.conditions);
    condition::is_true(conditions, condition::APPROVED)
}
