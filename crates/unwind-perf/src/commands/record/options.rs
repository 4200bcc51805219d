//! Choice of the best options of `perf record` that this perf and this machine support.

use std::ffi::OsString;
use std::path::Path;

use host::{Host, Origin};

use super::frequency::with_frequency;
use super::preconditions::locks_memory;
use super::run::text_of;
use crate::args::RecordArgs;

/// Output of perf.
#[derive(Clone, Copy, Debug)]
pub(super) enum RecordTarget<'p> {
    /// A file, compressed if perf can.
    File(&'p Path),
    /// Standard output; perf does not start the command.
    Stream,
}

/// Abilities of perf and of the machine.
#[derive(Clone, Debug, Default)]
pub(super) struct Abilities {
    /// True if the processor has counters.
    has_counters: bool,
    /// True if maps can be recorded with build-ids.
    buildid_mmap: bool,
    /// True if records of BPF programs can be omitted.
    no_bpf_event: bool,
    /// True if the recording can be compressed.
    compression: bool,
    /// True if perf may lock memory for large buffers.
    large_buffers: bool,
    /// Highest sampling frequency that the kernel allows, in Hz.
    max_frequency: Option<u32>,
}

impl Abilities {
    /// Asks perf and the machine.
    pub(super) fn find(perf: &Path, host: &dyn Host) -> Self {
        let devices = Path::new("/sys/bus/event_source/devices");
        let devices = host.list(devices, Origin::System).unwrap_or_default();
        // Source: the names of the kernel's processor PMUs: `cpu`, `cpu_core` and `cpu_atom`, `armv8_…`.
        let is_counter = |name: &[u8]| {
            name == b"cpu" || name.starts_with(b"cpu_") || name.starts_with(b"armv8_")
        };
        let has_counters = devices.iter().any(|device| is_counter(device.name.as_encoded_bytes()));
        let help = text_of(perf, &["record", "-h"]);
        let build = text_of(perf, &["version", "--build-options"]);
        let zstd = build.lines().any(|line| line.contains("zstd:") && line.contains("on"));
        let rate = Path::new("/proc/sys/kernel/perf_event_max_sample_rate");
        let rate = host.read(rate, Origin::System).ok();
        let rate = rate.and_then(|text| String::from_utf8_lossy(&text).trim().parse().ok());
        Self {
            has_counters,
            buildid_mmap: help.contains("--buildid-mmap"),
            no_bpf_event: help.contains("--no-bpf-event"),
            compression: zstd && help.contains("--compression-level"),
            large_buffers: help.contains("--mmap-pages") && locks_memory(host),
            max_frequency: rate,
        }
    }
}

/// Samples with stacks that a buffer holds. perf's own size holds 32 of 16 KiB, those of 32 ms at 997 Hz.
const BUFFERED: u32 = 128;
/// Least size of a buffer in KiB, which is perf's own.
const LEAST_BUFFER: u32 = 512;

/// Returns the size of the buffer for each processor, if it is not perf's own.
fn buffer_size(args: &RecordArgs, abilities: &Abilities) -> Option<String> {
    if let Some(size) = args.mmap_pages {
        return Some(size.to_string());
    }
    // Calls of a probe come in bursts, and labels need each of them.
    let samples = if args.probe_events.is_empty() { BUFFERED } else { 4 * BUFFERED };
    let kb = (args.stack_size.bytes().saturating_mul(samples) / 1024).next_power_of_two();
    abilities.large_buffers.then(|| format!("{}K", kb.max(LEAST_BUFFER)))
}

/// Returns the arguments for the events and their frequency.
fn event_arguments(args: &RecordArgs, abilities: &Abilities) -> Vec<String> {
    let frequency = args.frequency.min(abilities.max_frequency.unwrap_or(u32::MAX));
    let mut events = args.event.clone();
    let is_each = args.off_cpu || !args.probe_events.is_empty();
    if is_each {
        // With -F, not every context switch or call of a probe would be sampled.
        if events.is_empty() {
            events.push(if abilities.has_counters { "cycles" } else { "cpu-clock" }.to_owned());
        }
        events = events.iter().map(|event| with_frequency(event, frequency)).collect();
    } else if events.is_empty() && (args.cgroup.is_some() || !abilities.has_counters) {
        // perf's own default cannot be limited to a control group.
        events.push(if abilities.has_counters { "cycles:P" } else { "cpu-clock" }.to_owned());
    }
    events.extend(args.off_cpu.then(|| "sched:sched_switch".to_owned()));
    events.extend(args.probe_events.iter().cloned());
    let mut words: Vec<String> =
        events.into_iter().flat_map(|event| ["-e".to_owned(), event]).collect();
    words.extend(args.off_cpu.then(|| "--switch-events".to_owned()));
    if !is_each {
        words.extend(["-F".to_owned(), frequency.to_string()]);
    }
    words
}

