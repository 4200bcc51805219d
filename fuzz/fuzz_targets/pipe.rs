//! The bytes after the header of a pipe stream. Reading them as they arrive gives the same samples as reading them in
//! one block.
#![no_main]

mod cost;

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use perf_data::{Findings, Input, Session, SessionOptions, SharedBytes};

fn samples(input: Input, options: SessionOptions) -> Option<(u64, u64)> {
    let mut findings = Findings::default();
    let mut session = Session::open(input, options, &mut findings).ok()?;
    let mut samples = 0;
    while let Some(batch) = session.next_batch(&mut findings) {
        samples += batch.samples().len() as u64;
        assert!(batch.samples().iter().all(|entry| batch.sample(entry).is_ok()));
    }
    Some((samples, session.counts().total().bytes + session.counts().skipped_bytes))
}

fuzz_target!(|bytes: &[u8]| {
    let mut stream = b"PERFILE2\x10\0\0\0\0\0\0\0".to_vec();
    stream.extend_from_slice(bytes);
    let small = SessionOptions { batch_bytes: 512, read_bytes: 64, ..SessionOptions::default() };
    cost::bounded(bytes, || {
        let whole =
            samples(Input::File(SharedBytes::from(stream.clone())), SessionOptions::default());
        let streamed = samples(Input::Stream(Box::new(Cursor::new(stream.clone()))), small);
        assert_eq!(whole.map(|it| it.0), streamed.map(|it| it.0));
        whole.map_or(0, |it| it.1)
    });
});
