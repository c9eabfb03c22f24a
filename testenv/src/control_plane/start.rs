//! One attempt to start a control plane.

use std::{fs, sync::Mutex, time::Duration};

use kube::Client;

use super::{ControlPlane, Ground, components, install, runtime};
use crate::{
    Error,
    assets::{Assets, Program},
    certificates,
    deploy::Deploy,
    endpoint::Endpoint,
    eventually::poll,
    identities::{ADMIN, CONTROLLER_MANAGER, KWOK, PROBE, Run, SCHEDULER, Tokens},
    layout::Layout,
    process::{DataDir, Process},
};

/// How long the API server may take. It takes under 3 s; the rest is for machines that are busy building.
const API_SERVER_TIMEOUT: Duration = Duration::from_secs(60);

/// How many lines of a component's log an error shows.
const LOG_LINES: usize = 20;

/// Starts everything and waits until it is ready.
pub(super) fn attempt(assets: &Assets) -> Result<ControlPlane, Error> {
    let data = DataDir::create()?;
    let layout = Layout::create(data.path())?;
    let authority = certificates::write(&layout)?;
    let tokens = Tokens::write(&layout.tokens())?;
    for (path, text) in
        [(layout.audit_policy(), components::AUDIT_POLICY), (layout.stages(), components::STAGES)]
    {
        fs::write(&path, text).map_err(Error::io(path))?;
    }
    let ports = components::Ports::choose()?;
    let url = format!("https://127.0.0.1:{}", ports.api_server);
    let token = tokens.get(ADMIN).unwrap_or_default();
    let endpoint = Endpoint::new(&url, (&layout.authority(), authority), token)?;
    let run = Run::new()?;
    let mut processes = vec![
        start(&layout, "etcd", &components::etcd(assets, &layout, ports))?,
        start(&layout, "kube-apiserver", &components::api_server(assets, &layout, ports))?,
    ];
    // Rendering the manifests takes as long as the API server needs to come up.
    let deploy = Deploy::load(assets.path(Program::Kubectl), &run)?;
    let runtime = runtime()?;
    let connect = |user: &str| {
        let token = tokens.get(user).unwrap_or_default();
        Client::try_from(endpoint.with_token(token)).map_err(Error::kube("a client"))
    };
    runtime.block_on(async {
        let (admin, prober) = (connect(ADMIN)?, connect(PROBE)?);
        wait_for("/readyz/poststarthook/crd-informer-synced", &admin, &mut processes).await?;
        // Manifests take effect while the API server is still busy with its own roles; the others need those.
        let manifests = install::manifests(&admin, &prober, &deploy, &run);
        let others = async {
            wait_for("/readyz", &admin, &mut processes).await?;
            processes.extend(start_others(assets, &layout, &endpoint, &tokens)?);
            install::node(&admin).await
        };
        let (manifests, others) = futures::join!(manifests, others);
        check(&mut processes)?;
        manifests.and(others)
    })?;
    Ok(ControlPlane {
        ground: Ground::Own { processes: Mutex::new(processes) },
        kubectl: assets.path(Program::Kubectl).to_owned(),
        endpoint,
        run,
        tokens,
        deploy,
        layout,
        _data: data,
    })
}

/// Starts what needs an API server.
fn start_others(
    assets: &Assets,
    layout: &Layout,
    endpoint: &Endpoint,
    tokens: &Tokens,
) -> Result<Vec<Process>, Error> {
    let kubeconfig = |component: &str, user: &str| {
        let path = layout.kubeconfig(component);
        endpoint.write_kubeconfig(&path, tokens.get(user).unwrap_or_default(), "default").map(|()| path)
    };
    let controller_manager = kubeconfig("kube-controller-manager", CONTROLLER_MANAGER)?;
    let scheduler = kubeconfig("kube-scheduler", SCHEDULER)?;
    let kwok = kubeconfig("kwok", KWOK)?;
    Ok(vec![
        start(
            layout,
            "kube-controller-manager",
            &components::controller_manager(assets, layout, &controller_manager),
        )?,
        start(layout, "kube-scheduler", &components::scheduler(assets, &scheduler))?,
        start(layout, "kwok", &components::kwok(assets, layout, &kwok))?,
    ])
}

fn start(layout: &Layout, name: &str, command: &std::process::Command) -> Result<Process, Error> {
    Process::start(name, command, &layout.log(name))
}

/// Waits until one of the API server's readiness checks passes.
async fn wait_for(path: &str, client: &Client, processes: &mut [Process]) -> Result<(), Error> {
    let mut ended = Ok(());
    let ready = poll("kube-apiserver to be ready", API_SERVER_TIMEOUT, || {
        ended = check(processes);
        let alive = ended.is_ok();
        async move {
            // An ended process ends the wait, too; `ended` then says why.
            match alive {
                true => client.request_text(request(path)?).await.map_err(|error| error.to_string()),
                false => Ok(String::new()),
            }
        }
    })
    .await;
    ended?;
    match ready {
        Ok(_) => Ok(()),
        Err(Error::Timeout { last, .. }) => Err(Error::Component {
            component: "kube-apiserver".to_owned(),
            what: format!("did not become ready within {API_SERVER_TIMEOUT:?} ({last})"),
            log: processes.last().map(|process| process.log_tail(LOG_LINES)).unwrap_or_default(),
        }),
        Err(error) => Err(error),
    }
}

fn request(path: &str) -> Result<http::Request<Vec<u8>>, String> {
    http::Request::get(path).body(Vec::new()).map_err(|error| error.to_string())
}

/// An error when a process has ended.
fn check(processes: &mut [Process]) -> Result<(), Error> {
    for process in processes {
        if let Some(status) = process.ended() {
            return Err(Error::Component {
                component: process.name().to_owned(),
                what: format!("ended ({status})"),
                log: process.log_tail(LOG_LINES),
            });
        }
    }
    Ok(())
}
