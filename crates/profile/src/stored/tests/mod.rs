//! Tests of stored profiles: round trips, and damage at every byte.

use address::{Bias, BuildId, FieldKind, ModuleId, Pid, Tid, Timestamp};
use options::ShortRemedy;

use super::{STORED_VERSION, StoredError};
use crate::id::{
    EventId, FrameId, InlineId, LayoutId, LocationId, RowId as _, StackId, StringId, ThreadId,
};
use crate::profile::Profile;
use crate::quality::{
    Advice, AppliedFilter, EventLoss, EventSpan, FindingRow, ModuleLoss, NamelessModule,
    StackNeeds, Summary, ThreadState, ThreadWithoutSwitch,
};
use crate::reason::{EndReason, FoundBy, WaitKind};
use crate::tables::{
    EventRow, FrameRow, InlineRow, LocationRow, ModuleKind, ModuleRow, RecordingInfo, SampleRow,
    StackRow, ThreadRow, WallClock,
};

fn stored(profile: &Profile) -> Vec<u8> {
    let mut bytes = Vec::new();
    assert_eq!(profile.store(&mut bytes).ok(), Some(true));
    bytes
}

/// A profile with each kind of row, each enum value, and each optional value present and absent.
fn full() -> Profile {
    let mut profile = Profile::default();
    let texts = [&b"cycles"[..], b"off-cpu", b"/bin/x", b"", b"main", b"a.c", b"\xff", b"comm"];
    let [cycles, off_cpu, path, empty, main, file, odd, comm] =
        texts.map(|text| profile.strings.intern(text));
    profile.recording = recording([cycles, path, odd]);
    let event = EventRow { name: cycles, kind: 1, config: u64::MAX, frequency: true, rate: 997 };
    profile.events.push(event.clone());
    let event = EventRow { name: off_cpu, frequency: false, rate: 1, ..event };
    profile.off_cpu = Some(profile.events.push(event));
    profile.off_cpu_is_extra = true;
    for (index, &kind) in ModuleKind::ALL.iter().enumerate() {
        let build_id = BuildId::new(&[7, 0, 9, 0][..index]);
        let opened = (index % 2 == 0).then_some(path);
        profile.modules.push(ModuleRow { path: empty, opened, build_id, kind });
    }
    profile.inlines.push(InlineRow::with_name(main));
    profile.inlines.push(InlineRow {
        function: None,
        file: Some(file),
        line: 7,
        column: u32::MAX,
        inlined: true,
        declared_file: Some(odd),
        declared_line: 6,
    });
    profile.locations.push(LocationRow::unnamed(None, u64::MAX));
    profile.locations.push(LocationRow {
        module: Some(ModuleId(3)),
        relative: 0x1760,
        offset: Some(0x760),
        function_offset: Some(0),
        first_inline: InlineId::new(0),
        n_inlines: 2,
        is_whole: true,
    });
    let past = LocationRow::unnamed(Some(ModuleId(0)), 0);
    profile.locations.push(LocationRow { first_inline: InlineId::new(2), ..past });
    add_stacks(&mut profile);
    add_samples(&mut profile, comm, main);
    profile.summary = summary();
    profile
}

fn recording([cycles, path, odd]: [StringId; 3]) -> RecordingInfo {
    RecordingInfo {
        name: Some(b"perf.data"[..].into()),
        service: Some(b"\xfe"[..].into()),
        hostname: Some(odd),
        os_release: None,
        arch: Some(path),
        perf_version: None,
        cpu_desc: Some(cycles),
        cpus_online: Some(2),
        cpus_available: None,
        cpu_id: None,
        total_memory_kib: Some(1 << 40),
        stack_bytes: Some(16384),
        command_line: vec![path, cycles, path],
        wall_clock: Some(WallClock { zero: -5, guessed: true }),
    }
}

fn add_stacks(profile: &mut Profile) {
    for (index, &found_by) in FoundBy::ALL.iter().enumerate() {
        let location = LocationId::from_index(index % 3);
        let frame =
            FrameRow { location, found_by, kernel: index == 1, instance: u8::from(index == 2) };
        let frame = profile.frames.push(frame);
        let parent = index.checked_sub(2).map(StackId::from_index);
        profile.stacks.push(StackRow { parent, frame });
    }
}

fn add_samples(profile: &mut Profile, comm: StringId, process: StringId) {
    let images = [(ModuleId(1), 9), (ModuleId(3), 0x1000), (ModuleId(3), u64::MAX)];
    profile.layouts.push(images.map(|(module, bias)| (module, Bias(bias))).into_iter().collect());
    profile.layouts.push([].into_iter().collect());
    let thread = ThreadRow { pid: Pid(-1), tid: Tid(7), comm, process, cgroup: None };
    profile.threads.push(thread);
    profile.threads.push(ThreadRow { pid: Pid(42), cgroup: Some(comm), ..thread });
    for (index, &end) in EndReason::ALL.iter().enumerate() {
        let stack = index.checked_sub(9).map(StackId::from_index);
        let (thread, event) = (ThreadId::from_index(index % 2), EventId::from_index(index / 2 % 2));
        let row = SampleRow::new(thread, event, end, stack, LayoutId::from_index(index % 2));
        let number = index as u64;
        profile.samples.push(match WaitKind::ALL.get(index) {
            Some(&kind) => row.with_time(Some(Timestamp(number))).with_wait(kind, index == 3),
            None => row.with_period(Some(u64::MAX - number)).with_cpu(Some(index as u32)),
        });
    }
}

