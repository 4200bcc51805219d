//! Why a chain ended and how a frame was found: the words that chains and frames carry.

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)*
        }

        impl $name {
            /// Every value, in the order of the summary.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The word in output formats. These are interface: they do not change.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

words! {
    /// Why a chain of user frames ended where it did.
    EndReason {
        /// The outermost frame was reached: its unwind information says that there is no caller, or it is code that a
        /// thread, a goroutine or a fiber begins with.
        Root = "root",
        /// The outermost frame was reached, but frames between it and the sample's own are not known: a frame `[gap]`
        /// stands for them.
        RootAcrossGap = "root-across-gap",
        /// The next frame lies past the end of the recorded stack bytes.
        StackExhausted = "stack-exhausted",
        /// The unwind information needs memory that was not recorded and that no file holds, such as memory below the
        /// stack pointer or on the heap.
        MemoryNotRecorded = "memory-not-recorded",
        /// The next frame lies on another stack than the one that was recorded: a signal handler's own stack, a coroutine,
        /// the system stack of a runtime.
        OtherStack = "other-stack",
        /// The unwind information needs a register whose value is not known here.
        RegisterUnknown = "register-unknown",
        /// Nothing is mapped at the address.
        NotMapped = "not-mapped",
        /// The address is in memory without a file (JIT code, copied code) and no caller could be found.
        AnonymousMemory = "anonymous-memory",
        /// The address is in a module whose file is missing, unreadable or refused.
        NoModule = "no-module",
        /// The module has no unwind information for the address, and no fallback worked.
        NoUnwindInfo = "no-unwind-info",
        /// The unwind information for the address is damaged or uses something unknown.
        BadUnwindInfo = "bad-unwind-info",
        /// The caller's frame is not above the callee's: following it would loop.
        NoProgress = "no-progress",
        /// The limit of frames was reached.
        MaxFrames = "max-frames",
        /// The sample was taken in the kernel and has no user part (a kernel thread, or user frames were excluded).
        KernelOnly = "kernel-only",
        /// The sample carries no user registers.
        NoUserRegs = "no-user-regs",
        /// The sample carries no stack bytes.
        NoUserStack = "no-user-stack",
        /// The registers are of an architecture or mode that is not unwound, such as MIPS code.
        UnsupportedAbi = "unsupported-abi",
        /// The chain was unwound by the recorder and taken as it is, or was continued with frames of such a chain where
        /// the recorded stack bytes ended. Nothing tells whether it has all frames.
        Recorded = "recorded",
        /// The sample was taken in a virtual machine. Its callers there were not recorded; the registers and the stack of
        /// the process that runs the machine are no part of its chain.
        Guest = "guest",
        /// A return probe (uretprobe) replaced the return address of the last function, and nothing shows its caller.
        ReturnProbe = "return-probe",
        /// It is no sample: no context switch of the thread was recorded, so that nothing shows where it was off the
        /// processor. A frame `[asleep]` stands for its stack.
        NoSwitch = "no-switch",
        /// Nothing called the outermost frame, as far as the stack shows, but nothing proves that a thread can begin
        /// there: a frame pointer or a return address of 0 ended the chain, the file's unwind information is damaged, or
        /// a call in the file leads to the function.
        UnprovenRoot = "unproven-root",
    }
}

impl EndReason {
    /// Whether a chain that ended so holds all frames that it could: it reached its root, or there is nothing to be
    /// unwound.
    #[must_use]
    pub const fn is_complete(self) -> bool {
        matches!(self, Self::Root | Self::KernelOnly | Self::Guest | Self::NoSwitch)
    }

    /// Whether the outermost frame of such a chain is one that nothing called, as far as that can be known: those that
    /// are [complete](Self::is_complete), those in which only frames between are missing, and those of a recorder, of
    /// which nothing more is known. What graphs draw from the root outwards can begin with it.
    #[must_use]
    pub const fn is_rooted(self) -> bool {
        self.is_complete() || matches!(self, Self::RootAcrossGap | Self::Recorded)
    }
}

words! {
    /// How a frame was found.
    FoundBy {
        /// The sampled instruction pointer.
        Sampled = "sampled",
        /// Call frame information of the callee (`.eh_frame`, `.debug_frame`), the exception tables of 32-bit Arm
        /// (`.ARM.exidx`), or the size of its frame in Go's table of functions (`.gopclntab`).
        Cfi = "cfi",
        /// Taken from a recorded callchain (kernel frames; chains unwound by the recorder).
        Callchain = "callchain",
        /// A call that has not returned, by the processor's branch records; the frame is at its first byte.
        CallStack = "call-stack",
        /// The return address that a leaf function has not moved yet: at the stack pointer, or in the link register.
        LeafRule = "leaf-rule",
        /// An analysis of the callee's prologue or epilogue.
        Prologue = "prologue",
        /// The callee's instructions up to its return, and a call before the return address that can be of the callee.
        Code = "code",
        /// The callee's frame pointer, checked for plausibility.
        FramePointer = "frame-pointer",
        /// The one word of the recorded stack that follows a call of the callee and from which call frame information leads
        /// to the root; the callee's own says nothing. Behind a gap: a word that follows a call of the function which the
        /// stack goes on from.
        Scan = "scan",
        /// The sample's bytes ended before it, and other samples of the thread show it.
        Joined = "joined",
        /// No frame, but any number of frames that no sample shows, or that are on another stack.
        Gap = "gap",
        /// A function that jumped to the next one instead of calling it, so that its frame is gone: the call before the
        /// caller's return address leads to it, and the jumps from there to the callee. The frame is at its jump.
        TailCall = "tail-call",
        /// No frame, but one or more functions that left by jumps; which ones, the code does not decide.
        TailCalls = "tail-calls",
    }
}

impl FoundBy {
    /// Whether a frame that was found so is no function, but stands for an unknown number of them.
    #[inline]
    #[must_use]
    pub const fn is_gap(self) -> bool {
        matches!(self, Self::Gap | Self::TailCalls)
    }

    /// Whether neither unwind information of the sample's own frames nor the recorder vouches for a frame that was found
    /// so: it was only checked for plausibility, or is that of other samples, and every frame outside of it stands on it.
    #[inline]
    #[must_use]
    pub const fn is_unproven(self) -> bool {
        matches!(self, Self::FramePointer | Self::Scan) || self.is_joined()
    }

    /// Whether the sample itself does not show a frame that was found so: it comes from other samples, or stands for
    /// what none of them shows.
    #[inline]
    #[must_use]
    pub const fn is_joined(self) -> bool {
        matches!(self, Self::Joined | Self::Gap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn those<T: Copy + std::fmt::Display>(all: &[T], is: impl Fn(T) -> bool) -> Vec<String> {
        all.iter().filter(|&&word| is(word)).map(ToString::to_string).collect()
    }

    #[test]
    fn across_a_gap_there_is_a_root_but_not_all_frames() {
        let complete = ["root", "kernel-only", "guest", "no-switch"];
        assert_eq!(those(EndReason::ALL, EndReason::is_complete), complete);
        let rooted = ["root", "root-across-gap", "kernel-only", "recorded", "guest", "no-switch"];
        assert_eq!(those(EndReason::ALL, EndReason::is_rooted), rooted);
    }

    #[test]
    fn what_other_samples_show_is_not_proven() {
        let joined = ["joined", "gap"];
        assert_eq!(those(FoundBy::ALL, FoundBy::is_joined), joined);
        let unproven = ["frame-pointer", "scan", "joined", "gap"];
        assert_eq!(those(FoundBy::ALL, FoundBy::is_unproven), unproven);
    }
}
