//! Readable names, out of those that compilers give to the linker: C++, Rust, D, Fortran, OCaml, Ada and Haskell.
//!
//! ```
//! use demangle::{Languages, Style, demangle, demangle_in};
//!
//! assert_eq!(&*demangle(b"_ZN3foo3barIiEEvT_", Style::Full), b"void foo::bar<int>(int)");
//! assert_eq!(&*demangle(b"_ZN3foo3barIiEEvT_", Style::Short), b"foo::bar");
//! assert_eq!(&*demangle(b"_RNvCs1234_7mycrate3foo", Style::Full), b"mycrate::foo");
//! // A symbol that is not mangled stays; its version is left out.
//! assert_eq!(&*demangle(b"cfree@GLIBC_2.2.5", Style::Full), b"cfree");
//! // The form of a name of Ada proves nothing: a name of C can be the same.
//! assert_eq!(&*demangle(b"ada__text_io__put", Style::Full), b"ada__text_io__put");
//! let ada = Languages { ada: true, ..Languages::default() };
//! assert_eq!(&*demangle_in(b"ada__text_io__put", Style::Full, ada), b"ada.text_io.put");
//! ```
//!
//! Names are hostile: each costs at most in proportion to its length. The demanglers of C++ and D see to that
//! themselves; that of Rust is bounded by its input, output and nesting.
//!
//! Each language is a module; `symbol` tells which one a symbol is of. [`cxx`] is public, for names of C++ in the
//! spelling of LLVM. The crate knows names and nothing else: neither files nor the options of a program.

mod ada;
mod copies;
pub mod cxx;
mod d;
mod fortran;
mod haskell;
mod languages;
mod ocaml;
mod rust;
mod short;
mod style;
mod symbol;

pub use languages::{Languages, needs_proof};
pub use style::Style;
pub use symbol::{demangle, demangle_in, plain_name};