fn summary() -> Summary {
    let short = ShortRemedy { fact: "is".into(), action: String::new(), package: true, jit: false };
    let help = Advice { code: "give-file".into(), text: "give ü".into(), short };
    let states = ThreadState::ALL.iter().zip(1..);
    let threads = states.map(|(&state, duration)| {
        let since = Timestamp(u64::MAX);
        ThreadWithoutSwitch { thread: ThreadId::new(1), state, since, duration }
    });
    let spans = vec![
        EventSpan { times: Some((3, 4)), samples: 5 },
        EventSpan { times: None, samples: u64::MAX },
    ];
    let mut filter = AppliedFilter::new(vec!["focus main".into(), String::new()], spans);
    filter.removed = 6;
    Summary {
        samples: 1,
        samples_filtered: 2,
        samples_dropped: 3,
        frames: 4,
        lost_samples: 5,
        lost_records: 6,
        lost_by_event: vec![EventLoss { event: EventId::new(1), samples: 7, records: 8 }],
        throttled: 9,
        stack_needs: StackNeeds {
            whole: [1, 2, 3, 4, 5, 6],
            truncated: 7,
            joined: [8; 6],
            across_gap: [0, 0, 0, 0, 0, u64::MAX],
        },
        losses: vec![ModuleLoss {
            module: None,
            end: EndReason::NoModule,
            samples: 10,
            reason: "missing".into(),
            help: Some(help.clone()),
        }],
        names_lost: true,
        nameless: vec![NamelessModule { module: Some(ModuleId(2)), frames: 11, help: None }],
        threads_without_switch: threads.collect(),
        applied_filter: Some(filter),
        findings: vec![FindingRow {
            kind: "kind".into(),
            message: "message".into(),
            help: Some(help),
            count: 12,
        }],
    }
}

#[test]
fn each_kind_of_row_round_trips() {
    let profile = full();
    let mut restored = Profile::restore(&stored(&profile)).expect("a stored profile");
    assert_eq!(restored, profile);
    // Known strings are found again.
    assert_eq!(restored.strings.intern(b"main"), StringId::new(4));
    assert_eq!(restored.strings.intern(b"new"), StringId::new(8));
    let empty = Profile::default();
    assert_eq!(Profile::restore(&stored(&empty)), Ok(empty));
}

#[test]
fn a_profile_is_appended() {
    let mut bytes = vec![1, 2];
    assert_eq!(full().store(&mut bytes).ok(), Some(true));
    assert_eq!(bytes.split_off(2), stored(&full()));
    assert_eq!(bytes, [1, 2]);
}

/// If this fails, another layout needs another version.
#[test]
fn the_layout_is_that_of_the_version() {
    let bytes = stored(&full());
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    assert_eq!((STORED_VERSION, bytes.len(), hash), (1, 2254, 15_522_043_067_679_463_531));
}

#[test]
fn requested_values_have_no_stored_form() {
    let mut bytes = vec![3];
    let mut profile = full();
    profile.fields.add_column(None, StringId::new(0), FieldKind::Text);
    assert_eq!(profile.store(&mut bytes).ok(), Some(false));
    let mut profile = full();
    profile.fields.branches.add_single(EventId::new(0));
    assert_eq!(profile.store(&mut bytes).ok(), Some(false));
    assert_eq!(bytes, [3]);
}

#[test]
fn truncated_bytes_are_refused() {
    let bytes = stored(&full());
    for length in 0..bytes.len() {
        let error = Profile::restore(&bytes[..length]).expect_err("too short");
        assert!(matches!(error, StoredError::Damaged { .. }), "{length}: {error}");
    }
    let error = Profile::restore(&bytes[..20]).expect_err("too short");
    assert_eq!(
        error.to_string(),
        "the stored profile is damaged or truncated in the strings from byte 4 on"
    );
    let end = bytes.len();
    let error = Profile::restore(&[&bytes[..], &[0]].concat()).expect_err("too long");
    assert_eq!(error, StoredError::TooLong { end, length: end + 1 });
}

/// Damaged bytes are refused, or are exactly those of another profile with ids that name rows.
#[test]
fn damaged_bytes_are_no_panic() {
    let bytes = stored(&full());
    let flipped = [0x01, 0x80, 0xff].map(|bits| move |byte: u8| byte ^ bits);
    let mut refused = [0; 4];
    for at in 0..bytes.len() {
        for (change, refused) in flipped.iter().zip(&mut refused) {
            let mut damaged = bytes.clone();
            damaged[at] = change(damaged[at]);
            *refused += usize::from(is_refused(&damaged));
        }
        let mut damaged = bytes.clone();
        damaged.iter_mut().skip(at).take(8).for_each(|byte| *byte = 0xff);
        refused[3] += usize::from(is_refused(&damaged));
    }
    assert_eq!((bytes.len(), refused), (2254, [989, 1218, 1218, 1625]));
}

