//! The sections of call frame information of one file, and the description that covers an address.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use address::Svma;
use gimli::{BaseAddresses, DebugFrame, EhFrame, EndianSlice};
use image_store::{Image, ImageStore, LoadedImage};

use crate::arch::{Arch, Processor, processor};
use crate::cfi::compile::RowSource;
use crate::cfi::entries::entries;
use crate::cfi::fast::{FastCfi, FastRule, LastCie};
use crate::cfi::fde::{CfiBytes, Fde, endian_of, fde_at};
use crate::cfi::fde_index::{FdeIndex, HeaderTable};
use crate::cfi::signed::translated;
use crate::rule::SectionBytes;

/// `.eh_frame` with its header, and `.debug_frame` of the file and of its debug files.
#[derive(Debug)]
pub(crate) struct CfiSections {
    pub(super) file: Arc<LoadedImage>,
    pub(super) arch: Option<Processor>,
    eh_frame: Option<Range<usize>>,
    eh_frame_svma: u64,
    /// `.eh_frame` with unsupported instructions replaced for gimli; `None` if it has none.
    translated: OnceLock<Option<Vec<u8>>>,
    bases: BaseAddresses,
    header: Option<HeaderTable>,
    eh_index: OnceLock<FdeIndex>,
    debug_frames: OnceLock<Vec<OwnedDebugFrame>>,
    /// The one in `.gnu_debugdata`, which is unpacked for addresses that nothing else describes.
    mini_frame: OnceLock<Option<OwnedDebugFrame>>,
    /// Unknown instructions of the descriptions that were read.
    unknown: Mutex<BTreeSet<u8>>,
}

#[derive(Debug)]
struct OwnedDebugFrame {
    data: Arc<Vec<u8>>,
    index: FdeIndex,
}

/// A description and its section.
pub(crate) enum FoundFde<'a> {
    Eh(Fde<'a>, EhFrame<CfiBytes<'a>>),
    Debug(Fde<'a>, DebugFrame<CfiBytes<'a>>, &'a Arc<Vec<u8>>),
}

/// Maximum size in bytes of an `.eh_frame` that is indexed in full if its header does not cover an address.
const SMALL: usize = 1 << 20;

impl CfiSections {
    pub(crate) fn new(file: Arc<LoadedImage>) -> Self {
        let image = file.image();
        let range_of = |name| {
            let section = image.section(name).filter(|section| !section.is_compressed())?;
            let start = usize::try_from(section.offset().0).ok()?;
            let end = start.checked_add(usize::try_from(section.size).ok()?)?;
            (end <= image.bytes().len()).then_some((start..end, section.svma))
        };
        let eh_frame = range_of(".eh_frame");
        let mut bases = BaseAddresses::default();
        for (name, set) in [
            (".eh_frame", BaseAddresses::set_eh_frame as fn(BaseAddresses, u64) -> BaseAddresses),
            (".eh_frame_hdr", BaseAddresses::set_eh_frame_hdr),
            (".text", BaseAddresses::set_text),
            (".got", BaseAddresses::set_got),
        ] {
            if let Some(section) =
                image.sections().iter().find(|section| &*section.name == name.as_bytes())
            {
                bases = set(bases, section.svma.0);
            }
        }
        let header = range_of(".eh_frame_hdr").zip(eh_frame.as_ref()).and_then(
            |((range, svma), (_, frame_svma))| {
                HeaderTable::new(
                    image.bytes().get(range.clone())?,
                    range,
                    svma,
                    *frame_svma,
                    image.is_little_endian(),
                )
            },
        );
        let arch = image.arch().and_then(processor);
        Self {
            arch,
            eh_frame_svma: eh_frame.as_ref().map_or(0, |(_, svma)| svma.0),
            eh_frame: eh_frame.map(|(range, _)| range),
            translated: OnceLock::new(),
            bases,
            header,
            eh_index: OnceLock::new(),
            debug_frames: OnceLock::new(),
            mini_frame: OnceLock::new(),
            unknown: Mutex::default(),
            file,
        }
    }

