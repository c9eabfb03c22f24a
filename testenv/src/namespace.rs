//! A namespace for one test.
//!
//! Purpose: tests share a control plane and nothing else.
//!
//! Owns: the namespace, which is deleted when the value is dropped; nobody waits for that.

use std::collections::BTreeMap;

use k8s_openapi::api::{
    authentication::v1::{TokenRequest, TokenRequestSpec},
    core::v1::{Namespace, ServiceAccount},
};
use kube::{
    Api, Client, Config,
    api::{DeleteParams, ObjectMeta, PostParams},
};
use trusted_crds::names::MANAGED_NAMESPACE_LABEL;

use crate::{ControlPlane, Error, identities::random_hex};

/// How long a token lasts: longer than any test and any measurement.
const TOKEN_SECONDS: i64 = 6 * 3600;

/// A labelled namespace with the ServiceAccounts, Roles and RoleBindings of `deploy/rbac`.
#[derive(Debug)]
pub struct TestNamespace {
    control_plane: &'static ControlPlane,
    name: String,
}

impl TestNamespace {
    /// Makes a namespace `<prefix>-<random>`.
    pub(crate) async fn create(
        control_plane: &'static ControlPlane,
        prefix: &str,
    ) -> Result<TestNamespace, Error> {
        let random = random_hex().map_err(Error::io("random name"))?;
        TestNamespace::create_named(control_plane, format!("{prefix}-{}", &random[..8])).await
    }

    /// Makes a namespace of this name.
    pub(crate) async fn create_named(
        control_plane: &'static ControlPlane,
        name: String,
    ) -> Result<TestNamespace, Error> {
        let namespace = TestNamespace { control_plane, name };
        namespace.fill().await?;
        Ok(namespace)
    }

    async fn fill(&self) -> Result<(), Error> {
        let client = Client::try_from(self.control_plane.admin_config()).map_err(Error::kube("a client"))?;
        let labels = BTreeMap::from([(MANAGED_NAMESPACE_LABEL.to_owned(), "true".to_owned())]);
        let namespace = Namespace {
            metadata: ObjectMeta {
                name: Some(self.name.clone()),
                labels: Some(labels),
                ..ObjectMeta::default()
            },
            ..Namespace::default()
        };
        Api::<Namespace>::all(client.clone())
            .create(&PostParams::default(), &namespace)
            .await
            .map_err(Error::kube(format!("create namespace {}", self.name)))?;
        self.control_plane.deploy().apply_to_namespace(&client, &self.name).await
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The control plane it lies in.
    pub fn control_plane(&self) -> &'static ControlPlane {
        self.control_plane
    }

    /// A token of a ServiceAccount of this namespace. Panics when there is none.
    #[expect(
        clippy::panic,
        reason = "a test without the identity it asked for has failed; the panic says why"
    )]
    pub async fn service_account_token(&self, account: &str) -> String {
        match self.try_service_account_token(account).await {
            Ok(token) => token,
            Err(error) => panic!("{error}"),
        }
    }

    /// Like [`TestNamespace::service_account_token`], with an error instead of a panic.
    pub async fn try_service_account_token(&self, account: &str) -> Result<String, Error> {
        let what = format!("a token for ServiceAccount {account} in namespace {}", self.name);
        let client = Client::try_from(self.control_plane.admin_config()).map_err(Error::kube("a client"))?;
        let accounts: Api<ServiceAccount> = Api::namespaced(client, &self.name);
        let spec =
            TokenRequestSpec { expiration_seconds: Some(TOKEN_SECONDS), ..TokenRequestSpec::default() };
        let request = TokenRequest { spec: Some(spec), ..TokenRequest::default() };
        let answer = accounts
            .create_token_request(account, &PostParams::default(), &request)
            .await
            .map_err(Error::kube(what.clone()))?;
        answer
            .status
            .and_then(|status| status.token)
            .ok_or(Error::Timeout { what, last: "no token".to_owned() })
    }

    /// The name under which the audit log knows a ServiceAccount of this namespace.
    pub fn service_account_user(&self, account: &str) -> String {
        format!("system:serviceaccount:{}:{account}", self.name)
    }

    /// How the operator reaches the API server: as its ServiceAccount, in this namespace.
    pub async fn operator_config(&self) -> Config {
        let token = self.service_account_token("trusted-operator").await;
        let mut config = self.control_plane.config_for_token(&token);
        config.default_namespace.clone_from(&self.name);
        config
    }

    /// How a test user reaches the API server, with this namespace as the default one.
    pub fn user_config(&self, user: &str) -> Config {
        let mut config = self.control_plane.config_for_token(self.control_plane.user(user));
        config.default_namespace.clone_from(&self.name);
        config
    }

    /// A client of a test user (see [`crate::TEST_USERS`]), for the calling runtime.
    #[expect(clippy::panic, reason = "a test without a client has failed; the panic says why")]
    pub fn as_user(&self, user: &str) -> Client {
        match Client::try_from(self.user_config(user)) {
            Ok(client) => client,
            Err(error) => panic!("no client for {user}: {error}"),
        }
    }
}

impl Drop for TestNamespace {
    fn drop(&mut self) {
        let config = self.control_plane.admin_config();
        let name = self.name.clone();
        // The test's runtime may be about to end, hence a thread with a runtime of its own. Where the process ends
        // first, the control plane goes as a whole.
        std::thread::spawn(move || {
            let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
                return;
            };
            runtime.block_on(async {
                if let Ok(client) = Client::try_from(config) {
                    let _ = Api::<Namespace>::all(client).delete(&name, &DeleteParams::background()).await;
                }
            });
        });
    }
}
