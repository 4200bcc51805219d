//! Programs with deep stacks besides those of the table: a compiler, and programs made to mislead the completion of
//! truncated chains from other samples.

use super::Program;

const fn misleading(
    name: &'static str,
    sources: &'static [&'static str],
    build: &'static str,
) -> Program {
    let class = "made to mislead";
    Program { class, name, tool: "gcc", sources, build, run: "./misleading" }
}

const RECURSION: &[&str] = &["misleading/recursion.c"];

/// All programs with deep stacks.
pub(crate) const DEEP: &[Program] = &[
    Program {
        class: "programs of the distribution",
        name: "clang++ itself",
        tool: "clang++",
        sources: &["languages/work.cpp"],
        build: "",
        run: "clang++ -O3 -S -o /dev/null work.cpp",
    },
    misleading("recursion, numbers", RECURSION, "gcc -O1 -g -DKIND=0 -o misleading recursion.c"),
    misleading(
        "recursion, one pointer",
        RECURSION,
        "gcc -O1 -g -DKIND=1 -o misleading recursion.c",
    ),
    misleading("recursion, a list", RECURSION, "gcc -O1 -g -DKIND=2 -o misleading recursion.c"),
    misleading("mutual", &["misleading/mutual.c"], "gcc -O1 -g -o misleading mutual.c"),
    misleading("pool", &["misleading/pool.c"], "gcc -O1 -g -pthread -o misleading pool.c"),
    misleading("coroutines", &["misleading/coroutines.c"], "gcc -O1 -g -o misleading coroutines.c"),
];
