//! Texts: nested ranges in a `perf-PID.map`, a kernel symbol list with one address, and compared recordings.

use synth::{MmapFile, Record, SampleBuilder, SampleId};

use super::Input;
use super::program::{START, chains, map, recorder, touch};

const KERNEL: u64 = 0xffff_ffff_8100_0000;

/// 200,000 functions that each cover all later ones; some have names of 200,000 bytes.
#[test]
fn functions_inside_each_other() {
    const JIT: u64 = 0x7000_0000;
    let mut text = String::new();
    for number in 0..200_000_u64 {
        let name = if number % 20_000 == 7 { "n".repeat(200_000) } else { format!("f{number}") };
        text.push_str(&format!("{:x} {:x} {name}\n", JIT + number, 400_000 - 2 * number));
    }
    let mut data = recorder(chains());
    map(&mut data, JIT, 0x10_0000, 0, b"//anon");
    let addresses: Vec<u64> = (0..100_000).map(|at| JIT + at * 4).collect();
    touch(&mut data, &addresses);
    Input::folded(data.build())
        .file("root/tmp/perf-1.map", text.into_bytes())
        .withstand("nested-map")
        .expect_status(0);
}

/// 200,000 symbols at one address, each of another module, and one with a name of a megabyte.
#[test]
fn kernel_symbols_with_one_address() {
    let mut text = format!("{KERNEL:x} T _text\n{KERNEL:x} t {}\n", "n".repeat(1 << 20));
    for number in 0..200_000 {
        text.push_str(&format!("{KERNEL:x} t f{number}\t[m{number}]\n"));
    }
    let mut data = recorder(chains());
    let name = b"[kernel.kallsyms]_text";
    let (addr, pgoff) = (KERNEL, KERNEL);
    let kernel = Record::Mmap { pid: u32::MAX, tid: 0, addr, len: 0x100_0000, pgoff, name };
    data.record_with(&kernel, 1, SampleId::default());
    let callchain: Vec<u64> =
        std::iter::once(u64::MAX - 127).chain((0..7000).map(|at| KERNEL + at * 16)).collect();
    let sample = SampleBuilder { misc: 1, ..SampleBuilder::at(KERNEL, 1, 1, 2) };
    data.sample(&SampleBuilder { callchain, ..sample });
    let mut input = Input::folded(data.build()).file("kallsyms", text.into_bytes());
    input.arguments.extend(["--kallsyms".to_owned(), "kallsyms".to_owned()]);
    // The long line is omitted, and reported.
    input.withstand("one-address").expect_status(1);
}

/// Two compared recordings of 20,000 files, with different paths.
#[test]
fn recordings_without_a_common_name() {
    let of = |letter: char| {
        let mut data = recorder(chains());
        for number in 0..20_000 {
            let name = format!("/{letter}{number:0>300}");
            let map = Record::Mmap2 {
                pid: 1,
                tid: 1,
                addr: START + number * 0x1000,
                len: 0x1000,
                pgoff: 0,
                file: MmapFile::Inode { major: 1, minor: 1, inode: number, generation: 0 },
                prot: 5,
                flags: 2,
                name: name.as_bytes(),
            };
            data.record_at(&map, SampleId::at(1, 1, 1));
        }
        let addresses: Vec<u64> = (0..20_000).map(|at| START + at * 0x1000 + 1).collect();
        touch(&mut data, &addresses);
        data.build()
    };
    Input::new(&["diff", "-q", "--sysroot", "root", "a.data", "b.data"])
        .file("a.data", of('a'))
        .file("b.data", of('b'))
        .withstand("diff")
        .expect_status(0);
}
