//! Requests for files by build-id, without a recording: symbolization of addresses, source, code, and the files
//! themselves.

use std::os::fd::OwnedFd;
use std::path::PathBuf;

use pipeline::{
    BuildId, Demangle, FileOffset, IdentifiedFile, IdentifiedFiles, ResolvedAddress, Svma, Symbols,
    WhyNoName,
};
use profile::{StringId, Strings};

use super::source::SourceText;
use super::task_context::TaskContext;
use crate::problem::{Problem, ProblemKind};
use crate::protocol::{
    AddressSpace, CodeInstructions, CodeTask, FilePart, FileTask, FoundModule, Frame, HandedFile,
    RecordingRef, RequestedModule, SourceTask, SymbolizeTask, SymbolizedAddress,
    SymbolizedAddresses,
};

/// Maximum bytes of an answer: of its texts, and of its rows without them.
const MOST_BYTES: usize = 128 << 20;
/// Maximum bytes of a frame without its texts, in JSON.
const FRAME_BYTES: usize = 96;

/// Returns the build-id of a module.
pub(super) fn build_id(module: &RequestedModule) -> Result<BuildId, Problem> {
    let unknown = || Problem::new(ProblemKind::NotFound).detail("no file of this id is known");
    BuildId::from_hex(&module.build_id).ok_or_else(unknown)
}

/// Symbolizes all addresses.
pub(super) fn names(
    context: &TaskContext<'_>,
    task: &SymbolizeTask,
) -> Result<SymbolizedAddresses, Problem> {
    let files = context.identified(task.inlines, task.demangle)?;
    let mut found: Vec<Option<usize>> = Vec::new();
    let mut wanted: Vec<(IdentifiedFile, Vec<Svma>)> = Vec::new();
    let mut modules = Vec::new();
    for module in &task.modules {
        let file = find(&files, module);
        modules.push(found_module(&file));
        found.push(file.as_ref().ok().map(|_| wanted.len()));
        wanted.extend(file.ok().map(|file| (file, Vec::new())));
    }
    let places: Vec<Option<(usize, Svma)>> = task
        .addresses
        .iter()
        .map(|&(module, address)| {
            let at = found.get(module).copied().flatten()?;
            let (file, addresses) = wanted.get_mut(at)?;
            let address = match task.space {
                AddressSpace::Svma => Some(Svma(address)),
                AddressSpace::Offset => file.address_of(FileOffset(address)),
            };
            addresses.extend(address);
            address.map(|address| (at, address))
        })
        .collect();
    for (_, addresses) in &mut wanted {
        addresses.sort_unstable();
        addresses.dedup();
    }
    let (symbols, strings) = files.names(&wanted)?;
    let rows = task.addresses.iter().zip(places).map(|(&(module, _), place)| {
        let Some((at, address)) = place else {
            let is_found = found.get(module).is_some_and(Option::is_some);
            let why = if is_found { WhyNoName::NotCovered } else { WhyNoName::NoFile };
            return SymbolizedAddress {
                reason: Some(why.as_str().to_owned()),
                ..SymbolizedAddress::default()
            };
        };
        let index = wanted.get(at).and_then(|(_, all)| all.binary_search(&address).ok());
        let answer = symbols.addresses.get(at).zip(index).and_then(|(all, index)| all.get(index));
        SymbolizedAddress {
            address: Some(format!("{:#x}", address.0)),
            ..answer.map(|it| symbolized(it, &symbols, &strings)).unwrap_or_default()
        }
    });
    let mut addresses = Vec::new();
    let mut bytes = 0;
    for row in rows {
        bytes += bytes_of(&row);
        if bytes > MOST_BYTES {
            return Err(
                Problem::new(ProblemKind::TooLarge).detail("the names; request fewer addresses")
            );
        }
        addresses.push(row);
    }
    Ok(SymbolizedAddresses { modules, addresses })
}

/// Returns an upper bound of the bytes of a row's frames in JSON.
fn bytes_of(row: &SymbolizedAddress) -> usize {
    let text = |text: &Option<String>| text.as_deref().map_or(0, printed_bytes);
    row.frames.iter().map(|it| FRAME_BYTES + text(&it.function) + text(&it.file)).sum()
}

/// Returns an upper bound of the bytes of a text in JSON.
fn printed_bytes(text: &str) -> usize {
    let printed = |byte: u8| match byte {
        b'"' | b'\\' => 2,
        b' '..=b'~' => 1,
        _ => 6,
    };
    text.bytes().map(printed).sum()
}

/// Returns the text of a source file that the debug information of an address names.
pub(super) fn source(context: &TaskContext<'_>, task: &SourceTask) -> Result<SourceText, Problem> {
    let files = context.identified(true, Demangle::None)?;
    let file = find(&files, &task.module)?;
    let (symbols, strings) = files.names(&[(file, vec![Svma(task.address)])])?;
    let mut named = symbols.frames.iter().filter_map(|row| row.file);
    if !named.any(|id| strings.get(id) == task.file.as_bytes()) {
        let text = "the code at this address is not of that file";
        return Err(Problem::new(ProblemKind::DoesNotFit).detail(text));
    }
    context.source_text(&task.file)
}

