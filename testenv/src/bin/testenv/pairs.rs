//! Machines with their keys, created the way a fleet comes up.

use std::{
    collections::BTreeMap,
    ops::Range,
    time::{Duration, Instant},
};

use futures::{StreamExt, TryStreamExt, stream};
use kube::{
    Api, Client,
    api::{DeleteParams, PostParams},
};
use testenv::{TestNamespace, objects, shuffle::Shuffler};
use trusted_crds::{AttestationKey, Machine};

use crate::failure::Failure;

/// Requests at a time.
const CONCURRENCY: usize = 8;

/// A pair is late when its second object came this long after the first: the operator then had to say that
/// something is missing, which is a write more.
const LATE: Duration = Duration::from_secs(5);

/// One of the two objects of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Half {
    Machine,
    Key,
}

/// Creates pairs by number.
#[derive(Clone)]
pub(crate) struct Pairs {
    machines: Api<Machine>,
    keys: Api<AttestationKey>,
    /// Public keys made beforehand, so that making them is not measured.
    pems: Vec<String>,
}

/// When the API server answered the creation of each half, by pair.
pub(crate) type Created = BTreeMap<usize, Vec<Instant>>;

impl Pairs {
    /// Prepares `count` pairs in a namespace.
    pub(crate) fn prepare(client: &Client, namespace: &TestNamespace, count: usize) -> Pairs {
        Pairs {
            machines: Api::namespaced(client.clone(), namespace.name()),
            keys: Api::namespaced(client.clone(), namespace.name()),
            pems: (0..count).map(|_| objects::public_key()).collect(),
        }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.pems.len()
    }

    /// Name of the key of a pair.
    pub(crate) fn key_name(pair: usize) -> String {
        format!("key-{pair:05}")
    }

    /// Name of the Machine of a pair.
    pub(crate) fn machine_name(pair: usize) -> String {
        format!("machine-{pair:05}")
    }

    /// The id by which Machine and key of a pair name each other.
    pub(crate) fn id(pair: usize) -> String {
        format!("m-{pair:05}")
    }

    /// Creates one half; returns when the API server answered.
    pub(crate) async fn create(&self, pair: usize, half: Half) -> Result<Instant, Failure> {
        let id = Pairs::id(pair);
        let params = PostParams::default();
        match half {
            Half::Machine => {
                let machine = objects::machine(&Pairs::machine_name(pair), &id);
                self.machines
                    .create(&params, &machine)
                    .await
                    .map(|_| ())
                    .map_err(Failure::kube("create a Machine"))?;
            }
            Half::Key => {
                let pem = self.pems.get(pair).map(String::as_str).unwrap_or_default();
                let key = objects::attestation_key(&Pairs::key_name(pair), Some(&id), pem);
                self.keys
                    .create(&params, &key)
                    .await
                    .map(|_| ())
                    .map_err(Failure::kube("create an AttestationKey"))?;
            }
        }
        Ok(Instant::now())
    }

    /// Creates all halves of all pairs in a shuffled order, several at a time.
    pub(crate) async fn burst(&self, seed: u64) -> Result<Created, Failure> {
        self.burst_of(0..self.count(), seed).await
    }

    /// The same of the last `count` pairs.
    pub(crate) async fn burst_of_last(&self, count: usize, seed: u64) -> Result<Created, Failure> {
        self.burst_of(self.last(count), seed).await
    }

    async fn burst_of(&self, numbers: Range<usize>, seed: u64) -> Result<Created, Failure> {
        let mut order: Vec<(usize, Half)> =
            numbers.flat_map(|pair| [(pair, Half::Machine), (pair, Half::Key)]).collect();
        Shuffler::new(seed).shuffle(&mut order);
        let answers: Vec<(usize, Instant)> = stream::iter(order)
            .map(|(pair, half)| async move { self.create(pair, half).await.map(|answered| (pair, answered)) })
            .buffer_unordered(CONCURRENCY)
            .try_collect()
            .await?;
        let mut created = Created::new();
        for (pair, answered) in answers {
            created.entry(pair).or_default().push(answered);
        }
        Ok(created)
    }

    /// Creates one pair every `interval`, the key `gap` after its Machine.
    pub(crate) async fn paced(&self, interval: Duration, gap: Duration) -> Result<Created, Failure> {
        let mut ticks = tokio::time::interval(interval);
        let mut created = Created::new();
        for pair in 0..self.count() {
            ticks.tick().await;
            let machine = self.create(pair, Half::Machine).await?;
            tokio::time::sleep(gap).await;
            let key = self.create(pair, Half::Key).await?;
            created.insert(pair, vec![machine, key]);
        }
        Ok(created)
    }

    fn last(&self, count: usize) -> Range<usize> {
        self.count().saturating_sub(count)..self.count()
    }

    /// Deletes the Machines of the last `count` pairs.
    pub(crate) async fn delete_machines(&self, count: usize) -> Result<(), Failure> {
        stream::iter(self.last(count))
            .map(|pair| async move {
                let answer = self.machines.delete(&Pairs::machine_name(pair), &DeleteParams::default()).await;
                answer.map(|_| ()).map_err(Failure::kube("delete a Machine"))
            })
            .buffer_unordered(CONCURRENCY)
            .try_collect()
            .await
    }
}

/// How many pairs were late.
pub(crate) fn late(created: &Created) -> usize {
    let gap = |answers: &Vec<Instant>| {
        answers.iter().max().zip(answers.iter().min()).map(|(last, first)| last.duration_since(*first))
    };
    created.values().filter_map(gap).filter(|gap| *gap > LATE).count()
}
