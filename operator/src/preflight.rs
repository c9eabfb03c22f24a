//! Asks, before anything is started, whether the operator can work here at all, so that a person reads what is
//! missing and not the hundredth retry of a watch.

use cachelib::Cause;
use k8s_openapi::api::authorization::v1::{ResourceRule, SelfSubjectRulesReview, SelfSubjectRulesReviewSpec};
use kube::Client;
use kube::api::{Api, PostParams};
use trusted_crds::{API_VERSION, GROUP};

use crate::error::INSTALL;
use crate::lease::LEASE;

/// A right the operator cannot work without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Right {
    pub group: &'static str,
    /// Resource, or `resource/subresource`.
    pub resource: &'static str,
    pub verbs: &'static [&'static str],
}

const WATCH: &[&str] = &["list", "watch"];
const CHILDREN: &[&str] = &["list", "watch", "create", "patch", "get", "delete"];
/// OwnerReferencesPermissionEnforcement, where it is in force, asks for these before it lets us name an owner that
/// blocks deletion, or take a key from one owner to another.
const FINALIZERS: &[&str] = &["update"];

/// What the Role in deploy/rbac grants: everything `run` depends on, and nothing else.
pub const RIGHTS: &[Right] = &[
    Right { group: GROUP, resource: "trustedexecutionclusters", verbs: WATCH },
    Right { group: GROUP, resource: "machines", verbs: &["list", "watch", "patch"] },
    Right { group: GROUP, resource: "attestationkeys", verbs: &["list", "watch", "patch", "delete"] },
    Right { group: GROUP, resource: "approvedimages", verbs: &["list", "watch", "patch"] },
    Right { group: GROUP, resource: "trustedexecutionclusters/status", verbs: &["patch"] },
    Right { group: GROUP, resource: "machines/status", verbs: &["patch"] },
    Right { group: GROUP, resource: "attestationkeys/status", verbs: &["patch"] },
    Right { group: GROUP, resource: "trustedexecutionclusters/finalizers", verbs: FINALIZERS },
    Right { group: GROUP, resource: "machines/finalizers", verbs: FINALIZERS },
    Right { group: GROUP, resource: "attestationkeys/finalizers", verbs: FINALIZERS },
    Right { group: "", resource: "secrets", verbs: &["get", "list", "watch", "create", "patch", "delete"] },
    Right { group: "", resource: "configmaps", verbs: CHILDREN },
    Right { group: "", resource: "services", verbs: CHILDREN },
    Right { group: "apps", resource: "deployments", verbs: CHILDREN },
    Right { group: "events.k8s.io", resource: "events", verbs: &["create", "patch"] },
    Right { group: "coordination.k8s.io", resource: "leases", verbs: &["get", "watch", "create", "patch"] },
];

/// Why the operator cannot start.
#[derive(Debug, thiserror::Error)]
pub enum PreflightError {
    /// No connection.
    #[error(
        "the API server at {server} cannot be reached: {cause}. Check the address in the kubeconfig, and the network"
    )]
    Unreachable { server: String, cause: String },
    /// The API server does not know us, or there is nothing to tell it who we are.
    #[error("no access to the API server at {server}: {cause}. Renew the token or certificate")]
    Unauthenticated { server: String, cause: String },
    /// No definition of our kinds.
    #[error("{API_VERSION} is not installed in this cluster{}: run `{INSTALL}` as an administrator", kinds(.missing))]
    NotInstalled { missing: Vec<&'static str> },
    /// Rights are missing.
    #[error("rights are missing in namespace {namespace}: {}. Apply deploy/rbac to it and run as ServiceAccount trusted-operator", .missing.join("; "))]
    Forbidden { namespace: String, missing: Vec<String> },
    /// Anything else.
    #[error("the API server at {server} did not answer {what}: {cause}. {remedy}")]
    Failed { server: String, what: &'static str, cause: Cause, remedy: &'static str },
}

