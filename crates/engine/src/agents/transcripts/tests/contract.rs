//! Tests of each host's format: tools, failures, compactions, resumed and rewound sessions.

use super::*;
use crate::agents::transcripts::read_head;

const WORK: [&str; 4] = ["3f263073", "9e94-7251", "c66423c9", "6fac-767f"];

fn work(agent: Agent) -> PathBuf {
    recorded(agent, WORK[agent as usize])
}

#[test]
fn fnd_06_claude_code_with_tools_resumed_and_compacted() {
    assert_eq!(
        shorts(Agent::Claude, "3f263073"),
        [
            "user: Remember that heights are in metres. The tide ta",
            "agent: I will look at the parser first.",
            "agent:  [Read(/home/dev/project/ti) <tides.py]",
            "tool: 1\tMETRES = 1|2\t|3\tdef height(feet):|4\t    return (Read)",
            "agent:  [Edit(/home/dev/project/ti) >tides.py]",
            "tool: The file /home/dev/project/tides.py has been upd (Edit)",
            "agent:  [Bash(python3 check.py)]",
            "tool: Exit code 3|expected 0.30, got 0.3048 (Bash failed 3)",
            "agent: The heights are in metres now, but the check sti",
            "user: Now two digits, please.",
            "agent: Both at once.",
            "agent:  [Bash(ls)]",
            "agent:  [Bash(wc -l tides.py)]",
            "tool: __pycache__|check.py|tides.py (Bash)",
            "tool: 4 tides.py (Bash)",
            "agent: Rounded to two digits.",
            "summary: This session is being continued from a previous ",
            "user: How is the lighthouse list sorted?",
            "agent: The lighthouse list is sorted by range.",
        ]
    );
}

#[test]
fn fnd_06_claude_code_typed_named_rewound_and_refused() {
    // "How are the ferry times sorted?" was withdrawn with Escape; the reason against an edit is the user's
    // own text.
    assert_eq!(
        shorts(Agent::Claude, "8b71cdf4"),
        [
            "user: Which harbour is it?",
            "agent: The harbour is Porto.",
            "user: How is the lighthouse list sorted?",
            "agent: The lighthouse list is sorted by range.",
            "user: The tide table shows feet, please fix it.",
            "agent: I will look at the parser first.",
            "agent:  [Read(/home/dev/project/ti) <tides.py]",
            "tool: 1\tMETRES = 1|2\t|3\tdef height(feet):|4\t    return (Read)",
            "agent:  [Edit(/home/dev/project/ti) >tides.py]",
            "tool: The user doesn't want to proceed with this tool  (Edit failed)",
            "user: Use round() as everywhere else.",
            "agent:  [Bash(python3 check.py)]",
            "tool: Exit code 3|expected 0.30, got 1 (Bash failed 3)",
            "agent: The heights are in metres now, but the check sti",
        ]
    );
    let head = read_head(Agent::Claude, &recorded(Agent::Claude, "8b71cdf4")).unwrap();
    assert!(!head.headless && !head.subagent);
    let (_, read) = all(Agent::Claude, &recorded(Agent::Claude, "8b71cdf4"), None).unwrap();
    assert_eq!(read.head.name.as_deref(), Some("Sea charts"));
}

#[test]
fn fnd_06_claude_code_resumed_at_an_earlier_message() {
    assert_eq!(
        shorts(Agent::Claude, "8f678526"),
        [
            "user: Which harbour is it?",
            "agent: The harbour is Porto.",
            "user: Forget that. How is the lighthouse list sorted?",
            "agent: The lighthouse list is sorted by range.",
        ]
    );
}

#[test]
fn b_04_what_a_sub_agent_said_is_left_out() {
    assert_eq!(
        shorts(Agent::Claude, "36ab56dd"),
        [
            "user: Make a survey, please.",
            "agent:  [Agent(How are the ferry ti)]",
            "tool: Async agent launched successfully. (This tool re (Agent)",
            "agent: A helper looked at the ferries.",
            "agent: STUB-OK",
        ]
    );
    let main = recorded(Agent::Claude, "36ab56dd");
    let own = main.with_extension("").join("subagents/agent-ae9536e17e3ee58a5.jsonl");
    assert!(read_head(Agent::Claude, &own).unwrap().subagent);
    let (messages, read) = all(Agent::Claude, &own, None).unwrap();
    assert!(messages.is_empty() && read.head.subagent);
    let found = find(Agent::Claude, &rekindle_testkit::transcripts::home());
    assert_eq!(found.len(), 4);
    assert!(found.iter().all(|found| found.path != own));
}

