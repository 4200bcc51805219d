//! The Parquet file, read with the reader of the parquet crate.

use bytes::Bytes;
use formats::{Format, FormatOptions};
use parquet::basic::Encoding;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use profile::Profile;

use crate::printed;
use crate::support::sample_profile::{empty, one_of_everything};

/// Prints a profile and opens the file.
pub(crate) fn reader(profile: &Profile, options: FormatOptions) -> SerializedFileReader<Bytes> {
    let bytes = printed(profile, Format::Parquet, options);
    SerializedFileReader::new(Bytes::from(bytes)).expect("a Parquet file")
}

/// Returns the rows as text.
pub(crate) fn rows(reader: &SerializedFileReader<Bytes>) -> Vec<String> {
    let rows = reader.get_row_iter(None).expect("rows");
    rows.map(|row| row.expect("a row").to_string()).collect()
}

#[test]
#[expect(clippy::too_many_lines, reason = "one file, looked at once")]
fn rows_are_samples() {
    let rows = rows(&reader(&one_of_everything(), FormatOptions::DEFAULT));
    let program = |address: u64, inside: &str| {
        format!(
            "{{addr: {address}, module: \"/opt/my app/t\"x\", build_id: \"d587e5ae\", {inside}}}"
        )
    };
    let main = |address, found_by| {
        let inside = format!(
            "svma: 4273, offset: 177, function: \"main\", function_offset: 49, file: \"t\\.c\", line: 12, \
             inlined: false, found_by: \"{found_by}\", kernel: false"
        );
        program(address, &inside)
    };
    let inl2 = "svma: 4544, offset: 448, function: \"inl2\", function_offset: null, file: \"t\\.c\", \
                line: 8, inlined: true, found_by: \"sampled\", kernel: false";
    let op = "svma: 4544, offset: 448, function: \"op;\"x\"\", function_offset: 16, file: null, \
              line: null, inlined: false, found_by: \"sampled\", kernel: false";
    let elsewhere = |address: u64, names: &str, found_by: &str| {
        let kernel = found_by == "callchain";
        format!(
            "{{addr: {address}, {names}, file: null, line: null, inlined: false, \
             found_by: \"{found_by}\", kernel: {kernel}}}"
        )
    };
    let kernel = "module: \"[kernel.kallsyms]\", build_id: null, svma: null, offset: null, \
                  function: \"read_zero\", function_offset: 123";
    let jit = "module: \"//anon\", build_id: null, svma: null, offset: null, \
               function: \"jit\n\u{fffd}name\", function_offset: null";
    let unopened = "module: \"/tmp/x.bin\", build_id: null, svma: null, offset: 8192, \
                    function: null, function_offset: null";
    let nowhere = "module: null, build_id: null, svma: null, offset: null, \
                   function: null, function_offset: null";
    let expected = [
        format!(
            "{{time_ns: 1445157017999, pid: 42, tid: 43, comm: \"a b;\"c\", process: \"a b;\"c\", cpu: 1, event: \"cpu-clock\", \
             period: 4000000, weight: 4000000, end: \"root\", complete: true, cgroup: null, recording: null, host: \"box\", build_id: null, frames: [{}, {}, {}]}}",
            program(0x5555_0000_11c0, inl2),
            program(0x5555_0000_11c0, op),
            main(0x5555_0000_10b1, "cfi"),
        ),
        format!(
            "{{time_ns: null, pid: 42, tid: 43, comm: \"a b;\"c\", process: \"a b;\"c\", cpu: null, event: \"cycles:u\", \
             period: 3, weight: 3, end: \"stack-exhausted\", complete: false, cgroup: null, recording: null, host: \"box\", build_id: null, frames: [{}]}}",
            main(0x7f00_0000_10b1, "frame-pointer"),
        ),
        format!(
            "{{time_ns: 20000000000, pid: 123456, tid: 123456, comm: \"\u{fffd}t\n\", process: \"\u{fffd}t\n\", cpu: null, \
             event: \"cpu-clock\", period: null, weight: 1, end: \"root\", complete: true, cgroup: null, recording: null, host: \"box\", build_id: null, frames: [{}, {}]}}",
            elsewhere(0xffff_ffff_81d3_3dfb, kernel, "callchain"),
            main(0x40_10b1, "cfi"),
        ),
        format!(
            "{{time_ns: null, pid: 123456, tid: 123456, comm: \"\u{fffd}t\n\", process: \"\u{fffd}t\n\", cpu: 1000, \
             event: \"cpu-clock\", period: null, weight: 1, end: \"not-mapped\", complete: false, cgroup: null, recording: null, host: \"box\", build_id: null, \
             frames: [{}, {}, {}]}}",
            elsewhere(0x7f00_0000_1000, jit, "sampled"),
            elsewhere(0x6000_0000_2000, unopened, "frame-pointer"),
            elsewhere(0xdead, nowhere, "prologue"),
        ),
        "{time_ns: null, pid: -1, tid: 7, comm: \"\", process: \"\", cpu: null, event: \"cpu-clock\", period: null, \
         weight: 1, end: \"no-user-regs\", complete: false, cgroup: null, recording: null, host: \"box\", build_id: null, frames: []}"
            .to_owned(),
    ];
    for (row, expected) in rows.iter().zip(&expected) {
        assert_eq!(row, expected);
    }
    assert_eq!(rows.len(), expected.len());
}

