//! Process names are the same in all formats. A process that executes another program is a new process in all of them.

use formats::{ConsoleLook, Format, FormatOptions, Printer as _, StackRoot, TopTable};
use options::{GroupBy, TopFormat, Weight};
use profile::{Profile, ThreadId};
use serde_json::{Value, json};

use crate::firefox;
use crate::page;
use crate::printed;
use crate::support::graphs::{fields, pprof_bytes};
use crate::support::sample_profile::one_of_everything;

const DEFAULT: FormatOptions = FormatOptions::DEFAULT;

/// Two workers of a server whose main thread has no sample; `env` and then `own` in one thread.
fn processes() -> Profile {
    let mut profile = one_of_everything();
    let rows = [
        (7, 8, "worker-0", "server"),
        (7, 9, "worker-1", "server"),
        (5, 5, "same", "env"),
        (5, 5, "same", "own"),
    ];
    let row = profile.threads.as_slice()[0];
    profile.threads.clear();
    for (pid, tid, comm, process) in rows {
        let mut id = |text: &str| profile.strings.intern(text.as_bytes());
        let (comm, process) = (id(comm), id(process));
        let (pid, tid) = (address::Pid(pid), address::Tid(tid));
        profile.threads.push(profile::ThreadRow { pid, tid, comm, process, ..row });
    }
    let event = profile.samples.as_slice()[0].event;
    for (at, sample) in profile.samples.as_mut_slice().iter_mut().enumerate() {
        (sample.thread, sample.event) = (ThreadId::new([0, 1, 2, 3, 3][at]), event);
    }
    profile
}

#[test]
fn top_has_a_row_for_each_program() {
    let table = TopTable::new(true, Weight::Samples, ConsoleLook::default());
    let table = TopTable { by: GroupBy::Process.into(), ..table };
    let mut out = Vec::new();
    table.print(&processes(), &mut out).expect("a vector takes everything");
    let text = String::from_utf8(out).expect("UTF-8");
    let expected = "5 samples of cpu-clock\n    own  samples  process   pid\n 40.0 %        2  server    7\n 40.0 %        2  own       5\n 20.0 %        1  env       5\n";
    assert_eq!(text, expected);
}

#[test]
fn a_pool_is_one_row() {
    let mut profile = processes();
    let pool = profile.strings.intern(b"worker-N");
    for row in profile.threads.as_mut_slice().iter_mut().take(2) {
        row.comm = pool;
    }
    let table = |format| TopTable {
        by: GroupBy::Thread.into(),
        pools: true,
        limit: 1,
        format,
        ..TopTable::new(true, Weight::Samples, ConsoleLook::default())
    };
    for (format, expected) in [
        (
            TopFormat::Text,
            "5 samples of cpu-clock\n    own  samples  thread    tid\n 40.0 %        2  worker-N  2 threads\n \
             60.0 %  2 more rows; limit=0 shows all\n",
        ),
        (
            TopFormat::Csv,
            "thread,pid,tid,own_samples,own,own_share,inclusive_samples,inclusive,inclusive_share\n\
             worker-N,7,,2,2,0.400000,2,2,0.400000\n",
        ),
    ] {
        let mut out = Vec::new();
        table(format).print(&profile, &mut out).expect("a vector takes everything");
        assert_eq!(String::from_utf8(out).expect("UTF-8"), expected);
    }
}

#[test]
fn roots_of_folded_stacks() {
    let options = FormatOptions { root: StackRoot::Process.into(), keep_unrooted: true, ..DEFAULT };
    let text = printed(&processes(), Format::Folded, options);
    let lines = text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let root = |line: &[u8]| {
        let end = line.iter().position(|byte| b"; ".contains(byte)).expect("a root");
        String::from_utf8_lossy(&line[..end]).into_owned()
    };
    let roots: Vec<String> = lines.map(root).collect();
    assert_eq!(roots, ["env-5", "own-5", "own-5", "server-7", "server-7"]);
}

#[test]
fn firefox_has_a_process_for_each_program() {
    let document = firefox::document(&processes(), DEFAULT);
    assert_eq!(document["meta"]["product"], "server");
    let threads = document["threads"].as_array().expect("threads").iter();
    let fields = ["processName", "pid", "tid", "isMainThread", "name"];
    let rows: Vec<Value> =
        threads.map(|thread| fields.iter().map(|&field| thread[field].clone()).collect()).collect();
    let expected = [
        json!(["env", "5", 5, true, "same (cpu-clock)"]),
        json!(["own", "5.1", "5.1", true, "same (cpu-clock)"]),
        json!(["server", "7", 8, false, "worker-0 (cpu-clock)"]),
        json!(["server", "7", 9, false, "worker-1 (cpu-clock)"]),
    ];
    assert_eq!(rows, expected);
}

/// pprof has the label `process` on each sample.
#[test]
fn labels_of_pprof() {
    let plain = pprof_bytes(&processes(), DEFAULT);
    let top = fields(&plain);
    let strings: Vec<&[u8]> = top.iter().filter(|row| row.0 == 6).map(|row| row.2).collect();
    let mut names = Vec::new();
    for sample in top.iter().filter(|row| row.0 == 2) {
        for label in fields(sample.2).iter().filter(|row| row.0 == 3) {
            let label = fields(label.2);
            if strings[label[0].1 as usize] == b"process" {
                names.push(String::from_utf8_lossy(strings[label[1].1 as usize]).into_owned());
            }
        }
    }
    names.dedup();
    assert_eq!(names, ["server", "env", "own"]);
}

/// OTLP has a resource for each program.
#[test]
fn resources_of_otlp() {
    let bytes = printed(&processes(), Format::Otlp, DEFAULT);
    let mut names = Vec::new();
    for process in fields(&bytes).iter().filter(|row| row.0 == 1) {
        let resource = fields(process.2)[0].2;
        let pairs = fields(resource);
        let value = |at: usize| fields(fields(pairs[at].2)[1].2)[0];
        names.push((String::from_utf8_lossy(value(0).2).into_owned(), value(1).1));
    }
    let expected = [("server", 7), ("env", 5), ("own", 5)];
    assert_eq!(names, expected.map(|(name, pid)| (name.to_owned(), pid)));
}

#[test]
fn tables_have_the_names() {
    let profile = processes();
    let (head, _) = page::tables(&profile);
    assert_eq!(head["threads"][3], json!([5, 5, "same", "own"]));
    let text = printed(&profile, Format::Json, DEFAULT);
    let document: Value = serde_json::from_slice(&text).expect("valid JSON");
    let names = document["threads"]["process"].as_array().expect("a column").iter();
    let names: Vec<&Value> =
        names.map(|id| &document["strings"][id.as_u64().expect("an id") as usize]).collect();
    assert_eq!(names, ["server", "server", "env", "own"]);
}
