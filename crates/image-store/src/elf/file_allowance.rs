//! Limits for one file while it is opened: a few bytes can state sections of many gigabytes.

use budget::{Allowance, Budget, Exhausted, Resource};

/// Maximum number of omitted parts of a file that are named in findings.
const MAX_OMITTED: usize = 4;

/// A part of a file that is omitted because it exceeds a limit for the file's size.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct OmittedPart {
    /// The part.
    pub(crate) what: String,
    /// Reason.
    pub(crate) why: String,
}

/// Remaining budget of one file.
#[derive(Debug)]
pub(crate) struct FileAllowance {
    unpacked: Allowance,
    relocations: Allowance,
    names: Allowance,
    segments: Allowance,
    sections: Allowance,
    is_laid_out: bool,
    omitted: Vec<OmittedPart>,
}

impl FileAllowance {
    /// Creates the budget for a file of `len` bytes.
    pub(crate) fn new(budget: &Budget, len: usize) -> Self {
        let allowance = |resource| budget.allowance(resource, len as u64);
        Self {
            unpacked: allowance(Resource::UnpackedBytes),
            relocations: allowance(Resource::Relocations),
            names: allowance(Resource::NameBytes),
            segments: allowance(Resource::StatedBytes),
            sections: allowance(Resource::StatedBytes),
            is_laid_out: false,
            omitted: Vec::new(),
        }
    }

    /// Remaining number of unpacked bytes.
    pub(crate) const fn unpacked_left(&self) -> u64 {
        self.unpacked.left()
    }

    /// Error for exceeding [`Self::unpacked_left`].
    pub(crate) const fn too_much_unpacked(&self) -> Exhausted {
        Exhausted { resource: Resource::UnpackedBytes, limit: self.unpacked.limit() }
    }

    /// Takes bytes for unpacking, all or none, so that smaller parts may still be unpacked. If
    /// there are too few, notes the part as omitted.
    pub(crate) fn unpack(
        &mut self,
        bytes: u64,
        what: impl FnOnce() -> String,
    ) -> Result<(), Exhausted> {
        if bytes <= self.unpacked.left() {
            return self.unpacked.take(bytes);
        }
        let why = self.too_much_unpacked();
        self.note(what, why);
        Err(why)
    }

    /// Takes relocations, or symbols that they refer to.
    pub(crate) fn relocate(
        &mut self,
        count: u64,
        what: impl FnOnce() -> String,
    ) -> Result<(), Exhausted> {
        let taken = self.relocations.take(count);
        taken.inspect_err(|&why| self.note(what, why))
    }

    /// Takes bytes of names.
    pub(crate) fn name(
        &mut self,
        bytes: usize,
        what: impl FnOnce() -> String,
    ) -> Result<(), Exhausted> {
        let taken = self.names.take(bytes as u64);
        taken.inspect_err(|&why| self.note(what, why))
    }

    /// Switches to a file with sections laid out by this program, which are not counted again.
    pub(crate) fn laid_out(mut self, bytes: usize) -> Self {
        self.is_laid_out = true;
        let bytes = (bytes as u64).saturating_mul(2).saturating_add(self.sections.limit());
        self.sections = Allowance::new(Resource::StatedBytes, bytes);
        self
    }

    /// Returns true if this program laid out the file's sections.
    pub(crate) const fn is_laid_out(&self) -> bool {
        self.is_laid_out
    }

    /// Takes a segment with `file_bytes` stated bytes. It costs an additional 64 KiB, because
    /// lookups scan all segments.
    pub(crate) fn segment(&mut self, file_bytes: u64) -> Result<(), Exhausted> {
        const EACH: u64 = 64 << 10;
        let taken = self.segments.take(file_bytes.saturating_add(EACH));
        taken.inspect_err(|&why| self.note(|| "the table of segments".to_owned(), why))
    }

    /// Takes a section with `file_bytes` stated bytes, and 1 KiB for the section itself.
    pub(crate) fn section(&mut self, file_bytes: u64) -> Result<(), Exhausted> {
        const EACH: u64 = 1 << 10;
        let taken = self.sections.take(file_bytes.saturating_add(EACH));
        taken.inspect_err(|&why| self.note(|| "the table of sections".to_owned(), why))
    }

    fn note(&mut self, what: impl FnOnce() -> String, why: Exhausted) {
        if self.omitted.len() < MAX_OMITTED {
            self.omitted.push(OmittedPart { what: what(), why: format!("asks for {why}") });
        }
    }

    /// Notes a surplus instance of a part that may occur only once.
    pub(crate) fn note_further(&mut self, what: &str) {
        let why = "is one too many".to_owned();
        self.omitted.push(OmittedPart { what: what.to_owned(), why });
    }

    /// Notes an unreadable part.
    pub(crate) fn note_damaged(&mut self, what: &str) {
        let why = "is damaged".to_owned();
        self.omitted.push(OmittedPart { what: what.to_owned(), why });
    }

    /// Returns the omitted parts.
    pub(crate) fn into_omitted(self) -> Vec<OmittedPart> {
        self.omitted
    }
}

#[cfg(test)]
mod tests {
    use budget::Limit;

    use super::*;

    #[test]
    fn what_is_too_large_is_left_out_and_the_rest_is_not() {
        let limit = Limit { base: 10, per_byte: 0, most: 10 };
        let budget = Budget::default().with(Resource::UnpackedBytes, limit);
        let mut allowance = FileAllowance::new(&budget, 1);
        assert_eq!(allowance.unpack(4, String::new), Ok(()));
        for number in 0..9 {
            let error = allowance.unpack(7, || format!("part {number}"));
            assert_eq!(error, Err(allowance.too_much_unpacked()));
        }
        assert_eq!(allowance.unpack(6, String::new), Ok(()));
        assert_eq!(allowance.unpacked_left(), 0);
        let omitted = allowance.into_omitted();
        let words = omitted.iter().map(|part| format!("{}: {}", part.what, part.why));
        let words: Vec<_> = words.collect();
        assert_eq!(words.len(), MAX_OMITTED);
        assert_eq!(words[0], "part 0: asks for more than 10 unpacked bytes");
    }
}
