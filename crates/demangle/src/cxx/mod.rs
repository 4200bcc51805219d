//! C++ names in source form, from the mangled names in object files.
//!
//! ```
//! use demangle::cxx::{Demangler, DemangleOptions};
//!
//! let mut demangler = Demangler::default();
//! let name = demangler.demangle(b"_ZNSt6vectorIiSaIiEE9push_backERKi", DemangleOptions::default());
//! assert_eq!(name, Some(&b"std::vector<int, std::allocator<int>>::push_back(int const&)"[..]));
//! assert_eq!(demangler.demangle(b"main", DemangleOptions::default()), None);
//! ```
//!
//! # Input
//!
//! The mangling of the Itanium C++ ABI, which GCC and Clang use everywhere but on Windows, with the extensions of both:
//! C++20 and C++23, blocks, vendor types and qualifiers, Objective-C protocols, clone suffixes.
//! Rust, Swift and D have their own manglings, which are not read here.
//!
//! # Output
//!
//! The output of `llvm-cxxfilt` from LLVM 19, byte for byte. Optionally, entities without a C++ syntax are spelled as
//! by binutils, GDB and perf ([`Spelling`]).
//!
//! # Algorithm
//!
//! One pass parses a name into a tree of 16-byte nodes in one vector (`tree`); a second pass prints it. Substitutions
//! and template parameters are indices of their targets, so each target is parsed once. It is mostly also printed once,
//! and its text copied.
//! A [`Demangler`] reuses its vectors for the next name.
//!
//! Names are untrusted: their length and nesting are limited, and the steps and length of the output are limited by the
//! length of the name. A name that exceeds a limit is not demangled.
//! The cost of a name is at most linear in its length, and that of many names at most linear in their bytes.

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

/// Length of the longest mangled name, in bytes.
const MAX_MANGLED: usize = 1 << 16;
/// Output capacity that is retained between names, in bytes.
const RETAINED_OUTPUT: usize = 1 << 13;

/// Spelling of entities without a C++ syntax.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum Spelling {
    /// As `llvm-cxxfilt`: `'lambda0'(int)`, `'unnamed'`, `a<b<c>>`, `f() (.cold)`.
    #[default]
    Llvm,
    /// As binutils, GDB and perf: `{lambda(int)#2}`, `{unnamed type#1}`, `{default arg#1}`, `a<b<c> >`,
    /// `f() [clone .cold]`, and `auto:1` for parameters of lambdas.
    Gnu,
}

/// The parts of a name to write.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum NameParts {
    /// All of them.
    #[default]
    All,
    /// The qualified name with template arguments, as perf prints it: no return type, no parameters, no suffix. Names
    /// within it, such as that of the function of a local class, have their parameters.
    Qualified,
    /// The qualified name: no return type, no parameters, no template arguments, no suffix, also of the functions and
    /// lambdas that it names.
    Name,
}

/// Output options for a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub struct DemangleOptions {
    /// Spelling of entities without a C++ syntax.
    pub spelling: Spelling,
    /// The parts of the name to write.
    pub parts: NameParts,
}

/// Demangles names one after the other. It retains its memory, up to a limit.
#[derive(Debug, Default)]
pub struct Demangler {
    tree: Tree,
    scratch: Scratch,
    out: Vec<u8>,
}

impl Demangler {
    /// Returns the readable form of a mangled name: `_Z…`, or `__Z…` as on macOS, with or without compiler suffixes.
    /// `None` for all other names, and for names that exceed a limit.
    ///
    /// The text is UTF-8 if the name is.
    pub fn demangle(&mut self, name: &[u8], options: DemangleOptions) -> Option<&[u8]> {
        if name.len() > MAX_MANGLED {
            return None;
        }
        let mut parser = Parser::new(name, &mut self.tree, &mut self.scratch);
        let (root, suffix) = parser.mangled_name()?;
        self.out.clear();
        if self.out.capacity() > RETAINED_OUTPUT {
            self.out.shrink_to(RETAINED_OUTPUT);
        }
        Printer::new(name, &mut self.tree, &mut self.out, options).name(root)?;
        if options.parts == NameParts::All {
            let suffix = name.get(suffix..).unwrap_or_default();
            suffix::write(&mut self.out, suffix, options.spelling);
        }
        Some(&self.out)
    }
}
