//! Results that are dropped on purpose.

/// Drops a result on purpose, with the reason in the code.
///
/// The lints find a result that is dropped by mistake, but not one that ends in `unwrap_or_default()` or `ok()`.
pub trait IgnoreFailure {
    /// Drops the value or the error. `reason` says why a failure does no harm.
    fn ignore_failure(self, reason: &'static str);
}

impl<T, E> IgnoreFailure for Result<T, E> {
    fn ignore_failure(self, _reason: &'static str) {}
}
