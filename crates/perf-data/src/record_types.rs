//! Record types, each with the properties that depend on the type.
//! A listed type without one of them does not compile, nor does a decoder that omits a listed type.
//!
//! Source: `include/uapi/linux/perf_event.h`, `enum perf_event_type`; `tools/lib/perf/include/perf/event.h`,
//! `enum perf_user_event_type`; simpleperf's `record.h`.

use crate::record_header::RecordKind;

/// Use that a session makes of the records of a type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SessionUse {
    /// A sample; a few fields are stored in its entry.
    Sample,
    /// Stored, and it may change the interpretation of later samples.
    MovesMaps,
    /// Stored.
    Collected,
    /// Stored if the session includes context switches, which most replays do not need.
    Switch,
    /// Contains records, which are expanded first.
    Compressed,
    /// All records are complete up to the time of the previous round.
    EndsRound,
    /// Counted only: such records are numerous, or irrelevant to stacks.
    Counted,
}

/// Location of the content of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecordContent {
    /// The record itself.
    Whole,
    /// Also in the head of the recording, or the content of a container.
    OfHead,
    /// In the data of a hardware trace.
    Elsewhere,
}

/// Lists the types of each maker: name, variant, number, use by a session, location of the content.
macro_rules! kinds {
    ($($(#[$doc:meta])* $maker:ident {
        $($name:ident $variant:ident = $number:literal: $use:ident, $content:ident;)*
    })*) => {
        impl RecordKind {
            $($(#[doc = concat!("`PERF_RECORD_", stringify!($name), "`.")]
            pub const $name: Self = Self($number);)*)*

            /// Name of the type without its prefix; `None` for unknown numbers.
            #[must_use]
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($($number => Some(stringify!($name)),)*)*
                    _ => None,
                }
            }

            /// Use of such records by a session; `None` for unknown numbers.
            #[inline]
            pub(crate) const fn session_use(self) -> Option<SessionUse> {
                match self.0 {
                    $($($number => Some(SessionUse::$use),)*)*
                    _ => None,
                }
            }

            /// Location of the content of such a record; for unknown types, the record.
            #[must_use]
            pub const fn content(self) -> RecordContent {
                match self.0 {
                    $($($number => RecordContent::$content,)*)*
                    _ => RecordContent::Whole,
                }
            }
        }

        $($(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum $maker {
            $($variant,)*
        }

        impl $maker {
            /// Returns the type with that number.
            pub(crate) const fn of(kind: RecordKind) -> Option<Self> {
                match kind.0 {
                    $($number => Some(Self::$variant),)*
                    _ => None,
                }
            }
        })*
    };
}

kinds! {
    /// A type of the kernel.
    KernelType {
        MMAP Mmap = 1: MovesMaps, Whole;
        LOST Lost = 2: Collected, Whole;
        COMM Comm = 3: MovesMaps, Whole;
        EXIT Exit = 4: MovesMaps, Whole;
        THROTTLE Throttle = 5: Collected, Whole;
        UNTHROTTLE Unthrottle = 6: Collected, Whole;
        FORK Fork = 7: MovesMaps, Whole;
        READ Read = 8: Collected, Whole;
        SAMPLE Sample = 9: Sample, Whole;
        MMAP2 Mmap2 = 10: MovesMaps, Whole;
        AUX Aux = 11: Counted, Elsewhere;
        ITRACE_START ItraceStart = 12: Counted, Elsewhere;
        LOST_SAMPLES LostSamples = 13: Collected, Whole;
        SWITCH Switch = 14: Switch, Whole;
        SWITCH_CPU_WIDE SwitchCpuWide = 15: Switch, Whole;
        NAMESPACES Namespaces = 16: Collected, Whole;
        KSYMBOL Ksymbol = 17: MovesMaps, Whole;
        BPF_EVENT BpfEvent = 18: Collected, Whole;
        CGROUP Cgroup = 19: Collected, Whole;
        TEXT_POKE TextPoke = 20: Collected, Whole;
        AUX_OUTPUT_HW_ID AuxOutputHwId = 21: Collected, Elsewhere;
        CALLCHAIN_DEFERRED CallchainDeferred = 22: Collected, Whole;
    }
    /// A type of the recording tool.
    ToolType {
        HEADER_ATTR Attr = 64: Counted, OfHead;
        HEADER_EVENT_TYPE EventType = 65: Counted, OfHead;
        HEADER_TRACING_DATA TracingData = 66: Counted, OfHead;
        HEADER_BUILD_ID BuildId = 67: Collected, OfHead;
        FINISHED_ROUND FinishedRound = 68: EndsRound, Whole;
        ID_INDEX IdIndex = 69: Counted, Whole;
        AUXTRACE_INFO AuxtraceInfo = 70: Counted, Elsewhere;
        AUXTRACE Auxtrace = 71: Counted, Elsewhere;
        AUXTRACE_ERROR AuxtraceError = 72: Counted, Elsewhere;
        THREAD_MAP ThreadMap = 73: Collected, Whole;
        CPU_MAP CpuMap = 74: Counted, Whole;
        STAT_CONFIG StatConfig = 75: Counted, Whole;
        STAT Stat = 76: Counted, Whole;
        STAT_ROUND StatRound = 77: Counted, Whole;
        EVENT_UPDATE EventUpdate = 78: Collected, OfHead;
        TIME_CONV TimeConv = 79: Collected, Whole;
        HEADER_FEATURE Feature = 80: Counted, OfHead;
        COMPRESSED Compressed = 81: Compressed, OfHead;
        FINISHED_INIT FinishedInit = 82: Counted, Whole;
        COMPRESSED2 Compressed2 = 83: Compressed, OfHead;
        BPF_METADATA BpfMetadata = 84: Collected, Whole;
        SCHEDSTAT_CPU SchedstatCpu = 85: Counted, Whole;
        SCHEDSTAT_DOMAIN SchedstatDomain = 86: Counted, Whole;
    }
    /// A type of Android's simpleperf.
    SimpleperfType {
        SIMPLEPERF_KERNEL_SYMBOL KernelSymbol = 32769: Counted, Whole;
        SIMPLEPERF_DSO Dso = 32770: Counted, Whole;
        SIMPLEPERF_SYMBOL Symbol = 32771: Counted, Whole;
        SIMPLEPERF_SPLIT Split = 32772: Counted, Whole;
        SIMPLEPERF_SPLIT_END SplitEnd = 32773: Counted, Whole;
        SIMPLEPERF_EVENT_ID EventId = 32774: Counted, Whole;
        SIMPLEPERF_CALLCHAIN Callchain = 32775: Collected, Whole;
        SIMPLEPERF_UNWINDING_RESULT UnwindingResult = 32776: Counted, Whole;
        SIMPLEPERF_TRACING_DATA TracingData = 32777: Counted, Whole;
        SIMPLEPERF_DEBUG Debug = 32778: Counted, Whole;
    }
}
