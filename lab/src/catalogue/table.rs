//! The programs: their sources, and the commands that build and record them.

use super::Program;

/// A program compiled from one source into `work`.
const fn compiled(
    class: &'static str,
    name: &'static str,
    tool: &'static str,
    source: &'static [&'static str],
    build: &'static str,
) -> Program {
    Program { class, name, tool, sources: source, build, run: "./work 200" }
}

/// A program that runs a source.
const fn interpreted(
    class: &'static str,
    name: &'static str,
    tool: &'static str,
    source: &'static [&'static str],
    run: &'static str,
) -> Program {
    Program { class, name, tool, sources: source, build: "", run }
}

/// A program of the distribution, after shell lines that create its input.
const fn installed(
    name: &'static str,
    tool: &'static str,
    build: &'static str,
    run: &'static str,
) -> Program {
    Program { class: DISTRIBUTION, name, tool, sources: &[], build, run }
}

const DISTRIBUTION: &str = "programs of the distribution";
const C: &[&str] = &["languages/work.c"];
const CPP: &[&str] = &["languages/work.cpp"];
const RUST: &[&str] = &["languages/work.rs"];
const GO: &[&str] = &["languages/work.go"];

/// Text and bytes as input.
const NUMBERS: &str = "seq 1 400000 | rev > numbers.txt";
const BYTES: &str = "cp \"$(gcc -print-prog-name=cc1)\" bytes";
const VIDEO: &str = "[ -f in.y4m ] || ffmpeg -v error -f lavfi -i testsrc2=size=1280x720:rate=30 -t 4 -pix_fmt yuv420p in.y4m";

