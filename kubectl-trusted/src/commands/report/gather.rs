//! Asks for everything that goes into the archive, one after the other, and notes what could not be had.
//!
//! Owns the requests. One LIST per kind; of Secrets only the metadata is ever asked for.

use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret, Service};
use k8s_openapi::api::events::v1::Event;
use kube::api::{ListParams, LogParams};
use kube::{Api, Resource, ResourceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use trusted_crds::names::{FIELD_MANAGER, MANAGED_BY, MANAGED_BY_LABEL};
use trusted_crds::{ApprovedImage, AttestationKey, Machine, TrustedExecutionCluster};

use super::bundle::Bundle;
use super::workloads::{self, Workloads};
use crate::connect::Connection;
use crate::error::{Attempt, Class, Error, Incomplete, Result};

/// Port of the operator's own pages.
const OPERATOR_PORT: u16 = 8080;

/// Bytes of one log; a single line may be of any length.
const LARGEST_LOG: i64 = 16 << 20;

pub(super) struct Gathering<'a> {
    pub(super) connection: &'a Connection,
    tail: i64,
    pub(super) missing: Vec<Incomplete>,
}

impl<'a> Gathering<'a> {
    pub(super) fn new(connection: &'a Connection, tail: i64) -> Gathering<'a> {
        Gathering { connection, tail, missing: Vec::new() }
    }

    pub(super) async fn all(&mut self, bundle: &mut Bundle) -> Result<()> {
        self.objects::<TrustedExecutionCluster>(bundle, "").await?;
        self.objects::<Machine>(bundle, "").await?;
        self.objects::<AttestationKey>(bundle, "").await?;
        self.objects::<ApprovedImage>(bundle, "").await?;
        let ours = format!("{MANAGED_BY_LABEL}={MANAGED_BY}");
        self.objects::<Service>(bundle, &ours).await?;
        self.objects::<ConfigMap>(bundle, &ours).await?;
        self.secrets(bundle, &ours).await?;
        let workloads = Workloads::among(self.list::<Deployment>("").await?);
        if let Some(deployments) = &workloads.0 {
            bundle.json("objects/deployments.json", deployments)?;
        }
        self.events(bundle, &workloads).await?;
        let Some(pods) = self.list::<Pod>("").await? else { return Ok(()) };
        let pods: Vec<_> = pods.into_iter().filter(|pod| workloads.have(pod)).collect();
        bundle.json("objects/pods.json", &pods)?;
        for pod in &pods {
            self.logs(bundle, pod).await?;
            if workloads.is_operator(pod) {
                self.page(bundle, pod, "metrics", "prom").await?;
                self.page(bundle, pod, "diagnostics", "json").await?;
            }
        }
        Ok(())
    }

    async fn list<K>(&mut self, labels: &str) -> Result<Option<Vec<K>>>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
            + Clone
            + std::fmt::Debug
            + DeserializeOwned,
    {
        let namespace = self.connection.namespace.as_str();
        let attempt = Attempt::on::<K>("list", Some(namespace));
        let api: Api<K> = Api::namespaced(self.connection.client.clone(), namespace);
        let asked = self.connection.ask(&attempt, api.list(&ListParams::default().labels(labels))).await;
        self.had(&attempt, asked.map(|list| list.items))
    }

    async fn objects<K>(&mut self, bundle: &mut Bundle, labels: &str) -> Result<()>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
            + Clone
            + std::fmt::Debug
            + DeserializeOwned
            + Serialize,
    {
        match self.list::<K>(labels).await? {
            Some(objects) => bundle.json(&format!("objects/{}.json", K::plural(&())), &objects),
            None => Ok(()),
        }
    }

    /// Names, labels and owners; the API server is not asked for more.
    async fn secrets(&mut self, bundle: &mut Bundle, labels: &str) -> Result<()> {
        let namespace = self.connection.namespace.as_str();
        let attempt = Attempt::on::<Secret>("list", Some(namespace));
        let api: Api<Secret> = Api::namespaced(self.connection.client.clone(), namespace);
        let parameters = ListParams::default().labels(labels);
        let asked = self.connection.ask(&attempt, api.list_metadata(&parameters)).await;
        match self.had(&attempt, asked.map(|list| list.items))? {
            Some(secrets) => {
                let metadata: Vec<_> = secrets.into_iter().map(|secret| secret.metadata).collect();
                bundle.json("objects/secrets-metadata.json", &metadata)
            }
            None => Ok(()),
        }
    }

    /// Those of the operator, and those about its workloads.
    async fn events(&mut self, bundle: &mut Bundle, workloads: &Workloads) -> Result<()> {
        let Some(events) = self.list::<Event>("").await? else { return Ok(()) };
        let is_about = |event: &Event| {
            let name = event.regarding.as_ref().and_then(|regarding| regarding.name.as_deref());
            name.is_some_and(|name| workloads.name(name))
        };
        let is_told = |event: &Event| event.reporting_controller.as_deref() == Some(FIELD_MANAGER);
        let ours: Vec<_> = events.into_iter().filter(|event| is_told(event) || is_about(event)).collect();
        bundle.json("objects/events.json", &ours)
    }

    async fn logs(&mut self, bundle: &mut Bundle, pod: &Pod) -> Result<()> {
        for (container, was_restarted) in workloads::containers(pod) {
            self.log(bundle, pod, &container, false).await?;
            if was_restarted {
                self.log(bundle, pod, &container, true).await?;
            }
        }
        Ok(())
    }

    /// The end of a container's log, or of the one before it was restarted.
    async fn log(&mut self, bundle: &mut Bundle, pod: &Pod, container: &str, previous: bool) -> Result<()> {
        let (namespace, name) = (self.connection.namespace.as_str(), pod.name_any());
        let api: Api<Pod> = Api::namespaced(self.connection.client.clone(), namespace);
        let mut attempt = Attempt::new("get", "pods/log").named(&name);
        attempt.namespace = Some(namespace.to_owned());
        let parameters = LogParams {
            container: Some(container.to_owned()),
            previous,
            tail_lines: Some(self.tail),
            limit_bytes: Some(LARGEST_LOG),
            timestamps: true,
            ..LogParams::default()
        };
        let asked = self.connection.ask(&attempt, api.logs(&name, &parameters)).await;
        let Some(log) = self.had(&attempt, asked)? else { return Ok(()) };
        let before = if previous { ".previous" } else { "" };
        bundle.text(&format!("logs/{name}/{container}{before}.log"), &log)
    }

    /// A page of the operator's, through the API server.
    async fn page(&mut self, bundle: &mut Bundle, pod: &Pod, page: &str, ending: &str) -> Result<()> {
        let (namespace, name) = (self.connection.namespace.as_str(), pod.name_any());
        let mut attempt = Attempt::new("get", "pods/proxy").named(&name);
        attempt.namespace = Some(namespace.to_owned());
        let path = format!("/api/v1/namespaces/{namespace}/pods/{name}:{OPERATOR_PORT}/proxy/{page}");
        let request = http::Request::get(path)
            .body(Vec::new())
            .map_err(|error| Error::new(Class::Client, error.to_string()))?;
        let asked = self.connection.ask(&attempt, self.connection.client.request_text(request)).await;
        match self.had(&attempt, asked)? {
            Some(text) => bundle.text(&format!("operator/{name}/{page}.{ending}"), &text),
            None => Ok(()),
        }
    }

    /// What a command of ours would show, or a note that it would fail; without a connection nothing can be had at all.
    pub(super) fn said<T>(&mut self, verb: &str, said: Result<T>) -> Result<Option<T>> {
        match said {
            Ok(document) => Ok(Some(document)),
            Err(error) if error.class.is_of_connection() => Err(error),
            Err(error) => {
                self.missing.push(Incomplete::command(verb, &self.connection.namespace, &error));
                Ok(None)
            }
        }
    }

    /// Best effort: whatever kept an answer away is noted once.
    fn had<T>(&mut self, attempt: &Attempt, asked: Result<T>) -> Result<Option<T>> {
        let error = match asked {
            Ok(found) => return Ok(Some(found)),
            Err(error) => error,
        };
        let missing = Incomplete::of(attempt, &error).unwrap_or_else(|| Incomplete::failed(attempt, &error));
        if !self.missing.contains(&missing) {
            self.missing.push(missing);
        }
        Ok(None)
    }
}
