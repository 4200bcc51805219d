//! `unwind-perf live`: the service for a growing recording.

use std::io::IsTerminal as _;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;

use anyhow::{Context as _, bail};
use rustix::fs::{Access, Mode, OFlags};
use service::{LiveInput, LiveStream, ServeOptions};

use super::serve::{options, serve};
use crate::args::LiveArgs;
use crate::terminal::Status;

/// Shows a stream until a signal ends it.
pub(super) fn run(args: &LiveArgs) -> anyhow::Result<Status> {
    let name = args.stream.display().to_string();
    let stream = if args.stream == Path::new("-") {
        LiveStream::Open(standard_input()?)
    } else {
        let missing = || format!("cannot read {name}");
        rustix::fs::access(&args.stream, Access::READ_OK).with_context(missing)?;
        LiveStream::Path(args.stream.clone())
    };
    let report = |text: &str| eprintln!("unwind-perf: {text}");
    let copy = args.output.clone();
    let live = LiveInput { stream, name, max_age: args.keep.0, copy, report };
    let (options, _scratch) = options(&args.front)?;
    serve(ServeOptions { live: Some(live), ..options }, &args.front)
}

/// Returns a duplicate of standard input for the worker, and replaces the original by `/dev/null`.
/// No descriptor stays open here, so perf gets an error when the worker stops reading.
fn standard_input() -> anyhow::Result<OwnedFd> {
    let input = std::io::stdin();
    if input.is_terminal() {
        bail!("standard input is a terminal; try: perf record … -o - | unwind-perf live");
    }
    let stream = input.as_fd().try_clone_to_owned().context("standard input is closed")?;
    let nothing = rustix::fs::open("/dev/null", OFlags::RDONLY, Mode::empty());
    rustix::stdio::dup2_stdin(nothing.context("/dev/null")?).context("standard input")?;
    Ok(stream)
}
