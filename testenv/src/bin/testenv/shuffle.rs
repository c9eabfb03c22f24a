//! A shuffled order that can be had again.

use std::time::{SystemTime, UNIX_EPOCH};

/// The SplitMix64 generator: small, and good enough for an order.
#[derive(Clone, Debug)]
pub(crate) struct Shuffler(u64);

impl Shuffler {
    /// From a seed.
    pub(crate) fn new(seed: u64) -> Shuffler {
        Shuffler(seed)
    }

    /// The next number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Puts a list into a random order (Fisher-Yates).
    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            let other = self.next() % (last as u64 + 1);
            list.swap(last, other as usize);
        }
    }
}

/// A seed for those who give none; it is reported, so that the run can be repeated.
pub(crate) fn some_seed() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_order_again_and_loses_nothing() {
        let shuffled = |seed| {
            let mut list: Vec<u32> = (0..100).collect();
            Shuffler::new(seed).shuffle(&mut list);
            list
        };
        assert_eq!(shuffled(7), shuffled(7));
        assert_ne!(shuffled(7), shuffled(8));
        let mut sorted = shuffled(7);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..100).collect::<Vec<u32>>());
    }
}
