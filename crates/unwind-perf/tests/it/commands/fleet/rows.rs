//! Rows of the tree: those of `parquet`, in types that engines support.

use bytes::Bytes;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::{Field, Row};

use super::Fleet;
use crate::support::cases::sysroot;
use crate::support::run::run;

pub(super) fn reader(path: &std::path::Path) -> SerializedFileReader<Bytes> {
    let bytes = std::fs::read(path).expect("a file");
    SerializedFileReader::new(Bytes::from(bytes)).expect("a Parquet file")
}

pub(super) fn rows(reader: &SerializedFileReader<Bytes>) -> Vec<Row> {
    reader.get_row_iter(None).expect("rows").map(|row| row.expect("a row")).collect()
}

/// Returns a row with signed numbers of 64 bits for unsigned ones.
fn signed(value: &Field) -> Field {
    match value {
        Field::UInt(number) => Field::Long((*number).into()),
        Field::ULong(number) => Field::Long(number.cast_signed()),
        other => other.clone(),
    }
}

/// Returns a row as text, with the values of nested rows as they would be signed.
fn text(row: &Row, convert: fn(&Field) -> Field) -> String {
    let mut text = String::new();
    for (name, value) in row.get_column_iter() {
        match value {
            Field::ListInternal(list) => {
                for element in list.elements() {
                    let Field::Group(frame) = element else { panic!("{element:?}") };
                    text += &self::text(frame, convert);
                }
            }
            value => text += &format!("{name}={};", convert(value)),
        }
    }
    text
}

#[test]
fn rows_are_those_of_parquet_with_signed_numbers() {
    let fleet = Fleet::new("rows");
    let files = sysroot();
    for (case, options) in [("syscalls", &["--with-fields", "all"][..]), ("inlines-gcc", &[])] {
        fleet.add(case, "a.data");
        let manifests = fleet.convert(&[options, &["a.data"]].concat()).expect_status(0).lines();
        let words = ["a.data", "-o", "a.parquet", "--sysroot", files.to_str().expect("UTF-8")];
        run(&fleet.folder, &[&words[..], options].concat()).expect_status(0);
        let part = fleet.folder.join("out").join(manifests[0]["part"].as_str().expect("a path"));
        let (ours, exact) = (reader(&part), reader(&fleet.folder.join("a.parquet")));
        let of = |reader: &_, convert| -> Vec<String> {
            rows(reader).iter().map(|row| text(row, convert)).collect()
        };
        let ours_as_they_are = of(&ours, Field::clone);
        assert_eq!(ours_as_they_are, of(&exact, signed), "{case}");
        assert_eq!(
            ours_as_they_are.len() as u64,
            manifests[0]["samples"].as_u64().expect("a number")
        );
        let schema = ours.metadata().file_metadata().schema_descr();
        let unsigned = schema
            .columns()
            .iter()
            .filter(|column| format!("{column:?}").contains("signed: false"));
        assert_eq!(unsigned.count(), 0);
        let modules = manifests[0]["modules"].as_array().expect("modules");
        let frames: u64 = modules.iter().map(|it| it["frames"].as_u64().expect("a number")).sum();
        let lines = of(&exact, signed).join("");
        assert_eq!(frames as usize, lines.matches(";module=").count(), "{case}");
        assert!(
            modules.windows(2).all(|two| two[0]["frames"].as_u64() >= two[1]["frames"].as_u64())
        );
    }
}

/// Addresses in the kernel exceed the signed range, and are negative.
#[test]
fn addresses_keep_their_bits() {
    let fleet = Fleet::new("kernel");
    fleet.add("syscalls", "a.data");
    let manifests = fleet.convert(&["a.data"]).expect_status(0).lines();
    let part = fleet.folder.join("out").join(manifests[0]["part"].as_str().expect("a path"));
    let rows = rows(&reader(&part));
    let text: String = rows.iter().map(|row| text(row, Field::clone)).collect();
    let frames = text.split("addr=").skip(1);
    let kernel: Vec<_> = frames.filter(|frame| frame.contains("kernel=true;")).collect();
    assert!(!kernel.is_empty());
    assert!(kernel.iter().all(|frame| frame.starts_with('-')));
}
