//! Events of probes: their names, and their definitions for the kernel.

use std::path::Path;

use anyhow::bail;
use pipeline::{ProbeArgument, ProbePlace, ProbePlaces, ProbeRequest};

use crate::terminal::shown;

/// Longest name of an event or a group, in bytes.
///
/// Source: the kernel's `MAX_EVENT_NAME_LEN`, which counts a zero at the end.
const LONGEST_NAME: usize = 63;

/// An event: one or more places with the same fields.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct ProbeEvent {
    /// `GROUP:NAME`.
    pub(super) name: String,
    /// Lines for the kernel, one for each place.
    pub(super) definitions: Vec<String>,
    /// Function and file, for people.
    of: String,
    n_inlined: usize,
    /// Number of places whose instruction the kernel refuses.
    n_refused: usize,
    fields: Vec<String>,
    /// Requested fields that the places lack, with the reason.
    missing: Vec<String>,
}

/// Returns the events of a probe. Places that lack a field have an event of their own, since an event has one format.
///
/// # Errors
/// If no place has a field.
pub(super) fn events_of(
    file: &Path,
    request: &ProbeRequest,
    found: &ProbePlaces,
    others: &[ProbeEvent],
) -> anyhow::Result<Vec<ProbeEvent>> {
    let places = &found.places;
    for field in &request.fields {
        let name = field.name();
        let reason = |it: &ProbePlace| Some(it.missing.iter().find(|it| it.0 == name)?.1.clone());
        let reasons: Vec<_> = places.iter().filter_map(reason).collect();
        if let Some(reason) = reasons.first().filter(|_| reasons.len() == places.len()) {
            bail!("{} has no value for {} at its start: {reason}", request.function, field.path);
        }
    }
    let mut groups = Vec::<(Vec<(&str, &str)>, Vec<&ProbePlace>)>::new();
    for place in places {
        let format = |it: &'_ ProbeArgument| (it.name.clone(), it.kind.clone());
        let formats: Vec<_> = place.arguments.iter().map(format).collect();
        let is_same = |known: &&mut (Vec<(&str, &str)>, Vec<&ProbePlace>)| {
            known.0.iter().copied().eq(formats.iter().map(|(a, b)| (a.as_str(), b.as_str())))
        };
        match groups.iter_mut().find(is_same) {
            Some((_, places)) => places.push(place),
            None => {
                let names = place.arguments.iter();
                let names = names.map(|it| (it.name.as_str(), it.kind.as_str())).collect();
                groups.push((names, vec![place]));
            }
        }
    }
    groups.sort_by_key(|(fields, _)| std::cmp::Reverse(fields.len()));
    let mut events = Vec::new();
    for (_, places) in groups {
        let taken = || others.iter().chain(&events).map(|it: &ProbeEvent| it.name.as_str());
        let name = free_name(file, request, || taken().collect());
        events.push(event(name, file, request, &places));
    }
    if let Some(first) = events.first_mut() {
        first.n_refused = found.refused;
    }
    Ok(events)
}

fn event(name: String, file: &Path, request: &ProbeRequest, places: &[&ProbePlace]) -> ProbeEvent {
    let path = file.to_string_lossy();
    let definition = |place: &&ProbePlace| {
        let kind = if request.is_return { 'r' } else { 'p' };
        let slashed = name.replace(':', "/");
        let mut line = format!("{kind}:{slashed} {path}:0x{:x}", place.offset);
        for argument in &place.arguments {
            line.push_str(&format!(" {argument}"));
        }
        line
    };
    let first = places.first();
    let fields = first.map_or(&[][..], |it| it.arguments.as_slice()).iter();
    let missing = first.map_or(&[][..], |it| it.missing.as_slice()).iter();
    ProbeEvent {
        definitions: places.iter().map(definition).collect(),
        of: format!("{} of {}", shown(&request.function), shown(&path)),
        n_inlined: places.iter().filter(|it| it.inlined_into.is_some()).count(),
        n_refused: 0,
        fields: fields.map(|it| format!("{} ({})", it.name, it.kind)).collect(),
        missing: missing.map(|(name, reason)| format!("{name}: {reason}")).collect(),
        name,
    }
}

impl ProbeEvent {
    /// Describes the event in a line.
    pub(super) fn line(&self) -> String {
        let Self { name, of, n_inlined, .. } = self;
        let mut line = format!("{name}: {of}");
        match (self.definitions.len(), n_inlined) {
            (1, 0) => {}
            (1, _) => line.push_str(", inlined"),
            (n, 0) => line.push_str(&format!(", {n} places")),
            (n, inlined) => line.push_str(&format!(", {n} places, {inlined} of them inlined")),
        }
        if !self.fields.is_empty() {
            line.push_str(&format!(", fields {}", self.fields.join(", ")));
        }
        if self.n_refused > 0 {
            let n = self.n_refused;
            line.push_str(&format!("; the kernel cannot probe the instruction of {n} more"));
        }
        if !self.missing.is_empty() {
            line.push_str(&format!("; without {}", self.missing.join(", ")));
        }
        line
    }
}

/// Returns a name that no other event has: `probe_PROGRAM:FUNCTION`, as those of perf probe.
fn free_name<'t>(file: &Path, request: &ProbeRequest, taken: impl Fn() -> Vec<&'t str>) -> String {
    let stem = file.file_name().unwrap_or_default().to_string_lossy();
    let stem = stem.split('.').find(|it| !it.is_empty()).unwrap_or("file");
    let group = identifier(&format!("probe_{stem}"), LONGEST_NAME);
    let ending = if request.is_return { "__return" } else { "" };
    let function = function_name(&request.function);
    for number in 0_u32.. {
        let number = if number == 0 { String::new() } else { format!("_{number}") };
        let room = LONGEST_NAME - ending.len() - number.len();
        let name = format!("{group}:{}{ending}{number}", identifier(function, room));
        if !taken().contains(&name.as_str()) {
            return name;
        }
    }
    group
}

