//! Shapes: types as far as their values are decoded. Independent of the file that declares them.

use std::sync::Arc;

/// The layout of a value, with all that its decoding needs.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// An integer.
    Integer {
        /// Size in bytes, at most 16.
        size: u64,
        /// True if the highest bit is the sign.
        is_signed: bool,
    },
    /// A truth value of that many bytes.
    Bool(u64),
    /// A character of Unicode of that many bytes.
    Char(u64),
    /// Floating point of 4 or 8 bytes.
    Float(u64),
    /// An enumeration.
    Enum(Arc<Enumeration>),
    /// A pointer of that many bytes.
    Pointer(u64),
    /// A pointer to a text that ends with a zero, of that many bytes.
    TextPointer(u64),
    /// An array of characters of that many bytes.
    TextArray(u64),
    /// A reference of `size` bytes.
    Reference {
        /// Size in bytes.
        size: u64,
        /// Shape of the object.
        target: Arc<Self>,
    },
    /// A pointer and a length.
    Span(Span),
    /// A string of libc++.
    LibcxxString,
    /// An array.
    Array(Elements, u64),
    /// An enum with fields.
    Variants(Arc<Variants>),
    /// Without a decoder.
    Unsupported {
        /// Name of the type.
        name: Arc<str>,
        /// Size in bytes.
        size: u64,
    },
}

/// Names of an enumeration.
#[derive(Clone, Debug)]
pub(crate) struct Enumeration {
    /// Size in bytes, at most 8.
    pub(crate) size: u64,
    /// True if the highest bit is the sign.
    pub(crate) is_signed: bool,
    /// Numbers with their names, sorted by number.
    pub(crate) names: Vec<(i128, Arc<str>)>,
}

/// A number inside of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Number {
    /// Offset in bytes.
    pub(crate) offset: u64,
    /// Size in bytes.
    pub(crate) size: u64,
}

/// A pointer and a length: strings, views and slices.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    /// Size of the object in bytes.
    pub(crate) size: u64,
    /// The pointer.
    pub(crate) pointer: Number,
    /// The number of elements.
    pub(crate) length: Number,
    /// The elements; `None` for bytes of a text.
    pub(crate) elements: Option<Elements>,
    /// True if a zero follows the text.
    pub(crate) is_terminated: bool,
}

/// Elements of an array or slice.
#[derive(Clone, Debug)]
pub(crate) struct Elements {
    /// Shape of each.
    pub(crate) shape: Arc<Shape>,
    /// Distance in bytes.
    pub(crate) stride: u64,
}

/// Variants of an enum with fields.
#[derive(Clone, Debug)]
pub(crate) struct Variants {
    /// Size of the object in bytes.
    pub(crate) size: u64,
    /// The number that selects the variant; `None` if there is one variant.
    pub(crate) selector: Option<Number>,
    /// All variants.
    pub(crate) variants: Vec<Variant>,
}

/// A variant.
#[derive(Clone, Debug)]
pub(crate) struct Variant {
    /// Number that selects it; `None` if no other does.
    pub(crate) number: Option<u128>,
    /// Name.
    pub(crate) name: Arc<str>,
    /// Its only field, with the offset in bytes.
    pub(crate) field: Option<(u64, Shape)>,
}

/// A step from a variable to a part of it, or to an object that it points to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// That many bytes further.
    Offset(u64),
    /// The object behind a pointer of that many bytes.
    Deref(u64),
    /// An element behind a pointer, if the length allows it.
    Element {
        /// The pointer.
        pointer: Number,
        /// The length.
        length: Number,
        /// Index of the element.
        index: u64,
        /// Distance in bytes.
        stride: u64,
    },
    /// Bits of a bit field, from the start of the object. The last step.
    Bits {
        /// First bit.
        first: u64,
        /// Number of bits.
        count: u64,
    },
}

impl Shape {
    /// Size in bytes.
    pub(crate) fn size(&self) -> Option<u64> {
        match self {
            Self::Integer { size, .. }
            | Self::Bool(size)
            | Self::Char(size)
            | Self::Float(size)
            | Self::Pointer(size)
            | Self::TextPointer(size)
            | Self::TextArray(size)
            | Self::Reference { size, .. } => Some(*size),
            Self::Enum(enumeration) => Some(enumeration.size),
            Self::Span(span) => Some(span.size),
            Self::LibcxxString => Some(24),
            Self::Array(elements, count) => elements.stride.checked_mul(*count),
            Self::Variants(variants) => Some(variants.size),
            Self::Unsupported { size, .. } => Some(*size),
        }
    }
}
