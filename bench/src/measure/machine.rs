//! Describes the machine and its load.

use std::fs::read_to_string;

use serde_json::{Value, json};

/// Describes the processor, the memory and the system; a value that the system does not report is `null`.
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

/// The number of processors.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The load average of the last minute.
pub fn load() -> Option<f64> {
    read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.parse().ok()
}
