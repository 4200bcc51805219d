//! Substitutions: earlier parts of the name, and the abbreviations of `std`.
//!
//! Source: Itanium C++ ABI, 5.1.10 "Compression".

use super::Parser;
use super::unqualified::abbreviation;
use crate::cxx::node::{Node, NodeId};

impl Parser<'_> {
    /// `<substitution> ::= S [<seq-id>] _ | Sa | Sb | Ss | Si | So | Sd`; `St` is not one, since a name must follow it.
    pub(super) fn substitution(&mut self) -> Option<NodeId> {
        self.expect(b'S')?;
        if let letter @ b'a'..=b'z' = self.peek() {
            let std = abbreviation(letter)?;
            self.at += 1;
            let plain = self.add(Node::Std(std, false));
            let tagged = if self.peek() == b'B' { self.tags(plain)? } else { plain };
            if tagged != plain {
                self.remember(tagged);
            }
            return Some(tagged);
        }
        let index = if self.peek() == b'_' { 0 } else { self.sequence_number()?.checked_add(1)? };
        self.expect(b'_')?;
        let id = self.scratch.substitutions.get(index).copied()?;
        self.tree.set_shared(id);
        Some(id)
    }

    /// `<seq-id>`: a number in base 36.
    pub(super) fn sequence_number(&mut self) -> Option<usize> {
        let at = self.at;
        let mut value = 0_usize;
        loop {
            let digit = match self.peek() {
                digit @ b'0'..=b'9' => digit - b'0',
                digit @ b'A'..=b'Z' => digit - b'A' + 10,
                _ => break,
            };
            value = value.saturating_mul(36).saturating_add(usize::from(digit));
            self.at += 1;
        }
        (self.at > at).then_some(value)
    }
}
