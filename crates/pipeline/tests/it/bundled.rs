//! Tests of bundles as sources: the profile is the same as on the host, and missing answers are findings.

use std::path::Path;
use std::sync::Arc;

use bundle::{BundleFacts, ContentSelection, JournalHost, RecordedFiles};
use host::{Host, MemoryHost};
use pipeline::{Analysis, Error, Observer, Options, Pipeline, Source, Unobserved};
use synth::{Endian, EventAttr, Feature, PerfDataBuilder, SampleBuilder};

/// A host with a recording of one sample.
fn machine() -> MemoryHost {
    let mut recording = PerfDataBuilder::new(Endian::Little);
    recording.event("cycles:u", EventAttr::dwarf(0xff_0fff), &[1]);
    recording.describe_events().feature(&Feature::Hostname("there"));
    recording.sample(&SampleBuilder::at(0x40_1000, 7, 7, 20));
    let machine = MemoryHost::new();
    machine.insert("perf.data", recording.build());
    machine.insert("/proc/sys/kernel/hostname", *b"there\n");
    machine
}

fn analyze(host: Arc<dyn Host>, path: &str, options: &Options) -> Result<Analysis, Error> {
    let observer: Arc<dyn Observer> = Arc::new(Unobserved);
    Pipeline::new(host).analyze(Source::Path(path.into()), options, &observer)
}

/// A host that has only the bundle with the answers that `ask` requests.
fn bundled(ask: impl FnOnce(Arc<dyn Host>)) -> Arc<dyn Host> {
    let journal = JournalHost::new(Arc::new(machine()), Path::new("perf.data"));
    ask(journal.clone());
    let facts = BundleFacts { recording: "perf.data".into(), ..BundleFacts::default() };
    let mut packed = Vec::new();
    let taken = journal.finish().expect("files");
    bundle::write(&taken, &facts, &RecordedFiles::default(), &ContentSelection::Whole, &mut packed)
        .expect("memory");
    let elsewhere = MemoryHost::new();
    elsewhere.insert("/a.upb", packed);
    elsewhere.insert("/proc/sys/kernel/hostname", *b"elsewhere\n");
    Arc::new(elsewhere)
}

fn findings(analysis: &Analysis) -> Vec<(String, String)> {
    let findings = analysis.profile.summary.findings.iter();
    findings.map(|row| (row.kind.clone(), row.message.clone())).collect()
}

#[test]
fn a_bundle_stands_for_its_machine() {
    let options = Options::default();
    let there = analyze(Arc::new(machine()), "perf.data", &options).expect("a profile");
    let elsewhere = bundled(|host| drop(analyze(host, "perf.data", &options)));
    let here = analyze(elsewhere.clone(), "/a.upb", &options).expect("a profile");
    let tables = |analysis: &Analysis| {
        let profile = &analysis.profile;
        format!("{:?} {:?} {:?}", profile.samples, profile.locations, profile.summary)
    };
    assert_eq!(tables(&here), tables(&there));
    assert_eq!((here.written, here.is_damaged), (there.written, false));
    assert_eq!(here.host().hostname(), b"there");
    let head = Pipeline::new(elsewhere).head(Source::Path("/a.upb".into())).expect("a head");
    assert_eq!(head.events.len(), 1);
}

#[test]
fn what_it_does_not_know_is_a_finding() {
    // Only the head was read when the bundle was made.
    let elsewhere = bundled(|host| {
        Pipeline::new(host).head(Source::Path("perf.data".into())).expect("a head");
    });
    let analysis = analyze(elsewhere, "/a.upb", &Options::default()).expect("a profile");
    assert_eq!(analysis.profile.samples.len(), 1);
    assert!(analysis.is_damaged);
    let unknown = "/proc/sys/kernel/hostname is not in the bundle, since it was not read when the bundle was made";
    let found = findings(&analysis);
    assert!(found.contains(&("not-in-bundle".to_owned(), unknown.to_owned())), "{found:?}");
}

#[test]
fn it_brings_its_files() {
    let elsewhere = bundled(|host| drop(analyze(host, "perf.data", &Options::default())));
    let mut options = Options::default();
    options.files.sysroots.push("/other".into());
    let refused = analyze(elsewhere, "/a.upb", &options).expect_err("two places for files");
    let expected = "/a.upb is a bundle with its own files; sysroot has no effect";
    assert_eq!(refused.to_string(), expected);
}

#[test]
fn a_damaged_bundle_is_an_error() {
    let machine = MemoryHost::new();
    let good = bundled(|host| drop(analyze(host, "perf.data", &Options::default())));
    let good = good.read(Path::new("/a.upb"), host::Origin::User).expect("the bundle");
    machine.insert("/cut.upb", &good[..good.len() - 3]);
    let error = analyze(Arc::new(machine), "/cut.upb", &Options::default()).expect_err("cut");
    assert_eq!(error.to_string(), "cannot read /cut.upb");
}
