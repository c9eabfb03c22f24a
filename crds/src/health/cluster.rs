//! Rules about the TrustedExecutionCluster and about Trustee.

use super::{
    Context, Finding, Level, ROLLOUT, SETTLING, Subject, Trustee, View, created, explained, operator_log,
    since, subject, unanswered,
};
use crate::condition::{APPROVAL_PROTECTED, INSTALLED, KNOWN_TRUSTEE_ADDRESS, TRUSTEE_READY, has_status};
use crate::delivery::is_available;
use crate::names::TRUSTEE_DEPLOYMENT;
use crate::{Condition, HasConditions, Status, TrustedExecutionCluster, reason};

pub(super) fn judge(context: &mut Context<'_, '_>) {
    let Some(clusters) = context.view.clusters.clone() else { return };
    if clusters.is_empty() {
        no_cluster(context);
        return;
    }
    let served = served(context.view);
    for cluster in clusters {
        if served.is_some_and(|served| served.metadata.uid == cluster.metadata.uid) {
            judge_served(context, cluster);
        } else {
            not_served(context, cluster);
        }
    }
}

pub(super) fn served<'a>(view: &View<'a>) -> Option<&'a TrustedExecutionCluster> {
    let clusters = view.clusters.as_ref()?;
    if let Trustee::Present(deployment) = view.trustee {
        let owners = || deployment.metadata.owner_references.iter().flatten();
        let owns = |cluster: &&&TrustedExecutionCluster| {
            owners().any(|owner| Some(&owner.uid) == cluster.metadata.uid.as_ref())
        };
        if let Some(owner) = clusters.iter().find(owns) {
            return Some(owner);
        }
    }
    let told_off = |cluster: &TrustedExecutionCluster| {
        cluster.condition(INSTALLED).is_some_and(|installed| installed.reason == reason::NON_UNIQUE)
    };
    clusters
        .iter()
        .copied()
        .min_by_key(|cluster| (told_off(cluster), created(&cluster.metadata), cluster.metadata.uid.clone()))
}

fn no_cluster(context: &mut Context<'_, '_>) {
    context.has_no_cluster = true;
    let namespace = context.namespace().to_owned();
    let (level, message) = if context.is_empty() {
        (Level::Info, "there is no TrustedExecutionCluster here, so there is nothing to judge")
    } else {
        (Level::Critical, "there is no TrustedExecutionCluster here, so no machine is served: create one")
    };
    let next = format!("kubectl apply -n {namespace} -f deploy/samples/cluster.yaml");
    let object = Subject { kind: "Namespace".to_owned(), namespace: namespace.clone(), name: namespace };
    let finding = Finding::new(level, object, "NoCluster", message, next)
        .choice("To see its fields", "kubectl explain trustedexecutioncluster.spec")
        .choice("To look elsewhere", "kubectl trusted status -A");
    context.found(finding);
}

/// The operator's own words leave open which of the two may go.
fn not_served(context: &mut Context<'_, '_>, cluster: &TrustedExecutionCluster) {
    let object = subject(cluster);
    let installed = cluster.condition(INSTALLED);
    let served = served(context.view).and_then(|served| served.metadata.name.as_deref());
    let message = format!(
        "one TrustedExecutionCluster of a namespace is served: {}. This one has no effect and can be deleted",
        served.unwrap_or("another one")
    );
    let began = installed.map_or_else(|| created(&cluster.metadata), since);
    let next = format!("kubectl delete trustedexecutioncluster {} -n {}", object.name, object.namespace);
    let finding = Finding::new(Level::Warning, object, reason::NON_UNIQUE, message, next);
    context.found(finding.since(began));
}

fn judge_served(context: &mut Context<'_, '_>, cluster: &TrustedExecutionCluster) {
    if cluster.metadata.deletion_timestamp.is_some() {
        leaving(context, cluster);
        return;
    }
    match cluster.condition(INSTALLED) {
        None => not_installed_yet(context, cluster),
        Some(installed) if has_status(installed, Status::True) => trustee(context, cluster),
        Some(installed) => installing(context, cluster, installed),
    }
    if let Some(address) = cluster.condition(KNOWN_TRUSTEE_ADDRESS).filter(is_false) {
        no_address(context, cluster, address);
    }
    if let Some(protected) = cluster.condition(APPROVAL_PROTECTED).filter(is_false) {
        unprotected(context, cluster, protected);
    }
}

fn is_false(condition: &&Condition) -> bool {
    has_status(condition, Status::False)
}

fn leaving(context: &mut Context<'_, '_>, cluster: &TrustedExecutionCluster) {
    let object = subject(cluster);
    let began = cluster.metadata.deletion_timestamp.as_ref().map(|time| time.0);
    let next = format!("kubectl get trusted -n {}", object.namespace);
    let message = "the cluster is being deleted: machines are not served any more";
    let finding = Finding::new(Level::Warning, object, reason::UNINSTALLING, message, next);
    context.found(finding.since(began));
}

