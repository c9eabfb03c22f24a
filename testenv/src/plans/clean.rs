//! The run without faults, with which all others are compared.

use super::{
    course::Stage,
    scene::{QUIET, Scene, Verdict},
    state::State,
    workload::Workload,
    writes::{self, Tally},
};
use crate::Error;

/// What a run without faults came to.
pub(super) struct Clean {
    /// The state after each step.
    pub(super) states: Vec<State>,
    /// Every write, in words, in order.
    pub(super) writes: Vec<String>,
    /// What was created and deleted.
    pub(super) tally: Tally,
}

impl Clean {
    /// Does the work without faults and records what comes of it.
    pub(super) async fn record(stage: &Stage<'_>, workload: &Workload) -> Result<Clean, Error> {
        let scene = Scene::new(stage, workload.seed).await?;
        let operator = scene.start().await?;
        let mut states = Vec::new();
        for step in &workload.steps {
            workload.act(*step, &scene.hands).await?;
            scene.still(QUIET).await;
            states.push(scene.watched.state());
            stage.progress.advance();
        }
        let sent = writes::sent(&scene.proxy.log());
        let tally = scene.tally().await?;
        operator.stop().await?;
        let writes = sent.iter().map(ToString::to_string).collect();
        Ok(Clean { states, writes, tally })
    }

    /// The state after the last step.
    pub(super) fn end(&self) -> &State {
        self.states.last().unwrap_or(&self.states[0])
    }
}

/// The same once more: shows that the work has one end, before a fault is blamed for another.
pub(super) async fn control(scene: &mut Scene, workload: &Workload, clean: &Clean) -> Result<Verdict, Error> {
    let _operator = scene.start().await?;
    scene.play(workload, clean).await?;
    let mut verdict = scene.judge(clean).await?;
    verdict.note(writes::repeated_patch(&writes::sent(&scene.proxy.log())));
    "no fault".clone_into(&mut verdict.note);
    Ok(verdict)
}
