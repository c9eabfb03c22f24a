//! Look-ups and updates, at two sizes: `cargo bench -p cachelib --bench store`.
//!
//! A look-up must not depend on the size. An update is one watch event from its bytes to a subscriber: parsing, store,
//! index, fan-out.

#![allow(clippy::unwrap_used, reason = "a program for people who measure")]

mod support;

use cachelib::{Builder, Cache, Key, Options, Running, Source, Subscription};
use divan::{Bencher, counter::ItemsCount};
use tokio::runtime::Runtime;

use support::{Sample, Watch, sample, server, uuid};

const SIZES: [usize; 2] = [100, 100_000];

fn main() {
    divan::main();
}

struct Filled {
    runtime: Runtime,
    cache: Cache<Sample>,
    watch: Watch,
    _running: Running,
}

fn filled(count: usize) -> Filled {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (cache, watch, running) = runtime.block_on(async {
        let (client, watch) = server(count);
        let mut builder = Builder::new(client, Options::default());
        let cache =
            builder.cache::<Sample>(Source::namespaced("default")).index("uuid", uuid).build().unwrap();
        let running = builder.start();
        running.ready().await.unwrap();
        (cache, watch, running)
    });
    Filled { runtime, cache, watch, _running: running }
}

#[divan::bench(args = SIZES)]
fn get(bencher: Bencher<'_, '_>, count: usize) {
    let filled = filled(count);
    let key = Key::new("default", format!("sample-{}", count / 2));
    bencher.bench_local(|| filled.cache.get(&key).unwrap());
}

#[divan::bench(args = SIZES)]
fn by_index(bencher: Bencher<'_, '_>, count: usize) {
    let filled = filled(count);
    let value = format!("machine-{}", count / 2);
    let index = filled.cache.index("uuid").unwrap();
    bencher.bench_local(|| assert_eq!(index.get(&value).len(), 1));
}

#[divan::bench(args = SIZES, sample_count = 20)]
fn update(bencher: Bencher<'_, '_>, count: usize) {
    const EVENTS: usize = 1_000;
    let filled = filled(count);
    let mut subscription: Subscription<Key> =
        filled.cache.subscribe(|old, new| old.and(new).map(Key::of).into_iter().collect());
    let mut version = 10 * count;
    bencher.counter(ItemsCount::new(EVENTS)).bench_local(|| {
        let numbers = (0..EVENTS).map(|number| number % count);
        for number in numbers {
            version += 1;
            filled.watch.send("MODIFIED", &sample(number, version));
        }
        let last = version.to_string();
        filled.runtime.block_on(async {
            while let Some(key) = subscription.next().await {
                let shown =
                    filled.cache.get(&key).and_then(|object| object.metadata.resource_version.clone());
                if shown.as_ref() == Some(&last) {
                    return;
                }
            }
        });
    });
}
