//! Addresses of files that are found by build-id, and their names.

use std::path::PathBuf;

use options::Demangle;
use serde::{Deserialize, Serialize};

/// Addresses whose names are wanted.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SymbolizeTask {
    /// The files.
    pub(crate) modules: Vec<WantedModule>,
    /// Which file, by its index, and the address.
    pub(crate) addresses: Vec<(usize, u64)>,
    /// How addresses are counted.
    pub(crate) space: AddressSpace,
    /// Whether inlined functions are looked for.
    pub(crate) inlines: bool,
    /// How names are written.
    pub(crate) demangle: Demangle,
}

/// A file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct WantedModule {
    /// Its build-id, as hexadecimal digits.
    pub(crate) build_id: String,
    /// What a recording calls it.
    pub(crate) name: Option<String>,
    /// Where it was, as far as that is known.
    pub(crate) places: Vec<PathBuf>,
}

/// How addresses are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum AddressSpace {
    /// As the file states them: virtual addresses of ELF.
    #[default]
    Svma,
    /// Offsets in the file.
    Offset,
}

/// The text of a source file that code at an address is of.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SourceTask {
    /// The file with the code.
    pub(crate) module: WantedModule,
    /// The address, as the file states it.
    pub(crate) address: u64,
    /// The name of the source file, as debug information of that address has it.
    pub(crate) file: String,
}

/// Instructions.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CodeTask {
    /// The file with the code.
    pub(crate) module: WantedModule,
    /// Where they begin, as the file states it.
    pub(crate) address: u64,
    /// Bytes.
    pub(crate) length: u64,
    /// Whether they go on to the end of the function.
    pub(crate) to_end: bool,
}

/// Instructions: where each is behind the first, and its text.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Code {
    /// Bytes of all.
    pub(crate) length: u64,
    pub(crate) instructions: Vec<(u64, String)>,
}

/// A file to be handed to others.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FileTask {
    /// The file.
    pub(crate) module: WantedModule,
    /// What is wanted of it.
    pub(crate) part: FilePart,
}

/// What is wanted of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FilePart {
    /// The program or library.
    Executable,
    /// What has the debug information.
    DebugInfo,
    /// The bytes of a section.
    Section(String),
}

/// A file that is handed to others: its descriptor comes with this.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct HandedFile {
    /// Its path.
    pub(crate) path: String,
    /// From which byte to which; all of it where nothing is said.
    pub(crate) range: Option<(u64, u64)>,
}

/// The names.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Named {
    /// The files, in the order of the question.
    pub(crate) modules: Vec<FoundModule>,
    /// The addresses, in the order of the question.
    pub(crate) addresses: Vec<NamedAddress>,
}

/// What was found of a file.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FoundModule {
    pub(crate) found: bool,
    /// The path that it was opened by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
    /// Why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
}

/// What is known of an address.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct NamedAddress {
    /// The address as the file states it, as `0x…`; not there where nothing is mapped at the offset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) address: Option<String>,
    /// Where the function begins that is not inlined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) function_start: Option<String>,
    /// The functions, the innermost first.
    pub(crate) frames: Vec<Frame>,
    /// Why there is no name: `no-file`, `no-symbols`, `not-covered`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
}

/// A function at an address.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Frame {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) function: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) column: Option<u32>,
    /// Whether it was inlined into the next.
    pub(crate) inlined: bool,
}
