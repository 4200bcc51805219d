//! `unwind-perf mcp`: recordings as tools of the Model Context Protocol.

use std::io::{IsTerminal as _, stdin};

use anyhow::Context as _;
use mcp::ServerOptions;
use pipeline::Error;

use crate::args::{McpArgs, pipeline, with_argument};
use crate::terminal::{Status, print_note};

/// Serves on standard input and output until the input ends.
pub(super) fn run(args: &McpArgs) -> anyhow::Result<Status> {
    let options = args.options()?;
    if stdin().is_terminal() {
        print_note(
            "a client of the Model Context Protocol starts this command; end it with Ctrl-D",
        );
    }
    let explain = |error: Error| format!("{:#}", with_argument(error));
    let recordings = args.recordings.clone();
    mcp::serve(ServerOptions { recordings, options, pipeline: pipeline(), explain })
        .context("the Model Context Protocol")?;
    Ok(Status::Complete)
}
