//! Which TrustedExecutionCluster of the namespace is served. Pure but for the stores it is told of.

use std::sync::Arc;

use cachelib::Cache;
use trusted_crds::TrustedExecutionCluster;

use crate::child::ChildKind;
use crate::context::{Caches, index};

/// The served cluster, which may be on its way out: the one that owns children, and only when none does the
/// oldest that is not being deleted.
pub fn served(caches: &Caches) -> Option<Arc<TrustedExecutionCluster>> {
    choose(&caches.clusters.list(), |uid| owns_children(caches, uid))
}

/// The served cluster once it owns children and unless it is being deleted. Whoever is not the cluster controller
/// goes by this one, so that only that controller ever makes the choice.
pub fn established(caches: &Caches) -> Option<Arc<TrustedExecutionCluster>> {
    let cluster = served(caches)?;
    let uid = cluster.metadata.uid.as_deref()?;
    (cluster.metadata.deletion_timestamp.is_none() && owns_children(caches, uid)).then_some(cluster)
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
    fn any<K: ChildKind>(store: &Cache<K>, uid: &str) -> bool {
        !store.by_index(index::OWNER, uid).is_empty()
    }
    any(&caches.services, uid) || any(&caches.deployments, uid) || any(&caches.config_maps, uid)
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

    #[test]
    fn a_leaving_cluster_is_served_until_its_children_are_gone() {
        let all = [cluster("a", 10, true), cluster("b", 20, false)];
        assert_eq!(chosen(&all, &["a"]).as_deref(), Some("a"));
        assert_eq!(chosen(&all, &[]).as_deref(), Some("b"));
        assert_eq!(chosen(&all[..1], &[]), None, "one without children that is being deleted is not served");
    }
}
