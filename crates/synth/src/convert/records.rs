//! Byte swapping of records.
//!
//! Source: `include/uapi/linux/perf_event.h`, `enum perf_event_type`; `tools/lib/perf/include/perf/event.h`.

use super::attr::Attr;
use super::fields::{Fields, Order, Unknown};
use super::sample;

const SAMPLE_ID_ALL: u64 = 1 << 18;
const MMAP_BUILD_ID: u16 = 1 << 14;

/// Swaps a record; returns its size.
pub(super) fn record(bytes: &mut [u8], attrs: &[Attr]) -> Result<usize, Unknown> {
    let it = &mut Fields::new(bytes, Order::Swapped);
    let (kind, misc, size) = (it.u32()?, it.u16()?, usize::from(it.u16()?));
    let body = size.checked_sub(8).ok_or_else(|| format!("a record of {size} bytes"))?;
    let body = it.take(body)?;
    let first = attrs.first().ok_or("no events")?;
    if kind == 9 {
        let attr = sample::event(body, attrs)?;
        sample::body(&mut Fields::new(body, Order::Swapped), attr)?;
        return Ok(size);
    }
    let trailer =
        if kind < 64 && first.flags & SAMPLE_ID_ALL != 0 { sample::trailer_len(first) } else { 0 };
    let it = &mut Fields::new(body, Order::Swapped);
    if kind < 64 {
        kernel(kind, misc, it, trailer)?
    } else {
        user(kind, it)?
    }
    if trailer > 0 {
        sample::trailer(it, first)?;
    }
    it.end(&format!("record of type {kind}"))?;
    Ok(size)
}

/// Swaps the body up to the trailer, which takes the last bytes.
fn kernel(kind: u32, misc: u16, it: &mut Fields<'_>, trailer: usize) -> Result<(), Unknown> {
    match kind {
        1 | 10 => {
            it.u32s(2)?;
            it.u64s(3)?;
            if kind == 10 && misc & MMAP_BUILD_ID != 0 {
                it.skip(24)?;
                it.u32s(2)?;
            } else if kind == 10 {
                it.u32s(2)?;
                it.u64s(2)?;
                it.u32s(2)?;
            }
            it.skip_to_last(trailer)
        }
        2 => it.u64s(2),
        3 => {
            it.u32s(2)?;
            it.skip_to_last(trailer)
        }
        4 | 7 => {
            it.u32s(4)?;
            it.u64().map(drop)
        }
        5 | 6 => it.u64s(3),
        13 => it.u64().map(drop),
        14 => Ok(()),
        15 => it.u32s(2),
        16 => {
            it.u32s(2)?;
            let count = it.size()?;
            it.u64s(2 * count)
        }
        17 => {
            it.u64()?;
            it.u32()?;
            it.u16()?;
            it.u16()?;
            it.skip_to_last(trailer)
        }
        18 => {
            it.u16()?;
            it.u16()?;
            it.u32()?;
            it.skip(8)
        }
        19 => {
            it.u64()?;
            it.skip_to_last(trailer)
        }
        _ => Err(format!("record of type {kind}")),
    }
}

fn user(kind: u32, it: &mut Fields<'_>) -> Result<(), Unknown> {
    match kind {
        68 | 82 => Ok(()),
        69 | 79 => {
            if kind == 69 {
                return it.u64s(it.left() / 8);
            }
            it.u64s(3)?;
            if it.left() > 0 {
                it.u64s(2)?;
                it.skip(8)?;
            }
            Ok(())
        }
        73 => {
            for _ in 0..it.size()? {
                it.u64()?;
                it.skip(16)?;
            }
            Ok(())
        }
        74 => cpu_map(it),
        78 => match it.u64()? {
            0 | 2 => {
                it.u64()?;
                it.skip_to_last(0)
            }
            1 => {
                it.u64s(2)?;
                it.skip_to_last(0)
            }
            3 => {
                it.u64()?;
                cpu_map(it)
            }
            other => Err(format!("event update {other}")),
        },
        _ => Err(format!("record of type {kind}")),
    }
}

/// Swaps a list of processors, or a range of them; padding stays unchanged.
fn cpu_map(it: &mut Fields<'_>) -> Result<(), Unknown> {
    match it.u16()? {
        0 => {
            for _ in 0..it.u16()? {
                it.u16()?;
            }
        }
        2 => {
            it.skip(2)?;
            it.u16()?;
            it.u16()?;
        }
        other => return Err(format!("processors as {other}")),
    }
    it.skip_to_last(0)
}
