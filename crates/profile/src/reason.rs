//! End reasons of chains, evidence for frames, and kinds of waits.

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)*
        }

        impl $name {
            /// All values, in the order of the summary.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Keyword in output formats. Keywords are part of the interface: they do not change.
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
    /// Reason that a chain of user frames ended.
    EndReason {
        /// The outermost frame was reached. Its unwind information states that it has no caller, or a thread, a
        /// goroutine or a fiber starts with its code.
        Root = "root",
        /// The outermost frame was reached, but frames between it and the sample's own frames are unknown. A frame
        /// `[gap]` represents them.
        RootAcrossGap = "root-across-gap",
        /// The next frame is past the end of the recorded stack bytes.
        StackExhausted = "stack-exhausted",
        /// The unwind information requires memory that neither the recording nor a file contains, such as memory below
        /// the stack pointer or on the heap.
        MemoryNotRecorded = "memory-not-recorded",
        /// The next frame is on another stack than the recorded one: a signal handler's stack, a coroutine, the system
        /// stack of a runtime.
        OtherStack = "other-stack",
        /// The unwind information requires a register with an unknown value.
        RegisterUnknown = "register-unknown",
        /// Nothing is mapped at the address.
        NotMapped = "not-mapped",
        /// The address is in memory without a file (JIT code, copied code), and no caller was found.
        AnonymousMemory = "anonymous-memory",
        /// The address is in a module with a missing, unreadable or rejected file.
        NoModule = "no-module",
        /// The module has no unwind information for the address, and all fallbacks failed.
        NoUnwindInfo = "no-unwind-info",
        /// The unwind information for the address is damaged or uses an unsupported feature.
        BadUnwindInfo = "bad-unwind-info",
        /// The caller's frame is not above the callee's, so unwinding would loop.
        NoProgress = "no-progress",
        /// The frame limit was reached.
        MaxFrames = "max-frames",
        /// The sample was taken in the kernel and has no user frames (a kernel thread, or user frames were excluded).
        KernelOnly = "kernel-only",
        /// The sample has no user registers.
        NoUserRegs = "no-user-regs",
        /// The sample has no stack bytes.
        NoUserStack = "no-user-stack",
        /// The registers are of an unsupported architecture or mode, such as MIPS code.
        UnsupportedAbi = "unsupported-abi",
        /// The recorder unwound the chain, or frames of such a chain continue it after the end of the recorded stack
        /// bytes. Whether it is complete is unknown.
        Recorded = "recorded",
        /// The sample was taken in a virtual machine. Its callers there were not recorded. The registers and the stack
        /// of the process that runs the virtual machine do not belong to its chain.
        Guest = "guest",
        /// A return probe (uretprobe) replaced the return address of the last function, and its caller is unknown.
        ReturnProbe = "return-probe",
        /// This is not a recorded sample: without a context switch of the thread, the recording does not show the stack
        /// of its off-CPU time. A frame `[asleep]` represents the stack.
        NoSwitch = "no-switch",
        /// The outermost frame has no caller on the stack, but there is no proof that a thread can start there. The
        /// chain ended at a frame pointer or return address of 0, or the file's unwind information is damaged, or a
        /// call in the file leads to the function.
        UnprovenRoot = "unproven-root",
    }
}

impl EndReason {
    /// Returns true if a chain with this end has all its frames: it reached its root, or there is nothing to unwind.
    #[must_use]
    pub const fn is_complete(self) -> bool {
        matches!(self, Self::Root | Self::KernelOnly | Self::Guest | Self::NoSwitch)
    }

    /// Returns true if the outermost frame of such a chain has no caller, so that graphs can start with it.
    /// This applies to [complete](Self::is_complete) chains, to those with a gap, and to those of a recorder, which
    /// cannot be verified.
    #[must_use]
    pub const fn is_rooted(self) -> bool {
        self.is_complete() || matches!(self, Self::RootAcrossGap | Self::Recorded)
    }
}

words! {
    /// Evidence for a frame.
    FoundBy {
        /// The sampled instruction pointer.
        Sampled = "sampled",
        /// Call frame information of the callee (`.eh_frame`, `.debug_frame`), the exception tables of 32-bit Arm
        /// (`.ARM.exidx`), or the size of its frame in Go's table of functions (`.gopclntab`).
        Cfi = "cfi",
        /// A recorded callchain (kernel frames; chains unwound by the recorder).
        Callchain = "callchain",
        /// A call without a return in the CPU's branch records; the frame is at the first byte of the call instruction.
        CallStack = "call-stack",
        /// The return address that a leaf function has not moved yet: at the stack pointer, or in the link register.
        LeafRule = "leaf-rule",
        /// An analysis of the callee's prologue or epilogue.
        Prologue = "prologue",
        /// The callee's instructions up to its return, and a call before the return address that can lead to the
        /// callee.
        Code = "code",
        /// The callee's frame pointer, after a plausibility check.
        FramePointer = "frame-pointer",
        /// The only word of the recorded stack that is a return address of a call to the callee and from which call
        /// frame information leads to the root. The callee's own call frame information does not determine the caller.
        /// After a gap: the innermost return address that is proven to belong to the chain.
        Scan = "scan",
        /// Other samples of the thread; this sample's stack bytes ended before the frame.
        Joined = "joined",
        /// Not a frame, but an unknown number of frames that no sample shows, or that are on another stack.
        Gap = "gap",
        /// A function that jumped to the next one instead of calling it, which removed its frame. The call before the
        /// caller's return address leads to it, and jumps lead from there to the callee. The frame is at its jump.
        TailCall = "tail-call",
        /// Not a frame, but one or more functions that left by jumps; the code does not determine which.
        TailCalls = "tail-calls",
    }
}

impl FoundBy {
    /// Returns true if such a frame is not a function, but represents an unknown number of frames.
    #[inline]
    #[must_use]
    pub const fn is_gap(self) -> bool {
        matches!(self, Self::Gap | Self::TailCalls)
    }

    /// Returns true if neither the unwind information of the sample's own frames nor the recorder proves such a frame.
    /// It only passed a plausibility check or is from other samples. All frames outside it depend on it.
    #[inline]
    #[must_use]
    pub const fn is_unverified(self) -> bool {
        matches!(self, Self::FramePointer | Self::Scan) || self.is_joined()
    }

    /// Returns true if the sample itself does not show such a frame: it is from other samples, or represents frames
    /// that no sample shows.
    #[inline]
    #[must_use]
    pub const fn is_joined(self) -> bool {
        matches!(self, Self::Joined | Self::Gap)
    }
}

words! {
    /// Kind of a time off the processor.
    WaitKind {
        /// A lock, a condition variable or another thread.
        Futex = "futex",
        /// A time.
        Sleep = "sleep",
        /// One of several files or sockets.
        Poll = "poll",
        /// A file or a disk.
        ReadWrite = "read-write",
        /// A network or a local socket.
        Socket = "socket",
        /// Memory that had to be read or made.
        PageFault = "page-fault",
        /// The end of a child process, or its exec.
        Child = "child",
        /// A pipe.
        Pipe = "pipe",
        /// Not a wait: another thread took the processor.
        Preempted = "preempted",
        /// A wait in a kernel function of no other kind.
        Other = "other",
        /// No name shows the kind.
        Unknown = "unknown",
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
        let unverified = ["frame-pointer", "scan", "joined", "gap"];
        assert_eq!(those(FoundBy::ALL, FoundBy::is_unverified), unverified);
    }
}
