//! A FlowSchema for one ServiceAccount, so that an API server counts that client alone.
//!
//! Owns its life: made when asked for, renewed while it is used, removed at every end. One that a killed run left behind
//! is recognised by the time up to which it was good. It changes as little as it can: requests go to the priority level
//! where they went before.

mod choose;
mod object;

use std::convert::Infallible;
use std::time::Duration;

use clap::Args;
use jiff::Timestamp;
use k8s_openapi::api::authentication::v1::SelfSubjectReview;
use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec,
};
use k8s_openapi::api::flowcontrol::v1::FlowSchema;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::{Api, ResourceExt};

use self::choose::Choice;
pub(crate) use self::object::Account;
use super::meter::{Meter, Place};
use super::metrics::Series;
use super::source::Counters;
use crate::connect::Connection;
use crate::error::{Attempt, Class, Error, Result};
use crate::interrupt;
use crate::session::Session;

/// How long the API server may take to act by a new FlowSchema; it watches for them.
const PATIENCE: Duration = Duration::from_secs(15);

/// Between two questions whether it does.
const PAUSE: Duration = Duration::from_millis(200);

/// How often a FlowSchema in use is renewed: well within the time that it is good for.
const RENEWAL: Duration = Duration::from_secs(300);

#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Source")]
pub(crate) struct FlowArgs {
    /// Count all that this ServiceAccount sends, and nothing else, with a FlowSchema that is made for it and removed at
    /// the end. Takes the rights to get, list, create, patch and delete flowschemas
    #[arg(long, value_name = "NAMESPACE/NAME", value_parser = object::parse)]
    #[arg(conflicts_with_all = ["audit_log", "pod", "metrics_url", "source", "api_group", "service_account"])]
    pub(crate) flow_schema_for: Option<Account>,
}

struct Flow {
    connection: Connection,
    schemas: Api<FlowSchema>,
    name: String,
    account: Account,
}

/// Does some work while a FlowSchema counts the account. None when Ctrl-C came before it could begin, or when the program
/// was told to end in some other way.
pub(crate) async fn with<T>(
    session: &mut Session,
    account: &Account,
    instances: usize,
    work: impl AsyncFnOnce(&mut Session, Counters) -> Result<T>,
) -> Result<Option<T>> {
    let flow = Flow::of(session.connection.connect().await?, account);
    flow.refuse_ourselves().await?;
    flow.must_be_removable().await?;
    let choice = flow.prepare(session).await?;
    let interrupted = session.interrupt.attend();
    let told_to_end = interrupt::told_to_end();
    tokio::pin!(interrupted, told_to_end);
    let begun = tokio::select! {
        biased;
        () = &mut interrupted => Ok(false),
        () = &mut told_to_end => Ok(false),
        begun = flow.begin(&choice) => begun.map(|()| true),
    };
    let done = match begun {
        Ok(true) => {
            session.screen.note(&flow.word(&choice));
            let working = work(session, flow.counters(instances));
            tokio::pin!(working);
            tokio::select! {
                biased;
                done = &mut working => done.map(Some),
                // What the work still has to do at its end may take longer than there is time for.
                () = &mut interrupted => {
                    // Tried once more, and told, below.
                    let _ = flow.remove().await;
                    working.await.map(Some)
                }
                () = &mut told_to_end => Ok(None),
                never = flow.renewed() => match never {},
            }
        }
        Ok(false) => Ok(None),
        Err(error) => Err(error),
    };
    if let Err(error) = flow.remove().await {
        session.screen.complaint(&error);
    }
    done
}

impl Flow {
    fn of(connection: Connection, account: &Account) -> Flow {
        let schemas = Api::all(connection.client.clone());
        Flow { connection, schemas, name: object::new_name(), account: account.clone() }
    }

    /// What it counts.
    fn counters(&self, instances: usize) -> Counters {
        let series = Series::FlowSchema { name: self.name.clone(), user: self.account.user() };
        let place = Place::Server(self.connection.clone());
        Counters::Meter(Box::new(Meter::new(place, series, instances)))
    }

    fn word(&self, choice: &Choice) -> String {
        format!(
            "FlowSchema {} counts {}, at priority level {} as {} did; it is removed at the end",
            self.name, self.account, choice.level, choice.instead_of
        )
    }

    fn attempt(verb: &'static str) -> Attempt {
        Attempt::on::<FlowSchema>(verb, None)
    }

    /// Our own readings would be among what is counted.
    async fn refuse_ourselves(&self) -> Result<()> {
        let reviews: Api<SelfSubjectReview> = Api::all(self.connection.client.clone());
        let attempt = Attempt::on::<SelfSubjectReview>("create", None);
        let (parameters, question) = (PostParams::default(), SelfSubjectReview::default());
        let review = self.connection.ask(&attempt, reviews.create(&parameters, &question)).await?;
        let user = review.status.and_then(|status| status.user_info).and_then(|user| user.username);
        if user.as_deref() == Some(&*self.account.user()) {
            return Err(Error::usage(format!("This program itself acts as {}", self.account))
                .next("measure as another user, such as an administrator of the cluster: --context, --as"));
        }
        Ok(())
    }

