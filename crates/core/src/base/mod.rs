//! Basic values: time, ids, hashes, scope, provenance.

pub mod agent;
pub mod confidence;
pub mod decided_by;
pub mod hash;
pub mod id;
pub mod id_match;
pub mod ignore_failure;
pub mod provenance;
pub mod scope;
pub mod sentiment;
pub mod time;
pub mod time_of_day;
