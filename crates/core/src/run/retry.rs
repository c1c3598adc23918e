//! Retry delays of failed runs.

use jiff::SignedDuration;

/// The maximum number of attempts. After that a run is dead until a person retries it.
pub const MAX_ATTEMPTS: u32 = 6;
/// The delay after the first attempt; each further one is four times as long.
const FIRST_PAUSE: SignedDuration = SignedDuration::from_secs(15);
const MAX_PAUSE: SignedDuration = SignedDuration::from_hours(2);

/// The delay after attempt number `attempt` (from 1), or `None` if it was the last. `random` adds jitter of
/// up to a quarter either way, to spread runs that failed together. A service's own retry-after time is a
/// lower bound.
pub fn retry_delay(attempt: u32, random: u8, requested: Option<SignedDuration>) -> Option<SignedDuration> {
    if attempt >= MAX_ATTEMPTS {
        return None;
    }
    let doublings = attempt.saturating_sub(1).min(16) * 2;
    let pause = FIRST_PAUSE.saturating_mul(1 << doublings.min(20)).min(MAX_PAUSE);
    let millis = pause.as_millis() as i64;
    let spread = millis / 4 * (i64::from(random) - 128) / 128;
    let jittered = SignedDuration::from_millis(millis + spread);
    Some(jittered.max(requested.unwrap_or(SignedDuration::ZERO)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exe_09_pauses_grow_and_end() {
        let pauses: Vec<_> =
            (1..MAX_ATTEMPTS).filter_map(|attempt| retry_delay(attempt, 128, None)).collect();
        assert_eq!(pauses.len() as u32, MAX_ATTEMPTS - 1);
        assert!(pauses.windows(2).all(|pair| pair[0] < pair[1]), "{pauses:?}");
        assert_eq!(pauses[0], FIRST_PAUSE);
        assert!(pauses.iter().all(|pause| *pause <= MAX_PAUSE));
        assert_eq!(retry_delay(MAX_ATTEMPTS, 128, None), None);
    }

    #[test]
    fn runs_that_failed_together_are_spread_by_a_quarter_at_most() {
        let (least, most) = (retry_delay(2, 0, None).unwrap(), retry_delay(2, 255, None).unwrap());
        assert_eq!(least.as_millis(), 45_000);
        assert!(most.as_millis() > 70_000 && most.as_millis() <= 75_000, "{most:?}");
    }

    #[test]
    fn a_requested_delay_is_respected() {
        let wanted = SignedDuration::from_hours(5);
        assert_eq!(retry_delay(1, 0, Some(wanted)), Some(wanted));
    }
}