#[test]
fn without_inlines() {
    let options = FormatOptions { inlines: false, ..FormatOptions::DEFAULT };
    let rows = rows(&reader(&one_of_everything(), options));
    assert!(rows.iter().all(|row| !row.contains("inl2") && !row.contains("inlined: true")));
    assert_eq!(rows[0].matches("addr: ").count(), 2);
    assert!(rows[0].contains("function: \"op;\"x\"\", function_offset: 16"), "{}", rows[0]);
}

#[test]
fn the_file_tells_what_it_is() {
    let reader = reader(&one_of_everything(), FormatOptions::DEFAULT);
    let file = reader.metadata().file_metadata();
    assert_eq!(file.created_by(), Some(concat!("unwind-perf ", env!("CARGO_PKG_VERSION"))));
    let reported: Vec<(&str, &str)> = file
        .key_value_metadata()
        .expect("keys")
        .iter()
        .map(|pair| (pair.key.as_str(), pair.value.as_deref().expect("a value")))
        .collect();
    assert_eq!(
        reported,
        [
            ("unwind_perf.schema", "unwind-perf-samples"),
            ("unwind_perf.version", "1"),
            ("unwind_perf.command_line", r#"["perf","record","--call-graph","dwarf,16384"]"#),
            ("unwind_perf.hostname", "box"),
            ("unwind_perf.arch", "x86_64"),
        ]
    );
}

/// Names are dictionary-encoded and compressed; times are not.
#[test]
fn names_are_dictionaries() {
    let reader = reader(&one_of_everything(), FormatOptions::DEFAULT);
    let group = reader.metadata().row_group(0);
    let dictionaries: Vec<String> = group
        .columns()
        .iter()
        .filter(|column| column.encodings().any(|one| one == Encoding::RLE_DICTIONARY))
        .map(|column| column.column_path().string())
        .collect();
    for name in ["comm", "event", "end"] {
        assert!(dictionaries.iter().any(|column| column == name), "{dictionaries:?}");
    }
    for name in ["module", "build_id", "function", "file", "found_by"] {
        let path = format!("frames.list.element.{name}");
        assert!(dictionaries.contains(&path), "{dictionaries:?}");
    }
    assert!(!dictionaries.iter().any(|column| column == "time_ns"));
    assert!(
        group
            .columns()
            .iter()
            .all(|column| column.compression().to_string() == "ZSTD(ZstdLevel(1))")
    );
}

/// A file without rows has all columns.
#[test]
fn nothing() {
    let reader = reader(&empty(), FormatOptions::DEFAULT);
    let file = reader.metadata().file_metadata();
    assert_eq!((file.num_rows(), reader.num_row_groups()), (0, 0));
    assert_eq!(file.schema_descr().num_columns(), 27);
}
