//! Sets up an installation, checks it, reports what was learnt, and forgets for good.
//!
//! - [`setup`]: creates the folders and the vault
//! - [`backup`]: writes everything into one file, and puts it back
//! - [`doctor`]: checks an installation
//! - [`gate`]: sends a fact through the installed hooks and back, in a scratch home
//! - [`health`]: measures what the health checks decide on
//! - [`forget`]: removes a memory from every store, for good
//! - [`repair`]: repairs an installation
//! - [`learning`]: reports what was learnt and skipped
//! - [`milestones`]: logs what became of the installation
//! - [`week`]: gathers what a week brought, for a page

pub mod backup;
pub mod doctor;
pub mod forget;
pub mod gate;
pub mod health;
pub mod learning;
pub mod milestones;
pub mod repair;
pub mod setup;
pub mod week;
