//! Reflector stores shared by every controller of a process.
//!
//! A process that watches the Kubernetes API needs one stream per kind, however many controllers it has. This crate
//! keeps that stream going and offers what is read from it: objects by key, by index and as a whole, changes as
//! deduplicated subscriptions, and the answer to "can I trust this now". Reads never make a request.
//!
//! # Example
//!
//! ```no_run
//! use cachelib::{Builder, Key, Options, RequestCounter, SecretMeta, Source, clients};
//! use k8s_openapi::api::apps::v1::Deployment;
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let counter = RequestCounter::new();
//! let config = kube::Config::infer().await?;
//! let clients = clients(config, concat!("example/", env!("CARGO_PKG_VERSION")), &counter)?;
//!
//! // Register kinds. A second registration of the same objects is an error.
//! let mut builder = Builder::new(clients.watch, Options::default());
//! let deployments = builder
//!     .cache::<Deployment>(Source::namespaced("default").labels("app=web"))
//!     .index("owner", cachelib::owner_uids)
//!     .build()?;
//! let by_owner = deployments.index("owner")?;
//! // Only metadata of Secrets is asked for; their contents never reach this process.
//! let secrets = builder.cache::<SecretMeta>(Source::namespaced("default")).build()?;
//!
//! // One task per kind. Nothing is decided before all stores are complete.
//! let caches = builder.start();
//! caches.ready().await?;
//!
//! // A work queue: names of Deployments that came, changed or went, each at most once.
//! let mut work = deployments.subscribe(|old, new| {
//!     old.or(new).map(Key::of).into_iter().collect()
//! });
//! while let Some(key) = work.next().await {
//!     // Not before the store shows what this process itself wrote to that object.
//!     if !deployments.caught_up(&key, std::time::Duration::from_secs(5)).await {
//!         continue;
//!     }
//!     match deployments.get(&key) {
//!         Some(deployment) => println!("{key}: {} Secrets beside it", secrets.len()),
//!         None => println!("{key} is gone"),
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! A program that looks once and ends registers its kinds in the same way and calls [`Builder::load`] instead of
//! [`Builder::start`].
//!
//! # What it promises
//!
//! - **One stream per kind.** A start costs one LIST per page of 500 objects and one WATCH per kind, or one WATCH alone
//!   with [`Options::streaming_lists`]; at rest a kind costs one WATCH every 290 s.
//! - **Consistent reads.** Objects and indexes change in one step. A new list is built aside and swapped in whole.
//!   An older version of an object never replaces a newer one; another uid under the same name is a deletion and an
//!   addition.
//! - **Nothing lost.** A [`Subscription`] is told of additions, changes, deletions and of objects that are missing
//!   from a new list, whenever it was made. It is a set in order of arrival: bounded by its distinct items, it
//!   cannot hold up the cache.
//! - **Named causes.** Each kind is [`Readiness::Pending`], `Synced`, `Failed` or `Stale`, the latter two with a
//!   [`Cause`] a person can act on. Failed kinds are tried again with growing delays that respect `Retry-After`;
//!   other kinds are not affected. Each try is logged once.
//! - **A server that is down is left in peace.** While nothing answers, the kinds of a [`Builder`] try in turns, one of
//!   them about every 5 s and each at most ten times a minute; the first answer lets all go on.
//! - **A frozen stream is found.** With [`Options::canary`] a watch that is open and shows nothing, although the
//!   API server has moved on, makes its kind `Stale` until a stream proves to be alive.
//! - **A bad object costs only itself.** Objects are parsed one by one. One that does not fit the Rust type is named
//!   in [`Cache::malformed`] and in the log, without its content, and is served again once it is mended.
//! - **Small.** `managedFields` and the last-applied configuration are cut out before an object is built.
//!   [`Metadata`] holds only metadata. A kind's own struct may have only the fields it needs, and of any kind
//!   [`Builder::cache_as`] keeps just what its caller makes of each object.
//! - **Own writes are seen.** [`Cache::expect_version`] and [`Cache::expect_gone`] note a write,
//!   [`Cache::is_current`] and [`Cache::caught_up`] tell whether the store shows it.
//! - **It can be checked.** [`Running::diagnostics`] has a checksum of each store, and [`Running::equals_server`] compares
//!   with the API server, object by object.
//!
//! # What it never does
//!
//! It writes nothing to the API server, knows no kinds of its own, and reads no object on a reader's behalf. A store
//! is a past state, if a recent one: whoever destroys something because of it states uid and resource version as
//! preconditions.
//!
//! # Logging
//!
//! This crate logs through [`tracing`] and never logs contents. kube itself warns of every refused request and logs
//! the body of an answer that is not JSON at all; `kube_client=error,kube_runtime=error` in the filter leaves the
//! reports to this crate.
#![deny(missing_docs)]

mod arrival;
mod builder;
mod cache;
mod canary;
mod cause;
pub mod client;
mod compact;
mod diagnostics;
#[cfg(test)]
mod fixture;
mod guard;
mod index;
mod key;
mod ledger;
mod metadata;
mod oneshot;
mod outage;
mod readiness;
mod running;
mod source;
mod store;
mod subscribe;
mod task;
mod version;
mod watch_client;
mod writer;

pub use builder::{BuildError, Builder, CacheBuilder, Options};
pub use cache::{Cache, Index};
pub use cause::{Cause, error_chain};
pub use client::{ClientError, Clients, Counted, RequestCounter, RequestLabels, clients};
pub use diagnostics::{Diagnostics, Difference, Identity, Mismatch, checksum};
pub use key::Key;
pub use metadata::{Metadata, SecretMeta};
pub use oneshot::{ListError, Loaded};
pub use readiness::{KindStatus, Readiness, SyncError};
pub use running::Running;
pub use source::{Cached, Source, owner_uids};
pub use subscribe::Subscription;
