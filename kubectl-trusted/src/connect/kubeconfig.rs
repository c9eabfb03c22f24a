//! Reads the kubeconfig as kubectl does and puts the flags over it.
//!
//! Owns the order (flag, KUBECONFIG, home, in-cluster) and the messages when the parts do not fit together.

use std::path::{Path, PathBuf};

use kube::Config;
use kube::config::{
    AuthInfo, Cluster, Context, KubeConfigOptions, Kubeconfig, KubeconfigError, NamedAuthInfo, NamedCluster,
    NamedContext,
};

use super::ConnectionArgs;
use crate::error::{Class, Error, Result};

/// Stands for what the flags alone describe.
const FROM_FLAGS: &str = "from-flags";

pub(super) async fn load(args: &ConnectionArgs) -> Result<Config> {
    let mut kubeconfig = match read(args)? {
        Read::Found(kubeconfig) => *kubeconfig,
        Read::Nothing(_) if args.server.is_some() => Kubeconfig::default(),
        Read::Nothing(why) => return in_cluster(&why),
    };
    let options = select(args, &mut kubeconfig)?;
    replace(args, &mut kubeconfig, &options);
    Config::from_custom_kubeconfig(kubeconfig, &options).await.map_err(|error| unusable(&error))
}

/// What was read, or where nothing was found, in words.
enum Read {
    Found(Box<Kubeconfig>),
    Nothing(String),
}

fn read(args: &ConnectionArgs) -> Result<Read> {
    if let Some(file) = &args.kubeconfig {
        return read_file(file).map(|found| Read::Found(Box::new(found)));
    }
    let named = std::env::var_os("KUBECONFIG").filter(|list| !list.is_empty());
    let files: Vec<PathBuf> = match &named {
        Some(list) => std::env::split_paths(list).filter(|file| !file.as_os_str().is_empty()).collect(),
        None => std::env::home_dir().map(|home| home.join(".kube").join("config")).into_iter().collect(),
    };
    // As with kubectl, files of the list that do not exist are passed over.
    let mut merged: Option<Kubeconfig> = None;
    for file in files.iter().filter(|file| file.exists()) {
        let next = read_file(file)?;
        merged = Some(match merged {
            None => next,
            Some(first) => first.merge(next).map_err(|error| unusable(&error))?,
        });
    }
    Ok(match merged {
        Some(kubeconfig) => Read::Found(Box::new(kubeconfig)),
        None => Read::Nothing(nothing(&files, named.is_some())),
    })
}

fn nothing(files: &[PathBuf], is_named: bool) -> String {
    let missing: Vec<_> = files.iter().map(|file| file.display().to_string()).collect();
    match is_named {
        true => format!("KUBECONFIG names {}, which cannot be found", missing.join(", ")),
        false => format!("KUBECONFIG is not set and there is no {}", missing.join(", ")),
    }
}

fn read_file(file: &Path) -> Result<Kubeconfig> {
    Kubeconfig::read_from(file).map_err(|error| {
        let cause = match &error {
            KubeconfigError::ReadConfig(source, _) => source.to_string(),
            // The parser's message quotes the text around the fault, which may be a key.
            KubeconfigError::Parse(_) => "it is not valid YAML of a kubeconfig".to_owned(),
            other => other.to_string(),
        };
        Error::new(Class::Kubeconfig, format!("The kubeconfig {} cannot be read", file.display()))
            .why(cause)
            .next("name another with --kubeconfig, or look at it with: kubectl config view")
    })
}

fn in_cluster(why: &str) -> Result<Config> {
    if std::env::var_os("KUBERNETES_SERVICE_HOST").is_none() {
        return Err(Error::new(Class::Kubeconfig, "No cluster is configured")
            .why(format!("{why}, and this is no pod"))
            .next("name one with --kubeconfig FILE, or an API server with --server URL"));
    }
    Config::incluster().map_err(|error| {
        Error::new(Class::Kubeconfig, "The ServiceAccount of this pod cannot be used").why(error.to_string())
    })
}

