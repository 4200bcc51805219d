//! Functions of equal names that are distinguished by their positions: lambdas by line, script functions by file and
//! position, static functions by file.
//!
//! Positions change from build to build: lines move, and folders are renamed. The positions before and after are
//! therefore [matched](super::alignment). A function has a number or a file in its name only if several functions share the
//! name.

use std::collections::BTreeSet;

use hashbrown::{HashMap, HashSet};

use super::alignment::{match_files, match_folders, match_numbers};

/// A position in a name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::query::diff) enum Position {
    /// A number that increases with line and column, or a counter.
    At(u64),
    /// Folder of a file; the name contains the last component.
    Folder(Vec<u8>),
    /// Last component of the source file with the declaration; `None` if unknown.
    File(Option<Vec<u8>>),
}

/// A name with a 0 byte for each position.
#[derive(Debug, Default, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::query::diff) struct PositionedName {
    pub(in crate::query::diff) skeleton: Vec<u8>,
    pub(in crate::query::diff) positions: Vec<Position>,
}

/// Side (0 before, 1 after), number of the module, and placed name.
type NameKey = (usize, Option<u32>, PositionedName);

/// By item: the name to compare.
pub(in crate::query::diff) type ResolvedNames = HashMap<NameKey, Vec<u8>>;

/// All placed names before and after.
#[derive(Debug, Default)]
pub(in crate::query::diff) struct PositionedNames {
    names: HashSet<NameKey>,
}

/// A name with its first positions resolved.
struct PartialName<'a> {
    key: &'a NameKey,
    text: Vec<u8>,
    rest: &'a [u8],
    next: usize,
}

/// Positions before and after that follow the same text in the same module.
type PositionGroups = HashMap<(Option<u32>, Vec<u8>), [BTreeSet<Position>; 2]>;

impl PositionedNames {
    /// Adds a name.
    pub(in crate::query::diff) fn add(
        &mut self,
        side: usize,
        module: Option<u32>,
        name: PositionedName,
    ) {
        self.names.insert((side, module, name));
    }

    /// Returns the names of all functions. From the left, each position is replaced by a text that distinguishes it
    /// from others after the same text.
    pub(in crate::query::diff) fn resolve(&self) -> ResolvedNames {
        let mut done = ResolvedNames::default();
        let mut open: Vec<PartialName<'_>> = Vec::new();
        let begin = |key| PartialName { key, text: Vec::new(), rest: &key.2.skeleton, next: 0 };
        let mut pending: Vec<PartialName<'_>> = self.names.iter().map(begin).collect();
        while !pending.is_empty() {
            for mut name in pending.drain(..) {
                let end = name.rest.iter().position(|&byte| byte == 0);
                name.text.extend_from_slice(
                    name.rest.get(..end.unwrap_or(name.rest.len())).unwrap_or_default(),
                );
                match end.filter(|_| name.next < name.key.2.positions.len()) {
                    None => {
                        done.insert(name.key.clone(), name.text);
                    }
                    Some(end) => {
                        name.rest = name.rest.get(end + 1..).unwrap_or_default();
                        open.push(name);
                    }
                }
            }
            let mut groups = PositionGroups::default();
            for name in &open {
                let (side, module, positioned) = name.key;
                let group = groups.entry((*module, name.text.clone())).or_default();
                if let Some((positions, position)) =
                    group.get_mut(*side).zip(positioned.positions.get(name.next))
                {
                    positions.insert(position.clone());
                }
            }
            let labels: HashMap<_, _> =
                groups.into_iter().map(|(key, positions)| (key, labels(&positions))).collect();
            for mut name in open.drain(..) {
                let (side, module, positioned) = name.key;
                let label = labels
                    .get(&(*module, name.text.clone()))
                    .and_then(|sides| sides.get(*side)?.get(positioned.positions.get(name.next)?));
                name.text.extend_from_slice(label.map_or(&b""[..], |label| label));
                name.next += 1;
                pending.push(name);
            }
        }
        done
    }
}

