//! `races`: two keys are registered for one machine at the same time, a thousand times. One of them is trusted, and it
//! is the same one after a restart and under another leader.

use std::{collections::BTreeMap, time::Duration};

use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::api::core::v1::Secret;
use kube::{ResourceExt, api::ListParams};
use trusted_crds::{AttestationKey, condition, names, reason};

use super::{
    course::Course,
    crowd::{each, is_trusted},
    report::RunReport,
    scene::{QUIET, Scene, Verdict},
    workload::{Hands, Step},
    writes,
};
use crate::{
    Error,
    faults::FaultProxy,
    objects,
    operator::{Launch, Operator},
    poll,
    shuffle::Shuffler,
};

/// Machines for which two keys race.
const RACES: usize = 1_000;
/// How long all of them may take to be decided.
const DECIDED: Duration = Duration::from_secs(300);
/// So that nobody waits for a minute, and a busy machine is no reason to lose it: nobody starts the operator anew here.
const LEASE: Duration = Duration::from_secs(15);
/// How long another leader may take to take over.
const TAKE_OVER: Duration = Duration::from_secs(60);
/// Keys in one page of a list.
const PAGE: u32 = 500;

pub(super) async fn run(course: &Course<'_>) -> Vec<RunReport> {
    let cases = vec![("thousand".to_owned(), ())];
    course.each(cases, async |scene, ()| races(course, scene).await).await
}

async fn races(course: &Course<'_>, scene: &mut Scene) -> Result<Verdict, Error> {
    scene.launch = scene.launch.clone().lease(LEASE);
    let operator = scene.start().await?;
    course.workload.act(Step::Install, &scene.hands).await?;
    let mut chance = Shuffler::new(course.options.seed);
    let ids: Vec<(String, [usize; 3])> = (1..=RACES)
        .map(|number| {
            let mut order = [0, 1, 2];
            chance.shuffle(&mut order);
            (format!("race-{number:04}"), order)
        })
        .collect();
    each(&ids, async |(id, order)| race(&scene.hands, id, *order).await).await?;
    let first = decided(&scene.hands).await?;
    let mut verdict = Verdict { equal: true, ..Verdict::default() };
    verdict.note(problem(&first));
    scene.still(QUIET).await;

    let before = writes::sent(&scene.proxy.log()).len();
    drop(operator);
    let operator = scene.start().await?;
    scene.still(QUIET).await;
    verdict.note(changed("a restart", &first, &decided(&scene.hands).await?));
    verdict.writes_after += writes::sent(&scene.proxy.log()).len() - before;
    verdict.note(change_leaders(course, scene, operator, &first).await?);
    verdict.unless(verdict.writes_after == 0, || "an operator wrote that had nothing to do".to_owned());
    let earlier =
        first.values().filter(|(winner, _)| winner.as_deref().is_some_and(|name| name.ends_with('a')));
    verdict.note = format!("{} races, {} won by the one of the two keys", first.len(), earlier.count());
    Ok(verdict)
}

/// A second operator takes over from the first, which is killed.
async fn change_leaders(
    course: &Course<'_>,
    scene: &Scene,
    leader: Operator,
    before: &Races,
) -> Result<Option<String>, Error> {
    let proxy = FaultProxy::try_start(course.stage.control_plane, course.options.seed)?;
    let launch = Launch::prepare(course.stage.operator, &scene.namespace).await?;
    let mut second = launch.through(&proxy)?.pod("operator-1").lease(LEASE).start()?;
    second.ready().await?;
    drop(leader);
    poll("the second operator to take over", TAKE_OVER, || async {
        (proxy.log().count("patch", "leases") > 0).then_some(())
    })
    .await?;
    tokio::time::sleep(QUIET).await;
    let sent = writes::sent(&proxy.log());
    if let Some(write) = sent.first() {
        return Ok(Some(format!("the new leader sent {} writes, the first: {write}", sent.len())));
    }
    Ok(changed("a change of leaders", before, &decided(&scene.hands).await?))
}

/// A Machine and two keys for it, in this order and all at once.
async fn race(hands: &Hands, id: &str, order: [usize; 3]) -> Result<(), Error> {
    let create = async |what: usize| match what {
        0 => hands.create(&objects::machine(id, id)).await,
        number => {
            let name = format!("{id}-{}", if number == 1 { 'a' } else { 'b' });
            hands.create(&objects::attestation_key(&name, Some(id), &objects::public_key())).await
        }
    };
    stream::iter(order).map(create).buffer_unordered(3).try_collect().await
}

/// Of each machine the key that is trusted, and what does not fit to it.
type Races = BTreeMap<String, (Option<String>, Vec<String>)>;

