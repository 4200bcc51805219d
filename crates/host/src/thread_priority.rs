//! Priority of the threads that another program waits for.

use rustix::process::setpriority_process;

/// Nice value of a preferred thread.
pub const PREFERRED_NICE: i32 = -10;

/// Runs the calling thread before the other threads of the machine, if this process has the right to. A thread that
/// reads a pipe needs little time, but the writer loses data while it waits for that thread.
///
/// Source: `setpriority(2)`: on Linux, process 0 is the calling thread. Threads that it starts inherit the value.
pub fn prefer_this_thread() {
    // Without the right, the thread keeps its priority.
    let _ = setpriority_process(None, PREFERRED_NICE);
}
