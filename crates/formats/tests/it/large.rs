//! Profiles of several chunks: the bytes do not depend on the number of threads, and the numbers add up.

use address::{Bias, ModuleId, Timestamp};
use formats::{Format, FormatOptions};
use profile::{
    EndReason, FoundBy, FrameId, FrameRow, InlineId, InlineRow, LayoutId, LocationId, LocationRow,
    Profile, StackId, StackRow, ThreadId,
};

use crate::printed;
use crate::support::sample_profile::{of_one_event, one_of_everything};

const SAMPLES: u32 = 20_000;

/// Deep stacks of many frames, with pseudo-random numbers of a fixed seed.
pub(crate) fn profile() -> Profile {
    let mut profile = one_of_everything();
    let mut state = 88_172_645_463_325_252_u64;
    let mut draw = |below: u32| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % u64::from(below)) as u32
    };
    for index in 0..3000_u32 {
        let name =
            profile.strings.intern(format!("ns::function<{}>(int; char)", index % 700).as_bytes());
        let row = InlineRow { line: index, ..InlineRow::with_name(name) };
        let first_inline = profile.inlines.next_id();
        profile
            .inlines
            .extend([InlineRow { inlined: true, ..row }, row].into_iter().skip(index as usize % 2));
        let relative = u64::from(draw(1 << 30));
        let location = profile.locations.push(LocationRow {
            function_offset: Some(u64::from(draw(5000))),
            first_inline,
            n_inlines: 2 - index % 2,
            ..LocationRow::unnamed(Some(ModuleId(index % 4)), relative)
        });
        profile.frames.push(FrameRow {
            location,
            found_by: FoundBy::Cfi,
            kernel: index % 7 == 0,
            instance: 0,
        });
    }
    for index in 0..10_000 {
        let node = profile.stacks.len() as u32;
        let parent = (index >= 10).then(|| StackId::new(draw(node)));
        profile.stacks.push(StackRow { parent, frame: FrameId::new(draw(3007)) });
    }
    for bias in 0..50 {
        let images = [(ModuleId(0), Bias(bias << 12)), (ModuleId(3), Bias(bias << 20))];
        profile.layouts.push(images.into_iter().collect());
    }
    let pattern = profile.samples.as_slice()[0];
    profile.samples.clear();
    for index in 0..SAMPLES {
        let mut row = pattern.with_time(Some(Timestamp(u64::from(index) * 1001)));
        row.thread = ThreadId::new(index % 3);
        row.stack = Some(StackId::new(draw(10_007)));
        row.layout = LayoutId::new(draw(52));
        row.end = EndReason::ALL[draw(16) as usize];
        profile.samples.push(row);
    }
    profile
}

#[test]
fn threads_do_not_show() {
    let profile = profile();
    for &format in Format::ALL {
        let print = |threads| {
            let pool =
                rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| printed(&profile, format, FormatOptions::DEFAULT))
        };
        let one = print(1);
        // Compressed formats and those with merged rows are written by one thread.
        let small = matches!(
            format,
            Format::Pprof | Format::Otlp | Format::Callgrind | Format::Firefox | Format::Flamegraph
        );
        assert!(small || one.len() > 1 << 18, "{} bytes are one chunk", one.len());
        for threads in [2, 3, 8] {
            assert!(print(threads) == one, "{} with {threads} threads", format.name());
        }
    }
}

#[test]
fn every_sample_is_in_every_format() {
    let profile = profile();
    let text = |format| printed(&profile, format, FormatOptions::DEFAULT);
    let count = |text: &[u8], byte| text.iter().filter(|&&found| found == byte).count();
    assert_eq!(count(&text(Format::Ndjson), b'\n'), SAMPLES as usize);
    let script = text(Format::PerfScript);
    assert_eq!(script.windows(2).filter(|pair| pair == b"\n\n").count(), SAMPLES as usize);
    let folded = text(Format::Folded);
    let lines: Vec<&[u8]> =
        folded.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).collect();
    let weight = |line: &&[u8]| -> u32 {
        let start = line.iter().rposition(|&byte| byte == b' ').expect("a weight") + 1;
        std::str::from_utf8(&line[start..]).expect("digits").parse().expect("a number")
    };
    assert_eq!(lines.iter().map(weight).sum::<u32>(), SAMPLES);
    let mut stacks: Vec<&[u8]> = lines.clone();
    stacks.sort_unstable();
    stacks.dedup();
    assert_eq!(stacks.len(), lines.len(), "no stack has two lines");
}

/// Ids without a row are a bug, which debug builds detect. Release builds print unknown functions for them.
#[test]
#[cfg_attr(debug_assertions, should_panic(expected = "names no row"))]
fn a_broken_profile_prints() {
    let mut profile = of_one_event();
    profile.stacks.as_mut_slice()[0].parent = Some(StackId::new(1)); // a loop
    profile.stacks.as_mut_slice()[2].frame = FrameId::new(99);
    profile.frames.as_mut_slice()[0].location = LocationId::new(99);
    profile.locations.as_mut_slice()[5].first_inline = InlineId::new(u32::MAX);
    profile.samples.as_mut_slice()[3].thread = ThreadId::new(99);
    profile.samples.as_mut_slice()[4].layout = LayoutId::new(99);
    let text = |format| {
        String::from_utf8_lossy(&printed(&profile, format, FormatOptions::DEFAULT)).into_owned()
    };
    for &format in Format::ALL {
        text(format);
    }
    assert_eq!(
        text(Format::Folded),
        "[unknown];[truncated] 1\n\
         [unknown];[truncated];[unknown];[x.bin];[anon] 1\n\
         a b:\"c;main;[unknown] 1\n\
         a b:\"c;[truncated];[unknown] 1\n\
         \u{fffd}t\\n;main;read_zero 1\n"
    );
    let script = text(Format::PerfScript);
    let samples: Vec<&str> = script.split_terminator("\n\n").collect();
    assert_eq!(
        samples[3..],
        [
            "[1000]  cycles:u: \n\t    7f0000001000 [unknown] (//anon)\n\t    600000002000 [unknown] (/tmp/x.bin)\n\
             \t            dead [unknown] ([unknown])",
            ":7    -1/7      cycles:u: ",
        ]
    );
}
