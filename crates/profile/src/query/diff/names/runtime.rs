//! Function names of run-time compilers, without tiers and counters, with positions separated from names.
//!
//! Sources: `src/logging/log.cc` of V8 (`JS:*name file:line:column`); `js/src/jit/PerfSpewer.cpp` of `SpiderMonkey`;
//! `Objects/perf_trampoline.c` of `CPython`; hidden classes of `HotSpot` (`Lambda$14/0x…`);
//! perf maps of .NET (`[Tier0]`); `lj_trace.c` of `LuaJIT`, `zend_jit_trace.c` of PHP.

use super::positions::{Position, PositionedName};

/// Parses the function name of a run-time compiler; returns `None` for other names.
pub(super) fn positioned(name: &[u8]) -> Option<PositionedName> {
    if name.contains(&0) {
        return None;
    }
    v8(name)
        .or_else(|| spider_monkey(name))
        .or_else(|| python(name))
        .or_else(|| ruby(name))
        .or_else(|| traces(name))
        .or_else(|| web_assembly(name))
        .or_else(|| net(name))
        .or_else(|| java(name))
}

/// Parses `JS:*name file:///x.js:12:5`. The tier is `~`, `^`, `+` or `*`, with a `'` in newer versions. Older versions
/// start with `LazyCompile:` or `Function:`.
fn v8(name: &[u8]) -> Option<PositionedName> {
    let prefixes: [(&[u8], &[u8]); 6] = [
        (b"JS:", b"JS:"),
        (b"LazyCompile:", b"JS:"),
        (b"Function:", b"JS:"),
        (b"Script:", b"Script:"),
        (b"Eval:", b"Eval:"),
        (b"RegExp:", b"RegExp:"),
    ];
    let (rest, word) =
        prefixes.iter().find_map(|(prefix, word)| Some((name.strip_prefix(*prefix)?, *word)))?;
    let (rest, has_tier) = match rest {
        [b'~' | b'^' | b'+' | b'*', b'\'', rest @ ..] | [b'~' | b'^' | b'+' | b'*', rest @ ..] => {
            (rest, true)
        }
        _ => (rest, false),
    };
    if let Some(name) = web_assembly(rest) {
        return Some(PositionedName { skeleton: [word, &name.skeleton].concat(), ..name });
    }
    let Some((front, line, column)) = position(rest) else {
        return has_tier.then(|| PositionedName::plain([word, rest].concat()));
    };
    let (function, file) = split_file(front);
    Some(PositionedName::default().text(word).text(function).text(b" ").file(file).at(line, column))
}

/// Splits `name /path/x.js` into name and file. Both can contain spaces, as in `get x`.
fn split_file(text: &[u8]) -> (&[u8], &[u8]) {
    const STARTS: [&[u8]; 5] = [b" /", b" file:", b" node:", b" http:", b" https:"];
    let starts = STARTS
        .iter()
        .filter_map(|start| text.windows(start.len()).position(|window| window == *start));
    let at = starts.min().or_else(|| text.iter().rposition(|&byte| byte == b' '));
    let Some(at) = at else { return (text, b"") };
    (text.get(..at).unwrap_or_default(), text.get(at + 1..).unwrap_or_default())
}

/// Parses `Ion: name (file:12:5)`, `Baseline: …`, `BaselineInterpreter: …`.
fn spider_monkey(name: &[u8]) -> Option<PositionedName> {
    const TIERS: [&[u8]; 4] = [b"Ion: ", b"Baseline: ", b"BaselineInterpreter: ", b"Interpreter: "];
    let rest = TIERS.iter().find_map(|tier| name.strip_prefix(*tier))?;
    let inside = rest.strip_suffix(b")")?;
    let open = inside.windows(2).rposition(|window| window == b" (")?;
    let (front, line, column) = position(inside.get(open + 2..)?)?;
    let function = rest.get(..open)?;
    Some(PositionedName::default().text(function).text(b" ").file(front).at(line, column))
}

