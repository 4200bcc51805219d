//! Arguments of a `print fmt` as trees.

use crate::tracing::format::TraceField;

/// Maximum height of a tree; formats of the kernel have less than 20. Functions recurse by it.
const MOST_HEIGHT: u16 = 100;

/// An expression whose height is bounded.
#[derive(Debug)]
pub(super) struct Expression {
    pub(super) kind: Kind,
    height: u16,
}

/// Operator with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Multiply,
    Divide,
    Remainder,
    Add,
    Subtract,
    ShiftLeft,
    ShiftRight,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    And,
    ExclusiveOr,
    Or,
    BothTrue,
    AnyTrue,
}

/// Operator with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prefix {
    Negate,
    Complement,
    Not,
}

/// Target of a cast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// Number of a size in bytes.
    Number(usize),
    /// Pointer to numbers of a size in bytes.
    Pointer(usize),
}

/// Names by number, as `__print_flags` and `__print_symbolic` have them.
pub(super) type NameTable = Vec<(i64, Box<[u8]>)>;

#[derive(Debug)]
pub(super) enum Kind {
    Number(u64),
    Text(Box<[u8]>),
    /// `REC->field`.
    Field(TraceField<'static>),
    /// `__get_str(field)`.
    LocatedText(TraceField<'static>),
    /// `__get_dynamic_array(field)`.
    LocatedArray(TraceField<'static>),
    /// `__get_dynamic_array_len(field)`, in bytes.
    LocatedLength(TraceField<'static>),
    /// `__get_bitmask(field)`.
    LocatedBits(TraceField<'static>),
    Prefix(Prefix, Box<Expression>),
    Binary(Operator, Box<[Expression; 2]>),
    /// Condition, value if true, value if false.
    Choice(Box<[Expression; 3]>),
    Cast(Target, Box<Expression>),
    /// `*pointer`.
    Dereference(Box<Expression>),
    /// Array, index.
    Index(Box<[Expression; 2]>),
    Flags {
        value: Box<Expression>,
        separator: Box<[u8]>,
        names: NameTable,
    },
    Symbol {
        value: Box<Expression>,
        names: NameTable,
    },
    /// Bytes, number of bytes.
    Hex {
        parts: Box<[Expression; 2]>,
        has_spaces: bool,
    },
    /// Array, number of elements, size of an element in bytes.
    Array(Box<[Expression; 3]>),
}

impl Expression {
    /// Creates an expression; `None` if it is too high.
    pub(super) fn new(kind: Kind) -> Option<Self> {
        let height = 1 + match &kind {
            Kind::Number(_)
            | Kind::Text(_)
            | Kind::Field(_)
            | Kind::LocatedText(_)
            | Kind::LocatedArray(_)
            | Kind::LocatedLength(_)
            | Kind::LocatedBits(_) => 0,
            Kind::Prefix(_, operand) | Kind::Cast(_, operand) | Kind::Dereference(operand) => {
                operand.height
            }
            Kind::Binary(_, parts) | Kind::Index(parts) | Kind::Hex { parts, .. } => {
                highest(parts.as_slice())
            }
            Kind::Choice(parts) | Kind::Array(parts) => highest(parts.as_slice()),
            Kind::Flags { value, .. } | Kind::Symbol { value, .. } => value.height,
        };
        (height <= MOST_HEIGHT).then_some(Self { kind, height })
    }
}

fn highest(parts: &[Expression]) -> u16 {
    parts.iter().map(|part| part.height).max().unwrap_or(0)
}
