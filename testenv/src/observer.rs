//! What the objects of a namespace look like, by watching them.
//!
//! Purpose: know when everything has converged, without asking the API server over and over, which would disturb
//! what is being measured.

use std::{
    collections::BTreeMap,
    fmt::Debug,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures::TryStreamExt;
use kube::{
    Api, Resource, ResourceExt,
    runtime::watcher::{self, Event, watcher},
};
use serde::de::DeserializeOwned;
use tokio::{sync::watch, task::JoinHandle};

/// Objects by name.
pub type Objects<K> = BTreeMap<String, K>;

/// The objects of one kind, kept up to date.
#[derive(Debug)]
pub struct Observer<K> {
    objects: Arc<Mutex<Objects<K>>>,
    changes: watch::Receiver<u64>,
    task: JoinHandle<()>,
}

impl<K> Observer<K>
where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + 'static,
{
    /// Watches; `seen` is called for every state of every object, as it arrives.
    pub fn start(api: Api<K>, mut seen: impl FnMut(&K) + Send + 'static) -> Observer<K> {
        let objects: Arc<Mutex<Objects<K>>> = Arc::default();
        let (changed, changes) = watch::channel(0);
        let shared = Arc::clone(&objects);
        let task = tokio::spawn(async move {
            loop {
                let mut events = Box::pin(watcher(api.clone(), watcher::Config::default()));
                let mut relisted = Objects::new();
                while let Ok(Some(event)) = events.try_next().await {
                    object_of(&event).into_iter().for_each(&mut seen);
                    apply(event, &mut relisted, &mut shared.lock().unwrap_or_else(PoisonError::into_inner));
                    changed.send_modify(|count| *count += 1);
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        });
        Observer { objects, changes, task }
    }

    /// Looks at the objects as they are now.
    pub fn read<T>(&self, look: impl FnOnce(&Objects<K>) -> T) -> T {
        look(&self.objects.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits for the next change.
    pub async fn changed(&mut self) {
        let _ = self.changes.changed().await;
    }
}

impl<K> Drop for Observer<K> {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The object that an event shows as present.
fn object_of<K>(event: &Event<K>) -> Option<&K> {
    match event {
        Event::Apply(object) | Event::InitApply(object) => Some(object),
        Event::Init | Event::InitDone | Event::Delete(_) => None,
    }
}

fn apply<K: Resource>(event: Event<K>, relisted: &mut Objects<K>, objects: &mut Objects<K>) {
    match event {
        Event::Init => relisted.clear(),
        Event::InitApply(object) => {
            relisted.insert(object.name_any(), object);
        }
        Event::InitDone => *objects = std::mem::take(relisted),
        Event::Apply(object) => {
            objects.insert(object.name_any(), object);
        }
        Event::Delete(object) => {
            objects.remove(&object.name_any());
        }
    }
}