/// Parses `py::function:/path/x.py`.
fn python(name: &[u8]) -> Option<PositionedName> {
    let rest = name.strip_prefix(b"py::")?;
    let at = rest.iter().position(|&byte| byte == b':')?;
    let (function, file) = (rest.get(..at)?, rest.get(at + 1..)?);
    Some(PositionedName::default().text(b"py::").text(function).text(b":").file(file))
}

/// Parses `[JIT] function@/path/x.rb:12`.
fn ruby(name: &[u8]) -> Option<PositionedName> {
    let rest = name.strip_prefix(b"[JIT] ")?;
    let at = rest.iter().rposition(|&byte| byte == b'@')?;
    let (file, line) = number_after(rest.get(at + 1..)?, b':')?;
    let function = rest.get(..at)?;
    Some(PositionedName::default().text(function).text(b"@").file(file).at(line, 0))
}

/// Parses `TRACE_12::x.lua:34` and `TRACE-12$function$34`.
fn traces(name: &[u8]) -> Option<PositionedName> {
    let rest = name.strip_prefix(b"TRACE").or_else(|| name.strip_prefix(b"SIDE-TRACE"))?;
    let (separator, rest) = rest.split_first()?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let rest = rest.get(digits..).filter(|_| digits > 0)?;
    match separator {
        b'_' => {
            let (file, line) = number_after(rest.strip_prefix(b"::")?, b':')?;
            Some(PositionedName::default().text(b"TRACE::").file(file).at(line, 0))
        }
        b'-' => {
            let (function, line) = number_after(rest.strip_prefix(b"$")?, b'$')?;
            Some(PositionedName::default().text(b"TRACE$").text(function).at(line, 0))
        }
        _ => None,
    }
}

/// Parses `name-12-turbofan` and `name-12-liftoff`. The number of a named function is removed.
fn web_assembly(name: &[u8]) -> Option<PositionedName> {
    let front = name.strip_suffix(b"-turbofan").or_else(|| name.strip_suffix(b"-liftoff"))?;
    let (function, _) = number_after(front, b'-')?;
    Some(PositionedName::plain(function.to_vec()))
}

/// Parses `void [App] Program::Main()[Tier0]`.
fn net(name: &[u8]) -> Option<PositionedName> {
    const TIERS: [&[u8]; 12] = [
        b"Tier0",
        b"Tier1",
        b"OptimizedTier1",
        b"OptimizedTier1OSR",
        b"Tier1OSR",
        b"InstrumentedTier0",
        b"InstrumentedTier1",
        b"Optimized",
        b"MinOptJitted",
        b"QuickJitted",
        b"PreJIT",
        b"ReadyToRun",
    ];
    let inside = name.strip_suffix(b"]")?;
    let at = inside.iter().rposition(|&byte| byte == b'[').filter(|&at| at > 0)?;
    let tier = inside.get(at + 1..)?;
    TIERS.contains(&tier).then(|| PositionedName::plain(inside.get(..at).unwrap_or(name).to_vec()))
}

