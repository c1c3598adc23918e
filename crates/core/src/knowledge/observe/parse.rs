//! Parses an observer's answer. A model may forget a tag, add a code fence or use the old flat form; its
//! statements are kept in all cases (OBS-20).

use serde::{Deserialize, Serialize};

use crate::base::sentiment::Sentiment;
use crate::base::time::Date;
use crate::vault::priority::Priority;

const OBSERVATIONS_TAG: &str = "observations";
const SEGMENT_TAG: &str = "segment";
const NARRATIVE_TAG: &str = "narrative";
const FACTS_TAG: &str = "facts";
const CURRENT_TASK_TAG: &str = "current-task";
const SUGGESTED_RESPONSE_TAG: &str = "suggested-response";
const DATE_LABEL: &str = "Date:";

/// The parsed answer of an observer (OBS-19).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ObserverOutput {
    /// The observations as written, trimmed.
    pub observations: String,
    /// The topics; empty in the flat form.
    pub segments: Vec<DistilledSegment>,
    /// The current task of the session.
    pub current_task: Option<String>,
    /// The suggested next step.
    pub suggested_response: Option<String>,
    /// True if the observations were inside their tag.
    pub parsed: bool,
}

/// One topic: a narrative, and the facts to keep (OBS-15).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DistilledSegment {
    /// A narrative of one to three sentences.
    pub narrative: String,
    /// The bullets as written.
    pub facts: Vec<String>,
}

/// Parses an observer's answer. It never fails: at worst the result is the text itself.
pub fn parse(text: &str) -> ObserverOutput {
    if let Some(output) = from_json(text) {
        return output;
    }
    let Some(observations) = tagged_text(text, OBSERVATIONS_TAG) else { return fallback(text) };
    let observations = unfenced(observations).trim().to_owned();
    let other = |name| {
        tagged_text(text, name).map(|text| unfenced(text).trim().to_owned()).filter(|text| !text.is_empty())
    };
    ObserverOutput {
        segments: parse_segments(&observations),
        current_task: other(CURRENT_TASK_TAG),
        suggested_response: other(SUGGESTED_RESPONSE_TAG),
        observations,
        parsed: true,
    }
}

/// The JSON form of the answer, from servers with schema support.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct JsonObservations {
    segments: Vec<JsonSegment>,
    #[serde(default)]
    current_task: Option<String>,
    #[serde(default)]
    suggested_response: Option<String>,
}

#[derive(Deserialize)]
struct JsonSegment {
    #[serde(default)]
    narrative: String,
    #[serde(default)]
    facts: Vec<JsonFact>,
}

#[derive(Deserialize)]
struct JsonFact {
    priority: Priority,
    #[serde(default)]
    time: Option<String>,
    text: String,
    #[serde(default)]
    messages: Vec<u64>,
    #[serde(default)]
    feels: Option<String>,
}

impl JsonFact {
    /// The bullet line with the same content.
    fn line(&self) -> String {
        let mut line = format!("* {} ", self.priority.emoji());
        let time = self.time.as_deref().map(|time| time.trim().trim_matches(['(', ')'])).unwrap_or_default();
        if !time.is_empty() {
            line.push_str(&format!("({time}) "));
        }
        line.push_str(&single_line(&self.text));
        if !self.messages.is_empty() {
            let numbers: Vec<String> = self.messages.iter().map(|number| format!("#{number}")).collect();
            line.push_str(&format!(" [{}]", numbers.join(", ")));
            let known = |word: &&str| Sentiment::ALL.iter().any(|feels| feels.as_str() == *word);
            if let Some(word) = self.feels.as_deref().map(str::trim).filter(known) {
                line.push_str(&format!(" {{{word}}}"));
            }
        }
        line
    }
}

fn from_json(text: &str) -> Option<ObserverOutput> {
    let text = unfenced(text).trim();
    if !text.starts_with('{') {
        return None;
    }
    let json: JsonObservations = serde_json::from_str(text).ok()?;
    let said = |text: Option<String>| text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    let segments: Vec<DistilledSegment> = json
        .segments
        .iter()
        .map(|segment| DistilledSegment {
            narrative: single_line(&segment.narrative),
            facts: segment.facts.iter().map(JsonFact::line).collect(),
        })
        .filter(|segment| !segment.narrative.is_empty() || !segment.facts.is_empty())
        .collect();
    Some(ObserverOutput {
        observations: segments.iter().map(render).collect::<Vec<_>>().join("\n"),
        segments,
        current_task: said(json.current_task),
        suggested_response: said(json.suggested_response),
        parsed: true,
    })
}

