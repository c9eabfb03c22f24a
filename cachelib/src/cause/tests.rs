//! Errors as a person reads them.

use super::*;

fn api(code: u16, message: &str) -> kube::Error {
    let mut status = Status::failure(message, "Reason");
    status.code = code;
    kube::Error::Api(status.boxed())
}

fn cause(error: &kube::Error) -> Cause {
    Cause::of(error, "list", "machines.example.org", Some("west"))
}

#[test]
fn a_refusal_names_verb_resource_namespace_and_user() {
    let message = "machines.example.org is forbidden: User \"system:serviceaccount:west:op\" cannot list resource \
                   \"machines\" in API group \"example.org\" in the namespace \"west\"";
    let cause = cause(&api(403, message));
    assert_eq!(
        cause.to_string(),
        "forbidden: system:serviceaccount:west:op may not list machines.example.org in namespace west"
    );
    assert_eq!(cause.class(), "forbidden");
    let cause = Cause::of(&api(403, "no"), "watch", "nodes", None);
    assert_eq!(cause.to_string(), "forbidden: this user may not watch nodes in the whole cluster");
}

#[test]
fn codes_become_causes() {
    let classes = [401, 404, 410, 429, 500, 503, 422].map(|code| cause(&api(code, "text")).class());
    assert_eq!(
        classes,
        ["unauthenticated", "not_installed", "expired", "throttled", "server", "server", "other"]
    );
    assert_eq!(cause(&api(503, "x")), Cause::Server(503));
}

#[test]
fn a_version_from_the_future_is_answered_like_one_that_has_expired() {
    let mut status = Status::failure("Too large resource version: 9, current: 5", "Timeout");
    status.code = 504;
    assert_eq!(cause(&kube::Error::Api(status.clone().boxed())), Cause::Server(504));
    status.details =
        serde_json::from_str(r#"{"causes": [{"reason": "ResourceVersionTooLarge", "message": "x"}]}"#)
            .unwrap();
    assert_eq!(cause(&kube::Error::Api(status.boxed())), Cause::Expired);
}

#[test]
fn an_object_that_is_not_there_is_no_missing_kind() {
    assert_eq!(Cause::of(&api(404, "x"), "get", "pods", None).class(), "other");
}

#[test]
fn the_delay_asked_for_is_kept() {
    let mut status = Status::failure("slow down", "TooManyRequests");
    status.code = 429;
    status.details = serde_json::from_str(r#"{"retryAfterSeconds": 7}"#).unwrap();
    let cause = cause(&kube::Error::Api(status.boxed()));
    assert_eq!(cause, Cause::Throttled { retry_after: Some(Duration::from_secs(7)) });
}

#[test]
fn an_unreadable_event_is_malformed() {
    let cause = Cause::of_watcher(
        &watcher::Error::WatchFailed(kube::Error::Api(Status::default().boxed())),
        "machines.example.org",
        None,
    );
    assert_eq!(cause.class(), "malformed");
}

#[test]
fn server_messages_other_than_the_user_are_left_out() {
    let text = cause(&api(422, "spec.secret: Invalid value: \"hunter2\"")).to_string();
    assert!(!text.contains("hunter2"), "{text}");
    let broken = serde_json::from_str::<Vec<u8>>("[\"hunter2\"]").unwrap_err();
    let text = cause(&kube::Error::SerdeError(broken)).to_string();
    assert!(!text.contains("hunter2"), "{text}");
}

#[test]
fn sources_are_added_once() {
    let refused = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
    let Cause::Unreachable(text) = cause(&kube::Error::Service(Box::new(refused))) else {
        panic!("other cause")
    };
    assert_eq!(text, "connection refused");
}
