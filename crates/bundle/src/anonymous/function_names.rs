//! Function names without the paths in them. Compilers include the location of a lambda
//! (`(lambda at /srv/…/a.cpp:3:5)`), and run-time compilers that of a script (`LazyCompile:~f /srv/…/a.js:1:2`,
//! `py::f:/srv/…/a.py`).

use super::Pseudonyms;

/// File extensions of scripts.
const SCRIPTS: &[&[u8]] = &[
    b".js", b".mjs", b".cjs", b".ts", b".mts", b".tsx", b".jsx", b".py", b".pyx", b".rb", b".php",
    b".lua", b".pl", b".java", b".kt", b".scala", b".cs", b".jl", b".erl", b".ex", b".wasm",
    b".node", b".vue",
];

/// Replaces absolute paths in a name by pseudonyms. A path may contain spaces, so it ends at a line number; without a
/// line number, it ends at a quote, a bracket, or the end.
pub(super) fn without_paths(name: &[u8], names: &Pseudonyms) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = path_start(rest) {
        let (before, path) = rest.split_at(at);
        let (path, after) = path.split_at(path_end(path));
        out.extend_from_slice(before);
        out.extend(names.source_path(path));
        rest = after;
    }
    out.extend_from_slice(rest);
    out
}

/// Replaces the files of scripts in a name by pseudonyms, including relative paths.
pub(super) fn without_scripts(name: &[u8], names: &Pseudonyms) -> Vec<u8> {
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || b":()[]\"'<>,*~^+".contains(byte);
    let mut out = Vec::with_capacity(name.len());
    let mut rest = name;
    while !rest.is_empty() {
        let end = rest.iter().position(is_end).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        // Absolute paths are already replaced.
        let is_relative = !word.starts_with(b"/");
        let is_script = SCRIPTS.iter().any(|it| word.len() > it.len() && word.ends_with(it));
        if is_script && is_relative {
            out.extend(names.source_path(word));
        } else {
            out.extend_from_slice(word);
        }
        let (separator, after) = after.split_at(after.len().min(1));
        out.extend_from_slice(separator);
        rest = after;
    }
    out
}

/// Returns the start of a path: a slash that is neither an operator nor part of a word.
fn path_start(text: &[u8]) -> Option<usize> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"_)]}/.$@-".contains(&byte);
    (0..text.len()).find(|&at| {
        let slash = text.get(at) == Some(&b'/');
        let before = at.checked_sub(1).and_then(|at| text.get(at));
        let next =
            text.get(at + 1).is_some_and(|&it| !it.is_ascii_whitespace() && !b"=(".contains(&it));
        // After a scheme, as in `file:///home`, the path starts at the first slash.
        slash && next && !before.is_some_and(|&it| is_part(it))
    })
}

fn path_end(path: &[u8]) -> usize {
    let mut pairs = path.windows(2);
    let line = pairs.position(|pair| matches!(pair, [b':', digit] if digit.is_ascii_digit()));
    let end = path.iter().position(|byte| b"\"'<>(),;|:]}".contains(byte));
    line.or(end).unwrap_or(path.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_replaced_and_functions_stay() {
        let names = Pseudonyms::new([1; 32]);
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
        let path = |path: &str| text(names.source_path(path.as_bytes()));
        for same in [
            "main",
            "operator/(int, int)",
            "operator/=(X&, X const&)",
            "Foo<(8/2)>::bar(char const*)",
            "std::vector<int>::push_back",
            "github.com/a/b.(*T).F",
            "Ljava/lang/String;::equals",
        ] {
            assert_eq!(text(names.script_function(same.as_bytes())), same);
        }
        for (name, expected) in [
            (
                "LazyCompile:~f /srv/A B/app.js:10:2",
                format!("LazyCompile:~f {}:10:2", path("/srv/A B/app.js")),
            ),
            ("f file:///srv/a/b.mjs:1:2", format!("f file:{}:1:2", path("///srv/a/b.mjs"))),
            ("py::f:/srv/a/b.py", format!("py::f:{}", path("/srv/a/b.py"))),
            ("py::f:b.py", format!("py::f:{}", path("b.py"))),
            (
                "g<(lambda at /srv/a/x.cpp:3:5)>(int)",
                format!("g<(lambda at {}:3:5)>(int)", path("/srv/a/x.cpp")),
            ),
        ] {
            assert_eq!(text(names.script_function(name.as_bytes())), expected, "{name}");
        }
    }
}
