//! The one place that reads the clock.

use jiff::Zoned;

/// Now, in the system's time zone.
#[expect(clippy::disallowed_methods, reason = "this is the room that may")]
pub fn now() -> Zoned {
    Zoned::now()
}
