//! The terminal the view is drawn on: taken over at the start, given back at every end.
//!
//! A tool that leaves a terminal without echo after Ctrl-C or a panic is not used twice. So giving it back is one
//! function that can be called any number of times from anywhere: at the end, on drop, in the panic hook, and before the
//! program ends on a third Ctrl-C. In this mode Ctrl-C reaches us as a key and not as a signal, and does what `q` does.
//!
//! Drawing happens on a thread of its own, which sleeps until a key comes, the size changes or a second is over. Ticks
//! only change what it will draw next. A terminal that was hung up (its window closed, its connection lost) is read to its end for
//! ever, below us; so that thread is given a moment to end, and is not waited for beyond it.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use plan::Plan;
use ratatui::DefaultTerminal;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{LeaveAlternateScreen, disable_raw_mode, size};

use crate::view::{ROOM_MIN, View};

/// How long the thread sleeps before it looks whether the run is over.
const LOOK: Duration = Duration::from_millis(100);
/// A thread whose terminal is there ends within one look.
const END_WITHIN: Duration = Duration::from_secs(1);
/// It is drawn anew at least this often, and at once after a Tick or a key.
const REDRAW: Duration = Duration::from_secs(1);

/// Whether this terminal is taken over at present.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Whether standard output and input are a terminal with room for the view.
#[must_use]
pub fn fits() -> bool {
    io::stdout().is_terminal()
        && io::stdin().is_terminal()
        && size().is_ok_and(|(width, height)| width >= ROOM_MIN.0 && height >= ROOM_MIN.1)
}

/// The view on this terminal.
#[derive(Debug)]
pub struct Terminal {
    shared: Arc<Shared>,
    /// Is hung up when the thread that draws has ended.
    drawing: Option<Receiver<()>>,
}

#[derive(Debug)]
struct Shared {
    view: Mutex<View>,
    /// Something changed since it was drawn last.
    changed: AtomicBool,
    over: AtomicBool,
}

impl Shared {
    fn view(&self) -> MutexGuard<'_, View> {
        self.changed.store(true, Ordering::Relaxed);
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Terminal {
    /// Takes the terminal over and begins to draw. `end` is called on every `q` or Ctrl-C, with how often that was.
    ///
    /// # Errors
    /// If the terminal cannot be taken over; then it is as it was.
    pub fn take(view: View, mut end: impl FnMut(u32) + Send + 'static) -> io::Result<Self> {
        give_back_on_panic();
        TAKEN.store(true, Ordering::SeqCst);
        let mut drawn = ratatui::try_init().inspect_err(|_| give_back())?;
        let shared = Arc::new(Shared { view: Mutex::new(view), changed: AtomicBool::new(true), over: AtomicBool::new(false) });
        let seen = Arc::clone(&shared);
        let (ended, drawing) = channel();
        thread::Builder::new()
            .name("terminal".to_owned())
            .spawn(move || {
                let _ended = ended;
                let mut asked = 0;
                draw_until_over(&seen, &mut drawn, &mut || {
                    asked += 1;
                    seen.view().asked_to_end();
                    end(asked);
                });
            })
            .inspect_err(|_| give_back())?;
        Ok(Self { shared, drawing: Some(drawing) })
    }

    /// Changes what is shown.
    pub fn update(&self, change: impl FnOnce(&mut View)) {
        change(&mut self.shared.view());
    }

    /// A run begins.
    pub fn begin(&self, plan: &Plan, part: &str) {
        self.update(|view| view.begin(plan, part));
    }

    /// Ends the view and gives the terminal back.
    pub fn leave(&mut self) {
        self.shared.over.store(true, Ordering::SeqCst);
        if let Some(drawing) = self.drawing.take() {
            let _ = drawing.recv_timeout(END_WITHIN);
        }
        give_back();
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Leaves the terminal as it was found, if it was taken over. May be called at any time, from any thread.
pub fn give_back() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        let _ = disable_raw_mode();
        let _ = execute!(io::stdout(), LeaveAlternateScreen, Show);
        let _ = io::stdout().flush();
    }
}

/// A panic's words would be lost with the screen they were written on.
fn give_back_on_panic() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            give_back();
            before(panic);
        }));
    });
}

/// Where drawing or reading fails, the terminal is gone: the run goes on without a view.
fn draw_until_over(shared: &Shared, terminal: &mut DefaultTerminal, end: &mut dyn FnMut()) {
    let mut drawn_at: Option<Instant> = None;
    while !shared.over.load(Ordering::SeqCst) && TAKEN.load(Ordering::SeqCst) {
        if shared.changed.swap(false, Ordering::Relaxed) || drawn_at.is_none_or(|at| at.elapsed() >= REDRAW) {
            // Copied, so that a slow terminal never makes a Tick wait.
            let view = shared.view.lock().unwrap_or_else(PoisonError::into_inner).clone();
            if terminal.draw(|frame| view.draw(frame)).is_err() {
                return;
            }
            drawn_at = Some(Instant::now());
        }
        match event::poll(LOOK) {
            Ok(false) => {}
            Ok(true) => match event::read() {
                Ok(Event::Key(key)) if key.kind == KeyEventKind::Press => {
                    let control_c = key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
                    if control_c || matches!(key.code, KeyCode::Char('q' | 'Q') | KeyCode::Esc) {
                        end();
                    }
                }
                Ok(Event::Resize(..)) => shared.changed.store(true, Ordering::Relaxed),
                Ok(_) => {}
                Err(_) => return,
            },
            Err(_) => return,
        }
    }
}
