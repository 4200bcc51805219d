//! Bundles: their tar file, manifest, ranges and sizes, and the answers of their host.
#![no_main]

mod cost;

use std::path::Path;

use budget::{Budget, Limit, Resource};
use bundle::{Bundle, is_bundle};
use host::{Host, Origin};
use libfuzzer_sys::fuzz_target;

/// Smaller than the usual limit, so that inputs reach it.
const LIMIT: Limit = Limit { base: 1 << 16, per_byte: 4, most: 1 << 20 };

fn run(bytes: &[u8]) {
    let _ = is_bundle(bytes);
    let budget = Budget::default().with(Resource::RecordBytes, LIMIT);
    let Ok(bundle) = Bundle::read(bytes, &budget) else { return };
    let facts = bundle.manifest().facts();
    let machine = bundle.host();
    for path in [facts.recording.as_path(), Path::new("/a"), Path::new("/")] {
        for origin in [Origin::User, Origin::Recording { root: Path::new("/") }] {
            if let Ok(file) = machine.open(path, origin) {
                let sum = file.content.iter().step_by(512).fold(0_u8, |sum, it| sum ^ it);
                std::hint::black_box(sum);
            }
            let _ = machine.stat(path, origin);
            let _ = machine.list(path, origin);
        }
    }
    let _ = (machine.running_vdso(), machine.home(), machine.findings());
}

fuzz_target!(|bytes: &[u8]| {
    cost::bounded(bytes, || {
        run(bytes);
        let packed = zstd::stream::encode_all(bytes, 1).expect("memory");
        run(&packed);
        LIMIT.of(bytes.len() as u64) + packed.len() as u64
    });
});
