//! Heap bytes per stored object: this crate's store against kube's plain reflector, same objects, same run.
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

#[tokio::main(flavor = "current_thread")]
async fn main() {
    println!("{:>8}  {:>16}  {:>16}  {:>6}", "objects", "kube B/object", "cachelib B/object", "ratio");
    for count in COUNTS {
        let (plain, ours) = (plain(count).await, ours(count).await);
        let per_object = |bytes: usize| bytes as f64 / count as f64;
        println!(
            "{count:>8}  {:>16.0}  {:>17.0}  {:>6.2}",
            per_object(plain),
            per_object(ours),
            plain as f64 / ours as f64
        );
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
async fn ours(count: usize) -> usize {
    let (client, _watch) = server(count);
    let before = held();
    let mut builder = Builder::new(client, Options::default());
    let cache = builder.cache::<Sample>(Source::namespaced("default")).index("uuid", uuid).build().unwrap();
    let running = builder.start();
    running.ready().await.unwrap();
    assert_eq!(cache.len(), count);
    held() - before
}
