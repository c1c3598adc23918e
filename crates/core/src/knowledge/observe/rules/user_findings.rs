//! Findings from the user's own words, verbatim and nothing else (B-01, OBS-11).

use super::draft::FindingDraft;
use super::person_sentences::{self, PersonSentence};
use super::sentence_verdict::{self, SentenceVerdict};
use super::session_view::{PersonMessage, SessionView};
use super::statements;
use super::words::{change, sentiment, wish};
use crate::base::provenance::Origin;
use crate::base::provenance::StatementStrength;
use crate::base::sentiment::Sentiment;
use crate::knowledge::observe::FindingKind;
use crate::knowledge::statement::{ClassifyFn, StatementLabels};
use crate::session::MessageRole;
use crate::session::remember_requests;
use crate::text::phrases::{contains_dense, content, has, line};
use crate::text::sentences;
use crate::vault::priority::Priority;

/// The maximum number of findings per message: a text with more is a document.
const MAX_FINDINGS_PER_MESSAGE: usize = 8;
/// The minimum probability from the classifier for a rule found by words.
const MIN_RULE_PROBABILITY: f32 = 0.1;

/// The user's statements worth keeping: by words, and by labels if there is a classifier.
pub(super) fn message_drafts(view: &SessionView<'_>, classify: Option<&ClassifyFn<'_>>) -> Vec<FindingDraft> {
    let mut drafts = Vec::new();
    for (place, message) in view.person_messages.iter().enumerate() {
        let sentences = person_sentences::person_sentences(view, message);
        let mut found: Vec<FindingDraft> = Vec::new();
        let mut skip = false;
        // True if the last draft is a statement that the next sentence may continue.
        let mut goes_on = false;
        let mut is_kept = false;
        // Labelling is slow, and each sentence is needed twice: by itself, and by the one before it.
        let mut labelled: Vec<Option<StatementLabels>> = vec![None; sentences.len()];
        let mut label = |number: usize| {
            let (sentence, classify) = (sentences.get(number)?, classify?);
            let known = labelled.get_mut(number)?;
            Some(*known.get_or_insert_with(|| statements::label(view, message, sentence, classify)))
        };
        for (number, sentence) in sentences.iter().enumerate() {
            let follows = std::mem::take(&mut goes_on);
            let is_before_kept = std::mem::take(&mut is_kept);
            if std::mem::take(&mut skip) {
                continue;
            }
            let verdict = sentence_verdict::judge_sentence(sentence);
            let labels = statements::can_state(sentence).then(|| label(number)).flatten();
            let stated = labels.and_then(|labels| statements::of_person(view, message, sentence, &labels));
            let next = sentences.get(number + 1).filter(|next| sentence.next == Some(next.text));
            // A statement in the next sentence is joined below.
            let next_states = stated.is_some()
                && next.is_some_and(|next| {
                    let labels = label(number + 1);
                    labels.is_some_and(|labels| statements::of_person(view, message, next, &labels).is_some())
                });
            let stated = stated.map(|stated| match next_states {
                true => stated,
                false => statements::complete_statement(view, sentence, stated),
            });
            let before = number.checked_sub(1).and_then(|before| sentences.get(before));
            let before = before.filter(|before| before.certain && before.next == Some(sentence.text));
            let before = before.filter(|_| !is_before_kept);
            let stated = stated.map(|stated| match before {
                Some(before) => statements::with_lead_sentence(before, stated),
                None => stated,
            });
            let draft = match (verdict, labels, stated) {
                // Ideas and questions are recognised by words alone.
                (Some(verdict), _, _) if !verdict.is_statement() => Some(draft(message, sentence, verdict)),
                // The words match, and no label marks a one-off.
                (Some(verdict), None, _) => {
                    skip = verdict.with_next;
                    Some(draft(message, sentence, verdict))
                }
                // A rule with a list, or one that needs the next sentence, stays verbatim.
                (Some(verdict), Some(labels), _)
                    if labels.lasting >= MIN_RULE_PROBABILITY
                        && (verdict.with_next || !sentence.list.is_empty()) =>
                {
                    skip = verdict.with_next;
                    Some(draft(message, sentence, verdict))
                }
                (Some(verdict), Some(_), Some(stated)) => {
                    goes_on = sentence.next.is_some();
                    Some(FindingDraft {
                        kind: verdict.kind,
                        sentiment: sentiment(message, &stated.text),
                        ..stated
                    })
                }
                // "Remember that …" needs no label.
                (Some(verdict), Some(labels), None)
                    if labels.lasting >= MIN_RULE_PROBABILITY
                        || !remember_requests::find(sentence.text).is_empty() =>
                {
                    Some(draft(message, sentence, verdict))
                }
                (_, Some(_), Some(stated)) => {
                    goes_on = sentence.next.is_some();
                    Some(FindingDraft { sentiment: sentiment(message, &stated.text), ..stated })
                }
                _ => None,
            };
            let draft = draft.map(|draft| if sentence.certain { draft } else { draft.made_uncertain() });
            is_kept = draft.is_some();
            match (draft, found.last_mut().filter(|_| follows)) {
                (Some(draft), Some(last)) if statements::join_statements(last, &draft).is_some() => {
                    *last = statements::join_statements(last, &draft).unwrap_or(draft);
                }
                (draft, _) => found.extend(draft),
            }
            found.extend(chosen(view, sentence));
        }
        let mut found: Vec<FindingDraft> = found.into_iter().map(statements::finish_statement).collect();
        found.truncate(MAX_FINDINGS_PER_MESSAGE);
        drafts.extend(found);
        drafts.extend(question(view, place, &sentences));
    }
    drafts
}

