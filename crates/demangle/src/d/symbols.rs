//! Qualified names: identifiers, templates with their arguments, functions that others are declared in.

use super::parser::Parser;

/// Members that compilers make, and what they are: in front of what they are of. The last letter is no part of the name,
/// but says that there is no type.
const MADE: [(&str, &str); 5] = [
    ("6__initZ", "initializer for "),
    ("6__vtblZ", "vtable for "),
    ("7__ClassZ", "ClassInfo for "),
    ("11__InterfaceZ", "Interface for "),
    ("12__ModuleInfoZ", "ModuleInfo for "),
];

impl Parser<'_> {
    /// A symbol: its qualified name, and its type, of which nothing is written.
    pub(super) fn symbol(&mut self, out: &mut String) -> Option<()> {
        let is_typed = self.qualified(out, true)?;
        if !is_typed && !self.eat(b"Z") {
            self.nested(|it| it.type_name(&mut String::new()))?;
        }
        Some(())
    }

    /// A qualified name; whether its type was read with it. `with_type`: the symbol's type comes behind it, whose
    /// modifiers are written.
    pub(super) fn qualified(&mut self, out: &mut String, with_type: bool) -> Option<bool> {
        let begin = out.len();
        let mut parts = 0;
        loop {
            // Symbols without name have no part.
            while self.eat(b"0") {}
            let made =
                MADE.iter().find(|(name, _)| parts > 0 && self.rest().starts_with(name.as_bytes()));
            if let Some((name, what)) = made {
                self.take(name.len() - 1)?;
                self.put(out, "")?;
                out.insert_str(begin, what);
                return Some(false);
            }
            if self.is_fake_parent() {
                let len = self.number()?;
                self.take(len)?;
            } else {
                if parts > 0 {
                    self.put(out, ".")?;
                }
                self.nested(|it| it.identifier(out))?;
                parts += 1;
            }
            let is_typed = self.function_of_name(out, with_type);
            if is_typed || !self.begins_name() {
                return Some(is_typed);
            }
        }
    }

    /// Whether a name comes next that only tells static variables of one function from those of another: `__S` and
    /// digits.
    fn is_fake_parent(&self) -> bool {
        let mut ahead = Parser::new(self.rest(), true);
        let name = ahead.number().and_then(|len| ahead.take(len));
        let digits = name.and_then(|name| name.strip_prefix("__S"));
        digits.is_some_and(|it| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit()))
    }

    /// Whether a further part of a qualified name comes next.
    fn begins_name(&self) -> bool {
        match self.rest() {
            [b'0'..=b'9', ..] | [b'_', b'_', b'T' | b'U', ..] => true,
            [b'Q', ..] => self.refers_to_name(),
            _ => false,
        }
    }

    /// Whether a back reference comes next that is to an identifier, not to a type.
    fn refers_to_name(&self) -> bool {
        let mut ahead = Parser::new(self.all(), true);
        ahead.seek(self.at());
        let is_digit = |it: &mut Self| it.peek().filter(u8::is_ascii_digit);
        ahead.referred(|it| is_digit(it)).is_some()
    }

    /// The type of a function without what it returns, where it comes next: what it takes is written. It is taken for one
    /// only if a symbol, or the type that it returns, can come behind it. Whether all of the type was read, as where a back
    /// reference is to it.
    fn function_of_name(&mut self, out: &mut String, with_type: bool) -> bool {
        if self.peek() != Some(b'M') && !self.is_convention() {
            return false;
        }
        let (at, len) = (self.at(), out.len());
        let read = self.nested(|it| {
            let (mut modifiers, mut parameters) = (String::new(), String::new());
            if it.eat(b"M") {
                it.modifiers(&mut modifiers)?;
            }
            let is_typed = it.peek()? == b'Q';
            if is_typed {
                it.referred(|it| it.taken(&mut parameters))?;
            } else {
                it.taken(&mut parameters)?;
                (!it.is_done()).then_some(())?;
            }
            if !it.short {
                it.put(out, "(")?;
                it.put(out, &parameters)?;
                it.put(out, ")")?;
                if with_type {
                    it.put(out, &modifiers)?;
                }
            }
            Some(is_typed)
        });
        read.unwrap_or_else(|| {
            self.seek(at);
            out.truncate(len);
            false
        })
    }

    /// What a function takes, of whose type all but what it returns comes next.
    fn taken(&mut self, parameters: &mut String) -> Option<()> {
        self.convention(&mut String::new())?;
        self.attributes(&mut String::new())?;
        self.parameters(parameters)
    }

    /// An identifier, a template, or a back reference to one.
    fn identifier(&mut self, out: &mut String) -> Option<()> {
        if self.peek()? == b'Q' {
            return self.referred(|it| it.identifier(out));
        }
        if self.rest().starts_with(b"__T") || self.rest().starts_with(b"__U") {
            return self.template(out);
        }
        let len = self.number()?;
        let start = self.at();
        let name = self.rest().get(..len)?;
        if len >= 5 && (name.starts_with(b"__T") || name.starts_with(b"__U")) {
            self.template(out)?;
            return (self.at() == start + len).then_some(());
        }
        let name = self.take(len).filter(|name| is_identifier(name))?;
        let name = match name {
            "__ctor" => "this",
            "__dtor" => "~this",
            // Its parameters are in its name.
            "__postblit" if self.eat(b"MFZ") => "this(this)",
            name => name,
        };
        self.put(out, name)
    }

    /// A template with its arguments.
    fn template(&mut self, out: &mut String) -> Option<()> {
        self.take(3)?;
        self.nested(|it| it.identifier(out))?;
        let mut arguments = String::new();
        let mut is_first = true;
        while !self.eat(b"Z") {
            if !std::mem::take(&mut is_first) {
                self.put(&mut arguments, ", ")?;
            }
            // What was matched by a specialisation.
            self.eat(b"H");
            self.nested(|it| it.argument(&mut arguments))?;
        }
        if !self.short {
            self.put(out, "!(")?;
            self.put(out, &arguments)?;
            self.put(out, ")")?;
        }
        Some(())
    }

    /// An argument of a template: a type, a value, a symbol, or a name in another mangling.
    fn argument(&mut self, out: &mut String) -> Option<()> {
        match self.next()? {
            b'T' => self.type_name(out),
            b'V' => {
                let kind = self.kind_of_value()?;
                let mut name = String::new();
                self.nested(|it| it.type_name(&mut name))?;
                self.value(out, kind, &name)
            }
            b'S' => self.symbol_argument(out),
            b'X' => {
                let len = self.number()?;
                let name = self.take(len)?;
                self.put(out, name)
            }
            _ => None,
        }
    }

    /// A symbol as an argument: a mangled or a qualified name. Older compilers put its length in front, whose digits run
    /// into those of the name.
    fn symbol_argument(&mut self, out: &mut String) -> Option<()> {
        if self.eat(b"_D") {
            return self.symbol(out);
        }
        let (start, begin) = (self.at(), out.len());
        if self.peek()? == b'Q' {
            return self.qualified(out, false).map(drop);
        }
        let digits = self.digits()?;
        let after = self.at();
        for len in (1..=digits.len()).rev() {
            let (Some(size), name) =
                (digits.get(..len).and_then(|it| it.parse().ok()), start + len)
            else {
                continue;
            };
            self.seek(name);
            let read = self.nested(|it| match it.eat(b"_D") {
                true if name == after => it.symbol(out),
                true => None,
                false => it.qualified(out, false).map(drop),
            });
            if read.is_some() && Some(self.at()) == name.checked_add(size) {
                return Some(());
            }
            out.truncate(begin);
        }
        self.seek(start);
        self.qualified(out, false).map(drop)
    }
}

/// Whether a text can be an identifier: letters of any alphabet, digits and underscores.
fn is_identifier(name: &str) -> bool {
    let first = name.chars().next();
    first.is_some_and(|first| !first.is_ascii_digit())
        && name.chars().all(|char| char == '_' || char.is_alphanumeric())
}
