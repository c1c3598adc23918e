//! daily_log.
