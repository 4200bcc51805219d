//! Our values beside gdb's, from the registers that gdb states for each frame.

use std::path::Path;

use ::values::{Absence, Sources, Value, Variables};
use anyhow::Result;
use budget::{Budget, Meter};

use super::image::{Image, Opened, Recorded};
use super::requests::Requests;
use super::tally::Tally;
use super::theirs::{Run, Stop};
use super::verdict;

/// Compares all values of a run. Requests that no function answers are refused.
pub(super) fn compare(
    file: &Path,
    run: &Run,
    requests: &mut Requests,
    verbose: bool,
) -> Result<Tally> {
    let image = Image::read(file)?;
    let opened = image.open()?;
    let budget = Budget::default();
    let meter = Meter::new(&budget, opened.size);
    let sources = Sources::new(&opened.dwarf, &opened.split, &meter)?;
    let (variables, errors) = Variables::find(&sources, &requests.all)?;
    requests.refuse(&errors);
    let bias = run.start.wrapping_sub(opened.range.0 & !0xfff);
    let mut tally = Tally { verbose, ..Tally::default() };
    for stop in &run.stops {
        tally.stops += 1;
        let (image, variables, requests) = (&opened, &variables, &*requests);
        let stack = stop.stack_bytes();
        let comparison = Comparison { stop, stack, image, bias, variables, requests };
        comparison.frames(stop.frames.len(), None, &mut tally);
    }
    Ok(tally)
}

/// A stop with everything that its frames are compared with.
struct Comparison<'a> {
    stop: &'a Stop,
    stack: Vec<u8>,
    image: &'a Opened<'a>,
    bias: u64,
    variables: &'a Variables,
    requests: &'a Requests,
}

impl Comparison<'_> {
    /// Compares the innermost `count` frames, the outermost of them first.
    fn frames(&self, count: usize, caller: Option<&Recorded<'_>>, tally: &mut Tally) {
        let Some(index) = count.checked_sub(1) else { return };
        let recorded = Recorded {
            stop: self.stop,
            stack: &self.stack,
            index,
            image: self.image,
            bias: self.bias,
            sites: self.variables.call_sites(),
            caller,
        };
        self.frame(&recorded, tally);
        self.frames(index, Some(&recorded), tally);
    }

    fn frame(&self, frame: &Recorded<'_>, tally: &mut Tally) {
        let Some(address) = frame.address() else { return };
        let address = if frame.index == 0 { address } else { address - 1 };
        let functions = &self.stop.frames[frame.index].functions;
        for (number, function) in functions.iter().enumerate() {
            tally.frames += 1;
            let name = function.plain();
            // Functions of that name that are inlined into each other.
            let skip = functions[..number].iter().filter(|it| it.plain() == name).count();
            for variable in &function.variables {
                let [path, kind, theirs] = variable.as_slice() else { continue };
                let request = self.requests.index(&name, path);
                let ours = request.and_then(|it| self.value(frame, address, it, skip));
                let ours = ours.map(|it| (it.to_string(), verdict::of_value(kind, theirs, &it)));
                tally.count(&format!("{name}({path})"), (kind, theirs), ours);
            }
        }
    }

    fn value(
        &self,
        frame: &Recorded<'_>,
        address: u64,
        request: usize,
        skip: usize,
    ) -> Result<Value, String> {
        let mut found = self.variables.at(address).filter(|it| it.request() == request);
        let meter = Meter::new(&Budget::default(), 1 << 20);
        let value = found.nth(skip).map(|it| it.value(frame, &meter));
        value.unwrap_or(Err(Absence::OutOfScope)).map_err(|it| reason(&it))
    }
}

/// Returns a reason without its numbers.
fn reason(absence: &Absence) -> String {
    match absence {
        Absence::Memory(_) | Absence::Register(_) => absence.code().to_owned(),
        absence => absence.to_string(),
    }
}
