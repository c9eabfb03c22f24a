//! Where the requests of an account go so far, so that they go there still; pure.

use k8s_openapi::api::flowcontrol::v1::{
    FlowDistinguisherMethod, FlowSchema, FlowSchemaSpec, PolicyRulesWithSubjects, ResourcePolicyRule, Subject,
};
use kube::ResourceExt;

use super::object::Account;

/// What is set where a FlowSchema says nothing. Source: the Kubernetes API reference.
const USUAL_PRECEDENCE: i32 = 1000;

/// The priority level whose requests are never held back nor queued: health checks above all.
const EXEMPT: &str = "exempt";

/// How our FlowSchema has to be.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Choice {
    pub(super) level: String,
    pub(super) precedence: i32,
    pub(super) distinguisher: Option<FlowDistinguisherMethod>,
    /// The FlowSchema in whose place it is.
    pub(super) instead_of: String,
}

/// The one that takes all requests of the account today decides level and distinguisher; ours goes before every one that
/// takes some of them, apart from those that are exempt. None where nothing takes them all.
pub(super) fn choose(schemas: &[FlowSchema], account: &Account) -> Option<Choice> {
    let matching = || {
        let specs = schemas.iter().map(|schema| (schema, &schema.spec));
        specs.filter(|(_, spec)| {
            level(spec) != EXEMPT && rules(spec).any(|rules| rules.subjects.iter().any(|it| is(it, account)))
        })
    };
    let takes_all = |spec: &FlowSchemaSpec| {
        let mut mine = rules(spec).filter(|rules| rules.subjects.iter().any(|it| is(it, account)));
        mine.any(|rules| rules.resource_rules.iter().flatten().any(is_everything))
    };
    let all = matching().filter(|(_, spec)| takes_all(spec));
    let (schema, spec) = all.min_by_key(|(schema, spec)| (precedence(spec), schema.name_any()))?;
    let first = matching().map(|(_, spec)| precedence(spec)).min()?;
    Some(Choice {
        level: level(spec).to_owned(),
        precedence: (first - 1).max(1),
        distinguisher: spec.distinguisher_method.clone(),
        instead_of: schema.name_any(),
    })
}

fn level(spec: &FlowSchemaSpec) -> &str {
    &spec.priority_level_configuration.name
}

fn precedence(spec: &FlowSchemaSpec) -> i32 {
    spec.matching_precedence.unwrap_or(USUAL_PRECEDENCE)
}

fn rules(spec: &FlowSchemaSpec) -> impl Iterator<Item = &PolicyRulesWithSubjects> {
    spec.rules.iter().flatten()
}

fn is(subject: &Subject, account: &Account) -> bool {
    let is_user = subject.user.as_ref().is_some_and(|user| user.name == "*" || user.name == account.user());
    let is_group = subject
        .group
        .as_ref()
        .is_some_and(|group| group.name == "*" || account.groups().contains(&group.name));
    let is_account = subject
        .service_account
        .as_ref()
        .is_some_and(|it| it.namespace == account.namespace && (it.name == "*" || it.name == account.name));
    is_user || is_group || is_account
}

fn is_everything(rule: &ResourcePolicyRule) -> bool {
    let all = |list: &[String]| list.iter().any(|one| one == "*");
    all(&rule.verbs)
        && all(&rule.api_groups)
        && all(&rule.resources)
        && rule.namespaces.as_deref().is_some_and(all)
        && rule.cluster_scope == Some(true)
}

#[cfg(test)]
mod tests {
    use super::super::object::parse;
    use super::*;
    use serde_json::{Value, json};

    fn schema(name: &str, precedence: i32, level: &str, subject: &Value, resource: &str) -> FlowSchema {
        serde_json::from_value(json!({
            "metadata": {"name": name},
            "spec": {
                "matchingPrecedence": precedence,
                "priorityLevelConfiguration": {"name": level},
                "distinguisherMethod": {"type": "ByUser"},
                "rules": [{"subjects": [subject], "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"],
                    "resources": [resource], "namespaces": ["*"], "clusterScope": true}]}],
            },
        }))
        .unwrap()
    }

    fn group(name: &str) -> Value {
        json!({"kind": "Group", "group": {"name": name}})
    }

    #[test]
    fn requests_stay_at_their_level() {
        let account =
            json!({"kind": "ServiceAccount", "serviceAccount": {"namespace": "kube-system", "name": "*"}});
        let schemas = [
            schema("exempt", 1, "exempt", &group("system:masters"), "*"),
            schema("probes", 2, "exempt", &group("system:authenticated"), "*"),
            schema("kube-system", 900, "workload-high", &account, "*"),
            schema("leases", 200, "leader-election", &group("system:serviceaccounts"), "leases"),
            schema("service-accounts", 9000, "workload-low", &group("system:serviceaccounts"), "*"),
            schema("catch-all", 10000, "catch-all", &group("system:authenticated"), "*"),
        ];
        let chosen = |text: &str| {
            let choice = choose(&schemas, &parse(text).unwrap()).unwrap();
            (choice.instead_of, choice.level, choice.precedence)
        };
        assert_eq!(chosen("ns/op"), ("service-accounts".into(), "workload-low".into(), 199));
        assert_eq!(chosen("kube-system/op"), ("kube-system".into(), "workload-high".into(), 199));
        assert_eq!(choose(&schemas[..2], &parse("ns/op").unwrap()), None);
    }
}
