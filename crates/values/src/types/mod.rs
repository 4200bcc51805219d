//! Types: the decoding of bytes as typed values.

mod decode;
mod enums;
mod fields;
mod names;
mod path;
mod resolve;
mod shape;
mod text;
mod value;

pub use value::{Kind, Value};

pub(crate) use names::type_name;
pub(crate) use path::{Bound, bind};
pub(crate) use shape::{Shape, Step};
