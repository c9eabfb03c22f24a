//! Ctrl-C: a command that has changed something gets the chance to say what before the program ends.
//!
//! Owns the signal. A command that does not attend to it is simply dropped.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::watch;

/// How long a command may take to tell where it stopped.
const FAREWELL: Duration = Duration::from_secs(2);

/// From now on SIGTERM, and SIGHUP of a terminal that was closed, do not end the program by themselves: the returned future
/// ends when one of them comes.
pub(crate) fn told_to_end() -> impl Future<Output = ()> {
    #[cfg(unix)]
    let signals = {
        use tokio::signal::unix::{SignalKind, signal};
        signal(SignalKind::terminate()).and_then(|term| Ok((term, signal(SignalKind::hangup())?)))
    };
    async move {
        #[cfg(unix)]
        if let Ok((mut term, mut hangup)) = signals {
            tokio::select! {
                _ = term.recv() => return,
                _ = hangup.recv() => return,
            }
        }
        std::future::pending::<()>().await;
    }
}

#[derive(Clone)]
pub(crate) struct Interrupt {
    pressed: Arc<watch::Sender<bool>>,
    attended: Arc<AtomicBool>,
}

impl Interrupt {
    pub(crate) fn new() -> Interrupt {
        Interrupt { pressed: Arc::new(watch::Sender::new(false)), attended: Arc::default() }
    }

    /// From now on the command ends by itself when the returned future does.
    pub(crate) fn attend(&self) -> impl Future<Output = ()> + use<> {
        self.attended.store(true, Ordering::Relaxed);
        let mut pressed = self.pressed.subscribe();
        async move {
            // The sender lives as long as the program.
            let _ = pressed.wait_for(|pressed| *pressed).await;
        }
    }

    /// The command's result; none when it was interrupted and did not end by itself. A second Ctrl-C waits for
    /// nothing.
    pub(crate) async fn or<T>(&self, command: impl Future<Output = T>) -> Option<T> {
        tokio::pin!(command);
        tokio::select! {
            biased;
            ended = &mut command => return Some(ended),
            _ = tokio::signal::ctrl_c() => {}
        }
        if !self.attended.load(Ordering::Relaxed) {
            return None;
        }
        self.pressed.send_replace(true);
        tokio::select! {
            biased;
            ended = &mut command => Some(ended),
            _ = tokio::signal::ctrl_c() => None,
            () = tokio::time::sleep(FAREWELL) => None,
        }
    }
}