/// Parses `x.Y$$Lambda$14/0x00007f…`. The number is the order of lambdas in a run, and the address is specific to the
/// run. Forms of method handles are internal code of the virtual machine; all of a kind are merged.
fn java(name: &[u8]) -> Option<PositionedName> {
    const COUNTED: [&[u8]; 4] =
        [b"Lambda$", b"$Proxy", b"GeneratedMethodAccessor", b"GeneratedConstructorAccessor"];
    const FORMS: &[u8] = b"LambdaForm$";
    let mut out = PositionedName::default();
    let mut rest = name;
    let mut is_changed = false;
    while let Some((&first, after)) = rest.split_first() {
        let counted = COUNTED.iter().find_map(|word| {
            let digits = digits(rest.strip_prefix(*word)?);
            (digits > 0).then_some((*word, digits))
        });
        if let Some((word, length)) = counted {
            let number = rest.get(word.len()..word.len() + length).unwrap_or_default();
            let kept = word.strip_suffix(b"$").unwrap_or(word);
            out = out.text(kept).at(decimal(number), 0);
            let after = rest.get(word.len() + length..).unwrap_or_default();
            rest = without_identity(without_address(after));
            is_changed = true;
        } else if let Some(form) = rest.strip_prefix(FORMS) {
            let letters = form.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
            let (kind, further) = form.split_at(letters);
            out = out.text(FORMS).text(kind);
            rest = without_address(further.get(digits(further)..).unwrap_or_default());
            is_changed = true;
        } else {
            let shorter = without_address(rest);
            if shorter.len() == rest.len() {
                out.skeleton.push(first);
                rest = after;
            } else {
                // Hidden classes without a number: their addresses are in the order of their creation.
                let address = rest.get(3..rest.len() - shorter.len()).unwrap_or_default();
                out = out.at(hexadecimal(address), 0);
                rest = shorter;
                is_changed = true;
            }
        }
    }
    is_changed.then_some(out)
}

/// Returns the text after the address of a hidden class, `/0x…` or `+0x…` with at least 10 digits.
fn without_address(text: &[u8]) -> &[u8] {
    const FEWEST: usize = 10;
    let hex = text.strip_prefix(b"/0x").or_else(|| text.strip_prefix(b"+0x")).unwrap_or_default();
    let digits = hex.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    if digits < FEWEST { text } else { hex.get(digits..).unwrap_or_default() }
}

/// Returns the text after the number that older versions use instead of the address: `/791885625`.
fn without_identity(text: &[u8]) -> &[u8] {
    let number = text.strip_prefix(b"/").unwrap_or_default();
    if digits(number) == 0 { text } else { number.get(digits(number)..).unwrap_or_default() }
}

fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Splits `front:12:5` into the front, line and column.
fn position(text: &[u8]) -> Option<(&[u8], u64, u64)> {
    let (front, column) = number_after(text, b':')?;
    let (front, line) = number_after(front, b':')?;
    Some((front, line, column))
}

/// Splits off the number at the end, after the last `separator`.
fn number_after(text: &[u8], separator: u8) -> Option<(&[u8], u64)> {
    let at = text.iter().rposition(|&byte| byte == separator)?;
    let number = text.get(at + 1..)?;
    let is_number = !number.is_empty() && number.iter().all(u8::is_ascii_digit);
    is_number.then(|| (text.get(..at).unwrap_or_default(), decimal(number)))
}

fn decimal(text: &[u8]) -> u64 {
    let digit = |byte: &u8| u64::from(byte - b'0');
    text.iter().fold(0, |sum: u64, byte| sum.saturating_mul(10).saturating_add(digit(byte)))
}

fn hexadecimal(text: &[u8]) -> u64 {
    let text = std::str::from_utf8(text).unwrap_or_default();
    u64::from_str_radix(text, 16).unwrap_or(u64::MAX)
}

impl PositionedName {
    /// Returns a name without positions.
    pub(super) fn plain(name: Vec<u8>) -> Self {
        Self { skeleton: name, positions: Vec::new() }
    }

    /// Appends text.
    pub(super) fn text(mut self, text: &[u8]) -> Self {
        self.skeleton.extend_from_slice(text);
        self
    }

    /// Appends the last component of a file's path, and its folder as a position.
    pub(super) fn file(mut self, path: &[u8]) -> Self {
        let end = path.iter().position(|&byte| byte == b'?').unwrap_or(path.len());
        let path = path.get(..end).unwrap_or(path);
        let at = path.iter().rposition(|&byte| byte == b'/').map_or(0, |at| at + 1);
        let (folder, name) = path.split_at(at);
        self.skeleton.extend_from_slice(name);
        self.skeleton.push(0);
        self.positions.push(Position::Folder(folder.strip_suffix(b"/").unwrap_or(folder).to_vec()));
        self
    }

