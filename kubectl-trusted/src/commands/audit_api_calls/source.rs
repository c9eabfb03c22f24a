//! Where the numbers come from.
//!
//! Owns the flags and the choice where none is given. An audit log is read by `log`; everything else is a meter.

use clap::{Args, ValueEnum};
use http::Uri;

use super::document::Source;
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
    #[arg(conflicts_with = "audit_log")]
    instances: u8,
}

/// Sources that need no more than a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Named {
    /// The API server's own counters, of all clients together
    ApiserverMetrics,
}

impl SourceArgs {
    /// The counters that the flags name, else those of the API server.
    pub(crate) async fn meter(&self, session: &Session, log: &LogArgs) -> Result<Meter> {
        let group = log.api_group.clone();
        let instances = self.instances();
        self.refuse_client(log)?;
        if let Some(url) = &self.metrics_url {
            let (client, address) = Address::of(url, &session.connection)?;
            return Ok(Meter::new(Place::Address(client, address), Series::Client { group }, instances));
        }
        let connection = connect(session).await?;
        if let Some(name) = &self.pod {
            let pod = Pod::of(name, &connection.namespace);
            return Ok(Meter::new(Place::Pod(connection, pod), Series::Client { group }, instances));
        }
        let meter = Meter::new(Place::Server(connection), Series::ApiServer { group }, instances);
        Ok(if self.source.is_none() { meter.chosen_by_us() } else { meter })
    }

    /// How many processes are behind the address.
    pub(crate) fn instances(&self) -> usize {
        usize::from(self.instances)
    }

    /// A client cannot be chosen among numbers that know none.
    fn refuse_client(&self, log: &LogArgs) -> Result<()> {
        match log.service_account {
            Some(_) if log.audit_log.is_empty() => Err(Error::usage(
                "--service-account chooses a client, and these counters do not tell clients apart",
            )
            .next("count an audit log with --audit-log, or what a client counts itself with --pod")),
            _ => Ok(()),
        }
    }
}

async fn connect(session: &Session) -> Result<Connection> {
    session.connection.connect().await.map_err(|error| match &session.connection.user {
        Some(_) if error.class == Class::Kubeconfig => error.next(
            "without --audit-log, --user is a user of the kubeconfig; the metrics do not tell clients apart",
        ),
        _ => error,
    })
}

/// A reading with a sign of life, and the first time a word on what was chosen where nothing was asked for.
pub(crate) async fn read(session: &mut Session, meter: &mut Meter) -> Result<Reading> {
    let what = match meter.source() {
        Source::ClientMetrics => "reading the client's metrics",
        _ => "reading the API server's metrics",
    };
    let progress = Progress::start(&session.screen, what);
    let reading = meter.read().await?;
    drop(progress);
    if meter.is_to_be_told() {
        session.screen.note(
            "Source: the API server's metrics, which count all clients together. For one client: --audit-log, --pod, \
             --metrics-url or --flow-schema-for",
        );
    }
    Ok(reading)
}