#[test]
fn fnd_06_codex_with_tools_resumed_and_compacted() {
    assert_eq!(
        shorts(Agent::Codex, "9e94-7251"),
        [
            "user: Remember that heights are in metres. The tide ta",
            "agent:  [exec_command(cat tides.py)]",
            "tool: METRES = 1||def height(feet):|    return feet *  (exec_command 0)",
            "agent:  [exec_command(apply_patch tides.py) >tides.py]",
            "tool: Success. Updated the following files:|M tides.py (exec_command 0)",
            "agent:  [exec_command(python3 check.py)]",
            "tool: expected 0.30, got 0.3048 (exec_command failed 3)",
            "agent: The heights are in metres now, but the check sti",
            "user: Now two digits, please.",
            "agent:  [exec_command(ls)]",
            "agent:  [exec_command(wc -l tides.py)]",
            "tool: __pycache__|check.py|tides.py (exec_command 0)",
            "tool: 4 tides.py (exec_command 0)",
            "agent: Rounded to two digits.",
            "user: This is a big one.",
            "agent: That was a big one.",
            "summary: Another model began this and left a summary: hei",
            "user: How is the lighthouse list sorted?",
            "agent: The lighthouse list is sorted by range.",
        ]
    );
}

#[test]
fn fnd_06_codex_reverted_twice_goes_on_in_other_files() {
    assert_eq!(
        shorts(Agent::Codex, "35ee-7293"),
        [
            "user: Which harbour is it?",
            "agent: The harbour is Porto.",
            "user: And how is the lighthouse list sorted now?",
            "agent: The lighthouse list is sorted by range.",
        ]
    );
    // A fork is a separate session, and its origin another.
    let fork = ["user: The ferry again, please.", "agent: Ferries are listed by departure."];
    assert_eq!(shorts(Agent::Codex, "365c-7e52"), fork);
    // Superseded files are found through the newest one only.
    assert_eq!(find(Agent::Codex, &rekindle_testkit::transcripts::home()).len(), 3);
}

#[test]
fn fnd_06_a_part_that_is_gone_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let newest = recorded(Agent::Codex, "35ee-7293");
    let alone = folder.path().join(newest.file_name().unwrap());
    std::fs::copy(&newest, &alone).unwrap();
    let (messages, read) = all(Agent::Codex, &alone, None).unwrap();
    assert_eq!((messages.len(), read.missing), (2, 1));
}

#[test]
fn fnd_06_gemini_cli_with_tools_and_resumed() {
    assert_eq!(
        shorts(Agent::Gemini, "c66423c9"),
        [
            "user: Remember that heights are in metres. The tide ta",
            "agent: I will look at the parser first. [read_file(tides.py) <tides.py]",
            "tool: METRES = 1||def height(feet):|    return feet *  (read_file)",
            "agent:  [replace(tides.py) >tides.py]",
            "tool: Successfully modified file: /home/dev/project/ti (replace)",
            "agent:  [run_shell_command(python3 check.py)]",
            "tool: expected 0.30, got 0.3048 (run_shell_command failed 3)",
            "agent: The heights are in metres now, but the check sti",
            "user: Now two digits, please.",
            "agent: Both at once. [run_shell_command(ls)] [run_shell_command(wc -l tides.py)]",
            "tool: __pycache__|check.py|tides.py (run_shell_command)",
            "tool: 4 tides.py (run_shell_command)",
            "agent: Rounded to two digits.",
        ]
    );
}

#[test]
fn fnd_06_gemini_cli_rewound_and_compressed() {
    // The last question was asked twice, and withdrawn once.
    assert_eq!(
        shorts(Agent::Gemini, "ac17841d"),
        [
            "user: Which harbour is it",
            "agent: The harbour is Porto.",
            "user: How are the ferry times sorted",
            "agent: The harbour is Porto.",
            "user: How is the lighthouse list sorted",
            "agent: The lighthouse list is sorted by range.",
        ]
    );
    assert_eq!(
        shorts(Agent::Gemini, "b7fc066f"),
        [
            "user: Remember that heights are in metres.",
            "agent: STUB-OK",
            "user: Tell a long story of the pier.",
            "agent: Tide lamp sand stone wind beacon sail chart bell",
            "user: Another longer story, please.",
            "agent: Chart chart hull tide crew anchor. Keel mast she",
            "summary: <state_snapshot>|<overall_goal>Heights in metres",
            "user: How is the lighthouse list sorted",
            "agent: The lighthouse list is sorted by range.",
        ]
    );
}

