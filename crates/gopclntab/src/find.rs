//! Where the table is in a file, and what it does not say itself: where the code begins, and where the trees of inlined
//! calls are. The description of the module says that, which the runtime reads and which stands among the data.
//!
//! Source: `moduledata` in src/runtime/symtab.go of Go.

use std::ops::Range;

use address::Svma;
use budget::{Exhausted, Meter};
use image_store::{Image, Section};

use crate::bytes::u64_at;
use crate::functions::GoFunctions;
use crate::layout::{Layout, Version};
use crate::parts::Parts;

/// Where the table of a file is, and what it was linked for. It is of the file that it was found in; in any other it is
/// empty or wrong, but nothing worse.
#[derive(Clone, Debug)]
pub struct GoTable {
    bytes: Range<usize>,
    layout: Layout,
    text: u64,
    inlined_calls: Range<usize>,
}

/// A file has such a table, which cannot be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BadGoTable {
    /// Where it begins in the file.
    pub offset: u64,
    /// The resource that ran out before its code was found, if one did.
    pub exhausted: Option<Exhausted>,
}

/// The words of a file as they are once it is loaded at the addresses that it states.
struct Words<'i> {
    image: &'i Image,
    meter: &'i Meter,
    relative: Vec<(Svma, Svma)>,
}

/// Where words of the description of a module are, in words from its first, which is the address of the table.
const NAMES: u64 = 1;
const RECORDS: u64 = 13;
const TEXT: u64 = 22;

impl GoTable {
    /// The table of a file; `None` if it has none of a known version. The meter is that of the file.
    ///
    /// # Errors
    /// Where there is one that cannot be read.
    pub fn find(image: &Image, meter: &Meter) -> Option<Result<Self, BadGoTable>> {
        let is_wide = image.bytes().get(4) == Some(&2);
        if !is_wide || !image.is_little_endian() {
            return None;
        }
        let named = [".gopclntab", ".data.rel.ro.gopclntab"];
        let found = match named.into_iter().find_map(|name| image.section(name)) {
            Some(section) => (place_of(section, image)?, section.svma.0),
            None => hidden(image, meter)?,
        };
        let (bytes, svma) = found;
        let offset = bytes.start as u64;
        let all = image.bytes().get(bytes.clone())?;
        // What came before 1.16 is not read.
        let is_old = all.starts_with(&[0xfb, 0xff, 0xff, 0xff]);
        let layout = Layout::read(all);
        if is_old || layout.is_none_or(|layout| layout.functions == 0) {
            return (!is_old).then_some(Err(BadGoTable { offset, exhausted: None }));
        }
        let table = Self::with(image, (bytes, svma), layout?, meter);
        Some(table.ok_or_else(|| BadGoTable { offset, exhausted: meter.exhausted() }))
    }

    fn with(
        image: &Image,
        (bytes, svma): (Range<usize>, u64),
        layout: Layout,
        meter: &Meter,
    ) -> Option<Self> {
        let mut table = Self { bytes, layout, text: layout.text, inlined_calls: 0..0 };
        if layout.version != Version::Go116 {
            let words = Words { image, meter, relative: image.relative_words() };
            let module = words.module(svma, &layout);
            if let Some((module, text)) = module.zip(module.and_then(|it| words.get(it, TEXT))) {
                table.text = text;
                let end = svma.wrapping_add(table.bytes.len() as u64);
                let found = inlined_calls(image, &words, (module, end), layout.version);
                table.inlined_calls = found.unwrap_or(0..0);
            }
        }
        let (start, end) = table.functions(image).extent()?;
        let mut segments = image.segments().iter().filter(|segment| segment.executable);
        let is_code = segments.any(|segment| {
            let within = Svma(start).since(segment.svma);
            within < segment.file_size && end.wrapping_sub(start) <= segment.file_size - within
        });
        (is_code && start < end).then_some(table)
    }

    /// Its functions.
    #[must_use]
    pub fn functions<'i>(&self, image: &'i Image) -> GoFunctions<'i> {
        let part = |range: &Range<usize>| image.bytes().get(range.clone()).unwrap_or_default();
        GoFunctions(Parts {
            image,
            bytes: part(&self.bytes),
            layout: self.layout,
            text: self.text,
            inlined_calls: part(&self.inlined_calls),
        })
    }
}

