//! The words of the short summary: why stacks are incomplete, how frames were inferred, and runtimes with an option for
//! names.

use profile::{EndReason, FoundBy};

/// A predicate for stacks that ended so: `12 % have a gap`.
pub(super) const fn end(reason: EndReason) -> &'static str {
    match reason {
        EndReason::Root | EndReason::KernelOnly | EndReason::Guest | EndReason::NoSwitch => {
            "are complete"
        }
        EndReason::RootAcrossGap => "have a gap",
        EndReason::StackExhausted => "exceed the recorded stack",
        EndReason::MemoryNotRecorded => "need memory that was not recorded",
        EndReason::OtherStack => "continue on another stack",
        EndReason::RegisterUnknown => "need an unknown register",
        EndReason::NotMapped => "end at an unmapped address",
        EndReason::AnonymousMemory => "end in code without a file",
        EndReason::NoModule => "end in a file that is not available",
        EndReason::NoUnwindInfo => "end in code without unwind information",
        EndReason::BadUnwindInfo => "end at damaged unwind information",
        EndReason::NoProgress => "end in a loop of frames",
        EndReason::MaxFrames => "exceed --max-frames",
        EndReason::NoUserRegs => "have no user registers",
        EndReason::NoUserStack => "have no copy of the stack",
        EndReason::UnsupportedAbi => "have an unsupported architecture or mode",
        EndReason::Recorded => "are as recorded",
        EndReason::ReturnProbe => "end at a return probe",
        EndReason::UnprovenRoot => "end at a function that is not a proven root",
    }
}

/// The origin of frames that are inferred, if they are: `9.6 % of frames from other samples`.
pub(super) const fn inferred(found_by: FoundBy) -> Option<&'static str> {
    match found_by {
        FoundBy::Joined => Some("from other samples"),
        FoundBy::FramePointer => Some("by frame pointer"),
        FoundBy::Scan => Some("by a scan of the stack"),
        FoundBy::Sampled
        | FoundBy::Cfi
        | FoundBy::Callchain
        | FoundBy::CallStack
        | FoundBy::LeafRule
        | FoundBy::Prologue
        | FoundBy::Code
        | FoundBy::Gap
        | FoundBy::TailCall
        | FoundBy::TailCalls => None,
    }
}

/// Returns the action that records names for the code of a runtime, by the prefix of the process's name.
pub(super) fn runtime(process: &[u8]) -> Option<String> {
    let name = String::from_utf8_lossy(process);
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte));
    let options = if name.starts_with("node") {
        "--perf-basic-prof --interpreted-frames-native-stack"
    } else if name.starts_with("python") {
        "-X perf"
    } else if name == "java" {
        "-XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit"
    } else {
        return None;
    };
    is_plain.then(|| format!("record with {name} {options}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runtimes_are_recognized_by_their_processes() {
        let node = "record with node --perf-basic-prof --interpreted-frames-native-stack";
        assert_eq!(runtime(b"node").as_deref(), Some(node));
        assert_eq!(runtime(b"python3.12").as_deref(), Some("record with python3.12 -X perf"));
        assert_eq!(runtime(b"python3; rm"), None);
        assert_eq!(runtime(b"javac"), None);
    }
}
