use trusted_crds::KeyCounts;

use super::*;

fn cluster() -> TrustedExecutionCluster {
    let mut cluster = TrustedExecutionCluster::new("trusted", Default::default());
    cluster.metadata.generation = Some(4);
    cluster
}

fn report() -> Report {
    Report {
        obstacles: Vec::new(),
        installed: true,
        surroundings: Surroundings {
            broker: Broker::Available,
            trustee_installed: true,
            trustee_obstacles: Vec::new(),
            protection: Protection::NotChecked,
        },
        trustee_tls: TlsState::Plain,
        worth_a_word: WorthAWord::default(),
        counts: Counts {
            machines: 3,
            attestation_keys: KeyCounts { trusted: 1, pending: 2, refused: 0 },
            approved_images: 0,
        },
    }
}

fn broker(broker: Broker) -> Report {
    Report { surroundings: Surroundings { broker, ..report().surroundings }, ..report() }
}

fn status_of(report: &Report) -> TrustedExecutionClusterStatus {
    of(&cluster(), &Standing::Served, report, Timestamp::UNIX_EPOCH)
}

/// Status and reason of a condition, or nothing.
fn said(status: &TrustedExecutionClusterStatus, type_: &str) -> Option<(String, String)> {
    let condition = condition::find(&status.conditions, type_)?;
    Some((condition.status.clone(), condition.reason.clone()))
}

fn pair(status: &str, reason: &str) -> Option<(String, String)> {
    Some((status.into(), reason.into()))
}

#[test]
fn a_complete_cluster_says_so_with_its_numbers() {
    let status = status_of(&report());
    assert_eq!(said(&status, INSTALLED), pair("True", reason::INSTALLATION_COMPLETED));
    assert_eq!(said(&status, TRUSTEE_READY), pair("True", reason::AVAILABLE));
    assert_eq!(said(&status, KNOWN_TRUSTEE_ADDRESS), pair("False", reason::NO_ADDRESS_FOUND));
    assert_eq!(said(&status, APPROVAL_PROTECTED), pair("Unknown", reason::NOT_CHECKED));
    assert_eq!(
        (status.machines, status.approved_images, status.observed_generation),
        (Some(3), Some(0), Some(4))
    );
    assert_eq!(status.attestation_keys.unwrap().pending, 2);
    assert!(status.conditions.iter().all(|condition| condition.observed_generation == Some(4)));
}

#[test]
fn what_is_in_the_way_is_told_at_once() {
    let obstacle = Obstacle::Foreign { kind: "ConfigMap".into(), name: "trustee-data".into() };
    let status = status_of(&Report { installed: false, obstacles: vec![obstacle], ..report() });
    assert_eq!(said(&status, INSTALLED), pair("False", reason::INSTALLING));
    let message = &condition::find(&status.conditions, INSTALLED).unwrap().message;
    assert!(message.starts_with("ConfigMap trustee-data exists and is not managed"), "{message}");
}

#[test]
fn a_short_installation_or_rollout_is_passed_over() {
    let installing = Report { installed: false, ..broker(Broker::RollingOut) };
    let fresh = status_of(&installing);
    assert_eq!(said(&fresh, INSTALLED), None, "nothing has been said yet, and nothing is worth saying");
    assert_eq!(said(&fresh, TRUSTEE_READY), None);

    let mut installed = cluster();
    installed.status = Some(status_of(&report()));
    let again = of(&installed, &Standing::Served, &installing, Timestamp::UNIX_EPOCH);
    assert!(!differs(&installed, &again), "{again:?}");

    let worth_a_word = WorthAWord { installation: true, rollout: true };
    let long =
        of(&installed, &Standing::Served, &Report { worth_a_word, ..installing }, Timestamp::UNIX_EPOCH);
    assert_eq!(said(&long, INSTALLED), pair("False", reason::INSTALLING));
    assert_eq!(said(&long, TRUSTEE_READY), pair("False", reason::ROLLING_OUT));
}

