//! Recall and precision of redaction over a table of secrets in context and harmless texts (B-03).
//!
//! `fixtures/secrets.txt` and `fixtures/harmless.txt` have one text after each line that begins with `%%`.
//! The rest of that line names the class of the following texts. `⟦…⟧` marks the secret. Every third text was
//! held out until the rules were written, so its share shows the quality on unseen texts.

use super::*;

const SECRETS: &str = include_str!("fixtures/secrets.txt");
const HARMLESS: &str = include_str!("fixtures/harmless.txt");
/// Texts from an external audit. Its authors saw the results, so none of it counts as held out.
const REPORTED: &str = include_str!("fixtures/reported.txt");
const REPORTED_HARMLESS: &str = include_str!("fixtures/reported_harmless.txt");
/// Contexts and harmless lines that somebody wrote who had not read the rules, for a measure that the rules were not made for.
const FRESH: &str = include_str!("fixtures/fresh.txt");
const FRESH_HARMLESS: &str = include_str!("fixtures/fresh_harmless.txt");
/// A rule of the published gitleaks rules and a token of the form it describes, for every vendor whose tokens say
/// themselves whose they are.
const VENDORS: &str = include_str!("fixtures/vendors.txt");

/// One text of a table.
struct RedactionSample<'a> {
    class: &'a str,
    text: String,
    held_back: bool,
}

fn samples(table: &str) -> Vec<RedactionSample<'_>> {
    let mut class = "";
    let records = table.strip_prefix("%%").unwrap_or(table).split("\n%%");
    let samples = records.enumerate().map(|(nth, record)| {
        let (name, text) = record.split_once('\n').unwrap_or((record, ""));
        if !name.trim().is_empty() {
            class = name.trim();
        }
        RedactionSample { class, text: undotted(text.trim_end_matches('\n')), held_back: nth % 3 == 2 }
    });
    samples.collect()
}

/// The marked secrets of a text.
fn marked(text: &str) -> Vec<&str> {
    text.split('⟦').skip(1).filter_map(|part| part.split('⟧').next()).collect()
}

/// True if a usable part of `secret` is still in `text`.
fn survives(secret: &str, text: &str) -> bool {
    let chars: Vec<char> = secret.chars().collect();
    chars.windows(8.min(chars.len())).any(|piece| text.contains(&piece.iter().collect::<String>()))
}

/// The number of texts in a table, and those with a wrong result.
fn outcome(
    table: &str,
    wrong: impl Fn(&RedactionSample<'_>) -> bool,
    held_back: bool,
) -> (usize, Vec<String>) {
    let samples: Vec<_> = samples(table).into_iter().filter(|sample| sample.held_back == held_back).collect();
    let left = samples.iter().filter(|sample| wrong(sample));
    let named = left.map(|sample| {
        let redacted = redact(&sample.text.replace(['⟦', '⟧'], "")).text.into_owned();
        format!("[{}]\n{redacted}", sample.class)
    });
    (samples.len(), named.collect())
}

fn leaks(sample: &RedactionSample<'_>) -> bool {
    let redacted = redact(&sample.text.replace(['⟦', '⟧'], "")).text.into_owned();
    marked(&sample.text).iter().any(|secret| survives(secret, &redacted))
}

fn is_touched(sample: &RedactionSample<'_>) -> bool {
    !redact(&sample.text).counts.is_empty()
}

#[test]
fn b_03_realistic_contexts_leave_at_most_15_in_192() {
    assert!(samples(SECRETS).iter().all(|sample| !marked(&sample.text).is_empty()));
    for held_back in [false, true] {
        let (all, left) = outcome(SECRETS, leaks, held_back);
        assert!(left.len() * 192 <= 15 * all, "{} of {all} left:\n{}", left.len(), left.join("\n\n"));
    }
}

#[test]
fn b_03_reported_contexts_leave_at_most_15_in_192() {
    let mut counts = [(0, Vec::new()), (0, Vec::new())];
    for held_back in [false, true] {
        for (sum, found) in counts
            .iter_mut()
            .zip([outcome(REPORTED, leaks, held_back), outcome(REPORTED_HARMLESS, is_touched, held_back)])
        {
            sum.0 += found.0;
            sum.1.extend(found.1);
        }
    }
    let [(all, left), (harmless, touched)] = counts;
    assert!(left.len() * 192 <= 15 * all, "{} of {all} left:\n{}", left.len(), left.join("\n\n"));
    assert!(touched.len() * 50 <= harmless, "{} of {harmless}:\n{}", touched.len(), touched.join("\n\n"));
}

#[test]
fn b_03_contexts_of_somebody_new_leave_at_most_15_in_192() {
    let (mut all, mut left) = outcome(FRESH, leaks, false);
    let (more, more_left) = outcome(FRESH, leaks, true);
    (all, left) = (all + more, [left, more_left].concat());
    assert!(left.len() * 192 <= 15 * all, "{} of {all} left:\n{}", left.len(), left.join("\n\n"));
    let touched: Vec<_> = FRESH_HARMLESS.lines().filter(|line| !redact(line).counts.is_empty()).collect();
    let all = FRESH_HARMLESS.lines().count();
    let shown: Vec<_> = touched.iter().map(|line| redact(line).text).collect();
    assert!(touched.len() * 100 <= all, "{} of {all} touched:\n{}", touched.len(), shown.join("\n"));
}

#[test]
fn b_03_at_most_one_harmless_text_in_a_hundred_is_touched() {
    for held_back in [false, true] {
        let (all, touched) = outcome(HARMLESS, is_touched, held_back);
        assert!(touched.len() * 100 <= all, "{} of {all} touched:\n{}", touched.len(), touched.join("\n\n"));
    }
}

#[test]
fn b_03_every_token_that_names_its_vendor_goes() {
    let mut left = String::new();
    for line in VENDORS.lines() {
        let (rule, token) = line.split_once(' ').expect("a rule and a token");
        let token = undotted(token);
        for text in [format!("use {token} here"), format!("X_VALUE=\"{token}\"")] {
            let redacted = redact(&text).text.into_owned();
            let secret = token.rsplit(['/', '=', ' ']).next().unwrap_or(&token);
            if redacted.contains(secret) {
                left += &format!("{rule}: {redacted}\n");
            }
        }
    }
    assert!(left.is_empty(), "\n{left}");
}
