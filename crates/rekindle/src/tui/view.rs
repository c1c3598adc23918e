//! Draws the review on a grid of cells. The layout is designed for 80 by 24; a smaller screen shows less and
//! says so.

#[cfg(test)]
mod tests;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use super::card::{CardRow, ProposalCard, RowTone};
use super::help::help;
use super::model::{InputMode, ReviewModel};
use super::text::{sanitise, truncate_columns, width, wrap_line};

/// The smallest screen with the full layout, in columns and rows.
const DESIGN_SIZE: (u16, u16) = (80, 24);
/// The smallest screen that is drawn at all, in columns and rows.
const MIN_SIZE: (u16, u16) = (24, 8);

const KEY_HELP: &str = "a approve  e edit  r reject  s skip  S replace  w where  u undo  ? help  q quit";
const SHORT_KEY_HELP: &str = "a e r s S w u m  ? help  q quit";

/// The number of rows, and of visible rows.
pub(crate) type ScrollExtent = (usize, usize);

/// Draws the screen, with colours if `colour` is true.
pub(crate) fn draw(frame: &mut Frame<'_>, model: &ReviewModel, colour: bool) -> ScrollExtent {
    let area = frame.area();
    if area.width < MIN_SIZE.0 || area.height < MIN_SIZE.1 {
        let notice = format!("{}x{} is too small; q quits", area.width, area.height);
        let lines: Vec<Line<'_>> =
            wrap_line(&notice, usize::from(area.width.max(1))).into_iter().map(Line::from).collect();
        frame.render_widget(Paragraph::new(lines), area);
        return (0, 0);
    }
    let list = u16::try_from(model.cards().len()).unwrap_or(u16::MAX).clamp(1, (area.height / 4).max(3));
    let heights = [1, list, 1, 0, 1, 1].map(|height| match height {
        0 => Constraint::Fill(1),
        height => Constraint::Length(height),
    });
    let [title, cards, rule, detail, message, keys] = Layout::vertical(heights).areas(area);
    let columns = usize::from(area.width);
    draw_line(frame, title, &title_of(model, columns), style(RowTone::Head, colour));
    draw_list(frame, cards, model);
    draw_line(frame, rule, &"-".repeat(columns), style(RowTone::Dim, colour));
    let extent = draw_detail(frame, detail, model, colour);
    draw_message(frame, message, model, extent, colour);
    let few = columns < width(KEY_HELP);
    draw_line(frame, keys, if few { SHORT_KEY_HELP } else { KEY_HELP }, style(RowTone::Dim, colour));
    extent
}

fn draw_line(frame: &mut Frame<'_>, area: Rect, text: &str, style: Style) {
    let text = truncate_columns(text, usize::from(area.width));
    frame.render_widget(Paragraph::new(Line::styled(text, style)), area);
}

fn title_of(model: &ReviewModel, columns: usize) -> String {
    let place = format!("{}/{}", (model.selected() + 1).min(model.cards().len()), model.cards().len());
    let left = match model.hidden() {
        0 => format!("Review {place}, {} to decide", model.open()),
        more => format!("Review {place}, {} to decide today, {more} more (m)", model.open()),
    };
    let id = model.current().map_or_else(String::new, |card| card.id.to_string());
    let gap = columns.saturating_sub(width(&left) + width(&id));
    if gap < 2 { left } else { format!("{left}{}{id}", " ".repeat(gap)) }
}

fn draw_list(frame: &mut Frame<'_>, area: Rect, model: &ReviewModel) {
    let (room, at) = (usize::from(area.height), model.selected());
    let first = (at + 1).saturating_sub(room);
    let lines: Vec<Line<'_>> = model
        .cards()
        .iter()
        .enumerate()
        .skip(first)
        .take(room)
        .map(|(number, card)| {
            let text = line_of(card, number == at, usize::from(area.width));
            let style =
                if number == at { Style::new().add_modifier(Modifier::REVERSED) } else { Style::new() };
            Line::styled(text, style)
        })
        .collect();
    frame.render_widget(Paragraph::new(lines), area);
}

