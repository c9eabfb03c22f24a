//! The FlowSchema itself, and how one of ours is recognised; pure.

use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::flowcontrol::v1::{
    FlowSchema, FlowSchemaSpec, NonResourcePolicyRule, PolicyRulesWithSubjects,
    PriorityLevelConfigurationReference, ResourcePolicyRule, ServiceAccountSubject, Subject,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::{Value, json};
use trusted_crds::names::{MANAGED_BY_LABEL, is_label};

use super::choose::Choice;

/// Who makes them, in labels and managedFields.
pub(super) const MANAGER: &str = "kubectl-trusted";

const PREFIX: &str = "kubectl-trusted-audit-";
const EXPIRES: &str = "trusted-execution-clusters.io/audit-api-calls-expires";
const COUNTS: &str = "trusted-execution-clusters.io/audit-api-calls-counts";

/// How long one is good for without being renewed. Later it was left behind.
const GOOD_FOR: SignedDuration = SignedDuration::from_mins(15);

/// A ServiceAccount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Account {
    pub(super) namespace: String,
    pub(super) name: String,
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ServiceAccount {}/{}", self.namespace, self.name)
    }
}

impl Account {
    /// How the API server calls it. Source: the Kubernetes documentation, "Authenticating".
    pub(super) fn user(&self) -> String {
        format!("system:serviceaccount:{}:{}", self.namespace, self.name)
    }

    /// The groups that it is in.
    pub(super) fn groups(&self) -> [String; 3] {
        [
            "system:authenticated".to_owned(),
            "system:serviceaccounts".to_owned(),
            format!("system:serviceaccounts:{}", self.namespace),
        ]
    }
}

pub(super) fn parse(text: &str) -> std::result::Result<Account, String> {
    match text.split_once(['/', ':']) {
        Some((namespace, name)) if is_label(namespace) && name.split('.').all(is_label) => {
            Ok(Account { namespace: namespace.to_owned(), name: name.to_owned() })
        }
        _ => Err("write NAMESPACE/NAME".to_owned()),
    }
}

/// A name that nothing else has: it is known before it is there, so that it can be removed whatever happens in between.
pub(super) fn new_name() -> String {
    // The keys of each hasher are random; no more is needed of a name.
    format!("{PREFIX}{:016x}", RandomState::new().build_hasher().finish())
}

pub(super) fn schema(name: &str, account: &Account, choice: &Choice, now: Timestamp) -> FlowSchema {
    let all = || vec!["*".to_owned()];
    let rules = PolicyRulesWithSubjects {
        subjects: vec![Subject {
            kind: "ServiceAccount".to_owned(),
            service_account: Some(ServiceAccountSubject {
                namespace: account.namespace.clone(),
                name: account.name.clone(),
            }),
            ..Subject::default()
        }],
        resource_rules: Some(vec![ResourcePolicyRule {
            verbs: all(),
            api_groups: all(),
            resources: all(),
            namespaces: Some(all()),
            cluster_scope: Some(true),
        }]),
        non_resource_rules: Some(vec![NonResourcePolicyRule { verbs: all(), non_resource_urls: all() }]),
    };
    FlowSchema {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            labels: Some([(MANAGED_BY_LABEL.to_owned(), MANAGER.to_owned())].into()),
            annotations: Some(
                [(EXPIRES.to_owned(), expiry(now)), (COUNTS.to_owned(), account.user())].into(),
            ),
            ..ObjectMeta::default()
        },
        spec: FlowSchemaSpec {
            distinguisher_method: choice.distinguisher.clone(),
            matching_precedence: Some(choice.precedence),
            priority_level_configuration: PriorityLevelConfigurationReference { name: choice.level.clone() },
            rules: Some(vec![rules]),
        },
        status: None,
    }
}

pub(super) fn renewal(now: Timestamp) -> Value {
    json!({"metadata": {"annotations": {EXPIRES: expiry(now)}}})
}

fn expiry(now: Timestamp) -> String {
    now.checked_add(GOOD_FOR).unwrap_or(now).to_string()
}

fn annotation<'a>(schema: &'a FlowSchema, name: &str) -> Option<&'a str> {
    schema.metadata.annotations.as_ref()?.get(name).map(String::as_str)
}

pub(super) fn is_ours(schema: &FlowSchema) -> bool {
    let labels = schema.metadata.labels.as_ref();
    let name = schema.metadata.name.as_deref().unwrap_or_default();
    let is_managed = labels.and_then(|labels| labels.get(MANAGED_BY_LABEL)).is_some_and(|by| by == MANAGER);
    is_managed && name.starts_with(PREFIX) && annotation(schema, COUNTS).is_some()
}

/// Whether nobody renews it. One whose time cannot be read is nobody's either.
pub(super) fn is_left_behind(schema: &FlowSchema, now: Timestamp) -> bool {
    let expires = annotation(schema, EXPIRES).and_then(|text| text.parse::<Timestamp>().ok());
    expires.is_none_or(|expires| expires < now)
}

pub(super) fn is_for(schema: &FlowSchema, account: &Account) -> bool {
    annotation(schema, COUNTS) == Some(&*account.user())
}

/// Whether its priority level is missing; unknown until the API server acts by it.
pub(super) fn dangles(schema: &FlowSchema) -> Option<bool> {
    let mut conditions = schema.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let dangling = conditions.find(|condition| condition.type_ == "Dangling")?;
    Some(dangling.status.as_deref() == Some("True"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_behind_is_recognised_by_its_time() {
        let now: Timestamp = "2026-11-30T18:00:00Z".parse().unwrap();
        let account = parse("ns/op").unwrap();
        let choice = Choice {
            level: "workload-low".into(),
            precedence: 8999,
            distinguisher: None,
            instead_of: "service-accounts".into(),
        };
        let made = schema(&new_name(), &account, &choice, now);
        assert!(is_ours(&made) && is_for(&made, &account) && !is_for(&made, &parse("ns/other").unwrap()));
        let later = |minutes| now.checked_add(SignedDuration::from_mins(minutes)).unwrap();
        assert!(!is_left_behind(&made, later(14)) && is_left_behind(&made, later(16)));
        let mut foreign = made.clone();
        foreign.metadata.name = Some("somebody-elses".into());
        assert!(!is_ours(&foreign));
        assert_ne!(new_name(), new_name());
    }

    #[test]
    fn accounts_are_written_with_their_namespace() {
        assert_eq!(parse("a/b").unwrap().user(), "system:serviceaccount:a:b");
        for wrong in ["a", "/b", "a/", "a/b/c", "A/b"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
