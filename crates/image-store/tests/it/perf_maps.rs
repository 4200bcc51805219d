//! Maps that processes write of their compiled code: choice of the file, and rejection.

use std::sync::Arc;

use address::{Avma, Pid};
use host::{FileOwner, MemoryHost};
use image_store::{FileOptions, ImageStore, PerfMapAge};

#[test]
fn the_map_of_a_process_in_a_container() {
    let status: &[u8] = b"Name:\tapp\nNSpid:\t77\t5\n";
    let files: [(&str, &[u8]); 4] = [
        ("/maps/perf-77.map", b"100 10 kept"),
        ("/tmp/perf-77.map", b"100 10 own"),
        ("/tmp/perf-5.map", b"100 10 inner"),
        ("/proc/77/status", status),
    ];
    let read = |files: &[(&str, &[u8])]| {
        let host = MemoryHost::new();
        for (path, content) in files {
            host.insert(path, content.to_vec());
        }
        let options = FileOptions { host: Arc::new(host), ..FileOptions::default() };
        let options = FileOptions {
            perf_map_dirs: vec!["/maps".into()],
            trust_running_kernel: true,
            ..options
        };
        let file = ImageStore::new(options).perf_map(Pid(77))?;
        file.map().lookup(Avma(0x100)).map(|function| function.name.to_vec())
    };
    assert_eq!(read(&files[..]), Some(b"kept".to_vec()));
    assert_eq!(read(&files[1..]), Some(b"own".to_vec()));
    assert_eq!(read(&files[2..]), Some(b"inner".to_vec()));
    assert_eq!(read(&files[3..]), None);
}

/// Any user can create a map in `/tmp`.
#[test]
fn the_map_of_another_user_is_not_trusted() {
    let read = |owner, trust_perf_maps| {
        let host = MemoryHost::new();
        host.insert_of("/tmp/perf-77.map", *b"text", owner);
        let options = FileOptions { host: Arc::new(host), ..FileOptions::default() };
        let images = ImageStore::new(FileOptions { trust_perf_maps, ..options });
        let found = images.perf_map(Pid(77)).is_some();
        (found, images.findings().into_iter().map(|finding| finding.message).collect::<Vec<_>>())
    };
    for owner in [FileOwner::This, FileOwner::Root] {
        assert_eq!(read(owner, false), (true, vec![]));
    }
    assert_eq!(read(FileOwner::Other(33), true), (true, vec![]));
    let message = "/tmp/perf-77.map was ignored: it belongs to user 33, neither to you nor to root";
    assert_eq!(read(FileOwner::Other(33), false), (false, vec![message.to_owned()]));
}

/// An earlier process with the same id may have left its map in `/tmp`.
#[test]
fn a_map_that_is_older_than_its_process_is_not_used() {
    const SECOND: i128 = 1_000_000_000;
    let read = |path: &str, began: Option<i128>, change: &dyn Fn(&mut FileOptions)| {
        let host = MemoryHost::new();
        host.insert_written(path, *b"text", 1_000 * SECOND);
        // A living process with that id, started 100 s after boot.
        host.insert("/proc/77/stat", *b"77 (app) S 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 10000 0");
        host.insert("/proc/stat", *b"cpu 1\nbtime 1400\n");
        let mut options = FileOptions { host: Arc::new(host), ..FileOptions::default() };
        change(&mut options);
        let images = ImageStore::new(options);
        let found = images.perf_map(Pid(77)).expect("one that is trusted");
        let found = found.can_be_of(Pid(77), PerfMapAge { began }, &images);
        let kinds = images.findings().into_iter().map(|finding| finding.kind.as_str());
        (found, kinds.collect::<Vec<_>>())
    };
    let tmp = "/tmp/perf-77.map";
    let unchanged = |_: &mut FileOptions| {};
    assert_eq!(read(tmp, Some(900 * SECOND), &unchanged), (true, vec![]));
    assert_eq!(read(tmp, Some(1_100 * SECOND), &unchanged), (false, vec!["perf-map-stale"]));
    assert_eq!(read(tmp, None, &unchanged), (true, vec!["perf-map-undated"]));
    let here = |options: &mut FileOptions| options.trust_running_kernel = true;
    assert_eq!(read(tmp, None, &here), (false, vec!["perf-map-stale"]));
    // The process with that id started after the recording.
    let before = |options: &mut FileOptions| {
        options.trust_running_kernel = true;
        options.recorded_until = Some(1_100 * SECOND);
    };
    assert_eq!(read(tmp, None, &before), (true, vec!["perf-map-undated"]));
    let trusted = |options: &mut FileOptions| options.trust_perf_maps = true;
    assert_eq!(read(tmp, Some(1_100 * SECOND), &trusted), (true, vec![]));
    let named = |options: &mut FileOptions| options.perf_map_dirs = vec!["/maps".into()];
    assert_eq!(read("/maps/perf-77.map", Some(1_100 * SECOND), &named), (true, vec![]));
}

/// Unwinding and naming use the same map; a living process may have extended it.
#[test]
fn a_map_is_read_once_until_it_is_forgotten() {
    let host = Arc::new(MemoryHost::new());
    host.insert("/tmp/perf-77.map", *b"100 10 one");
    let options = FileOptions { host: host.clone(), ..FileOptions::default() };
    let images = ImageStore::new(options);
    let begins = || {
        let file = images.perf_map(Pid(77)).expect("a map");
        [0x100, 0x108, 0x200].map(|at| file.map().begins_at(Avma(at)))
    };
    assert_eq!(begins(), [true, false, false]);
    host.insert("/tmp/perf-77.map", *b"100 10 one\n200 10 two");
    assert_eq!(begins(), [true, false, false]);
    images.clear_perf_maps();
    assert_eq!(begins(), [true, false, true]);
    assert!(images.perf_map(Pid(78)).is_none());
}