#[test]
fn fnd_06_pi_with_tools_a_command_of_the_person_and_compacted() {
    assert_eq!(
        shorts(Agent::Pi, "6fac-767f"),
        [
            "user: Remember that heights are in metres. The tide ta",
            "agent: I will look at the parser first. [read(tides.py) <tides.py]",
            "tool: METRES = 1||def height(feet):|    return feet *  (read)",
            "agent:  [edit(tides.py) >tides.py]",
            "tool: Successfully replaced 1 block(s) in tides.py. (edit)",
            "agent:  [bash(python3 check.py)]",
            "tool: expected 0.30, got 0.3048|||Command exited with  (bash failed 3)",
            "agent: The heights are in metres now, but the check sti",
            "user: Now two digits, please.",
            "agent: Both at once. [bash(ls)] [bash(wc -l tides.py)]",
            "tool: __pycache__|check.py|tides.py (bash)",
            "tool: 4 tides.py (bash)",
            "agent: Rounded to two digits.",
            "tool: $ false (bash failed 1)",
            "user: Tell a long story of the pier.",
            "agent: Tide lamp sand stone wind beacon sail chart bell",
            "user: Another longer story, please.",
            "agent: Chart chart hull tide crew anchor. Keel mast she",
            "user: How is the lighthouse list sorted?",
            "agent: The lighthouse list is sorted by range.",
            "user: How are the ferry times sorted?",
            "agent: Ferries are listed by departure.",
            "summary: ## Goal|Heights in metres.||## Next|Two digits.|",
            "user: Which harbour is it?",
            "agent: The harbour is Porto.",
        ]
    );
}

#[test]
fn fnd_06_pi_on_another_branch() {
    assert_eq!(
        shorts(Agent::Pi, "face-7155"),
        [
            "user: Which harbour is it?",
            "agent: The harbour is Porto.",
            "user: How is the lighthouse list sorted?",
            "agent: The lighthouse list is sorted by range.",
        ]
    );
}

#[test]
fn fnd_06_a_transcript_says_which_session_it_is() {
    for (agent, session, started, headless) in [
        (Agent::Claude, "3f263073-56d7-4d6d-a671-07e8a6c5daa0", "2026-11-15T09:08:02.409Z", true),
        (Agent::Codex, "01a1de7b-9e94-7251-955c-fce7042ac9e0", "2026-11-15T09:13:25.92Z", true),
        (Agent::Gemini, "c66423c9-2bd1-4138-8984-042fabeb3adf", "2026-11-15T09:13:31.307Z", false),
        (Agent::Pi, "01a1de80-6fac-767f-b84b-df1a871a265b", "2026-11-15T09:18:41.581Z", false),
    ] {
        for head in [read_head(agent, &work(agent)).unwrap(), all(agent, &work(agent), None).unwrap().1.head]
        {
            assert_eq!(head.session.as_deref(), Some(session));
            assert_eq!(head.cwd.as_deref(), Some("/home/dev/project"));
            assert_eq!(head.started.map(|at| at.to_string()).as_deref(), Some(started));
            assert_eq!((head.headless, head.subagent), (headless, false));
        }
    }
}

#[test]
fn b_01_nothing_that_a_hook_put_in_comes_back() {
    for agent in Agent::ALL {
        for found in find(agent, &rekindle_testkit::transcripts::home()) {
            let raw = std::fs::read_to_string(&found.path).unwrap();
            let (messages, _) = all(agent, &found.path, None).unwrap();
            assert!(messages.iter().all(|message| !message.text.contains("REMEMBERED")), "{agent}");
            assert!(raw.contains("REMEMBERED") || agent == Agent::Codex, "the recording has none to drop");
        }
    }
}

#[test]
fn fnd_06_ids_are_unique_and_the_same_in_every_reading() {
    for agent in Agent::ALL {
        for found in find(agent, &rekindle_testkit::transcripts::home()) {
            let (messages, _) = all(agent, &found.path, None).unwrap();
            let mut ids: Vec<&str> = messages.iter().map(|message| message.id.as_str()).collect();
            ids.sort_unstable();
            ids.dedup();
            assert_eq!(ids.len(), messages.len(), "{}", found.path.display());
            assert!(messages.iter().all(|message| message.at.is_some()));
            assert_eq!(all(agent, &found.path, None).unwrap().0, messages);
        }
    }
}

#[test]
fn a_receiver_that_has_enough_is_given_no_more() {
    let mut seen = 0;
    let read = read(Agent::Claude, &work(Agent::Claude), None, &mut |_| {
        seen += 1;
        if seen == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let read = read.unwrap();
    assert_eq!((seen, read.messages, read.stopped), (3, 3, true));
}
