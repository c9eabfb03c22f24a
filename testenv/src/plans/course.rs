//! Many runs of one plan, some at a time.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Instant,
};

use futures::{StreamExt, stream};

use super::{
    clean::Clean,
    report::RunReport,
    scene::{Scene, Verdict},
    workload::Workload,
};
use crate::{ControlPlane, Error, progress::Progress, shuffle::Shuffler};

/// How the runs are made.
#[derive(Clone, Debug)]
pub struct Options {
    /// What is left to chance follows from it.
    pub seed: u64,
    /// How often each run of a plan without seeds of its own is repeated.
    pub repeats: usize,
    /// Over how many seeds a plan that leaves things to chance goes; each plan has a number of its own.
    pub seeds: Option<usize>,
    /// Runs at a time.
    pub jobs: usize,
    /// Only the run of this name.
    pub only: Option<String>,
    /// A folder for what the operator and the proxy of a failed run had to tell.
    pub logs: Option<PathBuf>,
}

/// What all runs share.
pub(super) struct Stage<'a> {
    pub(super) control_plane: &'static ControlPlane,
    pub(super) operator: &'a Path,
    pub(super) progress: Progress,
}

/// A plan under way.
pub(super) struct Course<'a> {
    pub(super) stage: &'a Stage<'a>,
    pub(super) options: &'a Options,
    pub(super) workload: &'a Workload,
    pub(super) clean: &'a Clean,
}

impl Course<'_> {
    /// A name and a seed for each of the runs of a plan that goes over seeds.
    pub(super) fn seeded(&self, default: usize) -> Vec<(String, u64)> {
        let mut seeds = Shuffler::new(self.options.seed);
        let count = self.options.seeds.unwrap_or(default);
        (1..=count).map(|number| (format!("seed-{number:02}"), seeds.draw())).collect()
    }

    /// Has runs, each with a scene of its own. A run that cannot be brought to its end has failed.
    pub(super) async fn each<C>(
        &self,
        cases: Vec<(String, C)>,
        run: impl AsyncFn(&mut Scene, &C) -> Result<Verdict, Error>,
    ) -> Vec<RunReport> {
        let wanted = |name: &String| self.options.only.as_ref().is_none_or(|only| only == name);
        let cases = cases.into_iter().filter(|(name, _)| wanted(name));
        stream::iter(cases.enumerate())
            .map(|(number, (name, case))| {
                let run = &run;
                async move {
                    self.stage.progress.message(&name);
                    let began = Instant::now();
                    let seed = self.options.seed.wrapping_add(number as u64);
                    let verdict = self.one(&name, seed, &case, run).await;
                    self.stage.progress.advance();
                    RunReport::new(name, verdict, began.elapsed())
                }
            })
            .buffered(self.options.jobs.max(1))
            .collect()
            .await
    }

    async fn one<C>(
        &self,
        name: &str,
        seed: u64,
        case: &C,
        run: &impl AsyncFn(&mut Scene, &C) -> Result<Verdict, Error>,
    ) -> Result<Verdict, Error> {
        let mut scene = Scene::new(self.stage, seed).await?;
        let verdict = run(&mut scene, case).await;
        if verdict.as_ref().map_or(true, |verdict| !verdict.broken.is_empty()) {
            self.keep(name, &scene)?;
        }
        verdict
    }

    fn keep(&self, name: &str, scene: &Scene) -> Result<(), Error> {
        let Some(folder) = &self.options.logs else { return Ok(()) };
        fs::create_dir_all(folder).map_err(Error::io(folder))?;
        let file = folder.join(format!("{name}.log"));
        fs::write(&file, scene.account()).map_err(Error::io(&file))
    }
}
