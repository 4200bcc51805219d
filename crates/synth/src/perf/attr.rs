//! `perf_event_attr`: the attribute of an event, at any of its published sizes.

use crate::bytes::{ByteWriter, Endian};

/// Bits of [`EventAttr::sample_type`].
///
/// Source: `enum perf_event_sample_format`, `include/uapi/linux/perf_event.h`.
#[allow(missing_docs, reason = "the names are those of the kernel header")]
pub mod sample_type {
    pub const IP: u64 = 1 << 0;
    pub const TID: u64 = 1 << 1;
    pub const TIME: u64 = 1 << 2;
    pub const ADDR: u64 = 1 << 3;
    pub const READ: u64 = 1 << 4;
    pub const CALLCHAIN: u64 = 1 << 5;
    pub const ID: u64 = 1 << 6;
    pub const CPU: u64 = 1 << 7;
    pub const PERIOD: u64 = 1 << 8;
    pub const STREAM_ID: u64 = 1 << 9;
    pub const RAW: u64 = 1 << 10;
    pub const BRANCH_STACK: u64 = 1 << 11;
    pub const REGS_USER: u64 = 1 << 12;
    pub const STACK_USER: u64 = 1 << 13;
    pub const WEIGHT: u64 = 1 << 14;
    pub const DATA_SRC: u64 = 1 << 15;
    pub const IDENTIFIER: u64 = 1 << 16;
    pub const TRANSACTION: u64 = 1 << 17;
    pub const REGS_INTR: u64 = 1 << 18;
    pub const PHYS_ADDR: u64 = 1 << 19;
    pub const AUX: u64 = 1 << 20;
    pub const CGROUP: u64 = 1 << 21;
    pub const DATA_PAGE_SIZE: u64 = 1 << 22;
    pub const CODE_PAGE_SIZE: u64 = 1 << 23;
    pub const WEIGHT_STRUCT: u64 = 1 << 24;
}

/// Bits of [`EventAttr::read_format`].
///
/// Source: `enum perf_event_read_format`, `include/uapi/linux/perf_event.h`.
#[allow(missing_docs, reason = "the names are those of the kernel header")]
pub mod read_format {
    pub const TOTAL_TIME_ENABLED: u64 = 1;
    pub const TOTAL_TIME_RUNNING: u64 = 2;
    pub const ID: u64 = 4;
    pub const GROUP: u64 = 8;
    pub const LOST: u64 = 16;
}

/// Bits of [`EventAttr::branch_sample_type`].
///
/// Source: `enum perf_branch_sample_type`, `include/uapi/linux/perf_event.h`.
#[allow(missing_docs, reason = "the names are those of the kernel header")]
pub mod branch_sample {
    pub const USER: u64 = 1 << 0;
    pub const ANY: u64 = 1 << 3;
    pub const CALL_STACK: u64 = 1 << 11;
    pub const HW_INDEX: u64 = 1 << 17;
    pub const COUNTERS: u64 = 1 << 19;
}

/// Bits of [`EventAttr::flags`], numbered as in a little-endian file.
///
/// Source: the bit-fields of `struct perf_event_attr`, `include/uapi/linux/perf_event.h`.
#[allow(missing_docs, reason = "the names are those of the kernel header")]
pub mod attr_flag {
    pub const DISABLED: u64 = 1 << 0;
    pub const INHERIT: u64 = 1 << 1;
    pub const EXCLUDE_KERNEL: u64 = 1 << 5;
    pub const MMAP: u64 = 1 << 8;
    pub const COMM: u64 = 1 << 9;
    pub const FREQ: u64 = 1 << 10;
    pub const ENABLE_ON_EXEC: u64 = 1 << 12;
    pub const TASK: u64 = 1 << 13;
    pub const MMAP_DATA: u64 = 1 << 17;
    pub const SAMPLE_ID_ALL: u64 = 1 << 18;
    pub const EXCLUDE_CALLCHAIN_USER: u64 = 1 << 22;
    pub const MMAP2: u64 = 1 << 23;
    pub const COMM_EXEC: u64 = 1 << 24;
    pub const USE_CLOCKID: u64 = 1 << 25;
    pub const CONTEXT_SWITCH: u64 = 1 << 26;
    pub const WRITE_BACKWARD: u64 = 1 << 27;
    pub const KSYMBOL: u64 = 1 << 29;
    pub const BPF_EVENT: u64 = 1 << 30;
    pub const BUILD_ID: u64 = 1 << 34;
    pub const DEFER_CALLCHAIN: u64 = 1 << 38;
    pub const DEFER_OUTPUT: u64 = 1 << 39;
}

