//! A page that shows a profile in a browser. All of it is in one file, and it asks for nothing: the tables of the profile
//! are in the page, compressed, and the scripts of the crate `web` count and draw them.
//!
//! What is written here is the tables: a head in JSON, and columns of numbers, which stay what they are in the browser
//! until the few hundred frames that are drawn are known.

mod columns;
mod head;
mod live;
mod schema;
mod tree;

use std::io;

use address::ModuleId;
use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderWriter;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::facts::FormatFacts;
use crate::printer::Printer;
use columns::PageColumns;
pub(crate) use columns::column as page_column;
pub use live::{LivePage, LiveStep};
use profile::Profile;
pub(crate) use schema::{NONE as PAGE_NONE, RowColumn as PageRowColumn, Width as PageWidth};
use tree::PageTree;

/// A source file whose text the page shows.
#[derive(Debug, Clone)]
pub struct PageSource {
    /// The file's name as functions of the profile have it.
    pub file: Vec<u8>,
    /// What is in it.
    pub text: Vec<u8>,
}

/// The machine code of a function, whose instructions the page shows.
#[derive(Debug, Clone)]
pub struct PageFunctionCode {
    /// Its module.
    pub module: ModuleId,
    /// Where it begins, as the module's file states it.
    pub start: u64,
    /// Its instructions, each behind the one before: how many bytes it has, and its text.
    pub instructions: Vec<(u8, String)>,
}

/// The instructions that the page shows.
#[derive(Debug, Clone, Default)]
pub struct PageCode {
    /// The functions, those of most samples first.
    pub functions: Vec<PageFunctionCode>,
    /// Functions with samples for which there was no room.
    pub left_out: u64,
}

/// Prints the page.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// Whether inlined functions are frames of their own.
    pub inlines: bool,
    /// When the recording's file was written, in milliseconds since 1970, where that is known.
    pub written: Option<i64>,
    /// The texts of source files that the page shows.
    pub sources: Vec<PageSource>,
    /// The instructions of functions.
    pub code: PageCode,
}

impl Page {
    /// The name of the format, its files and its weights.
    pub(crate) const FACTS: FormatFacts = FormatFacts::text(
        "report",
        "a page for a browser, complete in itself",
        &[".html"],
        "text/html; charset=utf-8",
    );
}

impl Printer for Page {
    fn print(&self, profile: &Profile, out: &mut dyn io::Write) -> io::Result<()> {
        let tree = PageTree::new(profile, self.inlines);
        let columns = PageColumns::new(profile, &tree);
        let head = head::head(profile, &tree, &columns, self)?;
        write_page(out, &head, |sink| columns.write(profile, &tree, sink))
    }
}

impl Page {
    /// The tables of the page alone, as a gzip stream, for a server that has the rest of the page.
    ///
    /// # Errors
    /// Where writing to `out` fails: its error, unchanged.
    pub fn print_tables(&self, profile: &Profile, out: &mut dyn io::Write) -> io::Result<()> {
        let tree = PageTree::new(profile, self.inlines);
        let columns = PageColumns::new(profile, &tree);
        let head = head::head(profile, &tree, &columns, self)?;
        write_tables(out, &head, |sink| columns.write(profile, &tree, sink))
    }
}

/// Writes a page with the tables that it shows: a head, and columns that `put_columns` writes.
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

/// Writes the tables alone, as a gzip stream.
pub(crate) fn write_tables(
    out: &mut dyn io::Write,
    head: &[u8],
    put_columns: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut sink = GzEncoder::new(out, Compression::new(6));
    write_head(head, &mut sink)?;
    put_columns(&mut sink)?;
    sink.finish()?;
    Ok(())
}

/// The head's length in 8 bytes, and the head, filled up to 8 bytes.
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
