//! Attributes.
//!
//! Source: `include/uapi/linux/perf_event.h`, `struct perf_event_attr`.

use std::ops::Range;

use super::fields::{Fields, Order, Unknown};
use super::header::{part, range};

/// Attribute fields that determine the layout of other fields.
#[derive(Clone, Debug)]
pub(super) struct Attr {
    pub(super) sample_type: u64,
    pub(super) read_format: u64,
    pub(super) flags: u64,
    pub(super) branch_sample_type: u64,
    pub(super) regs_user: u64,
    pub(super) regs_intr: u64,
    pub(super) ids: Vec<u64>,
}

/// Reads an attribute of `size` bytes.
pub(super) fn attr(it: &mut Fields<'_>, size: usize) -> Result<Attr, Unknown> {
    let start = it.left();
    it.u32s(2)?;
    it.u64s(2)?;
    let (sample_type, read_format) = (it.u64()?, it.u64()?);
    let flags = it.bit_field()?;
    it.u32s(2)?;
    it.u64()?;
    let mut attr = Attr {
        sample_type,
        read_format,
        flags,
        branch_sample_type: 0,
        regs_user: 0,
        regs_intr: 0,
        ids: Vec::new(),
    };
    let has = |it: &Fields<'_>, end: usize| size >= end && start - it.left() < end;
    if has(it, 72) {
        it.u64()?;
    }
    if has(it, 80) {
        attr.branch_sample_type = it.u64()?;
    }
    if has(it, 96) {
        attr.regs_user = it.u64()?;
        it.u32s(2)?;
    }
    if has(it, 104) {
        attr.regs_intr = it.u64()?;
    }
    if has(it, 112) {
        it.u32()?;
        it.u16()?;
        it.u16()?;
    }
    if has(it, 120) {
        it.u32s(2)?;
    }
    while start - it.left() < size {
        it.u64()?;
    }
    Ok(attr)
}

/// Reads the table of attributes. Each attribute with its ids takes `entry` bytes.
pub(super) fn attributes(
    bytes: &mut [u8],
    section: Range<usize>,
    entry: usize,
    order: Order,
) -> Result<Vec<Attr>, Unknown> {
    let mut attrs = Vec::new();
    for at in section.step_by(entry.max(1)) {
        let it = &mut Fields::new(part(bytes, range(at, entry))?, order);
        let mut read = attr(it, entry.checked_sub(16).ok_or("a small attribute")?)?;
        let ids = range(it.size()?, it.size()?);
        let it = &mut Fields::new(part(bytes, ids)?, order);
        while it.left() > 0 {
            read.ids.push(it.u64()?);
        }
        attrs.push(read);
    }
    Ok(attrs)
}
