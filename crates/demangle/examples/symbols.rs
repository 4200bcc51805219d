//! Reads names, one per line, and writes them in readable form, for comparison with other demanglers.
//!
//! ```text
//! nm -j FILE | cargo run --release -p unwind-perf-demangle --example symbols [-- --short]
//! ```
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::io::{self, BufWriter, Read as _, Write as _};

use demangle::{Style, demangle};

fn main() -> io::Result<()> {
    let short = std::env::args().any(|argument| argument == "--short");
    let style = if short { Style::Short } else { Style::Full };
    let mut names = Vec::new();
    io::stdin().read_to_end(&mut names)?;
    let mut out = BufWriter::new(io::stdout().lock());
    for name in names.strip_suffix(b"\n").unwrap_or(&names).split(|&byte| byte == b'\n') {
        out.write_all(&demangle(name, style))?;
        out.write_all(b"\n")?;
    }
    out.flush()
}
