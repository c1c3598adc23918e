//! The cost of the cross-encoder on this processor. Each run measures it and stores it for the next process,
//! which must know before it begins if there is time.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rekindle_core::base::ignore_failure::IgnoreFailure as _;

use crate::platform::disk;

/// The factor by which a measured cost must differ to be stored again, so that a hook does not write each
/// time.
const REWRITE_FACTOR: f64 = 1.5;
/// The factor by which the cost shrinks each time that it left no time to read: after ten times, it is a third.
const RETRY_FACTOR: f64 = 0.9;
/// The default cost of a token in microseconds: that of a slow processor of 2026 without instructions for
/// eight-bit products.
const UNKNOWN_MICROS_PER_TOKEN: f64 = 200.0;

/// The stored cost, in microseconds per token on one thread.
#[derive(Clone, Debug)]
pub struct ReadingCost {
    file: PathBuf,
    micros_per_token: Option<f64>,
}

impl ReadingCost {
    /// Reads the cost from `file`. A missing or damaged file counts as no measurement.
    pub fn read(file: &Path) -> Self {
        let remembered = std::fs::read_to_string(file).ok().and_then(|text| text.trim().parse().ok());
        let is_sane = |micros: &f64| micros.is_finite() && *micros > 0.0;
        Self { file: file.to_owned(), micros_per_token: remembered.filter(is_sane) }
    }

    /// The estimated time of one thread for `tokens`.
    pub fn estimate(&self, tokens: usize) -> Duration {
        let micros = self.micros_per_token.unwrap_or(UNKNOWN_MICROS_PER_TOKEN);
        Duration::from_secs_f64((micros * tokens as f64 / 1e6).min(3600.0))
    }

    /// Lowers the stored cost a little, because it left no time to read. Otherwise a cost that was measured while the
    /// machine was busy would never be measured again.
    pub fn too_slow(&mut self) {
        if let Some(micros) = self.micros_per_token {
            self.store(micros * RETRY_FACTOR);
        }
    }

    fn store(&mut self, micros: f64) {
        self.micros_per_token = Some(micros);
        disk::write_atomic(&self.file, format!("{micros:.1}\n").as_bytes())
            .ignore_failure("the next process measures again");
    }

    /// Records that a thread took `time` for `tokens`, and stores the cost if it changed.
    pub fn measured(&mut self, tokens: usize, time: Duration) {
        let micros = time.as_secs_f64() * 1e6 / tokens.max(1) as f64;
        let is_news = self
            .micros_per_token
            .is_none_or(|known| micros > known * REWRITE_FACTOR || micros * REWRITE_FACTOR < known);
        if is_news && micros > 0.0 {
            self.store(micros);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measured_cost_is_remembered_for_the_next_process() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("reading-pace");
        let mut pace = ReadingCost::read(&file);
        assert_eq!(pace.estimate(100), Duration::from_millis(20), "unknown: a slow processor");
        pace.measured(100, Duration::from_millis(2));
        assert_eq!(ReadingCost::read(&file).estimate(100), Duration::from_millis(2));
        let before = std::fs::read(&file).unwrap();
        pace.measured(100, Duration::from_micros(2_200));
        assert_eq!(std::fs::read(&file).unwrap(), before, "nearly the same is no news");
        pace.measured(100, Duration::from_millis(9));
        assert_eq!(ReadingCost::read(&file).estimate(100), Duration::from_millis(9));
        // One slow moment does not keep the model from reading for ever.
        let mut tries = 0;
        while ReadingCost::read(&file).estimate(100) > Duration::from_millis(3) {
            ReadingCost::read(&file).too_slow();
            tries += 1;
        }
        assert!((5..20).contains(&tries), "{tries}");
        for damage in ["", "fast", "NaN", "-3", "inf"] {
            disk::write_atomic(&file, damage.as_bytes()).unwrap();
            assert_eq!(ReadingCost::read(&file).estimate(100), Duration::from_millis(20), "{damage}");
        }
    }
}
