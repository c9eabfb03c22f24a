//! What the runs of a plan have shown, as a document and in words.

use std::{fmt, time::Duration};

use serde::Serialize;

use super::scene::Verdict;
use crate::Error;

/// What a plan has shown.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The plan's name.
    pub plan: String,
    /// How many runs there were.
    pub runs: usize,
    /// The runs in which something does not hold.
    pub failed: Vec<Failed>,
    /// Whether all runs came to the end that the run without faults came to.
    pub end_state_equal: bool,
    /// Writes in all runs after everything had settled.
    pub writes_after_settling: usize,
    /// From which everything left to chance follows.
    pub seed: u64,
    /// How long the plan took.
    pub seconds: f64,
    /// How many writes the run without faults has.
    pub writes: usize,
    /// Every run.
    pub details: Vec<RunReport>,
}

/// A run in which something does not hold.
#[derive(Clone, Debug, Serialize)]
pub struct Failed {
    /// The run's name.
    pub run: String,
    /// What does not hold.
    pub why: String,
}

/// One run.
#[derive(Clone, Debug, Serialize)]
pub struct RunReport {
    /// Its name.
    pub run: String,
    /// What was done to the operator.
    pub done: String,
    /// What does not hold, if anything.
    pub why: Option<String>,
    /// Whether its end is that of the run without faults.
    pub end_state_equal: bool,
    /// Writes after everything had settled.
    pub writes_after_settling: usize,
    /// How long it took.
    pub seconds: f64,
}

impl RunReport {
    pub(super) fn new(run: String, verdict: Result<Verdict, Error>, took: Duration) -> RunReport {
        let verdict =
            verdict.unwrap_or_else(|error| Verdict { broken: vec![error.to_string()], ..Verdict::default() });
        RunReport {
            run,
            done: verdict.note,
            why: (!verdict.broken.is_empty()).then(|| verdict.broken.join("; ")),
            end_state_equal: verdict.equal,
            writes_after_settling: verdict.writes_after,
            seconds: took.as_secs_f64(),
        }
    }
}

impl Report {
    pub(super) fn new(plan: &str, seed: u64, writes: usize, details: Vec<RunReport>) -> Report {
        let failed =
            details.iter().filter_map(|run| run.why.clone().map(|why| Failed { run: run.run.clone(), why }));
        Report {
            plan: plan.to_owned(),
            runs: details.len(),
            failed: failed.collect(),
            end_state_equal: details.iter().all(|run| run.end_state_equal),
            writes_after_settling: details.iter().map(|run| run.writes_after_settling).sum(),
            seed,
            seconds: 0.0,
            writes,
            details,
        }
    }

    /// Several plans as one.
    pub(super) fn together(plan: &str, seed: u64, plans: Vec<Report>) -> Report {
        let writes = plans.iter().map(|plan| plan.writes).max().unwrap_or_default();
        let details = plans.into_iter().flat_map(|report| {
            let plan = report.plan;
            report.details.into_iter().map(move |run| RunReport { run: format!("{plan}/{}", run.run), ..run })
        });
        Report::new(plan, seed, writes, details.collect())
    }

    /// Whether everything that the plan promises holds. A plan without runs shows nothing.
    pub fn holds(&self) -> bool {
        self.runs > 0 && self.failed.is_empty() && self.end_state_equal && self.writes_after_settling == 0
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.details.iter().map(|run| run.run.len()).max().unwrap_or_default();
        for run in &self.details {
            let outcome = if run.why.is_some() { "BROKEN" } else { "ok" };
            writeln!(f, "{outcome:<7}{:<width$} {:>6.1} s  {}", run.run, run.seconds, run.done)?;
            if let Some(why) = &run.why {
                writeln!(f, "       {why}")?;
            }
        }
        write!(
            f,
            "plan {}, seed {}: {} of {} runs hold; end states equal: {}; writes after settling: {}; {:.0} s",
            self.plan,
            self.seed,
            self.runs - self.failed.len(),
            self.runs,
            self.end_state_equal,
            self.writes_after_settling,
            self.seconds
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(name: &str, broken: &[&str], equal: bool, writes_after: usize) -> RunReport {
        let broken = broken.iter().map(|what| (*what).to_owned()).collect();
        let verdict = Verdict { broken, equal, writes_after, note: "killed".to_owned() };
        RunReport::new(name.to_owned(), Ok(verdict), Duration::from_secs(1))
    }

    #[test]
    fn a_plan_holds_only_where_every_run_does() {
        let report = |runs| Report::new("p", 1, 3, runs);
        assert!(report(vec![run("a", &[], true, 0)]).holds());
        assert!(!report(vec![]).holds(), "no run shows nothing");
        assert!(!report(vec![run("a", &[], true, 0), run("b", &["x"], true, 0)]).holds());
        assert!(!report(vec![run("a", &[], false, 0)]).holds());
        assert!(!report(vec![run("a", &[], true, 1)]).holds());
    }

    #[test]
    fn a_failed_run_is_named_with_all_that_is_wrong() {
        let plan = Report::new("p", 1, 3, vec![run("a", &["x", "y"], false, 2)]);
        let all = Report::together("all", 1, vec![plan]);
        assert_eq!((all.failed[0].run.as_str(), all.failed[0].why.as_str()), ("p/a", "x; y"));
        assert_eq!((all.runs, all.writes_after_settling, all.end_state_equal), (1, 2, false));
        let words = all.to_string();
        assert!(words.contains("BROKEN p/a") && words.contains("0 of 1 runs hold"), "{words}");
        let cut = RunReport::new("c".to_owned(), Err(Error::Start("no".to_owned())), Duration::ZERO);
        assert!(!cut.end_state_equal && cut.why.as_deref() == Some("no"));
    }
}
