//! `_meta/waiting.jsonl`: the proposals that are not on today's page of `REVIEW.md`, one per line, so that
//! recall finds them while they wait. Nothing is decided here.

use super::layout::META;
use super::path::VaultPath;
use super::review::{ListedProposal, MachineId};

const FILE_STEM: &str = "waiting";
const FILE_EXTENSION: &str = ".jsonl";

/// The path of a machine's file. In a shared vault each machine has a file of its own, so that no two write
/// the same one.
pub fn path(machine: Option<MachineId>) -> VaultPath {
    let file = machine.map_or(format!("{FILE_STEM}{FILE_EXTENSION}"), |machine| {
        format!("{FILE_STEM}-{machine}{FILE_EXTENSION}")
    });
    VaultPath::from_parts(&[META, &file])
}

/// True if a vault path is one of these files.
pub fn is_queue_file(path: &str) -> bool {
    let name = path.strip_prefix(META).and_then(|rest| rest.strip_prefix('/')?.strip_prefix(FILE_STEM));
    name.and_then(|rest| rest.strip_suffix(FILE_EXTENSION)).is_some_and(|rest| {
        rest.is_empty() || rest.strip_prefix('-').is_some_and(|name| name.parse::<MachineId>().is_ok())
    })
}

/// Renders `proposals` as a file; empty for none.
pub fn render(proposals: &[ListedProposal]) -> String {
    let lines = proposals.iter().filter_map(|proposal| serde_json::to_string(proposal).ok());
    lines.map(|line| line + "\n").collect()
}

/// Parses a line. `None` if it is unreadable or its content was forgotten.
pub fn parse(line: &str) -> Option<ListedProposal> {
    let proposal: ListedProposal = serde_json::from_str(line).ok()?;
    (!proposal.title.is_empty() || !proposal.text.is_empty()).then_some(proposal)
}

#[cfg(test)]
mod tests {
    use super::super::review::ProposalPlace;
    use super::*;

    #[test]
    fn r_05_what_waits_reads_back() {
        let waits = |id: &str, text: &str| ListedProposal {
            id: id.parse().unwrap(),
            place: ProposalPlace::Section("Hard Rules".to_owned()),
            title: "A title".to_owned(),
            text: text.to_owned(),
            project: Some(crate::base::scope::ProjectId::new("github.com/acme/payments")),
        };
        let all = [waits("p-20261115-001", "One\n\n- \"two\"\u{2028}"), waits("f-20261115-002", "")];
        let file = render(&all);
        assert_eq!(file.lines().filter_map(parse).collect::<Vec<_>>(), all);
        assert_eq!(render(&[]), "");
        let forgotten = ListedProposal { title: String::new(), ..waits("p-20261115-003", "") };
        assert_eq!(parse(render(&[forgotten]).trim_end()), None);
        assert_eq!(parse("{\"id\":\"p-1\"}"), None);
    }

    #[test]
    fn the_files_are_known_by_their_names() {
        let machine = MachineId::new([1, 2, 3, 4]);
        assert_eq!(path(None).as_str(), "_meta/waiting.jsonl");
        for path in [path(None), path(Some(machine))] {
            assert!(is_queue_file(path.as_str()), "{path}");
        }
        for other in [
            "waiting.jsonl",
            "_meta/waiting.md",
            "_meta/waiting-.jsonl",
            "_meta/a/waiting.jsonl",
            "_meta/tombstones.jsonl",
            "_meta/waiting.sync-conflict-2026.jsonl",
        ] {
            assert!(!is_queue_file(other), "{other}");
        }
    }
}
