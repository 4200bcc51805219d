//! A hand-written profile with all features that are difficult to print.

use address::{Bias, BuildId, ModuleId, Pid, Tid, Timestamp};
use profile::{
    Advice, EndReason, EventId, EventLoss, EventRow, FindingRow, FoundBy, FrameId, FrameRow,
    InlineId, InlineRow, LayoutId, LayoutRow, LocationId, LocationRow, ModuleKind, ModuleLoss,
    ModuleRow, Profile, RecordingInfo, SampleRow, StackId, StackNeeds, StackRow, StringId, Summary,
    Table, ThreadId, ThreadRow,
};

/// Returns a profile without rows.
pub(crate) fn empty() -> Profile {
    Profile::default()
}

/// Returns this profile:
///
/// ```text
/// module 0  ELF "/opt/my app/t\"x", twice in process 0: at 0x555500000000 and (instance 1) at 0x7f0000000000;
///           at 0x400000 in process 1
/// module 1  the kernel     module 2  a file that was not opened     module 3  //anon
///
/// stack 0   main (instance 0)                        stack 2  main (instance 1)
/// stack 1   0 <- op;"x" <- inl2 (inlined)            stack 3  0 <- read_zero (kernel)
/// stack 4   unmapped 0xdead                          stack 5  4 <- in the file <- "jit\n\xffname"
/// ```
pub(crate) fn one_of_everything() -> Profile {
    let mut profile = empty();
    fill_places(&mut profile);
    fill_stacks(&mut profile);
    fill_samples(&mut profile);
    let mut id = |text: &str| profile.strings.intern(text.as_bytes());
    profile.recording = RecordingInfo {
        hostname: Some(id("box")),
        arch: Some(id("x86_64")),
        cpus_online: Some(2),
        stack_bytes: Some(16384),
        command_line: vec![id("perf"), id("record"), id("--call-graph"), id("dwarf,16384")],
        ..RecordingInfo::default()
    };
    profile.summary = Summary {
        samples: 5,
        samples_filtered: 1200,
        frames: 9,
        lost_samples: 1,
        lost_by_event: vec![EventLoss { event: EventId::new(1), samples: 1, records: 0 }],
        losses: vec![
            ModuleLoss {
                module: Some(ModuleId(2)),
                end: EndReason::NoModule,
                samples: 1,
                reason: "the file is missing".into(),
                help: Some(Advice {
                    code: "give-file".into(),
                    text: "give \"x\"".into(),
                    ..Advice::default()
                }),
            },
            ModuleLoss {
                module: None,
                end: EndReason::NoUnwindInfo,
                samples: 1,
                reason: "nothing is mapped there".into(),
                help: None,
            },
        ],
        stack_needs: StackNeeds {
            whole: [1, 0, 1, 0, 0, 0],
            truncated: 1,
            ..StackNeeds::default()
        },
        findings: vec![FindingRow {
            kind: "build-id-mismatch".into(),
            message: "\"a\"\nother".into(),
            count: 3,
            help: None,
        }],
        ..Summary::default()
    };
    profile
}

fn fill_places(profile: &mut Profile) {
    let mut id = |text: &[u8]| profile.strings.intern(text);
    let event = |name, kind, config| EventRow { name, kind, config, frequency: true, rate: 997 };
    profile.events =
        Table::from_vec(vec![event(id(b"cycles:u"), 0, 0), event(id(b"cpu-clock"), 1, 0)]);
    let module = |path: StringId, kind| ModuleRow { path, opened: None, build_id: None, kind };
    profile.modules = Table::from_vec(vec![
        ModuleRow {
            opened: Some(id(b"/debug/t")),
            build_id: BuildId::from_hex("d587e5ae"),
            ..module(id(b"/opt/my app/t\"x"), ModuleKind::Elf)
        },
        module(id(b"[kernel.kallsyms]"), ModuleKind::Kernel),
        module(id(b"/tmp/x.bin"), ModuleKind::File),
        module(id(b"//anon"), ModuleKind::Anonymous),
    ]);
    let function = |function, file, line| InlineRow { function, file, line, ..InlineRow::NAMELESS };
    profile.inlines = Table::from_vec(vec![
        InlineRow {
            column: 3,
            inlined: true,
            ..function(Some(id(b"inl2")), Some(id(b"t\\.c")), 8)
        },
        function(Some(id(b"op;\"x\"")), None, 0),
        function(Some(id(b"main")), Some(id(b"t\\.c")), 12),
        function(Some(id(b"read_zero")), None, 0),
        function(Some(id(b"jit\n\xffname")), None, 0),
    ]);
    let location = |module: Option<u32>, relative, first_inline, n_inlines| LocationRow {
        first_inline: InlineId::new(first_inline),
        n_inlines,
        ..LocationRow::unnamed(module.map(ModuleId), relative)
    };
    profile.locations = Table::from_vec(vec![
        LocationRow {
            offset: Some(0x1c0),
            function_offset: Some(0x10),
            ..location(Some(0), 0x11c0, 0, 2)
        },
        LocationRow {
            offset: Some(0xb1),
            function_offset: Some(0x31),
            ..location(Some(0), 0x10b1, 2, 1)
        },
        LocationRow {
            function_offset: Some(0x7b),
            ..location(Some(1), 0xffff_ffff_81d3_3dfb, 3, 1)
        },
        location(None, 0xdead, 0, 0),
        LocationRow { offset: Some(0x2000), ..location(Some(2), 0x2000, 0, 0) },
        location(Some(3), 0x7f00_0000_1000, 4, 1),
    ]);
}

