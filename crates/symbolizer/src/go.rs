//! Names, inlined calls and lines from the function table of Go's linker, for addresses without any other source.
//! Stripped programs have no other.

use address::Svma;
use budget::{Allowance, Exhausted, HeldMemory};
use gopclntab::{GoFunction, GoFunctions, GoValue, GoValueKind};
use hashbrown::HashMap;

use crate::bytes::NameText;
use crate::dwarf::{
    FilePath, FunctionName, UnitAddress, UnitDeclaration, UnitFrame, UnitNameId, UnitPathId,
    UnitResult,
};

/// Limit on the chain of inlined calls.
const MAX_INLINES: usize = 256;

/// Requested parts of each answer.
#[derive(Clone, Copy)]
pub(crate) struct GoFrameParts {
    pub(crate) inlines: bool,
    pub(crate) lines: bool,
}

/// Finds the frames of sorted addresses. The error is the exceeded limit; frames found before it are returned.
pub(crate) fn resolve<'f>(
    functions: &GoFunctions<'f>,
    addresses: &[Svma],
    wanted: GoFrameParts,
    steps: Allowance,
    held: &HeldMemory,
) -> (UnitResult<'f>, Option<Exhausted>) {
    let mut resolver = GoResolver {
        wanted,
        steps,
        exhausted: None,
        names: HashMap::new(),
        paths: HashMap::new(),
        result: UnitResult::default(),
    };
    let mut last: Option<GoFunctionTables<'f>> = None;
    for &address in addresses {
        let is_in = |tables: &GoFunctionTables<'_>| {
            (tables.function.start..tables.function.end).contains(&address.0)
        };
        if !last.as_ref().is_some_and(is_in) {
            last = functions.at(address.0).map(|function| resolver.tables(function));
        }
        match functions.returned_to(address.0) {
            Some((function, meant)) if meant != address.0 => {
                let tables = resolver.tables(function);
                resolver.address(Svma(meant), Some(&tables));
            }
            _ => resolver.address(address, last.as_ref()),
        }
    }
    let GoResolver { mut result, exhausted, .. } = resolver;
    result.count(held);
    (result, exhausted)
}

/// The tables of a function.
struct GoFunctionTables<'f> {
    function: GoFunction<'f>,
    files: Vec<GoValue>,
    lines: Vec<GoValue>,
    inlined_calls: Vec<GoValue>,
}

struct GoResolver<'f> {
    wanted: GoFrameParts,
    steps: Allowance,
    exhausted: Option<Exhausted>,
    names: HashMap<&'f [u8], UnitNameId>,
    paths: HashMap<&'f [u8], UnitPathId>,
    result: UnitResult<'f>,
}

/// Returns the value at an offset in a function; `None` if it is negative.
fn value_at(values: &[GoValue], position: u64) -> Option<i32> {
    let at = values.partition_point(|piece| piece.end <= position);
    values.get(at).map(|piece| piece.value).filter(|&value| value >= 0)
}

impl<'f> GoResolver<'f> {
    /// Takes a step, plus one for each 64 bytes of a name, which is hashed.
    fn spend(&mut self, name: &[u8]) -> bool {
        let taken = self.steps.take(1 + name.len() as u64 / 64);
        self.exhausted = self.exhausted.or(taken.err());
        self.exhausted.is_none()
    }

    fn values(&mut self, function: &GoFunction<'f>, kind: GoValueKind) -> Vec<GoValue> {
        let is_wanted = match kind {
            GoValueKind::InlinedCall => self.wanted.inlines,
            _ => self.wanted.lines,
        };
        let length = function.end.wrapping_sub(function.start);
        let mut values = Vec::new();
        for piece in function.values(kind).take_while(|_| is_wanted) {
            if !self.spend(&[]) {
                break;
            }
            values.push(piece);
            if piece.end >= length {
                break;
            }
        }
        values
    }

    fn tables(&mut self, function: GoFunction<'f>) -> GoFunctionTables<'f> {
        GoFunctionTables {
            files: self.values(&function, GoValueKind::File),
            lines: self.values(&function, GoValueKind::Line),
            inlined_calls: self.values(&function, GoValueKind::InlinedCall),
            function,
        }
    }

    fn address(&mut self, address: Svma, tables: Option<&GoFunctionTables<'f>>) {
        let first_frame = self.result.frames.len() as u32;
        if let Some(tables) = tables {
            self.frames(address.since(Svma(tables.function.start)), tables);
        }
        let n_frames = self.result.frames.len() as u32 - first_frame;
        let function_start = tables.map(|tables| tables.function.start);
        self.result.addresses.push(UnitAddress { first_frame, n_frames, function_start });
    }

    fn frames(&mut self, mut position: u64, tables: &GoFunctionTables<'f>) {
        let function = &tables.function;
        for _ in 0..MAX_INLINES {
            let call = value_at(&tables.inlined_calls, position);
            let Some(call) = call.and_then(|number| function.inlined_call(number)) else { break };
            if !self.spend(call.name) {
                break;
            }
            self.push(Some(call.name), position, tables, true);
            position = call.position;
        }
        let name = function.name().filter(|name| name.len() < 64 || self.spend(name));
        self.push(name, position, tables, false);
    }

    fn push(
        &mut self,
        name: Option<&'f [u8]>,
        position: u64,
        tables: &GoFunctionTables<'f>,
        inlined: bool,
    ) {
        let Self { names, paths, result, .. } = self;
        let function = name.map(|name| {
            *names.entry(name).or_insert_with(|| {
                let own = NameText::whole(name);
                result.functions.push(FunctionName { own, scopes: Vec::new() })
            })
        });
        let line = value_at(&tables.lines, position).map_or(0, i32::cast_unsigned);
        let file = value_at(&tables.files, position).filter(|_| line != 0);
        let file = file.and_then(|file| tables.function.file(file)).map(|path| {
            let push = || result.files.push(FilePath::whole(NameText::whole(path)));
            *paths.entry(path).or_insert_with(push)
        });
        let line = if file.is_some() { line } else { 0 };
        let declared = UnitDeclaration::default();
        result.frames.push(UnitFrame { function, file, line, column: 0, inlined, declared });
    }
}
