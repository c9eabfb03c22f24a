//! One run of the program: its streams, its connection flags, and whether Ctrl-C was pressed. Everything a command
//! does to the outside goes through here.

use crate::connect::ConnectionArgs;
use crate::interrupt::Interrupt;
use crate::output::Screen;

pub(crate) struct Session {
    pub(crate) screen: Screen,
    pub(crate) connection: ConnectionArgs,
    pub(crate) interrupt: Interrupt,
}

impl Session {
    pub(crate) fn new(screen: Screen, connection: ConnectionArgs) -> Session {
        Session { screen, connection, interrupt: Interrupt::new() }
    }
}
