//! Our values beside gdb's, through a recording: the stops as samples, as perf records them, and a run of the product
//! with a request for each variable.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use host::RealHost;
use pipeline::{Observer, Options, Pipeline, Source, Unobserved};
use profile::query::{BiasCache, StackWalker, frame_functions};
use profile::{FieldRows, FieldValue, FoundBy, NoLabel, Profile, SampleId};

use super::requests::Requests;
use super::tally::Tally;
use super::theirs::{Frame, Run, Stop};
use super::verdict;
use crate::truth::{self, Recording, mappings};

/// Most bytes of a stack that fit in a record with the other fields, as the kernel shortens them.
const MOST_STACK: usize = 65_000;

/// Writes the stops as a recording, runs the product, and compares all values.
pub(super) fn compare(file: &Path, run: &Run, requests: &Requests, verbose: bool) -> Result<Tally> {
    let recording = file.with_extension("data");
    write(run, &recording)?;
    let answered = requests.answered();
    let values = answered.iter().map(|(_, request)| request.to_string()).collect();
    let options = Options { values, ..Options::default() };
    let observer: Arc<dyn Observer> = Arc::new(Unobserved);
    let pipeline = Pipeline::new(Arc::new(RealHost));
    let analysis = pipeline.analyze(Source::Path(recording), &options, &observer)?;
    let profile = &analysis.profile;
    let columns = profile.fields.columns();
    if profile.samples.len() != run.stops.len() || columns.len() != answered.len() {
        let (samples, stops) = (profile.samples.len(), run.stops.len());
        bail!("{samples} samples of {stops} stops, {} columns", columns.len());
    }
    let columns = answered.iter().map(|(at, _)| *at).zip(columns).collect();
    let replayed = Replayed { profile, columns, requests };
    let mut tally = Tally { verbose, ..Tally::default() };
    let (walker, mut biases) = (StackWalker::new(profile), BiasCache::new());
    for (number, stop) in run.stops.iter().enumerate() {
        tally.stops += 1;
        let sample = SampleId::new(number as u32);
        let chain = replayed.chain(sample, &walker, &mut biases);
        replayed.stop(stop, sample, &chain, &mut tally);
    }
    Ok(tally)
}

/// Writes a recording with a sample for each stop.
fn write(run: &Run, path: &Path) -> Result<()> {
    let mut recording = Recording::new();
    for stop in &run.stops {
        if let Some(text) = &stop.maps {
            recording.map(&mappings(text)?);
        }
        recording.add(&sample(stop)?);
    }
    recording.write(path)
}

/// Returns the registers and the stack of a stop's innermost frame.
fn sample(stop: &Stop) -> Result<truth::Stop> {
    /// DWARF numbers in the order of samples; the flags have none.
    const ORDER: [Option<u16>; 18] = [
        Some(0),
        Some(3),
        Some(2),
        Some(1),
        Some(4),
        Some(5),
        Some(6),
        Some(7),
        Some(16),
        None,
        Some(8),
        Some(9),
        Some(10),
        Some(11),
        Some(12),
        Some(13),
        Some(14),
        Some(15),
    ];
    let known = &stop.frames.first().context("a stop without frames")?.registers;
    let mut registers = [0; 18];
    for (register, number) in registers.iter_mut().zip(ORDER) {
        let Some(number) = number else { continue };
        *register = known.get(&number).context("a register is missing")?.parse()?;
    }
    let mut stack = stop.stack_bytes();
    stack.truncate(MOST_STACK);
    Ok(truth::Stop { registers, stack })
}

/// A frame of ours: looked-up address, and names of its functions, innermost first.
type OurFrame = (u64, Vec<String>);

/// The run's result.
struct Replayed<'p> {
    profile: &'p Profile,
    /// By request.
    columns: BTreeMap<usize, &'p FieldRows>,
    requests: &'p Requests,
}