/// Waits until every key is decided on.
async fn decided(hands: &Hands) -> Result<Races, Error> {
    poll("all keys to be decided on", DECIDED, || async {
        let keys = keys(hands).await.map_err(|error| error.to_string())?;
        let open = keys.iter().filter(|key| !is_trusted(key) && !is_refused(key)).count();
        if open > 0 || keys.len() != 2 * RACES {
            return Err(format!("{open} of {} are not", keys.len()));
        }
        let bindings = hands.api::<Secret>().list_metadata(&ListParams::default()).await;
        let bindings = bindings.map_err(|error| error.to_string())?;
        let bound: BTreeMap<String, String> = bindings
            .iter()
            .filter_map(|secret| {
                let fingerprint = secret.annotations().get(names::FINGERPRINT_ANNOTATION)?;
                Some((secret.name_any(), fingerprint.clone()))
            })
            .collect();
        Ok(judge(&keys, &bound))
    })
    .await
}

fn judge(keys: &[AttestationKey], bound: &BTreeMap<String, String>) -> Races {
    let mut races = Races::new();
    for key in keys {
        let id = key.spec.uuid.clone().unwrap_or_default();
        let (winner, wrong) = races.entry(id.clone()).or_default();
        if !is_trusted(key) {
            continue;
        }
        let fingerprint = key.public_key().map(|key| key.fingerprint().to_string()).unwrap_or_default();
        if bound.get(&names::binding_secret(&id)) != Some(&fingerprint) {
            wrong.push(format!("{} is trusted without its binding", key.name_any()));
        }
        if let Some(other) = winner.replace(key.name_any()) {
            wrong.push(format!("{other} and {} are both trusted", key.name_any()));
        }
    }
    races
}

async fn keys(hands: &Hands) -> Result<Vec<AttestationKey>, kube::Error> {
    let api = hands.api::<AttestationKey>();
    let mut params = ListParams::default().limit(PAGE);
    let mut keys = Vec::new();
    loop {
        let page = api.list(&params).await?;
        keys.extend(page.items);
        match page.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => params.continue_token = Some(token),
            None => return Ok(keys),
        }
    }
}

fn is_refused(key: &AttestationKey) -> bool {
    let conditions = key.status.as_ref().map_or(&[][..], |status| &status.conditions);
    condition::find(conditions, condition::APPROVED)
        .is_some_and(|told| told.status == "False" && told.reason == reason::CONFLICT)
}

fn problem(races: &Races) -> Option<String> {
    let wrong = races.values().find_map(|(_, wrong)| wrong.first().cloned());
    wrong.or_else(|| {
        let (id, _) = races.iter().find(|(_, (winner, _))| winner.is_none())?;
        Some(format!("no key of {id} is trusted"))
    })
}

fn changed(after: &str, before: &Races, now: &Races) -> Option<String> {
    let (id, _) = before.iter().find(|(id, race)| now.get(*id) != Some(*race))?;
    Some(format!("after {after} another key of {id} is trusted"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str, trusted: bool) -> AttestationKey {
        let mut key = objects::attestation_key(name, Some("m"), &objects::public_key());
        let status = if trusted { "True" } else { "False" };
        let told = condition::new(condition::APPROVED, status == "True", reason::CONFLICT, "");
        let conditions = condition::merge(&[], &[told], 1, k8s_openapi::jiff::Timestamp::UNIX_EPOCH);
        key.status = Some(trusted_crds::AttestationKeyStatus { conditions, fingerprint: None });
        key
    }

    #[test]
    fn two_winners_none_and_one_without_binding_are_found() {
        let bound = |key: &AttestationKey| {
            let fingerprint = key.public_key().unwrap().fingerprint().to_string();
            BTreeMap::from([(names::binding_secret("m"), fingerprint)])
        };
        let (a, b) = (key("a", true), key("b", false));
        assert_eq!(problem(&judge(&[a.clone(), b.clone()], &bound(&a))), None);
        let told = problem(&judge(&[a.clone(), b], &BTreeMap::new()));
        assert_eq!(told.as_deref(), Some("a is trusted without its binding"));
        assert!(problem(&judge(&[a.clone(), key("b", true)], &bound(&a))).is_some());
        let none = judge(&[key("a", false), key("b", false)], &bound(&a));
        assert_eq!(problem(&none).as_deref(), Some("no key of m is trusted"));
        let other = judge(&[key("a", false), key("b", true)], &BTreeMap::new());
        assert!(changed("x", &judge(std::slice::from_ref(&a), &bound(&a)), &other).is_some());
    }
}
