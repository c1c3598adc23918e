//! Sets up an installation, checks it, and reports what was learnt.
//!
//! - [`setup`]: creates the folders and the vault
//! - [`doctor`]: checks an installation
//! - [`learning`]: reports what was learnt and skipped

pub mod doctor;
pub mod learning;
pub mod setup;
