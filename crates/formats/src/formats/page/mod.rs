//! A page that shows a profile in a browser. All of it is in one file, and it asks for nothing: the tables of the profile
//! are in the page, compressed, and the scripts of the crate `web` count and draw them.
//!
//! What is written here is the tables: a head in JSON, and columns of numbers, which stay what they are in the browser
//! until the few hundred frames that are drawn are known.

mod columns;
mod head;
mod head_json;
mod tree;

use std::io;

use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderWriter;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::printer::Printer;
use columns::PageColumns;
use profile::Profile;
use tree::PageTree;

/// A source file whose text the page shows.
#[derive(Debug, Clone)]
pub struct PageSource {
    /// The file's name as functions of the profile have it.
    pub file: Vec<u8>,
    /// What is in it.
    pub text: Vec<u8>,
}

/// Prints the page.
#[derive(Debug, Clone)]
pub struct Page {
    /// Whether inlined functions are frames of their own.
    pub inlines: bool,
    /// When the recording's file was written, in milliseconds since 1970, where that is known.
    pub written: Option<i64>,
    /// The texts of source files that the page shows.
    pub sources: Vec<PageSource>,
}

impl Printer for Page {
    fn print(&self, profile: &Profile, out: &mut dyn io::Write) -> io::Result<()> {
        let document = web::document();
        let document = document.map_err(|error| io::Error::other(format!("{error:?}")))?;
        out.write_all(document.as_bytes())?;
        let sink = EncoderWriter::new(out, &STANDARD);
        let sink = self.write_tables(profile, GzEncoder::new(sink, Compression::new(6)))?;
        let out = sink.finish()?.finish()?;
        out.write_all(web::END.as_bytes())
    }
}

impl Page {
    /// The tables of the page alone, as a gzip stream, for a server that has the rest of the page.
    ///
    /// # Errors
    /// Where writing to `out` fails: its error, unchanged.
    pub fn print_tables(&self, profile: &Profile, out: &mut dyn io::Write) -> io::Result<()> {
        self.write_tables(profile, GzEncoder::new(out, Compression::new(6)))?.finish()?;
        Ok(())
    }

    /// The head's length in 8 bytes, the head, filled up to 8 bytes, and the columns.
    fn write_tables<W: io::Write>(&self, profile: &Profile, mut sink: W) -> io::Result<W> {
        let tree = PageTree::new(profile, self.inlines);
        let columns = PageColumns::new(profile, &tree);
        let head = head::head(profile, &tree, &columns, self)?;
        sink.write_all(&(head.len() as u64).to_le_bytes())?;
        sink.write_all(&head)?;
        sink.write_all(&[0; 8][..(8 - head.len() % 8) % 8])?;
        columns.write(profile, &tree, &mut sink)?;
        Ok(sink)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_begin_with_a_head_and_are_filled_up() {
        let page = Page { inlines: true, written: None, sources: Vec::new() };
        let bytes = page.write_tables(&Profile::default(), Vec::new()).unwrap();
        let length = u64::from_le_bytes(*bytes.first_chunk().unwrap()) as usize;
        let head = std::str::from_utf8(&bytes[8..8 + length]).unwrap();
        assert!(head.starts_with("{\"version\":2,\"title\":\"Profile\","), "{head}");
        assert_eq!(bytes.len(), (8 + length).next_multiple_of(8));
    }
}
