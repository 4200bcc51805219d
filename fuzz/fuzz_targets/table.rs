//! Parquet files from other machines: aggregated stacks, and files to merge.
#![no_main]

mod cost;

use std::io;
use std::path::Path;

use formats::{PartFile, StackReader, TableBytes, TableFile, merge_tables};
use libfuzzer_sys::fuzz_target;

/// Bytes that a table may take: the levels and values of the largest page.
const TABLE: u64 = 64 << 20;

fn run(bytes: &[u8]) {
    let mut stacks = StackReader::default();
    let _ = stacks.add(bytes.to_vec());
    std::hint::black_box(stacks.finish().rows.len());
    let file = |name: &str| TableFile {
        path: name.into(),
        constants: vec![("from".to_owned(), name.to_owned())],
    };
    let open = |_: &Path| -> io::Result<TableBytes> { Ok(Box::new(bytes.to_vec())) };
    let mut create = || -> io::Result<PartFile> { Ok(Box::new(io::sink())) };
    let _ = merge_tables(&[file("a"), file("b")], &open, &mut create);
}

fuzz_target!(|bytes: &[u8]| {
    cost::bounded(bytes, || {
        run(bytes);
        TABLE
    });
});
