//! Byte swapping of features.
//!
//! Source: `tools/perf/util/header.c`, `write_*`.

use super::attr::attr;
use super::fields::{Fields, Order, Unknown};

/// Swaps the payload of a feature. `cpus` is the number of processors in the topology.
pub(super) fn feature(bit: u16, bytes: &mut [u8], cpus: &mut u32) -> Result<(), Unknown> {
    let it = &mut Fields::new(bytes, Order::Swapped);
    match bit {
        2 => return build_ids(it),
        3..=6 | 8 | 9 => it.string()?,
        7 => {
            *cpus = it.u32()?;
            it.u32()?;
        }
        10 | 23 | 24 => drop(it.u64()?),
        21 => it.u64s(2)?,
        11 => it.strings()?,
        12 => event_descs(it)?,
        13 => topology(it, *cpus)?,
        14 => counted(it, |it| {
            it.u32()?;
            it.u64s(2)?;
            it.string()
        })?,
        15 | 19 => {}
        16 | 26 => counted(it, |it| {
            it.u32()?;
            it.string()
        })?,
        17 => counted(it, |it| {
            it.string()?;
            it.u32s(2)
        })?,
        20 => {
            it.u32()?;
            counted(it, |it| {
                it.u32s(4)?;
                (0..3).try_for_each(|_| it.string())
            })?;
        }
        22 => memory(it)?,
        // The kernel's data of each program stay as they are.
        25 => counted(it, |it| {
            let (info, data) = (it.u32()?, it.u32()?);
            it.u64()?;
            it.skip(info as usize + data as usize)
        })?,
        27 => it.u32s(5)?,
        28 => counted(it, pair)?,
        29 => {
            it.u32s(2)?;
            it.u64s(2)?;
        }
        30 => counted(it, pair)?,
        31 => counted(it, |it| {
            counted(it, pair)?;
            it.string()
        })?,
        32 => domains(it, *cpus)?,
        33 => it.u32s(2)?,
        34 => drop(it.u32()?),
        _ => return Err(format!("feature {bit}")),
    }
    it.end(&format!("feature {bit}"))
}

fn pair(it: &mut Fields<'_>) -> Result<(), Unknown> {
    it.string()?;
    it.string()
}

fn counted(
    it: &mut Fields<'_>,
    mut entry: impl FnMut(&mut Fields<'_>) -> Result<(), Unknown>,
) -> Result<(), Unknown> {
    let count = it.u32()?;
    (0..count).try_for_each(|_| entry(it))
}

/// Swaps build-id entries, which have record headers without a type.
fn build_ids(it: &mut Fields<'_>) -> Result<(), Unknown> {
    while it.left() > 0 {
        it.u32()?;
        it.u16()?;
        let size = usize::from(it.u16()?);
        it.u32()?;
        it.skip(size.checked_sub(12).ok_or("a build-id without room")?)?;
    }
    Ok(())
}

fn event_descs(it: &mut Fields<'_>) -> Result<(), Unknown> {
    let count = it.u32()?;
    let size = it.u32()? as usize;
    for _ in 0..count {
        attr(it, size)?;
        let ids = it.u32()?;
        it.string()?;
        it.u64s(ids as usize)?;
    }
    Ok(())
}

fn topology(it: &mut Fields<'_>, cpus: u32) -> Result<(), Unknown> {
    it.strings()?;
    it.strings()?;
    if it.left() > 0 {
        it.u32s(2 * cpus as usize)?;
    }
    if it.left() > 0 {
        it.strings()?;
        it.u32s(cpus as usize)?;
    }
    Ok(())
}

fn memory(it: &mut Fields<'_>) -> Result<(), Unknown> {
    it.u64s(2)?;
    for _ in 0..it.size()? {
        it.u64s(2)?;
        let bits = it.size()?;
        it.u64s(bits.div_ceil(64))?;
    }
    Ok(())
}

fn domains(it: &mut Fields<'_>, cpus: u32) -> Result<(), Unknown> {
    let version = it.u32()?;
    it.u32()?;
    for _ in 0..cpus {
        it.u32()?;
        counted(it, |it| {
            it.u32()?;
            (0..if version >= 17 { 3 } else { 2 }).try_for_each(|_| it.string())
        })?;
    }
    Ok(())
}
