//! The command `unwind-perf`, and its other programs if it is started under their names.

use std::process::ExitCode;

fn main() -> ExitCode {
    unwind_perf::by_name()
}
