//! `perf_event_attr`: the counted event and the fields of its samples. Attributes of any size are read: missing fields
//! are zero, fields after the newest known one are ignored.
//!
//! Source: `include/uapi/linux/perf_event.h`, `struct perf_event_attr`, versions 0 to 9.

use crate::bytes::Endian;

/// Size in bytes of the newest attribute known here (version 9).
pub(crate) const KNOWN_SIZE: usize = 144;
/// Size in bytes of the first published attribute; implied by a size field of 0.
pub(crate) const FIRST_SIZE: usize = 64;

/// Fields of a sample, bits of `enum perf_event_sample_format`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SampleType(pub u64);

macro_rules! sample_bits {
    ($($name:ident = $bit:literal;)*) => {
        impl SampleType {
            $(#[doc = concat!("`PERF_SAMPLE_", stringify!($name), "`.")]
            pub const $name: Self = Self(1 << $bit);)*
            /// All bits known here.
            pub const KNOWN: Self = Self($(1 << $bit)|*);
        }
    };
}

sample_bits! {
    IP = 0; TID = 1; TIME = 2; ADDR = 3; READ = 4; CALLCHAIN = 5; ID = 6; CPU = 7; PERIOD = 8; STREAM_ID = 9; RAW = 10;
    BRANCH_STACK = 11; REGS_USER = 12; STACK_USER = 13; WEIGHT = 14; DATA_SRC = 15; IDENTIFIER = 16; TRANSACTION = 17;
    REGS_INTR = 18; PHYS_ADDR = 19; AUX = 20; CGROUP = 21; DATA_PAGE_SIZE = 22; CODE_PAGE_SIZE = 23; WEIGHT_STRUCT = 24;
}

impl SampleType {
    /// Returns true if all bits of `bits` are set.
    #[must_use]
    pub const fn has(self, bits: Self) -> bool {
        self.0 & bits.0 == bits.0
    }

    /// Returns the unknown bits.
    #[must_use]
    pub const fn unknown(self) -> u64 {
        self.0 & !Self::KNOWN.0
    }
}

/// Values in a READ field, bits of `enum perf_event_read_format`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ReadFormat(pub u64);

impl ReadFormat {
    /// `PERF_FORMAT_TOTAL_TIME_ENABLED`.
    pub const TIME_ENABLED: Self = Self(1);
    /// `PERF_FORMAT_TOTAL_TIME_RUNNING`.
    pub const TIME_RUNNING: Self = Self(2);
    /// `PERF_FORMAT_ID`.
    pub const ID: Self = Self(4);
    /// `PERF_FORMAT_GROUP`.
    pub const GROUP: Self = Self(8);
    /// `PERF_FORMAT_LOST`.
    pub const LOST: Self = Self(16);

    /// Returns true if all bits of `bits` are set.
    #[must_use]
    pub const fn has(self, bits: Self) -> bool {
        self.0 & bits.0 == bits.0
    }
}

/// Flag word of an attribute in little-endian bit order, regardless of the recording machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AttrFlags(pub u64);

macro_rules! flags {
    ($($name:ident = $bit:literal;)*) => {
        impl AttrFlags {
            $(#[doc = concat!("Bit ", stringify!($bit), ", `", stringify!($name), "`.")]
            #[must_use]
            pub const fn $name(self) -> bool {
                self.0 >> $bit & 1 == 1
            })*
        }
    };
}

flags! {
    disabled = 0; inherit = 1; pinned = 2; exclusive = 3; exclude_user = 4; exclude_kernel = 5; exclude_hv = 6;
    exclude_idle = 7; mmap = 8; comm = 9; freq = 10; inherit_stat = 11; enable_on_exec = 12; task = 13; watermark = 14;
    mmap_data = 17; sample_id_all = 18; exclude_host = 19; exclude_guest = 20; exclude_callchain_kernel = 21;
    exclude_callchain_user = 22; mmap2 = 23; comm_exec = 24; use_clockid = 25; context_switch = 26; write_backward = 27;
    namespaces = 28; ksymbol = 29; bpf_event = 30; aux_output = 31; cgroup = 32; text_poke = 33; build_id = 34;
    inherit_thread = 35; remove_on_exec = 36; sigtrap = 37; defer_callchain = 38; defer_output = 39;
}

