//! Several kinds, listed once.

use k8s_openapi::api::core::v1::ConfigMap;

use super::*;
use crate::{
    Builder, Cause, Readiness,
    fixture::{colors, hung, page, refusal, scripted, widget},
};

#[tokio::test(start_paused = true)]
async fn what_may_not_be_listed_leaves_the_rest_as_it_is() {
    let namespaces = ["sound", "forbidden", "silent", "expired"];
    let (client, requests) = scripted(|path, _| match path {
        path if path.contains("/sound/") => page("10", &[widget("a", "1", "5", "red")]),
        path if path.contains("/forbidden/") => refusal(403, "Forbidden", "User \"bob\" cannot list"),
        path if path.contains("/silent/") => hung(),
        _ => refusal(410, "Expired", "the continuation is too old"),
    });
    let mut builder = Builder::new(client, Options::default());
    let [sound, forbidden, silent, expired] = namespaces.map(|namespace| {
        builder.cache::<ConfigMap>(Source::namespaced(namespace)).index("color", colors).build().unwrap()
    });
    let began = tokio::time::Instant::now();
    let loaded = builder.load().await;
    assert!(began.elapsed() < Options::default().list_timeout * 2, "all at the same time");

    assert!(loaded.failure(&sound).is_none());
    assert_eq!((sound.len(), sound.index("color").unwrap().get("red").len()), (1, 1));
    let state = |cache: &Cache<ConfigMap>| cache.readiness().borrow().clone();
    assert!(matches!(state(&sound), Readiness::Stale { cause: Cause::Stopped, .. }));
    assert!(matches!(loaded.failure(&forbidden), Some(ListError::Request(_))));
    assert_eq!((state(&forbidden), forbidden.len()), (Readiness::Failed(Cause::Stopped), 0));
    assert!(matches!(loaded.failure(&silent), Some(ListError::Deadline(_))));
    assert!(matches!(loaded.failure(&expired), Some(ListError::Request(error)) if is_expired(error)));
    let asked = |namespace: &str| requests.lock().iter().filter(|(path, _)| path.contains(namespace)).count();
    assert_eq!(namespaces.map(asked), [1, 1, 1, 2], "an expired list is begun anew once");
    assert!(requests.lock().iter().all(|(path, _)| !path.contains("watch=true")));
}

#[tokio::test(start_paused = true)]
async fn of_a_kind_that_is_kept_in_another_form_a_list_holds_that_form() {
    let (client, _) = scripted(|path, _| match path {
        path if path.contains("/sound/") => page("10", &[widget("a", "1", "5", "red")]),
        _ => refusal(403, "Forbidden", "User \"bob\" cannot list"),
    });
    let mut builder = Builder::new(client, Options::default());
    let [sound, forbidden] = ["sound", "forbidden"].map(|namespace| {
        let cache =
            builder.cache_as(Source::namespaced(namespace), |object: ConfigMap| colors(&object).concat());
        cache.index("color", |color: &String| vec![color.clone()]).build().unwrap()
    });
    let loaded = builder.load().await;
    assert!(loaded.failure(&sound).is_none() && loaded.failure(&forbidden).is_some());
    assert_eq!(sound.list().iter().map(|color| color.as_str()).collect::<Vec<_>>(), ["red"]);
    assert_eq!((sound.index("color").unwrap().get("red").len(), forbidden.len()), (1, 0));
}