/// A sentence with its list or continuation.
pub(super) fn full_sentence(sentence: &PersonSentence<'_>, verdict: SentenceVerdict) -> String {
    let mut text = sentence.text.trim_start_matches(['-', '*', '•', ' ']).to_owned();
    let next = sentence.next.filter(|_| verdict.with_next);
    for more in
        next.into_iter().chain(sentence.list.iter().copied().filter(|_| verdict.kind == FindingKind::Rule))
    {
        text.push(' ');
        text.push_str(more);
    }
    text
}

fn draft(message: &PersonMessage, sentence: &PersonSentence<'_>, verdict: SentenceVerdict) -> FindingDraft {
    let text = full_sentence(sentence, verdict);
    // "Remember that the port is 5434 now" ends the old port as much as the bare statement does.
    let ends = verdict.is_statement() && has(&sentences::fold(&text), change::NOW);
    FindingDraft {
        kind: verdict.kind,
        priority: verdict.priority,
        strength: verdict.strength,
        sentiment: sentiment(message, &text),
        origin: Origin::User,
        everywhere: false,
        perhaps_everywhere: false,
        ends,
        topic: None,
        text,
        at: sentence.at,
        messages: vec![sentence.at],
    }
}

/// The user's sentiment, if the words show it (FBK-07).
fn sentiment(message: &PersonMessage, text: &str) -> Option<Sentiment> {
    let folded = sentences::fold(text);
    let message: &str = crate::text::phrases::truncate_head(&message.text, 4_096);
    if has(&folded, sentiment::FRUSTRATED)
        || contains_dense(&folded, sentiment::DENSE_FRUSTRATED)
        || message.contains(sentiment::CROSS)
    {
        Some(Sentiment::Frustrated)
    } else if has(&folded, sentiment::URGENT) || contains_dense(&folded, sentiment::DENSE_URGENT) {
        Some(Sentiment::Urgent)
    } else if has(&folded, sentiment::PLEASED)
        || contains_dense(&folded, sentiment::DENSE_PLEASED)
        || message.contains(sentiment::GLAD)
    {
        Some(Sentiment::Pleased)
    } else {
        None
    }
}

/// Resolves "let's go with option 1" to the agent's text. So it is the agent's word, chosen by the user.
fn chosen(view: &SessionView<'_>, sentence: &PersonSentence<'_>) -> Option<FindingDraft> {
    let number = sentence_verdict::chosen_number(sentence.text)?;
    let earlier = view.messages[..sentence.at].iter().enumerate().rev();
    let (offered, message) = earlier
        .take_while(|(_, message)| message.role != MessageRole::User)
        .find(|(_, message)| message.role == MessageRole::Assistant && !message.text.trim().is_empty())?;
    let option = option(crate::text::phrases::truncate_tail(&message.text, 8_192), &number)?;
    let text =
        format!("Chosen: “{}”. The agent had offered: “{}”", line(sentence.text, 80), line(&option, 180));
    let mut draft = FindingDraft::of_agent(FindingKind::Decision, sentence.at, text);
    draft.strength = StatementStrength::Implied;
    draft.messages.push(offered);
    Some(draft)
}

/// The line of the agent's last list that begins with `number`.
fn option(text: &str, number: &str) -> Option<String> {
    let is = |line: &&str| {
        let bare = line.trim_start_matches(['#', '*', '-', ' ', '_']);
        let lower = bare.to_lowercase();
        let named = ["option ", "variant ", "approach ", "variante ", "opción ", "opção ", "вариант "]
            .iter()
            .find_map(|name| lower.strip_prefix(name).map(str::to_owned));
        let rest = named.as_deref().unwrap_or(&lower);
        let after = rest.strip_prefix(number);
        match named {
            Some(_) => after.is_some_and(|after| after.starts_with([':', '.', ')', ' ', '*', '—', '–', '-'])),
            None => after.is_some_and(|after| after.starts_with([')', '.', ':'])),
        }
    };
    let found = text.lines().rfind(is)?;
    let bare = found.replace("**", "").replace('`', "'");
    let trimmed = bare.trim_start_matches(['#', '*', '-', ' ', '_']).trim();
    (content(trimmed).len() >= 3).then(|| trimmed.to_owned())
}

/// A question without answer or action (OBS-06).
fn question(view: &SessionView<'_>, place: usize, sentences: &[PersonSentence<'_>]) -> Option<FindingDraft> {
    let asked = sentences.iter().rev().find(|sentence| sentence.text.ends_with(['?', '？']))?;
    let folded = sentences::fold(asked.text);
    if asked.long || has(&folded, wish::REQUESTS) || content(asked.text).len() < 2 {
        return None;
    }
    // A user who continues without waiting for the answer has rephrased the question, or does not need it.
    if place + 1 < view.person_messages.len() {
        return None;
    }
    let silent = view.messages[asked.at + 1..].iter().all(|message| {
        message.role != MessageRole::Assistant || (message.text.trim().is_empty() && message.calls.is_empty())
    });
    silent.then(|| FindingDraft {
        kind: FindingKind::Question,
        priority: Priority::Low,
        strength: StatementStrength::Explicit,
        sentiment: None,
        origin: Origin::User,
        everywhere: false,
        perhaps_everywhere: false,
        ends: false,
        topic: None,
        text: asked.text.trim_start_matches(['-', '*', '•', ' ']).to_owned(),
        at: asked.at,
        messages: vec![asked.at],
    })
}
