//! Open work: tasks that the user postponed, and unticked items of a list.

use super::draft::FindingDraft;
use super::notes;
use super::one_offs::is_one_off;
use super::output::CallState;
use super::person_sentences;
use super::sentence_verdict;
use super::session_view::SessionView;
use super::statements::{OPEN_PREFIX, clean, preceding_topic};
use crate::base::provenance::Origin;
use crate::base::provenance::StatementStrength;
use crate::base::time::day;
use crate::knowledge::observe::FindingKind;
use crate::session::notes::{DONE_STEP_PREFIX, NoteFileKind, OPEN_STEP_PREFIX, STEP_TOOLS};
use crate::text::normalise::normalise;
use crate::text::phrases::{contains_dense, content, has, line};
use crate::text::sentences;
use crate::text::sentences::split_phrases;
use crate::vault::priority::Priority;

/// The number of final user messages that can postpone work: an earlier "later" means later in the session.
const MAX_LAST_MESSAGES: usize = 2;
/// The maximum number of list items.
const MAX_ITEMS: usize = 3;
/// The maximum length of an item, in characters.
const MAX_ITEM_CHARS: usize = 160;
/// The minimum number of significant words.
const MIN_WORDS: usize = 2;
/// Words for the next day.
const TOMORROW_WORDS: &str = "tomorrow | morgen | mañana | demain | amanhã | завтра";
const DENSE_TOMORROW_WORDS: &str = "明日 | 明天";
/// Words that postpone something.
const LATER_WORDS: &str = "\
next session | next time | next week | another day | continue later | do later | do that later | do it later | do this later | leave for later
pick this up later | pick it up later | finish later | finish it later | the rest later | on monday
nächste woche | nächstes mal | beim nächsten mal | später weiter | den rest später | am montag
la próxima semana | la próxima vez | la próxima sesión | más tarde | el lunes
la semaine prochaine | la prochaine fois | plus tard | lundi
na próxima semana | da próxima vez | mais tarde | na segunda";
const DENSE_LATER_WORDS: &str = "来週 | 次回 | 下次 | 下周 | 下週";
/// Phrases with the same words in another sense.
const NOT_LATER_WORDS: &str = "\
until tomorrow | see you tomorrow | guten morgen | bis morgen | heute morgen | esta mañana | por la mañana | de la mañana | hasta mañana | à demain
até amanhã | as of tomorrow | by tomorrow";

/// Words with which users take a task upon themselves. With "for now" it is nothing for the agent to continue.
const OWN_TASK_WORDS: &str = "\
i'm going to | im going to | i am going to | i'll | i will | i do it | i do that | myself
mache ich | mach ich | erledige ich | ich mache | ich schreibe | ich kümmere
lo hago yo | ya lo hago | lo haré | me encargo | je m'en occupe | je le fais | je le ferai | eu faço | eu trato";
/// Words around a postponed task that do not name it.
const POSTPONING_WORDS: &str = "\
we'll | we're | i'll | it'll | let's | lets | leave | do | finish | get | see | look | continue | pick | rest | later | tomorrow | monday | next | week | time | session | day | another
lass | lassen | machen | mach | sehen | schauen | weiter | rest | morgen | montag | nächste | nächsten | nächstes | woche | mal | später
dejamos | deja | vemos | seguimos | hacemos | resto | mañana | lunes | próxima | semana | vez | sesión | tarde
verra | voit | fait | fera | finit | laisse | reste | demain | lundi | semaine | prochaine | fois | tard
deixa | continuamos | fazemos | amanhã | segunda";

/// The tasks postponed at the end of the session, and open items of its lists.
pub(super) fn open_item_drafts(view: &SessionView<'_>) -> Vec<FindingDraft> {
    let mut drafts = Vec::new();
    for message in view.person_messages.iter().rev().take(MAX_LAST_MESSAGES) {
        let sentences = person_sentences::person_sentences(view, message);
        let found = sentences
            .iter()
            .filter(|sentence| !sentence.long && sentence_verdict::judge_sentence(sentence).is_none());
        drafts.extend(found.filter_map(|sentence| put_off(view, message.at, sentence.text)));
    }
    drafts.extend(items(view));
    drafts
}

