//! Turns a session into observations: by rules without a model, or by a model whose answer is parsed
//! ([`mod@parse`]) and checked against the messages. Both produce [`ObservedSession`].

pub mod check;
pub mod claim_fault;
pub mod evidence;
pub mod finding;
pub mod noise;
pub mod parse;
pub mod prompt;
mod retold_steps;
pub mod rules;
pub mod write_gate;

pub use check::{CheckedAnswer, check};
pub use finding::{Finding, FindingKind, ObservedSession, ObservedTopic};
pub use parse::{DistilledSegment, ObserverOutput, parse, parse_segments};
pub use rules::{observe, observe_with};
