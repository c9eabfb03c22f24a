//! `demo`: the main job, from an empty cluster to a screen that says what is trusted and why.
//!
//! Purpose: show each command as a person would type it, and what they would see. Every line after a `$` is run as
//! it is shown, with kubectl and the plugin on PATH.

mod fleet;
mod shell;

use std::{
    collections::BTreeMap,
    process::ExitCode,
    time::{Duration, Instant},
};

use clap::Args;
use kube::{Api, api::ListParams};
use serde::Serialize;
use testenv::{audit::Window, operator::Operator, poll, progress::Progress};
use trusted_crds::{
    AttestationKey, Delivered, KeyState, PublicKey, condition, names::TRUSTEE_DEPLOYMENT, reason,
};

use self::{fleet::Fleet, shell::Shell};
use crate::{
    bench::{Bench, Broken},
    failure::Failure,
    output, up,
};

/// The namespace of the demo.
const NAMESPACE: &str = "trusted";

/// How long the operator may take for anything the demo waits for. It takes a few seconds at most.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Options of `demo`.
#[derive(Clone, Debug, Args)]
pub(crate) struct DemoArgs {
    /// Leave everything running until Ctrl-C, and say how to reach it.
    #[arg(long)]
    keep: bool,
    /// Print one JSON document instead.
    #[arg(long)]
    json: bool,
}

/// The document of `--json`.
#[derive(Debug, Serialize)]
struct Report {
    ok: bool,
    verdict: String,
    machines: usize,
    keys: Counts,
    /// Nothing where there is no audit log.
    operator_requests: Option<RequestCounts>,
    seconds: f64,
}

#[derive(Debug, Default, Serialize)]
struct Counts {
    trusted: usize,
    pending: usize,
    refused: usize,
}

#[derive(Debug, Serialize)]
struct RequestCounts {
    get: usize,
    list: usize,
    watch: usize,
    write: usize,
}

/// Runs the demo.
pub(crate) async fn run(args: &DemoArgs) -> Result<ExitCode, Failure> {
    let bench = Bench::prepare(NAMESPACE).await?;
    let began = Instant::now();
    let admin = bench.namespace.user_kubeconfig("admin")?;
    let shell = Shell::new(&bench, admin.clone(), args.json)?;
    let fleet = Fleet::write(shell.folder())?;
    let (operator, _) = bench.start_operator().await?;
    let own = bench.control_plane.try_audit().is_some();
    let demo = Demo { bench: &bench, shell: &shell, fleet: &fleet, own };
    demo.play().await?;
    let (report, broken) = demo.report(&operator, began).await?;
    let (folder, plugin) = (shell.path(), admin.display());
    match args.json {
        true => output::json(&report),
        false => output::line(&report.in_words()),
    }
    let code = broken.report();
    if args.keep {
        output::note(&format!("\nexport KUBECONFIG={plugin}\nexport PATH={folder}:$PATH"));
        up::stay().await?;
    }
    operator.stop().await?;
    Ok(code)
}

/// A demo in progress.
struct Demo<'a> {
    bench: &'a Bench,
    shell: &'a Shell,
    fleet: &'a Fleet,
    /// Whether the control plane is our own: with an audit log, and with nodes on which Trustee is sure to run.
    own: bool,
}

