//! Lines of the summary about threads without a context switch.

use profile::{Profile, ThreadState, ThreadWithoutSwitch};

use crate::render::numbers::counted;

/// A line for each state of threads without a context switch.
pub(super) fn threads_without_switch(profile: &Profile) -> Vec<String> {
    let line = |&state: &ThreadState| {
        let rows =
            || profile.summary.threads_without_switch.iter().filter(move |row| row.state == state);
        let threads = rows().count() as u64;
        let description = match state {
            ThreadState::Asleep => {
                format!("asleep for {} at an unknown place", each(rows(), threads))
            }
            ThreadState::Running => "running".to_owned(),
            ThreadState::Unknown => "asleep or running, since no event samples CPU time".to_owned(),
        };
        let threads = (threads > 0).then(|| counted(threads, "thread"))?;
        Some(format!("{threads} had no context switch in the whole recording: {description}."))
    };
    ThreadState::ALL.iter().filter_map(line).collect()
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
