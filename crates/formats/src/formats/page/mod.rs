//! The HTML page of a profile, in one file without external resources. It contains the tables of the profile,
//! compressed, and the scripts of the crate `web`, which aggregate and draw them.
//!
//! This module writes the tables: a head in JSON, and columns of numbers. The scripts use the columns unconverted; only
//! the few hundred drawn frames are resolved to names.

mod columns;
mod head;
mod live;
mod schema;
mod tree;
mod values;

use std::io;
use std::sync::OnceLock;

use address::ModuleId;
use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderWriter;

use crate::facts::FormatFacts;
use crate::printer::Printer;
use crate::render::encoding::gzip::GzipWriter;
use columns::PageColumns;
pub(crate) use columns::column as page_column;
pub use live::{LivePage, LiveStep};
use profile::Profile;
pub(crate) use schema::{NONE as PAGE_NONE, RowColumn as PageRowColumn, Width as PageWidth};
use tree::PageTree;

/// A source file included in the page.
#[derive(Debug, Clone)]
pub struct PageSource {
    /// Name of the file, as in the functions of the profile.
    pub file: Vec<u8>,
    /// Contents of the file.
    pub text: Vec<u8>,
}

/// Machine code of a function with instructions for the page.
#[derive(Debug, Clone)]
pub struct PageFunctionCode {
    /// Its module.
    pub module: ModuleId,
    /// Start address, as stated in the module's file.
    pub start: u64,
    /// Its instructions, contiguous: length in bytes, and text.
    pub instructions: Vec<(u8, String)>,
}

/// Name of the code that instructions jump to or call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageTarget {
    /// Its module.
    pub module: ModuleId,
    /// Its address, as stated in the module's file.
    pub address: u64,
    /// Name of its function, with the offset from its start.
    pub name: Vec<u8>,
}

/// Instructions included in the page.
#[derive(Debug, Clone, Default)]
pub struct PageCode {
    /// Functions, sorted by decreasing number of samples.
    pub functions: Vec<PageFunctionCode>,
    /// Names of jump and call targets outside of their functions.
    pub targets: Vec<PageTarget>,
    /// Number of functions with samples that exceeded the limit.
    pub omitted: u64,
}

/// Prints the page.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// Whether inlined functions are separate frames.
    pub inlines: bool,
    /// Modification time of the recording's file, in milliseconds since 1970, if known.
    pub written: Option<i64>,
    /// Source files included in the page.
    pub sources: Vec<PageSource>,
    /// Instructions of functions.
    pub code: PageCode,
    /// See [`Self::prepare`].
    tree: OnceLock<PageTree>,
}

impl Page {
    /// Returns a page without sources and instructions.
    #[must_use]
    pub fn new(inlines: bool, written: Option<i64>) -> Self {
        Self { inlines, written, ..Self::default() }
    }

    /// Prepares the printing of a profile. Other work, such as the reading of instructions, can be done at the same time.
    pub fn prepare(&self, profile: &Profile) {
        self.tree(profile);
    }

    fn tree(&self, profile: &Profile) -> &PageTree {
        self.tree.get_or_init(|| PageTree::new(profile, self.inlines))
    }

    /// Name, file name endings and weights of the format.
    pub(crate) const FACTS: FormatFacts = FormatFacts::text(
        "report",
        "a self-contained page for a browser",
        &[".html"],
        "text/html; charset=utf-8",
    );
}

impl Printer for Page {
    fn print(&self, profile: &Profile, out: &mut dyn io::Write) -> io::Result<()> {
        let tree = self.tree(profile);
        let columns = PageColumns::new(profile, tree);
        let head = head::head(profile, tree, &columns, self)?;
        write_page(out, &head, |sink| columns.write(profile, tree, sink))
    }
}

impl Page {
    /// Prints only the tables of the page, as a gzip stream, for a server that has the rest of the page.
    ///
    /// # Errors
    /// Returns the error of writing to `out`, unchanged.
    pub fn print_tables(&self, profile: &Profile, out: &mut dyn io::Write) -> io::Result<()> {
        let tree = self.tree(profile);
        let columns = PageColumns::new(profile, tree);
        let head = head::head(profile, tree, &columns, self)?;
        write_tables(out, &head, |sink| columns.write(profile, tree, sink))
    }
}

/// Writes a page with its tables: a head, and columns that `put_columns` writes.
pub(crate) fn write_page(
    out: &mut dyn io::Write,
    head: &[u8],
    put_columns: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
) -> io::Result<()> {
    let document = web::document();
    let document = document.map_err(|error| io::Error::other(format!("{error:?}")))?;
    out.write_all(document.as_bytes())?;
    let mut sink = EncoderWriter::new(out, &STANDARD);
    write_tables(&mut sink, head, put_columns)?;
    let out = sink.finish()?;
    out.write_all(web::END.as_bytes())
}

/// Writes only the tables, as a gzip stream.
pub(crate) fn write_tables(
    out: &mut dyn io::Write,
    head: &[u8],
    put_columns: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
) -> io::Result<()> {
    // Level 5 takes 1.4 times the time for 6 % of the size.
    let mut sink = GzipWriter::new(out, 3);
    write_head(head, &mut sink)?;
    put_columns(&mut sink)?;
    sink.finish()
}

/// Writes the head's length in 8 bytes, and the head, padded to a multiple of 8 bytes.
fn write_head(head: &[u8], sink: &mut dyn io::Write) -> io::Result<()> {
    sink.write_all(&(head.len() as u64).to_le_bytes())?;
    sink.write_all(head)?;
    sink.write_all(&[0; 8][..(8 - head.len() % 8) % 8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_begin_with_a_head_that_is_filled_up() {
        for head in [&b"{}"[..], b"{\"a\":12}", b""] {
            let mut bytes = Vec::new();
            write_head(head, &mut bytes).unwrap();
            assert_eq!(bytes[..8], (head.len() as u64).to_le_bytes());
            assert_eq!(bytes[8..8 + head.len()], *head);
            assert_eq!(bytes.len(), (8 + head.len()).next_multiple_of(8));
        }
    }
}
