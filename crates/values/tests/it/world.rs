//! A frame for the tests: registers by number, and memory in pieces.

use std::collections::BTreeMap;

use budget::{Budget, Meter};
use gimli::constants as c;
use values::{Absence, CallSites, Caller, Error, Frame, Request, Sources, Value, Variables};

use crate::assembler::{Die, Sections, die};

/// State of a frame.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    pub(crate) registers: BTreeMap<u16, u64>,
    pub(crate) memory: Vec<(u64, Vec<u8>)>,
    pub(crate) cfa: Option<u64>,
    /// Address of the image's thread-local block.
    pub(crate) thread: Option<u64>,
    /// State of the caller, its return address, and the calls of the image.
    pub(crate) caller: Option<(Box<Self>, u64, CallSites)>,
}

impl Frame for World {
    fn register(&self, number: u16) -> Option<u64> {
        self.registers.get(&number).copied()
    }
    fn cfa(&self) -> Option<u64> {
        self.cfa
    }
    fn read(&self, address: u64, bytes: &mut [u8]) -> usize {
        for (start, data) in &self.memory {
            let offset = address.wrapping_sub(*start) as usize;
            if let Some(known) = data.get(offset..).filter(|it| !it.is_empty()) {
                let count = known.len().min(bytes.len());
                bytes[..count].copy_from_slice(&known[..count]);
                return count;
            }
        }
        0
    }
    fn bias(&self) -> u64 {
        0
    }
    fn thread_local(&self, offset: u64) -> Option<u64> {
        self.thread?.checked_add(offset)
    }
    fn caller(&self) -> Option<Caller<'_>> {
        let (frame, return_address, sites) = self.caller.as_ref()?;
        Some(Caller { frame: &**frame, return_address: *return_address, sites, same_image: true })
    }
}

/// Memory of the tests is here; the frame address (CFA) as well.
pub(crate) const MEMORY: u64 = 0x7000;

impl World {
    /// Creates a state with memory at [`MEMORY`].
    pub(crate) fn with(bytes: &[u8]) -> Self {
        Self { memory: vec![(MEMORY, bytes.to_vec())], cfa: Some(MEMORY), ..Self::default() }
    }
}

/// Calls `test` with the sources of a unit.
pub(crate) fn with_sources<T>(
    sections: &Sections,
    test: impl FnOnce(&Sources<'_, gimli::EndianSlice<'_, gimli::RunTimeEndian>>) -> T,
) -> T {
    let dwarf = sections.dwarf();
    let meter = Meter::new(&Budget::default(), 4096);
    let sources = Sources::new(&dwarf, &[], &meter).expect("headers");
    test(&sources)
}

/// Searches a request.
pub(crate) fn found(sections: &Sections, request: &str) -> Result<Variables, Error> {
    let request = Request::parse(request)?;
    let (variables, errors) =
        with_sources(sections, |sources| Variables::find(sources, &[request]))?;
    match errors.into_iter().next().flatten() {
        Some(error) => Err(error),
        None => Ok(variables),
    }
}

/// Reads the first value of a request at an address, as text.
pub(crate) fn value(
    sections: &Sections,
    request: &str,
    address: u64,
    frame: &World,
) -> Result<Value, Absence> {
    let variables = found(sections, request).unwrap_or_else(|error| panic!("{error}"));
    let meter = Meter::new(&Budget::default(), 4096);
    let first = variables.at(address).next().expect("a match");
    first.value(frame, &meter)
}

/// A function `f` at 0x1000 whose local `v` of the type `T` is at [`MEMORY`], and the types.
pub(crate) fn local(types: impl IntoIterator<Item = Die>) -> Sections {
    let frame_base = crate::assembler::Attribute::Expression(vec![0x9c]);
    let function = die(c::DW_TAG_subprogram)
        .name("f")
        .code(0x1000, 0x100)
        .with(c::DW_AT_frame_base, frame_base)
        .has([die(c::DW_TAG_variable).name("v").of("T").at(&[0x91, 0])]);
    Sections::new(types.into_iter().chain([function]))
}

/// A base type.
pub(crate) fn base(
    label: &'static str,
    name: &'static str,
    size: u64,
    encoding: gimli::DwAte,
) -> Die {
    die(c::DW_TAG_base_type)
        .label(label)
        .name(name)
        .size(size)
        .with(c::DW_AT_encoding, crate::assembler::Attribute::Unsigned(encoding.0.into()))
}

/// Reads `path` of the local of [`local`], as text.
pub(crate) fn shown(sections: &Sections, path: &str, frame: &World) -> String {
    match value(sections, &format!("f({path})"), 0x1010, frame) {
        Ok(value) => format!("{value}"),
        Err(absence) => format!("absent: {absence}"),
    }
}
