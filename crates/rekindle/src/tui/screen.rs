//! Controls the terminal. It is restored in every case: at the end, before an editor, on a panic, and on a
//! signal.

use std::io::{self, Stdout, stdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ratatui::crossterm::event::{
    self, DisableBracketedPaste, EnableBracketedPaste, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers,
};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::prelude::CrosstermBackend;
use ratatui::{Frame, Terminal};

use rekindle_core::base::ignore_failure::IgnoreFailure as _;

use super::model::KeyPress;

/// The full-screen terminal, until it is dropped.
pub(crate) struct TerminalScreen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    /// True while another program uses the terminal.
    away: Arc<AtomicBool>,
}

impl TerminalScreen {
    pub(crate) fn enter() -> io::Result<Self> {
        // `try_init` installs a panic hook that restores the terminal.
        let terminal = ratatui::try_init()?;
        let screen = Self { terminal, away: Arc::default() };
        execute!(stdout(), EnableBracketedPaste)?;
        give_back_on_signals(&screen.away);
        Ok(screen)
    }

    pub(crate) fn draw<T>(&mut self, draw: impl FnOnce(&mut Frame<'_>) -> T) -> io::Result<Option<T>> {
        let mut drawn = None;
        self.terminal.draw(|frame| drawn = Some(draw(frame)))?;
        Ok(drawn)
    }

    /// Waits for the next key; `None` for another event, which needs a redraw.
    pub(crate) fn next_key(&mut self) -> io::Result<Option<KeyPress>> {
        Ok(match event::read()? {
            Event::Key(key) if key.kind != KeyEventKind::Release => parse_key(key),
            Event::Paste(text) => Some(KeyPress::Paste(text)),
            _ => None,
        })
    }

    /// Lends the terminal to another program.
    pub(crate) fn suspend<T>(&mut self, to: impl FnOnce() -> T) -> io::Result<T> {
        self.away.store(true, Ordering::SeqCst);
        give_back()?;
        self.terminal.show_cursor()?;
        let result = to();
        enable_raw_mode()?;
        execute!(stdout(), EnterAlternateScreen, EnableBracketedPaste)?;
        self.away.store(false, Ordering::SeqCst);
        self.terminal.clear()?;
        Ok(result)
    }
}

impl Drop for TerminalScreen {
    fn drop(&mut self) {
        self.terminal
            .show_cursor()
            .and_then(|()| give_back())
            .ignore_failure("there is no screen left to report it on");
    }
}

fn give_back() -> io::Result<()> {
    disable_raw_mode()?;
    execute!(stdout(), DisableBracketedPaste, LeaveAlternateScreen, ratatui::crossterm::cursor::Show)
}

fn parse_key(key: KeyEvent) -> Option<KeyPress> {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    Some(match key.code {
        KeyCode::Char('c') if control => KeyPress::Interrupt,
        KeyCode::Char('f' | 'd') if control => KeyPress::PageDown,
        KeyCode::Char('b' | 'u') if control => KeyPress::PageUp,
        KeyCode::Char(letter) if !control && !key.modifiers.contains(KeyModifiers::ALT) => {
            KeyPress::Char(letter)
        }
        KeyCode::Up => KeyPress::Up,
        KeyCode::Down => KeyPress::Down,
        KeyCode::PageUp => KeyPress::PageUp,
        KeyCode::PageDown => KeyPress::PageDown,
        KeyCode::Home => KeyPress::Home,
        KeyCode::End => KeyPress::End,
        KeyCode::Enter => KeyPress::Enter,
        KeyCode::Esc => KeyPress::Escape,
        KeyCode::Backspace => KeyPress::Backspace,
        _ => return None,
    })
}

/// Waits for terminating signals, restores the terminal and exits. Decisions are durable at any instant.
#[cfg(unix)]
fn give_back_on_signals(away: &Arc<AtomicBool>) {
    use std::future::poll_fn;
    use std::task::Poll;

    use tokio::signal::unix::{SignalKind, signal};

    let away = Arc::clone(away);
    std::thread::spawn(move || {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
        runtime.block_on(async {
            let kinds = [
                (SignalKind::interrupt(), true),
                (SignalKind::quit(), true),
                (SignalKind::terminate(), false),
                (SignalKind::hangup(), false),
            ];
            let mut signals: Vec<_> = kinds
                .into_iter()
                .filter_map(|(kind, typed)| Some((kind, typed, signal(kind).ok()?)))
                .collect();
            loop {
                let (kind, typed) = poll_fn(|context| {
                    for (kind, typed, signal) in &mut signals {
                        if signal.poll_recv(context).is_ready() {
                            return Poll::Ready((*kind, *typed));
                        }
                    }
                    Poll::Pending
                })
                .await;
                let lent = away.load(Ordering::SeqCst);
                // An interrupt typed in the editor belongs to the editor.
                if lent && typed {
                    continue;
                }
                if !lent {
                    give_back().ignore_failure("the process ends anyway");
                }
                std::process::exit(128 + kind.as_raw_value());
            }
        });
    });
}

#[cfg(not(unix))]
fn give_back_on_signals(_away: &Arc<AtomicBool>) {}
