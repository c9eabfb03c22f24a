//! What happens to requests instead of an answer of the API server.

use http::header::RETRY_AFTER;
use kube::{
    ResourceExt,
    api::{ListParams, PostParams},
};
use testenv::{
    ControlPlane,
    faults::{FaultProxy, Match, Refusal},
};

use crate::support::{SILENCE, Scene, client, code, get, read, secret};

#[tokio::test]
async fn answers_with_any_code_and_then_no_more() {
    testenv::needs!(AdminToken);
    let scene = Scene::new("codes").await;
    scene.create(&["a"]).await;
    for expected in [403, 404, 409, 410, 429, 500, 503] {
        let rule = scene.proxy.on(Match::get("secrets").named("a")).answer(expected);
        assert_eq!(code(scene.api.get("a").await), expected);
        assert_eq!(rule.hits(), 1);
        rule.lift();
        scene.api.get("a").await.unwrap();
    }
}

#[tokio::test]
async fn a_retry_after_header_is_there_when_asked_for() {
    testenv::needs!(AdminToken);
    let scene = Scene::new("retry").await;
    let uri = scene.secrets("");
    let rule = scene.proxy.on(Match::list("secrets")).answer(Refusal::code(429).retry_after(7));
    let refused = get(&scene.client, &uri).await.unwrap();
    assert_eq!((refused.status().as_u16(), &refused.headers()[RETRY_AFTER]), (429, &"7".parse().unwrap()));
    rule.lift();
    let _rule = scene.proxy.on(Match::list("secrets")).answer(429);
    let refused = get(&scene.client, &uri).await.unwrap();
    assert_eq!((refused.status().as_u16(), refused.headers().get(RETRY_AFTER)), (429, None));
}

#[tokio::test]
async fn plain_text_is_what_a_missing_group_looks_like() {
    testenv::needs!(AdminToken);
    let scene = Scene::new("text").await;
    let missing = get(&scene.client, "/apis/no.such/v1/things").await.unwrap();
    let _rule = scene.proxy.on(Match::list("secrets")).answer(Refusal::text(404, "404 page not found\n"));
    let invented = get(&scene.client, &scene.secrets("")).await.unwrap();
    assert_eq!(invented.status(), missing.status());
    assert_eq!(invented.headers()["content-type"], missing.headers()["content-type"]);
    assert_eq!(read(invented).await, read(missing).await);
}

#[tokio::test]
async fn a_version_that_is_too_large_looks_like_the_real_thing() {
    testenv::needs!(AdminToken);
    let scene = Scene::new("toolarge").await;
    let future = ListParams::default().at("999999999999").matching(kube::api::VersionMatch::NotOlderThan);
    let real = scene.direct.list(&future).await.unwrap_err();
    let rule = scene.proxy.on(Match::list("secrets")).answer(Refusal::version_too_large());
    let invented = scene.api.list(&future).await.unwrap_err();
    assert_eq!(rule.hits(), 1);
    let [kube::Error::Api(real), kube::Error::Api(invented)] = [real, invented] else {
        panic!("not refused")
    };
    let parts = |status: &kube::core::Status| {
        let details = status.details.clone().unwrap();
        let causes: Vec<_> = details.causes.into_iter().map(|cause| (cause.reason, cause.message)).collect();
        (status.code, status.reason.clone(), causes, details.retry_after_seconds)
    };
    assert_eq!(parts(&invented), parts(&real));
}

#[tokio::test]
async fn an_expired_continue_token_comes_with_another() {
    testenv::needs!(AdminToken);
    let scene = Scene::new("continue").await;
    scene.create(&["a", "b"]).await;
    let first = scene.api.list(&ListParams::default().limit(1)).await.unwrap();
    let token = first.metadata.continue_.unwrap();
    let second_page =
        |call: &testenv::faults::Call| call.uri.query().is_some_and(|q| q.contains("continue="));
    let rule =
        scene.proxy.on(Match::list("secrets").when(second_page)).answer(Refusal::expired_continue("fresh"));
    let next = ListParams::default().limit(1).continue_token(&token);
    let Err(kube::Error::Api(status)) = scene.api.list(&next).await else { panic!("not refused") };
    let metadata = status.metadata.clone().unwrap();
    assert_eq!((status.code, metadata.continue_.as_deref()), (410, Some("fresh")));
    rule.lift();
    assert_eq!(scene.api.list(&next).await.unwrap().items[0].name_any(), "b");
}

