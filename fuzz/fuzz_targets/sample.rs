//! One sample: 24 bytes state its fields, the rest is its body.
#![no_main]

mod cost;

use libfuzzer_sys::fuzz_target;
use perf_data::{Findings, Input, Sample, Session, SessionOptions, SharedBytes};

fn read(file: &[u8]) {
    let mut findings = Findings::default();
    let input = Input::File(SharedBytes::from(file.to_vec()));
    let mut session =
        Session::open(input, SessionOptions::default(), &mut findings).expect("the frame is sound");
    while let Some(batch) = session.next_batch(&mut findings) {
        for entry in batch.samples() {
            look_into(&batch.sample(entry).expect("a sample of this batch"));
        }
    }
}

/// Reads every lazily decoded field.
fn look_into(sample: &Sample<'_>) {
    if let Some(chain) = sample.callchain {
        assert!(chain.frames().count() <= chain.len());
    }
    if let Some(branches) = sample.branch_stack {
        branches.iter().for_each(drop);
    }
    if let Some(read) = sample.read {
        read.iter().for_each(drop);
    }
    for registers in [sample.user_regs, sample.intr_regs].into_iter().flatten() {
        registers.iter().for_each(drop);
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Some((words, body)) = bytes.split_at_checked(24) else {
        return;
    };
    let body = &body[..body.len().min(0xfff0) & !7];
    // Header of 104 bytes, attribute of 136 and no ids, data of one sample.
    let mut file = b"PERFILE2".to_vec();
    let size = body.len() as u64 + 8;
    for word in [104_u64, 152, 104, 152, 256, size, 0, 0, 0, 0, 0, 0] {
        file.extend(word.to_le_bytes());
    }
    file.extend([1, 0, 0, 0, 136, 0, 0, 0]);
    file.extend([0; 16]);
    file.extend(&words[..8]);
    file.extend(&words[8..16]);
    file.extend((1_u64 << 18).to_le_bytes());
    file.extend([0; 24]);
    file.extend(&words[16..24]);
    file.extend(0x00ff_0fff_u64.to_le_bytes());
    file.extend([0; 8]);
    file.extend(0xff_u64.to_le_bytes());
    file.resize(256, 0);
    file.extend([9, 0, 0, 0, 2, 0]);
    file.extend((size as u16).to_le_bytes());
    file.extend(body);
    cost::bounded(bytes, || {
        read(&file);
        file.len() as u64
    });
});
