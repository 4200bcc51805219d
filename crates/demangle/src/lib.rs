//! Readable names from mangled ones, for C++, Rust, D, Fortran, OCaml, Ada and Haskell.
//!
//! ```
//! use demangle::{Languages, Style, demangle, demangle_in};
//!
//! assert_eq!(&*demangle(b"_ZN3foo3barIiEEvT_", Style::Full), b"void foo::bar<int>(int)");
//! assert_eq!(&*demangle(b"_ZN3foo3barIiEEvT_", Style::Short), b"foo::bar");
//! assert_eq!(&*demangle(b"_RNvCs1234_7mycrate3foo", Style::Full), b"mycrate::foo");
//! // A symbol that is not mangled stays; its version is removed.
//! assert_eq!(&*demangle(b"cfree@GLIBC_2.2.5", Style::Full), b"cfree");
//! // The form of an Ada name proves nothing: a C name can be the same.
//! assert_eq!(&*demangle(b"ada__text_io__put", Style::Full), b"ada__text_io__put");
//! let ada = Languages { ada: true, ..Languages::default() };
//! assert_eq!(&*demangle_in(b"ada__text_io__put", Style::Full, ada), b"ada.text_io.put");
//! ```
//!
//! Names are untrusted: the cost of each is limited in proportion to its length. The demanglers of C++ and D ensure
//! this themselves; that of Rust is limited by its input, output and nesting.
//!
//! Each language is a module; `symbol` recognizes the language of a symbol. [`cxx`] is public, for C++ names in the
//! spelling of LLVM. The crate handles only names, neither files nor options of a program.

mod ada;
mod clones;
pub mod cxx;
mod d;
mod fortran;
mod haskell;
mod languages;
mod ocaml;
mod readable;
mod rust;
mod short;
mod style;
mod symbol;

pub use languages::{Languages, needs_proof};
pub use readable::{name_with_arguments, name_with_parameters, short_name};
pub use style::Style;
pub use symbol::{demangle, demangle_in, plain_name};