/// Returns, by side and position, the distinguishing text. It is empty for a position that is unique before and after.
fn labels(positions: &[BTreeSet<Position>; 2]) -> [HashMap<Position, Vec<u8>>; 2] {
    let mut labels: [HashMap<Position, Vec<u8>>; 2] = Default::default();
    let is_alone = positions.iter().all(|side| side.len() <= 1);
    // An unknown file may be any of the others.
    if is_alone || positions.iter().any(|side| side.contains(&Position::File(None))) {
        return labels;
    }
    let numbers = positions.each_ref().map(|side| {
        let number =
            |position: &Position| if let Position::At(at) = position { Some(*at) } else { None };
        side.iter().filter_map(number).collect::<Vec<u64>>()
    });
    for (number, slot) in (1..).zip(match_numbers(&numbers)) {
        for (labels, at) in labels.iter_mut().zip(slot) {
            labels.extend(at.map(|at| (Position::At(at), format!("#{number}").into_bytes())));
        }
    }
    let folders = positions.each_ref().map(|side| {
        let folder = |position: &Position| {
            if let Position::Folder(path) = position { Some(path.clone()) } else { None }
        };
        side.iter().filter_map(folder).collect::<Vec<_>>()
    });
    for (text, slot) in match_folders(&folders) {
        for (labels, folder) in labels.iter_mut().zip(slot) {
            labels.extend(folder.map(|folder| (Position::Folder(folder), text.clone())));
        }
    }
    let files = positions.each_ref().map(|side| {
        let file = |position: &Position| {
            if let Position::File(name) = position { name.clone() } else { None }
        };
        side.iter().filter_map(file).collect::<Vec<_>>()
    });
    for (text, slot) in match_files(&files) {
        for (labels, file) in labels.iter_mut().zip(slot) {
            labels.extend(file.map(|file| (Position::File(Some(file)), text.clone())));
        }
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::super::{normal_function, positioned_function};
    use super::*;

    /// Returns the compared names before and after.
    fn resolved(sides: [&[&str]; 2]) -> [Vec<String>; 2] {
        let mut book = PositionedNames::default();
        let parsed = sides.map(|names| {
            names.iter().map(|name| positioned_function(name.as_bytes())).collect::<Vec<_>>()
        });
        for (side, names) in parsed.iter().enumerate() {
            names.iter().for_each(|name| book.add(side, Some(0), name.clone()));
        }
        let all = book.resolve();
        [0, 1].map(|side| {
            let text = |name: &PositionedName| {
                String::from_utf8(all[&(side, Some(0), name.clone())].clone()).unwrap()
            };
            parsed[side].iter().map(text).collect()
        })
    }

    #[test]
    fn lambdas_are_numbered_in_order() {
        let before =
            ["f()::(lambda at line 9)::operator()", "f()::(lambda at line 34)::operator()"];
        let after =
            ["f()::(lambda at line 40)::operator()", "f()::(lambda at line 15)::operator()"];
        let [one, other] = resolved([&before, &after]);
        assert_eq!(one, ["f()::(lambda#1)::operator()", "f()::(lambda#2)::operator()"]);
        assert_eq!(other, ["f()::(lambda#2)::operator()", "f()::(lambda#1)::operator()"]);
        // One lambda before and after has no number; a nested lambda is numbered within the outer one.
        let [one, _] = resolved([&before[..1], &after[..1]]);
        assert_eq!(one, ["f()::(lambda)::operator()"]);
        assert_eq!(normal_function(before[0].as_bytes()), one[0].as_bytes());
        let nested = [
            "f()::(lambda at line 9)::operator()::(lambda at line 10)::operator()",
            "f()::(lambda at line 9)::operator()::(lambda at line 11)::operator()",
            "f()::(lambda at line 20)::operator()::(lambda at line 21)::operator()",
        ];
        let [one, _] = resolved([&nested, &[]]);
        let expected = [
            "f()::(lambda#1)::operator()::(lambda#1)::operator()",
            "f()::(lambda#1)::operator()::(lambda#2)::operator()",
            "f()::(lambda#2)::operator()::(lambda)::operator()",
        ];
        assert_eq!(one, expected);
    }

    #[test]
    fn functions_of_scripts_are_told_apart_by_file_and_position() {
        let before = [
            "JS:~get /v1/lib/a/index.js:3:4",
            "JS:*get /v1/lib/b/index.js:3:4",
            "JS:*get /v1/lib/b/index.js:9:4",
        ];
        let after = [
            "JS:*get /v2/lib/a/index.js:5:4",
            "JS:*get /v2/lib/b/index.js:13:4",
            "JS:*get /v2/lib/b/index.js:7:4",
        ];
        let [one, other] = resolved([&before, &after]);
        assert_eq!(one, ["JS:get index.js (a)", "JS:get index.js (b)#1", "JS:get index.js (b)#2"]);
        assert_eq!(
            other,
            ["JS:get index.js (a)", "JS:get index.js (b)#2", "JS:get index.js (b)#1"]
        );
        let [one, other] = resolved([&["py::f:/a/x.py"], &["py::f:/b/x.py"]]);
        assert_eq!((&*one[0], &one), ("py::f:x.py", &other));
    }

    #[test]
    fn static_functions_are_told_apart_by_file() {
        let name = |path: &str| {
            positioned_function(b"help").declared_in((!path.is_empty()).then_some(path.as_bytes()))
        };
        let texts = |before: &[&str], after: &[&str]| -> [Vec<String>; 2] {
            let mut book = PositionedNames::default();
            let sides = [before, after];
            for (side, paths) in sides.iter().enumerate() {
                paths.iter().for_each(|path| book.add(side, None, name(path)));
            }
            let all = book.resolve();
            [0, 1].map(|side| {
                let text = |path: &&str| all[&(side, None, name(path))].clone();
                sides[side].iter().map(text).map(|text| String::from_utf8(text).unwrap()).collect()
            })
        };
        let [one, other] = texts(&["/1/a.c", "/1/b.c"], &["/2/b.c", "/2/a.c"]);
        assert_eq!(one, ["help (a.c)", "help (b.c)"]);
        assert_eq!(other, ["help (b.c)", "help (a.c)"]);
        let [one, other] = texts(&["/1/x/a.c", "/1/y/a.c"], &["/2/x/a.c", "/2/y/a.c"]);
        assert_eq!((&one, one[0].as_str()), (&other, "help (x)"));
        // A file known only before or only after does not distinguish functions.
        for [before, after] in
            [[&["/1/a.c"][..], &[""]], [&["/x/a.c", "/y/a.c"], &[""]], [&["/1/a.c"], &["/2/c.c"]]]
        {
            let [one, other] = texts(before, after);
            assert!(one.iter().chain(&other).all(|text| text == "help"), "{one:?} {other:?}");
        }
    }
}