fn render(segment: &DistilledSegment) -> String {
    let facts = segment.facts.join("\n");
    format!("<segment>\n<narrative>{}</narrative>\n<facts>\n{facts}\n</facts>\n</segment>", segment.narrative)
}

/// Parses an answer without tags: the lines that look like observations, or else everything (OBS-20).
fn fallback(text: &str) -> ObserverOutput {
    let marked: Vec<&str> =
        text.lines().filter(|line| parse_bullet(line).is_some()).map(str::trim_end).collect();
    let observations = if marked.is_empty() { text.trim().to_owned() } else { marked.join("\n") };
    ObserverOutput { observations, ..ObserverOutput::default() }
}

/// Parses the segments; empty in the flat form. A segment without end tag extends to the next one.
pub fn parse_segments(observations: &str) -> Vec<DistilledSegment> {
    let mut segments = Vec::new();
    let mut rest = observations;
    while let Some((_, body)) = opened(rest, SEGMENT_TAG) {
        let end = [closing(body, SEGMENT_TAG), opening(body, SEGMENT_TAG)].into_iter().flatten().min();
        let (body, after) = body.split_at(end.unwrap_or(body.len()));
        let narrative = tagged_text(body, NARRATIVE_TAG).map(single_line).unwrap_or_default();
        let facts = tagged_text(body, FACTS_TAG).unwrap_or(body);
        let facts: Vec<String> = facts
            .lines()
            .filter(|line| parse_bullet(line).is_some())
            .map(|line| line.trim().to_owned())
            .collect();
        if !narrative.is_empty() || !facts.is_empty() {
            segments.push(DistilledSegment { narrative, facts });
        }
        rest = after;
    }
    segments
}

impl ObserverOutput {
    /// The day that the observer names.
    pub fn date(&self) -> Option<Date> {
        self.observations.lines().find_map(|line| line.trim().strip_prefix(DATE_LABEL)?.trim().parse().ok())
    }

    /// The highest priority in the answer (OBS-21).
    pub fn max_priority(&self) -> Option<Priority> {
        self.observations.lines().filter_map(parse_bullet).map(|(priority, _)| priority).max()
    }
}

/// Parses an observation line into priority and text.
pub(super) fn parse_bullet(line: &str) -> Option<(Priority, &str)> {
    let line = line.trim_start();
    let line = line.strip_prefix(['*', '-', '•']).unwrap_or(line).trim_start();
    Priority::strip_emoji(line).map(|(priority, rest)| (priority, rest.trim()))
}

/// The position of a tag, ignoring case.
fn find(text: &str, tag: &str) -> Option<usize> {
    let (text, tag) = (text.as_bytes(), tag.as_bytes());
    (0..text.len().checked_sub(tag.len() - 1)?)
        .find(|at| text[*at..*at + tag.len()].eq_ignore_ascii_case(tag))
}

fn opening(text: &str, name: &str) -> Option<usize> {
    find(text, &format!("<{name}>"))
}

fn closing(text: &str, name: &str) -> Option<usize> {
    find(text, &format!("</{name}>"))
}

/// Splits a text at an opening tag.
fn opened<'a>(text: &'a str, name: &str) -> Option<(&'a str, &'a str)> {
    let at = opening(text, name)?;
    Some((text.get(..at)?, text.get(at + name.len() + 2..)?))
}

/// The text between a pair of tags. Without the closing tag it extends to the next top-level tag, or to the
/// end: the answer of a truncated model is still useful.
fn tagged_text<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, body) = opened(text, name)?;
    let outer = [OBSERVATIONS_TAG, CURRENT_TASK_TAG, SUGGESTED_RESPONSE_TAG];
    let next = || outer.iter().filter(|other| **other != name).filter_map(|other| opening(body, other)).min();
    let end = closing(body, name).or_else(next).unwrap_or(body.len());
    body.get(..end)
}

/// Strips a code fence around the whole answer.
fn unfenced(text: &str) -> &str {
    let trimmed = text.trim();
    let inner = trimmed.strip_prefix("```").and_then(|rest| rest.split_once('\n')).map(|(_, rest)| rest);
    inner.and_then(|rest| rest.trim_end().strip_suffix("```")).unwrap_or(trimmed)
}

fn single_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WHOLE: &str = "Here you are.
<observations>
Date: 2026-11-14

