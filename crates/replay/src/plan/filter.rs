//! The filter of samples, and a description of the rejected ones.

use address::{Pid, Tid, Timestamp};
use hashbrown::HashSet;
use options::SampleFilter;
use perf_data::{Batch, Head, SampleEntry, SampleType};

use crate::plan::threads::Thread;

/// The filter of the options, resolved for one recording. Maps are replayed in full, whatever it accepts.
#[derive(Clone, Debug, Default)]
pub struct ResolvedFilter {
    /// The options. An empty list accepts all samples.
    pub options: SampleFilter,
    /// Indexes of the events that `options.events` names.
    pub events: Vec<u16>,
    /// Start of `options.time` on the recording's clock, inclusive.
    pub from: Option<Timestamp>,
    /// End of `options.time` on the recording's clock, inclusive.
    pub to: Option<Timestamp>,
}

impl ResolvedFilter {
    /// Returns true if a sample is wanted. `named` tests the name and the control group of its thread.
    pub(crate) fn wants(&self, entry: &SampleEntry, named: impl FnOnce() -> bool) -> bool {
        (self.events.is_empty() || self.events.contains(&entry.event))
            && self.from.is_none_or(|from| from <= entry.time)
            && self.to.is_none_or(|to| entry.time <= to)
            && self.wants_thread(entry.pid, entry.tid, named)
    }

    /// Returns the processor of a sample if the filter names processors; the sample is decoded a second time for it.
    #[inline]
    pub(crate) fn cpu(&self, entry: &SampleEntry, batch: &Batch) -> Option<u32> {
        if self.options.cpus.is_empty() {
            return None;
        }
        batch.sample(entry).ok()?.cpu
    }

    /// Returns true if samples on a processor are wanted.
    #[inline]
    pub(crate) fn wants_cpu(&self, cpu: Option<u32>) -> bool {
        let cpus = &self.options.cpus;
        cpus.is_empty() || cpu.is_some_and(|cpu| cpus.contains(&cpu))
    }

    /// Returns true if samples of a thread are wanted, of any event and time.
    pub(crate) fn wants_thread(&self, pid: Pid, tid: Tid, named: impl FnOnce() -> bool) -> bool {
        // Every option is named, so that one that no code obeys does not compile.
        let SampleFilter { pids, tids, comms, cgroups, events: _, cpus: _, time: _ } =
            &self.options;
        (pids.is_empty() || pids.contains(&pid))
            && (tids.is_empty() || tids.contains(&tid))
            && ((comms.is_empty() && cgroups.is_empty()) || named())
    }
}

/// Returns true if samples of the recording have a control group.
#[must_use]
pub fn has_cgroups(head: &Head) -> bool {
    any_samples(head, SampleType::CGROUP)
}

/// Returns true if samples of the recording state their processor.
#[must_use]
pub fn has_cpus(head: &Head) -> bool {
    any_samples(head, SampleType::CPU)
}

fn any_samples(head: &Head, field: SampleType) -> bool {
    head.events().iter().any(|event| event.attr.sample_type.has(field))
}

/// Returns true if a name matches a pattern: `*` stands for any number of bytes, `?` for one.
#[must_use]
pub fn matches_pattern(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut from) = (0, 0);
    // Index of the last star in the pattern, and the end in the name of its match.
    let mut star: Option<(usize, usize)> = None;
    while from < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, from));
                at += 1;
            }
            Some(&byte) if byte == b'?' || name.get(from) == Some(&byte) => {
                (at, from) = (at + 1, from + 1);
            }
            _ => match star {
                Some((place, end)) => {
                    star = Some((place, end + 1));
                    (at, from) = (place + 1, end + 1);
                }
                None => return false,
            },
        }
    }
    pattern.get(at..).unwrap_or_default().iter().all(|&byte| byte == b'*')
}

/// Threads, events, processors and times of the samples that a filter rejected.
#[derive(Clone, Debug, Default)]
pub struct RejectedSamples {
    /// Threads, one entry for each name.
    pub threads: HashSet<Thread>,
    /// Event indexes.
    pub events: HashSet<u16>,
    /// Processors, if the filter names some.
    pub cpus: HashSet<u32>,
    /// First and last time.
    pub times: Option<(Timestamp, Timestamp)>,
}

impl RejectedSamples {
    pub(crate) fn add(&mut self, entry: &SampleEntry, thread: Thread) {
        self.threads.insert(thread);
        self.events.insert(entry.event);
        let (first, last) = self.times.unwrap_or((entry.time, entry.time));
        self.times = Some((first.min(entry.time), last.max(entry.time)));
    }
}

#[cfg(test)]
mod tests {
    use super::matches_pattern;

    #[test]
    fn patterns() {
        let fits = |pattern: &str, name: &str| matches_pattern(pattern.as_bytes(), name.as_bytes());
        for (pattern, name) in [
            ("blur*", "blur"),
            ("blur*", "blur-3"),
            ("*:sched_*", "sched:sched_switch"),
            ("a?c", "abc"),
            ("", ""),
            ("**", ""),
            ("*ab*ab", "abaab-ab"),
            ("a*", "a*"),
        ] {
            assert!(fits(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in
            [("blur", "blur-3"), ("blur?", "blur"), ("*b", "ba"), ("", "a"), ("a*b", "acbc")]
        {
            assert!(!fits(pattern, name), "{pattern} {name}");
        }
    }
}
