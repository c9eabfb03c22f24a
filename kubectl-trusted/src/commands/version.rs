//! `version`: what runs here and there, and whether it goes together.
//!
//! Owns the verb and its five questions. None of them needs a right beyond those of trusted-viewer.

mod document;
mod skew;

use clap::Args;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{APIGroup, APIResourceList};
use kube::Api;
use trusted_crds::delivery;
use trusted_crds::names::{OPERATOR_DEPLOYMENT, TRUSTEE_DEPLOYMENT};

use self::document::{ApiServer, Crds, Versions, Workload};
use crate::connect::Connection;
use crate::error::{Attempt, Class, Error, Incomplete, Result};
use crate::exit::Exit;
use crate::output::machine::FailureBody;
use crate::output::progress::Progress;
use crate::session::Session;

const HELP: &str = "\
The operator and Trustee are looked for in the namespace; of each the image of
its Deployment is shown, and whether all its pods run it. What may not be seen
is named, and then the exit code is 4.

Examples:
  # All of it, and a warning where two versions do not go together
  kubectl trusted version -n trusted

  # This program alone, without a cluster
  kubectl trusted version --client

  # For a script
  kubectl trusted version -o json | jq -r .operator.version";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct VersionArgs {
    /// Only this program; no cluster is asked
    #[arg(long)]
    client: bool,
}

pub(crate) async fn run(session: &mut Session, args: &VersionArgs) -> Result<Exit> {
    let flags = session.connection.repeated_flags();
    let asked = if args.client { Ok(Versions::default()) } else { ask(session).await };
    let asked = asked.map_err(|error| error.repeating(&flags));
    // The version of the client is known whatever became of the rest.
    let (mut versions, failure) = match asked {
        Ok(versions) => (versions, None),
        Err(error) => (Versions { error: Some(FailureBody::of(&error)), ..Versions::default() }, Some(error)),
    };
    versions.repeat(&flags);
    session.screen.document(&versions)?;
    if let Some(error) = failure {
        session.screen.complaint(&error);
        return Ok(error.exit());
    }
    Ok(if versions.incomplete.is_empty() { Exit::Good } else { Exit::Incomplete })
}

async fn ask(session: &Session) -> Result<Versions> {
    let connection = session.connection.connect().await?;
    let _progress = Progress::start(&session.screen, "asking the API server");
    of(&connection).await
}

pub(crate) async fn of(connection: &Connection) -> Result<Versions> {
    let mut versions = Versions { namespace: Some(connection.namespace.clone()), ..Versions::default() };
    let (api_server, crds, operator, trustee) = futures::join!(
        Box::pin(api_server(connection)),
        Box::pin(crds(connection)),
        Box::pin(workload(connection, OPERATOR_DEPLOYMENT)),
        Box::pin(workload(connection, TRUSTEE_DEPLOYMENT)),
    );
    versions.api_server = versions.take(api_server)?;
    versions.crds = versions.take(crds)?;
    versions.operator = versions.take(operator)?;
    versions.trustee = versions.take(trustee)?;
    versions.warnings = skew::warnings(&versions);
    Ok(versions)
}

/// What was asked, and the answer; none where there is no such thing.
type Asked<T> = (Attempt, Result<Option<T>>);

impl Versions {
    fn take<T>(&mut self, (attempt, answer): Asked<T>) -> Result<Option<T>> {
        match answer {
            Ok(found) => Ok(found),
            Err(Error { class: Class::NotFound | Class::NotInstalled, .. }) => Ok(None),
            Err(error) => {
                self.incomplete.push(Incomplete::of(&attempt, &error).ok_or(error)?);
                Ok(None)
            }
        }
    }
}

async fn api_server(connection: &Connection) -> Asked<ApiServer> {
    let attempt = Attempt::new("get", "/version");
    let answer = connection.ask(&attempt, connection.client.apiserver_version()).await;
    (attempt, answer.map(|info| Some(ApiServer { version: info.git_version })))
}

/// What of our group is served, from the discovery that everybody may read.
async fn crds(connection: &Connection) -> Asked<Crds> {
    let attempt = Attempt::new("get", format!("/apis/{}", trusted_crds::GROUP));
    let group: Result<APIGroup> = discover(connection, &attempt).await;
    let group = match group {
        Ok(group) => group,
        Err(error) => return (attempt, Err(error)),
    };
    let served: Vec<_> = group.versions.into_iter().map(|version| version.version).collect();
    let mut kinds = Vec::new();
    if served.iter().any(|version| version == trusted_crds::VERSION) {
        let path = Attempt::new("get", format!("/apis/{}", trusted_crds::API_VERSION));
        match discover::<APIResourceList>(connection, &path).await {
            Ok(list) => {
                kinds.extend(list.resources.into_iter().map(|resource| (resource.name, resource.kind)));
            }
            Err(error) => return (path, Err(error)),
        }
    }
    // A subresource has a slash in its name.
    let kinds = kinds.into_iter().filter(|(name, _)| !name.contains('/')).map(|(_, kind)| kind).collect();
    (attempt, Ok(Some(Crds::new(served, kinds))))
}

async fn discover<T: serde::de::DeserializeOwned>(connection: &Connection, attempt: &Attempt) -> Result<T> {
    let request = http::Request::get(attempt.resource.as_str())
        .body(Vec::new())
        .map_err(|error| Error::new(Class::Client, error.to_string()))?;
    connection.ask(attempt, connection.client.request(request)).await
}

async fn workload(connection: &Connection, name: &str) -> Asked<Workload> {
    let attempt = Attempt::on::<Deployment>("get", Some(&connection.namespace)).named(name);
    let deployments: Api<Deployment> = Api::namespaced(connection.client.clone(), &connection.namespace);
    let answer = connection.ask(&attempt, deployments.get(name)).await;
    (attempt, answer.map(|found| Some(Workload::of(&found, delivery::rolled_out(&found)))))
}