/// Returns instructions of a file.
pub(super) fn code(
    context: &TaskContext<'_>,
    task: &CodeTask,
) -> Result<CodeInstructions, Problem> {
    let files = context.identified(false, Demangle::None)?;
    let file = find(&files, &task.module)?;
    let instructions = files.instructions(&file, Svma(task.address), task.length, task.to_end);
    let instructions = instructions
        .map_err(|error| Problem::new(ProblemKind::NoCode).detail(error.to_string()))?;
    let behind = |at: Svma| at.0.saturating_sub(task.address);
    let length = instructions.last().map_or(0, |last| behind(last.address) + u64::from(last.len));
    let rows = instructions.into_iter().map(|it| (behind(it.address), it.text));
    Ok(CodeInstructions { length, instructions: rows.collect() })
}

/// Returns a file's descriptor, and its description.
pub(super) fn file(
    context: &TaskContext<'_>,
    task: &FileTask,
) -> Result<(HandedFile, OwnedFd), Problem> {
    let files = context.identified(false, Demangle::None)?;
    let id = build_id(&task.module)?;
    let missing = |text: &str| Problem::new(ProblemKind::NotFound).detail(text);
    // This host's other stores may contain files that are not meant for clients.
    if task.module.paths.is_empty() && !files.is_in_named_stores(id) {
        return Err(missing(
            "no recording used a file of this build-id, and no named store has it",
        ));
    }
    let found = find(&files, &task.module);
    let known = found.as_ref().ok();
    let opened = match &task.part {
        FilePart::Executable => files.open(id, &found?).map(|(file, path)| (file, path, None)),
        FilePart::DebugInfo => {
            let opened = files.open_debug(id, known);
            let opened = opened.ok_or_else(|| missing("no debug information"))?;
            opened.map(|(file, path)| (file, path, None))
        }
        FilePart::Section(name) => {
            let opened = files.open_section(id, known, name.as_bytes());
            let opened =
                opened.ok_or_else(|| missing("no file of it has bytes for this section"))?;
            opened.map(|it| (it.file, it.path, Some((it.range.start, it.range.end))))
        }
        FilePart::Source(path) => {
            let text = "its debug information names no such file, or the file is not below a folder of --source-dir";
            let opened = files.open_source(id, known, path.as_bytes());
            Ok(opened.map(|(file, path)| (file, path, None)).ok_or_else(|| missing(text))?)
        }
    };
    let (file, path, range) = opened.map_err(|error| missing(&error.to_string()))?;
    let handed = HandedFile { path: path.to_string_lossy().into_owned(), range };
    Ok((handed, OwnedFd::from(file)))
}

/// Returns the build-ids and absolute paths of the files of a recording's modules.
pub(super) fn modules(
    context: &mut TaskContext<'_>,
    recording: &RecordingRef,
) -> Result<Vec<(String, PathBuf)>, Problem> {
    let (pipeline, source) = context.opened(recording)?;
    let options = &context.worker.options.options;
    let maps = pipeline.maps(source, options, &context.observer)?;
    let absolute = |(path, id): (PathBuf, BuildId)| {
        // The worker shares the working directory of the service.
        Some((id.to_string(), std::path::absolute(path).ok()?))
    };
    Ok(maps.open_files()?.into_iter().filter_map(absolute).collect())
}

fn find(files: &IdentifiedFiles, module: &RequestedModule) -> Result<IdentifiedFile, Problem> {
    let name = module.name.as_deref().unwrap_or_default();
    let found = files.find(name.as_bytes(), build_id(module)?, &module.paths);
    found.map_err(|error| Problem::new(ProblemKind::NotFound).detail(error.to_string()))
}

fn found_module(file: &Result<IdentifiedFile, Problem>) -> FoundModule {
    match file {
        Ok(file) => FoundModule {
            found: true,
            file: Some(file.path().to_string_lossy().into_owned()),
            reason: None,
        },
        Err(error) => FoundModule { found: false, file: None, reason: error.detail.clone() },
    }
}

fn symbolized(answer: &ResolvedAddress, symbols: &Symbols, strings: &Strings) -> SymbolizedAddress {
    let text = |id: StringId| String::from_utf8_lossy(strings.get(id)).into_owned();
    let range = answer.frames.start as usize..answer.frames.end as usize;
    let frames = symbols.frames.get(range).unwrap_or_default().iter().map(|row| Frame {
        function: row.function.map(text),
        file: row.file.map(text),
        line: (row.line > 0).then_some(row.line),
        column: (row.column > 0).then_some(row.column),
        inlined: row.inlined,
    });
    SymbolizedAddress {
        address: None,
        function_start: answer.function_start.map(|start| format!("{:#x}", start.0)),
        frames: frames.collect(),
        reason: answer.reason.map(|why| why.as_str().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_count_with_and_without_texts() {
        let text = |text: &str| Some(text.to_owned());
        let long = Frame {
            function: text("f\u{1b}"),
            file: text("a.c"),
            line: Some(u32::MAX),
            column: Some(u32::MAX),
            inlined: false,
        };
        let bare = Frame { function: None, file: None, line: None, column: None, inlined: true };
        let frames = vec![long, bare];
        let printed = serde_json::to_string(&frames).expect("JSON");
        let row = SymbolizedAddress { frames, ..SymbolizedAddress::default() };
        assert_eq!(bytes_of(&row), 2 * FRAME_BYTES + (1 + 6) + 3);
        assert!(printed.len() <= bytes_of(&row), "{printed}");
    }
}
