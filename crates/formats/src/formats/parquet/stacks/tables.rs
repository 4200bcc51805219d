//! Tables of stored stacks with the indexes of their rows.

use address::{BuildId, ModuleId};
use bytes::Bytes;
use hashbrown::HashMap;

use super::error::StacksError;
use profile::{
    EventRow, FoundBy, FrameId, FrameRow, InlineRow, LocationId, LocationRow, ModuleKind,
    ModuleRow, Profile, StackId, StackRow, StringId,
};

/// A frame as a file states it.
#[derive(Debug, Clone)]
pub(super) struct StoredFrame {
    pub(super) module: Option<Bytes>,
    pub(super) build_id: Option<Bytes>,
    pub(super) offset: Option<u64>,
    pub(super) function: Option<Bytes>,
    pub(super) found_by: FoundBy,
    pub(super) kernel: bool,
    pub(super) whole: bool,
}

impl StoredFrame {
    /// Returns a frame with only its evidence known.
    pub(super) const fn of(found_by: FoundBy) -> Self {
        Self {
            module: None,
            build_id: None,
            offset: None,
            function: None,
            found_by,
            kernel: false,
            whole: false,
        }
    }
}

/// The properties of a location that distinguish it.
type LocationKey = (Option<ModuleId>, Option<u64>, Option<StringId>, bool);

/// The tables of a profile that stacks refer to.
#[derive(Debug, Default)]
pub(super) struct StackTables {
    pub(super) profile: Profile,
    events: HashMap<StringId, ()>,
    modules: HashMap<(StringId, Option<BuildId>, bool), ModuleId>,
    locations: HashMap<LocationKey, LocationId>,
    frames: HashMap<(LocationId, FoundBy, bool), FrameId>,
    stacks: HashMap<(Option<StackId>, FrameId), StackId>,
}

impl StackTables {
    /// Returns the id of a text.
    pub(super) fn text(&mut self, text: &[u8]) -> StringId {
        self.profile.strings.intern(text)
    }

    /// Returns the name of an event, which gets a row.
    pub(super) fn event(&mut self, name: &[u8]) -> StringId {
        let name = self.text(name);
        if self.events.insert(name, ()).is_none() {
            let row = EventRow { name, kind: 0, config: 0, frequency: false, rate: 0 };
            self.profile.events.push(row);
        }
        name
    }

    /// Returns the node of a stack, whose frames are in order from the innermost; `None` for an empty stack.
    ///
    /// # Errors
    /// If a build-id has no meaning.
    pub(super) fn stack(&mut self, frames: &[StoredFrame]) -> Result<Option<StackId>, StacksError> {
        let mut node = None;
        for stored in frames.iter().rev() {
            let frame = self.frame(stored)?;
            let Self { profile, stacks, .. } = self;
            let parent = node;
            let id = stacks
                .entry((parent, frame))
                .or_insert_with(|| profile.stacks.push(StackRow { parent, frame }));
            node = Some(*id);
        }
        Ok(node)
    }

    fn frame(&mut self, stored: &StoredFrame) -> Result<FrameId, StacksError> {
        let StoredFrame { found_by, kernel, .. } = *stored;
        let location = self.location(stored)?;
        let Self { profile, frames, .. } = self;
        let row = FrameRow { location, found_by, kernel, instance: 0 };
        let id = frames.entry((location, found_by, kernel));
        Ok(*id.or_insert_with(|| profile.frames.push(row)))
    }

    fn location(&mut self, stored: &StoredFrame) -> Result<LocationId, StacksError> {
        let StoredFrame { offset, whole, .. } = *stored;
        let module = self.module(stored)?;
        let function = stored.function.as_ref().map(|name| self.text(name));
        let Self { profile, locations, .. } = self;
        let id = locations.entry((module, offset, function, whole)).or_insert_with(|| {
            let mut row = LocationRow::unnamed(module, offset.unwrap_or(0));
            (row.offset, row.is_whole) = (offset, whole);
            if let Some(name) = function {
                row.first_inline = profile.inlines.push(InlineRow::with_name(name));
                row.n_inlines = 1;
            }
            profile.locations.push(row)
        });
        Ok(*id)
    }

    fn module(&mut self, stored: &StoredFrame) -> Result<Option<ModuleId>, StacksError> {
        let Some(path) = &stored.module else { return Ok(None) };
        let build_id = match &stored.build_id {
            None => None,
            Some(text) => {
                let id = std::str::from_utf8(text).ok().and_then(BuildId::from_hex);
                Some(id.ok_or_else(|| StacksError::value("build_id", text))?)
            }
        };
        let path = self.text(path);
        let Self { profile, modules, .. } = self;
        let kind = if stored.kernel { ModuleKind::Kernel } else { ModuleKind::File };
        let id = modules.entry((path, build_id, stored.kernel)).or_insert_with(|| {
            profile.modules.push(ModuleRow { path, opened: None, build_id, kind })
        });
        Ok(Some(*id))
    }
}
