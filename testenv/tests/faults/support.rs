//! A namespace, a proxy, and a way to the API server through it and around it.

use std::{collections::BTreeMap, time::Duration};

use futures::{Stream, StreamExt};
use http::{Request, Response};
use http_body_util::BodyExt;
use k8s_openapi::api::core::v1::Secret;
use kube::{
    Api, Client, Config, ResourceExt,
    api::{ListParams, ObjectMeta, Patch, PatchParams, PostParams, WatchEvent, WatchParams},
    client::Body,
};
use serde_json::json;
use testenv::{ControlPlane, TestNamespace, faults::FaultProxy};
use tokio::time::timeout;

/// Longest wait for anything; far above what a healthy run needs.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// How long nothing has to come to count as silence.
pub(crate) const SILENCE: Duration = Duration::from_millis(300);

pub(crate) struct Scene {
    pub(crate) namespace: TestNamespace,
    pub(crate) proxy: FaultProxy,
    /// Through the proxy, without retries.
    pub(crate) client: Client,
    /// Through the proxy.
    pub(crate) api: Api<Secret>,
    /// Around it.
    pub(crate) direct: Api<Secret>,
}

impl Scene {
    pub(crate) async fn new(prefix: &str) -> Scene {
        let control_plane = ControlPlane::shared().await;
        Scene::with_proxy(prefix, FaultProxy::start(control_plane)).await
    }

    pub(crate) async fn with_proxy(prefix: &str, proxy: FaultProxy) -> Scene {
        let control_plane = ControlPlane::shared().await;
        let namespace = control_plane.namespace(prefix).await;
        let client = client(&proxy, control_plane);
        let api = Api::namespaced(client.clone(), namespace.name());
        let direct = Api::namespaced(without_retries(control_plane.admin_config()), namespace.name());
        Scene { namespace, proxy, client, api, direct }
    }

    /// The path of the Secrets of the namespace, with a query.
    pub(crate) fn secrets(&self, query: &str) -> String {
        format!("/api/v1/namespaces/{}/secrets?{query}", self.namespace.name())
    }

    /// The path of a list that is the same each time, although other tests write.
    pub(crate) fn list_at(&self, version: &str) -> String {
        self.secrets(&format!("limit=500&resourceVersion={version}&resourceVersionMatch=Exact"))
    }

    /// Creates Secrets around the proxy and returns the version of the last.
    pub(crate) async fn create(&self, names: &[&str]) -> String {
        let mut version = None;
        for name in names {
            let created = self.direct.create(&PostParams::default(), &secret(name)).await.unwrap();
            version = created.resource_version();
        }
        version.unwrap()
    }

    /// Changes a Secret around the proxy.
    pub(crate) async fn change(&self, name: &str, label: &str) -> Secret {
        let patch = Patch::Merge(json!({"metadata": {"labels": {"label": label}}}));
        self.direct.patch(name, &PatchParams::default(), &patch).await.unwrap()
    }

    /// Names in a list through the proxy.
    pub(crate) async fn list(&self) -> Vec<String> {
        names(&self.api.list(&ListParams::default()).await.unwrap().items)
    }

    /// A watch through the proxy from now on.
    pub(crate) async fn watch(&self) -> Watch {
        let version = self.direct.list(&ListParams::default()).await.unwrap().metadata.resource_version;
        let parameters = WatchParams::default().disable_bookmarks();
        Watch(self.api.watch(&parameters, &version.unwrap()).await.unwrap().boxed())
    }
}

pub(crate) fn client(proxy: &FaultProxy, control_plane: &ControlPlane) -> Client {
    without_retries(proxy.config(&control_plane.admin_config()))
}

fn without_retries(mut config: Config) -> Client {
    config.default_retry = false;
    Client::try_from(config).unwrap()
}

pub(crate) fn secret(name: &str) -> Secret {
    Secret {
        metadata: ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() },
        string_data: Some(BTreeMap::from([("key".to_owned(), "value".repeat(20))])),
        ..Secret::default()
    }
}

pub(crate) fn names(secrets: &[Secret]) -> Vec<String> {
    secrets.iter().map(ResourceExt::name_any).collect()
}

/// The HTTP code of a refusal.
pub(crate) fn code<T: std::fmt::Debug>(result: kube::Result<T>) -> u16 {
    match result {
        Err(kube::Error::Api(status)) => status.code,
        other => panic!("not refused: {other:?}"),
    }
}

/// Sends a GET.
pub(crate) async fn get(client: &Client, uri: &str) -> kube::Result<Response<Body>> {
    client.send(Request::get(uri).body(Body::empty()).unwrap()).await
}

/// The body of an answer, and whether it came to its end.
pub(crate) async fn read(response: Response<Body>) -> (Vec<Vec<u8>>, bool) {
    let mut data = response.into_body().into_data_stream();
    let mut chunks = Vec::new();
    loop {
        match timeout(LIMIT, data.next()).await.expect("in time") {
            Some(Ok(chunk)) => chunks.push(chunk.to_vec()),
            Some(Err(_)) => return (chunks, false),
            None => return (chunks, true),
        }
    }
}

/// An open watch.
pub(crate) struct Watch(futures::stream::BoxStream<'static, kube::Result<WatchEvent<Secret>>>);

impl Watch {
    /// The next event in short: type and name, `end`, or `error` with a code or without.
    pub(crate) async fn next(&mut self) -> String {
        match timeout(LIMIT, self.0.next()).await.expect("an event in time") {
            Some(Ok(event)) => short(&event),
            Some(Err(error)) => format!("error: {error}"),
            None => "end".to_owned(),
        }
    }

    /// So many events in short.
    pub(crate) async fn take(&mut self, count: usize) -> Vec<String> {
        let mut events = Vec::new();
        for _ in 0..count {
            events.push(self.next().await);
        }
        events
    }

    pub(crate) async fn next_object(&mut self) -> Secret {
        match timeout(LIMIT, self.0.next()).await.expect("an event in time").unwrap().unwrap() {
            WatchEvent::Added(object) | WatchEvent::Modified(object) | WatchEvent::Deleted(object) => object,
            other => panic!("{other:?}"),
        }
    }

    /// Whether nothing comes, not even an end.
    pub(crate) async fn is_silent(&mut self) -> bool {
        timeout(SILENCE, self.0.next()).await.is_err()
    }
}

fn short(event: &WatchEvent<Secret>) -> String {
    match event {
        WatchEvent::Added(object) => format!("+{}", object.name_any()),
        WatchEvent::Modified(object) => format!("~{}", object.name_any()),
        WatchEvent::Deleted(object) => format!("-{}", object.name_any()),
        WatchEvent::Bookmark(_) => "bookmark".to_owned(),
        WatchEvent::Error(status) => format!("ERROR {}", status.code),
    }
}

/// Whether nothing comes out of a stream for a while.
pub(crate) async fn is_silent<T>(stream: &mut (impl Stream<Item = T> + Unpin)) -> bool {
    timeout(SILENCE, stream.next()).await.is_err()
}
