//! system_log.