/// All programs, sorted by class.
pub(crate) const CATALOGUE: &[Program] = &[
    compiled("C and C++", "gcc -O2", "gcc", C, "gcc -O2 -o work work.c -lpthread"),
    compiled("C and C++", "gcc -O0", "gcc", C, "gcc -O0 -o work work.c -lpthread"),
    compiled("C and C++", "gcc -O3 -flto", "gcc", C, "gcc -O3 -flto -o work work.c -lpthread"),
    compiled(
        "C and C++",
        "gcc -Os -fno-omit-frame-pointer",
        "gcc",
        C,
        "gcc -Os -fno-omit-frame-pointer -o work work.c -lpthread",
    ),
    compiled("C and C++", "gcc -static", "gcc", C, "gcc -O2 -static -o work work.c -lpthread"),
    compiled(
        "C and C++",
        "gcc -static-pie",
        "gcc",
        C,
        "gcc -O2 -static-pie -o work work.c -lpthread",
    ),
    compiled(
        "C and C++",
        "gcc -no-pie, stripped",
        "gcc",
        C,
        "gcc -O2 -no-pie -s -o work work.c -lpthread",
    ),
    compiled("C and C++", "gcc, gold", "gold", C, "gcc -O2 -fuse-ld=gold -o work work.c -lpthread"),
    compiled(
        "C and C++",
        "clang, lld",
        "ld.lld",
        C,
        "clang -O2 -fuse-ld=lld -o work work.c -lpthread",
    ),
    compiled("C and C++", "gcc, mold", "mold", C, "gcc -O2 -fuse-ld=mold -o work work.c -lpthread"),
    compiled("C and C++", "g++ -O2", "g++", CPP, "g++ -O2 -o work work.cpp -lpthread"),
    compiled("C and C++", "clang++ -O2", "clang++", CPP, "clang++ -O2 -o work work.cpp -lpthread"),
    compiled("C and C++", "g++ -O0 -g", "g++", CPP, "g++ -O0 -g -o work work.cpp -lpthread"),
    compiled(
        "without CFI",
        "gcc -fno-asynchronous-unwind-tables",
        "gcc",
        C,
        "gcc -O2 -fno-asynchronous-unwind-tables -o work work.c -lpthread",
    ),
    compiled(
        "without CFI",
        "the same with frame pointers",
        "gcc",
        C,
        "gcc -O2 -fno-asynchronous-unwind-tables -fno-omit-frame-pointer -o work work.c -lpthread",
    ),
    compiled(
        "without CFI",
        "clang -fno-asynchronous-unwind-tables",
        "clang",
        C,
        "clang -O2 -fno-asynchronous-unwind-tables -o work work.c -lpthread",
    ),
    compiled(
        "without CFI",
        ".debug_frame only",
        "gcc",
        C,
        "gcc -O2 -g -fno-asynchronous-unwind-tables -fno-unwind-tables -o work work.c -lpthread",
    ),
    compiled("musl", "musl, dynamic", "musl-gcc", C, "musl-gcc -O2 -o work work.c"),
    compiled("musl", "musl, static", "musl-gcc", C, "musl-gcc -O2 -static -o work work.c"),
    compiled(
        "musl",
        "musl, static, without CFI",
        "musl-gcc",
        C,
        "musl-gcc -O2 -static -fno-asynchronous-unwind-tables -o work work.c",
    ),
    compiled("Rust", "rustc -O", "rustc", RUST, "rustc -O -o work work.rs"),
    compiled(
        "Rust",
        "rustc, panic=abort",
        "rustc",
        RUST,
        "rustc -O -C panic=abort -o work work.rs",
    ),
    compiled(
        "Rust",
        "rustc, panic=abort, LTO, stripped",
        "rustc",
        RUST,
        "rustc -O -C panic=abort -C lto -C strip=symbols -o work work.rs",
    ),
    compiled("Rust", "rustc, debug", "rustc", RUST, "rustc -g -o work work.rs"),
    compiled(
        "Go",
        "go",
        "go",
        GO,
        "GOFLAGS=-mod=mod GO111MODULE=off GOCACHE=$PWD/cache go build -o work work.go",
    ),
    compiled(
        "Go",
        "go, stripped",
        "go",
        GO,
        "GO111MODULE=off GOCACHE=$PWD/cache go build -ldflags '-s -w' -o work work.go",
    ),
    compiled(
        "Go",
        "go, PIE, stripped",
        "go",
        GO,
        "GO111MODULE=off GOCACHE=$PWD/cache go build -buildmode=pie -ldflags '-s -w' -o work work.go",
    ),
    compiled(
        "Go",
        "cgo",
        "go",
        &["languages/cgo.go"],
        "GO111MODULE=off GOCACHE=$PWD/cache go build -o work cgo.go",
    ),
    compiled(
        "Go",
        "cgo, stripped",
        "go",
        &["languages/cgo.go"],
        "GO111MODULE=off GOCACHE=$PWD/cache go build -ldflags '-s -w' -o work cgo.go",
    ),
    compiled("32-bit", "gcc -m32", "gcc", C, "gcc -m32 -O2 -o work work.c -lpthread"),
    compiled("32-bit", "gcc -m32 -O0", "gcc", C, "gcc -m32 -O0 -o work work.c -lpthread"),
    compiled(
        "32-bit",
        "gcc -m32 -no-pie -fomit-frame-pointer",
        "gcc",
        C,
        "gcc -m32 -O2 -fomit-frame-pointer -fno-pie -no-pie -o work work.c -lpthread",
    ),
    compiled(
        "32-bit",
        "gcc -m32 -static",
        "gcc",
        C,
        "gcc -m32 -O2 -static -o work work.c -lpthread",
    ),
    Program {
        run: "./work",
        ..compiled(
            "32-bit",
            "gcc -m32, signals",
            "gcc",
            &["languages/signals.c"],
            "gcc -m32 -O2 -o work signals.c -lm",
        )
    },
    Program {
        run: "./work",
        ..compiled(
            "32-bit",
            "g++ -m32, exceptions and threads",
            "g++",
            &["languages/exceptions.cpp"],
            "g++ -m32 -O2 -o work exceptions.cpp -lpthread",
        )
    },
    compiled(
        "32-bit",
        "rustc, i686",
        "rustc",
        RUST,
        "rustc -O --target i686-unknown-linux-gnu -o work work.rs",
    ),
    compiled("32-bit", "g++ -m32", "g++", CPP, "g++ -m32 -O2 -o work work.cpp -lpthread"),
    compiled("fibers", "makecontext", "gcc", &["languages/fiber.c"], "gcc -O2 -o work fiber.c"),
    compiled(
        "other compiled languages",
        "Fortran (gfortran)",
        "gfortran",
        &["languages/work.f90"],
        "gfortran -O2 -o work work.f90",
    ),
    compiled(
        "other compiled languages",
        "Ada (gnat)",
        "gnatmake",
        &["languages/work.adb"],
        "gnatmake -q -O2 -o work work.adb",
    ),
    compiled(
        "other compiled languages",
        "OCaml",
        "ocamlopt",
        &["languages/work.ml"],
        "ocamlopt -o work work.ml",
    ),
    compiled(
        "other compiled languages",
        "D (ldc)",
        "ldc2",
        &["languages/work.d"],
        "ldc2 -O2 -of=work work.d",
    ),
    compiled(
        "other compiled languages",
        "D (gdc)",
        "gdc",
        &["languages/work.d"],
        "gdc -O2 -o work work.d",
    ),
    compiled(
        "other compiled languages",
        "Haskell (ghc)",
        "ghc",
        &["languages/work.hs"],
        "ghc -v0 -O -o work work.hs",
    ),
    compiled(
        "other compiled languages",
        "Nim",
        "nim",
        &["languages/work.nim"],
        "nim c --hints:off --verbosity:0 -d:release --nimcache:$PWD/nim -o:work work.nim",
    ),
    compiled(
        "other compiled languages",
        "Pascal (fpc)",
        "fpc",
        &["languages/work.pas"],
        "fpc -v0 -O2 -owork work.pas",
    ),
    interpreted("interpreters", "CPython", "python3", &["languages/work.py"], "python3 work.py"),
    interpreted("interpreters", "Perl", "perl", &["languages/work.pl"], "perl work.pl"),
    interpreted("interpreters", "Ruby", "ruby", &["languages/work.rb"], "ruby work.rb"),
    interpreted(
        "interpreters",
        "PHP",
        "php",
        &["languages/work.php"],
        "php -d opcache.enable_cli=0 work.php",
    ),
    interpreted("interpreters", "Lua", "lua5.4", &["languages/work.lua"], "lua5.4 work.lua"),
    interpreted("interpreters", "Tcl", "tclsh", &["languages/work.tcl"], "tclsh work.tcl"),
    interpreted("interpreters", "mawk", "mawk", &["languages/work.awk"], "mawk -f work.awk"),
    interpreted("interpreters", "gawk", "gawk", &["languages/work.awk"], "gawk -f work.awk"),
    Program {
        class: "compilers at run time",
        name: "Java",
        tool: "javac",
        sources: &["languages/Work.java"],
        build: "javac -d . Work.java",
        run: "java -cp . Work",
    },
    Program {
        class: "compilers at run time",
        name: "Java, frame pointers",
        tool: "javac",
        sources: &["languages/Work.java"],
        build: "javac -d . Work.java",
        run: "java -XX:+PreserveFramePointer -cp . Work",
    },
    interpreted("compilers at run time", "node", "node", &["languages/work.js"], "node work.js"),
    interpreted(
        "compilers at run time",
        "node, perf map",
        "node",
        &["languages/work.js"],
        "node --perf-basic-prof --interpreted-frames-native-stack work.js",
    ),
    interpreted(
        "compilers at run time",
        "LuaJIT",
        "luajit",
        &["languages/work.lua"],
        "luajit work.lua 400",
    ),
    interpreted(
        "compilers at run time",
        "Guile",
        "guile",
        &["languages/work.scm"],
        "guile --no-auto-compile work.scm",
    ),
    interpreted(
        "compilers at run time",
        "SBCL",
        "sbcl",
        &["languages/work.lisp"],
        "sbcl --script work.lisp",
    ),
    Program {
        class: "compilers at run time",
        name: "Erlang",
        tool: "erlc",
        sources: &["languages/work.erl"],
        build: "erlc work.erl",
        run: "erl -noshell -s work main",
    },
    installed("openssl sha512", "openssl", "", "openssl speed -seconds 2 -bytes 8192 sha512"),
    installed(
        "openssl aes-256-gcm",
        "openssl",
        "",
        "openssl speed -seconds 2 -bytes 8192 -evp aes-256-gcm",
    ),
    installed("openssl rsa2048", "openssl", "", "openssl speed -seconds 2 rsa2048"),
    installed("openssl ecdsap256", "openssl", "", "openssl speed -seconds 2 ecdsap256"),
    installed("x264", "x264", VIDEO, "x264 --quiet -o /dev/null in.y4m"),
    installed("x265", "x265", VIDEO, "x265 --input in.y4m --log-level none -o /dev/null"),
    installed(
        "ffmpeg",
        "ffmpeg",
        VIDEO,
        "ffmpeg -v error -y -i in.y4m -vf scale=640:360 -c:v mpeg4 -f avi /dev/null",
    ),
    installed("gzip", "gzip", BYTES, "gzip -9 -c bytes"),
    installed("bzip2", "bzip2", BYTES, "bzip2 -c bytes"),
    installed("xz", "xz", BYTES, "xz -c bytes"),
    installed("zstd", "zstd", BYTES, "zstd -q -15 -c bytes"),
    installed("brotli", "brotli", BYTES, "brotli -c bytes"),
    Program {
        class: DISTRIBUTION,
        name: "sqlite3",
        tool: "sqlite3",
        sources: &["languages/work.sql"],
        build: "",
        run: "sqlite3 -init work.sql :memory: .quit",
    },
    Program {
        class: DISTRIBUTION,
        name: "jq",
        tool: "jq",
        sources: &["languages/work.jq"],
        build: "seq 1 300000 > numbers.json",
        run: "jq -s -f work.jq numbers.json",
    },
    installed("sort", "sort", NUMBERS, "sort numbers.txt"),
    installed("grep", "grep", BYTES, "grep -a -c -E (a|b)+c.*(de|f[gh])+x bytes"),
    installed("sha256sum", "sha256sum", BYTES, "sha256sum bytes bytes bytes bytes bytes bytes"),
    Program {
        class: DISTRIBUTION,
        name: "bc",
        tool: "bc",
        sources: &["languages/work.bc"],
        build: "",
        run: "bc -l -q work.bc",
    },
    installed(
        "git",
        "git",
        "rm -rf r && git init -q r && cd r && for i in 1 2 3 4 5 6 7 8 9 10; do seq $i 3 20000 > f$i; cat f$i f1 > g; git add -A; git -c user.name=a -c user.email=a@b commit -qm $i; done",
        "git -C r gc -q --aggressive --prune=now",
    ),
    Program {
        class: DISTRIBUTION,
        name: "gcc (cc1plus)",
        tool: "g++",
        sources: CPP,
        build: "",
        run: "g++ -O3 -S -o /dev/null work.cpp",
    },
    Program {
        class: DISTRIBUTION,
        name: "rustc itself",
        tool: "rustc",
        sources: RUST,
        build: "",
        run: "rustc -O -o work work.rs",
    },
];
