//! Symbols without the names of source files in them. Compilers put these into the names of functions that run before
//! and after the program, of anonymous namespaces, of closures, and of packages outside of a module.

use super::Pseudonyms;

/// Suffixes of function copies, apart from numbers.
const COPIES: &[&[u8]] =
    &[b"cold", b"part", b"constprop", b"isra", b"lto_priv", b"llvm", b"warm", b"startup", b"exit"];
/// Start of the name that EDG's compilers (nvcc) give to the anonymous namespace of a file.
const NAMESPACE: &[u8] = b"_GLOBAL__N__";
/// The anonymous namespace of GCC and clang.
const PLAIN_NAMESPACE: &[u8] = b"12_GLOBAL__N_1";
/// Start of the number that clang derives from the path of a file (`-funique-internal-linkage-names`).
const UNIQUE: &[u8] = b".__uniq.";
/// Start of the location of a closure in Rust's names, mangled and readable.
const CLOSURES: [&[u8]; 2] = [b"closure$u40$", b"closure@"];
/// Rust's escape of a slash.
const SLASH: &[u8] = b"$u2f$";
/// Start of a Go package that has a directory instead of an import path.
const LOCAL_PACKAGE: &[u8] = b"_/";

/// Replaces names of source files in a symbol, mangled or readable, by pseudonyms. Names of functions, modules and
/// packages stay.
pub(super) fn without_files(name: &[u8], names: &Pseudonyms) -> Vec<u8> {
    if let Some((prefix, keyed)) = keyed(name) {
        let (base, copy) = keyed.split_at(copy_start(keyed));
        let base = if is_function(base) { base.to_vec() } else { names.source_path(base) };
        return [prefix, &base, &without_unique(copy, names)].concat();
    }
    let name = without_unique(&without_namespaces(name), names);
    without_packages(&without_closures(name, names), names)
}

/// Splits the name of a function that runs before or after the program: the part after the prefix is the first function
/// of the file, its priority, or the file.
///
/// Source: GCC's `get_file_function_name`, clang's `CodeGenModule::EmitCXXGlobalInitFunc`.
fn keyed(name: &[u8]) -> Option<(&[u8], &[u8])> {
    let is_separator = |byte: &u8| b"_.$".contains(byte);
    let split = |prefix: usize| name.split_at_checked(prefix);
    if name.starts_with(b"__sti__") && !name.starts_with(b"__sti____cuda") {
        return split(b"__sti__".len());
    }
    let mut at = b"_GLOBAL_".len();
    name.strip_prefix(b"_GLOBAL_")?.first().filter(|byte| is_separator(byte))?;
    at += 1;
    if name.get(at..)?.starts_with(b"sub_") {
        at += b"sub_".len();
    }
    name.get(at).filter(|byte| b"ID".contains(byte))?;
    let separator = name.get(at + 1).filter(|byte| is_separator(byte))?;
    at += 2;
    // GCC writes a priority after a dot: `_GLOBAL__sub_I.00101_f`.
    let priority = name.get(at..at + 6).filter(|_| *separator == b'.');
    if let Some([digits @ .., b'_']) = priority
        && digits.iter().all(u8::is_ascii_digit)
    {
        at += 6;
    }
    split(at)
}

/// Returns true for mangled names, and for those that do not depend on the program.
fn is_function(name: &[u8]) -> bool {
    let is_mangled = name.starts_with(b"_Z") && !name.contains(&b'.');
    is_mangled || name == b"main" || name.iter().all(u8::is_ascii_digit)
}

/// Returns the start of the suffixes of a function copy: `.part.0.cold`, ` [clone .cold]`.
fn copy_start(name: &[u8]) -> usize {
    let mut end = name.iter().position(|&byte| byte == b' ').unwrap_or(name.len());
    if let Some(unique) = find(name, UNIQUE) {
        end = end.min(unique);
    }
    while let Some(dot) = name.iter().take(end).rposition(|&byte| byte == b'.') {
        let word = name.get(dot + 1..end).unwrap_or_default();
        let is_number = !word.is_empty() && word.iter().all(u8::is_ascii_digit);
        if dot == 0 || !(is_number || COPIES.contains(&word)) {
            break;
        }
        end = dot;
    }
    end
}

/// Replaces the hashes of paths, which could be tried, by other numbers.
fn without_unique(name: &[u8], names: &Pseudonyms) -> Vec<u8> {
    let Some(at) = find(name, UNIQUE) else { return name.to_vec() };
    let (before, rest) = name.split_at(at + UNIQUE.len());
    let digits = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
    let (number, after) = rest.split_at(digits);
    let other = names.word(number).into_iter().skip(1);
    let other = other.map(|digit| char::from(digit).to_digit(16).unwrap_or_default().to_string());
    [before, other.collect::<String>().as_bytes(), after].concat()
}

