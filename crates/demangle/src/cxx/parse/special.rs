//! Compiler-generated entities: tables, type information, thunks, guards.
//!
//! Source: Itanium C++ ABI, 5.1.4.1 "Virtual Tables and RTTI" to 5.1.4.6.

use super::Parser;
use crate::cxx::node::{Node, NodeId, Word};

impl Parser<'_> {
    /// `<special-name>`
    pub(super) fn special_name(&mut self) -> Option<NodeId> {
        let letters = [self.peek(), self.peek_at(1)];
        let of_type: Option<Word> = match &letters {
            b"TV" => Some(&"vtable for "),
            b"TT" => Some(&"VTT for "),
            b"TI" => Some(&"typeinfo for "),
            b"TS" => Some(&"typeinfo name for "),
            _ => None,
        };
        if let Some(what) = of_type {
            self.at += 2;
            let of = self.type_()?;
            return Some(self.add(Node::Special { what, of }));
        }
        let of_name: Option<Word> = match &letters {
            b"TW" => Some(&"thread-local wrapper routine for "),
            b"TH" => Some(&"thread-local initialization routine for "),
            b"GV" => Some(&"guard variable for "),
            _ => None,
        };
        if let Some(what) = of_name {
            self.at += 2;
            let of = self.plain_name()?;
            return Some(self.add(Node::Special { what, of }));
        }
        self.other_special_name(letters)
    }

    fn other_special_name(&mut self, letters: [u8; 2]) -> Option<NodeId> {
        self.at += 2;
        let (what, of): (Word, NodeId) = match &letters {
            b"TA" => (&"template parameter object for ", self.template_argument()?),
            b"GR" => (&"reference temporary for ", self.temporary()?),
            b"GI" => (&"initializer for module ", self.module_name(None)??),
            b"GT" => {
                // GCC's functions for transactional memory.
                let is_clone = self.eat(b't');
                if !is_clone {
                    self.expect(b'n')?;
                }
                let what: Word = if is_clone {
                    &"transaction clone for "
                } else {
                    &"non-transaction clone for "
                };
                (what, self.encoding()?)
            }
            b"TC" => return self.construction_table(),
            b"Tc" => {
                self.call_offset()?;
                self.call_offset()?;
                (&"covariant return thunk to ", self.encoding()?)
            }
            [b'T', offset] => {
                self.at -= 1;
                self.call_offset()?;
                let is_virtual = *offset == b'v';
                let what: Word =
                    if is_virtual { &"virtual thunk to " } else { &"non-virtual thunk to " };
                (what, self.encoding()?)
            }
            _ => return None,
        };
        Some(self.add(Node::Special { what, of }))
    }

    /// `TC <type> <offset> _ <type>`
    fn construction_table(&mut self) -> Option<NodeId> {
        let within = self.type_()?;
        let offset = self.signed_number();
        self.expect(b'_')?;
        let of = self.type_()?;
        (offset.length > 0).then(|| self.add(Node::ConstructionTable { of, within }))
    }

    /// `GR <name> [[<seq-id>] _]`
    fn temporary(&mut self) -> Option<NodeId> {
        let name = self.plain_name()?;
        let is_counted = self.sequence_number().is_some();
        (self.eat(b'_') || !is_counted).then_some(name)
    }

    /// `<call-offset> ::= h <number> _ | v <number> _ <number> _`; it is not printed.
    fn call_offset(&mut self) -> Option<()> {
        let numbers = if self.eat(b'h') {
            1
        } else if self.eat(b'v') {
            2
        } else {
            return None;
        };
        for _ in 0..numbers {
            if self.signed_number().length == 0 {
                return None;
            }
            self.expect(b'_')?;
        }
        Some(())
    }
}
