//! The background functions, and a check that each can be reached (EXE-11, EXE-12, EXE-17).

use std::collections::{BTreeMap, BTreeSet};

use rekindle_core::event::{Event, names};
use rekindle_core::run::schedule::RunSchedule;
use serde_json::Value;
use thiserror::Error;

use super::{RunInterrupt, StepRunner};
use crate::jobs::context::StageContext;

/// The result of a function that ended.
#[derive(Clone, Debug, PartialEq)]
pub enum FunctionOutcome {
    /// It did its work, with this output.
    Completed(Value),
    /// It had nothing to do, for this reason.
    Skipped(String),
}

/// A background function: its triggers and its body.
pub struct QueueFunction {
    /// Its name, in `rekindle runs` and everywhere else.
    pub name: &'static str,
    /// The events that it listens to.
    pub triggers: &'static [&'static str],
    /// Its schedule, if it runs by the clock.
    pub schedule: Option<RunSchedule>,
    /// The events that it sends.
    pub emits: &'static [&'static str],
    /// Runs with the same key run one at a time (EXE-03).
    pub key: fn(&Event) -> Option<String>,
    /// Its body. It may be called again from the start: all effects are in steps, each of which is
    /// idempotent.
    pub body: fn(&Event, &mut dyn StepRunner, &StageContext) -> Result<FunctionOutcome, RunInterrupt>,
}

/// The registry of all functions.
pub struct FunctionRegistry {
    /// The functions in the registry.
    pub functions: &'static [QueueFunction],
    /// Events from outside: hooks, commands, other programs.
    pub sources: &'static [&'static str],
}

/// A defect of a registry.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RegistryProblem {
    /// An event has a sender and no listener (EXE-17).
    #[error("no function listens to the event `{0}`")]
    Unheard(String),
    /// Nothing can start a function (EXE-11).
    #[error("the function `{0}` can never run: nothing sends the events it listens to")]
    Unreachable(String),
    /// Two functions have the same name.
    #[error("two functions have the name `{0}`")]
    SameName(String),
    /// Two functions listen to the same event (EXE-12).
    #[error("`{event}` has several exclusive listeners: {}", .functions.join(" and "))]
    Contested {
        /// The name of the event.
        event: String,
        /// The names of the functions.
        functions: Vec<String>,
    },
    /// An event that is not in the contract.
    #[error("the function `{function}` listens to an unknown event: `{event}`")]
    NoSuchEvent {
        /// The name of the function.
        function: String,
        /// The name of the event.
        event: String,
    },
}

impl FunctionRegistry {
    /// The functions that listen to an event.
    pub fn listeners<'a>(&'a self, event: &'a Event) -> impl Iterator<Item = &'static QueueFunction> + 'a {
        let scheduled = (event.name == names::SCHEDULE_REACHED)
            .then(|| event.data.get("function").and_then(Value::as_str))
            .flatten();
        self.functions.iter().filter(move |function| match scheduled {
            Some(name) => function.name == name && function.schedule.is_some(),
            None => function.triggers.contains(&event.name.as_str()),
        })
    }

    /// Looks up a function by name.
    pub fn get(&self, name: &str) -> Option<&'static QueueFunction> {
        self.functions.iter().find(|function| function.name == name)
    }

    /// The events that a function listens to; sending any other is pointless.
    pub fn known_events(&self) -> BTreeSet<&'static str> {
        self.functions.iter().flat_map(|function| function.triggers.iter().copied()).collect()
    }

    /// Lists all defects. Two functions may not listen to the same event: the last one to run would win.
    pub fn check(&self) -> Vec<RegistryProblem> {
        let mut wrong = Vec::new();
        let mut seen = BTreeSet::new();
        let mut claims: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        let listened = self.known_events();
        let sent: BTreeSet<&str> =
            self.functions.iter().flat_map(|function| function.emits).chain(self.sources).copied().collect();
        for function in self.functions {
            if !seen.insert(function.name) {
                wrong.push(RegistryProblem::SameName(function.name.to_owned()));
            }
            for event in function.triggers.iter().chain(function.emits) {
                if !names::ALL.contains(event) {
                    let (function, event) = (function.name.to_owned(), (*event).to_owned());
                    wrong.push(RegistryProblem::NoSuchEvent { function, event });
                }
            }
            for event in function.triggers {
                claims.entry(event).or_default().push(function.name.to_owned());
            }
            let reachable =
                function.schedule.is_some() || function.triggers.iter().any(|event| sent.contains(event));
            if !reachable {
                wrong.push(RegistryProblem::Unreachable(function.name.to_owned()));
            }
        }
        wrong.extend(
            sent.iter().filter(|e| !listened.contains(*e)).map(|e| RegistryProblem::Unheard((*e).to_owned())),
        );
        for (event, functions) in claims {
            if functions.len() > 1 {
                wrong.push(RegistryProblem::Contested { event: event.to_owned(), functions });
            }
        }
        wrong
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn function(
        name: &'static str,
        triggers: &'static [&'static str],
        emits: &'static [&'static str],
    ) -> QueueFunction {
        let body =
            |_: &Event, _: &mut dyn StepRunner, _: &StageContext| Ok(FunctionOutcome::Skipped(String::new()));
        QueueFunction { name, triggers, schedule: None, emits, key: |_| None, body }
    }

    static CONTESTED: FunctionRegistry = FunctionRegistry {
        functions: &[
            function("one", &[names::CAPTURE_REQUESTED], &[]),
            function("two", &[names::CAPTURE_REQUESTED], &[]),
        ],
        sources: &[names::CAPTURE_REQUESTED],
    };
    static LOOSE: FunctionRegistry = FunctionRegistry {
        functions: &[
            function("deaf", &[names::OBSERVATION_NOTED], &[names::SESSION_ENDED]),
            function("deaf", &["no/such.event"], &[]),
        ],
        sources: &[],
    };

    #[test]
    fn exe_12_two_functions_that_claim_one_event_are_reported() {
        let wrong = CONTESTED.check();
        let functions = vec!["one".to_owned(), "two".to_owned()];
        assert_eq!(
            wrong,
            [RegistryProblem::Contested { event: names::CAPTURE_REQUESTED.to_owned(), functions }]
        );
        assert!(wrong[0].to_string().ends_with("several exclusive listeners: one and two"), "{}", wrong[0]);
    }

    #[test]
    fn exe_11_exe_17_unreachable_functions_and_unheard_events_are_reported() {
        let wrong = LOOSE.check();
        for expected in [
            RegistryProblem::SameName("deaf".to_owned()),
            RegistryProblem::Unreachable("deaf".to_owned()),
            RegistryProblem::Unheard(names::SESSION_ENDED.to_owned()),
            RegistryProblem::NoSuchEvent { function: "deaf".to_owned(), event: "no/such.event".to_owned() },
        ] {
            assert!(wrong.contains(&expected), "{expected} is not in {wrong:?}");
        }
    }
}
