//! Registration of kinds.
//!
//! Owns the rule that a process opens one stream per kind and scope: a second registration is an error that says
//! where the first one is. Wrong use is reported here, before anything runs.

use std::{
    collections::{HashMap, HashSet},
    panic::Location,
    sync::Arc,
    time::Duration,
};

use futures::future::join_all;
use kube::{Client, runtime::watcher};

use crate::{
    Cache, Cached, Loaded, Running, Source,
    arrival::Keep,
    cache::Core,
    canary::{Canary, SHORTEST_PERIOD},
    index::IndexSpec,
    outage::Outage,
    running::{Kind, Registered, Typed},
    source::resource_name,
    task::Task,
    writer::Writer,
};

/// Settings shared by all kinds of a [`Builder`].
#[derive(Clone, Debug)]
pub struct Options {
    /// How long [`Running::ready`] waits for all required kinds. Default 120 s.
    pub sync_timeout: Duration,
    /// How long a list may take to deliver its next page, and a watch to be answered, before they are started anew.
    /// Default 30 s.
    pub list_timeout: Duration,
    /// Objects per page of a list. Default 500.
    pub page_size: u32,
    /// Lists are streamed: the watch itself begins with all objects, so a start is one request a kind instead of a
    /// page for every 500 objects and a watch. A server that does not know how is listed page by page. Default off.
    pub streaming_lists: bool,
    /// How long the server keeps a watch open before it is renewed. Default 290 s; a dead connection is noticed 5 s
    /// after it.
    pub watch_timeout: Duration,
    /// How often one kind after the other has its watch prove that it still shows what happens, at the cost of one
    /// LIST of one object's metadata. A watch that is open and does not come to the version the API server has
    /// reached, by an event or a bookmark, within another period, makes its kind
    /// [`Readiness::Stale`](crate::Readiness) with [`Cause::Frozen`](crate::Cause) until a stream proves to be alive
    /// again; the kind is listed anew meanwhile.
    ///
    /// Needs an API server whose consistent reads come from its watch cache, as since Kubernetes 1.34: an older one
    /// may be minutes behind with the bookmarks of a quiet kind. At least 2 minutes, twice the time between bookmarks.
    /// Default none.
    pub canary: Option<Duration>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            sync_timeout: Duration::from_secs(120),
            list_timeout: Duration::from_secs(30),
            page_size: 500,
            streaming_lists: false,
            watch_timeout: Duration::from_secs(290),
            canary: None,
        }
    }
}

impl Options {
    /// Settings of kube's watcher. Lists are consistent reads: without a resource version a server must not answer
    /// from an older state.
    pub(crate) fn watcher_config(&self, labels: Option<&str>) -> watcher::Config {
        let seconds = u32::try_from(self.watch_timeout.as_secs()).unwrap_or(u32::MAX).max(1);
        let config = watcher::Config::default().timeout(seconds).page_size(self.page_size.max(1));
        let config = if self.streaming_lists { config.streaming_lists() } else { config };
        match labels {
            Some(labels) => config.labels(labels),
            None => config,
        }
    }
}

/// A mistake in the registration of kinds.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The kind is registered already for the same objects.
    #[error("{resource} ({scope}) is cached already, registered at {first}")]
    Duplicate {
        /// Resource with its group.
        resource: String,
        /// Namespace and selector of both registrations.
        scope: Source,
        /// Where the first registration was made.
        first: &'static Location<'static>,
    },
    /// Two indexes of a kind have the same name.
    #[error("{resource} has two indexes named {index:?}")]
    DuplicateIndex {
        /// Resource with its group.
        resource: String,
        /// Name of the index.
        index: String,
    },
    /// The canary's period is shorter than the time a sound server may take.
    #[error("{resource}: the period of the canary must be at least {SHORTEST_PERIOD:?}")]
    ShortCanary {
        /// Resource with its group.
        resource: String,
    },
    /// An index was asked for that was not registered.
    #[error("{resource} has no index named {index:?}")]
    NoIndex {
        /// Resource with its group.
        resource: String,
        /// Name of the index.
        index: String,
    },
    /// The namespace is empty; the whole cluster is [`Source::all`].
    #[error("{resource}: the namespace is empty, use Source::all() for the whole cluster")]
    EmptyNamespace {
        /// Resource with its group.
        resource: String,
    },
}

