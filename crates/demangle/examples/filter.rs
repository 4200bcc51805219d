//! `filter [--gnu] [--name]`: demangles lines of standard input, like `llvm-cxxfilt` for one name per line. Other lines
//! are written unchanged.

use std::io::{BufRead as _, Write as _};

use demangle::cxx::{DemangleOptions, Demangler, NameParts, Spelling};

fn main() -> std::io::Result<()> {
    let has = |wanted: &str| std::env::args().any(|argument| argument == wanted);
    let spelling = if has("--gnu") { Spelling::Gnu } else { Spelling::Llvm };
    let parts = if has("--name") { NameParts::Name } else { NameParts::All };
    let mut demangler = Demangler::default();
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut line = Vec::new();
    let mut input = std::io::stdin().lock();
    while input.read_until(b'\n', &mut line)? > 0 {
        let name = line.strip_suffix(b"\n").unwrap_or(&line);
        let readable = demangler.demangle(name, DemangleOptions { spelling, parts });
        out.write_all(readable.unwrap_or(name))?;
        out.write_all(b"\n")?;
        line.clear();
    }
    out.flush()
}
