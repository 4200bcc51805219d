//! Names of C++ as people write them, out of the names that compilers give to the linker.
//!
//! ```
//! use demangle::cxx::{Demangler, Options};
//!
//! let mut demangler = Demangler::default();
//! let name = demangler.demangle(b"_ZNSt6vectorIiSaIiEE9push_backERKi", Options::default());
//! assert_eq!(name, Some(&b"std::vector<int, std::allocator<int>>::push_back(int const&)"[..]));
//! assert_eq!(demangler.demangle(b"main", Options::default()), None);
//! ```
//!
//! # What is read
//!
//! The mangling of the Itanium C++ ABI, which GCC and Clang use on everything but Windows, with what both write beyond
//! it: C++20 and C++23, blocks, vendor types and qualifiers, Objective-C protocols, clone suffixes. Rust, Swift and D
//! have manglings of their own and are not read.
//!
//! # What is written
//!
//! What `llvm-cxxfilt` of LLVM 19 writes, byte for byte, or, where that is asked for, the same with the spellings of
//! binutils, GDB and perf for what has no spelling in C++ ([`Spelling`]).
//!
//! # How
//!
//! One pass parses a name into a tree of 16-byte nodes in one vector (`tree`); a second pass prints it. Substitutions
//! and template parameters are indices of what they stand for, which is therefore parsed once, and as a rule printed
//! once: its text is copied. A [`Demangler`] keeps its vectors from name to name.
//!
//! Names are hostile: the length of a name and its nesting are limited, the steps of printing and the length of the
//! output by the length of the name. A name that reaches a limit is not demangled. The cost of a name is at most linear in
//! its length, so that of many names is at most linear in their bytes.

mod node;
mod operators;
mod parse;
mod print;
mod suffix;
mod symbol;
mod tree;

use parse::{Parser, Scratch};
use print::Printer;
pub(crate) use symbol::readable;
use tree::Tree;

/// Longest mangled name, in bytes.
const MAX_MANGLED: usize = 1 << 16;
/// Bytes of output that are kept room for between names.
const KEPT: usize = 1 << 13;

/// How to spell what C++ has no spelling for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum Spelling {
    /// As `llvm-cxxfilt`: `'lambda0'(int)`, `'unnamed'`, `a<b<c>>`, `f() (.cold)`.
    #[default]
    Llvm,
    /// As binutils, GDB and perf: `{lambda(int)#2}`, `{unnamed type#1}`, `{default arg#1}`, `a<b<c> >`,
    /// `f() [clone .cold]`, and `auto:1` for parameters of lambdas.
    Gnu,
}

/// Which parts of a name to write.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum Parts {
    /// All of them.
    #[default]
    All,
    /// The qualified name: no return type, no parameters, no template arguments, no suffix. A function that the name is
    /// local to has its parameters.
    Name,
}

/// How to write a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub struct Options {
    /// How to spell what C++ has no spelling for.
    pub spelling: Spelling,
    /// Which parts of the name to write.
    pub parts: Parts,
}

/// Demangles one name after the other; it keeps its memory, up to a limit, from name to name.
#[derive(Debug, Default)]
pub struct Demangler {
    tree: Tree,
    scratch: Scratch,
    out: Vec<u8>,
}

impl Demangler {
    /// The readable form of a mangled name: `_Z…`, or `__Z…` as macOS has it, with or without suffixes that a
    /// compiler appended. `None` for everything else, and for names that come to a limit.
    ///
    /// The text is UTF-8 if the name is.
    pub fn demangle(&mut self, name: &[u8], options: Options) -> Option<&[u8]> {
        if name.len() > MAX_MANGLED {
            return None;
        }
        let mut parser = Parser::new(name, &mut self.tree, &mut self.scratch);
        let (root, suffix) = parser.mangled_name()?;
        self.out.clear();
        if self.out.capacity() > KEPT {
            self.out.shrink_to(KEPT);
        }
        Printer::new(name, &mut self.tree, &mut self.out, options).name(root)?;
        if options.parts == Parts::All {
            let suffix = name.get(suffix..).unwrap_or_default();
            suffix::write(&mut self.out, suffix, options.spelling);
        }
        Some(&self.out)
    }
}
