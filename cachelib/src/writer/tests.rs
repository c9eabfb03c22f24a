//! Steps of a kind as its readers, subscribers and waiters see them.

use k8s_openapi::api::core::v1::ConfigMap;

use super::*;
use crate::{
    Cache, Readiness, Source, Subscription,
    fixture::{colors, malformed, name, sound},
    index::IndexSpec,
};

fn kind() -> (Writer<ConfigMap, ConfigMap>, Cache<ConfigMap>) {
    let indexes = vec![IndexSpec::new("color", colors)];
    let core = Arc::new(Core::new::<ConfigMap>(Source::namespaced("default"), indexes, true));
    (Writer::new(Arc::clone(&core), Box::new(|object| object)), Cache::new(core))
}

fn list(writer: &mut Writer<ConfigMap, ConfigMap>, guards: Vec<Guard<ConfigMap>>) {
    writer.handle(Event::Init);
    for guard in guards {
        writer.handle(Event::InitApply(guard));
    }
    writer.handle(Event::InitDone);
    writer.watch_open();
}

/// Subscribes to `name old-color new-color`.
fn moves(cache: &Cache<ConfigMap>) -> Subscription<String> {
    cache.subscribe(|old, new| {
        let color =
            |object: Option<&ConfigMap>| object.map_or("-".to_owned(), |object| colors(object).concat());
        let name = old.or(new).map(name).unwrap_or_default();
        vec![format!("{name} {} {}", color(old), color(new))]
    })
}

fn rest<T: std::hash::Hash + Eq + Clone + Send + Sync + 'static>(
    subscription: &mut Subscription<T>,
) -> Vec<T> {
    std::iter::from_fn(|| subscription.try_next()).collect()
}

#[test]
fn nothing_is_served_before_the_list_is_complete() {
    let (mut writer, cache) = kind();
    writer.handle(Event::Init);
    writer.handle(Event::InitApply(sound("a", "1", "1", "red")));
    assert!(cache.is_empty());
    assert_eq!(*cache.readiness().borrow(), Readiness::Pending);
    writer.watch_open();
    assert_eq!(*cache.readiness().borrow(), Readiness::Pending);
    writer.handle(Event::InitDone);
    assert_eq!(cache.len(), 1);
    assert_eq!(*cache.readiness().borrow(), Readiness::Pending, "the watch may still be refused");
    writer.watch_open();
    assert_eq!(*cache.readiness().borrow(), Readiness::Synced);
    assert_eq!(cache.find("a"), cache.get(&Key::new("default", "a")));
}

#[test]
fn the_old_state_is_served_during_a_new_list() {
    let (mut writer, cache) = kind();
    list(&mut writer, vec![sound("a", "1", "1", "red")]);
    writer.handle(Event::Init);
    assert_eq!(cache.len(), 1);
    writer.handle(Event::InitApply(sound("b", "2", "2", "red")));
    assert!(cache.find("a").is_some() && cache.find("b").is_none());
    writer.handle(Event::InitDone);
    assert!(cache.find("a").is_none() && cache.find("b").is_some());
}

#[test]
fn subscribers_hear_of_every_kind_of_change() {
    let (mut writer, cache) = kind();
    let mut early = moves(&cache);
    list(
        &mut writer,
        vec![sound("a", "1", "1", "red"), sound("b", "2", "2", "red"), sound("c", "3", "3", "red")],
    );
    assert_eq!(rest(&mut early), ["a - red", "b - red", "c - red"]);
    writer.handle(Event::Apply(sound("a", "1", "4", "blue")));
    writer.handle(Event::Delete(sound("b", "2", "5", "red")));
    writer.handle(Event::Apply(malformed("c", "3", "6")));
    assert_eq!(rest(&mut early), ["a red blue", "b red -", "c red -"]);
    list(&mut writer, vec![sound("d", "4", "7", "red")]);
    assert_eq!(rest(&mut early), ["d - red", "a blue -"]);
    writer.handle(Event::Apply(sound("d", "5", "9", "red")));
    assert_eq!(rest(&mut early), ["d red -", "d - red"]);
}

#[test]
fn a_late_subscriber_gets_what_is_there() {
    let (mut writer, cache) = kind();
    list(&mut writer, vec![sound("b", "2", "2", "red"), sound("a", "1", "1", "red")]);
    let mut late = moves(&cache);
    assert_eq!(rest(&mut late), ["a - red", "b - red"]);
    writer.handle(Event::Delete(sound("a", "1", "3", "red")));
    assert_eq!(rest(&mut late), ["a red -"]);
}

#[test]
fn a_burst_of_creations_and_deletions_reaches_every_subscriber() {
    let (mut writer, cache) = kind();
    list(&mut writer, Vec::new());
    let names =
        |cache: &Cache<ConfigMap>| cache.subscribe(|old, new| old.or(new).map(name).into_iter().collect());
    let (mut first, mut second) = (names(&cache), names(&cache));
    for version in 0..100_u32 {
        let object = |version: u32| {
            sound(&format!("n{}", version / 2), &format!("u{}", version / 2), &version.to_string(), "red")
        };
        writer.handle(if version % 2 == 0 {
            Event::Apply(object(version))
        } else {
            Event::Delete(object(version))
        });
    }
    assert!(cache.is_empty());
    assert_eq!(rest(&mut first).len(), 50);
    assert_eq!(rest(&mut second).len(), 50);
}

