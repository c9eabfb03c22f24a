//! What readers notice of a new list, and what ten subscribers cost, one of which never looks:
//! `cargo bench -p cachelib --bench relist`.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program for people who measure")]

mod support;

use std::{
    hint::black_box,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use cachelib::{Builder, Cache, Key, Options, Source};

use support::{Sample, Watch, sample, server, uuid};

const OBJECTS: usize = 100_000;
const UPDATES: usize = 20_000;
const EVENTS: usize = 100_000;

#[tokio::main]
async fn main() {
    let (client, watch) = server(OBJECTS);
    let mut builder = Builder::new(client, Options::default());
    let cache = builder.cache::<Sample>(Source::namespaced("default")).index("uuid", uuid).build().unwrap();
    let running = builder.start();
    let started = Instant::now();
    running.ready().await.unwrap();
    println!("{OBJECTS} objects listed and stored in {:.2?}", started.elapsed());

    let updating = reads_during(&cache, updates(&cache, &watch, UPDATES, 10 * OBJECTS)).await;
    println!("one read during {UPDATES} updates: {updating}");
    let relisting = reads_during(&cache, relist(&cache, &watch)).await;
    println!("one read during a new list:  {relisting}");

    let mut subscriptions: Vec<_> =
        (0..10).map(|_| cache.subscribe(|_, new| new.map(Key::of).into_iter().collect())).collect();
    let started = Instant::now();
    updates(&cache, &watch, EVENTS, 20 * OBJECTS).await;
    let stuck = subscriptions.pop().unwrap();
    let mut slowest = Duration::ZERO;
    for subscription in &mut subscriptions {
        let looking = Instant::now();
        while subscription.try_next().is_some() {}
        slowest = slowest.max(looking.elapsed());
    }
    println!(
        "{EVENTS} events to ten subscribers in {:.2?}; one that never looked holds {} keys of {OBJECTS} objects; \
         another empties its queue in {slowest:.2?}",
        started.elapsed(),
        stuck.len()
    );
}

async fn updates(cache: &Cache<Sample>, watch: &Watch, count: usize, base: usize) {
    for number in 0..count {
        watch.send("MODIFIED", &sample(number % OBJECTS, base + number));
    }
    let last = (base + count - 1) as u64;
    while cache.status().version.is_none_or(|version| version < last) {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

async fn relist(cache: &Cache<Sample>, watch: &Watch) {
    let before = cache.status().lists;
    watch.expire();
    while cache.status().lists == before {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

struct Latencies {
    p50: Duration,
    p99: Duration,
    max: Duration,
    reads: usize,
}

impl std::fmt::Display for Latencies {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { p50, p99, max, reads } = self;
        write!(f, "p50 {p50:.2?}, p99 {p99:.2?}, max {max:.2?} of {reads} reads")
    }
}

/// Times reads on a thread of its own for as long as `work` takes.
async fn reads_during(cache: &Cache<Sample>, work: impl Future<Output = ()>) -> Latencies {
    let done = Arc::new(AtomicBool::new(false));
    let (index, stop) = (cache.index("uuid").unwrap(), Arc::clone(&done));
    let reader = std::thread::spawn(move || {
        let mut times = Vec::new();
        while !stop.load(Ordering::Relaxed) {
            let value = format!("machine-{}", times.len() % OBJECTS);
            let started = Instant::now();
            black_box(index.get(&value));
            times.push(started.elapsed());
        }
        times
    });
    work.await;
    done.store(true, Ordering::Relaxed);
    let mut times = reader.join().unwrap();
    times.sort_unstable();
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize];
    Latencies { p50: at(0.5), p99: at(0.99), max: at(1.0), reads: times.len() }
}
