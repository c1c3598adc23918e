//! Detects programs and servers on this machine that can answer, and says where questions would go. Detection
//! alone uses nothing.

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

use rekindle_core::base::agent::Agent;
use rekindle_core::config::{LlmProvider, LlmSettings};

use super::{ProviderEnvironment, command, http};
use crate::agents::install::{InstallEnvironment, version};

/// The connection timeout, longer than anything on this machine takes.
const PROBE_TIMEOUT: Duration = Duration::from_millis(300);

/// An agent program that can answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentProgram {
    /// The agent that the program is.
    pub agent: Agent,
    /// The path of the program.
    pub path: PathBuf,
    /// Its version, as far as it can be read without starting it.
    pub version: Option<String>,
}

/// The agents on the search path.
pub fn agents_on_path(around: &ProviderEnvironment) -> Vec<AgentProgram> {
    let found = |agent: Agent| {
        let path = around.program(agent.as_str())?;
        let machine = InstallEnvironment {
            home: around.home.clone(),
            path: around.variables.get(std::ffi::OsStr::new("PATH")).cloned(),
            ..InstallEnvironment::default()
        };
        Some(AgentProgram { agent, version: version(&machine, agent), path })
    };
    Agent::ALL.into_iter().filter_map(found).collect()
}

/// A server that answers on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalServer {
    /// The software that usually listens on this port.
    pub name: &'static str,
    /// The address for `llm.openai.url`.
    pub url: &'static str,
    port: u16,
}

const KNOWN_SERVERS: [LocalServer; 4] = [
    LocalServer { name: "Ollama", url: "http://127.0.0.1:11434/v1", port: 11434 },
    LocalServer { name: "llama.cpp", url: "http://127.0.0.1:8080/v1", port: 8080 },
    LocalServer { name: "LM Studio", url: "http://127.0.0.1:1234/v1", port: 1234 },
    LocalServer { name: "vLLM", url: "http://127.0.0.1:8000/v1", port: 8000 },
];

/// Finds ports of this machine with a listener that may be a model server. Sends nothing.
pub fn listening_servers() -> Vec<LocalServer> {
    let listens = |one: &LocalServer| {
        TcpStream::connect_timeout(&SocketAddr::from((Ipv4Addr::LOCALHOST, one.port)), PROBE_TIMEOUT).is_ok()
    };
    KNOWN_SERVERS.into_iter().filter(listens).collect()
}

/// The data that leaves this machine under the current settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataEgress {
    /// No data leaves this machine.
    Nothing,
    /// Sessions go to a program, and wherever it sends them.
    Program {
        /// The program as the settings name it.
        program: String,
        /// The company behind the program, as far as known.
        to: &'static str,
    },
    /// Sessions go to a server of this machine or of a private network.
    House {
        /// The host name of the server.
        host: String,
    },
    /// Sessions go to a remote server.
    Server {
        /// The host name of the server.
        host: String,
    },
}

/// Tells from the settings which data leaves this machine.
pub fn data_egress(settings: &LlmSettings) -> DataEgress {
    let server = |url: &str| {
        let host = http::host(url);
        if http::is_local(&host) { DataEgress::House { host } } else { DataEgress::Server { host } }
    };
    match settings.provider {
        LlmProvider::Offline => DataEgress::Nothing,
        LlmProvider::Anthropic => server(&settings.anthropic.url),
        LlmProvider::Openai => server(&settings.openai.url),
        LlmProvider::Command => {
            let program = settings.command.program.clone();
            let to = match command::agent(&program) {
                Some(Agent::Claude) => "Anthropic, or the provider it is set up for",
                Some(Agent::Codex) => "OpenAI, or the provider it is set up for",
                Some(Agent::Gemini) => "Google, or the provider it is set up for",
                Some(Agent::Pi) => "the provider of its model",
                None => "wherever that program sends it",
            };
            DataEgress::Program { program, to }
        }
    }
}
