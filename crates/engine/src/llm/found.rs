//! What is on this machine that could answer, and where what is asked would go. Nothing is used by being found.

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

use rekindle_core::base::agent::Agent;
use rekindle_core::config::{Llm, Provider};

use super::{Surroundings, command, http};
use crate::agents::install::{Machine, version};

/// Longer than anything on this machine takes.
const PATIENCE: Duration = Duration::from_millis(300);

/// A program that could be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The agent that it is.
    pub agent: Agent,
    /// Where it is.
    pub path: PathBuf,
    /// Its version, as far as it can be read without starting it.
    pub version: Option<String>,
}

/// The agents on the path.
pub fn programs(around: &Surroundings) -> Vec<Program> {
    let found = |agent: Agent| {
        let path = around.program(agent.word())?;
        let machine = Machine {
            home: around.home.clone(),
            path: around.variables.get(std::ffi::OsStr::new("PATH")).cloned(),
            ..Machine::default()
        };
        Some(Program { agent, version: version(&machine, agent), path })
    };
    Agent::ALL.into_iter().filter_map(found).collect()
}

/// A server that answers on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answering {
    /// What usually listens there.
    pub name: &'static str,
    /// The address for `llm.openai.url`.
    pub url: &'static str,
    port: u16,
}

const USUAL: [Answering; 4] = [
    Answering { name: "Ollama", url: "http://127.0.0.1:11434/v1", port: 11434 },
    Answering { name: "llama.cpp", url: "http://127.0.0.1:8080/v1", port: 8080 },
    Answering { name: "LM Studio", url: "http://127.0.0.1:1234/v1", port: 1234 },
    Answering { name: "vLLM", url: "http://127.0.0.1:8000/v1", port: 8000 },
];

/// Where on this machine something listens that may be a model's server. Nothing is sent.
pub fn listening() -> Vec<Answering> {
    let listens = |one: &Answering| {
        TcpStream::connect_timeout(&SocketAddr::from((Ipv4Addr::LOCALHOST, one.port)), PATIENCE).is_ok()
    };
    USUAL.into_iter().filter(listens).collect()
}

/// What leaves this machine, as the settings have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leaves {
    /// Nothing.
    Nothing,
    /// What was said goes to a program, and wherever that sends it.
    Program {
        /// As it is named in the settings.
        program: String,
        /// Who answers it, as far as we know.
        to: &'static str,
    },
    /// What was said goes to a server of this machine or a private network.
    House {
        /// The server.
        host: String,
    },
    /// What was said goes to a server somewhere else.
    Server {
        /// The server.
        host: String,
    },
}

/// What leaves this machine, as the settings have it.
pub fn leaves(settings: &Llm) -> Leaves {
    let server = |url: &str| {
        let host = http::host(url).to_owned();
        if http::is_local(&host) { Leaves::House { host } } else { Leaves::Server { host } }
    };
    match settings.provider {
        Provider::Offline => Leaves::Nothing,
        Provider::Anthropic => server(&settings.anthropic.url),
        Provider::Openai => server(&settings.openai.url),
        Provider::Command => {
            let program = settings.command.program.clone();
            let to = match command::agent(&program) {
                Some(Agent::Claude) => "Anthropic, or whom it is set up for",
                Some(Agent::Codex) => "OpenAI, or whom it is set up for",
                Some(Agent::Gemini) => "Google, or whom it is set up for",
                Some(Agent::Pi) => "the maker of its model",
                None => "wherever it sends it",
            };
            Leaves::Program { program, to }
        }
    }
}
