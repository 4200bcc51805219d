//! Writes a few recordings and ELF files into the folder named by the first argument, to inspect them with
//! `perf script -D`, `perf report --header-only` and `readelf`.
#![allow(clippy::disallowed_methods, reason = "an example that writes files")]

use std::path::Path;

use synth::{
    Branch, BranchStack, BuildIdEntry, CfiBuilder, CfiKind, CfiOps, CfiSection, Cie,
    CompressedKind, Compressor, DwarfExpr, ElfBuilder, Endian, EventAttr, Fde, Feature, MmapFile,
    PerfDataBuilder, PipeLayout, ReadValue, ReadValues, Record, SampleBuilder, SampleId,
    SampleRegs, SampleStack, Section, Segment, StackBuilder, Symbol, SymbolSection, UserRecord,
    UserRegs, attr_flag, branch_sample, eh_frame_hdr, elf_const, gnu_build_id_note, gnu_debuglink,
    sample_type, x86_64_reg,
};

const BUILD_ID: [u8; 20] = [0xab; 20];

fn main() -> std::io::Result<()> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let folder = Path::new(&folder);
    for (endian, suffix) in [(Endian::Little, "le"), (Endian::Big, "be")] {
        let mut recording = recording(endian);
        std::fs::write(folder.join(format!("{suffix}.data")), recording.build())?;
        let pipe = recording.build_pipe(&PipeLayout { attrs_first: true, ..PipeLayout::default() });
        std::fs::write(folder.join(format!("{suffix}.pipe")), pipe)?;
        recording.layout.attrs_after_data = true;
        std::fs::write(folder.join(format!("{suffix}.late-attrs.data")), recording.build())?;
        recording.layout.attrs_after_data = false;
        let plain = recording.take_records();
        let mut compressor = Compressor::new(endian, CompressedKind::Compressed);
        recording.raw_bytes(&compressor.pack(&plain, 1000));
        recording.feature(&Feature::Compressed { level: 1, ratio: 1, mmap_len: 1 << 20 });
        std::fs::write(folder.join(format!("{suffix}.compressed.data")), recording.build())?;
        std::fs::write(folder.join(format!("{suffix}.full.data")), full_sample(endian).build())?;
    }
    std::fs::write(folder.join("demo.elf"), elf().build())?;
    std::fs::write(
        folder.join("demo32.elf"),
        ElfBuilder {
            class: synth::ElfClass::Elf32,
            endian: Endian::Big,
            e_machine: elf_const::EM_PPC64,
            ..elf()
        }
        .build(),
    )
}

fn recording(endian: Endian) -> PerfDataBuilder {
    let mut recording = PerfDataBuilder::new(endian);
    recording.event("cpu-clock:u", EventAttr::dwarf(x86_64_reg::USUAL_MASK), &[11, 12]);
    recording.describe_events();
    let build_id =
        BuildIdEntry { misc: 2, pid: -1, id: &BUILD_ID, sized: true, name: b"/demo/demo.elf" };
    for feature in [
        Feature::BuildId(&[build_id]),
        Feature::Hostname("host"),
        Feature::OsRelease("6.1.0"),
        Feature::Version("6.1"),
        Feature::Arch("x86_64"),
        Feature::NrCpus { available: 4, online: 2 },
        Feature::CpuDesc("a cpu"),
        Feature::CpuId("vendor,1,2,3"),
        Feature::TotalMem(1024),
        Feature::Cmdline(&["/usr/bin/perf", "record", "demo"]),
        Feature::CpuTopology {
            cores: &["0-1"],
            threads: &["0", "1"],
            cpus: &[(0, 0), (1, 0), (2, 0), (3, 0)],
            die_list: &[],
            dies: &[],
        },
        Feature::NumaTopology(&[(0, 1024, 512, "0-3")]),
        Feature::PmuMappings(&[(1, "software"), (4, "cpu")]),
        Feature::SampleTime { first: 1_000_000_000, last: 3_000_000_000 },
        Feature::MemTopology { block_size: 1 << 27, nodes: &[(0, 2, &[3])] },
        Feature::ClockId { resolution_ns: 1 },
        Feature::ClockData { clockid: 1, wall_clock_ns: 7, clockid_ns: 5 },
    ] {
        recording.feature(&feature);
    }
    add_records(&mut recording, endian);
    recording
}

