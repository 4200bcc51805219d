//! Printing of names.

use super::Printer;
use crate::cxx::node::{NameSlice, Node, NodeId, Std};

impl Printer<'_> {
    pub(super) fn left_of_name(&mut self, id: NodeId, node: Node) {
        match node {
            Node::Text(text) => self.text(text),
            Node::Word(word) => self.word(word),
            Node::Nested { scope, name } => {
                self.print(scope);
                self.word("::");
                self.print(name);
            }
            Node::Scoped { scope, name } => self.scoped(scope, name),
            Node::Friend { scope, name } => self.joined(scope, "::friend ", name),
            Node::Local { encoding, entity } => {
                self.with_parameters(self.is_whole, |this| this.print(encoding));
                self.prefixed("::", entity);
            }
            Node::InModule { module, name } => self.joined(name, "@", module),
            Node::ConstructionTable { of, within } => {
                self.word("construction vtable for ");
                self.joined(of, "-in-", within);
            }
            Node::Module { parent, name, partition } => {
                parent.into_iter().for_each(|parent| self.print(parent));
                if partition {
                    self.word(":");
                } else if parent.is_some() {
                    self.word(".");
                }
                self.print(name);
            }
            Node::Tagged { base, tag } => {
                self.left(base);
                self.word("[abi:");
                self.text(tag);
                self.word("]");
            }
            Node::Instance { name, arguments } => {
                self.print(name);
                self.arguments(arguments);
            }
            Node::Arguments(_) => self.arguments(id),
            Node::Global(name) => self.prefixed("::", name),
            Node::Std(std, is_written_out) => self.std(std, is_written_out),
            Node::Constructor { class, is_destructor } => {
                if is_destructor {
                    self.word("~");
                }
                self.base_name(class);
            }
            Node::Destructor(class) => {
                self.word("~");
                self.left(class);
            }
            Node::Special { what, of } => {
                self.with_parameters(true, |this| this.prefixed(what, of))
            }
            Node::Function { name, signature } => self.left_of_function(name, signature),
            Node::ExplicitObject(of) => self.prefixed("this ", of),
            _ => self.left_of_operator_name(id, node),
        }
    }

    /// Prints template arguments, if they are requested.
    #[inline]
    pub(super) fn arguments(&mut self, id: NodeId) {
        if let Node::Arguments(list) = self.tree.node(id)
            && self.has_arguments
        {
            self.with_parameters(true, |this| this.angles(|this| this.list(list)));
        }
    }

    /// Prints a name within the name. It has its parameters, and its return type if `has_result`, unless the style has
    /// no arguments at all.
    #[inline]
    fn with_parameters(&mut self, has_result: bool, inner: impl FnOnce(&mut Self)) {
        let before = (self.has_parameters, self.has_results);
        self.has_parameters = self.has_arguments;
        self.has_results = self.has_arguments && has_result;
        inner(self);
        (self.has_parameters, self.has_results) = before;
    }

    fn left_of_operator_name(&mut self, id: NodeId, node: Node) {
        match node {
            Node::ConversionOperator(to) => self.prefixed("operator ", to),
            Node::LiteralOperator(name) => self.prefixed("operator\"\" ", name),
            Node::Bindings(list) => {
                self.open("[");
                self.list(list);
                self.close("]");
            }
            Node::DefaultArgument { number, entity } => {
                if self.is_gnu {
                    self.word("{default arg");
                    self.counted(number, "}");
                    self.word("::");
                }
                self.print(entity);
            }
            Node::Unnamed(count) if self.is_gnu => {
                self.word("{unnamed type");
                self.counted(count, "}");
            }
            Node::Unnamed(count) => {
                self.word("'unnamed");
                self.text(count);
                self.word("'");
            }
            Node::Closure { count, declarator } if self.is_gnu => {
                self.word("{lambda");
                if self.has_arguments {
                    self.print(declarator);
                }
                self.counted(count, "}");
            }
            Node::Closure { count, declarator } => {
                self.word("'lambda");
                self.text(count);
                self.word("'");
                self.print(declarator);
            }
            Node::Declarator { templates, rest } => {
                if templates.length > 0 {
                    self.angles(|this| this.list(templates));
                }
                self.print(rest);
            }
            Node::Constrained { requires, rest } => {
                self.prefixed(" requires ", requires);
                self.word(" ");
                self.print(rest);
            }
            Node::Parameters { list, requires } => {
                self.enclosed_list(list);
                requires.into_iter().for_each(|requires| self.prefixed(" requires ", requires));
            }
            Node::EnableIf(list) => {
                self.word(" [enable_if:");
                self.list(list);
                self.word("]");
            }
            _ => self.left_of_template(id, node),
        }
    }

    /// Prints the number of an unnamed entity as binutils counts: `_` is the first, `0_` the second.
    fn counted(&mut self, count: NameSlice, end: &str) {
        let at = count.at as usize;
        let digits = self.input.get(at..at + count.length as usize).unwrap_or_default();
        let digits = std::str::from_utf8(digits).unwrap_or_default();
        let number = digits.parse::<u64>().map_or(1, |number| number.saturating_add(2));
        self.word("#");
        self.word(&number.to_string());
        self.word(end);
    }

    fn joined(&mut self, left: NodeId, between: &str, right: NodeId) {
        self.print(left);
        self.word(between);
        self.print(right);
    }

    pub(super) fn prefixed(&mut self, prefix: &str, id: NodeId) {
        self.word(prefix);
        self.print(id);
    }

    fn std(&mut self, std: Std, is_written_out: bool) {
        let is_instance = !matches!(std, Std::Allocator | Std::BasicString);
        self.word("std::");
        self.word(std_name(std, is_written_out || !is_instance));
        if !is_written_out || !is_instance || !self.has_arguments {
            return;
        }
        self.angles(|this| {
            this.angles_of_char();
            if std == Std::String {
                this.word(", std::allocator<char>");
            }
        });
    }

    fn angles_of_char(&mut self) {
        self.word("char, std::char_traits<char>");
    }

    /// Prints the name of a constructor, which is that of its class without scope and arguments.
    fn base_name(&mut self, mut class: NodeId) {
        loop {
            class = match self.tree.node(class) {
                Node::Text(text) | Node::Scoped { name: text, .. } => return self.text(text),
                Node::Word(word) => return self.word(word),
                Node::Std(std, is_written_out) => {
                    let is_long =
                        is_written_out || matches!(std, Std::Allocator | Std::BasicString);
                    return self.word(std_name(std, is_long));
                }
                Node::Nested { name, .. } | Node::Friend { name, .. } => name,
                Node::InModule { name, .. } | Node::Instance { name, .. } => name,
                Node::Tagged { base, .. } | Node::Global(base) => base,
                _ => return,
            };
        }
    }
}

fn std_name(std: Std, is_long: bool) -> &'static str {
    match (std, is_long) {
        (Std::Allocator, _) => "allocator",
        (Std::BasicString, _) | (Std::String, true) => "basic_string",
        (Std::String, false) => "string",
        (Std::Istream, true) => "basic_istream",
        (Std::Istream, false) => "istream",
        (Std::Ostream, true) => "basic_ostream",
        (Std::Ostream, false) => "ostream",
        (Std::Iostream, true) => "basic_iostream",
        (Std::Iostream, false) => "iostream",
    }
}
