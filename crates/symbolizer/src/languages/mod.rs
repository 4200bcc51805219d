//! Names of languages other than Rust and C++: D.

mod d;

/// The readable form of a name; `None` where it is of none of these languages. `short` leaves parameters and template
/// arguments out.
pub(crate) fn readable(name: &str, short: bool) -> Option<String> {
    d::readable(name, short)
}
