//! A namespace for one test.
//!
//! Purpose: tests share a control plane and nothing else.
//!
//! Owns: the namespace, which is deleted when the value is dropped; nobody waits for that.

use std::ffi::OsString;

use k8s_openapi::api::core::v1::Namespace;
use kube::{
    Api, Client, Config,
    api::{DeleteParams, ObjectMeta, PostParams},
};
use trusted_crds::names::MANAGED_NAMESPACE_LABEL;

use crate::{
    ControlPlane, Error,
    identities::{account_token, account_user, random_id},
};

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
        TestNamespace::create_named(control_plane, format!("{prefix}-{}", random_id()?)).await
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
        let mut labels = self.control_plane.labels();
        labels.insert(MANAGED_NAMESPACE_LABEL.to_owned(), "true".to_owned());
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
        let client = Client::try_from(self.control_plane.admin_config()).map_err(Error::kube("a client"))?;
        account_token(client, &self.name, account).await
    }

    /// The name under which the API server knows a ServiceAccount of this namespace.
    pub fn service_account_user(&self, account: &str) -> String {
        account_user(&self.name, account)
    }

    /// The name under which the API server knows a test user; other names are told as they are.
    pub fn user_name<'a>(&self, user: &'a str) -> &'a str {
        self.control_plane.user_name(user)
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
        let mut config = self.control_plane.user_config(user);
        config.default_namespace.clone_from(&self.name);
        config
    }

    /// A value for KUBECONFIG with which a program acts as a test user in this namespace.
    pub fn user_kubeconfig(&self, user: &str) -> Result<OsString, Error> {
        self.control_plane.user_kubeconfig(&format!("{}-{user}", self.name), user, &self.name)
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
        // first, the control plane goes as a whole, or all that bears the label of this run.
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
