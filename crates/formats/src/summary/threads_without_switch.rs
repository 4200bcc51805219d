//! Lines of the summary about threads without a context switch.

use std::io::{self, Write};

use profile::{Profile, ThreadState, ThreadWithoutSwitch};

use crate::render::numbers::counted;

/// Appends a line for each state of threads without a context switch.
pub(super) fn push_threads_without_switch(profile: &Profile, text: &mut Vec<u8>) -> io::Result<()> {
    for &state in ThreadState::ALL {
        let rows =
            || profile.summary.threads_without_switch.iter().filter(move |row| row.state == state);
        let threads = rows().count() as u64;
        if threads == 0 {
            continue;
        }
        write!(
            text,
            "{} had no context switch in the whole recording: ",
            counted(threads, "thread")
        )?;
        match state {
            ThreadState::Asleep => {
                writeln!(text, "asleep for {}, where is not known", each(rows(), threads))?;
            }
            ThreadState::Running => writeln!(text, "running")?,
            ThreadState::Unknown => {
                writeln!(
                    text,
                    "asleep or running, for no event samples the time that threads run"
                )?;
            }
        }
    }
    Ok(())
}

/// Formats `2.9 s`, `2.9 s each`, or `up to 2.9 s each`.
fn each<'a>(rows: impl Iterator<Item = &'a ThreadWithoutSwitch> + Clone, threads: u64) -> String {
    let durations = rows.map(|row| row.duration);
    let longest = durations.clone().max().unwrap_or(0);
    let are_equal = durations.min() == Some(longest);
    let seconds = longest as f64 / 1e9;
    match (threads, are_equal) {
        (1, _) => format!("{seconds:.3} s"),
        (_, true) => format!("{seconds:.3} s each"),
        _ => format!("up to {seconds:.3} s each"),
    }
}