fn is_refused(bytes: &[u8]) -> bool {
    let restored = Profile::restore(bytes);
    if let Ok(profile) = &restored {
        assert!(stored(profile) == bytes);
    }
    restored.is_err()
}

#[test]
fn another_version_is_refused() {
    let mut bytes = stored(&full());
    bytes[0] += 1;
    let error = Profile::restore(&bytes).expect_err("another version");
    assert_eq!(error, StoredError::Version { found: STORED_VERSION + 1 });
    assert_eq!(error.to_string(), "the stored profile has version 2 instead of 1");
}

#[test]
fn rows_that_contradict_each_other_are_refused() {
    type Change = fn(&mut Profile);
    let changes: [(&str, Change); 16] = [
        ("recording", |it| it.recording.hostname = Some(StringId::new(8))),
        ("events", |it| it.events.as_mut_slice()[0].name = StringId::new(8)),
        ("off-CPU event", |it| it.off_cpu = Some(EventId::new(2))),
        ("modules", |it| it.modules.as_mut_slice()[0].opened = Some(StringId::new(8))),
        ("inlines", |it| it.inlines.as_mut_slice()[0].file = Some(StringId::new(u32::MAX))),
        ("locations", |it| it.locations.as_mut_slice()[0].module = Some(ModuleId(4))),
        ("locations", |it| it.locations.as_mut_slice()[2].n_inlines = 1),
        ("locations", |it| it.locations.as_mut_slice()[2].first_inline = InlineId::new(3)),
        ("frames", |it| it.frames.as_mut_slice()[0].location = LocationId::new(3)),
        ("stacks", |it| it.stacks.as_mut_slice()[1].parent = Some(StackId::new(1))),
        ("stacks", |it| it.stacks.as_mut_slice()[1].frame = FrameId::new(13)),
        ("threads", |it| it.threads.as_mut_slice()[1].comm = StringId::new(8)),
        ("samples", |it| it.samples.as_mut_slice()[0].layout = LayoutId::new(2)),
        ("samples", |it| it.samples.as_mut_slice()[0].stack = Some(StackId::new(13))),
        ("summary", |it| it.summary.nameless[0].module = Some(ModuleId(4))),
        ("summary", |it| {
            it.summary.applied_filter =
                Some(AppliedFilter::new(Vec::new(), vec![EventSpan::default()]));
        }),
    ];
    for (expected, change) in changes {
        let mut profile = full();
        change(&mut profile);
        let error = Profile::restore(&stored(&profile)).expect_err(expected);
        assert!(matches!(error, StoredError::Damaged { part, .. } if part == expected), "{error}");
    }
}

/// Many equal strings would all have the same hash.
#[test]
fn equal_strings_are_refused() {
    let mut bytes = [1_u32.to_le_bytes().to_vec(), 0_u64.to_le_bytes().to_vec()].concat();
    bytes.extend(1_000_000_u64.to_le_bytes());
    bytes.resize(bytes.len() + 4_000_000, 0);
    bytes.extend(0_u64.to_le_bytes());
    let error = Profile::restore(&bytes).expect_err("equal strings");
    assert_eq!(error, StoredError::Damaged { part: "strings", offset: 4 });
}

/// Counts beyond the bytes are refused before memory is reserved for them.
#[test]
fn a_count_beyond_the_bytes_is_refused() {
    for count in [u64::MAX, 1 << 60, 3] {
        let mut bytes = [1_u32.to_le_bytes().to_vec(), 0_u64.to_le_bytes().to_vec()].concat();
        bytes.extend(count.to_le_bytes());
        bytes.extend([0; 8]);
        let error = Profile::restore(&bytes).expect_err("too few bytes");
        assert_eq!(error, StoredError::Damaged { part: "strings", offset: 4 });
    }
}

/// The seeds of the fuzz target are written anew with each version, by `--cache`.
#[test]
#[allow(clippy::disallowed_methods, reason = "tests read their files")]
fn seeds_of_the_fuzz_target_have_this_version() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds/stored");
    let entries = std::fs::read_dir(folder).expect("the seeds");
    let mut samples: Vec<(String, usize)> = entries
        .map(|entry| {
            let path = entry.expect("an entry").path();
            let profile = Profile::restore(&std::fs::read(&path).expect("a seed")).expect("valid");
            (path.file_name().expect("a name").display().to_string(), profile.samples.len())
        })
        .collect();
    samples.sort();
    let expected = [
        ("inlines-gcc", 35),
        ("jit", 21),
        ("off-cpu", 95),
        ("plt", 19),
        ("syscalls", 48),
        ("two-events", 52),
    ];
    assert_eq!(samples, expected.map(|(name, samples)| (name.to_owned(), samples)));
}
