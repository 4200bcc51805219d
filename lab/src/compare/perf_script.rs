//! Reader for the output of `perf script -F comm,pid,tid,cpu,time,period,event,ip,sym,symoff,dso --ns`.
//!
//! Known: it prints the file offset of user frames and the address of kernel frames. Callers are looked up and printed
//! at the return address minus one.

use std::io::BufRead;

use anyhow::{Context, Result};

use super::chain::{Chains, Frame, Sample, UNSTATED};
use crate::strings::StringTable;

/// Reads all samples.
pub(super) fn read(mut input: impl BufRead, words: &mut StringTable) -> Result<Chains> {
    let mut chains = Chains::default();
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        if input.read_until(b'\n', &mut bytes)? == 0 {
            break;
        }
        let line = String::from_utf8_lossy(&bytes);
        let line = line.trim_end();
        if line.is_empty() {
            continue;
        }
        let in_chain = line.starts_with(['\t', ' ']) && !chains.samples.is_empty();
        if in_chain && let Some((frame, kernel)) = frame(line, words) {
            chains.push(frame, kernel);
            continue;
        }
        let (sample, rest) =
            header(line, words).with_context(|| format!("neither a sample nor a frame: {line}"))?;
        chains.open(sample);
        // A sample without a chain has its only address on the same line.
        if let Some((frame, kernel)) = frame(rest, words) {
            chains.push(frame, kernel);
        }
    }
    chains.close();
    Ok(chains)
}

/// Parses `comm  pid/tid [cpu] time:  period event: rest`; the comm may hold anything.
fn header<'a>(line: &'a str, words: &mut StringTable) -> Option<(Sample, &'a str)> {
    let mut from = 0;
    while let Some(slash) = line.get(from..)?.find('/').map(|at| from + at) {
        if let Some(found) = after_comm(line, slash, words) {
            return Some(found);
        }
        from = slash + 1;
    }
    None
}

fn after_comm<'a>(
    line: &'a str,
    slash: usize,
    words: &mut StringTable,
) -> Option<(Sample, &'a str)> {
    let pid = line.get(..slash)?.rsplit(' ').next()?;
    pid.trim_start_matches('-').parse::<u32>().ok()?;
    let (tid, rest) = line.get(slash + 1..)?.split_once(' ')?;
    let tid = tid.parse::<i64>().ok()?;
    let mut rest = rest.trim_start();
    let mut cpu = u32::MAX;
    if let Some(inner) = rest.strip_prefix('[') {
        let (number, after) = inner.split_once(']')?;
        cpu = number.trim().parse().ok()?;
        rest = after.trim_start();
    }
    let (time, rest) = rest.split_once(": ")?;
    let (seconds, fraction) = time.split_once('.')?;
    if fraction.len() != 9 {
        return None;
    }
    let time = seconds
        .parse::<u64>()
        .ok()?
        .checked_mul(1_000_000_000)?
        .checked_add(fraction.parse().ok()?)?;
    let rest = rest.trim_start();
    let (period, after) = rest.split_once(' ')?;
    let rest = if period.parse::<u64>().is_ok() { after.trim_start() } else { rest };
    let (event, rest) = match rest.split_once(' ') {
        Some((event, rest)) => (event, rest),
        None => (rest, ""),
    };
    let event = words.intern(event.strip_suffix(':')?);
    let tid = u32::try_from(tid).unwrap_or(u32::MAX);
    Some((Sample { time, tid, cpu, event, first: 0, n_user: 0, n_kernel: 0, end: 0 }, rest))
}

/// Parses `addr symbol+0xoffset (module)` or `addr [unknown] (module)`.
fn frame(line: &str, words: &mut StringTable) -> Option<(Frame, bool)> {
    let line = line.trim();
    let (address, rest) = line.split_once(' ')?;
    let address = u64::from_str_radix(address, 16).ok()?;
    let inner = rest.strip_suffix(')')?;
    let (symbol, module) = match inner.strip_prefix("[unknown] (") {
        Some(module) => ("", module),
        None => named(inner)?,
    };
    let module = if module == "[unknown]" { "" } else { module };
    let kernel = address >= 1 << 63 && address != UNSTATED;
    let (symbol, module) = (words.intern(symbol), words.intern(module));
    Some((
        Frame { stated: [UNSTATED, address, UNSTATED, UNSTATED], module, symbol, found_by: 0 },
        kernel,
    ))
}

/// Splits name and module at the offset's `+0x`: both may contain spaces and brackets.
fn named(inner: &str) -> Option<(&str, &str)> {
    let mut end = inner.len();
    while let Some(at) = inner.get(..end)?.rfind("+0x") {
        let after = inner.get(at + 3..)?;
        let digits = after.bytes().take_while(u8::is_ascii_hexdigit).count();
        if let Some(module) = after.get(digits..)?.strip_prefix(" (").filter(|_| digits > 0) {
            return Some((inner.get(..at)?, module));
        }
        end = at;
    }
    inner.rsplit_once(" (")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
my (co/mm) 1  12/13    [001]  1804.499794123:    1000000 cpu-clock:u: \n\
\t            1413 (anonymous namespace)::f<int (*)(long)>+0xe3 (/tmp/a b (deleted))\n\
\t    7f3f4da5c00b [unknown] (/tmp/perf-11412.map)\n\
\tffffffffffffffff [unknown] ([unknown])\n\
\n\
swapper     0/0     [000]  1804.5:          1 cpu-clock: \n";

    #[test]
    fn a_chain_with_odd_names() {
        let mut words = StringTable::new();
        let text = TEXT.lines().take(5).collect::<Vec<_>>().join("\n");
        let chains = read(text.as_bytes(), &mut words).unwrap();
        assert_eq!(chains.samples.len(), 1);
        let sample = chains.samples[0];
        assert_eq!((sample.time, sample.tid, sample.cpu), (1_804_499_794_123, 13, 1));
        assert_eq!(words.text(sample.event), "cpu-clock:u");
        assert_eq!((sample.n_user, sample.n_kernel, chains.null_tails), (2, 0, 1));
        let [first, second] = chains.user(&sample) else { panic!("two frames") };
        assert_eq!(words.text(first.symbol), "(anonymous namespace)::f<int (*)(long)>");
        assert_eq!(words.text(first.module), "/tmp/a b (deleted)");
        assert_eq!((first.shown(), second.shown()), (0x1413, 0x7f3f_4da5_c00b));
        assert_eq!(words.text(second.symbol), "");
    }

    #[test]
    fn a_sample_without_a_chain_and_kernel_frames() {
        let mut words = StringTable::new();
        let text = "ab 1/1 2.000000001: 5 cycles:  401000 main+0x4 (/a)\n\
                    ab 1/1 3.000000001: 5 cycles: \n\
                    \tffffffff81000000 read+0x1 ([kernel.kallsyms])\n\
                    \t  1000 f+0x0 (/a)\n";
        let chains = read(text.as_bytes(), &mut words).unwrap();
        let counts: Vec<_> =
            chains.samples.iter().map(|s| (s.time, s.n_kernel, s.n_user)).collect();
        assert_eq!(counts, [(2_000_000_001, 0, 1), (3_000_000_001, 1, 1)]);
    }

    #[test]
    fn times_without_nanoseconds_are_refused() {
        let error = read(TEXT.as_bytes(), &mut StringTable::new()).err().unwrap().to_string();
        assert!(error.starts_with("neither a sample nor a frame: swapper"), "{error}");
    }
}
