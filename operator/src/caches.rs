//! Declares the stores of the process: one stream per kind, with the indexes the controllers ask.

use std::time::Duration;

use cachelib::{BuildError, Builder, Options, Running, Source};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Service};
use kube::{Client, ResourceExt};
use trusted_crds::names::{FINGERPRINT_ANNOTATION, MANAGED_BY, MANAGED_BY_LABEL};
use trusted_crds::{ApprovedImage, AttestationKey, GROUP, Machine, TrustedExecutionCluster};

use crate::context::{Caches, SecretMeta, index};

/// Starts the streams of `namespace`; the stores fill in the background.
pub fn start(
    client: Client,
    namespace: &str,
    sync_timeout: Duration,
) -> Result<(Caches, Running), BuildError> {
    let mut builder = Builder::new(client, Options { sync_timeout, ..Options::default() });
    let all = || Source::namespaced(namespace);
    let ours = || all().labels(format!("{MANAGED_BY_LABEL}={MANAGED_BY}"));
    let caches = Caches {
        clusters: builder.cache::<TrustedExecutionCluster>(all()).build()?,
        machines: builder
            .cache::<Machine>(all())
            .index(index::ID, |machine: &Machine| vec![machine.spec.id.clone()])
            .build()?,
        attestation_keys: builder
            .cache::<AttestationKey>(all())
            .index(index::UUID, |key: &AttestationKey| key.spec.uuid.clone().into_iter().collect())
            .index(index::FINGERPRINT, |key: &AttestationKey| {
                let public_key = key.public_key();
                public_key.map(|public_key| public_key.fingerprint().to_string()).into_iter().collect()
            })
            .build()?,
        approved_images: builder.cache::<ApprovedImage>(all()).build()?,
        secrets: builder
            .cache::<SecretMeta>(all())
            // Annotations of others may hold anything, and as much as they like: former versions of the data, too.
            .keep_annotations([format!("{GROUP}/")])
            .index(index::OWNER, cachelib::owner_uids::<SecretMeta>)
            .index(index::FINGERPRINT, |secret: &SecretMeta| {
                secret.annotations().get(FINGERPRINT_ANNOTATION).cloned().into_iter().collect()
            })
            .build()?,
        deployments: builder
            .cache::<Deployment>(ours())
            .index(index::OWNER, cachelib::owner_uids::<Deployment>)
            .build()?,
        config_maps: builder
            .cache::<ConfigMap>(ours())
            .index(index::OWNER, cachelib::owner_uids::<ConfigMap>)
            .build()?,
        services: builder
            .cache::<Service>(ours())
            .index(index::OWNER, cachelib::owner_uids::<Service>)
            .build()?,
    };
    Ok((caches, builder.start()))
}
