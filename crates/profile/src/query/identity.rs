//! The identity of a function: its name, its module, and its declaration or start address.
//!
//! ```text
//!   work (own.c:3) at own.c:5        one function with lines in two files
//!   work (own.c:3) at frag.inc:1
//!   parse (a.c:7), parse (b.c:9)     two static functions of one name
//!   parse @0x1150, parse @0x1400     two such functions without debug information
//! ```

use address::ModuleId;
use hashbrown::HashMap;

use crate::id::StringId;
use crate::profile::Profile;
use crate::query::functions::{Function, functions};
use crate::tables::{InlineRow, LocationRow, ModuleKind};

/// Position of a function, which distinguishes functions of one name in one module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum FunctionPosition {
    /// Its declaration: file and line.
    Declared(Option<StringId>, u32),
    /// Start address, in the address space of the module's kind.
    Start(u64),
    /// Unknown. Code that is compiled at run time has no lasting address, and an inlined function without debug
    /// information has no address at all.
    Unknown,
}

/// The identity of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct FunctionIdentity {
    pub(super) name: Option<StringId>,
    pub(super) module: Option<StringId>,
    pub(super) position: FunctionPosition,
}

impl FunctionIdentity {
    /// Returns the function with this identity.
    pub(super) const fn function(self) -> Function {
        let Self { name, module, position } = self;
        let without_position = Function { name, ..Function::unknown(module) };
        match position {
            FunctionPosition::Declared(file, line) => Function { file, line, ..without_position },
            FunctionPosition::Start(start) => Function { start: Some(start), ..without_position },
            FunctionPosition::Unknown => without_position,
        }
    }

    /// Returns the identity that one row states.
    pub(super) fn stated(profile: &Profile, location: &LocationRow, row: &InlineRow) -> Self {
        let module = location.module.and_then(|module| profile.modules.get(module));
        let has_lasting_addresses = module.is_some_and(|it| it.kind != ModuleKind::Anonymous);
        let start = || location.relative.checked_sub(location.function_offset?);
        let position = if row.function.is_none() {
            FunctionPosition::Unknown
        } else if row.declared_file.is_some() || row.declared_line != 0 {
            FunctionPosition::Declared(row.declared_file, row.declared_line)
        } else if row.inlined || !has_lasting_addresses {
            FunctionPosition::Unknown
        } else {
            start().map_or(FunctionPosition::Unknown, FunctionPosition::Start)
        };
        Self { name: row.function, module: module.map(|module| module.path), position }
    }
}

/// Name and module of functions.
type QualifiedName = (Option<StringId>, Option<StringId>);

/// Positions of functions by name, for rows that do not state one.
#[derive(Debug)]
pub(super) struct Identities {
    /// The only position of a name; `None` if there are several.
    unique: HashMap<QualifiedName, Option<FunctionPosition>>,
}

impl Identities {
    /// Collects the positions of all functions of `profile`.
    pub(super) fn new(profile: &Profile, inlines: bool) -> Self {
        let mut unique: HashMap<QualifiedName, Option<FunctionPosition>> = HashMap::new();
        for location in &profile.locations {
            for row in functions(profile, location, inlines) {
                let FunctionIdentity { name, module, position } =
                    FunctionIdentity::stated(profile, location, row);
                if position != FunctionPosition::Unknown {
                    let known = unique.entry((name, module)).or_insert(Some(position));
                    *known = known.filter(|known| *known == position);
                }
            }
        }
        Self { unique }
    }

    /// Returns the identity of a row. A row without position is resolved to the only function of its name and module,
    /// if unique.
    pub(super) fn of(
        &self,
        profile: &Profile,
        location: &LocationRow,
        row: &InlineRow,
    ) -> FunctionIdentity {
        let stated = FunctionIdentity::stated(profile, location, row);
        let unique = || self.unique.get(&(stated.name, stated.module)).copied().flatten();
        match stated.position {
            FunctionPosition::Unknown => FunctionIdentity {
                position: unique().unwrap_or(FunctionPosition::Unknown),
                ..stated
            },
            _ => stated,
        }
    }
}

/// Returns the path of a module.
pub(super) fn module_path(profile: &Profile, module: Option<ModuleId>) -> Option<StringId> {
    profile.modules.get(module?).map(|module| module.path)
}

