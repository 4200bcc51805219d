//! Lists of paths, one a line or separated by null bytes, that are read as needed.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, BufRead as _, BufReader, Read};
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

/// Maximum length of a path in a list, in bytes.
const LONGEST: u64 = 1 << 16;

/// Iterator over the paths of a list. Empty ones are skipped.
pub struct ListedPaths {
    text: BufReader<Box<dyn Read + Send>>,
    separator: u8,
}

impl fmt::Debug for ListedPaths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ListedPaths").field("separator", &self.separator).finish_non_exhaustive()
    }
}

impl ListedPaths {
    /// Reads paths that end with a line feed, or with a null byte if `is_null_separated`.
    #[must_use]
    pub fn new(text: Box<dyn Read + Send>, is_null_separated: bool) -> Self {
        let separator = if is_null_separated { 0 } else { b'\n' };
        Self { text: BufReader::new(text), separator }
    }

    fn read(&mut self) -> io::Result<Option<PathBuf>> {
        loop {
            let mut path = Vec::new();
            let limited = &mut (&mut self.text).take(LONGEST);
            if limited.read_until(self.separator, &mut path)? == 0 {
                return Ok(None);
            }
            if path.last() == Some(&self.separator) {
                path.pop();
            } else if path.len() as u64 >= LONGEST {
                let message = format!("a path of the list is longer than {LONGEST} bytes");
                return Err(io::Error::new(io::ErrorKind::InvalidData, message));
            }
            if !path.is_empty() {
                return Ok(Some(OsString::from_vec(path).into()));
            }
        }
    }
}

impl Iterator for ListedPaths {
    type Item = io::Result<PathBuf>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt as _;

    use super::*;

    fn paths(text: &'static [u8], is_null_separated: bool) -> Vec<Vec<u8>> {
        let list = ListedPaths::new(Box::new(text), is_null_separated);
        list.map(|path| path.expect("a path").as_os_str().as_bytes().to_vec()).collect()
    }

    #[test]
    fn lines_and_null_bytes_separate() {
        assert_eq!(paths(b"a b\n\n/c\xff\nlast", false), [&b"a b"[..], b"/c\xff", b"last"]);
        assert_eq!(paths(b"a\nb\0\0c\0", true), [&b"a\nb"[..], b"c"]);
        assert_eq!(paths(b"", false), Vec::<Vec<u8>>::new());
    }

    #[test]
    fn an_endless_line_is_an_error() {
        let mut list = ListedPaths::new(Box::new(io::repeat(b'x')), false);
        let error = list.next().expect("a result").expect_err("too long");
        assert_eq!(error.to_string(), "a path of the list is longer than 65536 bytes");
    }
}