/// Returns a recording of one sample with every field that Linux 6.1 defines.
fn full_sample(endian: Endian) -> PerfDataBuilder {
    let mut recording = PerfDataBuilder::new(endian);
    let attr = EventAttr {
        sample_type: (1 << 25) - 1 - sample_type::WEIGHT,
        read_format: 0x1f,
        branch_sample_type: branch_sample::ANY | branch_sample::HW_INDEX,
        sample_regs_user: 0x1c0,
        sample_stack_user: 64,
        sample_regs_intr: 0x100,
        flags: attr_flag::SAMPLE_ID_ALL,
        ..EventAttr::default()
    };
    recording.event("full", attr, &[6]);
    let branch = Branch {
        from: 0x13,
        to: 0x14,
        outcome: [true, false, false, true],
        cycles: 0x123,
        kind: 5,
    };
    recording.sample(&SampleBuilder {
        ip: 0x1001,
        pid: 0x1002,
        tid: 0x1003,
        time: 0x1004,
        addr: 0x1005,
        id: 6,
        stream_id: 0x1007,
        cpu: 0,
        period: 0x1009,
        read: ReadValues {
            time_enabled: 0x100a,
            time_running: 0x100b,
            values: vec![ReadValue { value: 0x100c, id: 6, lost: 0x100e }],
        },
        callchain: vec![-512i64 as u64, 0x1012],
        raw: vec![0xaa; 5],
        branches: BranchStack { entries: vec![branch], hw_idx: Some(0x1015), counters: vec![] },
        regs_user: SampleRegs { abi: 2, values: vec![0x1016, 0x1017, 0x1018] },
        stack_user: SampleStack { bytes: vec![0x25; 64], dyn_size: Some(40), stated_size: None },
        weight_struct: (0x101a, 0x1b, 0x1c),
        data_src: 0x6810_0142,
        transaction: 1,
        regs_intr: SampleRegs { abi: 2, values: vec![0x101f] },
        phys_addr: 0x1020,
        cgroup: 0x1021,
        data_page_size: 0x1000,
        code_page_size: 0x20_0000,
        aux: vec![0x36; 8],
        ..SampleBuilder::default()
    });
    recording.user_record(&UserRecord::TimeConv { words: [1, 2, 3, 0, 0], caps: [0, 0] });
    recording.user_record(&UserRecord::ThreadMap { threads: &[(0x1002, b"full")] });
    recording.user_record(&UserRecord::CpuMap { kind: 0, payload: &[0; 4] });
    recording.user_record(&UserRecord::FinishedInit);
    recording
}

fn add_records(recording: &mut PerfDataBuilder, endian: Endian) {
    let comm = Record::Comm { pid: 100, tid: 100, comm: b"demo", exec: true };
    recording.record_at(&comm, SampleId::at(100, 100, 1_000_000_000));
    let mmap = Record::Mmap2 {
        pid: 100,
        tid: 100,
        addr: 0x55_0000_1000,
        len: 0x1000,
        pgoff: 0,
        file: MmapFile::BuildId(&BUILD_ID),
        prot: 5,
        flags: 2,
        name: b"/demo/demo.elf",
    };
    recording.record_at(&mmap, SampleId::at(100, 100, 1_100_000_000));
    let fork = Record::Fork { pid: 101, ppid: 100, tid: 101, ptid: 100, time: 1_200_000_000 };
    recording.record_at(&fork, SampleId::at(100, 100, 1_200_000_000));
    let mut stack = StackBuilder::new(0x7ffd_0000_1000, endian, 8);
    stack.word(0x1111).word_of_label("outer").word(0x55_0000_1650).label("outer").words(0, 5);
    let regs = UserRegs::x86_64(0x55_0000_1604, stack.sp()).set(x86_64_reg::BP, 0x42);
    let sample = SampleBuilder::at(0x55_0000_1604, 100, 100, 2_000_000_000)
        .with_regs(&regs.usual_values())
        .with_stack(&stack.bytes());
    recording.sample(&sample);
    recording.user_record(&UserRecord::FinishedRound);
    let symbol = Record::Ksymbol {
        addr: 0xffff_ffff_c000_0000,
        len: 0x80,
        ksym_type: 1,
        flags: 0,
        name: b"bpf_prog_1_demo",
    };
    recording.record_at(&symbol, SampleId::at(0, 0, 2_100_000_000));
    let namespaces = Record::Namespaces { pid: 100, tid: 100, links: &[(4, 0xf000_0001); 7] };
    recording.record_at(&namespaces, SampleId::at(100, 100, 2_200_000_000));
    let poke = Record::TextPoke { addr: 0xffff_ffff_8100_0000, old: &[0x90; 5], new: &[0xe8; 5] };
    recording.record_at(&poke, SampleId::at(0, 0, 2_300_000_000));
    let exit = Record::Exit { pid: 101, ppid: 100, tid: 101, ptid: 100, time: 3_000_000_000 };
    recording.record_at(&exit, SampleId::at(101, 101, 3_000_000_000));
}