/// The context, cluster and user to use; each must exist, and the message names those that do.
fn select(args: &ConnectionArgs, kubeconfig: &mut Kubeconfig) -> Result<KubeConfigOptions> {
    let context =
        args.context.clone().or_else(|| kubeconfig.current_context.clone().filter(|name| !name.is_empty()));
    let Some(context) = context else {
        if args.server.is_none() {
            let known = known(kubeconfig.contexts.iter().map(|context| &context.name));
            return Err(Error::new(
                Class::Kubeconfig,
                "No context is chosen: the kubeconfig has no current-context",
            )
            .why(format!("its contexts are: {known}"))
            .next("choose one with --context NAME, or for good: kubectl config use-context NAME"));
        }
        add_from_flags(kubeconfig);
        return Ok(KubeConfigOptions { context: Some(FROM_FLAGS.to_owned()), cluster: None, user: None });
    };
    must_be_known("context", &context, kubeconfig.contexts.iter().map(|context| &context.name))?;
    if let Some(cluster) = &args.cluster {
        must_be_known("cluster", cluster, kubeconfig.clusters.iter().map(|cluster| &cluster.name))?;
    }
    if let Some(user) = &args.user {
        must_be_known("user", user, kubeconfig.auth_infos.iter().map(|user| &user.name))?;
    }
    Ok(KubeConfigOptions { context: Some(context), cluster: args.cluster.clone(), user: args.user.clone() })
}

fn must_be_known<'a>(
    what: &str,
    name: &str,
    mut names: impl Iterator<Item = &'a String> + Clone,
) -> Result<()> {
    if names.clone().any(|known| known == name) {
        return Ok(());
    }
    let known = known(names.by_ref());
    Err(Error::new(Class::Kubeconfig, format!("The kubeconfig has no {what} \"{name}\""))
        .why(format!("it has: {known}"))
        .next(format!("choose one of these with --{what}, or another file with --kubeconfig")))
}

