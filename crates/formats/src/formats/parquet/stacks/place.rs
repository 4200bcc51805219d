//! Locations of columns in a file, also of one that another program wrote.

use parquet::basic::{Repetition, Type as PhysicalType};
use parquet::file::reader::RowGroupReader;

/// Location of a column and the levels of its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LeafPlace {
    /// Index of the column.
    pub(super) index: usize,
    /// Definition level of a value that is present.
    pub(super) value: u32,
    /// Minimum definition level of an element of the list.
    pub(super) element: u32,
    /// Maximum repetition level.
    pub(super) repeated: u32,
}

/// Returns the location of a column; `None` if there is none. With `is_list`, it is a column of `frames`. The names of
/// the groups in between differ between programs.
pub(super) fn place_of(
    group: &dyn RowGroupReader,
    name: &str,
    is_list: bool,
    physical: PhysicalType,
) -> Option<LeafPlace> {
    let schema = group.metadata().schema_descr();
    let index = schema.columns().iter().position(|column| {
        let path = column.path().parts();
        match path {
            [own] => !is_list && own == name,
            [first, .., last] => is_list && first == "frames" && last == name,
            [] => false,
        }
    })?;
    let column = schema.columns().get(index)?;
    let depth = i16::from(is_list);
    if column.max_rep_level() != depth || column.physical_type() != physical {
        return None;
    }
    // Optional groups outside of the list add levels to those of the list itself.
    let mut element = 0;
    let mut node = schema.root_schema();
    for part in column.path().parts() {
        node = node.get_fields().iter().find(|field| field.name() == part)?;
        let info = node.get_basic_info();
        match info.has_repetition().then(|| info.repetition())? {
            Repetition::REQUIRED => {}
            Repetition::OPTIONAL => element += 1,
            Repetition::REPEATED => {
                element += 1;
                break;
            }
        }
    }
    let value = u32::try_from(column.max_def_level()).ok()?;
    Some(LeafPlace { index, value, element, repeated: u32::from(is_list) })
}