/// Where no operator has answered for the cluster, none has for anything else: said once for the namespace.
fn not_installed_yet(context: &mut Context<'_, '_>, cluster: &TrustedExecutionCluster) {
    context.is_unanswered = true;
    let object = subject(cluster);
    let made = created(&cluster.metadata);
    if context.is_overdue(made, SETTLING) {
        context.found(unanswered(Level::Critical, object, made));
        return;
    }
    let next = format!(
        "kubectl wait trustedexecutioncluster {} -n {} --for=condition=Installed --timeout=60s",
        object.name, object.namespace
    );
    let message =
        "no operator has looked at this cluster yet; where one serves this namespace, that takes seconds";
    context.found(Finding::new(Level::Warning, object, "NotReconciled", message, next).since(made));
}

fn installing(context: &mut Context<'_, '_>, cluster: &TrustedExecutionCluster, installed: &Condition) {
    let object = subject(cluster);
    let began = since(installed);
    let level = if context.is_overdue(began, ROLLOUT) { Level::Critical } else { Level::Warning };
    let message = explained("not everything the cluster needs is in place", installed);
    let next = operator_log(&object.namespace);
    context.found(Finding::new(level, object, &installed.reason, message, next).since(began));
}

/// What the condition says about Trustee, and whether its Deployment agrees: with the operator away the condition is old.
fn trustee(context: &mut Context<'_, '_>, cluster: &TrustedExecutionCluster) {
    let object = subject(cluster);
    let ready = cluster.condition(TRUSTEE_READY);
    match context.view.trustee {
        Trustee::Absent => trustee_missing(context, object),
        Trustee::Present(deployment)
            if !is_available(deployment) && ready.is_none_or(|ready| !is_false(&ready)) =>
        {
            trustee_down(context, object);
        }
        _ => {
            if let Some(ready) = ready.filter(is_false) {
                trustee_not_ready(context, object, ready);
            }
        }
    }
}

fn trustee_missing(context: &mut Context<'_, '_>, object: Subject) {
    context.lacks_trustee = true;
    let message = format!("the Deployment {TRUSTEE_DEPLOYMENT} is not there: no machine can attest");
    let next = operator_log(&object.namespace);
    context.found(Finding::new(Level::Critical, object, "TrusteeMissing", message, next));
}

fn trustee_down(context: &mut Context<'_, '_>, object: Subject) {
    let message = "no Trustee pod is available: no machine can attest";
    let next = format!("kubectl describe deployment {TRUSTEE_DEPLOYMENT} -n {}", object.namespace);
    context.found(Finding::new(Level::Critical, object, reason::UNAVAILABLE, message, next));
}

fn trustee_not_ready(context: &mut Context<'_, '_>, object: Subject, ready: &Condition) {
    let began = since(ready);
    let namespace = &object.namespace;
    let (level, meaning, next) = match ready.reason.as_str() {
        reason::ROLLING_OUT => (
            context.level_after(began, ROLLOUT),
            "Trustee is being restarted with new keys; those delivered before are served meanwhile",
            format!("kubectl rollout status deployment {TRUSTEE_DEPLOYMENT} -n {namespace}"),
        ),
        reason::TLS_NOT_READY => (
            Level::Critical,
            "a TLS Secret that the cluster names is missing or not complete, so Trustee is not installed",
            format!("kubectl get secrets -n {namespace} --field-selector type=kubernetes.io/tls"),
        ),
        _ => (
            Level::Critical,
            "Trustee does not run: no machine can attest",
            format!("kubectl describe deployment {TRUSTEE_DEPLOYMENT} -n {namespace}"),
        ),
    };
    let message = explained(meaning, ready);
    context.found(Finding::new(level, object, &ready.reason, message, next).since(began));
}

fn no_address(context: &mut Context<'_, '_>, cluster: &TrustedExecutionCluster, address: &Condition) {
    let object = subject(cluster);
    let next = format!(
        "kubectl patch trustedexecutioncluster {} -n {} --type merge -p \
         '{{\"spec\":{{\"publicTrusteeAddr\":\"HOST:PORT\"}}}}'",
        object.name, object.namespace
    );
    let message = explained("new machines cannot be set up", address);
    let finding = Finding::new(Level::Warning, object, &address.reason, message, next);
    context.found(finding.since(since(address)));
}

fn unprotected(context: &mut Context<'_, '_>, cluster: &TrustedExecutionCluster, protected: &Condition) {
    let object = subject(cluster);
    let next = format!(
        "kubectl label namespace {} {}=true",
        object.namespace,
        crate::names::MANAGED_NAMESPACE_LABEL
    );
    let meaning = "approvals by hand have no effect, since nothing keeps others from forging them";
    let message = explained(meaning, protected);
    let finding = Finding::new(Level::Warning, object, &protected.reason, message, next);
    context.found(finding.since(since(protected)));
}