#[test]
fn a_dropped_subscriber_is_forgotten_with_what_its_mapping_owns() {
    let (mut writer, cache) = kind();
    let owned = Arc::new(());
    let held = Arc::clone(&owned);
    let subscription = cache.subscribe(move |_, _| vec![Arc::strong_count(&held)]);
    assert_eq!((cache.status().subscribers, Arc::strong_count(&owned)), (1, 2));
    drop(subscription);
    assert_eq!((cache.status().subscribers, Arc::strong_count(&owned)), (0, 1));
    list(&mut writer, vec![sound("a", "1", "1", "red")]);
}

#[test]
fn a_mapping_may_use_the_cache_and_subscribe() {
    let (mut writer, cache) = kind();
    let reader = cache.clone();
    let mut subscription = cache.subscribe(move |_, new| {
        let _nested = reader.subscribe(|_, _| Vec::<u8>::new());
        vec![(new.is_some(), reader.len())]
    });
    list(&mut writer, vec![sound("a", "1", "1", "red")]);
    assert_eq!(rest(&mut subscription), [(true, 1)], "the mapping sees the step it is told of");
}

#[test]
fn an_interruption_is_stale_until_the_watch_is_open_or_an_event_comes() {
    let (mut writer, cache) = kind();
    let readiness = cache.readiness();
    writer.failed(&Cause::NotInstalled);
    assert_eq!(*readiness.borrow(), Readiness::Failed(Cause::NotInstalled));
    writer.watch_open();
    assert_eq!(*readiness.borrow(), Readiness::Failed(Cause::NotInstalled), "there was no list yet");
    list(&mut writer, vec![sound("a", "1", "1", "red")]);
    writer.failed(&Cause::Server(500));
    assert_eq!(readiness.borrow().cause(), Some(&Cause::Server(500)));
    writer.watch_open();
    assert!(readiness.borrow().is_synced());
    writer.failed(&Cause::Server(500));
    writer.handle(Event::Apply(sound("a", "1", "2", "red")));
    assert!(readiness.borrow().is_synced());
    writer.failed(&Cause::Expired);
    writer.handle(Event::Init);
    writer.watch_open();
    assert!(!readiness.borrow().is_synced(), "the new list is not complete yet");
    assert_eq!(cache.status().errors, 4);
}

#[test]
fn own_writes_are_current_when_the_subscriber_is_told() {
    let (mut writer, cache) = kind();
    list(&mut writer, vec![sound("a", "1", "1", "red")]);
    let key = cache.key("a");
    cache.expect_version(&key, "1", "5");
    assert!(!cache.is_current(&key));
    let (reader, told) = (cache.clone(), key.clone());
    let mut subscription = cache.subscribe(move |_, _| vec![reader.is_current(&told)]);
    assert_eq!(rest(&mut subscription), [false]);
    writer.handle(Event::Apply(sound("a", "1", "5", "blue")));
    assert_eq!(rest(&mut subscription), [true]);
    cache.expect_version(&key, "1", "4");
    assert!(cache.is_current(&key), "what was passed is not waited for");
}

#[test]
fn own_deletions_are_current_when_gone() {
    let (mut writer, cache) = kind();
    list(&mut writer, vec![sound("a", "1", "1", "red")]);
    let key = cache.key("a");
    cache.expect_gone(&key, "1");
    assert!(!cache.is_current(&key));
    writer.handle(Event::Delete(sound("a", "1", "2", "red")));
    assert!(cache.is_current(&key) && cache.find("a").is_none());
}

#[tokio::test]
async fn the_end_of_the_writer_ends_subscriptions_and_says_so() {
    let (writer, cache) = kind();
    let mut before = moves(&cache);
    drop(writer);
    assert_eq!(before.next().await, None);
    assert_eq!(moves(&cache).next().await, None);
    assert_eq!(*cache.readiness().borrow(), Readiness::Failed(Cause::Stopped));
}

#[test]
fn status_tells_what_metrics_need() {
    let (mut writer, cache) = kind();
    list(&mut writer, vec![sound("a", "1", "7", "red"), malformed("b", "2", "8")]);
    let status = cache.status();
    assert_eq!(
        (status.kind.as_str(), status.objects, status.lists, status.version),
        ("configmaps", 1, 1, Some(8))
    );
    assert_eq!(status.malformed, [Key::new("default", "b")]);
    assert!(status.last_event.is_some());
}

#[test]
fn a_deletion_answered_during_a_list_that_lacks_the_object_is_not_waited_for() {
    let (mut writer, cache) = kind();
    let key = Key::new("default", "a");
    list(&mut writer, vec![sound("a", "1", "1", "red"), sound("b", "2", "2", "red")]);
    writer.start_over(false, None);
    writer.handle(Event::Init);
    cache.expect_gone(&key, "1");
    assert!(!cache.is_current(&key));
    writer.handle(Event::InitApply(sound("b", "2", "2", "red")));
    writer.handle(Event::InitDone);
    assert!(cache.is_current(&key), "the list is from after the deletion, no event follows");
    assert!(cache.get(&key).is_none());
}
