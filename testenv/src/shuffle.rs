//! Chance that can be had again: the same seed gives the same orders and the same draws.

use std::time::{SystemTime, UNIX_EPOCH};

/// The SplitMix64 generator: small, and good enough for an order or a draw.
#[derive(Clone, Debug)]
pub struct Shuffler(u64);

impl Shuffler {
    /// From a seed.
    pub fn new(seed: u64) -> Shuffler {
        Shuffler(seed)
    }

    /// The next number.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// True with this probability; 0 is never and 1 is always.
    pub fn chance(&mut self, probability: f64) -> bool {
        // As many bits as a float between 0 and 1 holds.
        ((self.draw() >> 11) as f64) / ((1_u64 << 53) as f64) < probability
    }

    /// Puts a list into a random order (Fisher-Yates).
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            let other = self.draw() % (last as u64 + 1);
            list.swap(last, other as usize);
        }
    }
}

/// A seed for those who give none; it is reported, so that the run can be repeated.
pub fn some_seed() -> u64 {
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

    #[test]
    fn a_chance_is_taken_about_as_often_as_it_says() {
        let mut shuffler = Shuffler::new(7);
        let mut taken = |probability| (0..1_000).filter(|_| shuffler.chance(probability)).count();
        assert_eq!((taken(0.0), taken(1.0)), (0, 1_000));
        assert!((200..300).contains(&taken(0.25)));
    }
}
