//! Throttle for work that repeats after every change and takes longer the more data there is: it gets a
//! bounded share of the time, and runs once more when everything else is done.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// The rest after a run, as a multiple of its duration.
const REST_FACTOR: u32 = 10;

/// Throttle: the time of the last run, and true if another is owed.
#[derive(Debug, Default)]
pub struct Throttle {
    last: Cell<Option<(Instant, Duration)>>,
    owed: Cell<bool>,
}

impl Throttle {
    /// Runs `work`, unless it took too much time lately: then it is owed.
    pub fn run_throttled<T>(&self, work: impl FnOnce() -> T) -> Option<T> {
        if let Some((ended, took)) = self.last.get()
            && ended.elapsed() < took * REST_FACTOR
        {
            self.owed.set(true);
            return None;
        }
        let began = Instant::now();
        let done = work();
        self.last.set(Some((Instant::now(), began.elapsed())));
        self.owed.set(false);
        Some(done)
    }

    /// Runs `work` if it is owed.
    pub fn run_if_postponed(&self, work: impl FnOnce()) {
        if self.owed.take() {
            work();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn throttled_work_runs_rarely_and_at_the_end() {
        let (pace, done) = (Throttle::default(), Cell::new(0));
        let work = || {
            std::thread::sleep(Duration::from_millis(30));
            done.set(done.get() + 1);
        };
        pace.run_if_postponed(work);
        assert_eq!(done.get(), 0, "nothing was asked for");
        for _ in 0..5 {
            pace.run_throttled(work);
        }
        assert_eq!(done.get(), 1);
        pace.run_if_postponed(work);
        pace.run_if_postponed(work);
        assert_eq!(done.get(), 2);
    }
}
