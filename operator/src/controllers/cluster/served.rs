//! Which TrustedExecutionCluster of the namespace is served. Pure but for the stores it is told of.

use std::sync::Arc;

use trusted_crds::TrustedExecutionCluster;

use crate::context::{Caches, Context};
use crate::facts::ServedCluster;

/// The served cluster, which may be on its way out: the one that owns children, and only when none does the
/// oldest that is not being deleted.
pub fn served(caches: &Caches) -> Option<Arc<TrustedExecutionCluster>> {
    choose(&caches.clusters.list(), |uid| owns_children(caches, uid))
}

/// Tells the others which cluster is established. Called on every pass, and once the stores are complete.
pub fn publish(ctx: &Context) {
    let cluster = served(&ctx.caches);
    let owns = |cluster: &TrustedExecutionCluster| {
        cluster.metadata.uid.as_deref().is_some_and(|uid| owns_children(&ctx.caches, uid))
    };
    ctx.facts.update_served_cluster(|told| to_tell(told, cluster.as_deref(), owns));
}

/// Tells the others that no cluster is established, if they were told nothing yet: the pass that was to make its
/// children could make none of them.
pub fn give_up(ctx: &Context) {
    ctx.facts.update_served_cluster(|told| match told {
        ServedCluster::NotYet => ServedCluster::None,
        told => told.clone(),
    });
}

/// What to tell, given what was told before and which cluster is served. Children that are still being made, or that
/// somebody deleted all at once, are no reason to tell anything new.
fn to_tell(
    told: &ServedCluster,
    served: Option<&TrustedExecutionCluster>,
    owns: impl Fn(&TrustedExecutionCluster) -> bool,
) -> ServedCluster {
    let Some(cluster) = served.filter(|cluster| cluster.metadata.deletion_timestamp.is_none()) else {
        return ServedCluster::None;
    };
    let uid = cluster.metadata.uid.clone().unwrap_or_default();
    match told {
        ServedCluster::Uid(before) if *before == uid => ServedCluster::Uid(uid),
        _ if owns(cluster) => ServedCluster::Uid(uid),
        ServedCluster::NotYet => ServedCluster::NotYet,
        ServedCluster::None | ServedCluster::Uid(_) => ServedCluster::None,
    }
}

fn choose(
    clusters: &[Arc<TrustedExecutionCluster>],
    owns: impl Fn(&str) -> bool,
) -> Option<Arc<TrustedExecutionCluster>> {
    let age = |cluster: &Arc<TrustedExecutionCluster>| {
        (cluster.metadata.creation_timestamp.clone(), cluster.metadata.uid.clone())
    };
    let is_owner =
        |cluster: &&Arc<TrustedExecutionCluster>| cluster.metadata.uid.as_deref().is_some_and(&owns);
    let owner = clusters.iter().filter(is_owner).min_by_key(|cluster| age(cluster));
    let alive = |cluster: &&Arc<TrustedExecutionCluster>| cluster.metadata.deletion_timestamp.is_none();
    owner.or_else(|| clusters.iter().filter(alive).min_by_key(|cluster| age(cluster))).cloned()
}

fn owns_children(caches: &Caches, uid: &str) -> bool {
    !caches.services_by_owner.get(uid).is_empty()
        || !caches.deployments_by_owner.get(uid).is_empty()
        || !caches.config_maps_by_owner.get(uid).is_empty()
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
    use k8s_openapi::jiff::Timestamp;

    use super::*;

    fn cluster(uid: &str, created: i64, deleting: bool) -> Arc<TrustedExecutionCluster> {
        let time = |second| Time(Timestamp::from_second(second).unwrap());
        let mut cluster = TrustedExecutionCluster::default();
        cluster.metadata.uid = Some(uid.into());
        cluster.metadata.creation_timestamp = Some(time(created));
        cluster.metadata.deletion_timestamp = deleting.then(|| time(created + 1));
        Arc::new(cluster)
    }

    fn chosen(clusters: &[Arc<TrustedExecutionCluster>], owners: &[&str]) -> Option<String> {
        let cluster = choose(clusters, |uid| owners.contains(&uid))?;
        cluster.metadata.uid.clone()
    }

    #[test]
    fn the_owner_of_the_children_is_served_else_the_oldest() {
        let (a, b, c) = (cluster("a", 20, false), cluster("b", 10, false), cluster("c", 10, false));
        let all = [a, c, b];
        assert_eq!(chosen(&all, &[]).as_deref(), Some("b"), "the oldest, of equals the lower uid");
        assert_eq!(chosen(&all, &["a"]).as_deref(), Some("a"), "who owns the children stays");
        assert_eq!(chosen(&all, &["a", "c"]).as_deref(), Some("c"), "of two owners the older");
        assert_eq!(chosen(&[], &["a"]), None);
    }

    fn told(uid: &str) -> ServedCluster {
        ServedCluster::Uid(uid.to_owned())
    }

    #[test]
    fn a_cluster_is_told_of_once_it_owns_children_until_it_leaves() {
        use ServedCluster::{None as Nobody, NotYet};
        let (alive, leaving) = (cluster("a", 10, false), cluster("a", 10, true));
        let (a, b) = (told("a"), told("b"));
        for before in [&NotYet, &Nobody, &a, &b] {
            assert_eq!(to_tell(before, None, |_| true), Nobody, "gone, before: {before:?}");
            assert_eq!(to_tell(before, Some(&leaving), |_| true), Nobody, "leaving, before: {before:?}");
            assert_eq!(to_tell(before, Some(&alive), |_| true), a, "established, before: {before:?}");
        }
        let unestablished = |before| to_tell(before, Some(&alive), |_| false);
        assert_eq!(unestablished(&NotYet), NotYet, "its children are being made");
        assert_eq!(unestablished(&Nobody), Nobody);
        assert_eq!(unestablished(&a), a, "somebody deleted all its children");
        assert_eq!(unestablished(&b), Nobody, "it is another one's turn");
    }

    #[test]
    fn another_cluster_is_told_of_and_nothing_else() {
        let facts = crate::facts::Facts::default();
        let mut told = facts.watch_served_cluster();
        let mut changed = |uid: &str, edit: &dyn Fn(&mut TrustedExecutionCluster)| {
            let mut edited = TrustedExecutionCluster::clone(&cluster(uid, 10, false));
            edit(&mut edited);
            facts.update_served_cluster(|told| to_tell(told, Some(&edited), |_| true));
            let changed = told.has_changed().unwrap();
            let _ = told.borrow_and_update();
            changed
        };
        assert!(changed("a", &|_| {}));
        assert!(!changed("a", &|_| {}));
        assert!(!changed("a", &|cluster| cluster.spec.public_trustee_addr = Some("a:1".into())));
        assert!(changed("b", &|_| {}));
        assert_eq!(facts.served_cluster(), self::told("b"));
    }

    #[test]
    fn a_leaving_cluster_is_served_until_its_children_are_gone() {
        let all = [cluster("a", 10, true), cluster("b", 20, false)];
        assert_eq!(chosen(&all, &["a"]).as_deref(), Some("a"));
        assert_eq!(chosen(&all, &[]).as_deref(), Some("b"));
        assert_eq!(chosen(&all[..1], &[]), None, "one without children that is being deleted is not served");
    }
}
