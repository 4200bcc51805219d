//! The user chains of one run, read from our NDJSON.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::ops::Range;

use anyhow::{Context, Result};

use crate::json::Json;
use crate::strings::{StringId, StringTable};

/// Name of the frame that represents unknown frames, in place of module or function.
const GAP: &str = "[gap]";
/// Found-by of a frame from another sample.
const JOINED: &str = "joined";
/// Found-by of a gap.
const GAP_FOUND_BY: &str = "gap";

/// A frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Frame {
    /// Path of the module.
    pub(super) module: StringId,
    /// Looked-up address in the process.
    pub(super) addr: u64,
    /// Name of the function; 0 without one.
    pub(super) function: StringId,
    /// True if it represents unknown frames.
    pub(super) gap: bool,
}

impl Frame {
    /// Returns true if both are at the same address of the same module.
    pub(super) fn same_location(&self, other: &Self) -> bool {
        (self.module, self.addr) == (other.module, other.addr)
    }

    /// Returns true if both are in the same function; without a name, if they are at the same address.
    pub(super) fn same_function(&self, other: &Self) -> bool {
        if self.function == 0 || other.function == 0 {
            self.same_location(other)
        } else {
            (self.module, self.function) == (other.module, other.function)
        }
    }
}

/// Identity of a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) time: Option<u64>,
    pub(super) pid: i64,
    pub(super) tid: i64,
    pub(super) cpu: Option<u64>,
    pub(super) event: StringId,
}

/// Chain of a sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chain<'a> {
    /// End reason.
    pub(super) end: &'a str,
    /// True if a part of it comes from other samples.
    pub(super) joined: bool,
    /// User frames, innermost first.
    pub(super) frames: &'a [Frame],
}

/// Samples of one run, in output order.
#[derive(Debug, Default)]
pub(super) struct Chains {
    samples: Vec<Sample>,
    frames: Vec<Frame>,
}

#[derive(Debug, Default)]
struct Sample {
    identity: Identity,
    end: StringId,
    joined: bool,
    frames: Range<usize>,
}

impl Chains {
    /// Number of samples.
    pub(super) fn len(&self) -> usize {
        self.samples.len()
    }

    /// Returns the identities of the samples, in order.
    pub(super) fn identities(&self) -> impl Iterator<Item = Identity> {
        self.samples.iter().map(|sample| sample.identity)
    }

    /// Adds a sample.
    pub(super) fn push(
        &mut self,
        identity: Identity,
        end: StringId,
        joined: bool,
        frames: impl Iterator<Item = Frame>,
    ) {
        let first = self.frames.len();
        self.frames.extend(frames);
        let frames = first..self.frames.len();
        self.samples.push(Sample { identity, end, joined, frames });
    }

    /// Returns the samples in order.
    pub(super) fn iter<'a>(
        &'a self,
        words: &'a StringTable,
    ) -> impl Iterator<Item = (Identity, Chain<'a>)> {
        self.samples.iter().map(|sample| {
            let frames = self.frames.get(sample.frames.clone()).unwrap_or_default();
            let end = words.text(sample.end);
            (sample.identity, Chain { end, joined: sample.joined, frames })
        })
    }
}

/// Module and function at each address of each process.
#[derive(Debug, Default)]
pub(super) struct FunctionsByAddress(BTreeMap<(i64, u64), (StringId, StringId)>);

impl FunctionsByAddress {
    /// Collects the frames of a run's chains.
    pub(super) fn of(chains: &Chains) -> Self {
        let mut places = BTreeMap::new();
        for sample in &chains.samples {
            let frames = chains.frames.get(sample.frames.clone()).unwrap_or_default();
            for frame in frames.iter().filter(|frame| !frame.gap) {
                places.insert((sample.identity.pid, frame.addr), (frame.module, frame.function));
            }
        }
        Self(places)
    }

    /// Returns the frame at an address of a process; without module and function if no chain has the address.
    pub(super) fn frame(&self, pid: i64, addr: u64) -> Frame {
        let (module, function) = self.0.get(&(pid, addr)).copied().unwrap_or_default();
        Frame { module, addr, function, ..Frame::default() }
    }
}

/// Reads all samples, without kernel frames.
pub(super) fn read(mut input: impl BufRead, words: &mut StringTable) -> Result<Chains> {
    let mut chains = Chains::default();
    let mut line = String::new();
    for number in 1_u64.. {
        line.clear();
        if input.read_line(&mut line)? == 0 {
            break;
        }
        let sample = sample(&line, words, &mut chains.frames);
        chains.samples.push(sample.with_context(|| format!("NDJSON line {number}"))?);
    }
    Ok(chains)
}

