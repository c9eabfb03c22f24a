//! `mutations`: every field of our kinds gets what does not belong there, one at a time, in objects that are there, in
//! new ones, and in statuses. Whatever the API server lets pass, the operator goes on, tells what is wrong, and comes
//! back to the same state once it is taken back; what was forged in a status it puts right by itself.

mod field;

use std::time::Duration;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, CustomResourceExt, Resource,
    api::{ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};
use trusted_crds::{ApprovedImage, AttestationKey, Machine, TrustedExecutionCluster};

use self::field::Field;
use super::{
    course::Course,
    report::RunReport,
    scene::{Scene, Verdict},
    writes,
};
use crate::{Error, objects, operator::Operator, poll, shuffle::Shuffler};

/// Mutations in a run; ten runs make 300.
const MUTATIONS: usize = 30;
const RUNS: usize = 10;
/// So long without a write, and a mutation has had its effect.
const EFFECT: Duration = Duration::from_millis(700);
/// How long a status may wait for the other half of a pair, and somewhat more.
const TOLD: Duration = Duration::from_secs(15);

/// The names of what is made only to be taken back.
const MUTANT: &str = "mutant";

pub(super) async fn run(course: &Course<'_>) -> Vec<RunReport> {
    let cases = course.seeded(RUNS);
    course.each(cases, async |scene, seed| walk(course, scene, *seed).await).await
}

/// What is done with a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    /// It is changed in an object that is there, and changed back.
    Edit,
    /// An object is made with it, and deleted.
    Create,
    /// It is changed in a status.
    Forge,
}

/// A kind whose fields are changed.
struct Kind {
    resource: ApiResource,
    crd: CustomResourceDefinition,
    /// A new object in which nothing is wrong; none for the cluster, of which there is one.
    sample: Option<Value>,
    /// Whether the operator tells about each object of it.
    told: bool,
}

impl Kind {
    fn all(machine: &str) -> Vec<Kind> {
        fn kind<K>(sample: Option<Value>, told: bool) -> Kind
        where
            K: Resource<DynamicType = ()> + CustomResourceExt,
        {
            Kind { resource: ApiResource::erase::<K>(&()), crd: K::crd(), sample, told }
        }
        let pem = objects::public_key();
        let key = objects::attestation_key(MUTANT, Some(machine), &pem);
        let image = objects::approved_image(MUTANT, &format!("example.com/os@sha256:{}", "a".repeat(64)));
        let sample = |object: serde_json::Result<Value>| object.ok();
        vec![
            kind::<TrustedExecutionCluster>(None, true),
            kind::<Machine>(sample(serde_json::to_value(objects::machine(MUTANT, MUTANT))), true),
            kind::<AttestationKey>(sample(serde_json::to_value(key)), true),
            kind::<ApprovedImage>(sample(serde_json::to_value(image)), false),
        ]
    }
}

async fn walk(course: &Course<'_>, scene: &mut Scene, seed: u64) -> Result<Verdict, Error> {
    let (workload, clean) = (course.workload, course.clean);
    let mut operator = scene.start().await?;
    scene.play(workload, clean).await?;
    let mut chance = Shuffler::new(seed);
    let kinds = Kind::all(&workload.machines[0]);
    let mut verdict = Verdict::default();
    let mut accepted = 0;
    for number in 1..=MUTATIONS {
        let kind = &kinds[chance.draw() as usize % kinds.len()];
        let walker = Walker { kind, api: api(scene, kind) };
        let Some(step) = walker.choose(&mut chance).await? else { continue };
        let what = format!("mutation {number}, {}", step.what);
        let passed = step.take(&walker, scene).await.map_err(|error| named(&what, &error))?;
        accepted += usize::from(passed);
        let reached = scene.reach(&format!("{what}: the state of before"), clean.end()).await;
        verdict.note(reached.err().map(|error| error.to_string()));
        verdict.note(alive(&mut operator).await.map(|problem| format!("{what}: {problem}")));
        if !verdict.broken.is_empty() {
            return Ok(verdict);
        }
    }
    let mut verdict = scene.settle(clean.end()).await;
    verdict.note(writes::unguarded_delete(&writes::sent(&scene.proxy.log())));
    verdict.note = format!("{MUTATIONS} mutations, of which the API server let {accepted} pass");
    Ok(verdict)
}

