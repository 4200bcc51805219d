//! Prints inline chains like `addr2line -afiC -e FILE`, for comparison with other tools:
//! `addr2line [--short] [--raw] [--no-inlines] [--debug FILE] [--alt FILE] [--split FILE] [--time] FILE < ADDRESSES`.
//! Addresses are hexadecimal, one per line; the answers have the order of the input.

use std::io::{BufRead as _, Write as _};
use std::path::Path;
use std::time::Instant;

use address::Svma;
use host::{Origin, RealHost};
use image_store::Image;
use profile::{InlineRow, Strings};
use symbolizer::{
    Demangle, SplitFinder, SymbolRequest, SymbolSource, SymbolizeOptions, Symbols, symbolize,
};

type Failure = Box<dyn std::error::Error>;

/// The file of all split units.
struct OneSplitFile(Image);

impl SplitFinder for OneSplitFile {
    fn find(&self, _: u64, _: &[u8], _: &[u8]) -> Option<&Image> {
        Some(&self.0)
    }
}

struct Arguments {
    options: SymbolizeOptions<'static>,
    file: String,
    debug: Option<String>,
    alt: Option<String>,
    split: Option<String>,
    time: bool,
}

fn arguments() -> Result<Arguments, Failure> {
    let mut parsed = Arguments {
        options: SymbolizeOptions::default(),
        file: String::new(),
        debug: None,
        alt: None,
        split: None,
        time: false,
    };
    let mut rest = std::env::args().skip(1);
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--short" => parsed.options.demangle = Demangle::Short,
            "--raw" => parsed.options.demangle = Demangle::None,
            "--no-inlines" => parsed.options.inlines = false,
            "--no-lines" => parsed.options.lines = false,
            "--debug" => parsed.debug = rest.next(),
            "--alt" => parsed.alt = rest.next(),
            "--split" => parsed.split = rest.next(),
            "--time" => parsed.time = true,
            _ => parsed.file = argument,
        }
    }
    Ok(parsed)
}

fn main() -> Result<(), Failure> {
    let arguments = arguments()?;
    let mut asked = Vec::new();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let digits = line.trim().trim_start_matches("0x");
        asked.push(Svma(u64::from_str_radix(digits, 16)?));
    }
    let mut addresses = asked.clone();
    addresses.sort_unstable();
    addresses.dedup();
    let start = Instant::now();
    let open = |path: &String| Image::open(&RealHost, Path::new(path), Origin::User);
    let named = |path: &Option<String>| path.as_ref().map(open).transpose();
    let image = open(&arguments.file)?;
    let (debug, alt) = (named(&arguments.debug)?, named(&arguments.alt)?);
    let split = named(&arguments.split)?.map(OneSplitFile);
    let source = SymbolSource {
        debug: debug.as_ref(),
        alt: alt.as_ref(),
        split: split.as_ref().map(|split| split as &dyn SplitFinder),
        ..SymbolSource::of(&image)
    };
    let mut strings = Strings::default();
    let request = SymbolRequest { source, addresses: &addresses };
    let symbols = symbolize(&[request], &arguments.options, &mut strings);
    if arguments.time {
        writeln!(std::io::stderr(), "{} addresses in {:?}", addresses.len(), start.elapsed())?;
    }
    for finding in &symbols.findings {
        writeln!(std::io::stderr(), "{finding}")?;
    }
    print(&asked, &addresses, &symbols, &strings)
}

fn print(
    asked: &[Svma],
    addresses: &[Svma],
    symbols: &Symbols,
    strings: &Strings,
) -> Result<(), Failure> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for address in asked {
        writeln!(out, "{:#018x}", address.0)?;
        let found = addresses
            .binary_search(address)
            .ok()
            .and_then(|index| symbols.addresses.first()?.get(index));
        let range =
            found.map_or(0..0, |found| found.frames.start as usize..found.frames.end as usize);
        let frames = symbols.frames.get(range).unwrap_or(&[]);
        if frames.is_empty() {
            out.write_all(b"??\n??:0\n")?;
        }
        for frame in frames {
            print_frame(&mut out, strings, frame)?;
        }
    }
    Ok(out.flush()?)
}

fn print_frame(
    out: &mut impl std::io::Write,
    strings: &Strings,
    frame: &InlineRow,
) -> std::io::Result<()> {
    out.write_all(frame.function.map_or(b"??", |name| strings.get(name)))?;
    out.write_all(b"\n")?;
    out.write_all(frame.file.map_or(b"??", |name| strings.get(name)))?;
    match frame.line {
        0 if frame.file.is_some() => out.write_all(b":?\n"),
        line => writeln!(out, ":{line}"),
    }
}
