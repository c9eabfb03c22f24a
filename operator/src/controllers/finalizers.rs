//! Takes away the finalizers of the operator that was here before, which else would keep objects from going.
//!
//! A Machine loses its finalizer once its disk key has been seen to; an ApprovedImage at once; a record of a trusted
//! key when it is deleted. Whatever is being deleted loses it at once, since nothing is left to wait for.

use std::fmt;
use std::sync::Arc;

use cachelib::Cache;
use futures::StreamExt;
use futures::stream::BoxStream;
use serde_json::json;
use trusted_crds::condition::KEY_READY;
use trusted_crds::{ApprovedImage, HasConditions, Machine};

use crate::context::Context;
use crate::error::ReconcileError;
use crate::former::{self, Finalized};
use crate::queue::{Next, Reconciler, Trigger};
use crate::secret::SecretMeta;
use crate::writer::Written;

/// An object with a finalizer of the existing operator, by name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Held {
    Machine(String),
    Image(String),
    Record(String),
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Held::Machine(name) => write!(f, "Machine {name}"),
            Held::Image(name) => write!(f, "ApprovedImage {name}"),
            Held::Record(name) => write!(f, "Secret {name}"),
        }
    }
}

/// Takes away finalizers, one object at a time.
pub struct FinalizerController {
    ctx: Arc<Context>,
}

impl FinalizerController {
    /// A controller that reads and writes through `ctx`.
    pub fn new(ctx: Arc<Context>) -> Self {
        FinalizerController { ctx }
    }

    /// Objects that have such a finalizer and changed.
    pub fn triggers(ctx: &Context) -> Vec<BoxStream<'static, Held>> {
        let caches = &ctx.caches;
        vec![
            held(&caches.machines, Held::Machine),
            held(&caches.approved_images, Held::Image),
            held(&caches.secrets, Held::Record),
        ]
    }

    async fn release<K: Written>(&self, object: &impl Finalized) -> Result<(), ReconcileError> {
        let patch = json!({ "metadata": { "finalizers": former::other_finalizers(object) } });
        // The whole list is replaced, so that the version matters.
        let target = object.target();
        self.ctx.writer.merge_patch::<K>(target, patch).await?;
        tracing::info!(kind = %K::kind(&()), name = target.name, "a finalizer of the former operator removed");
        Ok(())
    }

    async fn look<K: Written<Stored: Finalized>>(
        &self,
        name: &str,
        is_covered: impl Fn(&K::Stored) -> bool,
    ) -> Result<Next, ReconcileError> {
        let (store, key) = (K::store(&self.ctx.caches), self.ctx.key(name));
        let object = store.get(&key).filter(|object| former::is_held(object.as_ref()));
        if let Some(object) = object
            && store.is_current(&key)
            && (object.is_deleting() || is_covered(&object))
        {
            self.release::<K>(object.as_ref()).await?;
        }
        Ok(Next::Wait)
    }
}

fn held<T: Finalized + Send + Sync + 'static>(
    store: &Cache<T>,
    name: fn(String) -> Held,
) -> BoxStream<'static, Held> {
    let map = move |_: Option<&T>, new: Option<&T>| {
        let held = new.filter(|object| former::is_held(*object));
        held.map(|object| name(object.target().name.to_owned())).into_iter().collect()
    };
    store.subscribe(map).into_stream().boxed()
}

impl Reconciler for FinalizerController {
    type Key = Held;
    const NAME: &'static str = "finalizers";

    async fn reconcile(&self, held: Held, _: Trigger) -> Result<Next, ReconcileError> {
        match held {
            Held::Machine(name) => {
                self.look::<Machine>(&name, |machine| machine.condition(KEY_READY).is_some()).await
            }
            // No reference values of an image are in force that its deletion would have to withdraw.
            Held::Image(name) => self.look::<ApprovedImage>(&name, |_| true).await,
            Held::Record(name) => self.look::<SecretMeta>(&name, |_| false).await,
        }
    }
}
