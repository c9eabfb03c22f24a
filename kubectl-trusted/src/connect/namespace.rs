//! What may be known of the namespace itself. Most people may not read it, and nothing depends on that.

use k8s_openapi::api::core::v1::Namespace;
use kube::Api;
use trusted_crds::names::MANAGED_NAMESPACE_LABEL;

use super::Connection;
use crate::error::{Attempt, Class, Error};

/// Whether there is such a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Existence {
    Missing,
    Present {
        /// The admission policies act in it.
        is_managed: bool,
    },
    NotVisible,
}

impl Connection {
    /// One GET of the namespace, as metadata. What cannot be read is not visible, whatever the cause: the requests
    /// that matter tell causes.
    pub(crate) async fn existence(&self) -> Existence {
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        let attempt = Attempt::on::<Namespace>("get", None).named(&self.namespace);
        match self.ask(&attempt, namespaces.get_metadata_opt(&self.namespace)).await {
            Ok(Some(found)) => {
                let labels = found.metadata.labels.unwrap_or_default();
                let is_managed = labels.get(MANAGED_NAMESPACE_LABEL).is_some_and(|value| value == "true");
                Existence::Present { is_managed }
            }
            Ok(None) => Existence::Missing,
            Err(_) => Existence::NotVisible,
        }
    }

    pub(crate) fn no_such_namespace(&self) -> Error {
        Error::new(Class::NotFound, format!("there is no namespace \"{}\"", self.namespace))
            .next("see those there are with: kubectl get namespaces")
    }
}
