//! Marks that distinguish functions of one name in one module: the file of the declaration, its line, or the start
//! address.

use hashbrown::HashMap;

use crate::id::StringId;
use crate::profile::Profile;
use crate::query::functions::Function;

/// Marks of functions that share their name and module with others.
#[derive(Debug, Default)]
pub struct FunctionMarks {
    marks: HashMap<Function, String>,
}

/// Amount of detail that a mark contains.
#[derive(Clone, Copy)]
enum Detail {
    File,
    FileAndLine,
    PathAndLine,
}

impl Detail {
    /// All levels, shortest first.
    const ALL: [Self; 3] = [Self::File, Self::FileAndLine, Self::PathAndLine];
}

impl FunctionMarks {
    /// Returns the shortest distinct marks of these functions, such as `own.c`, `own.c:3`, `src/own.c:3` or `0x1150`.
    pub fn new<'a>(profile: &Profile, rows: impl IntoIterator<Item = &'a Function>) -> Self {
        let mut named: HashMap<(Option<StringId>, Option<StringId>), Vec<&Function>> =
            HashMap::new();
        for row in rows {
            named.entry((row.name, row.module)).or_default().push(row);
        }
        let mut marks = HashMap::new();
        for group in named.into_values().filter(|group| group.len() > 1) {
            let of = |detail| -> Vec<String> {
                group.iter().map(|row| mark(profile, row, detail)).collect()
            };
            let distinct = Detail::ALL.into_iter().map(of).find(|marks| are_distinct(marks));
            let texts = distinct.unwrap_or_else(|| of(Detail::PathAndLine));
            let marked = group.into_iter().copied().zip(texts);
            marks.extend(marked.filter(|(_, mark)| !mark.is_empty()));
        }
        Self { marks }
    }

    /// Returns the mark of a function; `None` if its name and module are unique, or if nothing else is known about it.
    #[must_use]
    pub fn of(&self, function: &Function) -> Option<&str> {
        self.marks.get(function).map(String::as_str)
    }

    /// Returns true if `text` is a mark of the function at any level of detail, since another table may need a
    /// different level.
    #[must_use]
    pub fn fits(profile: &Profile, function: &Function, text: &str) -> bool {
        Detail::ALL.into_iter().any(|detail| mark(profile, function, detail) == text)
    }

    /// Memory of the marks, in bytes.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.marks.allocation_size() + self.marks.values().map(String::capacity).sum::<usize>()
    }
}

fn are_distinct(marks: &[String]) -> bool {
    let mut sorted: Vec<&String> = marks.iter().collect();
    sorted.sort_unstable();
    sorted.windows(2).all(|pair| pair.first() != pair.last())
}

fn mark(profile: &Profile, function: &Function, detail: Detail) -> String {
    if let Some(start) = function.start {
        return format!("{start:#x}");
    }
    let path = match function.file {
        Some(file) if function.line != 0 => profile.strings.get(file),
        _ => return String::new(),
    };
    let path = String::from_utf8_lossy(path);
    let name = path.rsplit('/').next().unwrap_or(&path);
    match detail {
        Detail::File => name.to_owned(),
        Detail::FileAndLine => format!("{name}:{}", function.line),
        Detail::PathAndLine => format!("{path}:{}", function.line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_distinct_marks_are_taken() {
        let mut profile = Profile::default();
        let mut id = |text: &str| Some(profile.strings.intern(text.as_bytes()));
        let (name, module) = (id("parse"), id("/bin/app"));
        let declared = |file, line| Function { name, file, line, ..Function::unknown(module) };
        let at = |start| Function { name, start: Some(start), ..Function::unknown(module) };
        let (a, b, other) = (id("src/a.c"), id("src/b.c"), id("lib/a.c"));
        let unplaced = Function { name, ..Function::unknown(module) };
        let alone = Function { name: id("main"), ..declared(a, 1) };
        for (rows, expected) in [
            (vec![declared(a, 7), alone], vec!["", ""]),
            (vec![declared(a, 7), declared(b, 9), alone], vec!["a.c", "b.c", ""]),
            (vec![declared(a, 7), declared(a, 9)], vec!["a.c:7", "a.c:9"]),
            (vec![declared(a, 7), declared(other, 7)], vec!["src/a.c:7", "lib/a.c:7"]),
            (vec![at(0x1150), at(0x1400), unplaced], vec!["0x1150", "0x1400", ""]),
            (vec![at(0x1150), declared(a, 7)], vec!["0x1150", "a.c"]),
        ] {
            let marks = FunctionMarks::new(&profile, &rows);
            let found: Vec<&str> =
                rows.iter().map(|row| marks.of(row).unwrap_or_default()).collect();
            assert_eq!(found, expected);
            let own = rows.iter().zip(&found).filter(|(_, mark)| !mark.is_empty());
            assert!(own.clone().all(|(row, mark)| FunctionMarks::fits(&profile, row, mark)));
        }
    }
}