fn fill_stacks(profile: &mut Profile) {
    let frame = |location, found_by| FrameRow {
        location: LocationId::new(location),
        found_by,
        kernel: false,
        instance: 0,
    };
    profile.frames = Table::from_vec(vec![
        frame(0, FoundBy::Sampled),
        frame(1, FoundBy::Cfi),
        FrameRow { instance: 1, ..frame(1, FoundBy::FramePointer) },
        FrameRow { kernel: true, ..frame(2, FoundBy::Callchain) },
        frame(3, FoundBy::Prologue),
        frame(4, FoundBy::FramePointer),
        frame(5, FoundBy::Sampled),
    ]);
    let node = |parent: Option<u32>, frame| StackRow {
        parent: parent.map(StackId::new),
        frame: FrameId::new(frame),
    };
    profile.stacks = Table::from_vec(vec![
        node(None, 1),
        node(Some(0), 0),
        node(None, 2),
        node(Some(0), 3),
        node(None, 4),
        node(Some(4), 5),
        node(Some(5), 6),
    ]);
    profile.layouts = Table::from_vec(vec![
        layout(&[(0, 0x5555_0000_0000), (0, 0x7f00_0000_0000), (2, 0x6000_0000_0000)]),
        layout(&[(0, 0x40_0000)]),
    ]);
}

/// Returns a layout of modules and their biases.
fn layout(images: &[(u32, u64)]) -> LayoutRow {
    images.iter().map(|&(module, bias)| (ModuleId(module), Bias(bias))).collect()
}

fn fill_samples(profile: &mut Profile) {
    let mut thread = |pid, tid, comm: &[u8]| ThreadRow {
        pid: Pid(pid),
        tid: Tid(tid),
        comm: profile.strings.intern(comm),
        process: profile.strings.intern(comm),
        cgroup: None,
    };
    profile.threads = Table::from_vec(vec![
        thread(42, 43, b"a b;\"c"),
        thread(123_456, 123_456, b"\xfft\n"),
        thread(-1, 7, b""),
    ]);
    let sample = |thread, event, stack: Option<u32>, layout, end| {
        let (thread, event) = (ThreadId::new(thread), EventId::new(event));
        SampleRow::new(thread, event, end, stack.map(StackId::new), LayoutId::new(layout))
    };
    profile.samples = Table::from_vec(vec![
        sample(0, 1, Some(1), 0, EndReason::Root)
            .with_time(Some(Timestamp(1_445_157_017_999)))
            .with_cpu(Some(1))
            .with_period(Some(4_000_000)),
        sample(0, 0, Some(2), 0, EndReason::StackExhausted).with_period(Some(3)),
        sample(1, 1, Some(3), 1, EndReason::Root).with_time(Some(Timestamp(20_000_000_000))),
        sample(1, 1, Some(6), 0, EndReason::NotMapped).with_cpu(Some(1000)),
        sample(2, 1, None, 1, EndReason::NoUserRegs),
    ]);
}

/// Returns the same profile with all samples of one event, for formats that show only one.
pub(crate) fn of_one_event() -> Profile {
    let mut profile = one_of_everything();
    profile.samples.iter_mut().for_each(|sample| sample.event = EventId::new(0));
    profile
}
