//! The user's own source files, which a page contains without a request.

use std::cmp::Reverse;
use std::path::Path;

use address::{ById as _, ModuleId, Svma};
use formats::PageSource;
use hashbrown::HashMap;
use host::{FileOwner, Origin};
use pipeline::{Analysis, FileSearch, SourceFiles};
use profile::{LocationAddress, Profile, StringId};

use super::code::by_stack;

/// Maximum size of all files, in bytes. It is less than on request, since nobody asked for them.
const MOST: usize = 4 << 20;

/// A source file of a profile.
struct ProfiledFile {
    name: StringId,
    /// Samples with an innermost line in it.
    samples: u64,
    /// Code with a line in it.
    place: (ModuleId, Svma),
}

/// Returns the source files below their compile directories, those with the costliest lines first. There are none
/// unless the recording is a file of this user, and of this host.
pub(super) fn own_sources(
    analysis: &Analysis,
    search: &FileSearch,
    recording: &Path,
) -> Vec<PageSource> {
    if !is_own(analysis, search, recording) {
        return Vec::new();
    }
    let profile = &analysis.profile;
    let files = SourceFiles::new(search, &**analysis.host());
    let mut profiled = profiled_files(profile);
    profiled.retain(|file| files.may_be_below(profile.strings.get(file.name)));
    let places: Vec<_> = profiled.iter().map(|file| file.place).collect();
    let directories = analysis.compile_dirs(&places);
    let texts = profiled.iter().zip(directories).filter_map(|(file, directory)| {
        let name = profile.strings.get(file.name);
        let text = files.text_below(name, &directory?)?;
        Some(PageSource { file: name.to_vec(), text })
    });
    fitting(texts, MOST)
}

/// Returns the first files, without those that would exceed the size of all.
fn fitting(files: impl Iterator<Item = PageSource>, most: usize) -> Vec<PageSource> {
    let mut left = most;
    files
        .filter(|file| {
            let rest = left.checked_sub(file.text.len());
            left = rest.unwrap_or(left);
            rest.is_some()
        })
        .collect()
}

/// Returns true if the recording is a file of this user, and of this host.
fn is_own(analysis: &Analysis, search: &FileSearch, recording: &Path) -> bool {
    let host = analysis.host();
    let Profile { recording: recorded, strings, .. } = &analysis.profile;
    let hostname = recorded.hostname.map(|name| strings.get(name));
    let is_here = hostname.is_some_and(|name| !name.is_empty() && name == host.hostname());
    // Standard input has no owner, whatever file has its name.
    let is_file = recording != Path::new("-");
    is_here
        && is_file
        && !analysis.is_of_bundle
        && search.sysroots.is_empty()
        && host.owner(recording, Origin::User).is_ok_and(|owner| owner == FileOwner::This)
}

/// Returns the files of lines in opened modules, those with the costliest lines first.
fn profiled_files(profile: &Profile) -> Vec<ProfiledFile> {
    let mut index: HashMap<StringId, usize> = HashMap::new();
    let mut files: Vec<ProfiledFile> = Vec::new();
    for (row, samples) in profile.locations.iter().zip(by_location(profile)) {
        let Some(module) = row.module else { continue };
        let kind = profile.modules.get(module).map(|module| module.kind);
        let LocationAddress::Svma(address) = row.address(kind) else { continue };
        let lines = profile.inlines.as_slice().get(row.inlines()).unwrap_or_default();
        for (depth, line) in lines.iter().enumerate() {
            let Some(name) = line.file else { continue };
            let at = *index.entry(name).or_insert_with(|| {
                files.push(ProfiledFile { name, samples: 0, place: (module, address) });
                files.len() - 1
            });
            if let Some(file) = files.get_mut(at).filter(|_| depth == 0) {
                file.samples += samples;
            }
        }
    }
    files.sort_by_key(|file| Reverse(file.samples));
    files
}

