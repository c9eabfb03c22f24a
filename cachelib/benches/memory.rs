//! Heap bytes per stored object: kube's plain reflector, this crate's store, and this crate's store of a form made for
//! its reader; same objects, same run.
//!
//! `cargo bench -p cachelib --bench memory`

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program for people who measure")]

mod support;

use std::alloc::System;

use cachelib::{Builder, Options, Source};
use futures::StreamExt;
use kube::{
    Api,
    runtime::{reflector, reflector::store::Writer, watcher},
};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

use support::{Sample, server, uuid};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const COUNTS: [usize; 2] = [1_000, 20_000];

fn held() -> usize {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated - stats.bytes_deallocated
}

/// A runtime of its own for each, so that nothing of the one before is given back during the next.
fn alone(measure: impl Future<Output = usize>) -> usize {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(measure)
}

fn main() {
    println!("heap bytes an object");
    println!("{:>8}  {:>16}  {:>16}  {:>16}", "objects", "kube's reflector", "cache", "cache_as");
    for count in COUNTS {
        let (plain, trimmed, kept) = (alone(plain(count)), alone(trimmed(count)), alone(kept(count)));
        let per_object = |bytes: usize| bytes as f64 / count as f64;
        let beside =
            |bytes: usize| format!("{:.0} (1/{:.1})", per_object(bytes), plain as f64 / bytes as f64);
        println!("{count:>8}  {:>16.0}  {:>16}  {:>16}", per_object(plain), beside(trimmed), beside(kept));
    }
}

/// kube's reflector of the full type, which keeps managed fields.
async fn plain(count: usize) -> usize {
    let (client, _watch) = server(count);
    let before = held();
    let writer = Writer::<Sample>::default();
    let store = writer.as_reader();
    let api = Api::<Sample>::namespaced(client, "default");
    let mut stream = reflector(writer, watcher(api, watcher::Config::default())).boxed();
    while store.len() < count {
        stream.next().await.unwrap().unwrap();
    }
    held() - before
}

/// This crate's cache with an index, which kube's store does not have.
async fn trimmed(count: usize) -> usize {
    ours(count, |sample: Sample| sample, uuid).await
}

/// What a reader may want of a [`Sample`].
struct Verdict {
    name: Box<str>,
    uuid: Option<Box<str>>,
    fingerprint: Option<Box<str>>,
    owner: Option<Box<str>>,
}

impl From<Sample> for Verdict {
    fn from(sample: Sample) -> Self {
        let owners = sample.metadata.owner_references.unwrap_or_default();
        Verdict {
            name: sample.metadata.name.unwrap_or_default().into(),
            uuid: sample.spec.uuid.map(String::into_boxed_str),
            fingerprint: sample.status.map(|status| status.fingerprint.into()),
            owner: owners.into_iter().next().map(|owner| owner.uid.into()),
        }
    }
}

/// The same with the same index, of what is read of an object.
async fn kept(count: usize) -> usize {
    let complete = |verdict: &Verdict| {
        let parts = [&verdict.uuid, &verdict.fingerprint, &verdict.owner];
        assert!(!verdict.name.is_empty() && parts.iter().all(|part| part.is_some()));
        verdict.uuid.iter().map(ToString::to_string).collect()
    };
    ours(count, Verdict::from, complete).await
}

async fn ours<T: Send + Sync + 'static>(
    count: usize,
    keep: impl Fn(Sample) -> T + Send + Sync + 'static,
    uuid: impl Fn(&T) -> Vec<String> + Send + Sync + 'static,
) -> usize {
    let (client, _watch) = server(count);
    let before = held();
    let mut builder = Builder::new(client, Options::default());
    let cache = builder.cache_as(Source::namespaced("default"), keep).index("uuid", uuid).build().unwrap();
    let running = builder.start();
    running.ready().await.unwrap();
    assert_eq!(cache.len(), count);
    held() - before
}
