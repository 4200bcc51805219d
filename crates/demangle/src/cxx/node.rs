//! The kinds of nodes in a mangled name. A node has 16 bytes; lists and signatures are stored outside the tree.

use std::num::NonZeroU32;

use crate::cxx::operators::{Precedence, operator};

/// Index of a node in its tree, plus one. An `Option` of it has the same size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NodeId(NonZeroU32);

impl NodeId {
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
pub(crate) struct NameSlice {
    pub(crate) at: u32,
    pub(crate) length: u32,
}

/// A list of nodes, as a range in the tree's vector of lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct NodeList {
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
    pub(crate) result: Option<NodeId>,
    pub(crate) parameters: NodeList,
    /// The exception specification of a function type, or the attributes of a function.
    pub(crate) tail: Option<NodeId>,
    pub(crate) requires: Option<NodeId>,
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
    Text(NameSlice),
    Word(Word),
    Nested {
        scope: NodeId,
        name: NodeId,
    },
    /// The same for an identifier as the name, as in most parts of names: one node instead of two.
    Scoped {
        scope: NodeId,
        name: NameSlice,
    },
    Friend {
        scope: NodeId,
        name: NodeId,
    },
    Local {
        encoding: NodeId,
        entity: NodeId,
    },
    /// An entity in a default argument. The number counts parameters from the last one.
    DefaultArgument {
        number: NameSlice,
        entity: NodeId,
    },
    Module {
        parent: Option<NodeId>,
        name: NodeId,
        partition: bool,
    },
    InModule {
        module: NodeId,
        name: NodeId,
    },
    Tagged {
        base: NodeId,
        tag: NameSlice,
    },
    Instance {
        name: NodeId,
        arguments: NodeId,
    },
    Arguments(NodeList),
    Global(NodeId),
    /// An abbreviation; `true` for the form in front of a constructor.
    Std(Std, bool),
    Constructor {
        class: NodeId,
        is_destructor: bool,
    },
    Destructor(NodeId),
    Unnamed(NameSlice),
    Closure {
        count: NameSlice,
        declarator: NodeId,
    },
    /// Follows the name of a closure type: template parameters, then `Constrained`, then `Parameters`.
    Declarator {
        templates: NodeList,
        rest: NodeId,
    },
    Constrained {
        requires: NodeId,
        rest: NodeId,
    },
    Parameters {
        list: NodeList,
        requires: Option<NodeId>,
    },
    Bindings(NodeList),
    ConversionOperator(NodeId),
    LiteralOperator(NodeId),
    /// An `auto` parameter: the template parameter with this number, from 0.
    Auto(u32),
    Function {
        name: NodeId,
        signature: u32,
    },
    Special {
        what: Word,
        of: NodeId,
    },
    ConstructionTable {
        of: NodeId,
        within: NodeId,
    },
    EnableIf(NodeList),
    ExplicitObject(NodeId),
    // Template parameters.
    /// Elements of a template argument pack, outside an expansion.
    ArgumentPack(NodeList),
    /// A parameter that is a pack; the enclosing expansion selects one of its elements.
    ParameterPack(NodeList),
    Expansion(NodeId),
    /// A parameter that precedes its argument.
    Forward {
        target: Option<NodeId>,
    },
    /// An argument preceded by its parameter's declaration, which is not printed.
    DeclaredArgument(NodeId),
    Invented(Invented, u32),
    TypeParameter(NodeId),
    ConstrainedParameter {
        constraint: NodeId,
        name: NodeId,
    },
    ValueParameter {
        name: NodeId,
        of: NodeId,
    },
    TemplateParameter {
        name: NodeId,
        parameters: NodeId,
        requires: Option<NodeId>,
    },
    PackParameter(NodeId),
    // Types.
    Pointer(NodeId),
    Reference {
        to: NodeId,
        is_right: bool,
    },
    MemberPointer {
        class: NodeId,
        member: NodeId,
    },
    Array {
        of: NodeId,
        size: Option<NodeId>,
    },
    FunctionType(u32),
    Noexcept(NodeId),
    Throws(NodeList),
    Qualified {
        base: NodeId,
        qualifiers: Qualifiers,
    },
    Vendor {
        base: NodeId,
        qualifier: NodeId,
        arguments: Option<NodeId>,
    },
    Protocol {
        base: NodeId,
        protocol: NodeId,
    },
    Postfixed {
        base: NodeId,
        postfix: Word,
    },
    Elaborated {
        what: Word,
        name: NodeId,
    },
    Transformed {
        transform: NodeId,
        base: NodeId,
    },
    Vector {
        of: NodeId,
        size: Option<NodeId>,
    },
    PixelVector(NodeId),
    BinaryFloat(NodeId),
    BitInt {
        size: NodeId,
        is_signed: bool,
    },
    // Expressions.
    Binary {
        operator: u8,
        left: NodeId,
        right: NodeId,
    },
    Prefix {
        operator: u8,
        of: NodeId,
    },
    Postfix {
        operator: u8,
        of: NodeId,
    },
    Subscript {
        of: NodeId,
        index: NodeId,
    },
    Member {
        operator: u8,
        of: NodeId,
        member: NodeId,
    },
    Conditional {
        condition: NodeId,
        then: NodeId,
        or: NodeId,
    },
    Cast {
        operator: u8,
        to: NodeId,
        from: NodeId,
    },
    Of {
        operator: u8,
        of: NodeId,
    },
    Enclosed {
        word: Word,
        of: NodeId,
    },
    NoexceptOf(NodeId),
    SizeOfPack(NodeId),
    Call {
        callee: NodeId,
        arguments: NodeList,
    },
    New {
        flags: u8,
        placement: NodeId,
        what: NodeId,
        values: NodeId,
    },
    Delete {
        flags: u8,
        what: NodeId,
    },
    Conversion {
        to: NodeId,
        from: NodeList,
    },
    MemberPointerConversion {
        to: NodeId,
        from: NodeId,
    },
    Subobject {
        what: NodeId,
        of: NodeId,
        offset: NodeId,
    },
    Braces {
        what: Option<NodeId>,
        values: NodeList,
    },
    Designated {
        place: NodeId,
        value: NodeId,
        is_index: bool,
    },
    DesignatedRange {
        first: NodeId,
        last: NodeId,
        value: NodeId,
    },
    Fold {
        operator: u8,
        is_left: bool,
        pack: NodeId,
        start: Option<NodeId>,
    },
    Throw(NodeId),
    FunctionParameter(NameSlice),
    StringLiteral(NodeId),
    LambdaExpression(NodeId),
    EnumLiteral {
        what: NodeId,
        value: NameSlice,
    },
    /// A number with the letter of its type.
    Integer {
        what: u8,
        value: NameSlice,
    },
    /// The hexadecimal digits of a value, with the letter of its type.
    Float {
        what: u8,
        digits: NameSlice,
    },
    Requires {
        parameters: Option<NodeId>,
        list: NodeList,
    },
    ExpressionRequirement {
        of: NodeId,
        is_noexcept: bool,
        constraint: Option<NodeId>,
    },
    TypeRequirement(NodeId),
    NestedRequirement(NodeId),
    List(NodeList),
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
pub(crate) enum Presence {
    No,
    Yes,
    /// Depends on the element of a pack, or on an argument that comes later.
    Unknown,
}

/// The shape of a node: whether it has a part to the right of the declared name, and whether it is an array or a
/// function. The declarator of a pointer to these is written inside them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NodeShape {
    pub(crate) right: Presence,
    pub(crate) array: Presence,
    pub(crate) function: Presence,
}

impl NodeShape {
    pub(crate) const PLAIN: Self =
        Self { right: Presence::No, array: Presence::No, function: Presence::No };
    pub(crate) const RIGHT: Self = Self { right: Presence::Yes, ..Self::PLAIN };
    pub(crate) const ARRAY: Self = Self { array: Presence::Yes, ..Self::RIGHT };
    pub(crate) const FUNCTION: Self = Self { function: Presence::Yes, ..Self::RIGHT };
    pub(crate) const UNKNOWN: Self =
        Self { right: Presence::Unknown, array: Presence::Unknown, function: Presence::Unknown };

    /// Returns the shape of a pointer to a node of this shape.
    pub(crate) fn of_pointer(self) -> Self {
        Self { right: self.right, ..Self::PLAIN }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn nodes_are_small() {
        assert_eq!(size_of::<super::Node>(), 16);
    }
}