/// Replaces the anonymous namespaces of files, with the lengths before their names.
///
/// Source: Itanium C++ ABI, `<source-name>`.
fn without_namespaces(name: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = find(rest, NAMESPACE) {
        let (before, after) = rest.split_at(at);
        let end = before.iter().rposition(|byte| !byte.is_ascii_digit()).map_or(0, |at| at + 1);
        // An identifier before it can end with a digit.
        let length = (end..at).find_map(|start| {
            let digits = before.get(start..).filter(|digits| !digits.starts_with(b"0"))?;
            let length: usize = std::str::from_utf8(digits).ok()?.parse().ok()?;
            after.get(length).is_some_and(u8::is_ascii_alphanumeric).then_some((start, length))
        });
        let (start, length) = length.unwrap_or((at, after.len()));
        out.extend_from_slice(before.get(..start).unwrap_or_default());
        out.extend_from_slice(PLAIN_NAMESPACE);
        rest = after.get(length..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    out
}

/// Replaces the files of closures. In a mangled name, the length of the identifier changes with them.
fn without_closures(mut name: Vec<u8>, names: &Pseudonyms) -> Vec<u8> {
    for marker in CLOSURES {
        let mut from = 0;
        while let Some(at) = name.get(from..).and_then(|rest| find(rest, marker)) {
            let start = from + at + marker.len();
            let rest = name.get(start..).unwrap_or_default();
            let ends = [&b"$u3a$"[..], b":", b"$u5d$", b"]", b"}"];
            let length = ends.iter().filter_map(|end| find(rest, end)).min();
            let length = length.unwrap_or(rest.len());
            let path = rest.get(..length).unwrap_or_default();
            let pseudonym = if marker.ends_with(b"$") {
                replaced(&names.source_path(&replaced(path, SLASH, b"/")), b"/", SLASH)
            } else {
                names.source_path(path)
            };
            let component = component(&name, start);
            name.splice(start..start + length, pseudonym.iter().copied());
            if let Some((digits, identifier)) = component {
                let size = identifier + pseudonym.len() - length;
                name.splice(digits, size.to_string().into_bytes());
            }
            from = (start + pseudonym.len()).min(name.len());
        }
    }
    name
}

/// Returns the digits of the identifier at `at` in a name of Rust's older form, and its length.
fn component(name: &[u8], at: usize) -> Option<(std::ops::Range<usize>, usize)> {
    let mut next = name.starts_with(b"_ZN").then_some(b"_ZN".len())?;
    loop {
        let rest = name.get(next..)?;
        let digits = rest.iter().position(|byte| !byte.is_ascii_digit())?;
        let length: usize = std::str::from_utf8(rest.get(..digits)?).ok()?.parse().ok()?;
        let start = next + digits;
        let end = start.checked_add(length).filter(|&end| end <= name.len())?;
        if at < end {
            return Some((next..start, length));
        }
        next = end;
    }
}

/// Replaces the directories of Go's local packages: `_/srv/user/app.F`.
fn without_packages(name: &[u8], names: &Pseudonyms) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len());
    let mut rest = name;
    let mut last = None;
    while let Some(at) = find(rest, LOCAL_PACKAGE) {
        let (before, path) = rest.split_at(at + 1);
        let previous = at.checked_sub(1).and_then(|at| before.get(at)).copied().or(last);
        out.extend_from_slice(before);
        let is_start = !previous.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let end = path.iter().position(|byte| b" ()[]{}*,;\"".contains(byte));
        let word = path.get(..end.unwrap_or(path.len())).unwrap_or_default();
        let file = word.iter().rposition(|&byte| byte == b'/').unwrap_or_default();
        let dot = word.iter().skip(file).position(|&byte| byte == b'.');
        let length = if is_start { dot.map_or(word.len(), |dot| file + dot) } else { 1 };
        let (path, after) = path.split_at(length);
        out.extend(if is_start { names.source_path(path) } else { path.to_vec() });
        (rest, last) = (after, Some(b'/'));
    }
    out.extend_from_slice(rest);
    out
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

fn replaced(text: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = find(rest, from) {
        let (before, after) = rest.split_at(at);
        out.extend_from_slice(before);
        out.extend_from_slice(to);
        rest = after.get(from.len()..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).expect("text")
    }

    /// Symbols of g++ 12 and clang++ 14 for files with and without global functions.
    #[test]
    fn names_of_functions_stay() {
        let names = Pseudonyms::new([1; 32]);
        for same in [
            "_GLOBAL__sub_I__Z6sharedB5cxx11",
            "_GLOBAL__sub_I.00101__Z6sharedB5cxx11",
            "_GLOBAL__sub_D__Z6sharedv.part.0.cold",
            "_GLOBAL__sub_I__Z6sharedv [clone .cold]",
            "_GLOBAL__I_000101",
            "_GLOBAL__sub_I_main",
            "global constructors keyed to foo(int)",
            "_sub_I_65535_0.0",
            "_sub_D_00099_0",
            "__cxx_global_var_init",
            "__cxx_global_var_init.1",
            "__cxx_global_array_dtor.4",
            "_Z41__static_initialization_and_destruction_0ii",
            "__sti____cudaRegisterAll",
            "asan.module_ctor",
            "_ZN12_GLOBAL__N_14callINS_3$_0EEEiT_",
            "_ZN12_GLOBAL__N_14callINS_1lMUliE_EEEiT_",
            "_ZN4core3ops8function6FnOnce9call_once17h0123456789abcdefE",
            "_RNCNvCs1234_7mycrate4main0B3_",
            "<alloc::vec::Vec<T> as core::ops::Deref>::deref::{{closure}}",
            "main.main.func1",
            "github.com/a/b.(*T).F",
            "type:.eq.struct_/x",
            "foo.llvm.123",
            "",
        ] {
            assert_eq!(text(without_files(same.as_bytes(), &names)), same);
        }
    }

    #[test]
    fn names_of_files_are_replaced() {
        let names = Pseudonyms::new([1; 32]);
        let file = |path: &str| text(names.source_path(path.as_bytes()));
        let acme = file("acme_payroll.cpp");
        assert!(acme.ends_with(".cpp") && acme.len() == 11);
        for (name, expected) in [
            ("_GLOBAL__sub_I_acme_payroll.cpp", format!("_GLOBAL__sub_I_{acme}")),
            ("_GLOBAL__sub_D_acme_payroll.cpp.cold", format!("_GLOBAL__sub_D_{acme}.cold")),
            (
                "_GLOBAL__sub_I_acme_payroll.cpp [clone .cold]",
                format!("_GLOBAL__sub_I_{acme} [clone .cold]"),
            ),
            ("_GLOBAL__I_acme_payroll.cpp", format!("_GLOBAL__I_{acme}")),
            ("_GLOBAL__D_acme_payroll.cpp", format!("_GLOBAL__D_{acme}")),
            ("_GLOBAL_.I.acme_payroll.cpp", format!("_GLOBAL_.I.{acme}")),
            ("_GLOBAL__sub_I_acme_payroll", format!("_GLOBAL__sub_I_{}", file("acme_payroll"))),
            (
                "_GLOBAL__sub_I_acme.payroll.tcc",
                format!("_GLOBAL__sub_I_{}", file("acme.payroll.tcc")),
            ),
            (
                "_GLOBAL__sub_I_acme.c_9D3A1E5B_0x1f2e3d4c",
                format!("_GLOBAL__sub_I_{}", file("acme.c_9D3A1E5B_0x1f2e3d4c")),
            ),
            ("_GLOBAL__sub_I_65535_0_acme.c", format!("_GLOBAL__sub_I_{}", file("65535_0_acme.c"))),
            ("_GLOBAL__sub_I__Zeta.cpp", format!("_GLOBAL__sub_I_{}", file("_Zeta.cpp"))),
            ("__sti___7_acme_cu_1a2b", format!("__sti__{}", file("_7_acme_cu_1a2b"))),
            (
                "_ZN3at246_GLOBAL__N__1a2b3c4d_12_acme_file_cu_9f8e_44663runE",
                "_ZN3at212_GLOBAL__N_13runE".to_owned(),
            ),
            (
                "_/srv/alice/acme/app.(*T[_/srv/alice/x.U]).F",
                format!("_{}.(*T[_{}.U]).F", file("/srv/alice/acme/app"), file("/srv/alice/x")),
            ),
            (
                "<{closure@src/acme.rs:3:5: 3:9} as X>::f",
                format!("<{{closure@{}:3:5: 3:9}} as X>::f", file("src/acme.rs")),
            ),
        ] {
            assert_eq!(text(without_files(name.as_bytes(), &names)), expected, "{name}");
        }
    }

    /// The length before a mangled identifier is that of its new text.
    #[test]
    fn mangled_closures_stay_readable() {
        let names = Pseudonyms::new([1; 32]);
        let identifier = |file: &str| {
            let text = format!("_$LT$$u5b$closure$u40${file}$u3a$3$u3a$5$u5d$$u20$as$u20$X$GT$");
            format!("_ZN{}{text}4call17h0123456789abcdefE", text.len())
        };
        let path = text(names.source_path(b"src/acme.rs")).replace('/', "$u2f$");
        let found = without_files(identifier("src$u2f$acme.rs").as_bytes(), &names);
        assert_eq!(text(found), identifier(&path));
    }

    #[test]
    fn hashes_of_paths_are_replaced() {
        let names = Pseudonyms::new([1; 32]);
        let name = "_ZN12_GLOBAL__N_11QC2Ev.__uniq.68204151316297717915082049984192126878";
        for after in ["", ".cold", "] "] {
            let found = text(without_files(format!("{name}{after}").as_bytes(), &names));
            let number = found.strip_prefix("_ZN12_GLOBAL__N_11QC2Ev.__uniq.").expect("a name");
            let number = number.strip_suffix(after).expect("the suffix");
            assert!(number.len() >= 6 && number.bytes().all(|it| it.is_ascii_digit()), "{found}");
            assert!(!name.contains(number), "{found}");
        }
    }
}
