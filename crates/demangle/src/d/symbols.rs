//! Qualified names: identifiers, templates with their arguments, and enclosing functions.

use super::parser::Parser;

/// Compiler-generated members, with the text before the name of their scope. The last letter is not part of the name,
/// but marks a missing type.
const MADE: [(&str, &str); 5] = [
    ("6__initZ", "initializer for "),
    ("6__vtblZ", "vtable for "),
    ("7__ClassZ", "ClassInfo for "),
    ("11__InterfaceZ", "Interface for "),
    ("12__ModuleInfoZ", "ModuleInfo for "),
];

impl Parser<'_> {
    /// Parses a symbol: its qualified name, and its type, which is not written.
    pub(super) fn symbol(&mut self, out: &mut String) -> Option<()> {
        let is_typed = self.qualified(out, true)?;
        if !is_typed && !self.eat(b"Z") {
            self.nested(|it| it.type_name(&mut String::new()))?;
        }
        Some(())
    }

    /// Parses a qualified name; returns true if its type was parsed with it. With `with_type` the symbol's type
    /// follows, and its modifiers are written.
    pub(super) fn qualified(&mut self, out: &mut String, with_type: bool) -> Option<bool> {
        let begin = out.len();
        let mut parts = 0;
        loop {
            // Symbols without a name have no part.
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

    /// Returns true if the next name is `__S` and digits, which only distinguishes static variables of equal functions.
    fn is_fake_parent(&self) -> bool {
        let mut ahead = Parser::new(self.rest(), true);
        let name = ahead.number().and_then(|len| ahead.take(len));
        let digits = name.and_then(|name| name.strip_prefix("__S"));
        digits.is_some_and(|it| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit()))
    }

    /// Returns true if another part of a qualified name follows.
    fn begins_name(&self) -> bool {
        match self.rest() {
            [b'0'..=b'9', ..] | [b'_', b'_', b'T' | b'U', ..] => true,
            [b'Q', ..] => self.refers_to_name(),
            _ => false,
        }
    }

    /// Returns true if the next part is a back reference to an identifier, not to a type.
    fn refers_to_name(&self) -> bool {
        let mut ahead = Parser::new(self.all(), true);
        ahead.seek(self.at());
        let is_digit = |it: &mut Self| it.peek().filter(u8::is_ascii_digit);
        ahead.referred(|it| is_digit(it)).is_some()
    }

    /// Parses a function type without its result, and writes its parameters.
    /// It counts as a function only if a symbol or the result type can follow; otherwise the position is restored.
    /// Returns true if the whole type was parsed, as for a back reference to it.
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

    /// Parses calling convention, attributes and parameters of a function type.
    fn taken(&mut self, parameters: &mut String) -> Option<()> {
        self.convention(&mut String::new())?;
        self.attributes(&mut String::new())?;
        self.parameters(parameters)
    }

    /// Parses an identifier, a template, or a back reference to one.
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
            // Its parameters are part of its name.
            "__postblit" if self.eat(b"MFZ") => "this(this)",
            name => name,
        };
        self.put(out, name)
    }

    /// Parses a template with its arguments.
    fn template(&mut self, out: &mut String) -> Option<()> {
        self.take(3)?;
        self.nested(|it| it.identifier(out))?;
        let mut arguments = String::new();
        let mut is_first = true;
        while !self.eat(b"Z") {
            if !std::mem::take(&mut is_first) {
                self.put(&mut arguments, ", ")?;
            }
            // Marks an argument that matched a specialisation.
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

    /// Parses a template argument: a type, a value, a symbol, or a name in another mangling.
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

    /// Parses a symbol as an argument: a mangled or a qualified name. Older compilers put its length first, and these
    /// digits are not separated from those of the name.
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

/// Returns true if a text can be an identifier: letters of any alphabet, digits and underscores.
fn is_identifier(name: &str) -> bool {
    let first = name.chars().next();
    first.is_some_and(|first| !first.is_ascii_digit())
        && name.chars().all(|char| char == '_' || char.is_alphanumeric())
}
