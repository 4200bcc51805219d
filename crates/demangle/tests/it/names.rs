//! Tests of names that GCC 12 and Clang 19 gave to the programs in `programs/*.cpp`. They were compiled with
//! `-std=c++20`, by Clang also with `-std=c++23 -fblocks`.
//!
//! `names.txt` has each name with the output of `llvm-cxxfilt` from LLVM 19 and, if that differs, the spelling of
//! binutils.
//! `beyond_llvm.txt` has names that LLVM 19 leaves mangled, with the output of `c++filt` from binutils 2.40.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use demangle::Style;
use demangle::cxx::{DemangleOptions, Demangler, NameParts, Spelling};

const NAMES: &str = include_str!("names.txt");
const BEYOND: &str = include_str!("beyond_llvm.txt");

/// Parses a list of names: mangled, in the spelling of LLVM, in that of binutils.
fn names(list: &str) -> Vec<(&str, &str, &str)> {
    let mut names: Vec<(&str, &str, &str)> = Vec::new();
    for line in list.lines() {
        if let Some(gnu) = line.strip_prefix("  gnu ") {
            names.last_mut().unwrap().2 = gnu;
        } else if let Some(readable) = line.strip_prefix("  ") {
            let name = names.last_mut().unwrap();
            (name.1, name.2) = (readable, readable);
        } else {
            names.push((line, "", ""));
        }
    }
    names
}

fn demangled(demangler: &mut Demangler, name: &str, options: DemangleOptions) -> Option<String> {
    let readable = demangler.demangle(name.as_bytes(), options)?;
    Some(String::from_utf8(readable.to_vec()).unwrap())
}

#[test]
fn names_read_as_llvm_prints_them() {
    let mut demangler = Demangler::default();
    let gnu_options = DemangleOptions { spelling: Spelling::Gnu, ..DemangleOptions::default() };
    let all = names(NAMES);
    assert_eq!(all.len(), 326);
    for (name, llvm, gnu) in all.into_iter().chain(names(BEYOND)) {
        let is_left = llvm == name;
        let expected = |readable: &str| (!is_left).then(|| readable.to_owned());
        assert_eq!(
            demangled(&mut demangler, name, DemangleOptions::default()),
            expected(llvm),
            "{name}"
        );
        assert_eq!(demangled(&mut demangler, name, gnu_options), expected(gnu), "{name}");
    }
}

#[test]
fn short_names_have_no_arguments() {
    let options = DemangleOptions { spelling: Spelling::Gnu, parts: NameParts::Name };
    let mut demangler = Demangler::default();
    for (name, short) in [
        ("_Z1fi.cold", "f"),
        ("_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector::push_back"),
        ("_ZNKSt8functionIFviEEclEi", "std::function::operator()"),
        ("_ZN1AIiEcvT_IcEEv", "A::operator char"),
        ("_ZlsRSoRK1A", "operator<<"),
        ("_ZStlsIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_PKc", "std::operator<<"),
        ("_ZNSsC1EPKcRKSaIcE", "std::basic_string::basic_string"),
        ("_ZTV1AIiE", "vtable for A"),
        ("_ZZ1fiENKUlicE_clEic", "f::{lambda#1}::operator()"),
        ("_ZNK1A1fEv", "A::f"),
        ("_Z1fIiET_S0_", "f"),
    ] {
        assert_eq!(demangled(&mut demangler, name, options).as_deref(), Some(short), "{name}");
    }
}

/// The names are those of `c++filt -p` of binutils 2.40, whose library perf uses.
#[test]
fn names_of_perf_have_no_parameters() {
    let options = DemangleOptions { spelling: Spelling::Gnu, parts: NameParts::Qualified };
    let mut demangler = Demangler::default();
    for (name, perf) in [
        ("_Z3fooi.isra.0.cold", "foo"),
        ("_ZN3foo3barIiEEvT_", "foo::bar<int>"),
        ("_ZNKSt6vectorIiSaIiEE4sizeEv", "std::vector<int, std::allocator<int> >::size"),
        (
            "_ZZ1fiENKUlRKSt7complexIdEE0_clES2_",
            "f(int)::{lambda(std::complex<double> const&)#2}::operator()",
        ),
        ("_ZZ4workIfEvT_ENKUlfE_clEf", "work<float>(float)::{lambda(float)#1}::operator()"),
        ("_ZNSt8functionIFviEEC2EOS1_", "std::function<void (int)>::function"),
        ("_ZN1AcvbEv", "A::operator bool"),
        ("_ZlsRSoRK1A", "operator<<"),
        ("_ZN12_GLOBAL__N_16workerEi", "(anonymous namespace)::worker"),
        ("_ZThn8_N1A1fEv", "non-virtual thunk to A::f()"),
        ("_ZGVZ1fvE1x", "guard variable for f()::x"),
        ("_ZTV1AIS_IiEE", "vtable for A<A<int> >"),
    ] {
        assert_eq!(demangled(&mut demangler, name, options).as_deref(), Some(perf), "{name}");
    }
}

/// Rows of `crates/web/tests/short_names.json`, which the tests of the page read, too.
#[test]
fn short_names_are_those_of_the_table() {
    let table = include_str!("../../../web/tests/short_names.json");
    let rows: Vec<serde_json::Value> = serde_json::from_str(table).expect("the table");
    assert!(rows.len() > 20);
    for row in &rows {
        let text = |key: &str| row[key].as_str().expect("text");
        let full = text("full");
        assert_eq!(demangle::short_name(full), text("short"), "{full}");
        if let Some(mangled) = row["mangled"].as_str() {
            let of = |style| demangle::demangle(mangled.as_bytes(), style);
            assert_eq!(String::from_utf8_lossy(&of(Style::Full)), full, "{mangled}");
            assert_eq!(String::from_utf8_lossy(&of(Style::Short)), text("short"), "{mangled}");
        }
    }
}