impl AttrFlags {
    /// Bits 15 and 16, `precise_ip`: permitted skid of the sampled address, from 0 (any) to 3 (none).
    #[must_use]
    pub const fn precise_ip(self) -> u8 {
        (self.0 >> 15 & 3) as u8
    }

    /// Reads the flag word. On big-endian machines C allocates bit-fields from the top: flag `n` is bit `63 - n`.
    fn read(bytes: [u8; 8], endian: Endian) -> Self {
        let word = endian.u64(bytes);
        if endian == Endian::Little {
            return Self(word);
        }
        let mirrored = word.reverse_bits();
        // The one field of two bits is mirrored in position but not in bit order.
        let precise = word >> 47 & 3;
        Self(mirrored & !(3 << 15) | precise << 15)
    }
}

/// One `perf_event_attr`, with fields as documented by the kernel. Missing fields are zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EventAttr {
    /// Kind of event: 0 hardware, 1 software, 2 tracepoint, 3 cache, 4 raw, 5 breakpoint, else a PMU's number.
    pub kind: u32,
    /// Size in bytes stated in the attribute.
    pub size: u32,
    /// Number of the event within its kind.
    pub config: u64,
    /// Period in events, or frequency in Hz if the flag `freq` is set.
    pub sample_period: u64,
    /// Fields of samples.
    pub sample_type: SampleType,
    /// Values in READ fields.
    pub read_format: ReadFormat,
    /// Flag word.
    pub flags: AttrFlags,
    /// Wake up after that many events or bytes.
    pub wakeup: u32,
    /// Type of breakpoint.
    pub bp_type: u32,
    /// Address of the breakpoint, or the second word of the event's number.
    pub config1: u64,
    /// Length of the breakpoint, or the third word.
    pub config2: u64,
    /// Fields of branch stacks, `enum perf_branch_sample_type`.
    pub branch_sample_type: u64,
    /// User registers in samples, bits by architecture.
    pub sample_regs_user: u64,
    /// Requested bytes of user stack.
    pub sample_stack_user: u32,
    /// Clock of time stamps, valid if the flag `use_clockid` is set.
    pub clockid: i32,
    /// Registers of the interrupted context in samples.
    pub sample_regs_intr: u64,
    /// Wake up after that many bytes of AUX area.
    pub aux_watermark: u32,
    /// Requested maximum length of callchains; 0 for the system's limit.
    pub sample_max_stack: u16,
    /// Bytes of AUX area in each sample.
    pub aux_sample_size: u32,
    /// Start, pause or resume AUX tracing.
    pub aux_action: u32,
    /// Data for SIGTRAP.
    pub sig_data: u64,
    /// The fourth word of the event's number.
    pub config3: u64,
    /// The fifth word of the event's number.
    pub config4: u64,
}

impl EventAttr {
    /// Returns true for a tracepoint or a probe: `config` is the id of its format.
    ///
    /// Source: `PERF_TYPE_TRACEPOINT` in `include/uapi/linux/perf_event.h`.
    #[must_use]
    pub const fn is_tracepoint(&self) -> bool {
        self.kind == 2
    }

