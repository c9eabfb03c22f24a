//! Where the numbers come from.
//!
//! Owns the flags and the choice where none is given. An audit log is read by `log`; everything else is a meter.

use clap::{Args, ValueEnum};
use http::Uri;

use super::document::{Filter, Source};
use super::hours::Hours;
use super::log::LogArgs;
use super::meter::{Address, Meter, Place, Pod, pod, url};
use super::metrics::Series;
use super::reading::Reading;
use crate::connect::Connection;
use crate::error::{Class, Error, Result};
use crate::output::progress::Progress;
use crate::session::Session;

/// Counters besides the audit log.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Source")]
pub(crate) struct SourceArgs {
    /// Which counters to read, where no other flag says it
    #[arg(long, value_enum, value_name = "NAME", conflicts_with_all = ["audit_log", "pod", "metrics_url"])]
    source: Option<Named>,

    /// Read what this pod has counted of its own requests, through the API server: NAME, NAME:PORT or https:NAME:PORT.
    /// Takes the right to get pods/proxy
    #[arg(long, value_name = "POD", value_parser = pod::parse, conflicts_with_all = ["audit_log", "metrics_url"])]
    pod: Option<pod::Name>,

    /// Read what a client has counted of its own requests, at this address. The flags --token,
    /// --certificate-authority and --insecure-skip-tls-verify are about it then
    #[arg(long, value_name = "URL", value_parser = url::parse, conflicts_with = "audit_log")]
    metrics_url: Option<Uri>,

    /// How many processes are behind the address, such as three API servers behind a load balancer: read until so many
    /// were seen, each with counters of its own
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u8).range(1..=32))]
    #[arg(conflicts_with_all = ["audit_log", "pod"])]
    instances: u8,
}

/// Sources that need no more than a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Named {
    /// The API server's own counters, of all clients together
    ApiserverMetrics,
    /// OpenShift's APIRequestCounts, by user; --service-account chooses one
    #[value(name = "apirequestcount")]
    ApiRequestCount,
}

/// Something that counts and can be read again.
pub(crate) enum Counters {
    Meter(Box<Meter>),
    Hours(Box<Hours>),
}

impl Counters {
    pub(crate) async fn read(&mut self) -> Result<Reading> {
        match self {
            Counters::Meter(meter) => meter.read().await,
            Counters::Hours(hours) => hours.read().await,
        }
    }

    fn source(&self) -> Source {
        match self {
            Counters::Meter(meter) => meter.source(),
            Counters::Hours(_) => Source::ApiRequestCount,
        }
    }

    /// What nobody has named, and nobody has been told of so far.
    fn untold(&mut self) -> Option<&'static str> {
        match self {
            Counters::Meter(meter) => meter.is_to_be_told().then_some(CHOSEN_METRICS),
            Counters::Hours(hours) => hours.is_to_be_told().then_some(CHOSEN_HOURS),
        }
    }
}

const CHOSEN_METRICS: &str = "Source: the API server's metrics, which count all clients together. For one client: \
     --audit-log, --pod, --metrics-url or --flow-schema-for";
const CHOSEN_HOURS: &str = "Source: APIRequestCounts, which know users. For each request: --audit-log";

impl SourceArgs {
    /// The counters that the flags name, else the best there are: of one client those that know clients, of all clients
    /// those of the API server, which know codes and are never late.
    pub(crate) async fn counters(&self, session: &Session, log: &LogArgs) -> Result<Counters> {
        let group = log.api_group.clone();
        let meter = |place, series| Meter::new(place, series, self.instances());
        let knows_clients = matches!(self.source, None | Some(Named::ApiRequestCount))
            && self.pod.is_none()
            && self.metrics_url.is_none();
        if log.service_account.is_some() && !knows_clients {
            return Err(Error::usage(NO_CLIENTS).next(FOR_A_CLIENT));
        }
        if let Some(url) = &self.metrics_url {
            let (client, address) = Address::of(url, &session.connection)?;
            let meter = meter(Place::Address(client, address), Series::Client { group });
            return Ok(Counters::Meter(Box::new(meter)));
        }
        let connection = connect(session).await?;
        if let Some(name) = &self.pod {
            let pod = Pod::of(name, &connection.namespace);
            return Ok(Counters::Meter(Box::new(meter(
                Place::Pod(connection, pod),
                Series::Client { group },
            ))));
        }
        let is_chosen = self.source.is_some();
        if self.source == Some(Named::ApiRequestCount) || log.service_account.is_some() {
            let filter = Filter { user: log.service_account.clone(), api_group: group, ..Filter::default() };
            return Ok(Counters::Hours(Box::new(Hours::new(connection, filter, is_chosen))));
        }
        let meter = meter(Place::Server(connection), Series::ApiServer { group });
        Ok(Counters::Meter(Box::new(if is_chosen { meter } else { meter.chosen_by_us() })))
    }

    /// How many processes are behind the address.
    pub(crate) fn instances(&self) -> usize {
        usize::from(self.instances)
    }
}

const NO_CLIENTS: &str = "--service-account chooses a client, and these counters do not tell clients apart";
const FOR_A_CLIENT: &str =
    "count an audit log with --audit-log, or one ServiceAccount with --flow-schema-for";

async fn connect(session: &Session) -> Result<Connection> {
    session.connection.connect().await.map_err(|error| match &session.connection.user {
        Some(_) if error.class == Class::Kubeconfig => error.next(
            "without --audit-log, --user is a user of the kubeconfig; the metrics do not tell clients apart",
        ),
        _ => error,
    })
}

/// A reading with a sign of life, and the first time a word on what was chosen where nothing was asked for.
pub(crate) async fn read(session: &mut Session, counters: &mut Counters) -> Result<Reading> {
    let what = match counters.source() {
        Source::ClientMetrics => "reading the client's metrics",
        Source::ApiRequestCount => "reading APIRequestCounts",
        _ => "reading the API server's metrics",
    };
    let progress = Progress::start(&session.screen, what);
    let reading = counters.read().await?;
    drop(progress);
    if let Some(chosen) = counters.untold() {
        session.screen.note(chosen);
    }
    Ok(reading)
}
