//! The Roles of `deploy/rbac`, right by right: everything an identity may do in its namespace is listed here, and the API
//! server is asked about everything else, too.

use std::collections::BTreeSet;

use testenv::TestNamespace;
use trusted_crds::GROUP;

use crate::support::{Reviewer, may, namespace};

const KINDS: [&str; 4] = ["trustedexecutionclusters", "machines", "attestationkeys", "approvedimages"];
const READ: [&str; 3] = ["get", "list", "watch"];
const CHILD: [&str; 6] = ["get", "list", "watch", "create", "patch", "delete"];
const VERBS: [&str; 14] = [
    "get",
    "list",
    "watch",
    "create",
    "update",
    "patch",
    "delete",
    "deletecollection",
    "approve",
    "restore-approval",
    "purge",
    "bind",
    "escalate",
    "impersonate",
];
const OTHERS: [(&str, &str); 22] = [
    ("", "secrets"),
    ("", "configmaps"),
    ("", "services"),
    ("", "pods"),
    ("", "pods/exec"),
    ("", "pods/log"),
    ("", "events"),
    ("", "serviceaccounts"),
    ("", "serviceaccounts/token"),
    ("", "users"),
    ("", "groups"),
    ("apps", "deployments"),
    ("apps", "deployments/finalizers"),
    ("apps", "deployments/scale"),
    ("apps", "statefulsets"),
    ("batch", "jobs"),
    ("batch", "cronjobs"),
    ("coordination.k8s.io", "leases"),
    ("events.k8s.io", "events"),
    ("networking.k8s.io", "networkpolicies"),
    ("rbac.authorization.k8s.io", "roles"),
    ("rbac.authorization.k8s.io", "rolebindings"),
];

/// Rights as (verb, group, resource).
#[derive(Default)]
struct Rights(BTreeSet<(String, String, String)>);

impl Rights {
    fn and(mut self, group: &str, resource: &str, verbs: &[&str]) -> Rights {
        self.0.extend(verbs.iter().map(|verb| ((*verb).to_owned(), group.to_owned(), resource.to_owned())));
        self
    }

    fn on_kinds(self, suffix: &str, verbs: &[&str]) -> Rights {
        KINDS.iter().fold(self, |rights, kind| rights.and(GROUP, &format!("{kind}{suffix}"), verbs))
    }

    fn read_events_and_deployments(self) -> Rights {
        self.and("apps", "deployments", &READ).and("", "events", &READ).and("events.k8s.io", "events", &READ)
    }
}

/// Asks about every verb on every resource.
async fn assert_exactly(namespace: &TestNamespace, user: &str, expected: Rights) {
    let mut resources: Vec<(&str, String)> =
        OTHERS.iter().map(|(group, resource)| (*group, (*resource).to_owned())).collect();
    for kind in KINDS {
        resources.extend(
            ["", "/status", "/finalizers", "/scale"].map(|suffix| (GROUP, format!("{kind}{suffix}"))),
        );
    }
    let reviewer = Reviewer::of(namespace);
    let mut found = BTreeSet::new();
    for (group, resource) in &resources {
        for verb in VERBS {
            if may(&reviewer, user, verb, (group, resource), None).await {
                found.insert((verb.to_owned(), (*group).to_owned(), resource.clone()));
            }
        }
    }
    let missing: Vec<_> = expected.0.difference(&found).collect();
    let excess: Vec<_> = found.difference(&expected.0).collect();
    assert!(missing.is_empty() && excess.is_empty(), "{user}: missing {missing:?}, not wanted {excess:?}");
}

