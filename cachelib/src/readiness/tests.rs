//! States and their order.

use super::*;

#[test]
fn before_the_first_list_a_failure_is_failed_and_after_it_stale() {
    let failed = Readiness::Pending.after(Cause::NotInstalled).after(Cause::Server(500));
    assert_eq!(failed, Readiness::Failed(Cause::Server(500)));
    let Readiness::Stale { since, .. } = Readiness::Synced.after(Cause::Server(500)) else {
        panic!("not stale")
    };
    let earlier = since - Duration::from_secs(60);
    let stale = Readiness::Stale { cause: Cause::Server(500), since: earlier };
    let text = Readiness::Stale { cause: Cause::Deadline, since: Timestamp::UNIX_EPOCH }.to_string();
    assert_eq!(text, "stale since 1970-01-01T00:00:00Z: the list was not complete in time");
    assert_eq!(stale.after(Cause::Deadline), Readiness::Stale { cause: Cause::Deadline, since: earlier });
}

#[test]
fn a_sync_error_names_every_kind_with_its_cause() {
    let error = SyncError {
        waited: Duration::from_secs(2),
        kinds: vec![
            ("machines.example.org".into(), Readiness::Failed(Cause::NotInstalled)),
            ("secrets".into(), Readiness::Pending),
        ],
    };
    assert_eq!(
        error.to_string(),
        "not synced within 2s: machines.example.org: not installed: the API server does not know this resource; \
         secrets: no answer yet"
    );
}

#[test]
fn as_json_a_state_has_its_cause_and_its_class() {
    let json = |readiness: &Readiness| serde_json::to_string(readiness).unwrap();
    assert_eq!(json(&Readiness::Synced), r#"{"state":"synced"}"#);
    let stale = Readiness::Stale { cause: Cause::Server(503), since: Timestamp::UNIX_EPOCH };
    assert_eq!(
        json(&stale),
        r#"{"state":"stale","cause":"the API server failed with HTTP 503","class":"server","since":"1970-01-01T00:00:00Z"}"#
    );
}
