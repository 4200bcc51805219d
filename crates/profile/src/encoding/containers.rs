//! Encodings of optional values, lists and texts.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

use address::BuildId;
use options::ShortRemedy;
use rayon::prelude::*;

use super::{Decoder, Encoding, encode_bytes, encode_rows, encoding};

impl<T: Encoding> Encoding for Option<T> {
    const BYTES: usize = T::OPTION_BYTES;
    const IS_FIXED: bool = T::IS_FIXED;

    #[inline]
    fn encode(&self, out: &mut Vec<u8>) {
        T::encode_option(self.as_ref(), out);
    }

    #[inline]
    fn decode(decoder: &mut Decoder<'_>) -> Option<Self> {
        T::decode_option(decoder)
    }
}

impl<A: Encoding, B: Encoding> Encoding for (A, B) {
    const BYTES: usize = A::BYTES + B::BYTES;
    const IS_FIXED: bool = A::IS_FIXED && B::IS_FIXED;

    fn encode(&self, out: &mut Vec<u8>) {
        self.0.encode(out);
        self.1.encode(out);
    }

    fn decode(decoder: &mut Decoder<'_>) -> Option<Self> {
        Some((A::decode(decoder)?, B::decode(decoder)?))
    }
}

impl<const N: usize> Encoding for [u64; N] {
    const BYTES: usize = N * u64::BYTES;
    const IS_FIXED: bool = true;

    fn encode(&self, out: &mut Vec<u8>) {
        self.iter().for_each(|number| number.encode(out));
    }

    fn decode(decoder: &mut Decoder<'_>) -> Option<Self> {
        let mut numbers = [0; N];
        for number in &mut numbers {
            *number = u64::decode(decoder)?;
        }
        Some(numbers)
    }
}

/// Number of rows that one thread decodes before another is needed.
const FEW: usize = 8192;

/// Returns the next rows of a fixed size; `None` if one of them is invalid.
fn decode_on_all_threads<T: Encoding>(decoder: &mut Decoder<'_>, length: usize) -> Option<Vec<T>> {
    let counts = decoder.counts();
    let bytes = decoder.slice(length * T::BYTES)?;
    let decode = |row| T::decode(&mut Decoder::new(row, counts));
    // Stands for an invalid row, so that each row has its place in one table.
    let first = decode(bytes.get(..T::BYTES)?)?;
    let is_valid = AtomicBool::new(true);
    let rows = bytes.par_chunks_exact(T::BYTES).with_min_len(FEW).map(|row| {
        decode(row).unwrap_or_else(|| {
            is_valid.store(false, Ordering::Relaxed);
            first.clone()
        })
    });
    let rows = rows.collect();
    is_valid.into_inner().then_some(rows)
}

impl<T: Encoding> Encoding for Vec<T> {
    const BYTES: usize = u64::BYTES;
    const IS_FIXED: bool = false;

    fn encode(&self, out: &mut Vec<u8>) {
        encode_rows(self, out);
    }

    fn decode(decoder: &mut Decoder<'_>) -> Option<Self> {
        let length = decoder.length::<T>()?;
        if T::IS_FIXED && length > FEW {
            return decode_on_all_threads(decoder, length);
        }
        let mut rows = Self::with_capacity(length);
        for _ in 0..length {
            rows.push(T::decode(decoder)?);
        }
        Some(rows)
    }
}

/// Types that are made of bytes, each with a conversion to and from them.
macro_rules! bytes {
    ($($type:ty: $as_bytes:expr, $from_bytes:expr;)*) => {$(
        impl Encoding for $type {
            const BYTES: usize = u64::BYTES;
            const IS_FIXED: bool = false;

            fn encode(&self, out: &mut Vec<u8>) {
                let as_bytes: fn(&Self) -> &[u8] = $as_bytes;
                encode_bytes(as_bytes(self), out);
            }

            fn decode(decoder: &mut Decoder<'_>) -> Option<Self> {
                let from_bytes: fn(&[u8]) -> Option<Self> = $from_bytes;
                from_bytes(decoder.bytes()?)
            }
        }
    )*};
}

bytes! {
    Box<[u8]>: |it| it, |bytes| Some(bytes.into());
    String: |it| it.as_bytes(), |bytes| str::from_utf8(bytes).ok().map(str::to_owned);
    Cow<'static, str>: |it| it.as_bytes(), |bytes| str::from_utf8(bytes).ok().map(|it| it.to_owned().into());
    BuildId: Self::as_bytes, |bytes| Self::new(bytes).filter(|id| id.as_bytes() == bytes);
}

encoding! { ShortRemedy { fact: String, action: String, package: bool, jit: bool, } }