fn api(scene: &Scene, kind: &Kind) -> Api<DynamicObject> {
    Api::namespaced_with(scene.hands.admin().clone(), scene.namespace.name(), &kind.resource)
}

fn named(what: &str, error: &Error) -> Error {
    Error::Start(format!("{what}: {error}"))
}

/// Whether the operator still runs and no pass of it has panicked.
async fn alive(operator: &mut Operator) -> Option<String> {
    if operator.has_ended() {
        return Some("the operator ended".to_owned());
    }
    let metrics = operator.metrics().await.ok()?;
    let panics = metrics.lines().find(|line| line.contains("result=\"panic\""));
    panics.map(|line| format!("a pass panicked: {line}"))
}

struct Walker<'a> {
    kind: &'a Kind,
    api: Api<DynamicObject>,
}

/// One mutation that was drawn.
struct Drawn {
    what: String,
    deed: Deed,
    field: Field,
    value: Value,
    /// The object that is changed, as it was.
    target: Option<Value>,
}

impl Walker<'_> {
    /// Draws a deed, a field, a value and an object.
    async fn choose(&self, chance: &mut Shuffler) -> Result<Option<Drawn>, Error> {
        let plural = &self.kind.resource.plural;
        let listed = self.api.list(&kube::api::ListParams::default()).await;
        let listed = listed.map_err(Error::kube(format!("list {plural}")))?;
        let there: Vec<Value> =
            listed.items.iter().filter_map(|object| serde_json::to_value(object).ok()).collect();
        let deeds: &[Deed] = match (there.is_empty(), &self.kind.sample) {
            (true, _) => &[Deed::Create],
            (false, Some(_)) => &[Deed::Edit, Deed::Create, Deed::Create, Deed::Forge],
            (false, None) => &[Deed::Edit, Deed::Forge],
        };
        let deed = deeds[chance.draw() as usize % deeds.len()];
        let mut fields = Field::below(if deed == Deed::Forge { "status" } else { "spec" }, &self.kind.crd);
        let memory = deed == Deed::Forge && self.kind.resource.kind == AttestationKey::kind(&());
        // What a key was told before decides what it is told next; nobody can put that right who has not kept it.
        fields.retain(|field| !(memory && field.path.ends_with(&["conditions".to_owned()])));
        if fields.is_empty() {
            return Ok(None);
        }
        let field = fields[chance.draw() as usize % fields.len()].clone();
        let others: Vec<String> = there
            .iter()
            .filter_map(|object| field::at(object, &field.path).as_str().map(str::to_owned))
            .collect();
        let (word, value) = field.value(&others, chance);
        let target = (deed != Deed::Create).then(|| there[chance.draw() as usize % there.len()].clone());
        let name = target.as_ref().and_then(|target| target["metadata"]["name"].as_str()).unwrap_or(MUTANT);
        let what = format!("{deed:?} {plural} {name}: {word} as {}", field.path.join("."));
        Ok(Some(Drawn { what, deed, field, value, target }))
    }

    async fn patch(&self, name: &str, status: bool, patch: &Value) -> Result<Option<DynamicObject>, Error> {
        let (params, patch) = (PatchParams::default(), Patch::Merge(patch));
        let answer = if status {
            self.api.patch_status(name, &params, &patch).await
        } else {
            self.api.patch(name, &params, &patch).await
        };
        allowed(answer, &format!("change {} {name}", self.kind.resource.kind))
    }

    /// Waits until the operator has told something about an object.
    async fn told(&self, name: &str) -> Result<(), Error> {
        poll(&format!("a condition of {} {name}", self.kind.resource.kind), TOLD, || async {
            let object = self.api.get_status(name).await.map_err(|error| error.to_string())?;
            let conditions = object.data["status"]["conditions"].as_array().map_or(0, Vec::len);
            if conditions == 0 { Err("it has none".to_owned()) } else { Ok(()) }
        })
        .await
    }

    async fn gone(&self, name: &str) -> Result<(), Error> {
        let deleted = self.api.delete(name, &DeleteParams::background()).await;
        deleted.map_err(Error::kube(format!("delete {} {name}", self.kind.resource.kind)))?;
        poll(&format!("{} {name} to be gone", self.kind.resource.kind), TOLD, || async {
            match self.api.get_metadata_opt(name).await {
                Ok(None) => Ok(()),
                Ok(Some(_)) => Err("it is there".to_owned()),
                Err(error) => Err(error.to_string()),
            }
        })
        .await
    }
}

