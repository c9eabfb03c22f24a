//! Whether the stores of a running operator hold what the API server holds.
//!
//! Owns the comparison of the checksums in its `/diagnostics` with those of live lists. Must not: know which kinds
//! it watches, or trust anything but the API server.

use std::{net::SocketAddr, time::Duration};

use cachelib::{Identity, Key, checksum};
use kube::{
    Api, Client, Config, ResourceExt,
    api::{ApiResource, DynamicObject, ListParams},
    discovery,
};
use serde::Deserialize;

use crate::{Error, poll};

/// Objects in a page of a list.
const PAGE: u32 = 500;

/// What is compared of one store.
#[derive(Debug, Deserialize)]
struct Store {
    kind: String,
    namespace: Option<String>,
    labels: Option<String>,
    state: String,
    checksum: String,
}

/// Waits until every store of the operator that serves `/diagnostics` at this address is synced and equals what
/// `admin` lists; returns how many stores there are.
///
/// # Errors
///
/// After `limit`, with what differed at last.
pub async fn equal_server(operator: SocketAddr, admin: &Client, limit: Duration) -> Result<usize, Error> {
    let what = format!("the stores of the operator at {operator} to equal the API server");
    poll(&what, limit, || async {
        let stores = diagnostics(operator).await?;
        for store in &stores {
            store.equals(admin).await?;
        }
        Ok::<_, String>(stores.len())
    })
    .await
}

async fn diagnostics(operator: SocketAddr) -> Result<Vec<Store>, String> {
    let url = format!("http://{operator}").parse().map_err(text)?;
    let client = Client::try_from(Config::new(url)).map_err(text)?;
    let request = http::Request::get("/diagnostics").body(Vec::new()).map_err(text)?;
    client.request(request).await.map_err(text)
}

impl Store {
    async fn equals(&self, admin: &Client) -> Result<(), String> {
        let on_server = self.checksum_on_server(admin).await.map_err(text)?;
        let Store { kind, state, checksum, .. } = self;
        if state == "synced" && *checksum == on_server {
            return Ok(());
        }
        Err(format!("{kind} is {state} with checksum {checksum}; the API server's is {on_server}"))
    }

    async fn checksum_on_server(&self, admin: &Client) -> Result<String, kube::Error> {
        let (plural, group) = self.kind.split_once('.').unwrap_or((&self.kind, ""));
        let resource = resource(admin, group, plural).await?;
        let api = match &self.namespace {
            Some(namespace) => Api::<DynamicObject>::namespaced_with(admin.clone(), namespace, &resource),
            None => Api::all_with(admin.clone(), &resource),
        };
        let mut params =
            ListParams { label_selector: self.labels.clone(), ..ListParams::default() }.limit(PAGE);
        let mut objects = Vec::new();
        loop {
            let page = api.list_metadata(&params).await?;
            objects.extend(page.items.iter().map(|object| {
                let (uid, version) = (object.uid(), object.resource_version());
                let identity =
                    Identity { uid: uid.unwrap_or_default(), version: version.unwrap_or_default() };
                (Key::new(object.namespace().unwrap_or_default(), object.name_any()), identity)
            }));
            match page.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => params.continue_token = Some(token),
                None => return Ok(checksum(objects.iter().map(|(key, identity)| (key, identity)))),
            }
        }
    }
}

/// The resource in the version that the API server recommends.
async fn resource(admin: &Client, group: &str, plural: &str) -> Result<ApiResource, kube::Error> {
    let group = discovery::group(admin, group).await?;
    let resources = group.recommended_resources().into_iter().map(|(resource, _)| resource);
    let mut named = resources.filter(|resource| resource.plural == plural);
    named.next().ok_or_else(|| kube::Error::Service(format!("{plural} are not served").into()))
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