/// Collects the kinds of a process and starts their tasks.
///
/// See the [crate documentation](crate) for an example.
pub struct Builder {
    client: Client,
    options: Options,
    outage: Outage,
    canary: Option<Canary>,
    /// Tests do not have as much time as a sound server may take.
    pub(crate) shortest_canary: Duration,
    registered: HashMap<(String, Source), &'static Location<'static>>,
    kinds: Vec<Arc<dyn Kind>>,
    tasks: Vec<Box<dyn Registered>>,
}

impl Builder {
    /// Starts a registration. `client` should be [`Clients::watch`](crate::Clients): a client that retries by itself
    /// hides the causes of failures.
    pub fn new(client: Client, options: Options) -> Self {
        Self {
            client,
            canary: options.canary.map(Canary::new),
            options,
            outage: Outage::default(),
            shortest_canary: SHORTEST_PERIOD,
            registered: HashMap::new(),
            kinds: Vec::new(),
            tasks: Vec::new(),
        }
    }

    /// Begins the registration of a kind, completed by [`CacheBuilder::build`].
    #[track_caller]
    pub fn cache<K: Cached>(&mut self, source: Source) -> CacheBuilder<'_, K> {
        self.cache_as(source, |object: K| object)
    }

    /// The same of a kind of whose objects only what `keep` makes of them is kept: indexes, subscribers and readers see
    /// that and nothing else. Everything the cache itself has to know of an object, it keeps beside it.
    ///
    /// An object of a few hundred bytes on the wire takes a few thousand in its own type, with a map for its labels and
    /// a list for its owners. Where there are many, keep what is read:
    ///
    /// ```no_run
    /// use cachelib::{BuildError, Builder, Cache, SecretMeta, Source};
    ///
    /// /// What this process wants to know of a Secret.
    /// struct Expiry(Option<Box<str>>);
    ///
    /// impl From<SecretMeta> for Expiry {
    ///     fn from(secret: SecretMeta) -> Self {
    ///         let mut annotations = secret.metadata.annotations.unwrap_or_default();
    ///         Expiry(annotations.remove("example.org/expires").map(String::into_boxed_str))
    ///     }
    /// }
    ///
    /// fn register(builder: &mut Builder) -> Result<Cache<Expiry>, BuildError> {
    ///     let secrets = builder.cache_as::<SecretMeta, _>(Source::namespaced("default"), Expiry::from);
    ///     secrets.index("expiry", |expiry| expiry.0.iter().map(|day| day.to_string()).collect()).build()
    /// }
    /// ```
    #[track_caller]
    pub fn cache_as<K: Cached, T>(
        &mut self,
        source: Source,
        keep: impl Fn(K) -> T + Send + Sync + 'static,
    ) -> CacheBuilder<'_, K, T> {
        CacheBuilder {
            keep: Box::new(keep),
            builder: self,
            source,
            indexes: Vec::new(),
            annotation_prefixes: None,
            required: true,
            location: Location::caller(),
        }
    }

    /// Starts one task for each kind. Must be called within a Tokio runtime.
    pub fn start(self) -> Running {
        Running::new(self.options.sync_timeout, self.kinds, self.tasks)
    }

    /// Lists each kind once, all at the same time, and watches nothing: for a program that looks once and ends. The
    /// caches then hold what there was, and stay as they are; [`Readiness`](crate::Readiness) is `Stale`, or `Failed`
    /// where there was no list, with [`Cause::Stopped`](crate::Cause). Costs one LIST per page and kind.
    ///
    /// ```no_run
    /// # async fn show(client: kube::Client) -> Result<(), Box<dyn std::error::Error>> {
    /// use cachelib::{Builder, Options, SecretMeta, Source};
    /// use k8s_openapi::api::core::v1::ConfigMap;
    /// let mut builder = Builder::new(client, Options::default());
    /// let config_maps = builder.cache::<ConfigMap>(Source::namespaced("default")).build()?;
    /// let secrets = builder.cache::<SecretMeta>(Source::namespaced("default")).build()?;
    /// let loaded = builder.load().await;
    /// match loaded.failure(&secrets) {
    ///     None => println!("{} Secrets beside {} ConfigMaps", secrets.len(), config_maps.len()),
    ///     Some(error) => println!("Secrets may not be seen: {error}"),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn load(self) -> Loaded {
        let lists = self.tasks.into_iter().map(async |task| (task.identity(), task.load().await));
        let outcomes = join_all(lists).await;
        let failures = outcomes.into_iter().filter_map(|(kind, outcome)| Some((kind, outcome.err()?)));
        Loaded { failures: failures.collect() }
    }
}

