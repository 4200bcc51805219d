//! What a walker has met of an address space: spans of addresses with all that a frame in them needs, so that the
//! next frame there costs a comparison instead of two searches and a look at the file's headers.

use address::{Avma, ModuleId};
use module_map::{Library, Module, ModuleKind, Piece, Space};
use profile::FoundBy;

use crate::frame::Frame;

/// A span of addresses in one piece that lie equally far from the addresses that the file states.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) start: u64,
    /// Addresses in the span, at least one.
    pub(crate) len: u64,
    /// The module.
    pub(crate) module: ModuleId,
    /// What the module is.
    pub(crate) kind: ModuleKind,
    /// Address minus this is the address in the module, as [`crate::Frame::relative`] states it.
    pub(crate) bias: u64,
    /// The file that was opened, by its serial.
    pub(crate) file: Option<u32>,
    pub(crate) executable: bool,
}

impl Span {
    #[inline]
    pub(crate) const fn contains(&self, address: Avma) -> bool {
        address.0.wrapping_sub(self.start) < self.len
    }

    /// The frame of an address in the span.
    #[inline]
    pub(crate) const fn frame(&self, lookup: Avma, found_by: FoundBy) -> Frame {
        let relative = lookup.0.wrapping_sub(self.bias);
        Frame { module: Some(self.module), relative, bias: self.bias, found_by, kernel: false }
    }
}

/// How many spaces are remembered: samples of processes that run at the same time take turns.
const VIEWS: usize = 16;

/// The spaces that were met last, by their versions, as far as they do not collide.
#[derive(Debug, Default)]
pub(crate) struct Views {
    views: [View; VIEWS],
}

impl Views {
    /// The span at an address of `space`.
    #[inline]
    pub(crate) fn span(&mut self, address: Avma, space: &Space, library: &Library) -> Option<Span> {
        self.views[space.version() as usize % VIEWS].span(address, space, library)
    }
}

/// The spans of one space.
#[derive(Debug, Default)]
struct View {
    version: u64,
    spans: Vec<Span>,
}

/// More spans than stacks usually touch; beyond, the oldest are forgotten.
const MOST: usize = 48;

impl View {
    /// The span at an address of `space`.
    #[inline]
    fn span(&mut self, address: Avma, space: &Space, library: &Library) -> Option<Span> {
        if self.version == space.version() {
            if let Some(at) = self.spans.iter().position(|span| span.contains(address)) {
                let found = self.spans.get(at).copied();
                // What was met last is met next.
                if at >= 4 {
                    self.spans.swap(at, at / 2);
                }
                return found;
            }
        } else {
            self.spans.clear();
            self.version = space.version();
        }
        let piece = space.lookup(address)?;
        let span = resolve(piece, space.module(piece)?, address, library);
        if self.spans.len() == MOST {
            self.spans.truncate(MOST / 2);
        }
        self.spans.push(span);
        Some(span)
    }
}

/// The span of `piece` around an address. Opens the module's file where nobody has yet.
#[cold]
fn resolve(piece: &Piece, module: &Module, address: Avma, library: &Library) -> Span {
    let whole = Span {
        start: piece.start.0,
        len: piece.end.since(piece.start),
        module: piece.module,
        kind: module.kind,
        bias: 0,
        file: None,
        executable: piece.executable,
    };
    let Ok(file) = module.file(library) else {
        return match module.kind {
            ModuleKind::File | ModuleKind::Unopened | ModuleKind::Vdso => {
                Span { bias: piece.start.0.wrapping_sub(piece.offset.0), ..whole }
            }
            ModuleKind::Anonymous | ModuleKind::Kernel => whole,
        };
    };
    let image = file.image();
    if let Some(svma) = image.svma_of_range(piece.offset, whole.len, piece.executable) {
        return Span { bias: piece.start.0.wrapping_sub(svma.0), file: Some(file.serial), ..whole };
    }
    // Several segments in one piece, or none: this one address.
    let offset = piece.offset_of(address);
    let one = Span { start: address.0, len: 1, ..whole };
    match image.svma_of_offset(offset, piece.executable) {
        Some(svma) => Span { bias: address.0.wrapping_sub(svma.0), file: Some(file.serial), ..one },
        None => Span { bias: address.0.wrapping_sub(offset.0), ..one },
    }
}
