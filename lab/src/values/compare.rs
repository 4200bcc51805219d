//! Our values beside gdb's.

use std::collections::BTreeMap;
use std::path::Path;

use ::values::{Absence, Path as ValuePath, Request, Sources, Value, Variables};
use anyhow::Result;
use budget::{Budget, Meter};

use super::image::{Image, Opened, Recorded};
use super::theirs::{Run, Stop};

/// Counts of a program.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Also names the values in `reasons`.
    pub(super) verbose: bool,
    /// Stops.
    pub(super) stops: u64,
    /// Frames of the program's own functions, inlined ones too.
    pub(super) frames: u64,
    /// Variables and fields that gdb names.
    pub(super) variables: u64,
    /// Values of both that are equal.
    pub(super) equal: u64,
    /// Values of gdb alone.
    pub(super) theirs_alone: u64,
    /// Values of ours alone.
    pub(super) ours_alone: u64,
    /// Values of both that differ.
    pub(super) differ: u64,
    /// Our reasons for values of gdb alone.
    pub(super) reasons: BTreeMap<String, u64>,
    /// Values that differ or are ours alone.
    pub(super) notes: BTreeMap<String, u64>,
}

impl Tally {
    /// Values of gdb.
    pub(super) const fn theirs(&self) -> u64 {
        self.equal + self.theirs_alone + self.differ
    }

    /// Values of ours.
    pub(super) const fn ours(&self) -> u64 {
        self.equal + self.ours_alone + self.differ
    }

    /// Adds the counts of another.
    pub(super) fn add(&mut self, other: &Self) {
        for (reason, count) in &other.reasons {
            *self.reasons.entry(reason.clone()).or_default() += count;
        }
        self.stops += other.stops;
        self.frames += other.frames;
        self.variables += other.variables;
        self.equal += other.equal;
        self.theirs_alone += other.theirs_alone;
        self.ours_alone += other.ours_alone;
        self.differ += other.differ;
    }
}

/// Requests of a program, by function and path.
type Requests = BTreeMap<(String, String), Result<usize, String>>;

/// Compares all values of a run.
pub(super) fn compare(file: &Path, run: &Run, verbose: bool) -> Result<Tally> {
    let image = Image::read(file)?;
    let opened = image.open()?;
    let budget = Budget::default();
    let meter = Meter::new(&budget, opened.size);
    let sources = Sources::new(&opened.dwarf, &opened.split, &meter)?;
    let (mut indexes, mut requests) = (Requests::new(), Vec::new());
    for function in run.stops.iter().flat_map(|it| &it.frames).flat_map(|it| &it.functions) {
        for variable in &function.variables {
            let Some(path) = variable.first() else { continue };
            let name = plain(&function.name);
            indexes.entry((name.clone(), path.clone())).or_insert_with(|| {
                let path = ValuePath::parse(path)?;
                requests.push(Request { function: name, path });
                Ok(requests.len() - 1)
            });
        }
    }
    let (variables, errors) = Variables::find(&sources, &requests)?;
    for (at, error) in errors.iter().enumerate() {
        for index in indexes.values_mut().filter(|it| **it == Ok(at)) {
            if let Some(error) = error {
                *index = Err(error.to_string());
            }
        }
    }
    let bias = run.start.wrapping_sub(opened.range.0 & !0xfff);
    let mut tally = Tally { verbose, ..Tally::default() };
    for stop in &run.stops {
        tally.stops += 1;
        let digit = |c: &u8| char::from(*c).to_digit(16).unwrap_or(0) as u8;
        let pairs = stop.stack.as_bytes().chunks_exact(2);
        let stack = pairs.map(|pair| digit(&pair[0]) << 4 | digit(&pair[1])).collect();
        let (image, variables, indexes) = (&opened, &variables, &indexes);
        let comparison = Comparison { stop, stack, image, bias, variables, indexes };
        comparison.frames(stop.frames.len(), None, &mut tally);
    }
    Ok(tally)
}

