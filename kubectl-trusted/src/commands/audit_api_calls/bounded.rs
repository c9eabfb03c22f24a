//! A map that forgets its oldest entries beyond a capacity, so that reading a log of any size takes the same
//! memory.
//!
//! Owns the eviction and its count; what an eviction means for the numbers is for the caller to say.

use std::collections::{HashMap, VecDeque};

#[derive(Debug)]
pub(crate) struct Bounded<V> {
    entries: HashMap<u128, V>,
    order: VecDeque<u128>,
    capacity: usize,
    evicted: u64,
}

impl<V> Bounded<V> {
    pub(crate) fn new(capacity: usize) -> Bounded<V> {
        Bounded { entries: HashMap::new(), order: VecDeque::new(), capacity: capacity.max(1), evicted: 0 }
    }

    pub(crate) fn contains(&self, id: u128) -> bool {
        self.entries.contains_key(&id)
    }

    pub(crate) fn remove(&mut self, id: u128) -> Option<V> {
        self.entries.remove(&id)
    }

    pub(crate) fn insert(&mut self, id: u128, value: V) {
        if self.entries.insert(id, value).is_some() {
            return;
        }
        self.order.push_back(id);
        while self.entries.len() > self.capacity {
            // The order also holds ids that were removed since; these free nothing and are passed over.
            let Some(oldest) = self.order.pop_front() else { break };
            if self.entries.remove(&oldest).is_some() {
                self.evicted += 1;
            }
        }
        if self.order.len() > 2 * self.capacity {
            let entries = &self.entries;
            self.order.retain(|id| entries.contains_key(id));
        }
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.entries.values()
    }

    pub(crate) fn evicted(&self) -> u64 {
        self.evicted
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_goes_first() {
        let mut map = Bounded::new(2);
        for id in 1..=3 {
            map.insert(id, ());
        }
        assert!(!map.contains(1) && map.contains(2) && map.contains(3));
        assert_eq!(map.evicted(), 1);
    }

    #[test]
    fn coming_and_going_takes_no_more_room() {
        let mut map = Bounded::new(8);
        for id in 0..100_000 {
            map.insert(id, id);
            map.remove(id);
        }
        assert!(map.order.len() <= 17, "{}", map.order.len());
        assert_eq!((map.len(), map.evicted()), (0, 0));
    }
}
