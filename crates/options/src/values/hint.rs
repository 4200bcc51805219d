//! Map hints: a range of process memory contains bytes of a file.

use std::path::PathBuf;

use address::{Avma, FileOffset, Pid};
use serde::{Deserialize, Serialize};

use crate::Bytes;

/// The processes that a hint applies to.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum HintScope {
    /// A process and the children that it forks.
    Process(Pid),
    /// Every process with this thread name.
    Comm(Box<[u8]>),
    /// Every process.
    All,
}

/// A range of memory, and the file that its bytes are from: `OBJECT@PID,START,LEN[,OFFSET]`. In JSON it is an object,
/// since file names may contain any bytes; the text form is accepted, too.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "HintJson", into = "Members")]
pub struct Hint {
    /// The file.
    pub object: PathBuf,
    /// The processes.
    pub scope: HintScope,
    /// Its first address.
    pub start: Avma,
    /// Its length in bytes.
    pub len: u64,
    /// File offset of the first byte; `None` if the hint does not state it.
    pub offset: Option<FileOffset>,
}

/// An invalid hint.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum HintError {
    /// The text does not have the expected form.
    #[error("map hint {text:?}: {what}; expected OBJECT@PID,START,LEN[,OFFSET]")]
    Form {
        /// The hint.
        text: String,
        /// The reason.
        what: &'static str,
    },
    /// Two hints cover the same bytes.
    #[error("map hints overlap: {first} and {second}")]
    Overlap {
        /// One hint.
        first: String,
        /// The other hint.
        second: String,
    },
}

impl Hint {
    /// Parses a hint. Numbers are hexadecimal with `0x` or if they have the digits a to f, else decimal. The process is
    /// an id, `*` for all, or `comm:NAME`.
    ///
    /// # Errors
    /// If the text does not have the form, or if the range is empty or passes the end of the address space.
    pub fn parse(text: &str) -> Result<Self, HintError> {
        let form = |what| HintError::Form { text: text.to_owned(), what };
        let (object, rest) = text.rsplit_once('@').ok_or_else(|| form("there is no @"))?;
        if object.is_empty() {
            return Err(form("there is no file"));
        }
        // A thread name may contain commas, so the numbers are parsed from the end.
        let words: Vec<&str> = rest.split(',').collect();
        let n_numbers =
            if words.len() >= 4 && number(words[words.len() - 3]).is_some() { 3 } else { 2 };
        let n_scope = words.len().checked_sub(n_numbers).filter(|&n| n > 0);
        let n_scope = n_scope.ok_or_else(|| form("there are fewer than three values"))?;
        let (scope, numbers) = words.split_at(n_scope);
        let scope = scope_of(&scope.join(","))
            .ok_or_else(|| form("the process is no id, * or comm:NAME"))?;
        let mut values = [0; 3];
        for (value, word) in values.iter_mut().zip(numbers) {
            *value = number(word).ok_or_else(|| form("an address is no number"))?;
        }
        let [start, len, offset] = values;
        if len == 0 || start.checked_add(len).is_none() {
            return Err(form(NO_RANGE));
        }
        let offset = (numbers.len() == 3).then_some(FileOffset(offset));
        Ok(Self { object: object.into(), scope, start: Avma(start), len, offset })
    }

    /// Returns the address past the last byte.
    #[must_use]
    pub const fn end(&self) -> Avma {
        self.start.add(self.len)
    }

    /// Rejects hints that cover the same bytes of the same process. A hint for one process may refine one for all or
    /// for a name; the narrower one wins.
    ///
    /// # Errors
    /// The first two, by address, that overlap.
    pub fn check(hints: &[Self]) -> Result<(), HintError> {
        let mut sorted: Vec<&Self> = hints.iter().collect();
        sorted.sort_by(|a, b| (&a.scope, a.start).cmp(&(&b.scope, b.start)));
        for pair in sorted.windows(2) {
            if let [first, second] = pair
                && first.scope == second.scope
                && second.start < first.end()
            {
                let (first, second) = (first.to_string(), second.to_string());
                return Err(HintError::Overlap { first, second });
            }
        }
        Ok(())
    }
}

impl std::fmt::Display for Hint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}@", self.object.display())?;
        match &self.scope {
            HintScope::Process(pid) => write!(f, "{pid}")?,
            HintScope::Comm(name) => write!(f, "comm:{}", String::from_utf8_lossy(name))?,
            HintScope::All => f.write_str("*")?,
        }
        write!(f, ",{:#x},{:#x}", self.start.0, self.len)?;
        self.offset.map_or(Ok(()), |offset| write!(f, ",{:#x}", offset.0))
    }
}

/// A hint in JSON.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected OBJECT@PID,START,LEN[,OFFSET], or an object")]
enum HintJson {
    Text(String),
    Members(Members),
}

