//! Runs several jobs concurrently.

use std::panic;
use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// Runs the jobs on a thread each, released together by a barrier, and returns their results in order.
///
/// The jobs own their data (a [`crate::TestCommand`] does), because a thread that hangs can only be left behind.
///
/// # Panics
/// If a job panics (with its own message), or if one is not done within `limit` of the start.
#[track_caller]
pub fn together<T, F>(limit: Duration, jobs: impl IntoIterator<Item = F>) -> Vec<T>
where
    T: Send + 'static,
    F: FnOnce() -> T + Send + 'static,
{
    let jobs: Vec<F> = jobs.into_iter().collect();
    let barrier = Arc::new(Barrier::new(jobs.len()));
    let deadline = Instant::now() + limit;
    let running: Vec<_> = jobs
        .into_iter()
        .map(|job| {
            let (barrier, (sender, receiver)) = (Arc::clone(&barrier), mpsc::channel());
            let thread = thread::spawn(move || {
                barrier.wait();
                // Nobody listens any more if an earlier job failed or exceeded the limit.
                sender.send(job()).ok();
            });
            (thread, receiver)
        })
        .collect();
    let count = running.len();
    let mut results = Vec::with_capacity(count);
    for (index, (thread, receiver)) in running.into_iter().enumerate() {
        match receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(result) => results.push(result),
            Err(mpsc::RecvTimeoutError::Timeout) => {
                panic!("job {} of {count} was not done within {limit:?}", index + 1)
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => match thread.join() {
                Err(cause) => panic::resume_unwind(cause),
                Ok(()) => panic!("job {} of {count} ended without a result", index + 1),
            },
        }
    }
    results
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn results_come_in_the_order_of_the_jobs_and_all_run_at_once() {
        let present = Arc::new(AtomicUsize::new(0));
        let jobs = (0..8).map(|number| {
            let present = Arc::clone(&present);
            move || {
                present.fetch_add(1, Ordering::SeqCst);
                while present.load(Ordering::SeqCst) < 8 {
                    thread::yield_now();
                }
                number
            }
        });
        assert_eq!(together(Duration::from_secs(10), jobs), (0..8).collect::<Vec<_>>());
    }

    #[test]
    #[should_panic(expected = "job 2 of 2 was not done within 50ms")]
    fn a_job_that_overruns_fails_the_test() {
        together(
            Duration::from_millis(50),
            [0, 5].map(|seconds| move || thread::sleep(Duration::from_secs(seconds))),
        );
    }

    #[test]
    #[should_panic(expected = "the job's own words")]
    fn a_job_that_panics_fails_the_test_with_its_own_message() {
        together(Duration::from_secs(10), [|| panic!("the job's own words")]);
    }
}
