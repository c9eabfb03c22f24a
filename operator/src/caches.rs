//! Declares the stores of the process: one stream per kind, with the indexes the controllers ask.

use cachelib::{BuildError, Builder, Cache, Options, Running, Source};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Service};
use kube::Client;
use trusted_crds::names::{MANAGED_BY, MANAGED_BY_LABEL};
use trusted_crds::{ApprovedImage, AttestationKey, Machine, TrustedExecutionCluster};

use crate::child::{ChildKind, Folded};
use crate::context::Caches;
use crate::secret::{SecretMeta, SecretRecord};

const ID: &str = "id";
const UUID: &str = "uuid";
const FINGERPRINT: &str = "fingerprint";
const OWNER: &str = "owner";

/// Starts the streams of `namespace`; the stores fill in the background.
pub fn start(client: Client, namespace: &str, options: Options) -> Result<(Caches, Running), BuildError> {
    let mut builder = Builder::new(client, options);
    let all = || Source::namespaced(namespace);
    let ours = || all().labels(format!("{MANAGED_BY_LABEL}={MANAGED_BY}"));
    let clusters = builder.cache::<TrustedExecutionCluster>(all()).build()?;
    let machines =
        builder.cache_as(all(), machine).index(ID, |machine| vec![machine.spec.id.clone()]).build()?;
    let attestation_keys = builder
        .cache_as(all(), attestation_key)
        .index(UUID, |key: &AttestationKey| key.spec.uuid.clone().into_iter().collect())
        .index(FINGERPRINT, |key: &AttestationKey| {
            let public_key = key.public_key();
            public_key.map(|public_key| public_key.fingerprint().to_string()).into_iter().collect()
        })
        .build()?;
    let approved_images = builder.cache::<ApprovedImage>(all()).build()?;
    let secrets = builder
        .cache_as(all(), <SecretRecord as From<SecretMeta>>::from)
        .index(FINGERPRINT, |secret: &SecretRecord| {
            secret.fingerprint_text().map(str::to_owned).into_iter().collect()
        })
        .build()?;
    let deployments = children::<Deployment>(&mut builder, ours())?;
    let config_maps = children::<ConfigMap>(&mut builder, ours())?;
    let services = children::<Service>(&mut builder, ours())?;
    let caches = Caches {
        clusters,
        machines_by_id: machines.index(ID)?,
        machines,
        keys_by_uuid: attestation_keys.index(UUID)?,
        keys_by_fingerprint: attestation_keys.index(FINGERPRINT)?,
        attestation_keys,
        approved_images,
        secrets_by_fingerprint: secrets.index(FINGERPRINT)?,
        secrets,
        deployments_by_owner: deployments.index(OWNER)?,
        deployments,
        config_maps_by_owner: config_maps.index(OWNER)?,
        config_maps,
        services_by_owner: services.index(OWNER)?,
        services,
    };
    Ok((caches, builder.start()))
}

/// A Machine as it is kept: while it is parsed, a list with one condition gets room for four, half a kilobyte.
fn machine(mut machine: Machine) -> Machine {
    if let Some(status) = &mut machine.status {
        status.conditions.shrink_to_fit();
    }
    machine
}

/// An AttestationKey as it is kept, likewise.
fn attestation_key(mut key: AttestationKey) -> AttestationKey {
    if let Some(status) = &mut key.status {
        status.conditions.shrink_to_fit();
    }
    key
}

fn children<K: ChildKind>(builder: &mut Builder, source: Source) -> Result<Cache<Folded<K>>, BuildError> {
    let owners = |child: &Folded<K>| cachelib::owner_uids(&**child);
    builder.cache_as(source, Folded::of).index(OWNER, owners).build()
}