/// Where the bytes of a section are.
fn place_of(section: &Section, image: &Image) -> Option<Range<usize>> {
    let start = usize::try_from(section.offset().0).ok()?;
    let end = usize::try_from(section.end()?).ok()?;
    (!section.is_compressed() && end <= image.bytes().len()).then_some(start..end)
}

/// The table of a file that an external linker linked: it is among the data that is read-only once it is relocated.
fn hidden(image: &Image, meter: &Meter) -> Option<(Range<usize>, u64)> {
    const ALIGNMENT: usize = 8;
    [".go.buildinfo", ".note.go.buildid"].iter().find_map(|name| image.section(name))?;
    let section = image.section(".data.rel.ro")?;
    let place = place_of(section, image)?;
    let bytes = image.bytes().get(place.clone())?;
    let is_table = |at: &usize| bytes.get(*at..).is_some_and(|rest| Layout::read(rest).is_some());
    let at = meter.each((0..bytes.len()).step_by(ALIGNMENT)).find(is_table)?;
    Some((place.start + at..place.end, section.svma.0.checked_add(at as u64)?))
}

/// The trees of inlined calls: up to the end of what they are in. Since 1.26 they are in the table, and the next word of
/// the description says where that ends.
fn inlined_calls(
    image: &Image,
    words: &Words<'_>,
    (module, table_end): (u64, u64),
    version: Version,
) -> Option<Range<usize>> {
    const LATER: std::ops::RangeInclusive<u64> = 41..=48;
    let ends_table = |&word: &u64| words.get(module, word) == Some(table_end);
    let word = match version {
        Version::Go116 => return None,
        Version::Go118 => 38,
        Version::Go120 => LATER.into_iter().find(ends_table).map_or(40, |word| word - 1),
    };
    let svma = Svma(words.get(module, word)?);
    let segment = image.segments().iter().find(|it| svma.since(it.svma) < it.file_size)?;
    let within = svma.since(segment.svma);
    let start = usize::try_from(segment.offset.0.checked_add(within)?).ok()?;
    let end = start.checked_add(usize::try_from(segment.file_size - within).ok()?)?;
    (end <= image.bytes().len()).then_some(start..end)
}

impl Words<'_> {
    /// The word so many words from an address.
    fn get(&self, from: u64, index: u64) -> Option<u64> {
        let svma = Svma(from.checked_add(8 * index)?);
        if let Ok(known) = self.relative.binary_search_by_key(&svma, |&(word, _)| word) {
            return Some(self.relative.get(known)?.1.0);
        }
        let mut segments = self.meter.each(self.image.segments());
        let segment = segments.find(|segment| svma.since(segment.svma) < segment.file_size)?;
        let at = segment.offset.0.checked_add(svma.since(segment.svma))?;
        u64_at(self.image.bytes(), usize::try_from(at).ok()?)
    }

    /// Where the description of the module is whose table is at that address: three of its words are addresses in the
    /// table, where its head says that they are.
    fn module(&self, table: u64, layout: &Layout) -> Option<u64> {
        let is_module = |&at: &u64| {
            let part = |offset: usize| table.checked_add(offset as u64);
            self.get(at, 0) == Some(table)
                && self.get(at, NAMES) == part(layout.names)
                && self.get(at, RECORDS) == part(layout.records)
        };
        let relative = self.meter.each(&self.relative).filter(|(_, address)| address.0 == table);
        relative.map(|(word, _)| word.0).find(is_module).or_else(|| {
            let segments = self.image.segments().iter().filter(|segment| segment.writable);
            let words = segments.flat_map(|segment| {
                let start = usize::try_from(segment.offset.0).unwrap_or(usize::MAX);
                let size = usize::try_from(segment.file_size).unwrap_or(usize::MAX);
                let bytes = self.image.bytes().get(start..start.saturating_add(size));
                let words = self.meter.each(bytes.unwrap_or_default().chunks_exact(8)).enumerate();
                let wanted = table.to_le_bytes();
                let found = words.filter(move |(_, word)| *word == wanted);
                found.map(|(index, _)| segment.svma.0.wrapping_add(8 * index as u64))
            });
            words.into_iter().find(is_module)
        })
    }
}
