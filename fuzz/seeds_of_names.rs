//! Seeds of `demangle`: names of each supported language.

use super::write;

const NAMES: &[(&str, &[&str])] = &[
    (
        "ada",
        &[
            "ada__text_io__put__2",
            "_ada_main",
            "pkg__Oadd__2Xn",
            "pkg___elabb",
            "pkg__prot__incN",
            "a__tSR__2.0",
        ],
    ),
    (
        "d",
        &[
            "_D3std5ascii__T7toLowerTaZQlFNaNbNiNfxaZa",
            "_D1m__T1tVAyaa3_616263VAiA2i1i2Vde0A8P6S3foo3barX4_abcZ1fMxFDFNaKiXvPUZvNhG4fHiaZv",
            "_DTi16_D3foo1C6__ctorMFNkMB2iaZv",
            "_D3foo3bar7__ClassZ",
        ],
    ),
    ("fortran", &["__phys.impl_MOD_priv.cold", "_QMphysSimplFfibPinner"]),
    (
        "haskell",
        &["ghczmprim_GHCziTuple_Z2T_con_info", "Main_zdwzlz3bbUzg_slow", "ZCMain_main_info"],
    ),
    ("ocaml", &["camlStdlib__List__map_236", "camlFoo.$3e$3e$3d_94", "camlFoo__entry"]),
    ("rust", &["_RNvCs1234_7mycrate3foo"]),
];

pub(super) fn write_all() {
    for (name, names) in NAMES {
        write("demangle", name, names.join("\n").as_bytes());
    }
}
