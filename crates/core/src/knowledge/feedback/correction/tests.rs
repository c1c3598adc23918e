use super::*;

fn correction(prompt: &str) -> Option<UserCorrection> {
    let done = Message::new("a", None, MessageRole::Assistant, "It is done.");
    corrections(&[done, Message::new("u", None, MessageRole::User, prompt)]).pop()
}

#[test]
fn fbk_05_corrections_in_eight_languages() {
    for prompt in [
        "No, I told you: the ledger listens on port 7411.",
        "I already said that we deploy with the blue script.",
        "Nein, ich habe dir gesagt, dass wir pnpm verwenden.",
        "No, ya te dije que usamos pnpm en este proyecto.",
        "Non, je t'ai déjà dit qu'on utilise pnpm ici.",
        "Não, eu já disse que usamos pnpm neste projeto.",
        "Нет, я же говорил, что мы используем pnpm.",
        "前にも言ったように、pnpmを使ってください。",
        "我说过我们用 pnpm，不是 npm。",
    ] {
        let found = correction(prompt).unwrap_or_else(|| panic!("{prompt}"));
        assert!(looks_like_correction(prompt), "{prompt}");
        assert!(!found.right.is_empty() && found.message == "u", "{found:?}");
    }
}

#[test]
fn fbk_05_texts_that_correct_nothing() {
    for prompt in [
        "No, thanks.",
        "No, that's fine.",
        "Which port did I say?",
        "> No, I told you: use pnpm everywhere.",
        "```\nNo, I told you: use pnpm everywhere.\n```",
        "Please add a test for the exporter.",
        "As I said, thanks!",
    ] {
        assert_eq!(correction(prompt), None, "{prompt}");
    }
}

#[test]
fn b_01_only_a_reply_to_the_agent_is_a_correction() {
    let alone = Message::new("u", None, MessageRole::User, "I told you that the ledger listens on 7411.");
    assert_eq!(corrections(&[alone]), []);
}

#[test]
fn fbk_05_the_missed_memory_is_found() {
    let told = correction("No, I told you: deploy the pumps with the blue script.").unwrap();
    assert!(states_correction("The pumps are deployed with the blue script on Tuesdays.", &told));
    assert!(!states_correction("The kettle whistles when its lid is loose.", &told));
    let port = correction("No, I already told you that the ledger listens on 7411.").unwrap();
    assert!(states_correction("The ledger database listens on port 7411.", &port));
    assert!(!states_correction("The ledger database listens on port 7410.", &port));
}

#[test]
fn fbk_05_the_memory_that_misled() {
    let port = correction("No, I told you: the ledger listens on port 7411, not 7410.").unwrap();
    assert!(contradicts_correction(
        "The ledger database listens on port 7410 because 5432 was taken.",
        &port
    ));
    assert!(!contradicts_correction("The kettle whistles when its lid is loose.", &port));
    assert!(!contradicts_correction("The ledger database listens on port 7411.", &port));
    let tool = correction("No, use pnpm instead of npm in this repository.").unwrap();
    assert!(contradicts_correction("Packages are installed with npm.", &tool));
    assert!(!contradicts_correction("Packages are installed with pnpm.", &tool));
}