/// Returns the number of samples with a leaf at each location.
fn by_location(profile: &Profile) -> Vec<u64> {
    let mut counts = vec![0; profile.locations.len()];
    for (stack, samples) in profile.stacks.iter().zip(by_stack(profile)) {
        let frame = profile.frames.get(stack.frame);
        if let Some(count) = frame.and_then(|frame| counts.by_id_mut(frame.location)) {
            *count += samples;
        }
    }
    counts
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests read their files")]
mod tests {
    use std::path::PathBuf;
    use std::sync::Arc;

    use host::MemoryHost;
    use pipeline::{Observer, Options, Pipeline, Source, Unobserved};

    use super::*;

    const PROGRAM: &str = "/tmp/unwind-perf-testdata/inlines-gcc/inlines-gcc";
    const SOURCE: &str = "/tmp/unwind-perf-testdata/inlines-gcc/inlines.cpp";

    fn testdata(path: &str) -> Vec<u8> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
        std::fs::read(folder.join(path)).expect("a file of the test data")
    }

    /// The host of the recording, with its program and a source file.
    fn machine() -> MemoryHost {
        let machine = MemoryHost::new();
        machine.insert("perf.data", testdata("cases/inlines-gcc/perf.data"));
        machine.insert(PROGRAM, testdata(&format!("sysroot{PROGRAM}")));
        machine.insert("/proc/sys/kernel/hostname", *b"testbox\n");
        machine.insert(SOURCE, *b"int main() {}\n");
        machine
    }

    fn sources_with(machine: MemoryHost, files: FileSearch, input: &str) -> Vec<(String, String)> {
        let (observer, options): (Arc<dyn Observer>, _) =
            (Arc::new(Unobserved), Options::default());
        let options = Options { files, ..options };
        let source = Source::Path(PathBuf::from("perf.data"));
        let pipeline = Pipeline::new(Arc::new(machine));
        let analysis = pipeline.analyze(source, &options, &observer).expect("a profile");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        let found = own_sources(&analysis, &options.files, Path::new(input)).into_iter();
        found.map(|it| (text(it.file), text(it.text))).collect()
    }

    fn sources_of(machine: MemoryHost) -> Vec<(String, String)> {
        sources_with(machine, FileSearch::default(), "perf.data")
    }

    #[test]
    fn own_files_are_in_the_page() {
        let expected = [(SOURCE.to_owned(), "int main() {}\n".to_owned())];
        assert_eq!(sources_of(machine()), expected);
        let moved = machine();
        moved.remove(Path::new(SOURCE));
        moved.insert("/moved/inlines.cpp", *b"moved");
        let folder = b"/tmp/unwind-perf-testdata/inlines-gcc".to_vec();
        let path_map = vec![(folder, b"/moved".to_vec())];
        let files = FileSearch { path_map, ..FileSearch::default() };
        let expected = [(SOURCE.to_owned(), "moved".to_owned())];
        assert_eq!(sources_with(moved, files, "perf.data"), expected);
    }

    #[test]
    fn recordings_of_others_bring_no_files() {
        for owner in [FileOwner::Other(7), FileOwner::Root] {
            let other = machine();
            other.insert_of("perf.data", testdata("cases/inlines-gcc/perf.data"), owner);
            assert_eq!(sources_of(other), []);
        }
        for name in [&b"elsewhere\n"[..], b"testbox.lan\n", b""] {
            let elsewhere = machine();
            elsewhere.insert("/proc/sys/kernel/hostname", name);
            assert_eq!(sources_of(elsewhere), []);
        }
        let input = machine();
        input.insert("-", *b"");
        assert_eq!(sources_with(input, FileSearch::default(), "-"), []);
        let files = FileSearch { sysroots: vec!["/".into()], ..FileSearch::default() };
        assert_eq!(sources_with(machine(), files, "perf.data"), []);
    }

    /// The program was compiled with headers of the system.
    #[test]
    fn files_outside_of_the_compile_directory_are_left_out() {
        let expected = sources_of(machine());
        let more = machine();
        let outside = ["/usr/include/c++/14/bits/stl_algo.h", "/tmp/unwind-perf-testdata/a.h"];
        outside.iter().for_each(|path| more.insert(path, *b"outside"));
        assert_eq!(sources_of(more), expected);
        let none = machine();
        none.remove(Path::new(SOURCE));
        assert_eq!(sources_of(none), []);
    }

    #[test]
    fn files_have_a_limit_each_and_together() {
        let sized = |len: usize| {
            let large = machine();
            large.insert(SOURCE, vec![b' '; len]);
            sources_of(large).len()
        };
        assert_eq!([sized(2 << 20), sized((2 << 20) + 1)], [1, 0]);
        let file = |len: usize| PageSource { file: vec![b'a'; len], text: vec![b' '; len] };
        let lens = |lens: &[usize]| {
            let found = fitting(lens.iter().copied().map(file), 4);
            found.iter().map(|file| file.text.len()).collect::<Vec<_>>()
        };
        assert_eq!(lens(&[2, 2]), [2, 2]);
        assert_eq!(lens(&[3, 2, 1, 1]), [3, 1]);
        assert_eq!((lens(&[5]), MOST), (vec![], 4 << 20));
    }
}
