//! Profiles of recordings that were stored and restored.
#![allow(clippy::disallowed_methods, reason = "tests look at the machine itself")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use host::RealHost;
use pipeline::{FileSearch, Observer, Options, Pipeline, Source, Unobserved};
use profile::Profile;

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name)
}

/// Returns the profile of a case of testdata.
fn analyzed(case: &str, off_cpu: bool) -> Profile {
    let case = testdata("cases").join(case);
    let kallsyms = Some(case.join("kallsyms")).filter(|path| path.is_file());
    let sysroots = vec![testdata("sysroot")];
    let files = FileSearch { sysroots, kallsyms, ..FileSearch::default() };
    let options = Options { files, off_cpu, ..Options::default() };
    let pipeline = Pipeline::new(Arc::new(RealHost));
    let source = Source::Path(case.join("perf.data"));
    let observer: Arc<dyn Observer> = Arc::new(Unobserved);
    pipeline.analyze(source, &options, &observer).expect("a recording").profile
}

/// Cases with several events, processes, processors, waits, inlined functions, losses and a just-in-time compiler. The
/// number of samples shows that each profile has rows.
#[test]
fn profiles_of_recordings_round_trip() {
    let cases = [
        ("two-events", false, 52),
        ("off-cpu", true, 123),
        ("syscalls", false, 48),
        ("inlines-gcc", false, 35),
        ("recursion-rs", false, 41),
        ("fork", false, 48),
        ("dlopen", false, 23),
        ("jit", false, 21),
        ("anon", false, 30),
        ("noeh-nofp", false, 30),
        ("aarch64-chain", false, 30),
    ];
    let mut found = cases;
    for (case, off_cpu, samples) in &mut found {
        let profile = analyzed(case, *off_cpu);
        let mut bytes = Vec::new();
        assert_eq!(profile.store(&mut bytes).ok(), Some(true), "{case}");
        *samples = profile.samples.len();
        assert!(Profile::restore(&bytes) == Ok(profile), "{case}");
    }
    assert_eq!(found, cases);
}
