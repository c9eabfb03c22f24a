//! Where the control plane's programs come from.
//!
//! Purpose: find etcd, the Kubernetes programs and kwok in `KUBEBUILDER_ASSETS`, else in the cache folder, else
//! build them there from the pinned Go modules in `testenv/controlplane`.
//!
//! Owns: the cache folder `$XDG_CACHE_HOME/trusted-testenv/<hash of the module files>` and its lock.
//!
//! A cluster that is there already takes kubectl alone, and nothing is built for it.
//!
//! Must not: download binaries; use programs of another version from the cache (hence the hash in its name).

mod build;

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};

use crate::Error;

/// A folder of envtest binaries, as users of other Kubernetes projects already have it.
const ASSETS_VARIABLE: &str = "KUBEBUILDER_ASSETS";

/// The version that the pinned modules build, told to the programs at link time.
const KUBERNETES_VERSION: (&str, &str, &str) = ("v1.37.2", "1", "37");

/// One program of the control plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// The database.
    Etcd,
    /// The API server.
    ApiServer,
    /// Garbage collection, Deployments, Jobs, the end of namespaces.
    ControllerManager,
    /// Gives pods a node.
    Scheduler,
    /// The command line client.
    Kubectl,
    /// Simulated nodes: pods become ready, Jobs complete.
    Kwok,
}

impl Program {
    /// All programs, in the order in which they are built (kubectl and the rest share most packages).
    pub const ALL: [Program; 6] = [
        Program::Etcd,
        Program::ApiServer,
        Program::ControllerManager,
        Program::Scheduler,
        Program::Kubectl,
        Program::Kwok,
    ];

    /// File name of the program.
    pub fn name(self) -> &'static str {
        match self {
            Program::Etcd => "etcd",
            Program::ApiServer => "kube-apiserver",
            Program::ControllerManager => "kube-controller-manager",
            Program::Scheduler => "kube-scheduler",
            Program::Kubectl => "kubectl",
            Program::Kwok => "kwok",
        }
    }

    /// The Go package it is built from.
    fn package(self) -> String {
        match self {
            Program::Etcd => "go.etcd.io/etcd/server/v3".to_owned(),
            Program::Kwok => "sigs.k8s.io/kwok/cmd/kwok".to_owned(),
            _ => format!("k8s.io/kubernetes/cmd/{}", self.name()),
        }
    }

    /// The module that pins its version. kwok needs other Kubernetes libraries and has a module of its own.
    fn module(self) -> &'static str {
        match self {
            Program::Kwok => "kwok",
            _ => "kubernetes",
        }
    }
}

/// The programs of one control plane.
#[derive(Clone, Debug)]
pub struct Assets {
    paths: Vec<(Program, PathBuf)>,
}

impl Assets {
    /// Finds all programs, building what is missing. The first build takes minutes and says so on stderr.
    pub fn find() -> Result<Assets, Error> {
        let given = env::var_os(ASSETS_VARIABLE).map(PathBuf::from);
        let present = |dir: &Path, program: Program| dir.join(program.name()).is_file();
        let missing: Vec<Program> = Program::ALL
            .into_iter()
            .filter(|program| !given.as_deref().is_some_and(|dir| present(dir, *program)))
            .collect();
        let cached = cache_dir()?;
        if missing.iter().any(|program| !present(&cached, *program)) {
            build::build(&cached, &missing, build::find_go())?;
        }
        let dir_of = |program| match &given {
            Some(dir) if !missing.contains(&program) => dir.clone(),
            _ => cached.clone(),
        };
        let paths = Program::ALL.map(|program| (program, dir_of(program).join(program.name())));
        Ok(Assets { paths: paths.into() })
    }

    /// The path of one program.
    pub fn path(&self, program: Program) -> &Path {
        // `find` fills in every program, so the fallback to a look-up on PATH is never reached.
        self.paths
            .iter()
            .find(|(known, _)| *known == program)
            .map_or(Path::new(program.name()), |(_, path)| path)
    }
}

/// kubectl, from `KUBEBUILDER_ASSETS`, the cache folder or PATH. Nothing is built, since it would be built with the rest.
pub(crate) fn find_kubectl() -> Result<PathBuf, Error> {
    let path = env::var_os("PATH").unwrap_or_default();
    let given = env::var_os(ASSETS_VARIABLE).map(PathBuf::from);
    let folders = given.into_iter().chain([cache_dir()?]).chain(env::split_paths(&path));
    let mut programs = folders.map(|folder| folder.join(Program::Kubectl.name()));
    programs.find(|program| program.is_file()).ok_or(Error::NoKubectl)
}

/// The cache folder for the module files as they are now.
pub fn cache_dir() -> Result<PathBuf, Error> {
    let base = env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .or_else(|| env::home_dir().map(|home| home.join(".cache")))
        .unwrap_or_else(env::temp_dir);
    Ok(base.join("trusted-testenv").join(modules_hash()?))
}

/// Where the Go modules lie.
fn modules_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("controlplane")
}

/// A short hash over everything that determines the binaries.
fn modules_hash() -> Result<String, Error> {
    let mut hash = Sha256::new();
    for module in ["kubernetes", "kwok"] {
        for file in ["go.mod", "go.sum"] {
            let path = modules_dir().join(module).join(file);
            hash.update(fs::read(&path).map_err(Error::io(path))?);
        }
    }
    hash.update(KUBERNETES_VERSION.0);
    Ok(trusted_crds::hex(&hash.finalize()[..8]))
}
