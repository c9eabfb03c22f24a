use std::sync::Arc;

use kube::ResourceExt;
use trusted_crds::TrustedExecutionClusterSpec;

use super::super::tls::TlsMount;
use super::*;
use crate::child::Folded;

fn cluster(spec: TrustedExecutionClusterSpec) -> TrustedExecutionCluster {
    let mut cluster = TrustedExecutionCluster::new("trusted", spec);
    cluster.metadata.uid = Some("u".into());
    cluster.metadata.namespace = Some("ns".into());
    cluster
}

fn images() -> Images {
    Images { trustee: "t".into(), register_server: "r".into(), attestation_key_register: "a".into() }
}

fn nothing() -> Children {
    Children {
        services: [View::Absent, View::Absent, View::Absent],
        deployments: [View::Absent, View::Absent],
    }
}

const PLAIN: [TlsState; 2] = [TlsState::Plain, TlsState::Plain];

fn waiting() -> TlsState {
    TlsState::Waiting { secret: "cert".into(), obstacle: Obstacle::Tls("missing".into()) }
}

#[test]
fn all_children_are_made_with_the_cluster_as_their_owner() {
    let plan = plan(&cluster(Default::default()), &nothing(), &PLAIN, &images()).unwrap();
    let names: Vec<_> = plan.services.iter().map(|(desired, _)| desired.name()).collect();
    assert_eq!(names, ["kbs-service", "register-server", "attestation-key-register"]);
    let names: Vec<_> = plan.deployments.iter().map(|(desired, _)| desired.name()).collect();
    assert_eq!(names, ["register-server", "attestation-key-register"]);
    assert!(plan.services.iter().all(|(_, step)| *step == Step::Create));
    for (desired, step) in &plan.deployments {
        assert_eq!(*step, Step::Create);
        let object = desired.object();
        let owner = &object.owner_references()[0];
        assert_eq!(
            (owner.uid.as_str(), owner.controller, owner.block_owner_deletion),
            ("u", Some(true), Some(true))
        );
    }
}

#[test]
fn ports_are_those_of_the_cluster() {
    let spec = TrustedExecutionClusterSpec {
        trustee_kbs_port: Some(443),
        register_server_port: Some(444),
        ..Default::default()
    };
    let plan = plan(&cluster(spec), &nothing(), &PLAIN, &images()).unwrap();
    let port = |index: usize| {
        let spec = plan.services[index].0.object().spec.clone().unwrap();
        let ports = spec.ports.unwrap();
        (ports[0].port, serde_json::to_value(&ports[0].target_port).unwrap())
    };
    assert_eq!(port(0), (443, 8080.into()));
    assert_eq!(port(1), (444, 8000.into()));
    assert_eq!(port(2), (8001, 8001.into()), "the default where none is given");
}

#[test]
fn a_front_end_waits_for_its_certificate_and_the_others_do_not() {
    let tls = [waiting(), TlsState::Plain];
    let plan = plan(&cluster(Default::default()), &nothing(), &tls, &images()).unwrap();
    assert_eq!(plan.obstacles, [Obstacle::Tls("missing".into())]);
    let names: Vec<_> = plan.deployments.iter().map(|(desired, _)| desired.name()).collect();
    assert_eq!(names, ["attestation-key-register"]);
    assert_eq!(plan.services.len(), 3);
}

#[test]
fn a_front_end_serves_with_the_certificate_it_was_given() {
    let mount = TlsMount { secret: "cert".into(), hash: "content".into() };
    let tls = [TlsState::Ready(mount), TlsState::Plain];
    let plan = plan(&cluster(Default::default()), &nothing(), &tls, &images()).unwrap();
    let [with, without] = [0, 1].map(|index| {
        let template = plan.deployments[index].0.object().spec.template.clone();
        (template.metadata.unwrap().annotations, template.spec.unwrap())
    });
    assert_eq!(with.0.unwrap()[TLS_HASH_ANNOTATION], "content");
    assert_eq!(with.1.volumes.unwrap()[0].secret.as_ref().unwrap().secret_name.as_deref(), Some("cert"));
    let args = with.1.containers[0].args.clone().unwrap();
    assert_eq!(args[..3], ["register-machine", "--port", "8000"]);
    assert_eq!(args[3..], ["--cert-path", "/etc/tls/tls.crt", "--key-path", "/etc/tls/tls.key"]);
    assert_eq!(without.0, None);
    assert_eq!(without.1.volumes, None);
    assert_eq!(without.1.containers[0].args.clone().unwrap(), ["register-attestation-key", "--port", "8001"]);
    assert_eq!(without.1.service_account_name.as_deref(), Some("register-attestation-key"));
}

#[test]
fn a_front_end_that_runs_is_repaired_even_while_its_certificate_is_missing() {
    let cluster = cluster(Default::default());
    let mount = TlsMount { secret: "cert".into(), hash: "content".into() };
    let tls = [TlsState::Ready(mount), TlsState::Plain];
    let mut running = plan(&cluster, &nothing(), &tls, &images()).unwrap().deployments[0].0.object();
    running.metadata.uid = Some("d".into());
    running.spec.replicas = Some(3);
    let children =
        Children { deployments: [View::Present(Arc::new(Folded::of(running))), View::Absent], ..nothing() };
    let plan = plan(&cluster, &children, &[waiting(), TlsState::Plain], &images()).unwrap();
    assert!(!plan.obstacles.is_empty(), "the missing certificate is reported");
    let (_, step) = &plan.deployments[0];
    let Step::Patch { drift, .. } = step else { panic!("{step:?}") };
    assert_eq!(drift.paths, ["spec.replicas"]);
    assert!(!drift.wanted_changed, "it keeps the certificate it has");
}
