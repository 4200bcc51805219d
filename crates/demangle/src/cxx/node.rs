//! The kinds of nodes in a mangled name. A node has 16 bytes; lists and signatures are stored outside the tree.

use std::num::NonZeroU32;

use crate::cxx::operators::{Precedence, operator};

/// Index of a node in its tree, plus one. An `Option` of it has the same size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Id(NonZeroU32);

impl Id {
    /// Returns the id for an index. It fits, because a name has few nodes per byte and its length is limited.
    #[inline]
    pub(crate) fn at(index: usize) -> Self {
        Self(NonZeroU32::MIN.saturating_add(index as u32))
    }

    #[inline]
    pub(crate) fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// A slice of the mangled name, by offset.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Text {
    pub(crate) at: u32,
    pub(crate) length: u32,
}

/// A list of nodes, as a range in the tree's vector of lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct List {
    pub(crate) at: u32,
    pub(crate) length: u32,
}

/// A constant text.
pub(crate) type Word = &'static &'static str;

/// `const`, `volatile` and `restrict`, as bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Qualifiers(pub(crate) u8);

impl Qualifiers {
    pub(crate) const CONST: u8 = 1;
    pub(crate) const VOLATILE: u8 = 2;
    pub(crate) const RESTRICT: u8 = 4;
}

/// The ref-qualifier of a member function.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Reference {
    #[default]
    None,
    Left,
    Right,
}

/// Parameters, result and qualifiers of a function.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Signature {
    pub(crate) result: Option<Id>,
    pub(crate) parameters: List,
    /// The exception specification of a function type, or the attributes of a function.
    pub(crate) tail: Option<Id>,
    pub(crate) requires: Option<Id>,
    pub(crate) qualifiers: Qualifiers,
    pub(crate) reference: Reference,
}

/// The abbreviations of `std` entities, except `St`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Std {
    Allocator,
    BasicString,
    String,
    Istream,
    Ostream,
    Iostream,
}

/// The kind of template parameter that an invented name stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Invented {
    Type,
    Value,
    Template,
}

/// A node. Fields that are ids are other nodes of the same tree.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Node {
    // Names.
    Text(Text),
    Word(Word),
    Nested {
        scope: Id,
        name: Id,
    },
    /// The same for an identifier as the name, as in most parts of names: one node instead of two.
    Scoped {
        scope: Id,
        name: Text,
    },
    Friend {
        scope: Id,
        name: Id,
    },
    Local {
        encoding: Id,
        entity: Id,
    },
    /// An entity in a default argument. The number counts parameters from the last one.
    DefaultArgument {
        number: Text,
        entity: Id,
    },
    Module {
        parent: Option<Id>,
        name: Id,
        partition: bool,
    },
    InModule {
        module: Id,
        name: Id,
    },
    Tagged {
        base: Id,
        tag: Text,
    },
    Instance {
        name: Id,
        arguments: Id,
    },
    Arguments(List),
    Global(Id),
    /// An abbreviation; `true` for the form in front of a constructor.
    Std(Std, bool),
    Constructor {
        class: Id,
        is_destructor: bool,
    },
    Destructor(Id),
    Unnamed(Text),
    Closure {
        count: Text,
        declarator: Id,
    },
    /// Follows the name of a closure type: template parameters, then `Constrained`, then `Parameters`.
    Declarator {
        templates: List,
        rest: Id,
    },
    Constrained {
        requires: Id,
        rest: Id,
    },
    Parameters {
        list: List,
        requires: Option<Id>,
    },
    Bindings(List),
    ConversionOperator(Id),
    LiteralOperator(Id),
    /// An `auto` parameter: the template parameter with this number, from 0.
    Auto(u32),
    Function {
        name: Id,
        signature: u32,
    },
    Special {
        what: Word,
        of: Id,
    },
    ConstructionTable {
        of: Id,
        within: Id,
    },
    EnableIf(List),
    ExplicitObject(Id),
    // Template parameters.
    /// Elements of a template argument pack, outside an expansion.
    ArgumentPack(List),
    /// A parameter that is a pack; the enclosing expansion selects one of its elements.
    ParameterPack(List),
    Expansion(Id),
    /// A parameter that precedes its argument.
    Forward {
        target: Option<Id>,
    },
    /// An argument preceded by its parameter's declaration, which is not printed.
    DeclaredArgument(Id),
    Invented(Invented, u32),
    TypeParameter(Id),
    ConstrainedParameter {
        constraint: Id,
        name: Id,
    },
    ValueParameter {
        name: Id,
        of: Id,
    },
    TemplateParameter {
        name: Id,
        parameters: Id,
        requires: Option<Id>,
    },
    PackParameter(Id),
    // Types.
    Pointer(Id),
    Reference {
        to: Id,
        is_right: bool,
    },
    MemberPointer {
        class: Id,
        member: Id,
    },
    Array {
        of: Id,
        size: Option<Id>,
    },
    FunctionType(u32),
    Noexcept(Id),
    Throws(List),
    Qualified {
        base: Id,
        qualifiers: Qualifiers,
    },
    Vendor {
        base: Id,
        qualifier: Id,
        arguments: Option<Id>,
    },
    Protocol {
        base: Id,
        protocol: Id,
    },
    Postfixed {
        base: Id,
        postfix: Word,
    },
    Elaborated {
        what: Word,
        name: Id,
    },
    Transformed {
        transform: Id,
        base: Id,
    },
    Vector {
        of: Id,
        size: Option<Id>,
    },
    PixelVector(Id),
    BinaryFloat(Id),
    BitInt {
        size: Id,
        is_signed: bool,
    },
    // Expressions.
    Binary {
        operator: u8,
        left: Id,
        right: Id,
    },
    Prefix {
        operator: u8,
        of: Id,
    },
    Postfix {
        operator: u8,
        of: Id,
    },
    Subscript {
        of: Id,
        index: Id,
    },
    Member {
        operator: u8,
        of: Id,
        member: Id,
    },
    Conditional {
        condition: Id,
        then: Id,
        or: Id,
    },
    Cast {
        operator: u8,
        to: Id,
        from: Id,
    },
    Of {
        operator: u8,
        of: Id,
    },
    Enclosed {
        word: Word,
        of: Id,
    },
    NoexceptOf(Id),
    SizeOfPack(Id),
    Call {
        callee: Id,
        arguments: List,
    },
    New {
        flags: u8,
        placement: Id,
        what: Id,
        values: Id,
    },
    Delete {
        flags: u8,
        what: Id,
    },
    Conversion {
        to: Id,
        from: List,
    },
    MemberPointerConversion {
        to: Id,
        from: Id,
    },
    Subobject {
        what: Id,
        of: Id,
        offset: Id,
    },
    Braces {
        what: Option<Id>,
        values: List,
    },
    Designated {
        place: Id,
        value: Id,
        is_index: bool,
    },
    DesignatedRange {
        first: Id,
        last: Id,
        value: Id,
    },
    Fold {
        operator: u8,
        is_left: bool,
        pack: Id,
        start: Option<Id>,
    },
    Throw(Id),
    FunctionParameter(Text),
    StringLiteral(Id),
    LambdaExpression(Id),
    EnumLiteral {
        what: Id,
        value: Text,
    },
    /// A number with the letter of its type.
    Integer {
        what: u8,
        value: Text,
    },
    /// The hexadecimal digits of a value, with the letter of its type.
    Float {
        what: u8,
        digits: Text,
    },
    Requires {
        parameters: Option<Id>,
        list: List,
    },
    ExpressionRequirement {
        of: Id,
        is_noexcept: bool,
        constraint: Option<Id>,
    },
    TypeRequirement(Id),
    NestedRequirement(Id),
    List(List),
}