    /// Who may make it and not remove it would leave it behind.
    async fn must_be_removable(&self) -> Result<()> {
        let reviews: Api<SelfSubjectAccessReview> = Api::all(self.connection.client.clone());
        let asked = ResourceAttributes {
            verb: Some("delete".to_owned()),
            group: Some("flowcontrol.apiserver.k8s.io".to_owned()),
            resource: Some("flowschemas".to_owned()),
            ..ResourceAttributes::default()
        };
        let spec = SelfSubjectAccessReviewSpec {
            resource_attributes: Some(asked),
            ..SelfSubjectAccessReviewSpec::default()
        };
        let question = SelfSubjectAccessReview { spec, ..SelfSubjectAccessReview::default() };
        let attempt = Attempt::on::<SelfSubjectAccessReview>("create", None);
        let parameters = PostParams::default();
        let review = self.connection.ask(&attempt, reviews.create(&parameters, &question)).await?;
        if review.status.is_some_and(|status| status.allowed) {
            return Ok(());
        }
        let attempt = Flow::attempt("delete");
        Err(Error::new(Class::Forbidden, "no FlowSchema was made, since it could not be removed again").next(format!(
            "ask for the rights to get, list, create, patch and delete flowschemas.flowcontrol.apiserver.k8s.io; \
             check with: {}",
            attempt.can_i()
        )))
    }

    /// Removes what killed runs left behind, and chooses by what else is there.
    async fn prepare(&self, session: &mut Session) -> Result<Choice> {
        let list = ListParams::default();
        let found = self.connection.ask(&Flow::attempt("list"), self.schemas.list(&list)).await?.items;
        let now = Timestamp::now();
        let (ours, others): (Vec<_>, Vec<_>) = found.into_iter().partition(object::is_ours);
        for schema in ours {
            let name = schema.name_any();
            if object::is_left_behind(&schema, now) {
                self.delete(&name).await?;
                session.screen.warning(&format!(
                    "FlowSchema {name} was left behind by a run that was killed; it has been removed"
                ));
            } else if object::is_for(&schema, &self.account) {
                return Err(Error::input(format!("FlowSchema {name} counts {} already", self.account))
                    .why("another run is under way, or one was killed a short time ago")
                    .next(format!(
                        "wait for its end, or if there is none: kubectl delete flowschema {name}"
                    )));
            }
        }
        choose::choose(&others, &self.account).ok_or_else(|| {
            Error::input(format!("No FlowSchema of this cluster takes the requests of {}", self.account))
                .why("so it is not known to which priority level they belong")
                .next("see them with: kubectl get flowschemas")
        })
    }

    /// Makes it and waits until the API server acts by it.
    async fn begin(&self, choice: &Choice) -> Result<()> {
        let schema = object::schema(&self.name, &self.account, choice, Timestamp::now());
        let parameters =
            PostParams { field_manager: Some(object::MANAGER.to_owned()), ..PostParams::default() };
        self.connection.ask(&Flow::attempt("create"), self.schemas.create(&parameters, &schema)).await?;
        let in_force = async {
            loop {
                let schema = self.connection.ask(&Flow::attempt("get"), self.schemas.get(&self.name)).await?;
                match object::dangles(&schema) {
                    Some(false) => return Ok(()),
                    Some(true) => return Err(self.without_level(choice)),
                    None => tokio::time::sleep(PAUSE).await,
                }
            }
        };
        tokio::time::timeout(PATIENCE, in_force).await.unwrap_or_else(|_| {
            Err(Error::new(
                Class::Timeout,
                format!("The API server does not act by FlowSchema {}", self.name),
            )
            .why(format!("after {} s its status is still empty", PATIENCE.as_secs()))
            .next("is priority and fairness switched off there? Count an audit log with --audit-log instead"))
        })
    }

    fn without_level(&self, choice: &Choice) -> Error {
        Error::new(Class::Server, format!("there is no priority level {}", choice.level))
            .why(format!("FlowSchema {} names it", choice.instead_of))
            .next("see them with: kubectl get prioritylevelconfigurations")
    }

    /// Keeps it from being taken for one that was left behind. A renewal that fails is tried again the next time.
    async fn renewed(&self) -> Infallible {
        loop {
            tokio::time::sleep(RENEWAL).await;
            let patch = Patch::Merge(object::renewal(Timestamp::now()));
            let parameters = PatchParams::default();
            let _ = self
                .connection
                .ask(&Flow::attempt("patch"), self.schemas.patch(&self.name, &parameters, &patch))
                .await;
        }
    }

    async fn remove(&self) -> Result<()> {
        self.delete(&self.name)
            .await
            .map_err(|error| error.next(format!("remove it with: kubectl delete flowschema {}", self.name)))
    }

    /// Gone is as good as removed.
    async fn delete(&self, name: &str) -> Result<()> {
        let parameters = DeleteParams::default();
        let attempt = Flow::attempt("delete").named(name);
        match self.connection.ask(&attempt, self.schemas.delete(name, &parameters)).await {
            Ok(_) => Ok(()),
            Err(error) if error.class == Class::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }
}