#[test]
fn trustee_is_reported_as_it_is() {
    let long = |broker_is| Report {
        worth_a_word: WorthAWord { installation: false, rollout: true },
        ..broker(broker_is)
    };
    let ready = |report: &Report| said(&status_of(report), TRUSTEE_READY);
    assert_eq!(ready(&long(Broker::Unavailable)), pair("False", reason::UNAVAILABLE));
    assert_eq!(ready(&long(Broker::Absent)), pair("False", reason::UNAVAILABLE));
    let trustee_tls =
        TlsState::Waiting { secret: "cert".into(), obstacle: Obstacle::Tls("Secret cert is missing".into()) };
    let no_tls = status_of(&Report { trustee_tls, ..report() });
    assert_eq!(said(&no_tls, TRUSTEE_READY), pair("False", reason::TLS_NOT_READY));
    assert_eq!(condition::find(&no_tls.conditions, TRUSTEE_READY).unwrap().message, "Secret cert is missing");
}

#[test]
fn protection_of_approvals_is_reported_as_it_was_found() {
    let with = |protection| {
        let report =
            Report { surroundings: Surroundings { protection, ..report().surroundings }, ..report() };
        said(&status_of(&report), APPROVAL_PROTECTED)
    };
    assert_eq!(with(Protection::Enforced), pair("True", reason::ENFORCED));
    assert_eq!(with(Protection::PolicyMissing), pair("False", reason::POLICY_MISSING));
}

#[test]
fn what_an_earlier_process_found_about_protection_is_kept_until_checked_again() {
    for found in [Protection::Enforced, Protection::PolicyMissing] {
        let with = |protection| Report {
            surroundings: Surroundings { protection, ..report().surroundings },
            ..report()
        };
        let mut cluster = cluster();
        cluster.status = Some(status_of(&with(found)));
        let restarted = of(&cluster, &Standing::Served, &with(Protection::NotChecked), Timestamp::UNIX_EPOCH);
        assert!(!differs(&cluster, &restarted), "{found:?} became {restarted:?}");
        let enforced = of(&cluster, &Standing::Served, &with(Protection::Enforced), Timestamp::UNIX_EPOCH);
        assert_eq!(said(&enforced, APPROVAL_PROTECTED), pair("True", reason::ENFORCED));
    }
}

#[test]
fn a_cluster_that_is_not_served_says_little_and_counts_nothing() {
    let standing = Standing::NotServed { by: "first".into() };
    let status = of(&cluster(), &standing, &report(), Timestamp::UNIX_EPOCH);
    assert_eq!(said(&status, INSTALLED), pair("False", reason::NON_UNIQUE));
    assert!(condition::find(&status.conditions, INSTALLED).unwrap().message.contains("here first"));
    assert_eq!((said(&status, TRUSTEE_READY), status.machines), (None, None));
}

#[test]
fn a_leaving_cluster_is_uninstalling_whatever_else_is_true() {
    let status = of(&cluster(), &Standing::Leaving, &report(), Timestamp::UNIX_EPOCH);
    assert_eq!(said(&status, INSTALLED), pair("False", reason::UNINSTALLING));
}

#[test]
fn times_and_conditions_of_others_are_no_difference() {
    let mut cluster = cluster();
    let status = status_of(&report());
    assert!(differs(&cluster, &status), "nothing was reported yet");
    let mut shown = status.clone();
    shown.conditions.reverse();
    let foreign = trusted_crds::Condition { type_: "Backup".into(), ..shown.conditions[0].clone() };
    shown.conditions.push(foreign);
    cluster.status = Some(shown);
    let later = Timestamp::from_second(1000).unwrap();
    assert!(!differs(&cluster, &of(&cluster, &Standing::Served, &report(), later)));
    cluster.status.as_mut().unwrap().machines = Some(2);
    assert!(differs(&cluster, &status));
}
