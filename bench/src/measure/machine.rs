//! Which machine it was, and whether it had other things to do.

use std::fs::read_to_string;

use serde_json::{Value, json};

/// What is known about it; what the system does not tell is `null`.
pub fn about() -> Value {
    let processor = read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    });
    let kernel = read_to_string("/proc/sys/kernel/osrelease").ok().map(|text| text.trim().to_owned());
    json!({
        "processor": processor,
        "cores": cores(),
        "system": std::env::consts::OS,
        "kernel": kernel,
    })
}

/// How many processors there are.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// How many processes wanted a processor, on average over the last minute.
pub fn load() -> Option<f64> {
    read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.parse().ok()
}
