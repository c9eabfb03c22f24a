//! Rules about the TrustedExecutionCluster and about Trustee.

use super::{
    Context, Level, ROLLOUT, SETTLING, Say, Subject, Trustee, View, created, explained, since, subject,
    unanswered,
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
    let object = Subject { kind: "Namespace".to_owned(), namespace: namespace.clone(), name: namespace };
    context.found(
        level,
        object,
        Say {
            reason: "NoCluster",
            message: message.to_owned(),
            since: None,
            next: "kubectl trusted status -A".to_owned(),
        },
    );
}

fn not_served(context: &mut Context<'_, '_>, cluster: &TrustedExecutionCluster) {
    let object = subject(cluster);
    let installed = cluster.condition(INSTALLED);
    let meaning = "only one TrustedExecutionCluster of a namespace is served, and this is not the one";
    let next = format!("kubectl delete trustedexecutioncluster {} -n {}", object.name, object.namespace);
    let say = Say {
        reason: reason::NON_UNIQUE,
        message: installed.map_or_else(|| meaning.to_owned(), |installed| explained(meaning, installed)),
        since: installed.map_or_else(|| created(&cluster.metadata), since),
        next,
    };
    context.found(Level::Warning, object, say);
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
    let say = Say {
        reason: reason::UNINSTALLING,
        message: "the cluster is being deleted: machines are not served any more".to_owned(),
        since: cluster.metadata.deletion_timestamp.as_ref().map(|time| time.0),
        next: format!("kubectl get trusted -n {}", object.namespace),
    };
    context.found(Level::Warning, object, say);
}

fn not_installed_yet(context: &mut Context<'_, '_>, cluster: &TrustedExecutionCluster) {
    let object = subject(cluster);
    let made = created(&cluster.metadata);
    if context.is_overdue(made, SETTLING) {
        let say = unanswered(&object, made);
        context.found(Level::Critical, object, say);
    } else {
        let say = Say {
            reason: reason::INSTALLING,
            message: "the operator is installing what this cluster needs".to_owned(),
            since: made,
            next: format!("kubectl trusted status -n {}", object.namespace),
        };
        context.found(Level::Warning, object, say);
    }
}

fn installing(context: &mut Context<'_, '_>, cluster: &TrustedExecutionCluster, installed: &Condition) {
    let object = subject(cluster);
    let began = since(installed);
    let level = if context.is_overdue(began, ROLLOUT) { Level::Critical } else { Level::Warning };
    let say = Say {
        reason: &installed.reason,
        message: explained("not everything the cluster needs is in place", installed),
        since: began,
        next: format!("kubectl logs deployment/trusted-operator -n {} --tail=50", object.namespace),
    };
    context.found(level, object, say);
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
    let say = Say {
        reason: "TrusteeMissing",
        message: format!("the Deployment {TRUSTEE_DEPLOYMENT} is not there: no machine can attest"),
        since: None,
        next: format!("kubectl logs deployment/trusted-operator -n {} --tail=50", object.namespace),
    };
    context.found(Level::Critical, object, say);
}

fn trustee_down(context: &mut Context<'_, '_>, object: Subject) {
    let say = Say {
        reason: reason::UNAVAILABLE,
        message: "no Trustee pod is available: no machine can attest".to_owned(),
        since: None,
        next: format!("kubectl describe deployment {TRUSTEE_DEPLOYMENT} -n {}", object.namespace),
    };
    context.found(Level::Critical, object, say);
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
    let say = Say { reason: &ready.reason, message: explained(meaning, ready), since: began, next };
    context.found(level, object, say);
}

fn no_address(context: &mut Context<'_, '_>, cluster: &TrustedExecutionCluster, address: &Condition) {
    let object = subject(cluster);
    let next = format!(
        "kubectl patch trustedexecutioncluster {} -n {} --type merge -p \
         '{{\"spec\":{{\"publicTrusteeAddr\":\"HOST:PORT\"}}}}'",
        object.name, object.namespace
    );
    let message = explained("new machines cannot be set up", address);
    context.found(
        Level::Warning,
        object,
        Say { reason: &address.reason, message, since: since(address), next },
    );
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
    context.found(
        Level::Warning,
        object,
        Say { reason: &protected.reason, message, since: since(protected), next },
    );
}