/// Returns the last part of a function's name, without arguments of templates and parameters.
fn function_name(function: &str) -> &str {
    let mut depth = 0_u32;
    let mut start = 0;
    for (at, c) in function.char_indices() {
        match c {
            '(' | '<' | '[' => depth += 1,
            ')' | '>' | ']' => depth = depth.saturating_sub(1),
            ':' | '.' if depth == 0 => start = at + 1,
            _ => {}
        }
    }
    let name = function.get(start..).unwrap_or(function);
    let end = name.find(['(', '<', '[']).filter(|&at| at > 0).unwrap_or(name.len());
    name.get(..end).filter(|it| !it.is_empty()).unwrap_or("function")
}

/// Returns a name of letters, digits and `_`, of at most that many bytes.
fn identifier(name: &str, longest: usize) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let name: String = name.chars().map(|c| if is_part(c) { c } else { '_' }).collect();
    let name =
        if name.starts_with(|c: char| c.is_ascii_digit()) { format!("_{name}") } else { name };
    name.chars().take(longest).collect()
}

#[cfg(test)]
mod tests {
    use pipeline::ProbeError;

    use super::*;

    fn argument(name: &str, fetch: &str, kind: &str) -> ProbeArgument {
        ProbeArgument { name: name.to_owned(), fetch: fetch.to_owned(), kind: kind.to_owned() }
    }

    fn place(offset: u64, arguments: &[ProbeArgument]) -> ProbePlace {
        ProbePlace {
            offset,
            inlined_into: None,
            arguments: arguments.to_vec(),
            missing: Vec::new(),
        }
    }

    fn events(text: &str, places: &[ProbePlace], others: &[ProbeEvent]) -> Vec<ProbeEvent> {
        let request = ProbeRequest::parse(text).expect("a request");
        let file = Path::new("/usr/lib/libdb-2.so.6");
        let found = ProbePlaces { places: places.to_vec(), refused: 0 };
        events_of(file, &request, &found, others).expect("events")
    }

    #[test]
    fn places_with_equal_fields_are_one_event() {
        let size = argument("size", "%di", "u64");
        let mut inlined = place(0x2a, &[argument("size", "\\16", "u64")]);
        inlined.inlined_into = Some("main".to_owned());
        let mut without = place(0x30, &[]);
        without.missing.push(("size".to_owned(), ProbeError::NotStored));
        let found = events("ns::load(size)", &[without, place(0x1149, &[size]), inlined], &[]);
        let definitions: Vec<_> = found.iter().flat_map(|it| &it.definitions).collect();
        assert_eq!(
            definitions,
            [
                "p:probe_libdb_2/load /usr/lib/libdb-2.so.6:0x1149 size=%di:u64",
                "p:probe_libdb_2/load /usr/lib/libdb-2.so.6:0x2a size=\\16:u64",
                "p:probe_libdb_2/load_1 /usr/lib/libdb-2.so.6:0x30",
            ]
        );
        let lines: Vec<_> = found.iter().map(ProbeEvent::line).collect();
        assert_eq!(
            lines,
            [
                "probe_libdb_2:load: ns::load of /usr/lib/libdb-2.so.6, 2 places, 1 of them inlined, fields size (u64)",
                "probe_libdb_2:load_1: ns::load of /usr/lib/libdb-2.so.6; without size: the function stores it after \
                 this instruction",
            ]
        );
    }

    #[test]
    fn returns_and_repeated_names_have_suffixes() {
        let value = argument("retval", "$retval", "s32");
        let first = events("f%return", &[place(0x10, std::slice::from_ref(&value))], &[]);
        let second = events("A::f%return", &[place(0x20, &[value])], &first);
        let definitions: Vec<_> =
            [first, second].iter().flatten().flat_map(|it| it.definitions.clone()).collect();
        assert_eq!(
            definitions,
            [
                "r:probe_libdb_2/f__return /usr/lib/libdb-2.so.6:0x10 retval=$retval:s32",
                "r:probe_libdb_2/f__return_1 /usr/lib/libdb-2.so.6:0x20 retval=$retval:s32",
            ]
        );
    }

    #[test]
    fn a_field_without_any_place_is_an_error() {
        let request = ProbeRequest::parse("f(x)").expect("a request");
        let mut place = place(0x10, &[]);
        place.missing.push(("x".to_owned(), ProbeError::FloatingPoint(17)));
        let found = ProbePlaces { places: vec![place], refused: 0 };
        let error = events_of(Path::new("/bin/a"), &request, &found, &[]).expect_err("no value");
        assert_eq!(
            error.to_string(),
            "f has no value for x at its start: it is in a register of floating point, which probes cannot read"
        );
    }

    #[test]
    fn names_are_those_of_functions() {
        for (function, name) in [
            ("handle", "handle"),
            ("ns::A<x::y>::f", "f"),
            ("f<A::b>", "f"),
            ("f(int, char*)", "f"),
            ("main.(*T).Do", "Do"),
            ("core::str::len", "len"),
            ("main.handle", "handle"),
            ("operator()", "operator"),
        ] {
            assert_eq!(function_name(function), name);
        }
        assert_eq!(identifier("9a-b", 3), "_9a");
    }
}