/// Returns the arguments for perf to write to `target`.
pub(super) fn perf_arguments(
    args: &RecordArgs,
    target: RecordTarget<'_>,
    abilities: &Abilities,
) -> Vec<OsString> {
    let mut words: Vec<OsString> = vec!["record".into()];
    words.extend(event_arguments(args, abilities).into_iter().map(OsString::from));
    let mut add = |word: &str| words.push(word.into());
    if let Some(size) = buffer_size(args, abilities) {
        add("-m");
        add(&size);
    }
    add("--call-graph");
    add(&format!("dwarf,{}", args.stack_size.bytes() & !7));
    if abilities.buildid_mmap {
        add("--buildid-mmap");
    }
    if abilities.compression && !args.no_compress && matches!(target, RecordTarget::File(_)) {
        add("-z");
    }
    if args.is_system_wide() {
        // Records of BPF programs stay: those of a control group run in its processes.
        add("-a");
    } else if abilities.no_bpf_event {
        // perf's thread for these records sleeps for a second at a time, and perf waits for it at the end.
        // Source: `tools/perf/util/sideband_evlist.c`, `perf_evlist__poll_thread`.
        add("--no-bpf-event");
    }
    if let Some(group) = &args.cgroup {
        // A single name applies to all events before it.
        // Source: `tools/perf/util/cgroup.c`, `parse_cgroups`.
        words.extend(["-G".into(), group.into()]);
    }
    let mut add = |word: &str| words.push(word.into());
    if !args.pid.is_empty() {
        add("-p");
        let pids: Vec<String> = args.pid.iter().map(ToString::to_string).collect();
        add(&pids.join(","));
    }
    add("-o");
    let RecordTarget::File(recording) = target else {
        words.push("-".into());
        return words;
    };
    words.push(recording.into());
    if !args.command.is_empty() {
        words.push("--".into());
        words.extend(args.command.iter().cloned());
    }
    words
}

