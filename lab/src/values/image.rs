//! A program's file, and the frames of a stop as our reader takes them.

use std::borrow::Cow;
use std::path::Path;

use ::values::{CallSites, Caller, Frame};
use anyhow::{Context, Result};
use object::{Object, ObjectSection, ObjectSegment, SegmentFlags};

use super::theirs::Stop;

/// A program's file.
pub(super) struct Image {
    bytes: Vec<u8>,
    /// Its split debug information, if it has any.
    split: Option<Vec<u8>>,
}

/// Sections and read-only memory of a file.
pub(super) struct Opened<'a> {
    /// Its debug information.
    pub(super) dwarf: gimli::Dwarf<Slice<'a>>,
    /// Its split debug information.
    pub(super) split: Vec<gimli::Dwarf<Slice<'a>>>,
    /// Size of the debug information.
    pub(super) size: usize,
    /// Read-only segments: address (SVMA) and bytes.
    pub(super) constants: Vec<(u64, &'a [u8])>,
    /// Lowest and highest address.
    pub(super) range: (u64, u64),
}

/// Bytes of a section.
pub(super) type Slice<'a> = gimli::EndianSlice<'a, gimli::RunTimeEndian>;

impl Image {
    /// Reads a file.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
        // gcc names it after the program and the source.
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let split = std::fs::read(path.with_file_name(format!("{name}-values.dwo"))).ok();
        Ok(Self { bytes, split })
    }

    /// Finds the sections.
    pub(super) fn open(&self) -> Result<Opened<'_>> {
        let file = object::File::parse(&*self.bytes)?;
        let (dwarf, mut size) = sections(&file, |id| Some(id.name()))?;
        let mut split = Vec::new();
        if let Some(bytes) = &self.split {
            let (mut part, more) =
                sections(&object::File::parse(&**bytes)?, gimli::SectionId::dwo_name)?;
            part.make_dwo(&dwarf);
            split.push(part);
            size += more;
        }
        let (mut constants, mut range) = (Vec::new(), (u64::MAX, 0));
        for segment in file.segments() {
            let end = segment.address() + segment.size();
            range = (range.0.min(segment.address()), range.1.max(end));
            if matches!(segment.flags(), SegmentFlags::Elf { p_flags, .. } if p_flags.0 & 2 == 0) {
                constants.push((segment.address(), segment.data()?));
            }
        }
        Ok(Opened { dwarf, split, size, constants, range })
    }
}

/// Loads the sections that have a name; returns their size, too.
fn sections<'a>(
    file: &object::File<'a>,
    name: impl Fn(gimli::SectionId) -> Option<&'static str>,
) -> Result<(gimli::Dwarf<Slice<'a>>, usize)> {
    let mut size = 0;
    let dwarf = gimli::Dwarf::load(|id| {
        let section = name(id).and_then(|name| file.section_by_name(name));
        let data = match section.map(|section| section.uncompressed_data()).transpose()? {
            Some(Cow::Borrowed(data)) => data,
            // Until the task ends.
            Some(Cow::Owned(data)) => Vec::leak(data),
            None => &[],
        };
        size += data.len();
        Ok::<_, anyhow::Error>(gimli::EndianSlice::new(data, gimli::RunTimeEndian::Little))
    })?;
    Ok((dwarf, size))
}

/// A frame of a stop.
pub(super) struct Recorded<'a> {
    /// The stop.
    pub(super) stop: &'a Stop,
    /// Bytes of its stack.
    pub(super) stack: &'a [u8],
    /// Index of the frame.
    pub(super) index: usize,
    /// The program.
    pub(super) image: &'a Opened<'a>,
    /// Amount to add to its addresses.
    pub(super) bias: u64,
    /// Its calls.
    pub(super) sites: &'a CallSites,
    /// The frame that called it.
    pub(super) caller: Option<&'a Self>,
}

impl Recorded<'_> {
    /// The instruction, or the return address, in addresses of the image (SVMA).
    pub(super) fn address(&self) -> Option<u64> {
        let address = self.stop.frames.get(self.index)?.pc.wrapping_sub(self.bias);
        let (start, end) = self.image.range;
        (start..end).contains(&address).then_some(address)
    }
}

impl Frame for Recorded<'_> {
    fn register(&self, number: u16) -> Option<u64> {
        self.stop.frames.get(self.index)?.registers.get(&number)?.parse().ok()
    }

    fn cfa(&self) -> Option<u64> {
        let text = self.stop.frames.get(self.index)?.cfa.as_deref()?;
        u64::from_str_radix(text.trim_start_matches("0x"), 16).ok()
    }

    fn read(&self, address: u64, bytes: &mut [u8]) -> usize {
        let stack = (self.stop.start, self.stack);
        let constants = self.image.constants.iter();
        let constants = constants.map(|&(start, data)| (start.wrapping_add(self.bias), data));
        for (start, data) in std::iter::once(stack).chain(constants) {
            let offset = usize::try_from(address.wrapping_sub(start)).unwrap_or(usize::MAX);
            if let Some(known) = data.get(offset..).filter(|known| !known.is_empty()) {
                let count = known.len().min(bytes.len());
                bytes[..count].copy_from_slice(&known[..count]);
                return count;
            }
        }
        0
    }

    fn bias(&self) -> u64 {
        self.bias
    }

    fn caller(&self) -> Option<Caller<'_>> {
        let frame = self.caller?;
        let return_address = frame.address()?;
        Some(Caller { frame, return_address, sites: self.sites, same_image: true })
    }
}