impl Demo<'_> {
    /// What a person types, in order.
    async fn play(&self) -> Result<(), Failure> {
        let shell = self.shell;
        if !self.own {
            shell.say(
                "This cluster was here before. It shows no audit log, so nothing is counted; and whether Trustee's image \
                 runs on its nodes is not waited for.",
            );
        }
        shell.say("A cluster, an image to boot, two machines, and the keys that they registered.");
        shell.run("kubectl apply -f cluster.yaml -f image.yaml -f machines.yaml -f keys.yaml", &[0]).await?;
        self.wait_for(&[
            (fleet::MATCHING[0], reason::MACHINE_CREATED),
            (fleet::MATCHING[1], reason::MACHINE_CREATED),
            (fleet::WAITING, reason::AWAITING_APPROVAL),
        ])
        .await?;

        shell.say("Somebody else claims to be the first machine, with a key of their own.");
        shell.run("kubectl apply -f intruder.yaml", &[0]).await?;
        self.wait_for(&[(fleet::CONFLICTING, reason::CONFLICT)]).await?;
        self.wait_for_delivery(&fleet::MATCHING).await?;

        shell.say("Where do we stand?");
        shell.run("kubectl trusted status", &[0, 3]).await?;

        shell.say(
            "One key waits for a person, who has compared its fingerprint with the spare machine's label.",
        );
        if self.own {
            shell.run(&self.snapshot("before.json"), &[0]).await?;
        }
        shell.run(&self.fleet.approval(self.own), &[0]).await?;
        self.wait_for(&[(fleet::WAITING, reason::MANUALLY_APPROVED)]).await?;
        self.wait_for_delivery(&[fleet::MATCHING[0], fleet::MATCHING[1], fleet::WAITING]).await?;
        shell.run("kubectl trusted status", &[0, 3]).await?;
        if !self.own {
            return Ok(());
        }

        shell.say("And what did that approval cost the API server, by the API server's own audit log?");
        shell.run(&self.snapshot("after.json"), &[0]).await?;
        shell.run("kubectl trusted audit-api-calls diff before.json after.json", &[0]).await?;
        shell.say(
            "The GETs are of the lease, by which one operator leads, and of version and kinds at the start. One \
             failure is the lease that was not there yet; the new one is a dry run: before it acts on an \
             approval, the operator makes sure that a forged one is refused.",
        );
        Ok(())
    }

    fn snapshot(&self, file: &str) -> String {
        let user = &self.bench.user;
        format!("kubectl trusted audit-api-calls snapshot --audit-log audit.json --user {user} --out {file}")
    }

    async fn keys(&self) -> Result<BTreeMap<String, AttestationKey>, kube::Error> {
        let keys: Api<AttestationKey> =
            Api::namespaced(self.bench.admin.clone(), self.bench.namespace.name());
        let keys = keys.list(&ListParams::default()).await?;
        Ok(keys.into_iter().map(|key| (key.metadata.name.clone().unwrap_or_default(), key)).collect())
    }

    /// Waits until keys have come to what is expected of them.
    async fn wait_for(&self, expected: &[(&str, &str)]) -> Result<(), Failure> {
        let names: Vec<&str> = expected.iter().map(|(name, _)| *name).collect();
        let what = format!("the operator to decide about {}", names.join(", "));
        let progress = Progress::short(&format!("waiting for {what}"));
        poll(&what, TIMEOUT, || async {
            let keys = self.keys().await.map_err(|error| error.to_string())?;
            let wrong = expected.iter().find(|(name, expected)| reason_of(&keys, name) != *expected);
            wrong.map_or(Ok(()), |(name, _)| Err(format!("{name}: {}", reason_of(&keys, name))))
        })
        .await?;
        progress.clear();
        Ok(())
    }

    /// Waits until Trustee runs with these keys, or, where its pods may not run at all, is told to.
    async fn wait_for_delivery(&self, names: &[&str]) -> Result<(), Failure> {
        let progress = Progress::short("waiting for Trustee to run with the trusted keys");
        let deployments = Api::namespaced(self.bench.admin.clone(), self.bench.namespace.name());
        let keys = self.keys().await.map_err(Failure::kube("list the keys"))?;
        poll("Trustee to run with the trusted keys", TIMEOUT, || async {
            let deployment = deployments.get(TRUSTEE_DEPLOYMENT).await.map_err(|error| error.to_string())?;
            let delivered = Delivered::read(&deployment);
            let has = |name: &&&str| {
                let key = keys.get(**name).and_then(|key| PublicKey::from_pem(&key.spec.public_key).ok());
                key.is_some_and(|key| delivered.has_key(key.fingerprint()))
            };
            match names.iter().find(|name| !has(name)) {
                Some(name) => Err(format!("{name} is missing")),
                None if delivered.rolled_out || !self.own => Ok(()),
                None => Err("rolling out".to_owned()),
            }
        })
        .await?;
        progress.clear();
        Ok(())
    }

    async fn report(&self, operator: &Operator, began: Instant) -> Result<(Report, Broken), Failure> {
        let verdict = self.shell.verdict().await?;
        let mut keys = Counts::default();
        for key in self.keys().await.map_err(Failure::kube("list the keys"))?.values() {
            match KeyState::of(key) {
                KeyState::Trusted => keys.trusted += 1,
                KeyState::Pending => keys.pending += 1,
                KeyState::Refused => keys.refused += 1,
            }
        }
        let requests = match self.own {
            true => Some(self.requests(operator).await?),
            false => None,
        };
        let gets = requests.as_ref().map_or(0, |requests| requests.get);
        let mut broken = Broken::default();
        broken.unless((keys.trusted, keys.pending, keys.refused) == (3, 0, 1), || {
            format!("3 keys are to be trusted and 1 refused, but it is {keys:?}")
        });
        broken.unless(gets == 0, || format!("the operator sent {gets} GET requests"));
        broken.unless(verdict != "Unknown", || "the verdict is Unknown".to_owned());
        let report = Report {
            ok: broken.is_empty(),
            verdict,
            machines: fleet::MACHINES.len(),
            keys,
            operator_requests: requests,
            seconds: began.elapsed().as_secs_f64(),
        };
        Ok((report, broken))
    }

    /// What the operator asked of the API server.
    async fn requests(&self, operator: &Operator) -> Result<RequestCounts, Failure> {
        let work = self.bench.requests(Window::since(operator.started)).await?.work();
        let count = |verb| work.filter(|request| request.verb == verb).total();
        Ok(RequestCounts {
            get: count("get"),
            list: count("list"),
            watch: count("watch"),
            write: work.writes(),
        })
    }
}

impl Report {
    fn in_words(&self) -> String {
        let Report { ok, verdict, machines, keys, operator_requests: requests, seconds } = self;
        let outcome = if *ok { "Done" } else { "FAILED" };
        let requests = requests.as_ref().map_or(
            "The operator's requests were not counted, since there is no audit log.".to_owned(),
            |RequestCounts { get, list, watch, write }| {
                format!(
                    "Leaving out its lease, its events and its checks of rights and policies, the operator sent {get} \
                     GET, {list} LIST, {watch} WATCH and {write} writes."
                )
            },
        );
        format!(
            "\n{outcome} in {seconds:.0} s: {machines} machines; {} keys trusted, {} pending, {} refused; verdict \
             {verdict}. {requests}",
            keys.trusted, keys.pending, keys.refused,
        )
    }
}

fn reason_of<'a>(keys: &'a BTreeMap<String, AttestationKey>, name: &str) -> &'a str {
    let status = keys.get(name).and_then(|key| key.status.as_ref());
    let approved = status.and_then(|status| condition::find(&status.conditions, condition::APPROVED));
    approved.map_or("not looked at yet", |approved| approved.reason.as_str())
}
