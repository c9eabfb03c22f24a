//! Which file of a control plane lies where in its data folder.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::Error;

/// Paths inside the data folder of one control plane.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    root: PathBuf,
}

impl Layout {
    /// Makes the folders below `root`.
    pub(crate) fn create(root: &Path) -> Result<Layout, Error> {
        let layout = Layout { root: root.to_owned() };
        for dir in [layout.logs(), layout.kubeconfigs(), layout.keys()] {
            fs::create_dir_all(&dir).map_err(Error::io(dir))?;
        }
        Ok(layout)
    }

    pub(crate) fn etcd_data(&self) -> PathBuf {
        self.root.join("etcd")
    }

    pub(crate) fn logs(&self) -> PathBuf {
        self.root.join("log")
    }

    pub(crate) fn log(&self, component: &str) -> PathBuf {
        self.logs().join(format!("{component}.log"))
    }

    pub(crate) fn audit_log(&self) -> PathBuf {
        self.logs().join("audit.json")
    }

    pub(crate) fn audit_policy(&self) -> PathBuf {
        self.root.join("audit-policy.yaml")
    }

    pub(crate) fn tokens(&self) -> PathBuf {
        self.root.join("tokens.csv")
    }

    pub(crate) fn stages(&self) -> PathBuf {
        self.root.join("stages.yaml")
    }

    pub(crate) fn kubeconfigs(&self) -> PathBuf {
        self.root.join("kubeconfig")
    }

    pub(crate) fn kubeconfig(&self, name: &str) -> PathBuf {
        self.kubeconfigs().join(format!("{name}.yaml"))
    }

    pub(crate) fn keys(&self) -> PathBuf {
        self.root.join("keys")
    }

    pub(crate) fn authority(&self) -> PathBuf {
        self.keys().join("authority.crt")
    }

    pub(crate) fn server_certificate(&self) -> PathBuf {
        self.keys().join("apiserver.crt")
    }

    pub(crate) fn server_key(&self) -> PathBuf {
        self.keys().join("apiserver.key")
    }

    pub(crate) fn account_signing_key(&self) -> PathBuf {
        self.keys().join("service-account.key")
    }

    pub(crate) fn account_public_key(&self) -> PathBuf {
        self.keys().join("service-account.pub")
    }
}
