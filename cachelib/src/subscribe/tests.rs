//! Queues and subscribers without a stream behind them.

use futures::FutureExt;

use super::*;

fn queue(items: &[u8]) -> Arc<Queue<u8>> {
    let queue = Arc::new(Queue::default());
    queue.extend(items.to_vec());
    queue
}

fn subscription(queue: &Arc<Queue<u8>>) -> Subscription<u8> {
    Subscription::new(Arc::clone(queue), Box::new(|| {}))
}

#[tokio::test]
async fn items_come_in_order_and_once() {
    let queue = queue(&[3, 1, 3, 2, 1]);
    let mut subscription = subscription(&queue);
    assert_eq!(subscription.len(), 3);
    assert_eq!(subscription.next().await, Some(3));
    // Taken out, it may come again, at the end.
    queue.extend(vec![3, 1]);
    assert_eq!(
        [subscription.try_next(), subscription.try_next(), subscription.try_next()],
        [Some(1), Some(2), Some(3)]
    );
    assert_eq!(subscription.try_next(), None);
}

#[tokio::test]
async fn a_waiting_subscriber_is_woken_by_an_item_and_by_the_end() {
    let queue = queue(&[]);
    let mut subscription = subscription(&queue);
    let waiting = tokio::spawn(async move { (subscription.next().await, subscription.next().await) });
    tokio::task::yield_now().await;
    queue.extend(vec![7]);
    tokio::task::yield_now().await;
    queue.close();
    assert_eq!(waiting.await.unwrap(), (Some(7), None));
}

#[tokio::test]
async fn a_cancelled_wait_loses_nothing() {
    let queue = queue(&[]);
    let mut subscription = subscription(&queue);
    assert!(subscription.next().now_or_never().is_none());
    queue.extend(vec![1]);
    // Woken, then dropped before it looked.
    drop(subscription.next());
    assert_eq!(subscription.next().now_or_never(), Some(Some(1)));
    assert!(subscription.next().now_or_never().is_none());
}

#[tokio::test]
async fn what_waits_at_the_end_is_still_delivered() {
    let queue = queue(&[1]);
    queue.close();
    let rest: Vec<_> = futures::StreamExt::collect(subscription(&queue).into_stream()).await;
    assert_eq!(rest, [1]);
}

#[test]
fn the_queue_of_a_subscriber_that_never_looks_holds_each_item_once() {
    let queue = queue(&[]);
    for round in 0..10_000_u32 {
        queue.extend(vec![u8::try_from(round % 3).unwrap()]);
    }
    assert_eq!(queue.len(), 3);
}

#[test]
fn a_panic_in_one_mapping_does_not_reach_the_others() {
    let subscribers = Subscribers::<u8>::default();
    let (bad, good) = (Arc::new(Queue::<u8>::default()), Arc::new(Queue::<u8>::default()));
    let panicking = |_: Option<&u8>, new: Option<&u8>| -> Vec<u8> {
        assert!(new != Some(&1), "a mistake in the mapping");
        new.copied().into_iter().collect()
    };
    let sound = |_: Option<&u8>, new: Option<&u8>| -> Vec<u8> { new.copied().into_iter().collect() };
    subscribers.add(Arc::new(Mapped { queue: Arc::clone(&bad), map: panicking }));
    subscribers.add(Arc::new(Mapped { queue: Arc::clone(&good), map: sound }));
    for number in [1, 2] {
        for subscriber in subscribers.current() {
            subscriber.announce(None, Some(&number));
        }
    }
    assert_eq!((bad.len(), good.len()), (1, 2));
}

#[test]
fn removed_and_late_subscribers() {
    let subscribers = Subscribers::<u8>::default();
    let map = |_: Option<&u8>, new: Option<&u8>| -> Vec<u8> { new.copied().into_iter().collect() };
    let first = subscribers.add(Arc::new(Mapped { queue: queue(&[]), map }));
    subscribers.add(Arc::new(Mapped { queue: queue(&[]), map }));
    subscribers.remove(first);
    subscribers.remove(first);
    assert_eq!(subscribers.len(), 1);
    subscribers.close();
    let late = queue(&[4]);
    subscribers.add(Arc::new(Mapped { queue: Arc::clone(&late), map }));
    assert!(matches!((late.pop(), late.pop()), (Pop::Item(4), Pop::Closed)));
}