/// A hint as an object; neither `pid` nor `comm` means every process.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Members {
    object: Bytes,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pid: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    comm: Option<Bytes>,
    start: u64,
    len: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    offset: Option<u64>,
}

impl From<Hint> for Members {
    fn from(hint: Hint) -> Self {
        let (pid, comm) = match hint.scope {
            HintScope::Process(pid) => (Some(pid.0), None),
            HintScope::Comm(name) => (None, Some(Bytes::from(&*name))),
            HintScope::All => (None, None),
        };
        Self {
            object: Bytes::of_path(&hint.object),
            pid,
            comm,
            start: hint.start.0,
            len: hint.len,
            offset: hint.offset.map(|offset| offset.0),
        }
    }
}

impl TryFrom<HintJson> for Hint {
    type Error = HintError;

    fn try_from(json: HintJson) -> Result<Self, HintError> {
        let members = match json {
            HintJson::Text(text) => return Self::parse(&text),
            HintJson::Members(members) => members,
        };
        let scope = match (members.pid, members.comm) {
            (Some(pid), None) => Some(HintScope::Process(Pid(pid))),
            (None, Some(name)) => Some(HintScope::Comm(name.into_vec().into())),
            (None, None) => Some(HintScope::All),
            (Some(_), Some(_)) => None,
        };
        let is_range = members.len > 0 && members.start.checked_add(members.len).is_some();
        let hint = Self {
            object: members.object.to_path(),
            scope: scope.clone().unwrap_or(HintScope::All),
            start: Avma(members.start),
            len: members.len,
            offset: members.offset.map(FileOffset),
        };
        let form = |what| Err(HintError::Form { text: hint.object.display().to_string(), what });
        match scope {
            None => form("it has both pid and comm"),
            Some(_) if hint.object.as_os_str().is_empty() => form("there is no file"),
            Some(_) if !is_range => form(NO_RANGE),
            Some(_) => Ok(hint),
        }
    }
}

/// Error text for an empty or overflowing range.
const NO_RANGE: &str = "the range is empty or passes the end of the address space";

fn scope_of(text: &str) -> Option<HintScope> {
    if text == "*" {
        return Some(HintScope::All);
    }
    if let Some(name) = text.strip_prefix("comm:") {
        return (!name.is_empty()).then(|| HintScope::Comm(name.as_bytes().into()));
    }
    let pid = i32::try_from(number(text)?).ok()?;
    Some(HintScope::Process(Pid(pid)))
}

fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    match digits {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None if text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse().ok(),
        None => u64::from_str_radix(text, 16).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        let hint = Hint::parse("/lib/a@b.so@12,0x1000,4096,0x2000").expect("a hint");
        assert_eq!(hint.object, PathBuf::from("/lib/a@b.so"));
        assert_eq!(hint.scope, HintScope::Process(Pid(12)));
        assert_eq!((hint.start, hint.len), (Avma(0x1000), 4096));
        assert_eq!(hint.offset, Some(FileOffset(0x2000)));
        assert_eq!(hint.to_string(), "/lib/a@b.so@12,0x1000,0x1000,0x2000");
        let all = Hint::parse("x.o@*,7f00aa000000,16").expect("a hint without offset");
        assert_eq!(
            (all.scope, all.start, all.offset),
            (HintScope::All, Avma(0x7f00_aa00_0000), None)
        );
        let comm = Hint::parse("x.o@comm:a,worker,0x10,0x20").expect("a hint by name");
        assert_eq!(comm.scope, HintScope::Comm(b"a,worker"[..].into()));
        for bad in
            ["x.o", "x.o@1", "x.o@1,2", "@1,2,3", "x@p,1,2", "x@1,0,0", "x@1,0xffffffffffffffff,2"]
        {
            assert!(Hint::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn overlaps_name_both() {
        let hints = ["a@1,0x1000,0x1000", "b@1,0x1fff,1", "c@2,0x1000,0x1000"]
            .map(|text| Hint::parse(text).expect("a hint"));
        let error = Hint::check(&hints).expect_err("the first two overlap");
        assert_eq!(error.to_string(), "map hints overlap: a@1,0x1000,0x1000 and b@1,0x1fff,0x1");
        assert_eq!(Hint::check(&hints[1..]), Ok(()));
    }

    /// Checking 100,000 hints is fast; comparing all pairs would take minutes.
    #[test]
    fn many_hints_are_checked_at_once() {
        let hint = |number: u64| Hint {
            object: "a".into(),
            scope: HintScope::All,
            start: Avma(number * 16),
            len: 16,
            offset: None,
        };
        let mut hints: Vec<Hint> = (0..100_000).rev().map(hint).collect();
        assert_eq!(Hint::check(&hints), Ok(()));
        hints.push(Hint { len: 1 << 20, ..hint(7) });
        let error = Hint::check(&hints).expect_err("the last covers others");
        assert_eq!(error.to_string(), "map hints overlap: a@*,0x70,0x10 and a@*,0x70,0x100000");
    }
}