/// Flags of `New` and `Delete`.
pub(crate) const IS_GLOBAL: u8 = 1;
pub(crate) const IS_ARRAY: u8 = 2;

impl Node {
    /// Returns the precedence of the node as an operand.
    pub(crate) fn precedence(&self) -> Precedence {
        match self {
            Self::Binary { operator: index, .. }
            | Self::Prefix { operator: index, .. }
            | Self::Postfix { operator: index, .. }
            | Self::Member { operator: index, .. }
            | Self::Cast { operator: index, .. }
            | Self::Of { operator: index, .. } => operator(*index).precedence,
            Self::Subscript { .. } | Self::Call { .. } => Precedence::Postfix,
            Self::Conditional { .. } => Precedence::Conditional,
            Self::New { .. }
            | Self::Delete { .. }
            | Self::NoexceptOf(_)
            | Self::MemberPointerConversion { .. } => Precedence::Unary,
            Self::Conversion { .. } => Precedence::Cast,
            _ => Precedence::Primary,
        }
    }
}

/// Property of a declaration, possibly unknown before packs are expanded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Has {
    No,
    Yes,
    /// Depends on the element of a pack, or on an argument that comes later.
    Unknown,
}

/// The shape of a node: whether it has a part to the right of the declared name, and whether it is an array or a
/// function. The declarator of a pointer to these is written inside them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Shape {
    pub(crate) right: Has,
    pub(crate) array: Has,
    pub(crate) function: Has,
}

impl Shape {
    pub(crate) const PLAIN: Self = Self { right: Has::No, array: Has::No, function: Has::No };
    pub(crate) const RIGHT: Self = Self { right: Has::Yes, ..Self::PLAIN };
    pub(crate) const ARRAY: Self = Self { right: Has::Yes, array: Has::Yes, function: Has::No };
    pub(crate) const FUNCTION: Self = Self { right: Has::Yes, array: Has::No, function: Has::Yes };
    pub(crate) const UNKNOWN: Self =
        Self { right: Has::Unknown, array: Has::Unknown, function: Has::Unknown };

    /// Returns the shape of a pointer to a node of this shape.
    pub(crate) fn of_pointer(self) -> Self {
        Self { right: self.right, ..Self::PLAIN }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_small() {
        assert_eq!(size_of::<Node>(), 16);
    }
}
