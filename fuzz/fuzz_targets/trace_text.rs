//! Texts of tracepoints: the `print fmt` of a format that is the input, evaluated on the data of samples.
//!
//! ```text
//!   1 byte      bit 0: big-endian
//!   2 bytes     length of the format
//!   the format  as `/sys/kernel/tracing/events/*/*/format`; it states its id, usually 77
//!   the rest    data of samples: 2 bytes of length, the content
//! ```
#![no_main]

mod cost;
mod input;

use input::Input;
use libfuzzer_sys::fuzz_target;
use perf_data::{
    Findings, Input as Recording, SelectedFields, Session, SessionOptions, SharedBytes, TraceTexts,
    with_symbols,
};
use synth::{Endian, EventAttr, Feature, PerfDataBuilder, SampleBuilder, sample_type};

/// Maximum number of samples.
const SAMPLES: u64 = 8;
/// Id of the tracepoint.
const ID: u64 = 77;

/// Returns the tracing data of a recording with one format.
fn tracing_data(format: &[u8], big_endian: bool) -> Vec<u8> {
    let word = |number: u32| if big_endian { number.to_be_bytes() } else { number.to_le_bytes() };
    let long = |number: u64| if big_endian { number.to_be_bytes() } else { number.to_le_bytes() };
    let mut data = b"\x17\x08\x44tracing0.6\0".to_vec();
    data.extend([u8::from(big_endian), 8]);
    data.extend(word(0x1000));
    data.extend([&b"header_page\0"[..], &long(0), b"header_event\0", &long(0)].concat());
    data.extend([word(0), word(1)].concat());
    data.extend([&b"made\0"[..], &word(1), &long(format.len() as u64), format].concat());
    data.extend([0; 16]);
    data
}

/// Returns a recording of the samples, and the size of their data.
fn recording(bytes: &[u8]) -> Vec<u8> {
    let mut input = Input(bytes);
    let big_endian = input.number(1) & 1 == 1;
    let len = input.number(2) as usize;
    let format = input.bytes(len);
    let mut made = PerfDataBuilder::new(if big_endian { Endian::Big } else { Endian::Little });
    let fields = sample_type::IP | sample_type::TID | sample_type::TIME | sample_type::RAW;
    let attr = EventAttr { event_type: 2, config: ID, sample_type: fields, ..EventAttr::default() };
    made.event("made:event", attr, &[5]);
    made.feature(&Feature::TracingData(&tracing_data(format, big_endian)));
    for time in 1..=SAMPLES {
        let len = input.number(2) as usize;
        let raw = input.bytes(len).to_vec();
        made.sample(&SampleBuilder { raw, ..SampleBuilder::at(1, 7, 7, time) });
        if input.0.is_empty() {
            break;
        }
    }
    made.build()
}

fn run(recording: Vec<u8>) {
    let mut findings = Findings::default();
    let recording = Recording::File(SharedBytes::from(recording));
    let options = SessionOptions::default();
    let mut session = Session::open(recording, options, &mut findings).expect("a recording");
    let texts = TraceTexts::of(session.head());
    let mut fields = SelectedFields::default();
    fields.add(session.head(), |_, _| true);
    fields.print_texts(session.head());
    while let Some(batch) = session.next_batch(&mut findings) {
        for entry in batch.samples() {
            let sample = batch.sample(entry).expect("a sample");
            let raw = sample.raw.map_or(0, <[u8]>::len);
            let text = texts.text(&sample);
            assert_eq!(text, texts.text(&sample));
            assert_eq!(text, fields.texts().text(&sample));
            let printed: usize = fields.values(&sample).filter(|it| it.1.is_some()).count();
            assert!(printed <= fields.columns().len());
            if let Some(Some(text)) = text {
                assert!(text.len() <= (4 << 10) + 8 * raw, "{} of {raw}", text.len());
                let named =
                    with_symbols(&text, |it| (it.address & 1 == 0).then_some((&b"f"[..], 1)));
                assert!(named.is_none_or(|named| named.len() <= 2 * text.len()));
            }
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    cost::bounded_of(
        bytes,
        || recording(bytes),
        |recording| {
            run(recording);
            0
        },
    );
});