fn fde(pc_begin: u64, pc_range: u64, ops: CfiOps) -> Fde {
    Fde { pc_begin, pc_range, lsda: 0, instructions: ops.into_bytes() }
}

/// Returns call frame information of a frame-pointer function, a PLT entry and a signal trampoline.
fn eh_frame() -> CfiSection {
    let le = Endian::Little;
    let mut cfi = CfiBuilder::new(CfiKind::EhFrame, le, 0x300);
    let cie = cfi.cie(&Cie::x86_64());
    let prologue = CfiOps::new(le)
        .advance(1)
        .def_cfa_offset(16)
        .offset(6, 2)
        .advance(3)
        .def_cfa_register(6)
        .remember_state()
        .advance(4)
        .def_cfa(7, 8)
        .restore_state();
    cfi.fde(cie, &fde(0x1600, 0x40, prologue));
    let plt = CfiOps::new(le).def_cfa_expression(&DwarfExpr::plt_x86_64(11));
    cfi.fde(cie, &fde(0x1640, 0x10, plt));
    let signal = cfi.cie(&Cie { augmentation: "zRS".to_owned(), ..Cie::x86_64() });
    let saved = DwarfExpr::new(le).breg(7, 0xa0).deref();
    let ops = CfiOps::new(le).def_cfa_expression(&saved).expression(6, &saved).undefined(16);
    cfi.fde(signal, &fde(0x1650, 0x10, ops)).terminator();
    cfi.build()
}

fn debug_frame() -> Vec<u8> {
    let le = Endian::Little;
    let mut debug_frame = CfiBuilder::new(CfiKind::DebugFrame, le, 0);
    let cie = Cie { version: 4, augmentation: String::new(), ..Cie::x86_64() };
    let cie = debug_frame.cie(&cie);
    debug_frame.fde(cie, &fde(0x1600, 0x40, CfiOps::new(le).advance(300).undefined(16)));
    debug_frame.build().bytes
}

fn elf() -> ElfBuilder {
    let le = Endian::Little;
    let section = eh_frame();
    let hdr = eh_frame_hdr(le, 0x280, 0x300, &section.fdes);
    let note = gnu_build_id_note(le, &BUILD_ID);
    let note_segment =
        Segment { p_type: elf_const::PT_NOTE, align: 4, ..Segment::load_rodata(0x200, 0x200, 36) };
    let hdr_segment = Segment {
        p_type: elf_const::PT_GNU_EH_FRAME,
        align: 4,
        ..Segment::load_rodata(0x280, 0x280, hdr.len() as u64)
    };
    let mut note_section = Section::loaded(".note.gnu.build-id", 0x200, note);
    note_section.sh_type = elf_const::SHT_NOTE;
    note_section.align = 4;
    ElfBuilder {
        segments: vec![
            Segment::load_rodata(0, 0, 0x600),
            Segment::load_text(0x600, 0x1600, 0x60),
            note_segment,
            hdr_segment,
        ],
        sections: vec![
            note_section,
            Section::loaded(".eh_frame_hdr", 0x280, hdr),
            Section::loaded(".eh_frame", 0x300, section.bytes),
            Section::text(0x1600, vec![0x90; 0x60]),
            Section::new(".debug_frame", elf_const::SHT_PROGBITS, debug_frame()),
            Section::new(
                ".gnu_debuglink",
                elf_const::SHT_PROGBITS,
                gnu_debuglink(le, "demo.debug", 1),
            ),
        ],
        symbols: vec![
            Symbol::function("outer", 0x1640, 0x10),
            Symbol { binding: elf_const::STB_LOCAL, ..Symbol::function("inner", 0x1600, 0x40) },
            Symbol { section: SymbolSection::Absolute, ..Symbol::function("fixed", 5, 0) },
        ],
        dynamic_symbols: vec![Symbol {
            section: SymbolSection::Undefined,
            ..Symbol::function("puts", 0, 0)
        }],
        ..ElfBuilder::x86_64()
    }
}