/// Returns a name without its parameters.
fn plain(name: &str) -> String {
    let name = name.replace("(anonymous namespace)::", "");
    let (mut depth, mut end) = (0_u32, name.len());
    for (at, c) in name.char_indices() {
        match c {
            '(' if depth == 0 && !name[..at].ends_with("operator") => {
                end = at;
                break;
            }
            '<' | '{' | '(' => depth += 1,
            '>' | '}' | ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    name[..end].to_owned()
}

/// A stop with everything that its frames are compared with.
struct Comparison<'a> {
    stop: &'a Stop,
    stack: Vec<u8>,
    image: &'a Opened<'a>,
    bias: u64,
    variables: &'a Variables,
    indexes: &'a Requests,
}

impl Comparison<'_> {
    /// Compares the innermost `count` frames, the outermost of them first.
    fn frames(&self, count: usize, caller: Option<&Recorded<'_>>, tally: &mut Tally) {
        let Some(index) = count.checked_sub(1) else { return };
        let recorded = Recorded {
            stop: self.stop,
            stack: &self.stack,
            index,
            image: self.image,
            bias: self.bias,
            sites: self.variables.call_sites(),
            caller,
        };
        self.frame(&recorded, tally);
        self.frames(index, Some(&recorded), tally);
    }

    fn frame(&self, frame: &Recorded<'_>, tally: &mut Tally) {
        let Some(address) = frame.address() else { return };
        let address = if frame.index == 0 { address } else { address - 1 };
        let functions = &self.stop.frames[frame.index].functions;
        for (number, function) in functions.iter().enumerate() {
            tally.frames += 1;
            let name = plain(&function.name);
            // Functions of that name that are inlined into each other.
            let skip = functions[..number].iter().filter(|it| plain(&it.name) == name).count();
            for variable in &function.variables {
                let [path, kind, theirs] = variable.as_slice() else { continue };
                let ours = match self.indexes.get(&(name.clone(), path.clone())) {
                    Some(Ok(request)) => self.value(frame, address, *request, skip),
                    Some(Err(error)) => Err(error.clone()),
                    None => Err("no request".to_owned()),
                };
                tally.count(&format!("{name}({path})"), kind, theirs, ours);
            }
        }
    }

    fn value(
        &self,
        frame: &Recorded<'_>,
        address: u64,
        request: usize,
        skip: usize,
    ) -> Result<Value, String> {
        let mut found = self.variables.at(address).filter(|it| it.request() == request);
        let meter = Meter::new(&Budget::default(), 1 << 20);
        let value = found.nth(skip).map(|it| it.value(frame, &meter));
        value.unwrap_or(Err(Absence::OutOfScope)).map_err(|it| reason(&it))
    }
}

/// Returns a reason without its numbers.
fn reason(absence: &Absence) -> String {
    match absence {
        Absence::Memory(_) | Absence::Register(_) => absence.code().to_owned(),
        absence => absence.to_string(),
    }
}

/// Result for a value that both may state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    Equal,
    Differ,
    /// Ours is an address of memory that is not there.
    Unread,
}

impl Tally {
    fn count(&mut self, name: &str, kind: &str, theirs: &str, ours: Result<Value, String>) {
        self.variables += 1;
        let is_theirs = !matches!(kind, "optimized" | "unreadable");
        match (is_theirs, ours) {
            // Neither reads the memory behind the pointer.
            (false, Err(_) | Ok(Value::Unread { .. })) => {}
            (false, Ok(value)) => {
                self.ours_alone += 1;
                self.note(format!("ours alone: {name} = {value}; gdb: {kind} {theirs}"));
            }
            (true, Err(reason)) => {
                self.theirs_alone += 1;
                let reason =
                    if self.verbose { format!("{reason}: {name} = {theirs}") } else { reason };
                *self.reasons.entry(reason).or_default() += 1;
            }
            (true, Ok(value)) => match verdict(kind, theirs, &value) {
                Verdict::Equal => self.equal += 1,
                Verdict::Unread => {
                    self.theirs_alone += 1;
                    *self.reasons.entry("memory behind a pointer".to_owned()).or_default() += 1;
                }
                Verdict::Differ => {
                    self.differ += 1;
                    self.note(format!("differs: {name} = {value:?}; gdb: {kind} {theirs}"));
                }
            },
        }
    }