fn line_of(card: &ProposalCard, selected: bool, columns: usize) -> String {
    let mark = if selected { '>' } else { ' ' };
    let same = if card.duplicates > 0 { format!(" +{} alike", card.duplicates) } else { String::new() };
    let ends = match card.expires.filter(|_| card.fate.is_open()) {
        Some(0) => " ends tonight".to_owned(),
        Some(days) => format!(" {days}d left"),
        None => String::new(),
    };
    let section = truncate_columns(&sanitise(&card.section).replace('\n', " "), columns / 4);
    let right = format!("  {section}{same}{ends}");
    let room = columns.saturating_sub(6 + width(&right));
    // In a narrow window the title has precedence.
    let (right, room) =
        if room < columns / 3 { (String::new(), columns.saturating_sub(6)) } else { (right, room) };
    let title = truncate_columns(&sanitise(&card.title).replace('\n', " "), room);
    let gap = " ".repeat(room.saturating_sub(width(&title)));
    truncate_columns(&format!("{mark} [{}] {title}{gap}{right}", card.fate.letter()), columns)
}

fn draw_detail(frame: &mut Frame<'_>, area: Rect, model: &ReviewModel, colour: bool) -> ScrollExtent {
    let help = help();
    let rows: &[CardRow] = if *model.mode() == InputMode::Help { &help } else { model.detail() };
    let columns = usize::from(area.width);
    let lines: Vec<Line<'_>> = rows
        .iter()
        .flat_map(|row| {
            let style = style(row.tone, colour);
            wrap_line(&sanitise(&row.text), columns).into_iter().map(move |text| Line::styled(text, style))
        })
        .collect();
    let extent = (lines.len(), usize::from(area.height));
    let seen: Vec<Line<'_>> = lines.into_iter().skip(model.scroll()).take(extent.1).collect();
    frame.render_widget(Paragraph::new(seen), area);
    extent
}

fn draw_message(frame: &mut Frame<'_>, area: Rect, model: &ReviewModel, extent: ScrollExtent, colour: bool) {
    let columns = usize::from(area.width);
    let size = frame.area();
    let (tone, text) = match model.mode() {
        InputMode::Reason(words) => {
            let asked = "Reason? Enter rejects, Esc cancels: ";
            let room = columns.saturating_sub(width(asked) + 1).max(columns / 3);
            // The end of the typed text stays visible.
            let mut tail = sanitise(words);
            while width(&tail) > room {
                tail.remove(0);
            }
            let asked = truncate_columns(asked, columns.saturating_sub(width(&tail) + 1));
            (RowTone::Head, format!("{asked}{tail}_"))
        }
        InputMode::Which(_) => (RowTone::Head, "S replaces the line, a keeps both, Esc cancels".to_owned()),
        InputMode::Browse | InputMode::Help if !model.message().text.is_empty() => {
            let message = model.message();
            let sign = if message.wrong { "! " } else { "" };
            (
                if message.wrong { RowTone::Warn } else { RowTone::Head },
                format!("{sign}{}", sanitise(&message.text)),
            )
        }
        _ if size.width < DESIGN_SIZE.0 || size.height < DESIGN_SIZE.1 => {
            let notice = format!("small window ({}x{}), designed for 80x24", size.width, size.height);
            (RowTone::Dim, notice)
        }
        _ if extent.0 > extent.1 => {
            let last = (model.scroll() + extent.1).min(extent.0);
            let notice = format!("rows {} to {last} of {} (PgUp, PgDn)", model.scroll() + 1, extent.0);
            (RowTone::Dim, notice)
        }
        _ => (RowTone::Dim, String::new()),
    };
    draw_line(frame, area, &text.replace('\n', " "), style(tone, colour));
}

fn style(tone: RowTone, colour: bool) -> Style {
    let in_colour = |style: Style, of: Color| if colour { style.fg(of) } else { style };
    match tone {
        RowTone::Plain => Style::new(),
        RowTone::Head => Style::new().add_modifier(Modifier::BOLD),
        RowTone::Dim => Style::new().add_modifier(Modifier::DIM),
        RowTone::Added => in_colour(Style::new(), Color::Green),
        RowTone::Removed => in_colour(Style::new(), Color::Red),
        RowTone::Warn => in_colour(Style::new().add_modifier(Modifier::BOLD), Color::Yellow),
    }
}