<segment>
<narrative>The pump stalled because
its fuse was wired backwards.</narrative>
<facts>
* 🔴 (10:05) Fuse 7 is wired backwards; swap the leads
* 🟡 (10:20) Changed pump.rs to log the current
</facts>
</segment>
<segment>
<narrative>Small talk about the weather.</narrative>
<facts>
* 🟢 (near end) Asked whether it would rain
</facts>
</segment>
</observations>
<current-task>
Primary: rewire fuse 8
</current-task>
<suggested-response>
Go on with fuse 8.
</suggested-response>";

    /// Reads segments, task and response. Requirements: OBS-19.
    #[test]
    fn ver_01_segments_task_and_response_are_read() {
        let output = parse(WHOLE);
        assert!(output.parsed);
        assert_eq!(output.segments.len(), 2);
        assert_eq!(output.segments[0].narrative, "The pump stalled because its fuse was wired backwards.");
        assert_eq!(output.segments[0].facts.len(), 2);
        assert_eq!(output.current_task.as_deref(), Some("Primary: rewire fuse 8"));
        assert_eq!(output.suggested_response.as_deref(), Some("Go on with fuse 8."));
        assert_eq!(output.max_priority(), Some(Priority::High));
        assert_eq!(output.date().unwrap().to_string(), "2026-11-14");
    }

    #[test]
    fn obs_17_the_flat_form_is_read() {
        let output = parse("<observations>\nDate: 2026-11-14\n* 🔴 (10:05) One\n- 🟡 Two\n</observations>");
        assert!(output.parsed && output.segments.is_empty());
        assert_eq!(output.date().unwrap().to_string(), "2026-11-14");
        assert_eq!(output.observations.lines().filter(|line| parse_bullet(line).is_some()).count(), 2);
    }

    #[test]
    fn obs_20_untagged_answers_fall_back_to_marked_lines_then_to_all() {
        let output = parse("Sure!\n* 🔴 (10:05) One\nand so on\n  🟢 two\n<current-task>x</current-task>");
        assert_eq!(output.observations, "* 🔴 (10:05) One\n  🟢 two");
        assert_eq!((output.parsed, output.current_task, output.suggested_response), (false, None, None));
        let output = parse("  I cannot help with that.\n");
        assert_eq!((output.observations.as_str(), output.parsed), ("I cannot help with that.", false));
        assert_eq!(parse("").observations, "");
    }

    #[test]
    fn an_answer_that_was_cut_off_or_fenced_is_still_read() {
        let cut = WHOLE.split("Small talk").next().unwrap();
        let output = parse(cut);
        assert!(output.parsed);
        assert_eq!(output.segments[0].facts.len(), 2);
        let missing = WHOLE.replace("</observations>", "");
        assert_eq!(parse(&missing).segments, parse(WHOLE).segments);
        assert_eq!(parse(&missing).current_task, parse(WHOLE).current_task);
        let fenced = WHOLE
            .replace("<observations>\n", "<observations>\n```\n")
            .replace("</observations>", "```\n</observations>");
        assert_eq!(parse(&fenced).segments, parse(WHOLE).segments);
        let shouted = WHOLE.replace("<segment>", "<SEGMENT>").replace("</segment>", "</Segment>");
        assert_eq!(parse(&shouted).segments, parse(WHOLE).segments);
    }

    #[test]
    fn a_schema_answer_parses_like_a_tagged_one() {
        let text = r#"```json
{"segments": [{"narrative": "The pump stalled.", "facts": [
  {"priority": "high", "time": "10:05", "text": "Fuse 7 is wired backwards", "messages": [3, 4]},
  {"priority": "low", "time": "", "text": "It may rain", "messages": []}]}],
 "currentTask": "rewire fuse 8", "suggestedResponse": ""}
```"#;
        let output = parse(text);
        assert!(output.parsed);
        assert_eq!(output.segments, parse_segments(&output.observations));
        assert_eq!(
            output.segments[0].facts,
            ["* 🔴 (10:05) Fuse 7 is wired backwards [#3, #4]", "* 🟢 It may rain"]
        );
        assert_eq!(output.current_task.as_deref(), Some("rewire fuse 8"));
        assert_eq!(output.suggested_response, None);
    }

    proptest! {
        #[test]
        fn parsing_never_panics_or_loses_findings(text in ".{0,300}") {
            let output = parse(&text);
            prop_assert!(output.parsed || text.trim().is_empty() || !output.observations.is_empty());
        }

        #[test]
        fn no_cut_of_a_good_answer_panics_or_loses_whole_facts(at in 0..WHOLE.len()) {
            let Some(cut) = WHOLE.get(..at) else { return Ok(()) };
            let whole = cut.lines().filter(|line| line.starts_with("* 🔴")).count();
            let output = parse(cut);
            let facts = output.observations.lines().filter(|line| line.trim().starts_with("* 🔴")).count();
            prop_assert_eq!(facts, whole);
        }
    }
}
