//! Recordings that cannot be compared, and the error messages.

use profile::Profile;
use profile::query::diff::{DiffError, DiffInput, DiffOptions, Normalization, diff};

use super::recording::{Recording, recording};

fn refused(before: &Profile, after: &Profile, normalization: Option<Normalization>) -> String {
    let options = DiffOptions { normalization, ..DiffOptions::default() };
    let input = |name, profile| [DiffInput { name, profile }];
    match diff(&input("old.data", before), &input("new.data", after), options) {
        Err(error) => error.to_string(),
        Ok(_) => String::new(),
    }
}

#[test]
fn other_events_and_units() {
    let plain = recording(&[("f", 9)]);
    let mut cycles = Recording::new();
    cycles.event("cycles", 1000);
    cycles.stack("f", 9);
    cycles.event("faults", 1000);
    cycles.stack("f", 9);
    assert_eq!(
        refused(&plain, &cycles.profile, None),
        "the events differ: old.data has cpu-clock, new.data has cycles and faults"
    );
    let mut bare = Recording::new();
    bare.period = None;
    bare.stack("f", 9);
    assert_eq!(
        refused(&plain, &bare.profile, None),
        "the units of cpu-clock differ: nanoseconds in old.data, samples in new.data; compare numbers of samples instead"
    );
    assert_eq!(refused(&plain, &bare.profile, Some(Normalization::Samples)), "");
}

#[test]
fn nothing_to_compare_or_to_divide_by() {
    let plain = recording(&[("f", 9)]);
    assert_eq!(
        refused(&plain, &recording(&[]), None),
        "new.data has no samples; nothing to compare"
    );
    let mut still = Recording::new();
    still.step = 0;
    still.stack("f", 9);
    assert_eq!(
        refused(&still.profile, &plain, Some(Normalization::Time)),
        "old.data has no duration: its samples have no times, or equal ones"
    );
    for (before, after, amount) in [(0.0, 1.0, "0"), (1.0, -2.0, "-2"), (f64::NAN, 1.0, "NaN")] {
        assert_eq!(
            refused(&plain, &plain, Some(Normalization::Work { before, after })),
            format!("the amount of work must be above 0, not {amount}")
        );
    }
    let error = diff(&[], &[DiffInput { name: "a", profile: &plain }], DiffOptions::default());
    assert_eq!(error.err(), Some(DiffError::NoRecording));
}
