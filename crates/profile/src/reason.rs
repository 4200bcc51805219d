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
        /// The outermost frame was reached: its unwind information says that there is no caller.
        Root = "root",
        /// The next frame lies past the end of the recorded stack bytes.
        StackExhausted = "stack-exhausted",
        /// The unwind information needs memory that was not recorded and that no file holds, such as memory below the
        /// stack pointer or on the heap.
        MemoryNotRecorded = "memory-not-recorded",
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
        /// The registers are of an architecture or mode that is not unwound, such as 32-bit code.
        UnsupportedAbi = "unsupported-abi",
        /// The chain was unwound by the recorder and taken as it is.
        Recorded = "recorded",
    }
}

impl EndReason {
    /// Whether a chain that ended so holds all frames that it could: it reached its root, or there is nothing to be
    /// unwound, or it is a recorder's.
    #[must_use]
    pub const fn is_complete(self) -> bool {
        matches!(self, Self::Root | Self::KernelOnly | Self::Recorded)
    }
}

words! {
    /// How a frame was found, from the most to the least certain.
    FoundBy {
        /// The sampled instruction pointer.
        Sampled = "sampled",
        /// Call frame information of the callee (`.eh_frame`, `.debug_frame`).
        Cfi = "cfi",
        /// Taken from a recorded callchain (kernel frames; chains unwound by the recorder).
        Callchain = "callchain",
        /// The return address that a leaf function has not moved yet: at the stack pointer, or in the link register.
        LeafRule = "leaf-rule",
        /// An analysis of the callee's prologue or epilogue.
        Prologue = "prologue",
        /// The callee's frame pointer, checked for plausibility.
        FramePointer = "frame-pointer",
    }
}

impl FoundBy {
    /// Whether neither unwind information nor the recorder vouches for a frame that was found so: it was only checked
    /// for plausibility, and every frame outside of it stands on it.
    #[inline]
    #[must_use]
    pub const fn is_unproven(self) -> bool {
        matches!(self, Self::FramePointer)
    }
}