#[cfg(test)]
mod tests {
    use address::ModuleId;

    use super::*;
    use crate::query::functions::Functions;
    use crate::tables::ModuleRow;

    /// A function row: name, file of the line, declaration, start. An inlined one has no start.
    struct StatedRow {
        name: &'static str,
        line: (&'static str, u32),
        declared: (&'static str, u32),
        start: Option<u64>,
    }

    /// Returns the functions, each formatted as `name file:line@start at file:line …`.
    fn functions_of(kind: ModuleKind, rows: &[StatedRow]) -> Vec<String> {
        let mut profile = Profile::default();
        let path = profile.strings.intern(b"/bin/app");
        profile.modules.push(ModuleRow { path, opened: None, build_id: None, kind });
        for (row, relative) in rows.iter().zip(0x1000..) {
            let mut id =
                |text: &str| (!text.is_empty()).then(|| profile.strings.intern(text.as_bytes()));
            let inline = InlineRow {
                function: id(row.name),
                file: id(row.line.0),
                line: row.line.1,
                declared_file: id(row.declared.0),
                declared_line: row.declared.1,
                inlined: row.start.is_none(),
                ..InlineRow::NAMELESS
            };
            let first_inline = profile.inlines.push(inline);
            profile.locations.push(LocationRow {
                first_inline,
                n_inlines: 1,
                function_offset: row.start.map(|start| relative - start),
                ..LocationRow::unnamed(Some(ModuleId(0)), relative)
            });
        }
        let text = |id: Option<StringId>| {
            String::from_utf8_lossy(id.map_or(b"?", |id| profile.strings.get(id))).into_owned()
        };
        let functions = Functions::new(&profile, true);
        let mut shown: Vec<String> = Vec::new();
        for row in &functions.rows {
            let start = row.start.map_or_else(String::new, |start| format!("@{start:#x}"));
            shown.push(format!("{} {}:{}{start} at", text(row.name), text(row.file), row.line));
        }
        for location in profile.locations.ids() {
            for at in functions.at(location) {
                let position = format!(" {}:{}", text(at.file), at.line);
                shown[at.function.as_u32() as usize].push_str(&position);
            }
        }
        shown
    }

    #[test]
    fn lines_of_other_files_make_no_further_function() {
        let row =
            |line| StatedRow { name: "work", line, declared: ("own.c", 3), start: Some(0x800) };
        let rows = [row(("own.c", 5)), row(("frag.inc", 1)), row(("hdr.h", 9))];
        assert_eq!(
            functions_of(ModuleKind::Elf, &rows),
            ["work own.c:3 at own.c:5 frag.inc:1 hdr.h:9"]
        );
    }

    #[test]
    fn without_a_declaration_the_start_decides() {
        let row = |line, start| StatedRow { name: "work", line, declared: ("", 0), start };
        let rows = [
            row(("frag.inc", 1), Some(0x800)),
            row(("own.c", 5), Some(0x800)),
            row(("a.c", 7), Some(0x900)),
        ];
        assert_eq!(
            functions_of(ModuleKind::Elf, &rows),
            ["work frag.inc:0@0x800 at frag.inc:1 own.c:5", "work a.c:0@0x900 at a.c:7"]
        );
        // Code that is compiled at run time moves. The last line is nearest to its start.
        assert_eq!(
            functions_of(ModuleKind::Anonymous, &rows),
            ["work a.c:0 at frag.inc:1 own.c:5 a.c:7"]
        );
    }

    #[test]
    fn a_row_without_a_place_is_the_only_function_of_its_name() {
        let at = |name, start| StatedRow { name, line: ("", 0), declared: ("", 0), start };
        let declared = |line| StatedRow { declared: ("a.c", line), ..at("two", Some(0x800)) };
        let rows =
            [at("one", None), at("one", Some(0x800)), declared(3), declared(9), at("two", None)];
        assert_eq!(
            functions_of(ModuleKind::Elf, &rows),
            ["one ?:0@0x800 at ?:0 ?:0", "two a.c:3 at ?:0", "two a.c:9 at ?:0", "two ?:0 at ?:0"]
        );
    }
}