    /// Appends the source file with the declaration as a position, to distinguish functions of equal names in different
    /// files.
    pub(in crate::query::diff) fn declared_in(mut self, path: Option<&[u8]>) -> Self {
        let name = path.map(|path| path.rsplit(|&byte| byte == b'/').next().unwrap_or(path));
        self.skeleton.push(0);
        self.positions.push(Position::File(name.map(<[u8]>::to_vec)));
        self.skeleton.push(0);
        self.positions.push(path.zip(name).map_or(Position::File(None), |(path, name)| {
            let folder = path.get(..path.len() - name.len()).unwrap_or_default();
            Position::Folder(folder.strip_suffix(b"/").unwrap_or(folder).to_vec())
        }));
        self
    }

    /// Appends a line and column as a position.
    pub(super) fn at(mut self, line: u64, column: u64) -> Self {
        const COLUMNS: u64 = 1 << 20;
        self.skeleton.push(0);
        let line = line.min(u64::MAX / COLUMNS - 1);
        self.positions.push(Position::At(line * COLUMNS + column.min(COLUMNS - 1)));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skeleton(name: &str) -> Option<String> {
        let positioned = positioned(name.as_bytes())?;
        Some(String::from_utf8(positioned.skeleton).unwrap().replace('\0', "#"))
    }

    #[test]
    fn names_of_run_time_compilers() {
        for (name, expected) in [
            ("JS:~fib /srv/app/fib.js:12:5", "JS:fib fib.js##"),
            ("JS:^fib file:///srv/app/fib.js:12:5", "JS:fib fib.js##"),
            ("JS:*'fib /srv/app/fib.js:12:5", "JS:fib fib.js##"),
            ("LazyCompile:*get x node:internal/util:3:14", "JS:get x util##"),
            ("JS:* /srv/x y/a.js:1:1", "JS: a.js##"),
            ("JS:*wasm-function[3]-3-turbofan", "JS:wasm-function[3]"),
            ("Ion: fib (http://x/fib.js?v=3:12:5)", "fib fib.js##"),
            ("Baseline: fib (fib.js:12:5)", "fib fib.js##"),
            ("py::A.f.<locals>.<lambda>:/usr/lib/a.py", "py::A.f.<locals>.<lambda>:a.py#"),
            ("[JIT] A#f@/srv/a.rb:12", "A#f@a.rb##"),
            ("TRACE_12::main.lua:34", "TRACE::main.lua##"),
            ("TRACE-12$A::f$34", "TRACE$A::f#"),
            ("int [App] A::Main(string[])[OptimizedTier1]", "int [App] A::Main(string[])"),
            ("x.Y$$Lambda$14/0x00007f0001234567.run()", "x.Y$$Lambda#.run()"),
            ("x.Y$$Lambda$1/791885625.run()", "x.Y$$Lambda#.run()"),
            ("Lx/Y$$Lambda$14+0x00007f0001234567;::run", "Lx/Y$$Lambda#;::run"),
            ("x.Y$$Lambda/0x00007f0001234567.run()", "x.Y$$Lambda#.run()"),
            (
                "java.lang.invoke.LambdaForm$MH012/0x0000000800c4.invoke",
                "java.lang.invoke.LambdaForm$MH.invoke",
            ),
            ("com.sun.proxy.$Proxy12.f", "com.sun.proxy.$Proxy#.f"),
        ] {
            assert_eq!(skeleton(name).as_deref(), Some(expected), "{name}");
        }
        for name in
            ["main", "f(int)", "libx.so+0x45a0", "Builtin:Call", "JS:x", "a[Tier]", "TRACE", ""]
        {
            assert_eq!(skeleton(name), None, "{name}");
        }
    }
}
