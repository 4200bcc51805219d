//! The table of cases: which program, built how, recorded how.

/// A case of `testdata/cases`.
pub(super) struct Case {
    /// Name of its folder.
    pub(super) name: &'static str,
    /// What it is there for.
    pub(super) about: &'static str,
    /// Files of `testdata/programs` that it needs; the first is the program's source.
    pub(super) sources: &'static [&'static str],
    /// Commands that build it, run in the folder that holds the sources. The program's name is the case's name.
    pub(super) build: &'static [&'static str],
    /// Options of `perf record`.
    pub(super) record: &'static str,
}

const USER: &str = "-e cpu-clock:u -F 299 --call-graph dwarf,4096";
const USER_FAST: &str = "-e cpu-clock:u -F 999 --call-graph dwarf,4096";
const SPIN: &[&str] = &["hello_spin.c", "spin.h"];
const NOEH: &[&str] = &["noeh.c", "spin.h"];

/// Every case, in the order of recording.
#[rustfmt::skip]
pub(super) const CASES: &[Case] = &[
    Case { name: "spin-bfd", about: "position-independent, GNU ld", sources: SPIN,
        build: &["gcc -O2 -g hello_spin.c -o spin-bfd"], record: USER },
    Case { name: "spin-gold", about: "gold: one segment holds headers and text", sources: SPIN,
        build: &["gcc -O2 -g -fuse-ld=gold hello_spin.c -o spin-gold"], record: USER },
    Case { name: "spin-lld", about: "lld: the text's address in the file differs from its offset", sources: SPIN,
        build: &["clang -O2 -g -fuse-ld=lld hello_spin.c -o spin-lld"], record: USER },
    Case { name: "spin-lld-build-id", about: "lld, and the recording carries build-ids in its mmap records", sources: SPIN,
        build: &["clang -O2 -g -fuse-ld=lld -Wl,--build-id=sha1 hello_spin.c -o spin-lld-build-id"],
        record: "-e cpu-clock:u -F 499 --buildid-mmap --call-graph dwarf,4096" },
    Case { name: "spin-lld-nopie", about: "lld at a fixed address", sources: SPIN,
        build: &["clang -O2 -g -fno-pie -no-pie -fuse-ld=lld hello_spin.c -o spin-lld-nopie"], record: USER },
    Case { name: "spin-mold", about: "mold: the text's address in the file differs from its offset", sources: SPIN,
        build: &["clang -O2 -g -fuse-ld=mold hello_spin.c -o spin-mold"], record: USER },
    Case { name: "spin-nopie", about: "GNU ld at a fixed address", sources: SPIN,
        build: &["gcc -O2 -g -fno-pie -no-pie hello_spin.c -o spin-nopie"], record: USER },
    Case { name: "spin-static", about: "static at a fixed address", sources: SPIN,
        build: &["gcc -O2 -g -static hello_spin.c -o spin-static"], record: USER },
    Case { name: "spin-static-pie", about: "static and position-independent", sources: SPIN,
        build: &["gcc -O2 -g -static-pie hello_spin.c -o spin-static-pie"], record: USER },
    Case { name: "spin-stripped", about: "no symbols and no debug information: .eh_frame and .dynsym only", sources: SPIN,
        build: &["gcc -O2 -s hello_spin.c -o spin-stripped"], record: USER },
    Case { name: "inlines-gcc", about: "inline chains of templates and libstdc++, gcc", sources: &["inlines.cpp"],
        build: &["g++ -O2 -g inlines.cpp -o inlines-gcc"], record: "-e cpu-clock:u -F 229 --call-graph dwarf,8192" },
    Case { name: "inlines-clang-lld", about: "inline chains, clang and lld, DWARF 5, compressed debug sections",
        sources: &["inlines.cpp"],
        build: &["clang++ -O2 -g -gdwarf-5 -gz=zlib -fuse-ld=lld inlines.cpp -o inlines-clang-lld"],
        record: "-e cpu-clock:u -F 49 --call-graph dwarf,8192" },
    Case { name: "recursion-rs", about: "Rust with its default linker: closures, recursion, threads",
        sources: &["recursion.rs"],
        build: &["rustc -O -g -C link-arg=-Wl,--compress-debug-sections=zlib recursion.rs -o recursion-rs"],
        record: "-e cpu-clock:u -F 399 --buildid-mmap --call-graph dwarf,4096" },
    Case { name: "exceptions", about: "inside the C++ unwinder, landing pads, cold parts", sources: &["exceptions.cpp"],
        build: &["g++ -O2 -g exceptions.cpp -o exceptions"], record: "-e cpu-clock:u -F 499 --buildid-mmap --call-graph dwarf,8192" },
    Case { name: "realign-gcc", about: "stack realigned, frame address by expression", sources: &["realign.c", "spin.h"],
        build: &["gcc -O2 -g -mavx2 realign.c -o realign-gcc"], record: USER_FAST },
    Case { name: "realign-clang", about: "stack realigned, rbp and rbx frames", sources: &["realign.c", "spin.h"],
        build: &["clang -O2 -g -mavx2 realign.c -o realign-clang"], record: USER_FAST },
    Case { name: "signal", about: "signal frames, one at a function's first instruction", sources: &["signal.c", "spin.h"],
        build: &["gcc -O2 -g signal.c -o signal"], record: "-e cpu-clock:u -F 449 --call-graph dwarf,8192" },
    Case { name: "plt", about: "samples in the procedure linkage table, lazily bound", sources: &["plt.c", "plt_lib.c"],
        build: &["gcc -O1 -g -fPIC -shared plt_lib.c -Wl,-soname,libplt.so -o libplt.so",
                 "gcc -O1 -g -fcf-protection=none plt.c -L. -lplt -Wl,-z,lazy -Wl,-rpath,$ORIGIN -o plt"],
        record: USER },
    Case { name: "plt-sec", about: "as plt, with the second table that branch protection brings", sources: &["plt.c", "plt_lib.c"],
        build: &["gcc -O1 -g -fPIC -fcf-protection=full -shared plt_lib.c -Wl,-soname,libplt.so -o libplt.so",
                 "gcc -O1 -g -fcf-protection=full plt.c -L. -lplt -Wl,-z,lazy -Wl,-z,ibtplt -Wl,-rpath,$ORIGIN -o plt-sec"],
        record: USER },
    Case { name: "dlopen", about: "a library unloaded and another loaded at its addresses",
        sources: &["dlopen.c", "dlopen_lib.c", "spin.h"],
        build: &["gcc -O2 -g -fPIC -shared -DNAME=first -DFRAME=200 dlopen_lib.c -o libfirst.so",
                 "gcc -O2 -g -fPIC -shared -DNAME=other -DFRAME=600 dlopen_lib.c -o libother.so",
                 "gcc -O2 -g dlopen.c -o dlopen"],
        record: USER },
    Case { name: "fork", about: "threads, fork without exec, fork and exec", sources: &["fork.c", "spin.h"],
        build: &["gcc -O2 -g fork.c -o fork -pthread"], record: USER_FAST },
    Case { name: "leaf-nofp", about: "leaf functions, the red zone, rbp as data", sources: &["leaf_nofp.c", "spin.h"],
        build: &["gcc -O2 -g -fomit-frame-pointer leaf_nofp.c -o leaf-nofp"], record: USER_FAST },
    Case { name: "noeh-fp", about: "no unwind information, frame pointers", sources: NOEH,
        build: &["gcc -O2 -fno-asynchronous-unwind-tables -fno-omit-frame-pointer noeh.c -o noeh-fp"], record: USER },
    Case { name: "noeh-nofp", about: "no unwind information, no frame pointers", sources: NOEH,
        build: &["gcc -O2 -fno-asynchronous-unwind-tables -fomit-frame-pointer noeh.c -o noeh-nofp"], record: USER },
    Case { name: "noeh-debug-frame", about: "unwind information in .debug_frame only", sources: NOEH,
        build: &["gcc -O2 -g -fno-asynchronous-unwind-tables -fomit-frame-pointer noeh.c -o noeh-debug-frame"], record: USER },
    Case { name: "tailcall", about: "tail calls, and a call as a function's last instruction", sources: &["tailcall.c", "spin.h"],
        build: &["gcc -O2 -g tailcall.c -o tailcall"], record: USER },
    Case { name: "deep", about: "recursion deeper than the recorded stack", sources: &["deep.c", "spin.h"],
        build: &["gcc -O2 -g deep.c -o deep"], record: "-e cpu-clock:u -F 499 --call-graph dwarf,1024" },
    Case { name: "anon", about: "code in anonymous memory, with and without a frame pointer", sources: &["anon.c", "spin.h"],
        build: &["gcc -O2 -g anon.c -o anon"], record: USER },
    Case { name: "syscalls", about: "kernel parts before user parts", sources: &["syscalls.c", "spin.h"],
        build: &["gcc -O2 -g syscalls.c -o syscalls"], record: "-e cpu-clock -F 799 --call-graph dwarf,4096" },
    Case { name: "two-events", about: "two events and the processor in every sample", sources: SPIN,
        build: &["gcc -O2 -g hello_spin.c -o two-events"],
        record: "-e cpu-clock:u -e task-clock:u --sample-cpu -F 249 --call-graph dwarf,4096" },
];
