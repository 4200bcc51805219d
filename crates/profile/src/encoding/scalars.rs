//! Encodings of a fixed size: numbers, ids and their combinations.

use address::{Bias, ModuleId, Pid, Tid, Timestamp};

use super::{Decoder, Encoding, enum_encoding};
use crate::id::{
    EventId, FrameId, InlineId, LayoutId, LocationId, RowId as _, StackId, StringId, ThreadId,
};
use crate::reason::{EndReason, FoundBy};

enum_encoding! { EndReason FoundBy }

macro_rules! numbers {
    ($($type:ident)*) => {$(
        impl Encoding for $type {
            const BYTES: usize = size_of::<Self>();
            const IS_FIXED: bool = true;

            #[inline]
            fn encode(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }

            #[inline]
            fn decode(decoder: &mut Decoder<'_>) -> Option<Self> {
                decoder.array().map(Self::from_le_bytes)
            }
        }
    )*};
}

numbers! { u8 u16 u32 u64 i32 i64 }

macro_rules! newtypes {
    ($($type:ident($number:ident))*) => {$(
        impl Encoding for $type {
            const BYTES: usize = $number::BYTES;
            const IS_FIXED: bool = true;

            #[inline]
            fn encode(&self, out: &mut Vec<u8>) {
                self.0.encode(out);
            }

            #[inline]
            fn decode(decoder: &mut Decoder<'_>) -> Option<Self> {
                $number::decode(decoder).map(Self)
            }
        }
    )*};
}

newtypes! { Pid(i32) Tid(i32) Timestamp(u64) Bias(u64) }

/// Ids, each with the field of [`RowCounts`] that limits it. The encoding is the index plus one, 0 for `None`.
macro_rules! ids {
    ($($type:ident($number:ident) of $rows:ident,)*) => {$(
        impl Encoding for $type {
            const BYTES: usize = $number::BYTES;
            const IS_FIXED: bool = true;
            const OPTION_BYTES: usize = Self::BYTES;

            #[inline]
            fn encode(&self, out: &mut Vec<u8>) {
                Self::encode_option(Some(self), out);
            }

            #[inline]
            fn decode(decoder: &mut Decoder<'_>) -> Option<Self> {
                Self::decode_option(decoder)?
            }

            #[inline]
            fn encode_option(value: Option<&Self>, out: &mut Vec<u8>) {
                let number = value.map_or(0, |id| id.index() + 1);
                $number::try_from(number).unwrap_or($number::MAX).encode(out);
            }

            #[inline]
            fn decode_option(decoder: &mut Decoder<'_>) -> Option<Option<Self>> {
                match $number::decode(decoder)?.checked_sub(1).map(|index| index as usize) {
                    Some(index) if index < decoder.counts().$rows => Some(Some(Self::from_index(index))),
                    Some(_) => None,
                    None => Some(None),
                }
            }
        }
    )*};
}

ids! {
    StringId(u32) of strings,
    EventId(u16) of events,
    ModuleId(u32) of modules,
    InlineId(u32) of inlines,
    LocationId(u32) of locations,
    FrameId(u32) of frames,
    StackId(u32) of stacks,
    LayoutId(u32) of layouts,
    ThreadId(u32) of threads,
}

impl Encoding for bool {
    const BYTES: usize = 1;
    const IS_FIXED: Self = true;

    #[inline]
    fn encode(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    #[inline]
    fn decode(decoder: &mut Decoder<'_>) -> Option<Self> {
        match u8::decode(decoder)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}
