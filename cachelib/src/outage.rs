//! What the kinds of one process do while the API server does not answer at all.
//!
//! Owns the turns: the kinds knock one after the other, so that a server that is down is asked every few seconds by
//! all of them together, and whoever gets an answer lets the others go on. Must never make one kind wait for another
//! one's request: a turn is over when the knock is sent, so that it does not matter what becomes of it.

use std::{sync::Arc, time::Duration};

use backon::{BackoffBuilder, ConstantBuilder};
use tokio::{
    sync::{Mutex, watch},
    time::sleep,
};

/// Between two knocks of all kinds together. Once the server is back, the stores are to be back soon after.
const BETWEEN_KNOCKS: Duration = Duration::from_millis(4500);
/// How much longer a kind waits between two knocks of its own, where it is the only one: with both, it knocks at most
/// ten times a minute.
const REST: Duration = Duration::from_millis(1500);
/// By up to twice as much the others go on later than the one that was answered.
const AFTER_AN_ANSWER: Duration = Duration::from_millis(100);
/// Keeps processes that lost the same server apart.
const JITTER: Duration = Duration::from_millis(250);

/// Shared by the kinds of one [`Builder`](crate::Builder).
#[derive(Clone, Default)]
pub(crate) struct Outage(Arc<Shared>);

struct Shared {
    answers: watch::Sender<()>,
    /// Given in the order in which it is asked for; who is dropped while it has or waits for it leaves it to the next.
    turn: Mutex<()>,
}

impl Default for Shared {
    fn default() -> Self {
        Self { answers: watch::Sender::new(()), turn: Mutex::default() }
    }
}

impl Outage {
    /// The server has answered a request, whatever it said.
    pub(crate) fn answered(&self) {
        self.0.answers.send_replace(());
    }

    /// Waits until somebody has an answer, or until it is this kind's turn to knock.
    pub(crate) async fn wait(&self) {
        let mut answers = self.0.answers.subscribe();
        let turn = async {
            sleep(REST).await;
            let _turn = self.0.turn.lock().await;
            sleep(BETWEEN_KNOCKS + jittered(JITTER)).await;
        };
        tokio::select! {
            _ = answers.changed() => sleep(jittered(AFTER_AN_ANSWER)).await,
            () = turn => {}
        }
    }
}

/// Between the duration and twice as much.
fn jittered(duration: Duration) -> Duration {
    let mut delays = ConstantBuilder::new().with_delay(duration).with_jitter().build();
    delays.next().unwrap_or(duration)
}