/// Attribute of an event; every field as in the kernel header.
///
/// ```
/// use synth::{Endian, EventAttr};
/// let attr = EventAttr { sample_type: 7, size: 64, disk_size: 64, ..EventAttr::default() };
/// let bytes = attr.encode(Endian::Little);
/// assert_eq!((bytes.len(), bytes[4], bytes[24]), (64, 64, 7));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(
    missing_docs,
    reason = "the fields are those of the kernel header; the two of ours are documented"
)]
pub struct EventAttr {
    pub event_type: u32,
    /// The `size` field inside the attribute, which may be wrong.
    pub size: u32,
    /// Size of the attribute on disk, in bytes; it is truncated or padded with zeros to that size.
    pub disk_size: u32,
    pub config: u64,
    pub sample_period: u64,
    pub sample_type: u64,
    pub read_format: u64,
    /// [`attr_flag`] bits; mirrored on writing a big-endian file.
    pub flags: u64,
    pub wakeup: u32,
    pub bp_type: u32,
    pub config1: u64,
    pub config2: u64,
    pub branch_sample_type: u64,
    pub sample_regs_user: u64,
    pub sample_stack_user: u32,
    pub clockid: i32,
    pub sample_regs_intr: u64,
    pub aux_watermark: u32,
    pub sample_max_stack: u16,
    pub aux_sample_size: u32,
    pub aux_action: u32,
    pub sig_data: u64,
    pub config3: u64,
    pub config4: u64,
}

impl Default for EventAttr {
    /// Returns a software cpu-clock event with all fields zero and the 128-byte size of Linux 5.13 to 6.2.
    fn default() -> Self {
        Self {
            event_type: 1,
            size: 128,
            disk_size: 128,
            config: 0,
            sample_period: 0,
            sample_type: 0,
            read_format: 0,
            flags: 0,
            wakeup: 0,
            bp_type: 0,
            config1: 0,
            config2: 0,
            branch_sample_type: 0,
            sample_regs_user: 0,
            sample_stack_user: 0,
            clockid: 0,
            sample_regs_intr: 0,
            aux_watermark: 0,
            sample_max_stack: 0,
            aux_sample_size: 0,
            aux_action: 0,
            sig_data: 0,
            config3: 0,
            config4: 0,
        }
    }
}

impl EventAttr {
    /// Returns the attribute of `perf record --call-graph dwarf` for a single event: ip, tid, time, period,
    /// callchain (kernel part only), the registers of `regs_mask`, 8 KiB of stack, and trailers.
    #[must_use]
    pub fn dwarf(regs_mask: u64) -> Self {
        Self {
            sample_period: 4000,
            sample_type: sample_type::IP
                | sample_type::TID
                | sample_type::TIME
                | sample_type::CALLCHAIN
                | sample_type::PERIOD
                | sample_type::REGS_USER
                | sample_type::STACK_USER,
            read_format: read_format::ID,
            flags: attr_flag::INHERIT
                | attr_flag::MMAP
                | attr_flag::COMM
                | attr_flag::FREQ
                | attr_flag::TASK
                | attr_flag::MMAP_DATA
                | attr_flag::SAMPLE_ID_ALL
                | attr_flag::EXCLUDE_CALLCHAIN_USER
                | attr_flag::MMAP2
                | attr_flag::COMM_EXEC,
            sample_regs_user: regs_mask,
            sample_stack_user: 8192,
            ..Self::default()
        }
    }

    /// Returns the attribute at another published size (64, 72, 80, 96, 104, 112, 120, 128, 136, 144) or any other.
    #[must_use]
    pub fn sized(self, size: u32) -> Self {
        Self { size, disk_size: size, ..self }
    }

    /// Returns true if a bit of [`sample_type`] is set.
    pub(crate) fn has(&self, bit: u64) -> bool {
        self.sample_type & bit != 0
    }

    /// Returns the attribute as on disk, [`Self::disk_size`] bytes.
    ///
    /// Source: `struct perf_event_attr`, `include/uapi/linux/perf_event.h`, Linux 7.2.
    #[must_use]
    pub fn encode(&self, endian: Endian) -> Vec<u8> {
        let flags = match endian {
            Endian::Little => self.flags,
            // There bit-fields are allocated from the most significant bit.
            Endian::Big => self.flags.reverse_bits(),
        };
        let mut w = ByteWriter::new(endian);
        w.u32(self.event_type).u32(self.size);
        w.u64s(&[self.config, self.sample_period, self.sample_type, self.read_format, flags]);
        w.u32(self.wakeup).u32(self.bp_type);
        w.u64s(&[self.config1, self.config2, self.branch_sample_type, self.sample_regs_user]);
        w.u32(self.sample_stack_user).u32(self.clockid as u32);
        w.u64(self.sample_regs_intr);
        w.u32(self.aux_watermark).u16(self.sample_max_stack).u16(0);
        w.u32(self.aux_sample_size).u32(self.aux_action);
        w.u64s(&[self.sig_data, self.config3, self.config4]);
        let mut bytes = w.into_bytes();
        bytes.resize(self.disk_size as usize, 0);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_full_struct_has_the_size_of_version_nine() {
        let attr = EventAttr { config4: 0x55, clockid: -1, ..EventAttr::default() }.sized(144);
        let bytes = attr.encode(Endian::Little);
        assert_eq!(bytes.len(), 144);
        assert_eq!(bytes[136], 0x55);
        assert_eq!(bytes[92..96], [0xff; 4]);
        assert_eq!(attr.sized(200).encode(Endian::Big).len(), 200);
    }

    #[test]
    fn flag_bits_are_mirrored_in_a_big_endian_file() {
        let attr = EventAttr { flags: attr_flag::SAMPLE_ID_ALL, ..EventAttr::default() };
        assert_eq!(attr.encode(Endian::Little)[40..48], [0, 0, 4, 0, 0, 0, 0, 0]);
        assert_eq!(attr.encode(Endian::Big)[40..48], [0, 0, 0x20, 0, 0, 0, 0, 0]);
    }
}
