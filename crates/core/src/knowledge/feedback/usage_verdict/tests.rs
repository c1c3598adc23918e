use super::*;
use crate::session::ToolCall;

fn said(text: &str) -> Message {
    Message::new("a", None, MessageRole::Assistant, text)
}

fn called(tool: &str, input: &str) -> Message {
    let call = ToolCall {
        id: "c".into(),
        tool: tool.into(),
        input: input.into(),
        reads: Vec::new(),
        writes: if tool == "Edit" { vec![input.into()] } else { Vec::new() },
        ..ToolCall::default()
    };
    Message { calls: vec![call], ..said("") }
}

fn printed(text: &str) -> Message {
    Message { role: MessageRole::Tool, ..said(text) }
}

/// Common words score low, all others high.
fn rarity(word: &str) -> f64 {
    const COMMON_WORDS: &str = "port because taken database use press down when deployed script change \
        look answer done file line blue loose tuesdays install packages keeping retries live function run \
        it with";
    if COMMON_WORDS.split_whitespace().any(|common| common == word) { 0.5 } else { 1.0 }
}

fn verdict(memory: &str, prompt: &str, messages: &[Message]) -> UsageVerdict {
    let memory = ShownMemory { id: "m", text: memory, silent: false };
    judge_usage(&memory, &FeedbackTurn::new(&[prompt], messages), &rarity).verdict
}

const PORT: &str = "The ledger database listens on port 7410 because 5432 was taken.";

#[test]
fn fbk_01_a_number_that_only_the_memory_has_was_used() {
    let prompt = "which port does the ledger database listen on?";
    assert_eq!(verdict(PORT, prompt, &[said("It listens on port 7410.")]), UsageVerdict::Used);
    assert_eq!(verdict(PORT, prompt, &[called("Bash", "psql -p 7410 ledger")]), UsageVerdict::Used);
    assert_eq!(verdict(PORT, prompt, &[said("I do not know.")]), UsageVerdict::Ignored);
    assert_eq!(verdict(PORT, prompt, &[said("It listens on port 17410.")]), UsageVerdict::Ignored);
}

#[test]
fn fbk_01_the_same_words_are_not_enough() {
    let prompt = "which port does the ledger database listen on?";
    let answer = "The ledger database listens on the port of its configuration.";
    assert_eq!(verdict(PORT, prompt, &[said(answer)]), UsageVerdict::Ignored);
}

#[test]
fn fbk_01_text_from_the_prompt_or_a_tool_is_no_evidence_of_use() {
    let prompt = "is the ledger on 7410 or on 5432?";
    assert_eq!(verdict(PORT, prompt, &[said("On 7410.")]), UsageVerdict::Unclear);
    let prompt = "which port does the ledger database listen on?";
    let found = [called("Bash", "cat ledger.toml"), printed("port = 7410\nold = 5432"), said("On 7410.")];
    assert_ne!(verdict(PORT, prompt, &found), UsageVerdict::Used);
    let then = [called("Bash", "nc -z localhost 7410"), printed("7410 is open"), said("Yes.")];
    assert_eq!(verdict(PORT, prompt, &then), UsageVerdict::Used, "the call came before the output");
}

#[test]
fn fbk_01_paths_identifiers_and_options() {
    let memory = "Retries live in src/pump/backoff.rs, function next_delay; run it with --no-jitter.";
    let prompt = "make the retries slower";
    assert_eq!(
        verdict(memory, prompt, &[called("Edit", "/home/dev/app/src/pump/backoff.rs")]),
        UsageVerdict::Used
    );
    assert_eq!(verdict(memory, prompt, &[said("I changed `next_delay`.")]), UsageVerdict::Used);
    assert_eq!(verdict(memory, prompt, &[called("Bash", "app --no-jitter")]), UsageVerdict::Used);
    assert_eq!(
        verdict(memory, prompt, &[called("Edit", "/home/dev/app/src/main.rs")]),
        UsageVerdict::Ignored
    );
}

#[test]
fn fbk_01_a_tool_by_its_name_when_it_is_called() {
    let memory = "Install packages with pnpm in this monorepo, keeping the lockfile.";
    let prompt = "add lodash";
    assert_eq!(verdict(memory, prompt, &[called("Bash", "pnpm add lodash")]), UsageVerdict::Used);
    assert_eq!(verdict(memory, prompt, &[called("Bash", "npm install lodash")]), UsageVerdict::Ignored);
}

#[test]
fn fbk_01_a_statement_without_specifics_by_most_of_its_own_words() {
    let memory = "The kettle whistles when its lid is loose; press it down.";
    let prompt = "why does the kettle whistle?";
    assert_eq!(verdict(memory, prompt, &[said("Its lid is loose. Press it down.")]), UsageVerdict::Used);
    assert_eq!(verdict(memory, prompt, &[said("Perhaps the water is boiling.")]), UsageVerdict::Ignored);
    assert_eq!(verdict(memory, prompt, &[said("Look at the lid first.")]), UsageVerdict::Ignored);
}

#[test]
fn fbk_01_scripts_without_spaces() {
    let memory = "台帳データベースはポート7410で待ち受ける。";
    assert_eq!(verdict(memory, "台帳のポートは？", &[said("7410です。")]), UsageVerdict::Used);
    assert_eq!(verdict(memory, "台帳のポートは？", &[said("わかりません。")]), UsageVerdict::Ignored);
}

#[test]
fn fbk_01_dates_counts_and_clocks_come_up_by_themselves() {
    let memory = "Since 2026-11-14 the nightly export has 3 shards and starts at 10:05.";
    let answer = "Today is 2026-11-14, 10:05, and 3 tests ran.";
    assert_ne!(verdict(memory, "run the tests", &[said(answer)]), UsageVerdict::Used);
}

#[test]
fn a_rule_can_be_heeded_without_a_trace() {
    let memory = ShownMemory { id: "m", text: "Never use sleep in integration tests.", silent: true };
    let turn = FeedbackTurn::new(&["write a check for the exporter"], &[said("Done.")]);
    assert_eq!(judge_usage(&memory, &turn, &rarity).verdict, UsageVerdict::Unclear);
}

#[test]
fn nothing_is_said_about_a_turn_without_an_answer() {
    let memory = ShownMemory { id: "m", text: PORT, silent: false };
    let turn = FeedbackTurn::new(&["which port?"], &[]);
    assert!(!turn.is_answered());
    assert_eq!(judge_usage(&memory, &turn, &rarity).verdict, UsageVerdict::Unclear);
}

#[test]
fn a_verdict_names_its_grounds() {
    let memory = ShownMemory { id: "m", text: PORT, silent: false };
    let judged = judge_usage(&memory, &FeedbackTurn::new(&["which?"], &[said("Port 7410.")]), &rarity);
    assert_eq!(judged.by.first().map(String::as_str), Some("7410"));
}
