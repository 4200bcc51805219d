//! The loop of the view: keys, sizes and updates come in by one channel, and each is followed by a picture.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use ratatui::Terminal;
use ratatui::termion::event::{Event as TerminalEvent, Key};
use ratatui::termion::input::TermRead as _;
use signal_hook::consts::SIGWINCH;
use signal_hook::iterator::{Handle, Signals};

use crate::app::{App, ViewOptions};
use crate::backend::QuietBackend;
use crate::data::Snapshot;
use crate::feed::{Code, FeedState, Input, Update};
use crate::terminal::RawTerminal;
use crate::views::draw;

/// Something that changes the view.
enum Event {
    Key(Key),
    Resized,
    Progress(String),
    Snapshot(Box<Snapshot>),
    Code(Box<dyn Code>),
    /// The terminal is gone.
    NoTerminal,
}

/// Least pause between two profiles of a growing recording, as a multiple of the time that preparing one takes.
const REST: u32 = 3;
/// Least pause between two of them.
const LEAST_REST: Duration = Duration::from_millis(400);

/// Shows profiles until the user closes the view. The terminal is restored on return. If a signal ends the process, its
/// handler has to call [`restore_terminal`](crate::restore_terminal).
///
/// # Errors
/// If the terminal cannot be used.
pub fn run(options: ViewOptions, input: Input) -> io::Result<()> {
    let state = Arc::clone(&input.state);
    let ended = run_until_closed(options, input);
    state.close();
    ended
}

fn run_until_closed(options: ViewOptions, input: Input) -> io::Result<()> {
    let (sender, events) = channel();
    let signals = watch_sizes(&sender)?;
    let (terminal, keys) = RawTerminal::enter()?;
    watch_keys(keys, sender.clone())?;
    let mut app = App::new(options);
    prepare_profiles(&app, input, sender)?;
    let ended = show(&mut app, &events);
    drop(terminal);
    signals.close();
    ended
}

fn show(app: &mut App, events: &Receiver<Event>) -> io::Result<()> {
    let mut screen = Terminal::new(QuietBackend::new())?;
    screen.clear()?;
    loop {
        if app.is_slow() {
            app.is_waiting = true;
            screen.draw(|frame| draw(app, frame))?;
            app.is_waiting = false;
        }
        screen.draw(|frame| draw(app, frame))?;
        let Ok(first) = events.recv() else { return Ok(()) };
        // All that waits is handled before the next picture.
        for event in std::iter::once(first).chain(std::iter::from_fn(|| events.try_recv().ok())) {
            match event {
                Event::Key(key) => app.key(key),
                Event::Resized => screen.autoresize()?,
                Event::Progress(text) => app.progress = text,
                Event::Snapshot(data) => app.set_data(*data),
                Event::Code(code) => app.set_code(code),
                Event::NoTerminal => return Ok(()),
            }
            if app.is_over {
                return Ok(());
            }
        }
    }
}

/// Sends keys. The thread reads until the process ends.
fn watch_keys(keys: File, events: Sender<Event>) -> io::Result<()> {
    let watch = move || {
        for event in keys.events() {
            let event = match event {
                Ok(TerminalEvent::Key(key)) => Event::Key(key),
                Ok(_) => continue,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            if events.send(event).is_err() {
                return;
            }
        }
        let _ = events.send(Event::NoTerminal);
    };
    std::thread::Builder::new().name("keys".to_owned()).spawn(watch)?;
    Ok(())
}

/// Sends the signals of a new size.
fn watch_sizes(events: &Sender<Event>) -> io::Result<Handle> {
    let mut signals = Signals::new([SIGWINCH])?;
    let (handle, events) = (signals.handle(), events.clone());
    let watch = move || {
        for _ in signals.forever() {
            if events.send(Event::Resized).is_err() {
                return;
            }
        }
    };
    std::thread::Builder::new().name("sizes".to_owned()).spawn(watch)?;
    Ok(handle)
}

/// Prepares profiles on a thread, so that keys do not wait.
fn prepare_profiles(app: &App, input: Input, events: Sender<Event>) -> io::Result<()> {
    let (inlines, hasher) = (app.options.inlines, app.hasher.clone());
    let prepare = move || {
        let Input { updates, state } = input;
        for update in updates {
            let event = match update {
                Update::Progress(text) => Event::Progress(text),
                Update::Code(code) => Event::Code(code),
                Update::Ended => Event::Progress(String::new()),
                Update::Profile(profile) => {
                    let start = Instant::now();
                    let snapshot = Box::new(Snapshot::new(*profile, inlines, &hasher));
                    rest(&state, start.elapsed());
                    Event::Snapshot(snapshot)
                }
            };
            if events.send(event).is_err() {
                return;
            }
        }
    };
    std::thread::Builder::new().name("profiles".to_owned()).spawn(prepare)?;
    Ok(())
}

/// Lets the view take another profile after a pause.
fn rest(state: &Arc<FeedState>, took: Duration) {
    let state = Arc::clone(state);
    let pause = LEAST_REST.max(took * REST);
    // Without a thread the next profile is taken at once.
    let _ = std::thread::Builder::new().spawn(move || {
        std::thread::sleep(pause);
        state.ready();
    });
}
