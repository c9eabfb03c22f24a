//! A cluster that is there already, made ready for the tests of this process.
//!
//! Purpose: check that the kubeconfig leads somewhere and that its user may do everything; bring the manifests of
//! `deploy/` up to date; make the test users.
//!
//! Owns: what bears the label of this run. It is removed when this process has ended, however it ended. CRDs, roles
//! and admission policies stay: with a CRD would go the objects of everybody in the cluster.

use std::{ffi::OsStr, path::Path};

use futures::future::try_join_all;
use k8s_openapi::api::{
    authentication::v1::SelfSubjectReview,
    authorization::v1::{ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec},
    core::v1::{Namespace, ServiceAccount},
};
use kube::{
    Api, Client,
    api::{ObjectMeta, PostParams},
};

use super::{ControlPlane, Ground, install, runtime};
use crate::{
    Error,
    assets::find_kubectl,
    deploy::Deploy,
    endpoint::{Endpoint, Given, in_full},
    identities::{PROBE, Run, Tokens, account_token},
    layout::Layout,
    process::{Afterwards, DataDir},
};

/// Removes all that bears the label of this run once standard input ends. Nobody waits for it.
const REMOVE: &str = r#"
cat >/dev/null
exec "$1" --kubeconfig "$2" delete namespaces,clusterrolebindings --selector "$3" --wait=false
"#;

/// Makes the cluster of this kubeconfig ready.
pub(super) fn connect(file: &Path) -> Result<ControlPlane, Error> {
    let kubectl = find_kubectl()?;
    let data = DataDir::create()?;
    let layout = Layout::create(data.path())?;
    let runtime = runtime()?;
    let (given, endpoint, run) = runtime.block_on(async {
        let (given, endpoint) = Given::read(file).await?;
        let run = Run::with_accounts(checked(file, &endpoint).await?)?;
        Ok::<_, Error>((given, endpoint, run))
    })?;
    let selector = run.selector();
    let arguments = [kubectl.as_os_str(), file.as_os_str(), OsStr::new(&selector)];
    let removal = Afterwards::run(REMOVE, &arguments)?;
    let deploy = Deploy::load(&kubectl, &run)?;
    let tokens = runtime.block_on(async {
        let admin = Client::try_from(endpoint.admin()).map_err(Error::kube("a client"))?;
        let tokens = users(&admin, &run).await?;
        let prober = endpoint.with_token(tokens.get(PROBE).unwrap_or_default());
        let prober = Client::try_from(prober).map_err(Error::kube("a client"))?;
        install::manifests(&admin, &prober, &deploy, &run).await?;
        Ok::<_, Error>(tokens)
    })?;
    let ground = Ground::Existing { given, _removal: removal };
    Ok(ControlPlane { ground, kubectl, endpoint, run, tokens, deploy, layout, _data: data })
}

/// The name of the kubeconfig's user, once it is certain that the server answers and lets the user do everything.
async fn checked(file: &Path, endpoint: &Endpoint) -> Result<String, Error> {
    let config = endpoint.admin();
    let url = config.cluster_url.to_string();
    let unreachable = |error: kube::Error| match error {
        kube::Error::Api(status) if status.code == 401 => Error::Credentials { url: url.clone() },
        error => Error::Unreachable { url: url.clone(), why: in_full(&error) },
    };
    let unusable = |error| Error::Kubeconfig { path: file.to_owned(), what: in_full(&error) };
    let client = Client::try_from(config).map_err(unusable)?;
    let reviews: Api<SelfSubjectReview> = Api::all(client.clone());
    let review = reviews.create(&PostParams::default(), &SelfSubjectReview::default()).await;
    let user = review.map_err(unreachable)?.status.and_then(|status| status.user_info?.username);
    let user = user.unwrap_or_default();

    let all = || Some("*".to_owned());
    let everything =
        ResourceAttributes { verb: all(), group: all(), resource: all(), ..ResourceAttributes::default() };
    let spec = SelfSubjectAccessReviewSpec {
        resource_attributes: Some(everything),
        ..SelfSubjectAccessReviewSpec::default()
    };
    let review = SelfSubjectAccessReview { spec, ..SelfSubjectAccessReview::default() };
    let reviews: Api<SelfSubjectAccessReview> = Api::all(client);
    let answer = reviews.create(&PostParams::default(), &review).await;
    let answer = answer.map_err(Error::kube(format!("ask what {user} may do")))?;
    match answer.status {
        Some(status) if status.allowed => Ok(user),
        _ => Err(Error::Rights { url: url.clone(), user }),
    }
}

/// Makes the test users, in a namespace of their own.
async fn users(admin: &Client, run: &Run) -> Result<Tokens, Error> {
    let name = run.users_namespace();
    let metadata =
        ObjectMeta { name: Some(name.clone()), labels: Some(run.labels()), ..ObjectMeta::default() };
    let namespace = Namespace { metadata, ..Namespace::default() };
    let namespaces: Api<Namespace> = Api::all(admin.clone());
    let created = namespaces.create(&PostParams::default(), &namespace).await;
    created.map_err(Error::kube(format!("create namespace {name}")))?;
    let accounts: Api<ServiceAccount> = Api::namespaced(admin.clone(), &name);
    let tokens = run.accounts().map(async |user| {
        let metadata = ObjectMeta { name: Some(user.to_owned()), ..ObjectMeta::default() };
        let account = ServiceAccount { metadata, ..ServiceAccount::default() };
        let created = accounts.create(&PostParams::default(), &account).await;
        created.map_err(Error::kube(format!("create ServiceAccount {user} in namespace {name}")))?;
        Ok::<_, Error>((user, account_token(admin.clone(), &name, user).await?))
    });
    Ok(try_join_all(tokens).await?.into_iter().collect())
}
