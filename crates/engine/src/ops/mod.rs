//! Sets up an installation, checks it, and reports what was learnt.
//!
//! - [`setup`]: creates the folders and the vault
//! - [`doctor`]: checks an installation
//! - [`health`]: measures what the health checks decide on
//! - [`learning`]: reports what was learnt and skipped
//! - [`week`]: gathers what a week brought, for a page

pub mod doctor;
pub mod health;
pub mod learning;
pub mod setup;
pub mod week;