#[tokio::test]
async fn operator() {
    let namespace = namespace("rights-operator").await;
    let user = namespace.service_account_user("trusted-operator");
    let expected = Rights::default()
        .on_kinds("", &["list", "watch"])
        .and(GROUP, "attestationkeys", &["patch", "delete"])
        .and(GROUP, "machines", &["patch"])
        .and(GROUP, "approvedimages", &["patch"])
        .and("", "secrets", &CHILD)
        .and("", "configmaps", &CHILD)
        .and("", "services", &CHILD)
        .and("apps", "deployments", &CHILD)
        .and("events.k8s.io", "events", &["create", "patch"])
        // The one Lease it takes is a right of its own, by name; rights_in_use.rs uses it.
        .and("coordination.k8s.io", "leases", &["create"]);
    let written = ["trustedexecutionclusters", "machines", "attestationkeys"];
    let expected = written.iter().fold(expected, |rights, kind| {
        rights.and(GROUP, &format!("{kind}/status"), &["patch"]).and(
            GROUP,
            &format!("{kind}/finalizers"),
            &["update"],
        )
    });
    assert_exactly(&namespace, &user, expected).await;
}

#[tokio::test]
async fn front_ends() {
    let namespace = namespace("rights-register").await;
    for (account, kind) in [("register-machine", "machines"), ("register-attestation-key", "attestationkeys")]
    {
        let expected = Rights::default()
            .and(GROUP, "trustedexecutionclusters", &["list"])
            .and(GROUP, "trustedexecutionclusters/finalizers", &["update"])
            .and(GROUP, kind, &["create"]);
        assert_exactly(&namespace, &namespace.service_account_user(account), expected).await;
    }
}

#[tokio::test]
async fn viewer() {
    let namespace = namespace("rights-viewer").await;
    let expected = Rights::default().on_kinds("", &READ).read_events_and_deployments();
    assert_exactly(&namespace, "viewer", expected).await;
}

#[tokio::test]
async fn editor() {
    let namespace = namespace("rights-editor").await;
    let expected = Rights::default()
        .on_kinds("", &READ)
        .on_kinds("", &["create", "update", "patch", "delete"])
        .read_events_and_deployments();
    assert_exactly(&namespace, "editor", expected).await;
}

#[tokio::test]
async fn approver() {
    let namespace = namespace("rights-approver").await;
    let expected = Rights::default()
        .on_kinds("", &READ)
        .and(GROUP, "attestationkeys", &["patch", "approve"])
        .and(GROUP, "trustedexecutionclusters", &["approve"])
        .read_events_and_deployments();
    assert_exactly(&namespace, "approver", expected).await;
}

#[tokio::test]
async fn backup() {
    let namespace = namespace("rights-backup").await;
    let expected = Rights::default()
        .on_kinds("", &["get", "list", "watch", "create"])
        .and("", "secrets", &["get", "list", "watch", "create"])
        .and(GROUP, "attestationkeys", &["restore-approval"]);
    let with_status = ["machines", "attestationkeys", "approvedimages"];
    let expected = with_status
        .iter()
        .fold(expected, |rights, kind| rights.and(GROUP, &format!("{kind}/status"), &["get", "update"]));
    assert_exactly(&namespace, "backup", expected).await;
}

#[tokio::test]
async fn purger() {
    let namespace = namespace("rights-purger").await;
    let expected = Rights::default().and(GROUP, "machines", &["get", "list", "watch", "purge"]).and(
        "",
        "secrets",
        &["get", "list", "watch", "delete"],
    );
    assert_exactly(&namespace, "purger", expected).await;
}

#[tokio::test]
async fn auditor_and_nobody() {
    let namespace = namespace("rights-nobody").await;
    assert_exactly(&namespace, "auditor", Rights::default()).await;
    assert_exactly(&namespace, "nobody", Rights::default()).await;
}

/// Rights hold in the namespace of the RoleBinding and nowhere else.
#[tokio::test]
async fn rights_end_at_the_namespace() {
    let here = namespace("rights-here").await;
    let there = namespace("rights-there").await;
    let user = there.service_account_user("trusted-operator");
    let reviewer = Reviewer::of(&here);
    for resource in [("", "secrets"), ("", "configmaps"), (GROUP, "machines")] {
        assert!(!may(&reviewer, &user, "get", resource, None).await, "{resource:?} of another namespace");
    }
}