fn sample(line: &str, words: &mut StringTable, frames: &mut Vec<Frame>) -> Result<Sample> {
    let mut sample = Sample::default();
    let first = frames.len();
    Json::new(line).object(|key, value| {
        let identity = &mut sample.identity;
        match key {
            "time_ns" => identity.time = Some(value.number()?),
            "pid" => identity.pid = value.word()?.parse()?,
            "tid" => identity.tid = value.word()?.parse()?,
            "cpu" => identity.cpu = Some(value.number()?),
            "event" => identity.event = words.intern(&value.string()?),
            "end" => sample.end = words.intern(&value.string()?),
            "frames" => value.array(|item| {
                sample.joined |= frame(item, words, frames)?;
                Ok(())
            })?,
            _ => value.skip()?,
        }
        Ok(())
    })?;
    sample.frames = first..frames.len();
    Ok(sample)
}

/// Adds a frame if it is of user code; returns true if it is from another sample.
fn frame(json: &mut Json<'_>, words: &mut StringTable, frames: &mut Vec<Frame>) -> Result<bool> {
    let mut frame = Frame::default();
    let (mut outside, mut joined) = (false, false);
    json.object(|key, value| {
        match key {
            "addr" => frame.addr = value.hex()?,
            "module" | "function" => {
                let text = value.string()?;
                frame.gap |= text == GAP;
                let word = words.intern(&text);
                *(if key == "module" { &mut frame.module } else { &mut frame.function }) = word;
            }
            "found_by" => {
                let word = value.string()?;
                frame.gap |= word == GAP_FOUND_BY;
                joined = word == JOINED;
            }
            "kernel" | "inlined" => outside |= value.word()? == "true",
            _ => value.skip()?,
        }
        Ok(())
    })?;
    if !outside {
        frames.push(frame);
    }
    Ok(joined)
}

/// Returns frames for tests: a letter is a frame, `_` a gap; an upper-case letter is another address of the same
/// function.
#[cfg(test)]
pub(super) fn lettered(letters: &str) -> Vec<Frame> {
    let frame = |letter: char| Frame {
        module: 1,
        addr: u64::from(u32::from(letter)),
        function: u32::from(letter.to_ascii_lowercase()),
        gap: letter == '_',
    };
    letters.chars().map(frame).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_frames_with_their_identity() {
        let text = concat!(
            r#"{"time_ns":5,"pid":-1,"tid":2,"comm":"a","cpu":3,"event":"cycles","end":"root","#,
            r#""frames":[{"addr":"0xffff8","kernel":true},"#,
            r#"{"addr":"0x10","module":"/a","function":"f","inlined":false,"found_by":"sampled","kernel":false},"#,
            r#"{"addr":"0x0","function":"[gap]","inlined":false,"found_by":"gap","kernel":false},"#,
            r#"{"addr":"0x20","module":"/a","function":"f","inlined":false,"found_by":"joined","kernel":false}]}"#,
            "\n",
            r#"{"pid":1,"tid":2,"comm":"a","event":"cycles","end":"kernel-only","frames":[]}"#,
            "\n"
        );
        let mut words = StringTable::new();
        let [event, module, function, gap] =
            ["cycles", "/a", "f", "[gap]"].map(|text| words.intern(text));
        let chains = read(text.as_bytes(), &mut words).unwrap();
        let found: Vec<_> = chains.iter(&words).collect();
        let (identity, chain) = found[0];
        let expected = Identity { time: Some(5), pid: -1, tid: 2, cpu: Some(3), event };
        assert_eq!(identity, expected);
        assert_eq!((chain.end, chain.joined), ("root", true));
        assert_eq!(
            chain.frames,
            [
                Frame { module, addr: 0x10, function, ..Frame::default() },
                Frame { function: gap, gap: true, ..Frame::default() },
                Frame { module, addr: 0x20, function, ..Frame::default() },
            ]
        );
        let (identity, chain) = found[1];
        assert_eq!(identity, Identity { time: None, pid: 1, tid: 2, cpu: None, event });
        assert_eq!((chain.end, chain.joined, chain.frames), ("kernel-only", false, &[][..]));

        let places = FunctionsByAddress::of(&chains);
        let known = Frame { module, addr: 0x10, function, ..Frame::default() };
        assert_eq!(places.frame(-1, 0x10), known);
        assert_eq!(places.frame(-1, 0x20), Frame { addr: 0x20, ..known });
        assert_eq!(places.frame(-1, 0x30), Frame { addr: 0x30, ..Frame::default() });
        assert_eq!(places.frame(1, 0x10), Frame { addr: 0x10, ..Frame::default() });
    }

    #[test]
    fn a_frame_without_a_name_is_in_the_function_at_its_address() {
        let [one, other, stranger] = ["f", "F", "g"].map(|it| lettered(it)[0]);
        assert!(!one.same_location(&other) && one.same_function(&other));
        assert!(!one.same_function(&stranger));
        let nameless = Frame { function: 0, ..other };
        assert!(nameless.same_function(&other) && !nameless.same_function(&one));
    }
}
