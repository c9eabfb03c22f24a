//! The form in which children are stored, compared and patched: an object whose long lists are stood for by a hash.
//!
//! Trustee's Deployment mounts one Secret for every key. Such a source takes 150 bytes as text, 700 in its own type and
//! 2 KB as a tree of values; for thousands of machines that was most of the operator's memory. The list is only ever
//! compared as a whole, so its hash does, and the list itself goes into what is sent.

use std::ops::Deref;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Service, VolumeProjection};
use serde_json::Value;
use trusted_crds::Delivered;
use trusted_crds::delivery::secret_files;

use crate::digest::hash_of;
use crate::writer::{Body, Written};

/// A list of which a Deployment may have thousands of entries.
type LongList = Vec<VolumeProjection>;

/// A kind children are of.
pub trait ChildKind: Written<Stored = Folded<Self>> {
    /// The lists that may be long, each with the number of its volume.
    fn long_lists(&mut self) -> Vec<(usize, &mut Option<LongList>)> {
        Vec::new()
    }
}

impl ChildKind for ConfigMap {}
impl ChildKind for Service {}

impl ChildKind for Deployment {
    fn long_lists(&mut self) -> Vec<(usize, &mut Option<LongList>)> {
        let pod = self.spec.template.spec.iter_mut();
        let volumes = pod.flat_map(|pod| pod.volumes.iter_mut().flatten()).enumerate();
        volumes.filter_map(|(index, volume)| Some((index, &mut volume.projected.as_mut()?.sources))).collect()
    }
}

/// An object without its long lists, and what stands for them.
#[derive(Clone, Debug, PartialEq)]
pub struct Folded<K> {
    object: K,
    folds: Vec<Fold>,
}

/// What stands for a long list.
#[derive(Clone, Debug, PartialEq)]
struct Fold {
    /// The number of the volume.
    volume: usize,
    hash: String,
    /// Where its files are mounted, a line each.
    paths: Box<str>,
}

impl<K: ChildKind> Folded<K> {
    /// Folds an object, of whose long lists nothing but the hash is left.
    pub fn of(object: K) -> Self {
        Self::with_lists(object).0
    }

    /// Folds an object and hands out its long lists, in the order of the hashes.
    pub(super) fn with_lists(mut object: K) -> (Self, Vec<LongList>) {
        let (mut folds, mut lists) = (Vec::new(), Vec::new());
        for (volume, list) in object.long_lists() {
            // An empty list is left to the comparison, which knows that the API server leaves it out.
            let Some(full) = list.take_if(|list| !list.is_empty()) else { continue };
            match hash_of(&full) {
                Ok(hash) => {
                    let paths = secret_files(&full).collect::<Vec<_>>().join("\n");
                    folds.push(Fold { volume, hash: format!("list {hash}"), paths: paths.into() });
                    lists.push(full);
                }
                Err(_) => *list = Some(full),
            }
        }
        (Folded { object, folds }, lists)
    }

    /// The object with its long lists, which come as [`with_lists`](Self::with_lists) handed them out.
    pub(super) fn unfolded(&self, lists: &[LongList]) -> K {
        let mut object = self.object.clone();
        for (volume, list) in object.long_lists() {
            let place = self.folds.iter().position(|fold| fold.volume == volume);
            if let Some(full) = place.and_then(|place| lists.get(place)) {
                *list = Some(full.clone());
            }
        }
        object
    }

    pub(super) fn object_mut(&mut self) -> &mut K {
        &mut self.object
    }

    /// The object as a tree of values, in which hashes stand in the places of the lists.
    pub(super) fn document(&self) -> Result<Value, serde_json::Error> {
        let mut document = serde_json::to_value(&self.object)?;
        for Fold { volume, hash, .. } in &self.folds {
            document["spec"]["template"]["spec"]["volumes"][volume]["projected"]["sources"] =
                Value::String(hash.clone());
        }
        Ok(document)
    }

    /// What is sent: a patch of the tree, with the lists in their places.
    pub(super) fn body(&self, patch: Value, lists: &[LongList]) -> Result<Body, serde_json::Error> {
        let hashes = self.folds.iter().map(|fold| fold.hash.clone());
        let texts = lists.iter().map(serde_json::to_string);
        let texts = hashes.zip(texts).map(|(hash, text)| Ok((hash, text?)));
        Ok(Body::with_texts(patch, texts.collect::<Result<_, serde_json::Error>>()?))
    }
}

