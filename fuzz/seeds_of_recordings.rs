//! Seeds of the targets that read recordings.

use synth::{
    CompressedKind, Compressor, Endian, EventAttr, Feature, PerfDataBuilder, PipeLayout, Record,
    SampleBuilder, SampleId, UserRecord,
};

use crate::write;

fn recording(endian: Endian) -> PerfDataBuilder {
    let mut it = PerfDataBuilder::new(endian);
    it.event("cycles:u", EventAttr::dwarf(0x00ff_0fff), &[7]);
    it.describe_events();
    it.feature(&Feature::Hostname("host"));
    it.feature(&Feature::Arch("x86_64"));
    for time in 1..4 {
        let comm = Record::Comm { pid: 2, tid: 2, comm: b"name", exec: true };
        it.record_at(&comm, SampleId::at(2, 2, time));
        let sample = SampleBuilder::at(0x40_1000, 2, 2, time).with_callchain(&[1, 2]);
        it.sample(&sample.with_regs(&[time; 20]).with_stack(&[3; 64]));
        it.user_record(&UserRecord::FinishedRound);
    }
    it
}

pub fn write_all() {
    for (name, endian) in [("little", Endian::Little), ("big", Endian::Big)] {
        write("file", name, &recording(endian).build());
        let mut packed = recording(endian);
        let records = packed.take_records();
        packed.raw_bytes(&Compressor::new(endian, CompressedKind::Compressed2).pack(&records, 300));
        write("file", &format!("{name}-compressed"), &packed.build());
    }
    let pipe = recording(Endian::Little).build_pipe(&PipeLayout::default());
    write("pipe", "little", &pipe[16..]);
    let attr = EventAttr::dwarf(0x00ff_0fff);
    let mut sample = attr.sample_type.to_le_bytes().to_vec();
    sample.extend([0; 16]);
    let record = SampleBuilder::at(1, 2, 3, 4).with_regs(&[5; 20]).with_stack(&[6; 64]);
    sample.extend(&record.encode(&attr, Endian::Little)[8..]);
    write("sample", "dwarf", &sample);
    let mut records = vec![13];
    for time in 1..5_u64 {
        records.extend([9, 0, 0, 0, 2, 0, 32, 0]);
        [0x1000, 0x0002_0000_0002, time]
            .iter()
            .for_each(|word: &u64| records.extend(word.to_le_bytes()));
    }
    write("compressed", "samples", &records);
}
