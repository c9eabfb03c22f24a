//! A map that forgets its oldest entries beyond a capacity, so that reading a log of any size takes the same
//! memory.
//!
//! Owns the eviction and its count; what an eviction means for the numbers is for the caller to say.

use std::collections::{HashMap, VecDeque};

#[derive(Debug)]
pub(crate) struct Bounded<V> {
    /// With the number of the insertion, by which its place in the order is known from older ones of the same id.
    entries: HashMap<u128, (u64, V)>,
    order: VecDeque<(u64, u128)>,
    capacity: usize,
    inserted: u64,
    evicted: u64,
}

impl<V> Bounded<V> {
    pub(crate) fn new(capacity: usize) -> Bounded<V> {
        Bounded {
            entries: HashMap::new(),
            order: VecDeque::new(),
            capacity: capacity.max(1),
            inserted: 0,
            evicted: 0,
        }
    }

    pub(crate) fn contains(&self, id: u128) -> bool {
        self.entries.contains_key(&id)
    }

    pub(crate) fn get_mut(&mut self, id: u128) -> Option<&mut V> {
        self.entries.get_mut(&id).map(|(_, value)| value)
    }

    pub(crate) fn remove(&mut self, id: u128) -> Option<V> {
        self.entries.remove(&id).map(|(_, value)| value)
    }

    pub(crate) fn insert(&mut self, id: u128, value: V) {
        self.inserted += 1;
        self.entries.insert(id, (self.inserted, value));
        self.order.push_back((self.inserted, id));
        while self.entries.len() > self.capacity {
            // The order also holds places of ids that were removed or inserted anew; these are passed over.
            let Some(oldest) = self.order.pop_front() else { break };
            if is_current(&self.entries, oldest) {
                self.entries.remove(&oldest.1);
                self.evicted += 1;
            }
        }
        if self.order.len() > 2 * self.capacity {
            let entries = &self.entries;
            self.order.retain(|place| is_current(entries, *place));
        }
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.entries.values().map(|(_, value)| value)
    }

    pub(crate) fn evicted(&self) -> u64 {
        self.evicted
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }
}

fn is_current<V>(entries: &HashMap<u128, (u64, V)>, (place, id): (u64, u128)) -> bool {
    entries.get(&id).is_some_and(|(inserted, _)| *inserted == place)
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

    #[test]
    fn coming_again_takes_no_more_room() {
        let mut map = Bounded::new(8);
        for round in 0..100_000 {
            map.remove(round % 8);
            map.insert(round % 8, ());
            assert!(map.order.len() <= 16, "{}", map.order.len());
        }
        assert_eq!((map.len(), map.evicted()), (8, 0));
    }
}
