//! One run of the program: its streams, its connection flags, and the client once it was needed.
//!
//! Owns the lazily made client. Everything a command does to the outside goes through here.

use crate::connect::{Connection, ConnectionArgs};
use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::output::Screen;

pub(crate) struct Session {
    pub(crate) screen: Screen,
    pub(crate) connection: ConnectionArgs,
    pub(crate) interrupt: Interrupt,
    connected: Option<Connection>,
}

impl Session {
    pub(crate) fn new(screen: Screen, connection: ConnectionArgs) -> Session {
        Session { screen, connection, interrupt: Interrupt::new(), connected: None }
    }

    /// The client, made at the first call.
    pub(crate) async fn connect(&mut self) -> Result<Connection> {
        if let Some(connection) = &self.connected {
            return Ok(connection.clone());
        }
        let connection = self.connection.connect().await?;
        self.connected = Some(connection.clone());
        Ok(connection)
    }
}
