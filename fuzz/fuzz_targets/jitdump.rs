//! A jitdump: its records on the timeline, and the image of its code.
#![no_main]

mod cost;
mod walk;

use std::sync::Arc;

use address::{Pid, Svma, Timestamp};
use budget::Budget;
use host::MemoryHost;
use image_store::DumpReader;
use libfuzzer_sys::fuzz_target;
use module_map::{JitReader as _, Timeline};
use profile::Strings;
use symbolizer::{SymbolRequest, SymbolSource, SymbolizeOptions, symbolize};
use unwinder::Arch;

const DUMP: &str = "/tmp/jit-1.dump";
/// Number of pieces of code that are walked through.
const PIECES: usize = 32;

fn run(bytes: &[u8]) {
    let host = MemoryHost::new();
    host.insert(DUMP, bytes);
    let store = Arc::new(walk::store(host));
    let reader = DumpReader::new(Arc::clone(&store), Budget::default(), Some(Arch::X86_64));
    let Ok(Some(dump)) = reader.read(DUMP.as_bytes(), Pid(1)) else { return };
    let mut timeline = Timeline::new();
    timeline.read_jit_with(Box::new(reader));
    timeline.advance(Timestamp(1));
    timeline.map(&walk::mapping(DUMP.as_bytes(), 0x1000, 0x1000, 0));
    let mut times: Vec<Timestamp> = dump.loads.iter().map(|load| load.time).collect();
    times.sort_unstable();
    for now in times.into_iter().take(PIECES).chain([Timestamp(u64::MAX)]) {
        timeline.advance(now);
        walk::check_space(&timeline.space(Pid(1)).0);
    }
    let (space, _) = timeline.space(Pid(1));
    let module = timeline.jit_modules().next().expect("it was marked");
    let loaded = store.image(&timeline.modules()[module.index()]).expect("it was provided");
    let image = loaded.image();
    let loads = dump.loads.iter().filter(|load| load.len > 0);
    let mut addresses: Vec<Svma> = loads.map(|load| Svma(load.offset.0)).collect();
    addresses.sort_unstable();
    addresses.dedup();
    for &address in &addresses {
        assert_eq!(image.offset_of_svma(address).map(|offset| offset.0), Some(address.0));
    }
    let request = SymbolRequest { source: SymbolSource::of(image), addresses: &addresses };
    let symbols = symbolize(&[request], &SymbolizeOptions::default(), &mut Strings::default());
    assert!(symbols.addresses[0].iter().all(|it| it.function_start.is_some()));
    let pcs = space.mappings().take(PIECES).map(|piece| piece.start.0);
    let pcs: Vec<u64> = pcs.flat_map(|start| [start, start.wrapping_add(2)]).collect();
    let stack: Vec<u8> = pcs.iter().flat_map(|pc| pc.wrapping_add(3).to_le_bytes()).collect();
    let arch = image.arch().unwrap_or(Arch::X86_64);
    walk::walk_all(arch, &space, &store, &stack, &[0x7ffd_0000; 33], pcs.into_iter());
}

fuzz_target!(|bytes: &[u8]| {
    cost::bounded(bytes, || {
        run(bytes);
        0
    });
});