/// Returns the arguments of a short recording in `file` with the same rights.
pub(super) fn trial_arguments(
    args: &RecordArgs,
    file: &Path,
    abilities: &Abilities,
) -> Vec<OsString> {
    let args = RecordArgs { command: vec!["true".into()], no_compress: true, ..args.clone() };
    let mut words = perf_arguments(&args, RecordTarget::File(file), abilities);
    if args.is_system_wide() && abilities.no_bpf_event {
        words.insert(1, "--no-bpf-event".into());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_line(words: &[OsString]) -> String {
        let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
        words.join(" ")
    }

    fn words(line: &str, abilities: &Abilities) -> String {
        let args = RecordArgs::of_line(line);
        in_line(&perf_arguments(&args, RecordTarget::File(&args.output), abilities))
    }

    #[test]
    fn a_trial_has_the_same_events_and_target() {
        let all = Abilities { no_bpf_event: true, compression: true, ..Abilities::default() };
        let trial =
            |line| in_line(&trial_arguments(&RecordArgs::of_line(line), Path::new("t"), &all));
        assert_eq!(
            trial("-a -m 64 -- ./program"),
            "record --no-bpf-event -e cpu-clock -F 997 -m 64 --call-graph dwarf,16384 -a -o t -- true"
        );
        assert_eq!(
            trial("-p 7"),
            "record -e cpu-clock -F 997 --call-graph dwarf,16384 --no-bpf-event -p 7 -o t -- true"
        );
    }

    #[test]
    fn what_serves_best() {
        let plain = Abilities::default();
        assert_eq!(
            words("-- ./program -x", &plain),
            "record -e cpu-clock -F 997 --call-graph dwarf,16384 -o perf.data -- ./program -x"
        );
        let all = Abilities {
            has_counters: true,
            buildid_mmap: true,
            no_bpf_event: true,
            compression: true,
            large_buffers: false,
            max_frequency: Some(500),
        };
        assert_eq!(
            words("-a -o a.data --stack-size 4095 sleep 1", &all),
            "record -F 500 --call-graph dwarf,4088 --buildid-mmap -z -a -o a.data -- sleep 1"
        );
        assert_eq!(
            words("--off-cpu -F 99 ./program", &plain),
            "record -e cpu-clock/freq=99/ -e sched:sched_switch --switch-events --call-graph dwarf,16384 -o perf.data \
             -- ./program"
        );
        assert_eq!(
            words("-p 1,2 -e cycles -e page-faults", &all),
            "record -e cycles -e page-faults -F 500 --call-graph dwarf,16384 --buildid-mmap -z --no-bpf-event \
             -p 1,2 -o perf.data"
        );
        assert_eq!(
            words("-a --no-compress", &all),
            "record -F 500 --call-graph dwarf,16384 --buildid-mmap -a -o perf.data"
        );
    }

    #[test]
    fn every_call_of_a_probe_is_recorded() {
        let words = |line: &str, abilities: &Abilities| {
            let mut args = RecordArgs::of_line(line);
            args.probe_events = vec!["probe_a:f".to_owned(), "probe_a:f__return".to_owned()];
            in_line(&perf_arguments(&args, RecordTarget::File(&args.output), abilities))
        };
        let plain = Abilities::default();
        assert_eq!(
            words("-- ./a", &plain),
            "record -e cpu-clock/freq=997/ -e probe_a:f -e probe_a:f__return --call-graph dwarf,16384 -o perf.data -- ./a"
        );
        let counters = Abilities { has_counters: true, ..Abilities::default() };
        assert_eq!(
            words("-F 99 --off-cpu -- ./a", &counters),
            "record -e cycles/freq=99/ -e sched:sched_switch -e probe_a:f -e probe_a:f__return \
             --switch-events --call-graph dwarf,16384 -o perf.data -- ./a"
        );
        assert_eq!(
            words("-F 99 -e cycles:u,page-faults -- ./a", &counters),
            "record -e cycles/freq=99/u,page-faults/freq=99/ -e probe_a:f -e probe_a:f__return --call-graph dwarf,16384 \
             -o perf.data -- ./a"
        );
    }

    #[test]
    fn buffers_hold_samples_of_their_stack_size() {
        let able = Abilities { large_buffers: true, ..Abilities::default() };
        let size = |line: &str| {
            let words = words(line, &able);
            words.split_once(" -m ").map(|it| it.1.split(' ').next().unwrap_or_default().to_owned())
        };
        assert_eq!(size("-- x"), Some("2048K".to_owned()));
        assert_eq!(size("--stack-size 65528 -- x"), Some("8192K".to_owned()));
        assert_eq!(size("--stack-size 8 -- x"), Some("512K".to_owned()));
        assert_eq!(size("-m 16 -- x"), Some("16".to_owned()));
    }

    #[test]
    fn all_events_are_limited_to_the_group() {
        let plain = Abilities::default();
        assert_eq!(
            words("--cgroup a/b -- sleep 1", &plain),
            "record -e cpu-clock -F 997 --call-graph dwarf,16384 -a -G a/b -o perf.data -- sleep 1"
        );
        assert_eq!(
            words("--cgroup a -e cycles -e page-faults", &plain),
            "record -e cycles -e page-faults -F 997 --call-graph dwarf,16384 -a -G a -o perf.data"
        );
        assert_eq!(
            words("--cgroup a --off-cpu", &plain),
            "record -e cpu-clock/freq=997/ -e sched:sched_switch --switch-events --call-graph dwarf,16384 -a -G a \
             -o perf.data"
        );
        let counters = Abilities { has_counters: true, no_bpf_event: true, ..Abilities::default() };
        assert_eq!(
            words("--cgroup a -m 4m", &counters),
            "record -e cycles:P -F 997 -m 4M --call-graph dwarf,16384 -a -G a -o perf.data"
        );
    }
}