    /// Returns `.eh_frame`, with the file's address size and vendor.
    pub(super) fn eh_section(&self) -> Option<EhFrame<CfiBytes<'_>>> {
        let mut section = EhFrame::new(self.eh_bytes()?, endian_of(self.file.image()));
        section.set_address_size(self.address_size());
        section.set_vendor(self.vendor());
        Some(section)
    }

    /// Returns the offsets of the entries of that section.
    pub(super) fn eh_entries(&self) -> impl Iterator<Item = usize> {
        let image = self.file.image();
        let bytes = self.eh_frame.clone().and_then(|range| image.bytes().get(range));
        entries(bytes.unwrap_or_default(), image.is_little_endian()).map(|(offset, _)| offset)
    }

    /// The table of that section's header.
    pub(super) const fn header(&self) -> Option<&HeaderTable> {
        self.header.as_ref()
    }

    pub(crate) const fn bases(&self) -> &BaseAddresses {
        &self.bases
    }

    /// Returns the origin of the rows of `.eh_frame`.
    pub(crate) fn eh_source(&self) -> RowSource {
        let start = self.eh_frame.as_ref().map_or(0, |range| range.start);
        let bytes = SectionBytes::Image(self.file.clone(), start);
        RowSource { file: self.file.serial, bytes }
    }

    /// Returns the origin of the rows of a `.debug_frame`.
    pub(crate) fn debug_source(&self, data: &Arc<Vec<u8>>) -> RowSource {
        RowSource { file: self.file.serial, bytes: SectionBytes::Section(data.clone()) }
    }

    /// Returns the rule of an address by the fast path, if that supports it.
    pub(crate) fn fast_rule(
        &self,
        svma: Svma,
        arch: Processor,
        last: &mut LastCie,
    ) -> Option<FastRule> {
        let (cfi, offset) = self.fast_cfi(svma, arch)?;
        cfi.rule(offset, svma, last)
    }

    /// Returns the code range of the description that covers an address, as the file states both.
    pub(crate) fn described(
        &self,
        svma: Svma,
        images: &ImageStore,
        last: &mut LastCie,
    ) -> Option<Range<Svma>> {
        let fast = self.arch.and_then(|arch| self.fast_cfi(svma, arch));
        let fast = fast.and_then(|(cfi, offset)| cfi.range(offset, svma, last));
        let (start, len) = match fast {
            Some(range) => range,
            None => match self.find(svma, images)?.ok()? {
                FoundFde::Eh(fde, _) | FoundFde::Debug(fde, ..) => {
                    (fde.initial_address(), fde.len())
                }
            },
        };
        Some(Svma(start)..Svma(start).add(len))
    }

    /// Returns the section of the fast path, and the offset of the last description that begins at or before an
    /// address.
    fn fast_cfi(&self, svma: Svma, arch: Processor) -> Option<(FastCfi<'_>, usize)> {
        let image = self.file.image();
        if !image.is_little_endian() {
            return None;
        }
        let offset = self.header.as_ref()?.lookup(image.bytes(), svma)?;
        let cfi = FastCfi {
            section: image.bytes().get(self.eh_frame.clone()?)?,
            section_svma: self.eh_frame_svma,
            arch,
            file: self.file.serial,
        };
        Some((cfi, offset))
    }

    /// Returns the offset of the last description that begins at or before an address, if the file has a table of them.
    pub(crate) fn listed(&self, svma: Svma) -> Option<usize> {
        self.header.as_ref()?.lookup(self.file.image().bytes(), svma)
    }

    /// Returns the description that covers an address. It is searched in `.eh_frame` by its header's table, or by an
    /// index of the section if the header is missing or unusable. Then it is searched in `.debug_frame` of the file, of
    /// its debug file, or of the file that is compressed in `.gnu_debugdata`.
    pub(crate) fn find(
        &self,
        svma: Svma,
        images: &ImageStore,
    ) -> Option<Result<FoundFde<'_>, gimli::Error>> {
        self.find_eh(svma).or_else(|| self.find_debug(svma, images))
    }

    /// Records an unknown instruction, if an error reports one.
    pub(super) fn note_unknown(&self, error: &gimli::Error) {
        if let gimli::Error::UnknownCallFrameInstruction(instruction) = error {
            self.unknown.lock().unwrap_or_else(PoisonError::into_inner).insert(instruction.0);
        }
    }

    /// Returns the unknown instructions of the queried descriptions.
    pub(crate) fn unknown_instructions(&self) -> Vec<u8> {
        self.unknown.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect()
    }

    /// Returns the bytes of `.eh_frame`, with unsupported instructions replaced for gimli.
    fn eh_bytes(&self) -> Option<&[u8]> {
        let bytes = self.file.image().bytes().get(self.eh_frame.clone()?)?;
        let translate = || self.translated(bytes, true);
        Some(self.translated.get_or_init(translate).as_deref().unwrap_or(bytes))
    }

    /// Returns a section with unsupported instructions replaced for gimli, if it has any.
    fn translated(&self, section: &[u8], is_eh: bool) -> Option<Vec<u8>> {
        let is_it = self.arch.is_some_and(|arch| arch.is(Arch::Aarch64))
            && self.file.image().is_little_endian();
        if is_it { translated(section, is_eh) } else { None }
    }

    fn find_eh(&self, svma: Svma) -> Option<Result<FoundFde<'_>, gimli::Error>> {
        let section = self.eh_section()?;
        let size = self.eh_frame.as_ref().map_or(0, ExactSizeIterator::len);
        if let Some(header) = &self.header {
            let offset = header.lookup(self.file.image().bytes(), svma);
            match offset.map(|offset| fde_at(&section, &self.bases, offset)) {
                Some(Ok(fde)) if fde.contains(svma.0) => {
                    return Some(Ok(FoundFde::Eh(fde, section)));
                }
                Some(Err(error)) => return Some(Err(error)),
                // Tables of merged objects can miss descriptions; searching all of them is cheap if they are few.
                _ if size > SMALL => return None,
                _ => {}
            }
        }
        let index = self.eh_index.get_or_init(|| FdeIndex::new(&section, &self.bases));
        let offset = index.lookup(svma)?;
        Some(fde_at(&section, &self.bases, offset).map(|fde| FoundFde::Eh(fde, section)))
    }

    fn find_debug(
        &self,
        svma: Svma,
        images: &ImageStore,
    ) -> Option<Result<FoundFde<'_>, gimli::Error>> {
        let frames = self.debug_frames.get_or_init(|| {
            let image = self.file.image();
            let debug = self.file.debug(images).map(|debug| &**debug);
            [Some(image), debug]
                .into_iter()
                .flatten()
                .filter_map(|file| self.debug_frame(file))
                .collect()
        });
        let found = frames.iter().find_map(|frame| self.find_in(frame, svma));
        found.or_else(|| self.find_in(self.mini_frame(images)?, svma))
    }

    fn mini_frame(&self, images: &ImageStore) -> Option<&OwnedDebugFrame> {
        let find = || self.debug_frame(self.file.mini(images)?);
        self.mini_frame.get_or_init(find).as_ref()
    }

    fn find_in<'f>(
        &'f self,
        frame: &'f OwnedDebugFrame,
        svma: Svma,
    ) -> Option<Result<FoundFde<'f>, gimli::Error>> {
        let offset = frame.index.lookup(svma)?;
        let section = self.debug_section(&frame.data);
        let found = fde_at(&section, &self.bases, offset);
        Some(found.map(|fde| FoundFde::Debug(fde, section, &frame.data)))
    }

    fn debug_frame(&self, image: &Image) -> Option<OwnedDebugFrame> {
        let section = image.section(".debug_frame")?;
        let data = image.section_data(section).map(Cow::into_owned).ok()?;
        let data = Arc::new(self.translated(&data, false).unwrap_or(data));
        let index = FdeIndex::new(&self.debug_section(&data), &self.bases);
        Some(OwnedDebugFrame { data, index })
    }

    fn debug_section<'a>(&self, data: &'a [u8]) -> DebugFrame<CfiBytes<'a>> {
        let mut section = DebugFrame::from(EndianSlice::new(data, endian_of(self.file.image())));
        section.set_address_size(self.address_size());
        section.set_vendor(self.vendor());
        section
    }

    /// Size of an address, in bytes.
    fn address_size(&self) -> u8 {
        self.arch.map_or(8, |arch| arch.word as u8)
    }

    fn vendor(&self) -> gimli::Vendor {
        match self.arch {
            Some(arch) if arch.is(Arch::Aarch64) => gimli::Vendor::AArch64,
            _ => gimli::Vendor::Default,
        }
    }
}
