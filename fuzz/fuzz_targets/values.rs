//! Values of variables: locations, expressions and types from sections that are the input, in made-up frames.
//!
//! ```text
//!   8, 8        the first requested address, and the word that registers and memory hold
//!   1, 2, ...   sections: a byte for the name (bits 0 to 3), a length, the content
//! ```
#![no_main]

mod cost;
mod input;

use address::Arch;
use budget::{Budget, Meter};
use gimli::{Dwarf, EndianSlice, LittleEndian, SectionId};
use input::Input;
use libfuzzer_sys::fuzz_target;
use values::{
    CallSites, Caller, Frame, Functions, ProbeField, ProbePoint, Request, Sources, Variables,
};

/// Sections by number; those of the target `dwarf`, as far as they can matter here.
const SECTIONS: [SectionId; 13] = [
    SectionId::DebugInfo,
    SectionId::DebugAbbrev,
    SectionId::DebugLine,
    SectionId::DebugStr,
    SectionId::DebugLineStr,
    SectionId::DebugRanges,
    SectionId::DebugRngLists,
    SectionId::DebugAddr,
    SectionId::DebugStrOffsets,
    SectionId::DebugAranges,
    SectionId::DebugLocLists,
    SectionId::DebugLoc,
    SectionId::DebugTypes,
];
/// Requests: paths of each kind. Names are those of the seeds, and short ones that changed inputs get.
const REQUESTS: [&str; 8] = [
    "main(argc)",
    "main(*argv)",
    "inner(x)",
    "f(v)",
    "f(v.a)",
    "f(v->a[1].b)",
    "f(*v)",
    "outer(rounds)",
];
/// Functions whose variables are listed.
const FUNCTIONS: [&str; 4] = ["main", "inner", "f", "outer"];
/// Number of addresses at which values are read.
const ADDRESSES: u64 = 64;
/// Number of frames of a chain.
const FRAMES: usize = 3;

/// A frame whose registers and memory follow from a word. Its caller is in the same image.
struct MadeFrame<'s> {
    word: u64,
    sites: &'s CallSites,
    caller: Option<Box<Self>>,
}

impl Frame for MadeFrame<'_> {
    fn register(&self, number: u16) -> Option<u64> {
        (number % 5 != 4).then(|| self.word.rotate_left(u32::from(number)))
    }

    fn cfa(&self) -> Option<u64> {
        Some(self.word & !7)
    }

    fn read(&self, address: u64, bytes: &mut [u8]) -> usize {
        let known = bytes.len().min((address % 4096) as usize);
        for (at, byte) in (address..).zip(&mut *bytes) {
            *byte = (self.word >> (at % 8 * 8)) as u8;
        }
        known
    }

    fn bias(&self) -> u64 {
        0
    }

    fn caller(&self) -> Option<Caller<'_>> {
        let frame = self.caller.as_deref()?;
        let sites = self.sites;
        Some(Caller { frame, return_address: self.word & 0xffff, sites, same_image: true })
    }
}

fn frame(word: u64, sites: &CallSites, depth: usize) -> MadeFrame<'_> {
    let caller = (depth > 0).then(|| Box::new(frame(word.rotate_left(9), sites, depth - 1)));
    MadeFrame { word, sites, caller }
}

/// Reads the values of all requests, and returns them as text.
fn values(
    dwarf: &Dwarf<EndianSlice<'_, LittleEndian>>,
    requests: &[Request],
    (first, word): (u64, u64),
    len: usize,
) -> Vec<String> {
    let budget = Budget::default();
    let meter = Meter::new(&budget, len);
    let Ok(sources) = Sources::new(dwarf, &[], &meter) else { return Vec::new() };
    let mut shown = Vec::new();
    if let Ok(functions) = Functions::find(&sources, &FUNCTIONS) {
        let instances = (0..FUNCTIONS.len()).filter_map(|at| functions.instances(at).ok());
        for instance in instances.flatten() {
            let Ok(listing) = instance.listing(&sources) else { continue };
            for variable in listing {
                assert!(variable.available_bytes <= variable.bytes);
                shown.push(variable.name);
            }
            if let Some(point) = ProbePoint::entry(Arch::X86_64, first) {
                let field = |it: &Request| ProbeField { chosen: None, path: it.path.clone() };
                let fields: Vec<_> = requests.iter().map(field).collect();
                let arguments = instance.probe_arguments(&sources, &point, &fields);
                assert_eq!(arguments.len(), fields.len());
            }
        }
    }
    let Ok((variables, errors)) = Variables::find(&sources, requests) else { return shown };
    assert_eq!(errors.len(), requests.len());
    let frame = frame(word, variables.call_sites(), FRAMES);
    let meter = Meter::new(&budget, len);
    for address in (0..ADDRESSES).map(|at| first.wrapping_add(at)) {
        for found in variables.at(address) {
            assert!(found.request() < requests.len());
            shown.push(format!("{:?}", found.value(&frame, &meter)));
        }
    }
    shown
}

fn run(bytes: &[u8]) {
    let mut input = Input(bytes);
    let at = (input.number(8), input.number(8));
    let mut contents: [&[u8]; SECTIONS.len()] = [&[]; SECTIONS.len()];
    while !input.0.is_empty() {
        let kind = input.number(1) as usize;
        let len = input.number(2) as usize;
        let content = input.bytes(len);
        if let Some(section) = contents.get_mut(kind & 15) {
            *section = content;
        }
    }
    let load = |id: SectionId| -> Result<_, gimli::Error> {
        let index = SECTIONS.iter().position(|known| *known == id);
        let content = index.map_or(&[][..], |index| contents[index]);
        Ok(EndianSlice::new(content, LittleEndian))
    };
    let dwarf = Dwarf::load(load).expect("sections");
    let requests = REQUESTS.map(|text| Request::parse(text).expect("a request"));
    let once = values(&dwarf, &requests, at, bytes.len());
    assert_eq!(once, values(&dwarf, &requests, at, bytes.len()));
}

fuzz_target!(|bytes: &[u8]| {
    cost::bounded(bytes, || {
        run(bytes);
        0
    });
});
