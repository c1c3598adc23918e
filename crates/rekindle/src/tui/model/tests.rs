use rekindle_core::base::scope::ProjectId;
use rekindle_core::base::time::Date;
use rekindle_core::vault::review::ProposalStage;

use super::*;

pub(crate) fn id(number: u32) -> ProposalId {
    ProposalId::new(ProposalStage::Reflection, Date::constant(2026, 11, 15), number)
}

pub(crate) fn card(number: u32, title: &str) -> ProposalCard {
    ProposalCard {
        id: id(number),
        title: title.to_owned(),
        section: "Patterns".to_owned(),
        duplicates: 0,
        expires: None,
        names_line: false,
        holds_in: None,
        fate: CardStatus::Open,
    }
}

fn sitting() -> ReviewModel {
    let naming = ProposalCard { names_line: true, ..card(2, "The port is 6432") };
    ReviewModel::new(vec![card(1, "Use tabs"), naming, card(3, "Be brief")], vec![card(4, "Later")], false)
}

fn press(model: &mut ReviewModel, letter: char) -> Option<UiEffect> {
    model.update(KeyPress::Char(letter))
}

fn then(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn fates(model: &ReviewModel) -> String {
    model.cards().iter().map(|card| card.fate.letter()).collect()
}

#[test]
fn deciding_goes_on_to_the_next_and_the_last_says_so() {
    let mut model = sitting();
    assert_eq!(
        press(&mut model, 'a'),
        Some(UiEffect::Decide(id(1), ProposalVerdict::Approve, CardStatus::Approved))
    );
    model.on_decided(id(1), CardStatus::Approved, then(1), "p is in MEMORY.md");
    assert_eq!((model.selected(), fates(&model).as_str(), model.open()), (1, "a  ", 2));
    assert_eq!(press(&mut model, 's'), None);
    assert_eq!((model.selected(), fates(&model).as_str(), model.open()), (2, "as ", 2));
    press(&mut model, 'r');
    let decided = model.update(KeyPress::Enter);
    assert_eq!(decided, Some(UiEffect::Decide(id(3), ProposalVerdict::Reject, CardStatus::Rejected)));
    model.on_decided(id(3), CardStatus::Rejected, then(2), "p is turned down");
    assert_eq!(model.selected(), 2, "what was skipped is not asked again by itself");
    press(&mut model, 'k');
    press(&mut model, 'a');
    model.on_decided(id(2), CardStatus::Approved, then(3), "done");
    assert!(model.message().text.contains("m shows the rest"), "{:?}", model.message());
    press(&mut model, 'a');
    assert!(model.message().wrong && model.message().text.contains("already decided"));
    assert_eq!(
        model.decisions().collect::<Vec<_>>(),
        [CardStatus::Approved, CardStatus::Rejected, CardStatus::Approved]
    );
}

#[test]
fn a_line_that_is_named_stays_or_goes_as_the_person_says() {
    let mut model = sitting();
    assert_eq!(press(&mut model, 'S'), None);
    assert!(model.message().text.contains("replaces no line"), "{:?}", model.message());
    press(&mut model, 'j');
    let both = Some(UiEffect::Decide(id(2), ProposalVerdict::KeepBoth(None), CardStatus::Approved));
    assert_eq!(press(&mut model, 'a'), both);
    let instead = Some(UiEffect::Decide(id(2), ProposalVerdict::Approve, CardStatus::Superseding));
    assert_eq!(press(&mut model, 'S'), instead);
    // After an edit, the review asks if the line is replaced or kept.
    assert_eq!(press(&mut model, 'e'), Some(UiEffect::Edit(id(2))));
    for (key, verdict) in [
        (KeyPress::Char('a'), Some(ProposalVerdict::KeepBoth(Some("Port 1".to_owned())))),
        (KeyPress::Char('S'), Some(ProposalVerdict::Edit("Port 1".to_owned()))),
        (KeyPress::Escape, None),
    ] {
        assert_eq!(model.on_edited(id(2), "The port", "Port 1\n"), None);
        assert_eq!(press(&mut model, 'q'), None, "only an answer goes on");
        let effect = verdict.map(|verdict| UiEffect::Decide(id(2), verdict, CardStatus::Edited));
        assert_eq!(model.update(key), effect);
        assert_eq!(model.mode(), &InputMode::Browse);
    }
}

#[test]
fn words_that_are_unchanged_or_gone_decide_nothing() {
    let mut model = sitting();
    for (after, said) in [("Use tabs\n", "the text is unchanged"), (" \n", "the text is empty")] {
        assert_eq!(model.on_edited(id(1), "Use tabs", after), None);
        assert!(model.message().wrong && model.message().text.contains(said), "{:?}", model.message());
    }
    let effect = model.on_edited(id(1), "Use tabs", "Use spaces\n");
    assert_eq!(
        effect,
        Some(UiEffect::Decide(id(1), ProposalVerdict::Edit("Use spaces".to_owned()), CardStatus::Edited))
    );
    assert_eq!(fates(&model), "   ");
}

#[test]
fn the_last_decision_is_taken_back_first() {
    let mut model = sitting();
    assert_eq!(press(&mut model, 'u'), None);
    assert!(model.message().wrong);
    model.on_decided(id(1), CardStatus::Approved, then(1), "");
    model.on_decided(id(2), CardStatus::Rejected, then(2), "");
    assert_eq!(press(&mut model, 'u'), Some(UiEffect::TakeBack(id(2), then(2))));
    model.on_undone(id(2));
    assert_eq!((model.selected(), fates(&model).as_str()), (1, "a  "));
    assert_eq!(press(&mut model, 'u'), Some(UiEffect::TakeBack(id(1), then(1))));
    model.on_undo_failed(id(1), "it was changed since".to_owned());
    assert_eq!(press(&mut model, 'u'), None);
    assert_eq!(fates(&model), "a  ");
}

#[test]
fn an_earlier_decision_elsewhere_wins() {
    let mut model = sitting();
    model.set_detail(id(1), Vec::new(), false, Some("p was rejected in REVIEW.md".to_owned()));
    assert_eq!(fates(&model), "x  ");
    assert!(model.message().text.contains("REVIEW.md"));
    press(&mut model, 'j');
    model.on_not_decided(id(2), false, "p was promoted by a command".to_owned());
    assert_eq!(fates(&model), "xx ");
    model.on_not_decided(id(3), true, "memory is switched off".to_owned());
    assert_eq!((fates(&model).as_str(), model.message().wrong), ("xx ", true));
}

#[test]
fn a_reason_is_typed_and_a_paste_is_no_row_of_keys() {
    let mut model = sitting();
    assert_eq!(model.update(KeyPress::Paste("aaa".to_owned())), None);
    assert_eq!((fates(&model).as_str(), model.message().wrong), ("   ", true));
    press(&mut model, 'r');
    for key in [
        KeyPress::Char('n'),
        KeyPress::Char('o'),
        KeyPress::Char('x'),
        KeyPress::Backspace,
        KeyPress::Paste("\tt\x1bq".to_owned()),
    ] {
        assert_eq!(model.update(key), None);
    }
    assert_eq!(model.mode(), &InputMode::Reason("no t q".to_owned()));
    let verdict = ProposalVerdict::RejectFor("no t q".to_owned());
    assert_eq!(model.update(KeyPress::Enter), Some(UiEffect::Decide(id(1), verdict, CardStatus::Rejected)));
    press(&mut model, 'r');
    assert_eq!(model.update(KeyPress::Escape), None);
    assert_eq!((model.mode(), model.open()), (&InputMode::Browse, 3));
    press(&mut model, 'r');
    model.update(KeyPress::Paste("long ".repeat(500)));
    assert!(matches!(model.mode(), InputMode::Reason(words) if words.chars().count() == MAX_REASON_CHARS));
}

#[test]
fn moving_scrolling_and_the_rest() {
    let mut model = sitting();
    for (key, at) in [('k', 0), ('j', 1), ('G', 2), ('j', 2), ('g', 0)] {
        press(&mut model, key);
        assert_eq!(model.selected(), at, "{key}");
    }
    assert_eq!(model.missing_detail(), Some(id(1)));
    model.set_detail(id(1), Vec::new(), true, None);
    assert_eq!(model.missing_detail(), None);
    model.set_extent(30, 10);
    for (key, scroll) in
        [(KeyPress::PageUp, 0), (KeyPress::PageDown, 9), (KeyPress::PageDown, 18), (KeyPress::PageDown, 20)]
    {
        model.update(key);
        assert_eq!(model.scroll(), scroll);
    }
    model.set_extent(12, 10);
    assert_eq!(model.scroll(), 2, "a larger window leaves no gap");
    assert_eq!(model.hidden(), 1);
    press(&mut model, 'm');
    assert_eq!((model.cards().len(), model.hidden()), (4, 0));
    press(&mut model, 'G');
    press(&mut model, 'm');
    assert_eq!((model.cards().len(), model.selected()), (3, 2));
    press(&mut model, '?');
    assert_eq!(model.mode(), &InputMode::Help);
    assert_eq!(press(&mut model, 'a'), None);
    assert_eq!(model.mode(), &InputMode::Browse);
    assert_eq!(press(&mut model, 'q'), Some(UiEffect::Quit));
    assert_eq!(model.update(KeyPress::Interrupt), Some(UiEffect::Quit));
    let mut empty = ReviewModel::new(Vec::new(), Vec::new(), false);
    for key in "ajkrSesumGg ?".chars() {
        press(&mut empty, key);
        empty.select_open();
    }
}

#[test]
fn r_15_w_says_where_it_holds_before_it_is_decided() {
    let project = ProjectId::new("github.com/acme/payments");
    let scoped = ProposalCard { holds_in: Some(project), ..card(1, "Use tabs") };
    let mut model = ReviewModel::new(vec![scoped, card(2, "Be brief")], Vec::new(), false);
    assert_eq!((model.scope(id(1)), press(&mut model, 'w')), (None, None));
    assert!(model.message().text.contains("everywhere") && !model.message().wrong);
    assert_eq!(model.scope(id(1)), Some(Scope::Global));
    press(&mut model, 'w');
    assert!(model.message().text.contains("github.com/acme/payments only"));
    assert_eq!(model.scope(id(1)), None);
    press(&mut model, 'j');
    press(&mut model, 'w');
    assert!(model.message().wrong && model.scope(id(2)).is_none(), "it holds everywhere as it is");
}
