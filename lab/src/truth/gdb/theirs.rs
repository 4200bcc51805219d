//! gdb's frames of the stops.

use std::path::Path;

use anyhow::{Context, Result, bail};
use xtask::command;

use crate::truth::stepped::{Mapping, Stop, mappings};

/// Script that gdb runs.
const SCRIPT: &str = include_str!("stops.py");

/// A frame of gdb that is not inlined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    /// The return address, the address after a jump, or that of the current instruction.
    pub(super) pc: u64,
    /// True if it was left by a jump.
    pub(super) tail: bool,
    /// Name of the function; `?` without one.
    pub(super) name: String,
}

/// gdb's chain of a stop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Chain {
    /// Frames, innermost first.
    pub(super) frames: Vec<Frame>,
    /// End reason.
    pub(super) end: String,
}

/// End reason of a chain with an invalid next frame.
const OUTSIDE_OF_CODE: &str = "a return address outside of code";

impl Chain {
    /// Truncates the chain at the first frame outside of code: gdb shows such frames, but the frames after them mean
    /// nothing.
    fn leave_code(&mut self, maps: &[Mapping]) {
        let is_in = |mapping: &Mapping, pc| {
            mapping.executable && (mapping.start..=mapping.end).contains(&pc)
        };
        let is_code = |frame: &Frame| maps.iter().any(|mapping| is_in(mapping, frame.pc));
        if let Some(at) = self.frames.iter().position(|frame| !is_code(frame)) {
            self.frames.truncate(at);
            OUTSIDE_OF_CODE.clone_into(&mut self.end);
        }
    }
}

/// Makes gdb unwind the stops of a program; `maps` are the mappings of the stops.
pub(super) fn chains(
    program: &[String],
    stops: &[Stop],
    maps: &[Mapping],
    folder: &Path,
) -> Result<Vec<Chain>> {
    let [script, input, output] = ["stops.py", "stops.bin", "stops.txt"].map(|it| folder.join(it));
    std::fs::write(&script, SCRIPT)?;
    let mut bytes = Vec::new();
    for stop in stops {
        let length = stop.stack.len() as u64;
        for word in stop.registers.iter().chain([&length]) {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(&stop.stack);
    }
    std::fs::write(&input, bytes)?;
    let mut gdb = command::words("gdb -batch -nx -x");
    gdb.arg(&script).arg("--args").args(program);
    gdb.env("TRUTH_STOPS", &input).env("TRUTH_OUT", &output);
    command::output(&mut gdb)?;
    let text = std::fs::read_to_string(&output).context("gdb wrote nothing")?;
    let found = read(&text, maps)?;
    if found.len() != stops.len() {
        bail!("gdb has {} of {} stops", found.len(), stops.len());
    }
    Ok(found)
}

fn read(text: &str, maps: &[Mapping]) -> Result<Vec<Chain>> {
    let mut chains: Vec<Chain> = Vec::new();
    let mut theirs = String::new();
    for line in text.lines() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match (word, chains.last_mut()) {
            ("map", _) => theirs.extend([rest, "\n"]),
            ("stop", _) => chains.push(Chain::default()),
            ("end", Some(chain)) => rest.clone_into(&mut chain.end),
            (_, Some(chain)) => chain.frames.extend(frame(word, rest)?),
            (_, None) => bail!("gdb wrote {line}"),
        }
    }
    same_code(&mappings(&theirs)?, maps)?;
    chains.iter_mut().for_each(|chain| chain.leave_code(maps));
    Ok(chains)
}

/// Parses a frame; `None` for an inlined one.
fn frame(pc: &str, rest: &str) -> Result<Option<Frame>> {
    let (kind, name) = rest.split_once(' ').with_context(|| format!("{pc} {rest}"))?;
    if kind == "inline" {
        return Ok(None);
    }
    let pc = u64::from_str_radix(pc, 16).with_context(|| pc.to_owned())?;
    Ok(Some(Frame { pc, tail: kind == "tail", name: name.to_owned() }))
}

/// Returns an error unless the code has the same addresses under gdb.
fn same_code(theirs: &[Mapping], ours: &[Mapping]) -> Result<()> {
    let is_code = |mapping: &&Mapping| mapping.executable && mapping.name.starts_with('/');
    for mapping in theirs.iter().filter(is_code) {
        let is_same =
            |other: &Mapping| (other.start, &other.name) == (mapping.start, &mapping.name);
        if !ours.iter().any(is_same) {
            bail!("{} is at {:#x} under gdb alone", mapping.name, mapping.start);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_without_inlined_ones() {
        let text = "map 1000-2000 r-xp 00000000 00:00 0 /a\nstop\n1010 inline i\n1010 plain f g\n\
                    1018 tail h\n1020 plain ?\nend no reason\nstop\nend unwritten: no\n\
                    stop\n1010 plain f\n7ff0 plain ?\n1 plain ?\nend no reason\n";
        let maps = mappings(
            "1000-2000 r-xp 00000000 00:00 0 /a\n7000-8000 rw-p 00000000 00:00 0 [stack]\n",
        )
        .unwrap();
        let found = read(text, &maps).unwrap();
        let frame = |pc, tail, name: &str| Frame { pc, tail, name: name.to_owned() };
        let chain = |frames, end: &str| Chain { frames, end: end.to_owned() };
        let frames =
            vec![frame(0x1010, false, "f g"), frame(0x1018, true, "h"), frame(0x1020, false, "?")];
        assert_eq!(found[0], chain(frames, "no reason"));
        assert_eq!(found[1], chain(Vec::new(), "unwritten: no"));
        let frames = vec![frame(0x1010, false, "f")];
        assert_eq!(found[2], chain(frames, "a return address outside of code"));
        assert!(read(text, &[]).is_err());
    }
}