    /// Parses the attribute at the start of `bytes`, which may be shorter or longer than the known fields.
    ///
    /// Returns `None` for fewer than 64 bytes. Fields after the attribute's own size are zero.
    #[must_use]
    pub fn parse(bytes: &[u8], endian: Endian) -> Option<Self> {
        let first = bytes.get(..FIRST_SIZE)?;
        let size = endian.u32_at(first, 4)?;
        let stated =
            if size == 0 { FIRST_SIZE } else { usize::try_from(size).unwrap_or(usize::MAX) };
        let len = stated.max(FIRST_SIZE).min(bytes.len()).min(KNOWN_SIZE);
        let mut known = [0; KNOWN_SIZE];
        known[..len].copy_from_slice(&bytes[..len]);
        let word = |at: usize| endian.u64_at(&known, at).unwrap_or_default();
        let half = |at: usize| endian.u32_at(&known, at).unwrap_or_default();
        let flags = known[40..]
            .first_chunk()
            .map(|chunk| AttrFlags::read(*chunk, endian))
            .unwrap_or_default();
        Some(Self {
            kind: half(0),
            size,
            config: word(8),
            sample_period: word(16),
            sample_type: SampleType(word(24)),
            read_format: ReadFormat(word(32)),
            flags,
            wakeup: half(48),
            bp_type: half(52),
            config1: word(56),
            config2: word(64),
            branch_sample_type: word(72),
            sample_regs_user: word(80),
            sample_stack_user: half(88),
            clockid: half(92).cast_signed(),
            sample_regs_intr: word(96),
            aux_watermark: half(104),
            sample_max_stack: endian.u16([known[108], known[109]]),
            aux_sample_size: half(112),
            aux_action: half(116),
            sig_data: word(120),
            config3: word(128),
            config4: word(136),
        })
    }

    /// Returns true if branch stacks hold the active calls, innermost first, rather than the last branches.
    ///
    /// Source: `include/uapi/linux/perf_event.h`, `PERF_SAMPLE_BRANCH_CALL_STACK`.
    #[must_use]
    pub const fn has_call_stacks(&self) -> bool {
        self.branch_sample_type >> 11 & 1 == 1
    }

    /// Size of the attribute in bytes, which locates the fields after it: the stated size, or 64 if that is 0.
    pub(crate) fn effective_size(&self) -> usize {
        if self.size == 0 { FIRST_SIZE } else { self.size as usize }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered() -> [u8; 152] {
        std::array::from_fn(|at| at as u8)
    }

    #[test]
    fn fields_behind_the_stated_size_are_zero() {
        let mut bytes = numbered();
        bytes[4..8].copy_from_slice(&80_u32.to_le_bytes());
        let attr = EventAttr::parse(&bytes, Endian::Little).expect("long enough");
        assert_eq!(attr.branch_sample_type, 0x4f4e_4d4c_4b4a_4948);
        assert!(attr.has_call_stacks());
        assert!(!EventAttr { branch_sample_type: !(1 << 11), ..attr }.has_call_stacks());
        assert_eq!((attr.sample_regs_user, attr.sample_stack_user, attr.config4), (0, 0, 0));
        bytes[4..8].copy_from_slice(&0_u32.to_le_bytes());
        let attr = EventAttr::parse(&bytes, Endian::Little).expect("long enough");
        assert_eq!((attr.config1, attr.config2), (0x3f3e_3d3c_3b3a_3938, 0));
        assert_eq!(attr.effective_size(), 64);
    }

    #[test]
    fn newest_and_newer_sizes() {
        for size in [144_u32, 152, u32::MAX] {
            let mut bytes = numbered();
            bytes[4..8].copy_from_slice(&size.to_le_bytes());
            let attr = EventAttr::parse(&bytes, Endian::Little).expect("long enough");
            assert_eq!((attr.size, attr.config4), (size, 0x8f8e_8d8c_8b8a_8988));
            assert_eq!((attr.sample_max_stack, attr.clockid), (0x6d6c, 0x5f5e_5d5c));
        }
        assert_eq!(EventAttr::parse(&numbered()[..63], Endian::Little), None);
    }

    #[test]
    fn big_endian_flags_are_mirrored() {
        // `sample_id_all` is flag 18. `precise_ip` of 2 sets the upper of its two bits, which comes first from the top.
        let word = 1_u64 << (63 - 18) | 2 << 47;
        let flags = AttrFlags::read(word.to_be_bytes(), Endian::Big);
        assert!(flags.sample_id_all() && !flags.mmap_data());
        assert_eq!(flags.precise_ip(), 2);
        assert_eq!(flags, AttrFlags::read((1_u64 << 18 | 2 << 15).to_le_bytes(), Endian::Little));
    }
}
