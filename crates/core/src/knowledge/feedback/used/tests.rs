use super::*;
use crate::session::Call;

fn said(text: &str) -> Message {
    Message::new("a", None, Role::Assistant, text)
}

fn called(tool: &str, input: &str) -> Message {
    let call = Call {
        id: "c".into(),
        tool: tool.into(),
        input: input.into(),
        reads: Vec::new(),
        writes: if tool == "Edit" { vec![input.into()] } else { Vec::new() },
        ..Call::default()
    };
    Message { calls: vec![call], ..said("") }
}

fn printed(text: &str) -> Message {
    Message { role: Role::Tool, ..said(text) }
}

/// Common words score low, all others high.
fn rarity(word: &str) -> f64 {
    const EVERYDAY: &str = "port because taken database use press down when deployed script change \
        look answer done file line blue loose tuesdays install packages keeping retries live function run \
        it with";
    if EVERYDAY.split_whitespace().any(|common| common == word) { 0.5 } else { 1.0 }
}

fn verdict(memory: &str, prompt: &str, messages: &[Message]) -> Verdict {
    let memory = Memory { id: "m", text: memory, silent: false };
    judge(&memory, &Turn::new(&[prompt], messages), &rarity).verdict
}

const PORT: &str = "The ledger database listens on port 7410 because 5432 was taken.";

#[test]
fn fbk_01_a_number_that_only_the_memory_has_was_used() {
    let prompt = "which port does the ledger database listen on?";
    assert_eq!(verdict(PORT, prompt, &[said("It listens on port 7410.")]), Verdict::Used);
    assert_eq!(verdict(PORT, prompt, &[called("Bash", "psql -p 7410 ledger")]), Verdict::Used);
    assert_eq!(verdict(PORT, prompt, &[said("I do not know.")]), Verdict::Ignored);
    assert_eq!(verdict(PORT, prompt, &[said("It listens on port 17410.")]), Verdict::Ignored);
}

#[test]
fn fbk_01_the_same_words_are_not_enough() {
    let prompt = "which port does the ledger database listen on?";
    let answer = "The ledger database listens on the port of its configuration.";
    assert_eq!(verdict(PORT, prompt, &[said(answer)]), Verdict::Ignored);
}

#[test]
fn fbk_01_what_the_prompt_or_a_tool_said_first_proves_nothing() {
    let prompt = "is the ledger on 7410 or on 5432?";
    assert_eq!(verdict(PORT, prompt, &[said("On 7410.")]), Verdict::Unclear);
    let prompt = "which port does the ledger database listen on?";
    let found = [called("Bash", "cat ledger.toml"), printed("port = 7410\nold = 5432"), said("On 7410.")];
    assert_ne!(verdict(PORT, prompt, &found), Verdict::Used);
    let then = [called("Bash", "nc -z localhost 7410"), printed("7410 is open"), said("Yes.")];
    assert_eq!(verdict(PORT, prompt, &then), Verdict::Used, "the call came before the output");
}

#[test]
fn fbk_01_paths_identifiers_and_options() {
    let memory = "Retries live in src/pump/backoff.rs, function next_delay; run it with --no-jitter.";
    let prompt = "make the retries slower";
    assert_eq!(
        verdict(memory, prompt, &[called("Edit", "/home/dev/app/src/pump/backoff.rs")]),
        Verdict::Used
    );
    assert_eq!(verdict(memory, prompt, &[said("I changed `next_delay`.")]), Verdict::Used);
    assert_eq!(verdict(memory, prompt, &[called("Bash", "app --no-jitter")]), Verdict::Used);
    assert_eq!(verdict(memory, prompt, &[called("Edit", "/home/dev/app/src/main.rs")]), Verdict::Ignored);
}

#[test]
fn fbk_01_a_tool_by_its_name_when_it_is_called() {
    let memory = "Install packages with pnpm in this monorepo, keeping the lockfile.";
    let prompt = "add lodash";
    assert_eq!(verdict(memory, prompt, &[called("Bash", "pnpm add lodash")]), Verdict::Used);
    assert_eq!(verdict(memory, prompt, &[called("Bash", "npm install lodash")]), Verdict::Ignored);
}

#[test]
fn fbk_01_a_statement_without_specifics_by_most_of_its_own_words() {
    let memory = "The kettle whistles when its lid is loose; press it down.";
    let prompt = "why does the kettle whistle?";
    assert_eq!(verdict(memory, prompt, &[said("Its lid is loose. Press it down.")]), Verdict::Used);
    assert_eq!(verdict(memory, prompt, &[said("Perhaps the water is boiling.")]), Verdict::Ignored);
    assert_eq!(verdict(memory, prompt, &[said("Look at the lid first.")]), Verdict::Ignored);
}

#[test]
fn fbk_01_scripts_without_spaces() {
    let memory = "台帳データベースはポート7410で待ち受ける。";
    assert_eq!(verdict(memory, "台帳のポートは？", &[said("7410です。")]), Verdict::Used);
    assert_eq!(verdict(memory, "台帳のポートは？", &[said("わかりません。")]), Verdict::Ignored);
}

#[test]
fn fbk_01_dates_counts_and_clocks_come_up_by_themselves() {
    let memory = "Since 2026-11-14 the nightly export has 3 shards and starts at 10:05.";
    let answer = "Today is 2026-11-14, 10:05, and 3 tests ran.";
    assert_ne!(verdict(memory, "run the tests", &[said(answer)]), Verdict::Used);
}

#[test]
fn a_rule_can_be_heeded_without_a_trace() {
    let memory = Memory { id: "m", text: "Never use sleep in integration tests.", silent: true };
    let turn = Turn::new(&["write a check for the exporter"], &[said("Done.")]);
    assert_eq!(judge(&memory, &turn, &rarity).verdict, Verdict::Unclear);
}

#[test]
fn nothing_is_said_about_a_turn_without_an_answer() {
    let memory = Memory { id: "m", text: PORT, silent: false };
    let turn = Turn::new(&["which port?"], &[]);
    assert!(!turn.is_answered());
    assert_eq!(judge(&memory, &turn, &rarity).verdict, Verdict::Unclear);
}

#[test]
fn a_verdict_names_its_grounds() {
    let memory = Memory { id: "m", text: PORT, silent: false };
    let judged = judge(&memory, &Turn::new(&["which?"], &[said("Port 7410.")]), &rarity);
    assert_eq!(judged.by.first().map(String::as_str), Some("7410"));
}