impl Folded<Deployment> {
    /// What the pod template mounts, as [`Delivered::read`] reads it off the whole Deployment.
    pub fn delivered(&self) -> Delivered {
        let volumes = self.object.spec.template.spec.iter().flat_map(|pod| pod.volumes.iter().flatten());
        let named = |name: &str| volumes.clone().position(|volume| volume.name == name);
        Delivered::of(&self.object, |name| {
            let folds = self.folds.iter().filter(|fold| Some(fold.volume) == named(name));
            folds.flat_map(|fold| fold.paths.lines()).map(str::to_owned).collect()
        })
    }
}

/// Everything but the long lists.
impl<K> Deref for Folded<K> {
    type Target = K;

    fn deref(&self) -> &K {
        &self.object
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use trusted_crds::delivery::{ATTESTATION_KEYS_VOLUME, DISK_KEYS_VOLUME, key_file};

    use super::*;

    fn deployment(sources: &Value) -> Deployment {
        let volumes = json!([
            {"name": "tmp", "emptyDir": {}},
            {"name": "keys", "projected": {"defaultMode": 420, "sources": sources}},
            {"name": "empty", "projected": {"sources": []}},
            {"name": "none", "projected": {}},
        ]);
        let plain = json!({"metadata": {"name": "d"}, "spec": {
            "selector": {}, "template": {"spec": {"containers": [], "volumes": volumes}},
        }});
        serde_json::from_value(plain).unwrap()
    }

    fn source(name: &str) -> Value {
        json!({"secret": {"name": name, "items": [{"key": "public_key", "path": "a.pub"}]}})
    }

    #[test]
    fn sources_are_a_hash_in_the_tree_and_a_list_in_what_is_sent() {
        let sources = json!([source("ak-a"), source("ak-\"b")]);
        let whole = deployment(&sources);
        let (folded, lists) = Folded::with_lists(whole.clone());
        assert!(!format!("{folded:?}").contains("ak-a"));
        assert_eq!(&*folded.folds[0].paths, "a.pub\na.pub");
        let document = folded.document().unwrap();
        let volumes = &document["spec"]["template"]["spec"]["volumes"];
        assert!(volumes[1]["projected"]["sources"].as_str().unwrap().starts_with("list "));
        assert_eq!(volumes[2]["projected"]["sources"], json!([]));
        assert_eq!(folded.unfolded(&lists), whole);
        let sent = serde_json::to_string(&folded.body(document, &lists).unwrap()).unwrap();
        assert_eq!(serde_json::from_str::<Deployment>(&sent).unwrap(), whole);
    }

    #[test]
    fn what_is_delivered_is_known_without_the_lists() {
        let mut whole = deployment(&json!([source("ak-a")]));
        let file = key_file(&format!("sha256:{}", "a".repeat(64)).parse().unwrap());
        let sources = |paths: &[&str]| {
            let secret = |path| json!({"secret": {"name": "s", "items": [{"key": "k", "path": path}]}});
            let mut sources: Vec<_> = paths.iter().map(secret).collect();
            sources.push(json!({"configMap": {"name": "c", "items": [{"key": "k", "path": "m3/root"}]}}));
            json!(sources)
        };
        let lists = [
            (ATTESTATION_KEYS_VOLUME, sources(&[&file])),
            (DISK_KEYS_VOLUME, sources(&["m1/root", "m2/root"])),
        ];
        let volumes = whole.spec.template.spec.as_mut().unwrap().volumes.as_mut().unwrap();
        for (name, sources) in lists {
            let volume = json!({"name": name, "projected": {"sources": sources}});
            volumes.push(serde_json::from_value(volume).unwrap());
        }
        let delivered = Folded::of(whole.clone()).delivered();
        assert_eq!((delivered.attestation_keys(), delivered.disk_keys()), (1, 2));
        assert_eq!(delivered, Delivered::read(&whole));
    }

    #[test]
    fn every_difference_of_a_list_shows() {
        let folded = |sources: &Value| Folded::of(deployment(sources));
        let (a, b) = (source("a"), source("b"));
        let wanted = folded(&json!([a, b]));
        assert_eq!(folded(&json!([a, b])), wanted);
        // A list that looks like what stands for one is folded like any other.
        let hash = wanted.folds[0].hash.clone();
        for other in [json!([b, a]), json!([a]), json!([a, b, b]), json!([]), json!([source(&hash)])] {
            assert_ne!(folded(&other).document().unwrap(), wanted.document().unwrap(), "{other}");
        }
    }
}
