//! Aggregated stacks, written and read again.

use formats::{Format, FormatOptions, StackReader, StacksError, StoredStacks};
use parquet::file::reader::FileReader as _;
use profile::Profile;

use crate::parquet_file::{reader, rows};
use crate::printed;
use crate::support::sample_profile::{empty, one_of_everything};

const OPTIONS: FormatOptions = FormatOptions { stacks: true, ..FormatOptions::DEFAULT };

fn stored(files: &[Vec<u8>]) -> Result<StoredStacks, StacksError> {
    let mut reader = StackReader::default();
    for file in files {
        reader.add(file.clone())?;
    }
    Ok(reader.finish())
}

fn stacks(profile: &Profile) -> Vec<u8> {
    printed(profile, Format::Parquet, OPTIONS)
}

#[test]
fn rows_are_distinct_stacks() {
    let rows = rows(&reader(&one_of_everything(), OPTIONS));
    let program = |rest: &str| {
        format!(
            "{{module: \"/opt/my app/t\"x\", build_id: \"d587e5ae\", {rest}, kernel: false, whole: false}}"
        )
    };
    let [op, main] = [
        program("offset: 448, function: \"op;\"x\"\", found_by: \"sampled\""),
        program("offset: 177, function: \"main\", found_by: \"cfi\""),
    ];
    let expected = format!(
        "{{event: \"cpu-clock\", process: \"a b;\"c\", comm: \"a b;\"c\", samples: 1, weight: 4000000, \
         end: \"root\", complete: true, frames: [{op}, {main}]}}"
    );
    assert_eq!(rows.get(2), Some(&expected));
    let empty = "{event: \"cpu-clock\", process: \"\", comm: \"\", samples: 1, weight: 1, \
                 end: \"no-user-regs\", complete: false, frames: []}";
    assert_eq!(rows.get(1).map(String::as_str), Some(empty));
    assert_eq!(rows.len(), 5);
}

#[test]
fn the_file_tells_what_it_is() {
    let reader = reader(&one_of_everything(), OPTIONS);
    let keys = reader.metadata().file_metadata().key_value_metadata().expect("keys");
    let pairs: Vec<(&str, &str)> = keys
        .iter()
        .map(|pair| (pair.key.as_str(), pair.value.as_deref().expect("a value")))
        .collect();
    assert_eq!(pairs, [("unwind_perf.schema", "unwind-perf-stacks"), ("unwind_perf.version", "1")]);
    let schema = reader.metadata().file_metadata().schema_descr();
    let names: Vec<String> = schema.columns().iter().map(|it| it.path().string()).collect();
    let frames = ["module", "build_id", "offset", "function", "found_by", "kernel", "whole"];
    let frames = frames.map(|name| format!("frames.list.element.{name}"));
    let own = ["event", "process", "comm", "samples", "weight", "end", "complete"];
    let expected: Vec<String> = own.map(str::to_owned).into_iter().chain(frames).collect();
    assert_eq!(names, expected);
}

#[test]
fn sums_of_several_files() {
    let file = stacks(&one_of_everything());
    let one = stored(std::slice::from_ref(&file)).expect("stacks");
    let two = stored(&[file.clone(), file]).expect("stacks");
    let sums = |stored: &StoredStacks| {
        stored.rows.iter().map(|row| (row.samples, row.weight)).collect::<Vec<_>>()
    };
    assert_eq!(sums(&one), [(1, 3), (1, 1), (1, 4_000_000), (1, 1), (1, 1)]);
    assert_eq!(sums(&two), [(2, 6), (2, 2), (2, 8_000_000), (2, 2), (2, 2)]);
    assert_eq!(two.profile, one.profile);
    let none = stored(&[stacks(&empty())]).expect("stacks");
    assert!(none.rows.is_empty() && none.profile.stacks.is_empty());
}

/// Neither a changed byte nor a shorter file is a panic, and no text is one.
#[test]
fn damaged_files_are_errors() {
    let file = stacks(&one_of_everything());
    let mut accepted = 0;
    for at in 0..file.len() {
        for bit in [0x01, 0x80] {
            let mut damaged = file.clone();
            damaged[at] ^= bit;
            accepted += usize::from(stored(&[damaged]).is_ok());
        }
    }
    // Compressed values have no checksums, so that some changes only change texts and numbers.
    assert!(accepted < file.len(), "{accepted} of {}", 2 * file.len());
    for length in 0..file.len() {
        assert!(stored(&[file[..length].to_vec()]).is_err(), "{length}");
    }
    let samples = printed(&one_of_everything(), Format::Parquet, FormatOptions::DEFAULT);
    let error = stored(&[samples]).expect_err("other rows").to_string();
    assert!(error.starts_with("its rows are unwind-perf-samples; expected"), "{error}");
}
