//! Which rows are shown: those of the names given, or with the labels given.
//!
//! Owns the choice. The verdict is about all, whatever is shown.

use std::collections::BTreeSet;
use std::sync::Arc;

use kube::core::{Selector, SelectorExt};
use kube::{Resource, ResourceExt};
use trusted_crds::health::Subject;

use super::collect::Seen;
use super::document::Status;
use crate::error::{Class, Error, Result};

/// The objects with these labels.
pub(super) fn labelled(seens: &[Seen], selector: &Selector) -> BTreeSet<Subject> {
    let mut chosen = BTreeSet::new();
    for seen in seens {
        choose(&mut chosen, seen.clusters.as_ref(), selector);
        choose(&mut chosen, seen.machines.as_ref(), selector);
        choose(&mut chosen, seen.attestation_keys.as_ref(), selector);
        choose(&mut chosen, seen.approved_images.as_ref(), selector);
    }
    chosen
}

fn choose<K: Resource<DynamicType = ()>>(
    chosen: &mut BTreeSet<Subject>,
    objects: Option<&Vec<Arc<K>>>,
    selector: &Selector,
) {
    for object in objects.into_iter().flatten().filter(|object| selector.matches(object.labels())) {
        chosen.insert(subject(
            K::kind(&()).as_ref(),
            &object.namespace().unwrap_or_default(),
            &object.name_any(),
        ));
    }
}

fn subject(kind: &str, namespace: &str, name: &str) -> Subject {
    Subject { kind: kind.to_owned(), namespace: namespace.to_owned(), name: name.to_owned() }
}

impl Status {
    /// Keeps the rows and reasons of these objects.
    pub(super) fn keep_labelled(&mut self, chosen: &BTreeSet<Subject>) {
        let is = |kind: &str, namespace: &str, name: &str| chosen.contains(&subject(kind, namespace, name));
        self.clusters.retain(|row| is("TrustedExecutionCluster", &row.namespace, &row.name));
        self.machines.retain(|row| is("Machine", &row.namespace, &row.name));
        self.attestation_keys.retain(|row| is("AttestationKey", &row.namespace, &row.name));
        self.approved_images.retain(|row| is("ApprovedImage", &row.namespace, &row.name));
        self.reasons.retain(|reason| chosen.contains(&reason.object));
    }

    /// Keeps the rows and reasons of these names; every one of them must stand for something.
    pub(super) fn keep_only(&mut self, names: &[String]) -> Result<()> {
        let is_named = |name: &str| names.iter().any(|wanted| wanted == name);
        self.clusters.retain(|row| is_named(&row.name));
        self.machines.retain(|row| is_named(&row.name) || is_named(&row.id));
        self.attestation_keys.retain(|row| is_named(&row.name));
        self.approved_images.retain(|row| is_named(&row.name));
        self.reasons.retain(|reason| is_named(&reason.object.name));
        let found = |name: &String| {
            self.clusters.iter().any(|row| row.name == *name)
                || self.machines.iter().any(|row| row.name == *name || row.id == *name)
                || self.attestation_keys.iter().any(|row| row.name == *name)
                || self.approved_images.iter().any(|row| row.name == *name)
        };
        let Some(missing) = names.iter().find(|name| !found(name)) else { return Ok(()) };
        let place = match self.namespaces.as_slice() {
            [] => "in any namespace".to_owned(),
            [one] => format!("in namespace \"{one}\""),
            several => format!("in the namespaces {}", several.join(", ")),
        };
        let error = Error::new(
            Class::NotFound,
            format!("no cluster, machine, attestation key or approved image \"{missing}\" {place}"),
        );
        Err(match self.incomplete.first() {
            Some(incomplete) => {
                error.why(format!("not everything may be seen: it needs {}", incomplete.need))
            }
            None => error.next("see what there is with: kubectl trusted status -A"),
        })
    }
}
