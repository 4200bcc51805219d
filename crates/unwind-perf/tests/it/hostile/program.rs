//! A program with a megabyte of code, and recordings of it: callchains over given addresses, or stacks full of return
//! addresses.

use synth::{
    ElfBuilder, Endian, EventAttr, Feature, PerfDataBuilder, Record, SampleBuilder, SampleId,
    Section, Segment, UserRegs, attr_flag, sample_type, x86_64_reg,
};

/// Offset and address of the code in the file, and its size.
pub(super) const TEXT: u64 = 0x1000;
pub(super) const TEXT_SIZE: u64 = 1 << 20;
/// Address at which it is mapped.
pub(super) const START: u64 = 0x4000_0000;
/// Maximum number of frames of a sample: a record has 64 KiB.
const FRAMES: usize = 7000;
/// Marks user frames in a callchain.
const USER: u64 = u64::MAX - 511;

/// Returns the file, with more sections.
pub(super) fn elf(sections: Vec<Section>) -> ElfBuilder {
    let text = Section::text(TEXT, vec![0x90; TEXT_SIZE as usize]);
    ElfBuilder {
        segments: vec![Segment::load_text(TEXT, TEXT, TEXT_SIZE)],
        sections: std::iter::once(text).chain(sections).collect(),
        ..ElfBuilder::x86_64()
    }
}

/// Creates an empty recording of one process.
pub(super) fn recorder(attr: EventAttr) -> PerfDataBuilder {
    let mut data = PerfDataBuilder::new(Endian::Little);
    data.event("cycles", attr, &[1]);
    data.describe_events().feature(&Feature::Arch("x86_64"));
    data
}

/// Returns an event with callchains.
pub(super) fn chains() -> EventAttr {
    let sample_type =
        sample_type::IP | sample_type::TID | sample_type::TIME | sample_type::CALLCHAIN;
    EventAttr { sample_type, flags: attr_flag::SAMPLE_ID_ALL, ..EventAttr::default() }
}

pub(super) fn map(data: &mut PerfDataBuilder, addr: u64, len: u64, pgoff: u64, name: &[u8]) {
    let map = Record::Mmap { pid: 1, tid: 1, addr, len, pgoff, name };
    data.record_at(&map, SampleId::at(1, 1, 1));
}

/// Adds samples with callchains that contain all of the addresses.
pub(super) fn touch(data: &mut PerfDataBuilder, addresses: &[u64]) {
    for (time, part) in addresses.chunks(FRAMES).enumerate() {
        let callchain: Vec<u64> = std::iter::once(USER).chain(part.iter().copied()).collect();
        let sample = SampleBuilder::at(part[0], 1, 1, 2 + time as u64);
        data.sample(&SampleBuilder { callchain, ..sample });
    }
}

/// Returns a recording of the program with samples at these addresses, as stated in the file.
pub(super) fn recording(addresses: impl Iterator<Item = u64>) -> Vec<u8> {
    let mut data = recorder(chains());
    map(&mut data, START, TEXT_SIZE, TEXT, b"/opt/a");
    let addresses: Vec<u64> = addresses.map(|svma| svma - TEXT + START + 1).collect();
    touch(&mut data, &addresses);
    data.build()
}

/// Returns addresses of the code at equal distances.
pub(super) fn spread(count: u64) -> impl Iterator<Item = u64> {
    (0..count).map(move |at| TEXT + at * (TEXT_SIZE / count))
}

/// Returns a recording of samples with stacks full of return addresses.
pub(super) fn stacks(samples: u64, words: u64) -> Vec<u8> {
    let mut data = recorder(EventAttr::dwarf(x86_64_reg::USUAL_MASK));
    map(&mut data, START, TEXT_SIZE, TEXT, b"/opt/a");
    for sample in 0..samples {
        let place = |word: u64| START + (sample * words + word) * 37 % TEXT_SIZE;
        let stack: Vec<u8> = (0..words).flat_map(|word| place(word).to_le_bytes()).collect();
        let regs = UserRegs::x86_64(place(0), 0x7ffd_0000_1000);
        data.sample(
            &SampleBuilder::at(place(0), 1, 1, 2 + sample)
                .with_regs(&regs.usual_values())
                .with_stack(&stack),
        );
    }
    data.build()
}
