//! Names of types as text.

use gimli::{Reader, constants as c};

use crate::dwarf::{self, DieKey, Sources};
use crate::error::Error;

/// Maximum nesting of a name.
const MAX_DEPTH: u32 = 12;

/// Returns the name of a type: `const char *`, `Option<u32>`, `void`.
///
/// # Errors
/// Damaged entries and spent budgets.
pub(crate) fn type_name<'a, R: Reader<Offset = usize>>(
    sources: &Sources<'a, R>,
    key: Option<DieKey>,
) -> Result<String, Error> {
    named(sources, key, 0)
}

fn named<'a, R: Reader<Offset = usize>>(
    sources: &Sources<'a, R>,
    key: Option<DieKey>,
    depth: u32,
) -> Result<String, Error> {
    let Some(key) = key else { return Ok("void".to_owned()) };
    if depth > MAX_DEPTH {
        return Ok("…".to_owned());
    }
    let entry = sources.entry(key)?;
    if let Some(name) = dwarf::name(&entry.unit, &entry.die, c::DW_AT_name) {
        sources.meter().hold(name.len())?;
        return Ok(name);
    }
    let inner = || named(sources, entry.reference(sources, c::DW_AT_type), depth + 1);
    Ok(match entry.tag() {
        c::DW_TAG_pointer_type => after(inner()?, "*"),
        c::DW_TAG_reference_type => after(inner()?, "&"),
        c::DW_TAG_rvalue_reference_type => after(inner()?, "&&"),
        c::DW_TAG_const_type => qualified(inner()?, "const"),
        c::DW_TAG_volatile_type => qualified(inner()?, "volatile"),
        c::DW_TAG_restrict_type => after(inner()?, "restrict"),
        c::DW_TAG_atomic_type => qualified(inner()?, "_Atomic"),
        c::DW_TAG_array_type => format!("{}[]", inner()?),
        c::DW_TAG_subroutine_type => format!("{} ()", inner()?),
        c::DW_TAG_ptr_to_member_type => after(inner()?, "::*"),
        c::DW_TAG_structure_type => "(anonymous struct)".to_owned(),
        c::DW_TAG_class_type => "(anonymous class)".to_owned(),
        c::DW_TAG_union_type => "(anonymous union)".to_owned(),
        c::DW_TAG_enumeration_type => "(anonymous enum)".to_owned(),
        tag => tag.static_string().unwrap_or("unknown type").to_owned(),
    })
}

/// Appends a mark of pointers: `char *`, `char **`.
fn after(inner: String, mark: &str) -> String {
    if let Some(result) = inner.strip_suffix(" ()") {
        return format!("{result} ({mark})()");
    }
    let space = if inner.ends_with(['*', '&']) { "" } else { " " };
    format!("{inner}{space}{mark}")
}

/// Adds a qualifier: before a plain type, after a pointer.
fn qualified(inner: String, word: &str) -> String {
    if inner.ends_with(['*', '&']) { format!("{inner} {word}") } else { format!("{word} {inner}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_qualifiers_are_placed_as_in_c() {
        assert_eq!(after(qualified("char".to_owned(), "const"), "*"), "const char *");
        assert_eq!(after("char *".to_owned(), "*"), "char **");
        assert_eq!(qualified("char *".to_owned(), "const"), "char * const");
        assert_eq!(after("int ()".to_owned(), "*"), "int (*)()");
    }
}
