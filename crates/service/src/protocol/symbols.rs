//! Messages about files that are located by build-id, and symbolization of their addresses.

use std::path::PathBuf;

use options::Demangle;
use serde::{Deserialize, Serialize};

/// Addresses to symbolize.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SymbolizeTask {
    /// Files.
    pub(crate) modules: Vec<RequestedModule>,
    /// Index of the file, and address.
    pub(crate) addresses: Vec<(usize, u64)>,
    /// Address space of the addresses.
    pub(crate) space: AddressSpace,
    /// True to look up inlined functions.
    pub(crate) inlines: bool,
    /// Demangling of names.
    pub(crate) demangle: Demangle,
}

/// Requested file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RequestedModule {
    /// Build-id in hexadecimal.
    pub(crate) build_id: String,
    /// Name in a recording.
    pub(crate) name: Option<String>,
    /// Known paths of the file.
    #[serde(rename = "places")]
    pub(crate) paths: Vec<PathBuf>,
}

/// Address space of a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum AddressSpace {
    /// Virtual addresses of the ELF file.
    #[default]
    Svma,
    /// File offsets.
    Offset,
}

/// Request for the text of a source file, identified by an address of its code.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SourceTask {
    /// File that contains the code.
    pub(crate) module: RequestedModule,
    /// Address, as stated in the file.
    pub(crate) address: u64,
    /// Name of the source file in the debug information of that address.
    pub(crate) file: String,
}

/// Request for instructions.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CodeTask {
    /// File that contains the code.
    pub(crate) module: RequestedModule,
    /// Start address, as stated in the file.
    pub(crate) address: u64,
    /// Length in bytes.
    pub(crate) length: u64,
    /// True to continue to the end of the function.
    pub(crate) to_end: bool,
}

/// Instructions: the offset of each from the requested address, in bytes, and its text.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CodeInstructions {
    /// Total length in bytes.
    pub(crate) length: u64,
    pub(crate) instructions: Vec<(u64, String)>,
}

/// Request for a file by an external client.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FileTask {
    /// File.
    pub(crate) module: RequestedModule,
    /// Requested part of the file.
    pub(crate) part: FilePart,
}

/// Part of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FilePart {
    /// Program or library.
    Executable,
    /// File with the debug information.
    DebugInfo,
    /// Bytes of one section.
    Section(String),
    /// Text of a source file that the debug information names.
    Source(String),
}

/// File for an external client; its descriptor comes with this message.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct HandedFile {
    /// Path of the file.
    pub(crate) path: String,
    /// Requested byte range; `None` for the whole file.
    pub(crate) range: Option<(u64, u64)>,
}

/// Symbolized addresses.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct SymbolizedAddresses {
    /// Files, in the order of the request.
    pub(crate) modules: Vec<FoundModule>,
    /// Addresses, in the order of the request.
    pub(crate) addresses: Vec<SymbolizedAddress>,
}

/// Result of locating a file.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FoundModule {
    pub(crate) found: bool,
    /// Path of the opened file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
    /// Reason for a missing file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
}

/// Result of symbolizing an address.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct SymbolizedAddress {
    /// Address as stated in the file, as `0x…`; absent if no segment maps the offset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) address: Option<String>,
    /// Start of the function that is not inlined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) function_start: Option<String>,
    /// Functions, innermost first.
    pub(crate) frames: Vec<Frame>,
    /// Reason for a missing name: `no-file`, `no-symbols` or `not-covered`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
}

/// Function at an address.
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
    /// True if it was inlined into the next function.
    pub(crate) inlined: bool,
}
