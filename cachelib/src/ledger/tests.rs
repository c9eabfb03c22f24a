//! When an own write counts as seen.

use super::*;

fn key() -> Key {
    Key::new("default", "a")
}

fn held(uid: &str, version: &str) -> Held {
    Held { uid: uid.into(), version: version.into(), deleting: false }
}

fn deleting(uid: &str, version: &str) -> Held {
    Held { deleting: true, ..held(uid, version) }
}

/// A ledger that waits for version 10 of object `u`, of which the store shows version 5.
fn waiting() -> Ledger {
    let ledger = Ledger::default();
    ledger.expect_version(&key(), "u", "10", || (Some(held("u", "5")), Some(5)));
    assert!(!ledger.is_current(&key()));
    ledger
}

#[tokio::test]
async fn a_write_the_store_already_shows_is_not_waited_for() {
    let ledger = Ledger::default();
    ledger.expect_version(&key(), "u", "10", || (Some(held("u", "10")), None));
    ledger.expect_version(&key(), "u", "10", || (None, Some(11)));
    ledger.expect_version(&key(), "u", "abc", || (Some(held("u", "abc")), None));
    ledger.expect_gone(&key(), "u", || None);
    ledger.expect_gone(&key(), "u", || Some(held("v", "12")));
    ledger.expect_gone(&key(), "u", || Some(deleting("u", "12")));
    assert!(ledger.is_current(&key()));
}

#[tokio::test]
async fn versions_are_compared_as_numbers() {
    let ledger = waiting();
    ledger.saw(&key(), &Sight::Present(held("u", "9")));
    assert!(!ledger.is_current(&key()), "9 is older than 10");
    ledger.saw(&key(), &Sight::Present(held("u", "10")));
    assert!(ledger.is_current(&key()));
}

#[tokio::test]
async fn a_later_event_of_any_object_shows_that_the_stream_has_passed() {
    let ledger = waiting();
    ledger.saw(&Key::new("default", "b"), &Sight::Present(held("w", "8")));
    assert!(!ledger.is_current(&key()));
    ledger.saw(&Key::new("default", "b"), &Sight::Gone(held("w", "12")));
    assert!(ledger.is_current(&key()));
}

#[tokio::test]
async fn another_newer_uid_and_a_newer_deletion_end_it() {
    let ledger = waiting();
    ledger.saw(&key(), &Sight::Present(held("v", "11")));
    assert!(ledger.is_current(&key()));
    let ledger = waiting();
    ledger.saw(&key(), &Sight::Gone(held("u", "not a number")));
    assert!(ledger.is_current(&key()), "the object is deleted, whatever its version is called");
}

#[tokio::test]
async fn versions_that_are_no_numbers_are_waited_for_by_equality() {
    let ledger = Ledger::default();
    ledger.expect_version(&key(), "u", "abc", || (Some(held("u", "abb")), Some(3)));
    ledger.saw(&key(), &Sight::Present(held("u", "abd")));
    assert!(!ledger.is_current(&key()));
    ledger.saw(&key(), &Sight::Present(held("u", "abc")));
    assert!(ledger.is_current(&key()));
}

#[tokio::test]
async fn of_two_own_writes_the_later_is_waited_for() {
    let ledger = waiting();
    ledger.expect_version(&key(), "u", "20", || (None, None));
    ledger.expect_version(&key(), "u", "15", || (None, None));
    ledger.saw(&key(), &Sight::Present(held("u", "15")));
    assert!(!ledger.is_current(&key()));
    ledger.saw(&key(), &Sight::Present(held("u", "20")));
    assert!(ledger.is_current(&key()));
}

#[tokio::test]
async fn a_deletion_is_seen_as_deletion_or_as_its_beginning() {
    for sight in
        [Sight::Gone(held("u", "11")), Sight::Present(deleting("u", "11")), Sight::Present(held("v", "12"))]
    {
        let ledger = Ledger::default();
        ledger.expect_gone(&key(), "u", || Some(held("u", "10")));
        ledger.saw(&key(), &Sight::Present(held("u", "10")));
        ledger.saw(&Key::new("default", "b"), &Sight::Present(held("w", "99")));
        assert!(!ledger.is_current(&key()));
        ledger.saw(&key(), &sight);
        assert!(ledger.is_current(&key()), "{sight:?}");
    }
}

