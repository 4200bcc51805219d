//! Options without a default value among them.

use std::fmt::Display;
use std::num::{NonZeroU16, NonZeroUsize};
use std::str::FromStr;

use address::{Avma, FileOffset, Pid, Tid, Timestamp};

use crate::{
    CacheLocation, Demangle, FieldSelection, FileSearch, Hint, HintScope, Join, LabelOptions,
    LabelRule, Limits, MemoryLimit, NameOptions, Options, SampleFilter, Servers, SpanOptions,
    TimePoint, TimeRange,
};

/// Options that all differ from their defaults, for tests of code that passes options on.
#[must_use]
pub fn every_option() -> Options {
    let path = |text: &str| text.into();
    Options {
        samples: SampleFilter {
            pids: vec![Pid(1), Pid(-1)],
            tids: vec![Tid(3)],
            comms: vec![b"a,b".to_vec(), b"\xff*".to_vec()],
            cgroups: vec![b"/user.slice".to_vec()],
            events: vec!["cycles:u".to_owned()],
            cpus: vec![0, 3],
            time: TimeRange {
                from: Some(TimePoint::At(Timestamp(u64::MAX / 2))),
                to: Some(TimePoint::Share(123_456_789)),
            },
            conditions: vec![parsed("bytes>=0x10"), parsed("query=select a, b*")],
        },
        files: FileSearch {
            modules: vec![path("m")],
            path_map: vec![(b"/a".to_vec(), b"/b=\xff".to_vec()), (b"x=".to_vec(), Vec::new())],
            sysroots: vec![path("/s"), path("/t")],
            build_id_stores: vec![path("/i")],
            debug_dirs: vec![path("/d")],
            extra_dirs: vec![path("/e")],
            perf_map_dirs: vec![path("/p")],
            trust_perf_maps: true,
            debuginfod: Servers::of_list("http://one https://two"),
            fetched: true,
            hints: hints(),
            map_files: vec![path("hints")],
            source_dirs: vec![path("src")],
            kallsyms: Some(path("/k")),
        },
        names: names(),
        max_frames: NonZeroUsize::MIN.saturating_add(6),
        join: Join::Exact,
        tail_calls: false,
        with_fields: FieldSelection { patterns: vec!["s:*/pid".to_owned()] },
        values: vec!["f(int)(a.b)".to_owned()],
        trace_text: true,
        branches: true,
        labels: labels(),
        spans: spans(),
        redact: Some("k".to_owned()),
        weight_field: Some("*/bytes".to_owned()),
        off_cpu: true,
        off_cpu_optional: true,
        with_arguments: true,
        limits: limits(),
        cache: Some(CacheLocation { folder: path("c"), most: 1 << 40, is_default: false }),
    }
}

fn names() -> NameOptions {
    NameOptions {
        look_up: false,
        inlines: false,
        demangle: Some(Demangle::Short),
        fold_parts: true,
        fold_threads: true,
        only_without_build_id: true,
    }
}

fn limits() -> Limits {
    Limits { memory: MemoryLimit::Bytes(64 << 20), jobs: NonZeroU16::new(3) }
}

fn hints() -> Vec<Hint> {
    let hint = |object: &str, scope, offset| Hint {
        object: object.into(),
        scope,
        start: Avma(0xffff_0000_0000_0000),
        len: 0x20,
        offset,
    };
    vec![
        hint("/o@7", HintScope::Process(Pid(7)), Some(FileOffset(u64::MAX))),
        hint("o", HintScope::Comm(b"a,\xff"[..].into()), None),
        hint("o", HintScope::All, None),
    ]
}

fn labels() -> LabelOptions {
    LabelOptions {
        labels: vec![LabelRule { name: "query".to_owned(), field: "p:r/q".to_owned() }],
        when: vec![parsed("state=2")],
        ends: vec!["p:end".to_owned()],
        handovers: vec!["p:to/tid".to_owned()],
    }
}

fn spans() -> SpanOptions {
    SpanOptions {
        rules: vec![parsed("a=p:b/n>1,p:e,id+pid")],
        inside: Some("a".to_owned()),
        longer_than: Some(parsed("p99")),
        up_to: Some(parsed("20ms")),
    }
}

fn parsed<T: FromStr<Err: Display>>(text: &str) -> T {
    text.parse().unwrap_or_else(|error| unreachable!("{error}"))
}
