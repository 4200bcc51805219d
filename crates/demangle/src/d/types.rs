//! Types, and the parameters of functions.

use super::parser::Parser;

impl Parser<'_> {
    /// Parses a type.
    pub(super) fn type_name(&mut self, out: &mut String) -> Option<()> {
        let kind = self.peek()?;
        if kind == b'Q' {
            return self.referred(|it| it.type_name(out));
        }
        if let Some(around) = self.modifier() {
            self.put(out, around)?;
            self.put(out, "(")?;
            self.nested(|it| it.type_name(out))?;
            return self.put(out, ")");
        }
        self.next()?;
        match kind {
            b'A' => {
                self.nested(|it| it.type_name(out))?;
                self.put(out, "[]")
            }
            b'G' => {
                let len = self.digits()?;
                self.nested(|it| it.type_name(out))?;
                for part in ["[", len, "]"] {
                    self.put(out, part)?;
                }
                Some(())
            }
            b'H' => {
                let mut key = String::new();
                self.nested(|it| it.type_name(&mut key))?;
                self.nested(|it| it.type_name(out))?;
                for part in ["[", &key, "]"] {
                    self.put(out, part)?;
                }
                Some(())
            }
            b'P' if self.is_convention() => {
                self.nested(|it| it.function(out))?;
                self.put(out, " function")
            }
            b'P' => {
                self.nested(|it| it.type_name(out))?;
                self.put(out, "*")
            }
            b'F' | b'U' | b'W' | b'V' | b'R' | b'Y' => {
                self.seek(self.at() - 1);
                self.nested(|it| it.function(out))
            }
            b'D' => self.delegate(out),
            // Identifiers, classes, structures, enumerations, names of types.
            b'I' | b'C' | b'S' | b'E' | b'T' => {
                self.nested(|it| it.qualified(out, false)).map(drop)
            }
            b'B' => self.tuple(out),
            b'N' | b'z' => self.other_type(out, kind),
            basic => self.put(out, basic_type(basic)?),
        }
    }

    /// Parses a type of two letters, after the first.
    fn other_type(&mut self, out: &mut String, first: u8) -> Option<()> {
        match [first, self.next()?] {
            [b'N', b'h'] => {
                self.put(out, "__vector(")?;
                self.nested(|it| it.type_name(out))?;
                self.put(out, ")")
            }
            [b'N', b'n'] => self.put(out, "typeof(*null)"),
            [b'z', b'i'] => self.put(out, "cent"),
            [b'z', b'k'] => self.put(out, "ucent"),
            _ => None,
        }
    }

    /// Parses a type modifier, if one is next.
    fn modifier(&mut self) -> Option<&'static str> {
        [(&b"O"[..], "shared"), (b"x", "const"), (b"y", "immutable"), (b"Ng", "inout")]
            .into_iter()
            .find_map(|(code, word)| self.eat(code).then_some(word))
    }

    /// Writes the modifiers of a method's object, each after a space.
    pub(super) fn modifiers(&mut self, out: &mut String) -> Option<()> {
        while let Some(word) = self.modifier() {
            self.put(out, " ")?;
            self.put(out, word)?;
        }
        Some(())
    }

    pub(super) fn is_convention(&self) -> bool {
        matches!(self.peek(), Some(b'F' | b'U' | b'W' | b'V' | b'R' | b'Y'))
    }

    /// Writes the calling convention of a function.
    pub(super) fn convention(&mut self, out: &mut String) -> Option<()> {
        let text = match self.next()? {
            b'F' => "",
            b'U' => "extern(C) ",
            b'W' => "extern(Windows) ",
            b'V' => "extern(Pascal) ",
            b'R' => "extern(C++) ",
            b'Y' => "extern(Objective-C) ",
            _ => return None,
        };
        self.put(out, text)
    }

    /// Writes the attributes of a function, each after a space.
    pub(super) fn attributes(&mut self, out: &mut String) -> Option<()> {
        while let [b'N', code, ..] = *self.rest() {
            let word = match code {
                b'a' => " pure",
                b'b' => " nothrow",
                b'c' => " ref",
                b'd' => " @property",
                b'e' => " @trusted",
                b'f' => " @safe",
                b'i' => " @nogc",
                b'j' => " return",
                b'l' => " scope",
                b'm' => " @live",
                // `inout`, vectors and `return` of the first parameter.
                _ => break,
            };
            self.take(2)?;
            self.put(out, word)?;
        }
        Some(())
    }

    /// Parses a function type: `extern(C) int(char) pure`.
    fn function(&mut self, out: &mut String) -> Option<()> {
        let (mut attributes, mut parameters) = (String::new(), String::new());
        self.convention(out)?;
        self.attributes(&mut attributes)?;
        self.parameters(&mut parameters)?;
        self.nested(|it| it.type_name(out))?;
        for part in ["(", &parameters, ")", &attributes] {
            self.put(out, part)?;
        }
        Some(())
    }

    /// Parses a delegate, a function with its context, after the `D`.
    fn delegate(&mut self, out: &mut String) -> Option<()> {
        let mut modifiers = String::new();
        self.modifiers(&mut modifiers)?;
        if self.peek()? == b'Q' {
            self.referred(|it| it.function(out))?;
        } else {
            self.nested(|it| it.function(out))?;
        }
        self.put(out, " delegate")?;
        self.put(out, &modifiers)
    }

    /// Parses the parameters of a function, up to the end of the list.
    pub(super) fn parameters(&mut self, out: &mut String) -> Option<()> {
        let mut is_first = true;
        loop {
            match self.peek()? {
                // `T t...` and `T t, ...`.
                b'X' => {
                    self.put(out, "...")?;
                    break;
                }
                b'Y' => {
                    self.put(out, if is_first { "..." } else { ", ..." })?;
                    break;
                }
                b'Z' => break,
                _ => {}
            }
            if !std::mem::take(&mut is_first) {
                self.put(out, ", ")?;
            }
            self.storage(out)?;
            self.nested(|it| it.type_name(out))?;
        }
        self.next().map(|_| ())
    }

    /// Writes the storage classes of a parameter.
    fn storage(&mut self, out: &mut String) -> Option<()> {
        let words = [
            (&b"M"[..], "scope "),
            (b"Nk", "return "),
            (b"I", "in "),
            (b"J", "out "),
            (b"K", "ref "),
            (b"L", "lazy "),
        ];
        while let Some((_, word)) = words.iter().find(|(code, _)| self.eat(code)) {
            self.put(out, word)?;
        }
        Some(())
    }

    /// Parses a list of types, after the `B`.
    fn tuple(&mut self, out: &mut String) -> Option<()> {
        let count = self.number()?;
        self.put(out, "Tuple!(")?;
        for index in 0..count {
            if index > 0 {
                self.put(out, ", ")?;
            }
            self.nested(|it| it.type_name(out))?;
        }
        self.put(out, ")")
    }
}

const fn basic_type(code: u8) -> Option<&'static str> {
    Some(match code {
        b'v' => "void",
        b'g' => "byte",
        b'h' => "ubyte",
        b's' => "short",
        b't' => "ushort",
        b'i' => "int",
        b'k' => "uint",
        b'l' => "long",
        b'm' => "ulong",
        b'f' => "float",
        b'd' => "double",
        b'e' => "real",
        b'o' => "ifloat",
        b'p' => "idouble",
        b'j' => "ireal",
        b'q' => "cfloat",
        b'r' => "cdouble",
        b'c' => "creal",
        b'b' => "bool",
        b'a' => "char",
        b'u' => "wchar",
        b'w' => "dchar",
        b'n' => "typeof(null)",
        _ => return None,
    })
}
