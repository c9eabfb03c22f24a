//! One list without a watch, for programs that look once and end.
//!
//! Uses the same guard as the caches: objects are parsed one by one and a malformed one costs only itself.

use std::borrow::Borrow;

use kube::{Client, api::ListParams};

use crate::{Cached, Key, Source, guard::Guard};

/// Objects per page, the size kubectl and kube's watcher use.
const PAGE_SIZE: u32 = 500;

/// The objects of one kind at one instant.
#[derive(Clone, Debug)]
pub struct Listed<K> {
    /// The objects, sorted by key.
    pub objects: Vec<K>,
    /// Objects that could not be parsed, with the reason; it holds nothing of their content.
    pub malformed: Vec<(Key, String)>,
}

/// Lists all objects of a kind, page by page.
///
/// A list whose continuation has expired is started anew once, since what was read so far is of an older state.
///
/// ```no_run
/// # async fn show(client: kube::Client) -> Result<(), kube::Error> {
/// use cachelib::{Source, oneshot};
/// use k8s_openapi::api::core::v1::ConfigMap;
/// let listed = oneshot::list::<ConfigMap>(client, Source::namespaced("default")).await?;
/// println!("{} ConfigMaps, {} unreadable", listed.objects.len(), listed.malformed.len());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// When a request fails; [`Cause::of`](crate::Cause::of) tells what a person should mend.
pub async fn list<K: Cached>(client: Client, source: impl Borrow<Source>) -> Result<Listed<K>, kube::Error> {
    let source = source.borrow();
    let guards = match pages::<K>(client.clone(), source).await {
        Err(kube::Error::Api(status)) if status.code == 410 => pages::<K>(client, source).await?,
        other => other?,
    };
    let mut listed = Listed { objects: Vec::new(), malformed: Vec::new() };
    for guard in guards {
        let key = guard.key();
        match guard {
            Guard::Sound(object) => listed.objects.push(object),
            Guard::Malformed(malformed) => listed.malformed.push((key, malformed.reason)),
        }
    }
    listed.objects.sort_by_cached_key(Key::of);
    listed.malformed.sort();
    Ok(listed)
}

async fn pages<K: Cached>(client: Client, source: &Source) -> Result<Vec<Guard<K>>, kube::Error> {
    let api = source.api::<K>(client);
    let mut params =
        ListParams { label_selector: source.labels.clone(), ..ListParams::default() }.limit(PAGE_SIZE);
    let mut guards = Vec::new();
    loop {
        let page = api.list(&params).await?;
        guards.extend(page.items);
        match page.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => params.continue_token = Some(token),
            None => return Ok(guards),
        }
    }
}
