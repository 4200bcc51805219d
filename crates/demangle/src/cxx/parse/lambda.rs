//! Types without a name: closure types of lambdas and blocks, and unnamed classes.
//!
//! Source: Itanium C++ ABI, 5.1.8 "Closure Types (Lambdas)".

use super::Parser;
use crate::cxx::node::{Node, NodeId};

impl Parser<'_> {
    /// `<unnamed-type-name> ::= Ut [<number>] _ | Ul <lambda-sig> E [<number>] _ | Ub [<number>] _`
    pub(super) fn unnamed_type(&mut self, is_encoding: bool) -> Option<NodeId> {
        if is_encoding {
            // Template parameters refer to the innermost arguments.
            self.scratch.levels.truncate(self.reach.levels_begin);
        }
        if self.eat_two(*b"Ut") {
            let count = self.number();
            self.expect(b'_')?;
            return Some(self.add(Node::Unnamed(count)));
        }
        if self.eat_two(*b"Ul") {
            return self.closure();
        }
        if self.eat_two(*b"Ub") {
            self.number();
            self.expect(b'_')?;
            return Some(self.word(&"'block-literal'"));
        }
        None
    }

    /// `<lambda-sig> ::= <template-param-decl>* [Q <requires>] <type>+ [Q <requires>]`, and the number of the lambda.
    fn closure(&mut self) -> Option<NodeId> {
        self.enter()?;
        let level = self.levels();
        let auto_level = self.auto_level.replace(level);
        let list = self.new_list();
        self.scratch.levels.push(Some(list));
        let from = self.stacked();
        while self.is_parameter_declaration() {
            let parameter = self.parameter_declaration(Some(list))?;
            self.push(parameter);
        }
        let templates = self.list_since(from);
        if templates.length == 0 {
            // Its parameters may still be `auto`; these then form their own level.
            self.scratch.levels.pop();
        }
        let before = if self.eat(b'Q') { Some(self.constraint()?) } else { None };
        if !self.eat(b'v') {
            loop {
                let parameter = self.type_()?;
                self.push(parameter);
                if matches!(self.peek(), b'E' | b'Q') {
                    break;
                }
            }
        }
        let list = self.list_since(from);
        let requires = if self.eat(b'Q') { Some(self.constraint()?) } else { None };
        self.expect(b'E')?;
        let count = self.number();
        self.expect(b'_')?;
        self.scratch.levels.truncate(self.reach.levels_begin + level);
        self.reach.lists_used -= 1;
        self.auto_level = auto_level;
        self.leave();
        let mut rest = self.add(Node::Parameters { list, requires });
        if let Some(requires) = before {
            rest = self.add(Node::Constrained { requires, rest });
        }
        let declarator = self.add(Node::Declarator { templates, rest });
        Some(self.add(Node::Closure { count, declarator }))
    }

    /// Number of levels of template parameters in scope.
    pub(super) fn levels(&self) -> usize {
        self.scratch.levels.len() - self.reach.levels_begin
    }

    /// Returns the index of an empty list of template parameters.
    pub(super) fn new_list(&mut self) -> usize {
        let index = self.reach.lists_used;
        match self.scratch.lists.get_mut(index) {
            Some(list) => list.clear(),
            None => self.scratch.lists.push(Vec::new()),
        }
        self.reach.lists_used += 1;
        index
    }
}