impl Drawn {
    /// Does it, waits for its effect and takes it back; returns whether the API server let it pass.
    async fn take(&self, walker: &Walker<'_>, scene: &Scene) -> Result<bool, Error> {
        let name = self.target.as_ref().and_then(|target| target["metadata"]["name"].as_str());
        match (self.deed, name) {
            (Deed::Edit, Some(name)) => self.edit(walker, scene, name).await,
            (Deed::Forge, Some(name)) => {
                let forged = field::patch(&self.field.path, self.value.clone());
                let passed = walker.patch(name, true, &forged).await?.is_some();
                if passed {
                    scene.still(EFFECT).await;
                }
                Ok(passed)
            }
            _ => self.create(walker, scene).await,
        }
    }

    async fn edit(&self, walker: &Walker<'_>, scene: &Scene, name: &str) -> Result<bool, Error> {
        let edit = field::patch(&self.field.path, self.value.clone());
        if walker.patch(name, false, &edit).await?.is_none() {
            return Ok(false);
        }
        scene.still(EFFECT).await;
        let before = self.target.as_ref().map_or(Value::Null, |target| field::at(target, &self.field.path));
        match walker.patch(name, false, &field::patch(&self.field.path, before)).await? {
            Some(_) => Ok(true),
            None => Err(Error::Start("it was let pass, and cannot be taken back".to_owned())),
        }
    }

    async fn create(&self, walker: &Walker<'_>, scene: &Scene) -> Result<bool, Error> {
        let mut mutant = walker.kind.sample.clone().unwrap_or_default();
        merge(&mut mutant, &field::patch(&self.field.path, self.value.clone()));
        let what = format!("create {} {MUTANT}", walker.kind.resource.kind);
        let Ok(mutant) = serde_json::from_value::<DynamicObject>(mutant) else { return Ok(false) };
        let created = walker.api.create(&PostParams::default(), &mutant).await;
        if allowed(created, &what)?.is_none() {
            return Ok(false);
        }
        if walker.kind.told {
            walker.told(MUTANT).await?;
        }
        scene.still(EFFECT).await;
        walker.gone(MUTANT).await?;
        Ok(true)
    }
}

/// What was let pass; nothing where the API server refused what it was asked for.
fn allowed<T>(answer: Result<T, kube::Error>, what: &str) -> Result<Option<T>, Error> {
    match answer {
        Ok(object) => Ok(Some(object)),
        Err(kube::Error::Api(status)) if matches!(status.code, 400 | 403 | 422) => Ok(None),
        Err(error) => Err(Error::kube(what)(error)),
    }
}

/// As the API server applies a merge patch (RFC 7386).
fn merge(object: &mut Value, patch: &Value) {
    let (Value::Object(fields), Value::Object(changes)) = (&mut *object, patch) else {
        *object = patch.clone();
        return;
    };
    for (name, change) in changes {
        if change.is_null() {
            fields.remove(name);
        } else {
            merge(fields.entry(name).or_insert_with(|| json!({})), change);
        }
    }
}