impl std::fmt::Debug for Builder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Builder").field("registered", &self.registered.keys()).finish_non_exhaustive()
    }
}

/// The registration of one kind `K`, of whose objects `T` is kept.
#[must_use = "a kind is registered by build()"]
pub struct CacheBuilder<'a, K: Cached, T = K> {
    builder: &'a mut Builder,
    source: Source,
    keep: Keep<K, T>,
    indexes: Vec<IndexSpec<T>>,
    annotation_prefixes: Option<Vec<String>>,
    required: bool,
    location: &'static Location<'static>,
}

impl<K: Cached, T: Send + Sync + 'static> CacheBuilder<'_, K, T> {
    /// Adds an index: from each value that `values` returns for an object to that object. [`Cache::index`] looks up.
    ///
    /// `values` must be pure, since it is asked again for the old values when an object changes or goes.
    pub fn index(
        mut self,
        name: impl Into<String>,
        values: impl Fn(&T) -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        self.indexes.push(IndexSpec::new(name, values));
        self
    }

    /// Keeps only annotations whose names begin with one of these prefixes; by default all are stored.
    pub fn keep_annotations<P: Into<String>>(mut self, prefixes: impl IntoIterator<Item = P>) -> Self {
        self.annotation_prefixes = Some(prefixes.into_iter().map(Into::into).collect());
        self
    }

    /// The process can do without this kind: [`Running::ready`] does not wait for it. What depends on it asks
    /// [`Cache::readiness`].
    pub fn optional(mut self) -> Self {
        self.required = false;
        self
    }

    /// Registers the kind.
    ///
    /// # Errors
    ///
    /// When the same kind is registered already for the same objects, or the registration itself is wrong.
    pub fn build(self) -> Result<Cache<T>, BuildError> {
        let resource = resource_name::<K>();
        let mut names = HashSet::new();
        if let Some(twice) = self.indexes.iter().find(|spec| !names.insert(spec.name.as_str())) {
            return Err(BuildError::DuplicateIndex { resource, index: twice.name.clone() });
        }
        if self.source.namespace() == Some("") {
            return Err(BuildError::EmptyNamespace { resource });
        }
        if self.builder.options.canary.is_some_and(|period| period < self.builder.shortest_canary) {
            return Err(BuildError::ShortCanary { resource });
        }
        let identity = (resource.clone(), self.source.clone());
        if let Some(first) = self.builder.registered.get(&identity) {
            return Err(BuildError::Duplicate { resource, scope: self.source, first });
        }
        self.builder.registered.insert(identity, self.location);
        let core = Arc::new(Core::new::<K>(self.source, self.indexes, self.required));
        let (keep, prefixes) = (self.keep, self.annotation_prefixes);
        let keep = move |object| keep(pruned(object, prefixes.as_deref()));
        let task = Task {
            client: self.builder.client.clone(),
            options: self.builder.options.clone(),
            writer: Writer::new(Arc::clone(&core), Box::new(keep)),
            canary: self.builder.canary.clone(),
            outage: self.builder.outage.clone(),
        };
        self.builder.tasks.push(Box::new(task));
        self.builder.kinds.push(Arc::new(Typed::<K, T>::new(Arc::clone(&core))));
        Ok(Cache::new(core))
    }
}

/// The object with annotations of these prefixes alone.
fn pruned<K: Cached>(mut object: K, prefixes: Option<&[String]>) -> K {
    if let (Some(prefixes), Some(annotations)) = (prefixes, &mut object.meta_mut().annotations) {
        annotations.retain(|name, _| prefixes.iter().any(|prefix| name.starts_with(prefix)));
    }
    object
}

#[cfg(test)]
mod tests;
