//! The text of `perf script` that is stored beside a case, compared line by line.
//!
//! Known differences, which are removed: perf prints offsets in the file instead of addresses, and it names frames
//! of the C library by its debug information, which is not in the test data.

use crate::support::cases::Case;

fn comparable(text: &str) -> Vec<String> {
    let frame = |line: &str| match line.trim_start().split_once(' ') {
        Some((address, rest)) if u64::from_str_radix(address, 16).is_ok() => rest.to_owned(),
        _ => line.trim_end().to_owned(),
    };
    text.lines().filter(|line| !line.contains("libc")).map(frame).collect()
}

/// The example for which hotspot's unwinder reported overlapping files: the chain of inlined functions through
/// `std::norm` to `main`, and no such report.
#[test]
fn norms_of_complex_numbers() {
    let case = Case::named("norm");
    let perf = std::fs::read_to_string(case.folder.join("perf-script")).expect("perf's text");
    let ours = case.run(&["-q", "-f", "perf-script"]).expect_status(0);
    assert_eq!(comparable(ours.text()), comparable(&perf));
    let through_norm = perf.lines().filter(|line| line.contains(" std::norm<double>")).count();
    assert_eq!(through_norm, 6);
    let json = case.run(&["-q"]).expect_status(0).json();
    let findings = json["summary"]["findings"].as_array().expect("findings");
    let kinds: Vec<_> = findings.iter().map(|finding| finding["kind"].clone()).collect();
    // The function that calls `main` is stripped from libc.
    assert_eq!(kinds, ["unverified-file", "not-covered"]);
}