impl<'p> Replayed<'p> {
    /// Returns the frames of a sample without those of tail calls, which gdb's list lacks, too.
    fn chain(
        &self,
        sample: SampleId,
        walker: &StackWalker<'p>,
        biases: &mut BiasCache<'p>,
    ) -> Vec<OurFrame> {
        let mut frames = Vec::new();
        let Some(row) = self.profile.samples.get(sample) else { return frames };
        walker.walk(row, biases, |frame, address| {
            let mut functions = frame_functions(self.profile, frame, true).peekable();
            let is_tail = |by| matches!(by, FoundBy::TailCall | FoundBy::TailCalls | FoundBy::Gap);
            if functions.peek().is_none_or(|it| is_tail(it.frame.found_by)) {
                return;
            }
            let name = |id| String::from_utf8_lossy(self.profile.strings.get(id)).into_owned();
            let names = functions.filter_map(|it| it.function?.function);
            frames.push((address.0, names.map(name).collect()));
        });
        frames
    }

    /// Compares the frames and the values of a stop.
    fn stop(&self, stop: &Stop, sample: SampleId, chain: &[OurFrame], tally: &mut Tally) {
        let mut seen: Vec<String> = Vec::new();
        for (index, frame) in stop.frames.iter().enumerate() {
            let address = if index == 0 { frame.pc } else { frame.pc - 1 };
            let ours = chain.get(index).filter(|(known, _)| *known == address);
            let are_there = self.frame(frame, ours, tally);
            for (function, is_there) in frame.functions.iter().zip(are_there) {
                let name = function.plain();
                if !is_there {
                    continue;
                }
                if seen.contains(&name) {
                    tally.outer += 1;
                    continue;
                }
                for variable in &function.variables {
                    let [path, kind, theirs] = variable.as_slice() else { continue };
                    let request = self.requests.index(&name, path);
                    let ours = request.and_then(|it| self.value(it, sample));
                    let ours = ours.map(|it| {
                        let shown = String::from_utf8_lossy(&it).into_owned();
                        (shown, verdict::of_text(kind, theirs, &it))
                    });
                    tally.count(&format!("{name}({path})"), (kind, theirs), ours);
                }
                seen.push(name);
            }
        }
    }

    /// Compares the functions of a frame: returns for each of gdb's whether ours has it, in the same order.
    fn frame(&self, frame: &Frame, ours: Option<&OurFrame>, tally: &mut Tally) -> Vec<bool> {
        let mut rest = ours.map_or(&[][..], |(_, names)| names);
        let mut found = Vec::new();
        for function in &frame.functions {
            tally.frames += 1;
            let name = function.plain();
            let at = rest.iter().position(|it| same_function(it, &name));
            if let Some(at) = at {
                rest = rest.get(at + 1..).unwrap_or_default();
            } else {
                tally.frames_alone += 1;
                tally.note(format!("frame of gdb alone: {name}; ours: {ours:x?}"));
            }
            found.push(at.is_some());
        }
        found
    }

    /// Returns the value of a request in a sample as it is printed, or the reason that there is none.
    fn value(&self, request: usize, sample: SampleId) -> Result<Vec<u8>, String> {
        let column = self.columns.get(&request).ok_or("no column")?;
        match column.label(sample) {
            Some(Ok(FieldValue::Signed(number))) => Ok(number.to_string().into_bytes()),
            Some(Ok(FieldValue::Unsigned(number))) => Ok(number.to_string().into_bytes()),
            Some(Ok(FieldValue::Text(id) | FieldValue::List(id))) => {
                Ok(self.profile.strings.get(id).to_vec())
            }
            Some(Err(NoLabel::Absent(reason))) => Err(reason.to_owned()),
            Some(Err(reason)) => Err(reason.as_str().to_owned()),
            None => Err("no frame of the function".to_owned()),
        }
    }
}

/// Returns true if both names are of one function. Its address is known to be the same, so the last part of gdb's name
/// is enough: gdb qualifies only some names, and writes types and closures in its own way.
fn same_function(ours: &str, theirs: &str) -> bool {
    let plain = theirs.split('<').next().filter(|it| !it.is_empty()).unwrap_or(theirs);
    let last = plain.rsplit([':', '.']).find(|part| !part.is_empty()).unwrap_or(plain);
    ours.contains(last) || (last.contains("closure") && ours.contains("closure"))
}
