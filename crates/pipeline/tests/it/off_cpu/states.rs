//! Waits and preempted threads.

use profile::WaitKind;

use super::*;

/// Returns the begin of each time and whether its thread was preempted, and the number of times without a state.
fn states(how: How, events: &[(u64, u32, Happens)]) -> (Vec<(u64, bool)>, u64) {
    let analysis = analyze(recording(how, events), SampleFilter::default()).expect("a recording");
    let profile = &analysis.profile;
    let times = profile.samples.iter().filter(|row| Some(row.event) == profile.off_cpu);
    let state = |row: &profile::SampleRow| {
        (row.time().expect("a time").0, row.wait() == Some(WaitKind::Preempted))
    };
    let unknown = profile.summary.findings.iter().filter(|it| it.kind == "off-cpu-state-unknown");
    (times.map(state).collect(), unknown.map(|it| it.count).sum())
}

/// The state in the sample has precedence over the record.
#[test]
fn the_sample_states_it() {
    let events = [
        (100, 5, Leaves(0x10, 0)),
        (101, 5, Preempted),
        (150, 5, In),
        (200, 5, Loses(0x11, 0)),
        (201, 5, Out),
        (250, 5, In),
    ];
    assert_eq!(states(BOTH, &events), (vec![(100, false), (200, true)], 0));
    // At a frequency, the samples state it as well.
    assert_eq!(states(How { each: false, ..BOTH }, &events), (vec![(100, false), (200, true)], 0));
}

/// Without the tracepoint, the record decides. Before Linux 4.17 no record is marked.
#[test]
fn the_record_states_it() {
    let events = [
        (90, 5, Runs(0x10)),
        (100, 5, Out),
        (150, 5, In),
        (160, 5, Runs(0x11)),
        (200, 5, Preempted),
        (250, 5, In),
    ];
    let alone = How { tracepoint: false, ..BOTH };
    let both = vec![(100, false), (200, true)];
    assert_eq!(states(How { kernel: "6.1.0", ..alone }, &events), (both.clone(), 0));
    assert_eq!(states(How { kernel: "4.16.18", ..alone }, &events), (both.clone(), 1));
    assert_eq!(states(alone, &events), (both, 1));
}

/// With `off_cpu_optional`, a recording without times off the processor has only its samples.
#[test]
fn optional_times() {
    let options = Options { off_cpu: true, off_cpu_optional: true, ..Options::default() };
    let without = How { records: false, tracepoint: false, ..BOTH };
    let returnless = How { records: false, ..BOTH };
    for (how, events, samples) in [
        (without, &[(100, 5, Runs(0x10))][..], 1),
        (returnless, &[(100, 5, Leaves(0x10, 77)), (200, 5, Leaves(0x13, 77))], 2),
    ] {
        let analysis = analyze_with(recording(how, events), &options).expect("a recording");
        let profile = &analysis.profile;
        assert_eq!((profile.off_cpu, profile.samples.len()), (None, samples));
        let plain = analyze_with(recording(how, events), &Options::default()).expect("the same");
        assert_eq!(format!("{:?}", profile.summary), format!("{:?}", plain.profile.summary));
    }
    let events = [(100, 5, Leaves(0x10, 0)), (101, 5, Out), (150, 5, In)];
    let analysis = analyze_with(recording(BOTH, &events), &options).expect("a recording");
    assert_eq!(off_cpu(&analysis).0, [(100, 5, 50, 0x10)]);
}
