//! Macros that list the fields of rows.

/// Implements [`Encoding`] for a struct, with its fields in the encoded order. `copy` is for packed structs.
macro_rules! encoding {
    (@impl $type:ty { $($field:ident: $kind:ty,)* } $($encode:tt)*) => {
        impl $crate::encoding::Encoding for $type {
            const BYTES: usize = 0 $(+ <$kind as $crate::encoding::Encoding>::BYTES)*;
            const IS_FIXED: bool = true $(&& <$kind as $crate::encoding::Encoding>::IS_FIXED)*;

            #[inline]
            $($encode)*

            #[inline]
            fn decode(decoder: &mut $crate::encoding::Decoder<'_>) -> Option<Self> {
                Some(Self {
                    $($field: <$kind as $crate::encoding::Encoding>::decode(decoder)?,)*
                })
            }
        }
    };
    (copy $type:ident { $($field:ident: $kind:ty,)* }) => {
        $crate::encoding::encoding! { @impl $type { $($field: $kind,)* }
            fn encode(&self, out: &mut Vec<u8>) {
                let Self { $($field,)* } = *self;
                $(<$kind as $crate::encoding::Encoding>::encode(&$field, out);)*
            }
        }
    };
    ($type:ident { $($field:ident: $kind:ty,)* }) => {
        $crate::encoding::encoding! { @impl $type { $($field: $kind,)* }
            fn encode(&self, out: &mut Vec<u8>) {
                let Self { $($field,)* } = self;
                $(<$kind as $crate::encoding::Encoding>::encode($field, out);)*
            }
        }
    };
}
pub(crate) use encoding;

/// Implements [`Encoding`] for enums without fields, as the index in their list `ALL`.
macro_rules! enum_encoding {
    ($($type:ident)*) => {$(
        impl $crate::encoding::Encoding for $type {
            const BYTES: usize = 1;
            const IS_FIXED: bool = true;

            #[inline]
            fn encode(&self, out: &mut Vec<u8>) {
                out.push(*self as u8);
            }

            #[inline]
            fn decode(decoder: &mut $crate::encoding::Decoder<'_>) -> Option<Self> {
                let index = <u8 as $crate::encoding::Encoding>::decode(decoder)?;
                Self::ALL.get(usize::from(index)).copied()
            }
        }
    )*};
}
pub(crate) use enum_encoding;
