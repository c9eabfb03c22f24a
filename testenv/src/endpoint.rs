//! How an API server is reached, by our own clients and by programs that read a kubeconfig.
//!
//! Purpose: the same way to the server for every identity, whatever the admin's credentials are: a token, a client
//! certificate, or a program that is asked for them.
//!
//! Must not: copy somebody else's credentials into a file of ours.

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use kube::{
    Config,
    config::{
        AuthInfo, Cluster, Context, KubeConfigOptions, Kubeconfig, KubeconfigError, NamedAuthInfo,
        NamedCluster, NamedContext,
    },
};

use crate::Error;

/// What context, cluster and user are called in kubeconfigs of ours.
const CONTEXT: &str = "testenv";

/// Where the API server listens, whom to trust there, and who may do everything.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    cluster: Cluster,
    admin: Config,
}

impl Endpoint {
    /// A server of our own, with the certificate of its authority as a file and as bytes (DER).
    pub(crate) fn new(url: &str, authority: (&Path, Vec<u8>), admin_token: &str) -> Result<Endpoint, Error> {
        let (file, certificate) = authority;
        let uri = url.parse().map_err(|error| Error::io(url)(std::io::Error::other(error)))?;
        let mut admin = Config::new(uri);
        admin.root_cert = Some(vec![certificate]);
        admin.auth_info = bearer(admin_token);
        let cluster = Cluster {
            server: Some(url.to_owned()),
            certificate_authority: Some(file.display().to_string()),
            ..Cluster::default()
        };
        Ok(Endpoint { cluster, admin })
    }

    /// How to reach it with all rights.
    pub(crate) fn admin(&self) -> Config {
        self.admin.clone()
    }

    /// How to reach it with some token, and nothing of the admin's credentials.
    pub(crate) fn with_token(&self, token: &str) -> Config {
        let mut config = self.admin();
        config.auth_info = bearer(token);
        config
    }

    /// Writes a kubeconfig with one context.
    pub(crate) fn write_kubeconfig(&self, path: &Path, token: &str, namespace: &str) -> Result<(), Error> {
        let cluster = NamedCluster {
            name: CONTEXT.to_owned(),
            cluster: Some(self.cluster.clone()),
            ..NamedCluster::default()
        };
        let user = NamedAuthInfo {
            name: "user".to_owned(),
            auth_info: Some(bearer(token)),
            ..NamedAuthInfo::default()
        };
        let context = Context {
            cluster: CONTEXT.to_owned(),
            user: Some("user".to_owned()),
            namespace: Some(namespace.to_owned()),
            ..Context::default()
        };
        let kubeconfig =
            Kubeconfig { clusters: vec![cluster], auth_infos: vec![user], ..with_context(context) };
        write(path, &kubeconfig)
    }
}

/// Somebody's kubeconfig, which leads to a cluster that is there already.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    file: PathBuf,
    context: Context,
}

impl Given {
    /// Reads it, and what its current context leads to.
    pub(crate) async fn read(file: &Path) -> Result<(Given, Endpoint), Error> {
        let unusable = |what: String| Error::Kubeconfig { path: file.to_owned(), what };
        if file.is_relative() {
            let what = "give an absolute path, since cargo runs each test in the folder of its package";
            return Err(unusable(what.to_owned()));
        }
        let kubeconfig = Kubeconfig::read_from(file).map_err(|error| match error {
            // The parser's message quotes the text around the fault, which may be a key.
            KubeconfigError::Parse(_) => unusable("it is not valid YAML of a kubeconfig".to_owned()),
            error => unusable(in_full(&error)),
        })?;
        let current = kubeconfig.current_context.clone().unwrap_or_default();
        let named = kubeconfig.contexts.iter().find(|context| context.name == current);
        let context = named.and_then(|named| named.context.clone());
        let context = context.ok_or_else(|| unusable(format!("it has no current context ({current:?})")))?;
        let named = kubeconfig.clusters.iter().find(|cluster| cluster.name == context.cluster);
        let cluster = named.and_then(|named| named.cluster.clone());
        let cluster = cluster.ok_or_else(|| unusable(format!("it has no cluster {:?}", context.cluster)))?;
        let admin = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
        let admin = admin.map_err(|error| unusable(in_full(&error)))?;
        Ok((Given { file: file.to_owned(), context }, Endpoint { cluster, admin }))
    }

    /// A value for KUBECONFIG: the file as it is, and before it one of ours (`path`) that does no more than choose a
    /// namespace.
    pub(crate) fn in_namespace(&self, path: &Path, namespace: &str) -> Result<OsString, Error> {
        let context = Context { namespace: Some(namespace.to_owned()), ..self.context.clone() };
        write(path, &with_context(context))?;
        env::join_paths([path, &self.file])
            .map_err(|error| Error::Kubeconfig { path: self.file.clone(), what: error.to_string() })
    }
}

/// An error with its causes, in one line.
pub(crate) fn in_full(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        // Many errors repeat their cause.
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text
}

fn bearer(token: &str) -> AuthInfo {
    AuthInfo { token: Some(token.to_owned().into()), ..AuthInfo::default() }
}

fn with_context(context: Context) -> Kubeconfig {
    let named = NamedContext { name: CONTEXT.to_owned(), context: Some(context), ..NamedContext::default() };
    Kubeconfig {
        kind: Some("Config".to_owned()),
        api_version: Some("v1".to_owned()),
        contexts: vec![named],
        current_context: Some(CONTEXT.to_owned()),
        ..Kubeconfig::default()
    }
}

fn write(path: &Path, kubeconfig: &Kubeconfig) -> Result<(), Error> {
    let text = serde_saphyr::to_string(kubeconfig);
    let text = text.map_err(|error| Error::io(path)(std::io::Error::other(error)))?;
    fs::write(path, text).map_err(Error::io(path))
}