fn kinds(missing: &[&'static str]) -> String {
    if missing.is_empty() { String::new() } else { format!(" ({} missing)", missing.join(", ")) }
}

/// Asks for the version, for our kinds and for our rights in `namespace`; `server` is named in errors.
pub async fn check(client: &Client, server: &str, namespace: &str) -> Result<(), PreflightError> {
    let version = client.apiserver_version().await.map_err(|error| VERSION.failed(&error, server))?;
    tracing::info!(server, version = version.git_version, namespace, "API server reached");
    installed(client, server).await?;
    permitted(client, server, namespace).await
}

/// One question to the API server.
struct Question {
    /// As errors name it.
    what: &'static str,
    verb: &'static str,
    resource: &'static str,
}

const VERSION: Question = Question { what: "GET /version", verb: "get", resource: "/version" };
const KINDS: Question =
    Question { what: "the question which kinds it serves", verb: "list", resource: API_VERSION };
const RULES: Question = Question {
    what: "the question for our rights",
    verb: "create",
    resource: "selfsubjectrulesreviews.authorization.k8s.io",
};

impl Question {
    fn failed(&self, error: &kube::Error, server: &str) -> PreflightError {
        let server = server.to_owned();
        match Cause::of(error, self.verb, self.resource, None) {
            Cause::NotInstalled => PreflightError::NotInstalled { missing: Vec::new() },
            Cause::Unauthenticated(cause) => PreflightError::Unauthenticated { server, cause },
            Cause::Unreachable(cause) => PreflightError::Unreachable { server, cause },
            cause => {
                let remedy = remedy(&cause);
                PreflightError::Failed { server, what: self.what, cause, remedy }
            }
        }
    }
}

fn remedy(cause: &Cause) -> &'static str {
    match cause {
        Cause::Forbidden { .. } => {
            "Bind ClusterRoles system:discovery and system:basic-user to us, which every cluster has by default"
        }
        Cause::Malformed(_) => {
            "Check that the address in the kubeconfig is that of an API server, not of a proxy"
        }
        _ => "Try again, and look at the API server if it stays so",
    }
}

async fn installed(client: &Client, server: &str) -> Result<(), PreflightError> {
    const NAMES: [&str; 4] = ["trustedexecutionclusters", "machines", "attestationkeys", "approvedimages"];
    let served = client.list_api_group_resources(API_VERSION).await;
    let served = served.map_err(|error| KINDS.failed(&error, server))?;
    let is_served = |kind: &&str| served.resources.iter().any(|resource| resource.name == **kind);
    let missing: Vec<&str> = NAMES.into_iter().filter(|kind| !is_served(kind)).collect();
    if missing.is_empty() { Ok(()) } else { Err(PreflightError::NotInstalled { missing }) }
}

async fn permitted(client: &Client, server: &str, namespace: &str) -> Result<(), PreflightError> {
    let review = SelfSubjectRulesReview {
        spec: SelfSubjectRulesReviewSpec { namespace: Some(namespace.to_owned()) },
        ..Default::default()
    };
    let answer = Api::all(client.clone()).create(&PostParams::default(), &review).await;
    let answer: SelfSubjectRulesReview = answer.map_err(|error| RULES.failed(&error, server))?;
    let status = answer.status.unwrap_or_default();
    let missing = missing(&status.resource_rules);
    match (missing.is_empty(), status.incomplete) {
        (true, _) => Ok(()),
        // Authorizers other than RBAC cannot list rules; a right that is really missing shows at its first use.
        (false, true) => {
            tracing::warn!(missing = missing.join("; "), "the API server cannot list all our rights");
            Ok(())
        }
        (false, false) => Err(PreflightError::Forbidden { namespace: namespace.to_owned(), missing }),
    }
}

