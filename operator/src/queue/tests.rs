use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::channel::mpsc;
use tokio::sync::Notify;

use super::*;

/// Records passes and answers as told.
#[derive(Default)]
struct Recorder {
    passes: Mutex<Vec<(u32, Duration)>>,
    running: AtomicUsize,
    most_running: AtomicUsize,
    hold: Option<Notify>,
}

impl Recorder {
    fn passes_of(&self, key: u32) -> Vec<Duration> {
        self.passes.lock().unwrap().iter().filter(|(k, _)| *k == key).map(|(_, quiet)| *quiet).collect()
    }
}

impl Reconciler for Recorder {
    type Key = u32;
    const NAME: &'static str = "recorder";

    async fn reconcile(&self, key: u32, trigger: Trigger) -> Result<Next, ReconcileError> {
        self.passes.lock().unwrap().push((key, trigger.quiet_for));
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_running.fetch_max(running, Ordering::SeqCst);
        if let Some(hold) = &self.hold {
            hold.notified().await;
        }
        self.running.fetch_sub(1, Ordering::SeqCst);
        match key {
            1 => Err(ReconcileError::Random("on purpose".into())),
            2 => panic!("on purpose"),
            3 if trigger.quiet_for < Duration::from_secs(5) => Ok(Next::After(Duration::from_secs(5))),
            _ => Ok(Next::Wait),
        }
    }
}

struct Driven {
    recorder: Arc<Recorder>,
    events: mpsc::UnboundedSender<u32>,
    stop: CancellationToken,
    task: tokio::task::JoinHandle<()>,
}

fn driven(recorder: Recorder, concurrency: usize) -> Driven {
    measured(recorder, concurrency, ReconcileMetrics::default())
}

fn measured(recorder: Recorder, concurrency: usize, metrics: ReconcileMetrics) -> Driven {
    let (events, received) = mpsc::unbounded();
    let recorder = Arc::new(recorder);
    let stop = CancellationToken::new();
    let task =
        tokio::spawn(drive(recorder.clone(), vec![received.boxed()], concurrency, metrics, stop.clone()));
    Driven { recorder, events, stop, task }
}

impl Driven {
    fn send(&self, key: u32) {
        self.events.unbounded_send(key).unwrap();
    }

    async fn end(self) -> Arc<Recorder> {
        self.stop.cancel();
        self.task.await.unwrap();
        self.recorder
    }
}

#[tokio::test(start_paused = true)]
async fn failures_and_panics_back_off_and_leave_other_keys_alone() {
    let driven = driven(Recorder::default(), 4);
    for key in [1, 2, 4] {
        driven.send(key);
    }
    tokio::time::sleep(Duration::from_secs(30)).await;
    driven.send(4);
    tokio::time::sleep(Duration::from_secs(1)).await;
    let recorder = driven.end().await;
    assert_eq!(recorder.passes_of(4).len(), 2);
    for failing in [1, 2] {
        let passes = recorder.passes_of(failing).len();
        assert!((5..=10).contains(&passes), "{passes} passes of key {failing} in 30 s");
    }
}

#[tokio::test(start_paused = true)]
async fn events_do_not_drive_a_key_in_backoff_but_do_not_wait_long_either() {
    let driven = driven(Recorder::default(), 4);
    for _ in 0..300 {
        driven.send(1);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let passes = driven.recorder.passes_of(1).len();
    assert!((5..=13).contains(&passes), "{passes} passes in 30 s of events");
    tokio::time::sleep(Duration::from_secs(300)).await;
    let before = driven.recorder.passes_of(1).len();
    driven.send(1);
    tokio::time::sleep(Duration::from_secs(6)).await;
    assert_eq!(driven.end().await.passes_of(1).len(), before + 1, "not only after a minute");
}

#[tokio::test(start_paused = true)]
async fn quiet_time_counts_from_the_last_event() {
    let driven = driven(Recorder::default(), 4);
    driven.send(3);
    tokio::time::sleep(Duration::from_secs(3)).await;
    driven.send(3);
    tokio::time::sleep(Duration::from_secs(20)).await;
    let quiet = driven.end().await.passes_of(3);
    assert_eq!(quiet.len(), 3, "{quiet:?}");
    assert!(quiet[1] < Duration::from_secs(1) && quiet[2] >= Duration::from_secs(5), "{quiet:?}");
}

#[tokio::test(start_paused = true)]
async fn a_key_is_serial_and_keys_are_bounded() {
    let driven = driven(Recorder { hold: Some(Notify::new()), ..Default::default() }, 2);
    for key in [10, 11, 12, 10, 10] {
        driven.send(key);
    }
    for _ in 0..4 {
        tokio::time::sleep(Duration::from_secs(1)).await;
        driven.recorder.hold.as_ref().unwrap().notify_waiters();
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let recorder = driven.end().await;
    assert_eq!(recorder.most_running.load(Ordering::SeqCst), 2);
    assert_eq!(recorder.passes_of(10).len(), 2, "repeated events during a pass are one more pass");
    assert_eq!(recorder.passes_of(12).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_event_is_measured_once_a_pass_has_dealt_with_it() {
    let metrics = crate::metrics::Metrics::new(Default::default(), Arc::new(Vec::new), Default::default());
    let hold = Some(Notify::new());
    let driven = measured(Recorder { hold, ..Recorder::default() }, 2, metrics.of_controller("recorder"));
    // A second event for the same key while its pass runs, and a key whose passes fail.
    for key in [4, 1] {
        driven.send(key);
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    driven.send(4);
    tokio::time::sleep(Duration::from_secs(1)).await;
    for _ in 0..3 {
        driven.recorder.hold.as_ref().unwrap().notify_one();
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    driven.end().await;
    let text = metrics.text();
    let value = |what: &str| {
        let name = format!("trusted_operator_event_handling_seconds_{what}{{controller=\"recorder\"}} ");
        let line = text.lines().find_map(|line| line.strip_prefix(&name));
        line.unwrap_or_else(|| panic!("no {name} in {text}")).parse::<f64>().unwrap()
    };
    assert_eq!(value("count"), 2.0, "two passes of key 4, none of key 1");
    // At 0 s and at 1 s; seen to at 2 s, and 1 to 3 s later.
    assert!((4.0..8.0).contains(&value("sum")), "{}", value("sum"));
}