#[tokio::test]
async fn a_schedule_says_which_requests() {
    testenv::needs!(AdminToken);
    let scene = Scene::new("schedule").await;
    let codes = async |count| {
        let mut codes = Vec::new();
        for _ in 0..count {
            codes.push(get(&scene.client, &scene.secrets("")).await.unwrap().status().as_u16());
        }
        codes
    };
    let rule = scene.proxy.on(Match::list("secrets")).after(1).times(2).answer(503);
    assert_eq!(codes(5).await, [200, 503, 503, 200, 200]);
    rule.lift();
    let _rule = scene.proxy.on(Match::list("secrets")).nth(2).answer(500);
    assert_eq!(codes(3).await, [200, 500, 200]);
}

#[tokio::test]
async fn chance_repeats_with_its_seed() {
    testenv::needs!(AdminToken);
    let control_plane = ControlPlane::shared().await;
    let refused = async |seed| {
        let proxy = FaultProxy::start_with_seed(control_plane, seed);
        let client = client(&proxy, control_plane);
        let _rule = proxy.on(Match::any()).chance(0.3).answer(500);
        let mut refused = Vec::new();
        for _ in 0..40 {
            refused.push(get(&client, "/version").await.unwrap().status() == 500);
        }
        refused
    };
    let first = refused(5).await;
    assert_eq!(first, refused(5).await);
    assert_ne!(first, refused(6).await);
    assert!((4..20).contains(&first.iter().filter(|refused| **refused).count()), "{first:?}");
}

#[tokio::test]
async fn a_request_hangs_until_it_is_let_go_and_only_then_has_its_effect() {
    testenv::needs!(AdminToken);
    let scene = Scene::new("hang").await;
    let rule = scene.proxy.on(Match::create("secrets")).hang();
    let api = scene.api.clone();
    let create = tokio::spawn(async move { api.create(&PostParams::default(), &secret("late")).await });
    rule.hit(1).await;
    tokio::time::sleep(SILENCE).await;
    assert!(!create.is_finished());
    assert!(scene.direct.get_opt("late").await.unwrap().is_none());
    rule.lift();
    create.await.unwrap().unwrap();
    scene.direct.get("late").await.unwrap();
}

#[tokio::test]
async fn a_cut_request_never_reaches_the_api_server() {
    testenv::needs!(AdminToken);
    let scene = Scene::new("cut").await;
    let rule = scene.proxy.on(Match::write("secrets")).cut();
    let error = scene.api.create(&PostParams::default(), &secret("a")).await.unwrap_err();
    assert!(!matches!(error, kube::Error::Api(_)), "{error:?}");
    assert_eq!(scene.list().await, [""; 0]);
    rule.lift();
    scene.api.create(&PostParams::default(), &secret("a")).await.unwrap();
}

#[tokio::test]
async fn a_lost_answer_leaves_the_effect() {
    testenv::needs!(AdminToken);
    let scene = Scene::new("lost").await;
    let _rule = scene.proxy.on(Match::write("secrets")).times(1).lose_answer();
    let error = scene.api.create(&PostParams::default(), &secret("a")).await.unwrap_err();
    assert!(!matches!(error, kube::Error::Api(_)), "{error:?}");
    assert_eq!(code(scene.api.create(&PostParams::default(), &secret("a")).await), 409);
}

#[tokio::test]
async fn rules_tell_namespaces_names_and_resources_apart() {
    testenv::needs!(AdminToken);
    let scene = Scene::new("match").await;
    scene.create(&["a", "b"]).await;
    let secrets = || Match::get("secrets");
    let _elsewhere = scene.proxy.on(secrets().namespace("elsewhere")).answer(500);
    let _other = scene.proxy.on(Match::request("secrets/status")).answer(500);
    let _maps = scene.proxy.on(Match::request("configmaps")).answer(500);
    let _a = scene.proxy.on(secrets().named("a")).answer(503);
    assert_eq!(code(scene.api.get("a").await), 503);
    scene.api.get("b").await.unwrap();
}
