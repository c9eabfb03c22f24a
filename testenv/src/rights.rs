//! Waits until the Roles of a new namespace are in force.
//!
//! Purpose: the API server's authorizer sees a new RoleBinding a moment after it was created; a test that was faster
//! would be refused once in a while.

use std::time::Duration;

use k8s_openapi::api::{
    authorization::v1::{ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec},
    rbac::v1::{PolicyRule, Role, RoleBinding, Subject},
};
use kube::{
    Api, Client,
    api::{DynamicObject, PostParams},
};
use serde::de::DeserializeOwned;

use crate::{Error, eventually::poll};

const TIMEOUT: Duration = Duration::from_secs(10);

/// Waits until every subject of every RoleBinding among `objects` may do the first thing that its Role allows.
pub(crate) async fn wait_until_granted(
    client: &Client,
    namespace: &str,
    objects: &[DynamicObject],
) -> Result<(), Error> {
    let roles: Vec<Role> = all_of(objects, "Role");
    let bindings: Vec<RoleBinding> = all_of(objects, "RoleBinding");
    let specs = bindings.iter().flat_map(|binding| {
        let role = roles.iter().find(|role| role.metadata.name.as_ref() == Some(&binding.role_ref.name));
        let rule = role.and_then(|role| role.rules.as_ref()).and_then(|rules| rules.first());
        let subjects = binding.subjects.iter().flatten();
        subjects.filter_map(move |subject| Some(question(namespace, subject, rule?)))
    });
    futures::future::try_join_all(specs.map(|spec| granted(client, spec))).await.map(|_| ())
}

fn all_of<T: kube::Resource + DeserializeOwned>(objects: &[DynamicObject], kind: &str) -> Vec<T> {
    let of_kind = |object: &&DynamicObject| object.types.as_ref().is_some_and(|types| types.kind == kind);
    objects.iter().filter(of_kind).filter_map(|object| object.clone().try_parse().ok()).collect()
}

fn question(namespace: &str, subject: &Subject, rule: &PolicyRule) -> SubjectAccessReviewSpec {
    let first = |list: &Option<Vec<String>>| list.as_ref().and_then(|list| list.first()).cloned();
    let user = match subject.kind.as_str() {
        "ServiceAccount" => format!("system:serviceaccount:{namespace}:{}", subject.name),
        _ => subject.name.clone(),
    };
    // A rule may name a subresource (`machines/status`) or single objects; the question has fields for both.
    let resource = first(&rule.resources).unwrap_or_default();
    let (resource, subresource) = resource.split_once('/').unwrap_or((resource.as_str(), ""));
    SubjectAccessReviewSpec {
        user: Some(user),
        resource_attributes: Some(ResourceAttributes {
            namespace: Some(namespace.to_owned()),
            group: first(&rule.api_groups),
            resource: Some(resource.to_owned()),
            subresource: Some(subresource.to_owned()),
            name: first(&rule.resource_names),
            verb: rule.verbs.first().cloned(),
            ..ResourceAttributes::default()
        }),
        ..SubjectAccessReviewSpec::default()
    }
}

async fn granted(client: &Client, spec: SubjectAccessReviewSpec) -> Result<(), Error> {
    let reviews: Api<SubjectAccessReview> = Api::all(client.clone());
    let what = format!("the rights of {} to be in force", spec.user.as_deref().unwrap_or_default());
    let review = SubjectAccessReview { spec, ..SubjectAccessReview::default() };
    poll(&what, TIMEOUT, || async {
        let answer =
            reviews.create(&PostParams::default(), &review).await.map_err(|error| error.to_string())?;
        match answer.status {
            Some(status) if status.allowed => Ok(()),
            status => Err(format!("{status:?}")),
        }
    })
    .await
}