    fn note(&mut self, line: String) {
        *self.notes.entry(line).or_default() += 1;
    }
}

/// Compares a value with gdb's.
fn verdict(kind: &str, theirs: &str, ours: &Value) -> Verdict {
    let is = |equal: bool| if equal { Verdict::Equal } else { Verdict::Differ };
    match (kind, ours) {
        ("string", Value::Unread { address, .. } | Value::Address(address)) => {
            let same = theirs.split(' ').next() == Some(&format!("{address:x}"));
            if same && matches!(ours, Value::Unread { .. }) { Verdict::Unread } else { is(same) }
        }
        (_, Value::Unread { .. }) if kind != "pointer" => Verdict::Unread,
        ("string", Value::Text { bytes, cut }) => {
            is(same_text(theirs.split(' ').nth(1).unwrap_or_default(), bytes, *cut))
        }
        ("text", Value::Text { bytes, cut }) => is(same_text(theirs, bytes, *cut)),
        ("integer", Value::Char(c)) => is(theirs == u32::from(*c).to_string()),
        ("integer", value) => {
            is(value.integer().map(|it| it.to_string()).as_deref() == Some(theirs))
        }
        ("enum", Value::Enumerator { name, .. }) => is(**name == *theirs),
        ("enum", value) => is(value.integer().map(|it| it.to_string()).as_deref() == Some(theirs)),
        ("bool", Value::Bool(value)) => is(theirs == value.to_string()),
        ("float", value) => is(float_digits(value).as_deref() == Some(theirs)),
        ("pointer", Value::Unread { .. }) if theirs.contains(" text ") => Verdict::Unread,
        ("pointer", Value::Address(address) | Value::Unread { address, .. }) => {
            is(theirs.split(' ').next() == Some(&address.to_string()))
        }
        // A reference of Rust: the kind and the value of its object follow the address.
        ("pointer", value) => {
            let mut words = theirs.splitn(3, ' ').skip(1);
            match (words.next(), words.next()) {
                (Some(kind), Some(theirs)) => verdict(kind, theirs, value),
                _ => Verdict::Differ,
            }
        }
        ("list", Value::List { items, .. }) => {
            let text = |item: &Value| match item {
                Value::Char(c) => u32::from(*c).to_string(),
                Value::Float { .. } => float_digits(item).unwrap_or_default(),
                other => other.to_string(),
            };
            let ours: Vec<String> = items.iter().map(text).collect();
            is(theirs.split(' ').map(str::to_owned).take(ours.len().max(1)).eq(ours))
        }
        ("variant", Value::Variant { name, field }) => {
            let (variant, rest) = theirs.split_once(' ').unwrap_or((theirs, ""));
            let same_field = match field.as_deref() {
                Some(Value::Bool(_) | Value::Signed { .. } | Value::Unsigned { .. }) => {
                    field.as_deref().map(ToString::to_string).as_deref() == Some(rest)
                }
                _ => true,
            };
            is(variant == &**name && (same_field || rest.contains('<')))
        }
        _ => Verdict::Differ,
    }
}

/// Compares a text with gdb's, of which the bytes are hexadecimal digits. Of one that is cut, the start.
fn same_text(theirs: &str, ours: &[u8], cut: bool) -> bool {
    let ours: String = ours.iter().map(|byte| format!("{byte:02x}")).collect();
    if cut { theirs.starts_with(&ours) } else { theirs == ours }
}

/// Returns the bytes of a number of floating point as hexadecimal digits.
fn float_digits(value: &Value) -> Option<String> {
    let Value::Float { number, bits } = value else { return None };
    let narrow = (*number as f32).to_le_bytes();
    let wide = number.to_le_bytes();
    let bytes: &[u8] = if *bits == 32 { &narrow } else { &wide };
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
