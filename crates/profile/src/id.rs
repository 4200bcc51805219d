//! Typed row indexes: an id refers to a row of one table and cannot be mistaken for a row of another.
//!
//! An id is stored as its index plus one, so `Option<StackId>` has the same size as `StackId` and "no stack" needs no
//! reserved index.

pub use address::{ById, Id};

/// Conversion from an index, which lets one table type serve all ids.
pub trait RowId: Id {
    /// Returns the id of the row at `index`.
    fn from_index(index: usize) -> Self;
}

/// Defines id types, each with a visibility, a name and the integer type that stores it.
///
/// ```
/// profile::row_ids! {
///     /// Names a colour.
///     pub ColourId(u32);
/// }
/// assert_eq!(ColourId::new(3).index(), 3);
/// assert_eq!(size_of::<Option<ColourId>>(), 4);
/// ```
#[macro_export]
macro_rules! row_ids {
    ($($(#[$doc:meta])* $visibility:vis $name:ident($number:ty);)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $visibility struct $name(::core::num::NonZero<$number>);

        #[allow(dead_code, unreachable_pub, reason = "every id has the same methods, used or not")]
        impl $name {
            /// Returns the id of the row at `index`. The greatest number of the type is not a valid index; it is
            /// replaced by the number before it.
            #[inline]
            #[must_use]
            pub const fn new(index: $number) -> Self {
                Self(::core::num::NonZero::<$number>::MIN.saturating_add(index))
            }

            /// Index of the row.
            #[inline]
            #[must_use]
            pub const fn index(self) -> usize {
                self.0.get() as usize - 1
            }

            /// Index of the row, for output.
            #[inline]
            #[must_use]
            pub const fn as_u32(self) -> u32 {
                self.0.get() as u32 - 1
            }

            /// Index plus one, with 0 reserved for "none": one word for hashes and packed keys.
            #[inline]
            #[must_use]
            pub const fn to_bits(self) -> $number {
                self.0.get()
            }
        }

        impl $crate::RowId for $name {
            #[inline]
            fn from_index(index: usize) -> Self {
                Self::new(<$number>::try_from(index).unwrap_or(<$number>::MAX))
            }
        }

        impl $crate::Id for $name {
            #[inline]
            fn index(self) -> usize {
                Self::index(self)
            }
        }

        impl ::core::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.index())
            }
        }
    )*};
}

row_ids! {
    /// Id of a string of [`Strings`](crate::Strings).
    pub StringId(u32);
    /// Id of a row of [`Profile::events`](crate::Profile::events).
    pub EventId(u16);
    /// Id of a row of [`Profile::inlines`](crate::Profile::inlines).
    pub InlineId(u32);
    /// Id of a row of [`Profile::locations`](crate::Profile::locations).
    pub LocationId(u32);
    /// Id of a row of [`Profile::frames`](crate::Profile::frames).
    pub FrameId(u32);
    /// Id of a row of [`Profile::stacks`](crate::Profile::stacks): the innermost frame's node represents a stack.
    pub StackId(u32);
    /// Id of a row of [`Profile::layouts`](crate::Profile::layouts).
    pub LayoutId(u32);
    /// Id of a row of [`Profile::threads`](crate::Profile::threads).
    pub ThreadId(u32);
    /// Id of a row of [`Profile::samples`](crate::Profile::samples).
    pub SampleId(u32);
    /// Id of a row of [`BranchTable::edges`](crate::BranchTable::edges).
    pub EdgeId(u32);
}

impl RowId for address::ModuleId {
    #[inline]
    fn from_index(index: usize) -> Self {
        Self(u32::try_from(index).unwrap_or(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_its_index_and_none_takes_no_room() {
        assert_eq!(StackId::new(0).index(), 0);
        assert_eq!(StackId::new(41).as_u32(), 41);
        assert_eq!(StackId::new(41).to_bits(), 42);
        assert_eq!(StackId::new(u32::MAX), StackId::new(u32::MAX - 1));
        assert_eq!(EventId::from_index(70_000), EventId::new(u16::MAX - 1));
        assert_eq!(format!("{:?}", FrameId::new(7)), "FrameId(7)");
        assert!(StackId::new(3) < StackId::new(4) && None < Some(StackId::new(0)));
        assert_eq!(size_of::<Option<StackId>>(), 4);
        assert_eq!(size_of::<Option<StringId>>(), 4);
        assert_eq!(size_of::<Option<EventId>>(), 2);
    }
}