fn known<'a>(names: impl Iterator<Item = &'a String>) -> String {
    let names: Vec<_> = names.map(String::as_str).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

fn add_from_flags(kubeconfig: &mut Kubeconfig) {
    kubeconfig.clusters.push(NamedCluster {
        name: FROM_FLAGS.to_owned(),
        cluster: Some(Cluster::default()),
        ..NamedCluster::default()
    });
    kubeconfig.auth_infos.push(NamedAuthInfo {
        name: FROM_FLAGS.to_owned(),
        auth_info: Some(AuthInfo::default()),
        ..NamedAuthInfo::default()
    });
    kubeconfig.contexts.push(NamedContext {
        name: FROM_FLAGS.to_owned(),
        context: Some(Context {
            cluster: FROM_FLAGS.to_owned(),
            user: Some(FROM_FLAGS.to_owned()),
            ..Context::default()
        }),
        ..NamedContext::default()
    });
}

/// Puts the flags into the chosen cluster and user.
fn replace(args: &ConnectionArgs, kubeconfig: &mut Kubeconfig, options: &KubeConfigOptions) {
    let chosen = kubeconfig.contexts.iter().find(|context| Some(&context.name) == options.context.as_ref());
    let Some(context) = chosen.and_then(|context| context.context.clone()) else { return };
    let cluster_name = options.cluster.as_ref().unwrap_or(&context.cluster);
    let user_name = options.user.clone().or(context.user).unwrap_or_default();
    if let Some(named) = kubeconfig.clusters.iter_mut().find(|cluster| &cluster.name == cluster_name) {
        replace_cluster(args, named.cluster.get_or_insert_default());
    }
    if let Some(named) = kubeconfig.auth_infos.iter_mut().find(|user| user.name == user_name) {
        replace_user(args, named.auth_info.get_or_insert_default());
    }
}

fn replace_cluster(args: &ConnectionArgs, cluster: &mut Cluster) {
    if let Some(server) = &args.server {
        cluster.server = Some(server.clone());
    }
    if let Some(file) = &args.certificate_authority {
        cluster.certificate_authority = Some(file.clone());
        cluster.certificate_authority_data = None;
    }
    if args.insecure_skip_tls_verify {
        cluster.insecure_skip_tls_verify = Some(true);
        cluster.certificate_authority = None;
        cluster.certificate_authority_data = None;
    }
    if let Some(name) = &args.tls_server_name {
        cluster.tls_server_name = Some(name.clone());
    }
}

/// A token or a certificate given on the command line replaces every other way to prove who one is.
fn replace_user(args: &ConnectionArgs, user: &mut AuthInfo) {
    if let Some(token) = &args.token {
        *user = AuthInfo { token: Some(token.clone().into()), ..AuthInfo::default() };
    }
    if let Some(file) = &args.client_certificate {
        user.client_certificate = Some(file.clone());
        user.client_certificate_data = None;
    }
    if let Some(file) = &args.client_key {
        user.client_key = Some(file.clone());
        user.client_key_data = None;
    }
}

fn unusable(error: &KubeconfigError) -> Error {
    let cause = match error {
        KubeconfigError::LoadClusterOfContext(name) => {
            format!("its context names the cluster \"{name}\", which it lacks")
        }
        other => other.to_string(),
    };
    Error::new(Class::Kubeconfig, "The kubeconfig cannot be used")
        .why(cause)
        .next("look at it with: kubectl config view")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
apiVersion: v1
kind: Config
current-context: one
clusters:
- {name: c1, cluster: {server: "https://127.0.0.1:1", certificate-authority-data: "eA=="}}
- {name: c2, cluster: {server: "https://127.0.0.1:2"}}
users:
- {name: u1, user: {token: old, client-certificate-data: "eA=="}}
contexts:
- {name: one, context: {cluster: c1, user: u1, namespace: here}}
- {name: two, context: {cluster: c2, user: u1}}
"#;

    fn kubeconfig() -> Kubeconfig {
        Kubeconfig::from_yaml(TEXT).unwrap()
    }

    #[test]
    fn a_wrong_context_is_answered_with_the_right_ones() {
        let args = ConnectionArgs { context: Some("three".into()), ..ConnectionArgs::default() };
        let error = select(&args, &mut kubeconfig()).err().unwrap();
        assert_eq!(error.what, "The kubeconfig has no context \"three\"");
        assert_eq!(error.why.unwrap(), "it has: one, two");
    }

    #[test]
    fn flags_replace_what_the_context_says() {
        let args = ConnectionArgs {
            server: Some("https://127.0.0.1:3".into()),
            token: Some("new".into()),
            insecure_skip_tls_verify: true,
            ..ConnectionArgs::default()
        };
        let mut kubeconfig = kubeconfig();
        let options = select(&args, &mut kubeconfig).unwrap();
        replace(&args, &mut kubeconfig, &options);
        let cluster = kubeconfig.clusters[0].cluster.as_ref().unwrap();
        assert_eq!(cluster.server.as_deref(), Some("https://127.0.0.1:3"));
        assert!(cluster.certificate_authority_data.is_none());
        let user = kubeconfig.auth_infos[0].auth_info.as_ref().unwrap();
        assert!(user.client_certificate_data.is_none() && user.token.is_some());
    }

    #[tokio::test]
    async fn a_server_and_a_token_alone_are_enough() {
        let args = ConnectionArgs {
            server: Some("https://127.0.0.1:3".into()),
            token: Some("t".into()),
            ..ConnectionArgs::default()
        };
        let mut kubeconfig = Kubeconfig::default();
        let options = select(&args, &mut kubeconfig).unwrap();
        replace(&args, &mut kubeconfig, &options);
        let config = Config::from_custom_kubeconfig(kubeconfig, &options).await.unwrap();
        assert_eq!(config.cluster_url.to_string(), "https://127.0.0.1:3/");
        assert_eq!(config.default_namespace, "default");
    }
}