/// A sentence that postpones something, with the day that it means (OBS-07).
fn put_off(view: &SessionView<'_>, at: usize, sentence: &str) -> Option<FindingDraft> {
    let folded = sentences::fold(sentence);
    let tomorrow = has(&folded, TOMORROW_WORDS) || contains_dense(&folded, DENSE_TOMORROW_WORDS);
    let later = has(&folded, LATER_WORDS) || contains_dense(&folded, DENSE_LATER_WORDS);
    let text = clean(sentence);
    if !(tomorrow || later)
        || sentences::asks_or_quotes(&folded)
        || has(&folded, NOT_LATER_WORDS)
        || content(text).len() < MIN_WORDS
        || is_one_off(text) && has(&folded, OWN_TASK_WORDS)
    {
        return None;
    }
    // "We'll see next week" names no task: the agent's last words do, or nothing is open.
    let topic = match names_task(text) {
        true => None,
        false => Some(preceding_topic(view, at)?),
    };
    let about = topic.map(|topic| format!(" (about: {topic})")).unwrap_or_default();
    let date = view.day(&view.messages[at]).filter(|_| tomorrow).and_then(|today| today.tomorrow().ok());
    let date = date.map(|date| format!(" (meaning {})", day(date))).unwrap_or_default();
    Some(FindingDraft {
        kind: FindingKind::Work,
        priority: Priority::Medium,
        strength: StatementStrength::Explicit,
        sentiment: None,
        origin: Origin::User,
        everywhere: false,
        perhaps_everywhere: false,
        ends: false,
        topic: None,
        text: format!("{OPEN_PREFIX}{text}{date}{about}"),
        at,
        messages: vec![at],
    })
}

/// True if a postponing sentence says what is postponed.
fn names_task(text: &str) -> bool {
    content(text).iter().any(|word| split_phrases(POSTPONING_WORDS).all(|known| known != word))
}

/// Items added to a to-do file and not ticked since.
fn items(view: &SessionView<'_>) -> Vec<FindingDraft> {
    let mut open: Vec<(usize, usize, String)> = Vec::new();
    for step in
        view.steps.iter().filter(|step| step.state == CallState::Passed && !step.call.notes.is_empty())
    {
        if !matches!(notes::note_file(view, step), Some((_, NoteFileKind::Todo))) {
            continue;
        }
        for item in step.call.notes.lines().map(str::trim) {
            if let Some(done) = open_checkbox(item) {
                let done = normalise(done);
                open.retain(|(_, _, text)| normalise(text) != done);
            } else if let Some(text) = to_do(item).filter(|text| content(text).len() >= MIN_WORDS) {
                open.push((step.at, step.result.unwrap_or(step.at), text.to_owned()));
            }
        }
    }
    let draft = |(call, at, text): (usize, usize, String)| {
        let mut draft = FindingDraft::of_agent(
            FindingKind::Work,
            at,
            format!("{OPEN_PREFIX}{}", line(&text, MAX_ITEM_CHARS)),
        );
        draft.messages.push(call);
        draft
    };
    open.into_iter().take(MAX_ITEMS).map(draft).collect()
}

fn open_checkbox(item: &str) -> Option<&str> {
    item.strip_prefix(DONE_STEP_PREFIX)
        .or_else(|| item.strip_prefix("- [X] "))
        .or_else(|| item.strip_prefix("* [x] "))
}

fn to_do(item: &str) -> Option<&str> {
    [OPEN_STEP_PREFIX, "* [ ] ", "- TODO: ", "TODO: ", "- ", "* "]
        .iter()
        .find_map(|start| item.strip_prefix(start))
}

/// The open steps of the agent's own list at the end of the session.
pub(super) fn steps(view: &SessionView<'_>) -> Vec<String> {
    let list = view.steps.iter().rev().find(|step| STEP_TOOLS.contains(&step.call.tool.as_str()));
    let lines = list.map(|step| step.call.notes.lines()).into_iter().flatten();
    lines
        .filter_map(|item| item.strip_prefix(OPEN_STEP_PREFIX))
        .map(|text| line(text, MAX_ITEM_CHARS))
        .collect()
}