/// The rights that no rule grants, each as a person would ask for it.
fn missing(rules: &[ResourceRule]) -> Vec<String> {
    let matches = |list: &Option<Vec<String>>, wanted: &str| {
        list.as_ref().is_some_and(|list| list.iter().any(|item| item == wanted || item == "*"))
    };
    let granted = |right: &Right, verb: &str| {
        rules.iter().any(|rule| {
            // A rule for single objects grants nothing but on these; the one object we know by name is the Lease.
            let names = rule.resource_names.as_deref().unwrap_or_default();
            let covers =
                names.is_empty() || (right.resource == "leases" && names.iter().any(|name| name == LEASE));
            let verbs = Some(rule.verbs.clone());
            covers
                && matches(&verbs, verb)
                && matches(&rule.api_groups, right.group)
                && matches(&rule.resources, right.resource)
        })
    };
    let missing_verbs = |right: &Right| -> Vec<&str> {
        right.verbs.iter().copied().filter(|verb| !granted(right, verb)).collect()
    };
    RIGHTS
        .iter()
        .map(|right| (right, missing_verbs(right)))
        .filter(|(_, verbs)| !verbs.is_empty())
        .map(|(right, verbs)| {
            let group = if right.group.is_empty() { String::new() } else { format!(".{}", right.group) };
            format!("{} {}{group}", verbs.join(","), right.resource)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use k8s_openapi::api::rbac::v1::{PolicyRule, Role};

    use super::*;

    /// What an administrator applies.
    const MANIFEST: &str = include_str!("../../deploy/rbac/operator.yaml");

    #[test]
    fn each_failure_has_words_and_a_remedy_of_its_own() {
        let status = |code| {
            let status = kube::core::Status { code, message: "hunter2".into(), ..Default::default() };
            kube::Error::Api(status.boxed())
        };
        let broken = serde_json::from_str::<Vec<u8>>("[\"hunter2\"]").unwrap_err();
        let away = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
        let cases = [
            (status(401), "no access to the API server at https://s: "),
            (
                kube::Error::Auth(kube::client::AuthError::AuthExec("no token".into())),
                "no access to the API server",
            ),
            (kube::Error::Service(Box::new(away)), "the API server at https://s cannot be reached: "),
            (status(404), "is not installed in this cluster: run `kubectl apply -k deploy`"),
            (status(403), "forbidden: this user may not list trusted-execution-clusters.io/v1alpha1"),
            (status(503), "the API server failed with HTTP 503. Try again"),
            (kube::Error::SerdeError(broken), "malformed: "),
        ];
        for (error, words) in cases {
            let text = KINDS.failed(&error, "https://s").to_string();
            assert!(text.contains(words), "{text}");
            assert!(!text.contains("hunter2"), "{text}");
        }
    }

    fn rule(groups: &[&str], resources: &[&str], verbs: &[&str]) -> ResourceRule {
        let owned = |list: &[&str]| list.iter().map(|item| (*item).to_owned()).collect::<Vec<_>>();
        ResourceRule {
            api_groups: Some(owned(groups)),
            resources: Some(owned(resources)),
            resource_names: None,
            verbs: owned(verbs),
        }
    }

    #[test]
    fn missing_rights_are_named_as_a_person_would_ask_for_them() {
        let all = rule(&["*"], &["*"], &["*"]);
        assert_eq!(missing(std::slice::from_ref(&all)), Vec::<String>::new());
        let but_patch: Vec<ResourceRule> = RIGHTS
            .iter()
            .map(|right| {
                let verbs: Vec<&str> = right.verbs.iter().copied().filter(|verb| *verb != "patch").collect();
                rule(&[right.group], &[right.resource], &verbs)
            })
            .collect();
        let missing = missing(&but_patch);
        assert!(missing.contains(&format!("patch attestationkeys.{GROUP}")), "{missing:?}");
        assert!(missing.contains(&"patch secrets".to_owned()), "{missing:?}");
        assert!(missing.iter().all(|right| right.starts_with("patch ")), "{missing:?}");
    }

    fn granted_by(rule: PolicyRule) -> ResourceRule {
        let PolicyRule { api_groups, resources, resource_names, verbs, .. } = rule;
        ResourceRule { api_groups, resources, resource_names, verbs }
    }

    fn granted() -> Vec<PolicyRule> {
        let is_role = |document: &&str| document.contains("\nkind: Role\n");
        let role = MANIFEST.split("---\n").find(is_role).unwrap();
        let role: Role = serde_saphyr::from_str(role).unwrap();
        role.rules.unwrap()
    }

    #[test]
    fn the_role_we_ask_administrators_to_apply_grants_every_right() {
        let rules: Vec<ResourceRule> = granted().into_iter().map(granted_by).collect();
        assert!(!rules.is_empty());
        assert_eq!(missing(&rules), Vec::<String>::new());
    }

    #[test]
    fn that_role_grants_nothing_else() {
        let asked_for: BTreeSet<(&str, &str, &str)> = RIGHTS
            .iter()
            .flat_map(|right| right.verbs.iter().map(|verb| (right.group, right.resource, *verb)))
            .collect();
        let rules = granted();
        let mut found = BTreeSet::new();
        for rule in &rules {
            for group in rule.api_groups.iter().flatten() {
                for resource in rule.resources.iter().flatten() {
                    found.extend(
                        rule.verbs.iter().map(|verb| (group.as_str(), resource.as_str(), verb.as_str())),
                    );
                }
            }
            // The name of an object that is about to be made is not looked at.
            if rule.resources.iter().flatten().any(|resource| resource == "leases")
                && rule.verbs != ["create"]
            {
                assert_eq!(rule.resource_names.as_deref(), Some(&[LEASE.to_owned()][..]), "one Lease alone");
            }
            assert!(rule.non_resource_urls.is_none());
        }
        assert_eq!(found, asked_for);
    }

    #[test]
    fn rights_that_are_used_seldom_are_asked_for_at_once() {
        let missing = missing(&[]);
        for resource in ["trustedexecutionclusters", "machines", "attestationkeys"] {
            let right = format!("update {resource}/finalizers.{GROUP}");
            assert!(missing.contains(&right), "{right} is not in {missing:?}");
        }
        let deletes = |resource: &str| {
            missing.iter().any(|right| {
                right.split_once(' ').is_some_and(|(verbs, of)| {
                    of == resource && verbs.split(',').any(|verb| verb == "delete")
                })
            })
        };
        let keys = format!("attestationkeys.{GROUP}");
        for resource in ["configmaps", "services", "deployments.apps", "secrets", &keys] {
            assert!(deletes(resource), "delete {resource} is not in {missing:?}");
        }
    }

    #[test]
    fn a_right_on_single_objects_is_none_on_all() {
        let mut some = rule(&["*"], &["*"], &["*"]);
        some.resource_names = Some(vec!["one".into()]);
        assert_eq!(missing(std::slice::from_ref(&some)).len(), RIGHTS.len());
        some.resource_names = Some(vec![LEASE.into()]);
        assert_eq!(missing(&[some]).len(), RIGHTS.len() - 1, "the Lease is known by name");
    }
}