#[tokio::test]
async fn created_and_deleted_before_either_is_seen() {
    let ledger = Ledger::default();
    ledger.expect_version(&key(), "u", "10", || (Some(held("before", "3")), Some(3)));
    ledger.expect_gone(&key(), "u", || Some(held("before", "3")));
    // The predecessor's end and the creation are not the deletion waited for.
    ledger.saw(&key(), &Sight::Gone(held("before", "9")));
    ledger.saw(&key(), &Sight::Present(held("u", "10")));
    assert!(!ledger.is_current(&key()));
    ledger.saw(&key(), &Sight::Gone(held("u", "11")));
    assert!(ledger.is_current(&key()));
}

#[tokio::test]
async fn only_a_list_that_began_after_the_write_ends_it() {
    let ledger = Ledger::default();
    ledger.list_begins();
    ledger.expect_version(&key(), "u", "10", || (None, None));
    ledger.list_is_complete(None, |_| None);
    assert!(!ledger.is_current(&key()), "the list may have been read before the write");
    ledger.list_begins();
    ledger.list_is_complete(None, |_| None);
    assert!(ledger.is_current(&key()));
}

#[tokio::test]
async fn a_list_under_way_that_shows_the_write_ends_it() {
    let ledger = Ledger::default();
    ledger.list_begins();
    ledger.expect_version(&key(), "u", "10", || (None, None));
    ledger.list_is_complete(None, |_| Some(held("u", "10")));
    assert!(ledger.is_current(&key()));
}

#[tokio::test]
async fn a_deletion_answered_during_a_list_is_seen_in_a_list_without_the_object() {
    let during_a_list = || {
        let ledger = Ledger::default();
        ledger.list_begins();
        ledger.expect_gone(&key(), "u", || Some(held("u", "10")));
        assert!(!ledger.is_current(&key()));
        ledger
    };
    for shown in [None, Some(held("v", "12")), Some(deleting("u", "11"))] {
        let ledger = during_a_list();
        ledger.list_is_complete(None, |_| shown.clone());
        assert!(ledger.is_current(&key()), "no event will tell of the deletion: {shown:?}");
    }
    let ledger = during_a_list();
    ledger.list_is_complete(Some(99), |_| Some(held("u", "10")));
    assert!(!ledger.is_current(&key()), "the list is from before the deletion");
    ledger.saw(&key(), &Sight::Gone(held("u", "11")));
    assert!(ledger.is_current(&key()));
}

#[tokio::test]
async fn created_and_deleted_during_a_list_needs_a_list_from_after_the_creation() {
    for (highest, current) in [(None, false), (Some(9), false), (Some(10), true), (Some(50), true)] {
        let ledger = Ledger::default();
        ledger.list_begins();
        ledger.expect_version(&key(), "u", "10", || (None, None));
        ledger.expect_gone(&key(), "u", || None);
        ledger.list_is_complete(highest, |_| None);
        assert_eq!(ledger.is_current(&key()), current, "highest version in the list: {highest:?}");
    }
}

#[tokio::test]
async fn a_write_answered_during_a_list_is_passed_by_a_later_version_in_it() {
    let ledger = Ledger::default();
    ledger.list_begins();
    ledger.expect_version(&key(), "u", "10", || (Some(held("u", "5")), Some(5)));
    ledger.list_is_complete(Some(11), |_| None);
    assert!(ledger.is_current(&key()), "somebody else deleted it since");
}

#[tokio::test(start_paused = true)]
async fn a_write_that_never_shows_is_given_up() {
    let ledger = waiting();
    tokio::time::advance(PATIENCE - Duration::from_millis(1)).await;
    assert!(!ledger.is_current(&key()));
    tokio::time::advance(Duration::from_millis(1)).await;
    assert!(ledger.is_current(&key()));
}

#[tokio::test(start_paused = true)]
async fn waiting_ends_with_the_event_with_patience_or_with_the_limit() {
    let ledger = std::sync::Arc::new(waiting());
    assert!(!ledger.caught_up(&key(), Duration::from_secs(1)).await);
    let waits: Vec<_> = (0..3)
        .map(|_| {
            let ledger = std::sync::Arc::clone(&ledger);
            tokio::spawn(async move { ledger.caught_up(&key(), Duration::from_secs(5)).await })
        })
        .collect();
    tokio::task::yield_now().await;
    ledger.saw(&key(), &Sight::Present(held("u", "10")));
    for wait in waits {
        assert!(wait.await.unwrap());
    }
    assert!(waiting().caught_up(&key(), PATIENCE * 3).await);
}
