//! A profile after a filter of functions, in each format: the names of removed functions and threads are gone.

use std::io::Read as _;

use formats::{Format, FormatOptions, write_summary};
use options::QueryFilter;
use profile::Profile;
use profile::query::engine::{FilteredSamples, FunctionFilter};
use serde_json::json;

use crate::page::tables;
use crate::parquet_file;
use crate::printed;
use crate::support::graphs::pprof_bytes;
use crate::support::sample_profile::of_one_event;

/// Returns the profile with the stacks of `main`, without `inl2`.
fn filtered() -> Profile {
    let mut profile = of_one_event();
    let asked = QueryFilter {
        focus: vec!["^main$".to_owned()],
        hide: vec!["^inl2$".to_owned()],
        ..QueryFilter::default()
    };
    let filter = FunctionFilter::new(&asked, 1 << 20).expect("patterns");
    let counts = profile.filter_functions(&filter, true);
    assert_eq!(counts, FilteredSamples { before: 5, left: 3 });
    profile.retain_strings();
    profile
}

/// Returns the output of a format without compression.
fn plain(profile: &Profile, format: Format, options: FormatOptions) -> Vec<u8> {
    match format {
        Format::Pprof => pprof_bytes(profile, options),
        Format::Firefox => {
            let bytes = printed(profile, format, options);
            let mut plain = Vec::new();
            flate2::read::GzDecoder::new(&*bytes).read_to_end(&mut plain).expect("gzip");
            plain
        }
        Format::Report => {
            let (mut head, _) = tables(profile);
            // The head states the patterns.
            for part in ["filters", "summary"] {
                head.as_object_mut().expect("an object").remove(part);
                head["recording"].as_object_mut().expect("an object").remove(part);
            }
            head.to_string().into_bytes()
        }
        Format::Parquet => {
            parquet_file::rows(&parquet_file::reader(profile, options)).join("\n").into_bytes()
        }
        _ => printed(profile, format, options),
    }
}

#[test]
fn no_format_shows_removed_functions() {
    let has = |text: &[u8], name: &[u8]| text.windows(name.len()).any(|part| part == name);
    let filtered = filtered();
    for &format in Format::ALL {
        for rows in [false, true] {
            let options = FormatOptions { rows, ..FormatOptions::DEFAULT };
            let before = plain(&of_one_event(), format, options.clone());
            let after = plain(&filtered, format, options);
            for name in [b"inl2".as_slice(), b"jit"] {
                assert!(has(&before, name), "{} shows all functions", format.name());
                assert!(!has(&after, name), "{} shows a removed function", format.name());
            }
            assert!(has(&after, b"main"), "{}", format.name());
        }
    }
}

#[test]
fn the_rest_is_printed_exactly() {
    let text = |format| {
        let text = printed(&filtered(), format, FormatOptions::DEFAULT);
        String::from_utf8_lossy(&text).into_owned()
    };
    // Threads and ends of chains are the same as before.
    let all = printed(&of_one_event(), Format::Folded, FormatOptions::DEFAULT);
    let all = String::from_utf8_lossy(&all).into_owned();
    let expected: Vec<String> = all
        .lines()
        .filter(|line| line.contains(";main"))
        .map(|line| line.replace(";inl2", ""))
        .collect();
    assert_eq!(text(Format::Folded).lines().collect::<Vec<_>>(), expected);
    assert_eq!(expected.len(), 3);
    let json: serde_json::Value = serde_json::from_str(&text(Format::Json)).expect("a document");
    assert_eq!(json["summary"]["samples"], 3);
    assert_eq!(json["summary"]["samples_filtered"], 1202, "1,200 were filtered before");
    assert_eq!(json["inlines"]["inlined"], json!([false, false, false]));
    assert_eq!(json["locations"]["n_inlines"], json!([1, 1, 1]));
}

#[test]
fn the_summary_names_the_filters() {
    let mut text = Vec::new();
    write_summary(&filtered(), &mut text).expect("a vector takes everything");
    let text = String::from_utf8(text).expect("UTF-8");
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("Filters")).collect();
    assert_eq!(lines, ["Filters left 3 of 5 samples.", "Filters: focus ^main$, hide ^inl2$."]);
    let (head, _) = tables(&filtered());
    let summary = head["summary"].as_str().expect("a text");
    assert!(summary.contains("\nFilters: focus ^main$, hide ^inl2$.\n"), "{summary}");
    assert_eq!(head["filters"], json!(["focus ^main$", "hide ^inl2$"]));
}
