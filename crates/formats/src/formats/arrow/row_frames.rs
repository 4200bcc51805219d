//! The frames of samples as one column, with a list of structs per sample.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::{BooleanArray, ListArray, StructArray, UInt32Array, UInt64Array};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{ArrowError, DataType, Field, Fields};
use profile::{FoundBy, ModuleKind, Profile};

use super::dictionary::{Dictionary, KeywordDictionary};
use super::rows::build_ids;
use super::stream::Column;
use crate::render::row_group::{FrameCell, RowGroup};

/// Dictionaries for the names in frames.
pub(super) struct FrameNames<'a> {
    profile: &'a Profile,
    functions: Dictionary,
    files: Dictionary,
    /// By module.
    paths: Dictionary,
    /// By module.
    build_ids: Dictionary,
    found_by: KeywordDictionary,
}

impl<'a> FrameNames<'a> {
    pub(super) fn new(profile: &'a Profile) -> Self {
        let path = |id| Some(Cow::Borrowed(profile.strings.get(id)));
        let inlines = || profile.inlines.iter();
        Self {
            profile,
            functions: Dictionary::of_strings(profile, inlines().filter_map(|row| row.function)),
            files: Dictionary::of_strings(profile, inlines().filter_map(|row| row.file)),
            paths: Dictionary::new(profile.modules.iter().map(|module| path(module.path))),
            build_ids: build_ids(profile),
            found_by: KeywordDictionary::new(FoundBy::ALL.iter().map(|keyword| keyword.as_str())),
        }
    }

    /// Returns the column for a group of samples.
    pub(super) fn column(&self, group: &RowGroup<'_>) -> Result<Column, ArrowError> {
        let mut cells = Vec::new();
        let lengths = group.stacks().map(|stack| {
            let start = cells.len();
            cells.extend(
                stack.iter().filter_map(|&(cell, addr)| group.cell(self.profile, cell, addr)),
            );
            cells.len() - start
        });
        let offsets = OffsetBuffer::from_lengths(lengths.collect::<Vec<_>>());
        let (fields, values): (Vec<_>, Vec<_>) =
            self.fields(&cells)?.into_iter().map(Column::into_field).unzip();
        let fields = Fields::from(fields);
        let frames = StructArray::try_new(fields.clone(), values, None)?;
        let item = Arc::new(Field::new("item", DataType::Struct(fields), false));
        let frames = ListArray::try_new(item, offsets, Arc::new(frames), None)?;
        Ok(Column::new("frames", frames))
    }

    fn fields(&self, cells: &[FrameCell<'_>]) -> Result<Vec<Column>, ArrowError> {
        let each = || cells.iter();
        let modules = || each().map(|cell| cell.location.module);
        let is_elf = |cell: &FrameCell<'_>| {
            let module = cell.location.module.and_then(|id| self.profile.modules.get(id));
            module.is_some_and(|module| module.kind == ModuleKind::Elf)
        };
        let svmas = each().map(|cell| is_elf(cell).then_some(cell.location.relative));
        let function_offsets = each().map(|cell| {
            cell.function.filter(|function| !function.inlined)?;
            cell.location.function_offset
        });
        let lines = each().map(|cell| Some(cell.function?.line).filter(|&line| line != 0));
        let inlined = each().map(|cell| Some(cell.function.is_some_and(|it| it.inlined)));
        let files = each().map(|cell| cell.function?.file);
        let found_by = each().map(|cell| cell.frame.found_by as u8);
        Ok(vec![
            Column::new("addr", UInt64Array::from_iter_values(each().map(|cell| cell.addr.0))),
            Column::optional("module", self.paths.column(modules())?),
            Column::optional("build_id", self.build_ids.column(modules())?),
            Column::optional("svma", svmas.collect::<UInt64Array>()),
            Column::optional(
                "offset",
                each().map(|cell| cell.location.offset).collect::<UInt64Array>(),
            ),
            Column::optional(
                "function",
                self.functions.column(each().map(|cell| cell.function?.function))?,
            ),
            Column::optional("function_offset", function_offsets.collect::<UInt64Array>()),
            Column::optional("file", self.files.column(files)?),
            Column::optional("line", lines.collect::<UInt32Array>()),
            Column::new("inlined", inlined.collect::<BooleanArray>()),
            Column::new("found_by", self.found_by.column(found_by)?),
            Column::new(
                "kernel",
                each().map(|cell| Some(cell.frame.kernel)).collect::<BooleanArray>(),
            ),
        ])
    }
}
