//! A namespace in which somebody decides about keys.

use std::process::Stdio;
use std::time::Duration;

use testenv::{ControlPlane, TestNamespace, eventually};
use tokio::process::Child;
use trusted_crds::{Approval, AttestationKey, Fingerprint};

use crate::run::{Plugin, Ran};
use crate::stage::Stage;

/// A namespace in which somebody with the Role of approvers decides.
pub(crate) struct Scene {
    pub(crate) namespace: TestNamespace,
    pub(crate) stage: Stage,
    pub(crate) approver: Plugin,
}

impl Scene {
    pub(crate) async fn new(prefix: &str) -> Scene {
        let namespace = ControlPlane::shared().await.namespace(prefix).await;
        let (stage, approver) = (Stage::of(&namespace), Plugin::as_user(&namespace, "approver"));
        Scene { namespace, stage, approver }
    }

    /// With one key `k` that names the machine `node`.
    pub(crate) async fn with_key(prefix: &str) -> (Scene, Fingerprint) {
        let scene = Scene::new(prefix).await;
        let key = scene.stage.key("k", Some("node")).await;
        (scene, key)
    }

    pub(crate) fn user(&self, user: &str) -> Plugin {
        Plugin::as_user(&self.namespace, user)
    }

    /// Approves without being asked and without waiting.
    pub(crate) async fn approve(&self, arguments: &[&str]) -> Ran {
        self.approver.run(&[&["approve-ak", "-y", "--no-wait", "-o", "json"], arguments].concat()).await
    }

    /// Decides about `k` and follows the effect, in a process of its own.
    pub(crate) fn follow(&self, verb: &str) -> Child {
        self.approver
            .command()
            .args([verb, "k", "-y", "-o", "json", "--timeout", "60s"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    pub(crate) async fn decision(&self, name: &str) -> Option<Approval> {
        self.stage.api::<AttestationKey>().get(name).await.unwrap().spec.approval
    }

    pub(crate) async fn decision_about_k(&self) {
        eventually("the decision", Duration::from_secs(10), || self.decision("k")).await;
    }
}

/// The one item of a result.
pub(crate) fn item(ran: &Ran) -> serde_json::Value {
    let document = ran.json();
    assert_eq!(document["kind"], "ApprovalResult");
    assert_eq!(document["items"].as_array().unwrap().len(), 1, "{document}");
    document["items"][0].clone()
}
