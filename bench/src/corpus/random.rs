//! Deterministic random numbers: the same seed gives the same memories on every machine.

/// SplitMix64, a small and fast generator that is good enough to pick words.
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// Creates the generator of `index` under `seed`, independent of every other index. Memories can be made
    /// in any order, and a smaller corpus is a prefix of a larger one.
    pub fn of(seed: u64, index: u64) -> Self {
        let mut random = Self(seed ^ index.wrapping_mul(0xd1b5_4a32_d192_ed03));
        random.bits();
        random
    }

    /// Returns the next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `limit`, which is at least 1.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.bits() % limit.max(1) as u64) as usize
    }

    /// Returns a number in `[0, 1)`.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Picks one item with uniform probability.
    pub fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}

/// A Zipf distribution: rank n is 1/n^s as frequent as the first.
#[derive(Debug)]
pub struct ZipfRanks {
    up_to: Vec<f64>,
}

impl ZipfRanks {
    /// Creates the distribution over `count` ranks with exponent `s`.
    pub fn new(count: usize, s: f64) -> Self {
        let mut sum = 0.0;
        let up_to = (1..=count.max(1)).map(|rank| {
            sum += (rank as f64).powf(-s);
            sum
        });
        Self { up_to: up_to.collect() }
    }

    /// Draws a rank, from 0.
    pub fn draw(&self, random: &mut SplitMix64) -> usize {
        let total = self.up_to.last().copied().unwrap_or(1.0);
        let at = random.unit() * total;
        self.up_to.partition_point(|sum| *sum <= at).min(self.up_to.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zipf_prefers_the_first_and_reaches_the_last() {
        let (zipf, mut random) = (ZipfRanks::new(10, 1.0), SplitMix64::of(1, 1));
        let mut seen = [0usize; 10];
        (0..100_000).for_each(|_| seen[zipf.draw(&mut random)] += 1);
        let share = seen[0] as f64 / seen[9] as f64;
        assert!((9.0..11.0).contains(&share), "{share}");
    }
}
