//! The operators of C++ by their two letters: their text as function names and in expressions, and their precedence.

/// Precedence of an expression, tightest first; determines the parentheses around operands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub(crate) enum Precedence {
    Primary,
    Postfix,
    Unary,
    Cast,
    MemberPointer,
    Multiplicative,
    Additive,
    Shift,
    Spaceship,
    Relational,
    Equality,
    And,
    Xor,
    Or,
    LogicalAnd,
    LogicalOr,
    Conditional,
    Assignment,
    Comma,
}

/// Form of an operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OperatorKind {
    Prefix,
    Postfix,
    Binary,
    Subscript,
    /// Access to a member; `true` if the operator can be a function.
    Member(bool),
    /// `true` for arrays.
    New(bool),
    /// `true` for arrays.
    Delete(bool),
    Call,
    Conversion,
    Conditional,
    /// Can be a function, but not part of an expression.
    NameOnly,
    /// `static_cast<T>(e)` and similar casts.
    NamedCast,
    /// `sizeof`, `alignof`, `typeid`; `true` if the operand is a type.
    Of(bool),
}

/// An operator.
#[derive(Debug)]
pub(crate) struct Operator {
    code: [u8; 2],
    pub(crate) kind: OperatorKind,
    pub(crate) precedence: Precedence,
    /// The function's name, or the keyword of a cast or of an operator that is a keyword.
    pub(crate) name: &'static str,
}

impl Operator {
    /// Returns the text between, before or after the operands.
    pub(crate) fn symbol(&self) -> &'static str {
        let symbol = self.name.strip_prefix("operator").unwrap_or(self.name);
        symbol.strip_prefix(' ').unwrap_or(symbol)
    }

    /// Returns true if the operator can be a function.
    pub(crate) fn is_function(&self) -> bool {
        !matches!(
            self.kind,
            OperatorKind::NamedCast | OperatorKind::Of(_) | OperatorKind::Member(false)
        )
    }
}

/// Returns the operator at an index that [`find`] returned.
pub(crate) fn operator(index: u8) -> &'static Operator {
    OPERATORS.get(usize::from(index)).unwrap_or(&UNKNOWN)
}

/// Returns the index of the operator with these letters.
pub(crate) fn find(code: [u8; 2]) -> Option<u8> {
    let index = OPERATORS.binary_search_by(|operator| operator.code.cmp(&code)).ok()?;
    u8::try_from(index).ok()
}

const fn op(
    code: [u8; 2],
    kind: OperatorKind,
    precedence: Precedence,
    name: &'static str,
) -> Operator {
    Operator { code, kind, precedence, name }
}

const UNKNOWN: Operator = op(*b"??", OperatorKind::NameOnly, Precedence::Primary, "operator?");

/// Sorted by letters.
///
/// Source: Itanium C++ ABI, 5.1.3 "Operator Encodings" and 5.1.6 "Expressions".
const OPERATORS: &[Operator] = &[
    op(*b"aN", OperatorKind::Binary, Precedence::Assignment, "operator&="),
    op(*b"aS", OperatorKind::Binary, Precedence::Assignment, "operator="),
    op(*b"aa", OperatorKind::Binary, Precedence::LogicalAnd, "operator&&"),
    op(*b"ad", OperatorKind::Prefix, Precedence::Unary, "operator&"),
    op(*b"an", OperatorKind::Binary, Precedence::And, "operator&"),
    op(*b"at", OperatorKind::Of(true), Precedence::Unary, "alignof "),
    op(*b"aw", OperatorKind::NameOnly, Precedence::Primary, "operator co_await"),
    op(*b"az", OperatorKind::Of(false), Precedence::Unary, "alignof "),
    op(*b"cc", OperatorKind::NamedCast, Precedence::Postfix, "const_cast"),
    op(*b"cl", OperatorKind::Call, Precedence::Postfix, "operator()"),
    op(*b"cm", OperatorKind::Binary, Precedence::Comma, "operator,"),
    op(*b"co", OperatorKind::Prefix, Precedence::Unary, "operator~"),
    op(*b"cv", OperatorKind::Conversion, Precedence::Cast, "operator"),
    op(*b"dV", OperatorKind::Binary, Precedence::Assignment, "operator/="),
    op(*b"da", OperatorKind::Delete(true), Precedence::Unary, "operator delete[]"),
    op(*b"dc", OperatorKind::NamedCast, Precedence::Postfix, "dynamic_cast"),
    op(*b"de", OperatorKind::Prefix, Precedence::Unary, "operator*"),
    op(*b"dl", OperatorKind::Delete(false), Precedence::Unary, "operator delete"),
    op(*b"ds", OperatorKind::Member(false), Precedence::MemberPointer, "operator.*"),
    op(*b"dt", OperatorKind::Member(false), Precedence::Postfix, "operator."),
    // LLVM gives the division the precedence of an assignment, which affects parentheses.
    op(*b"dv", OperatorKind::Binary, Precedence::Assignment, "operator/"),
    op(*b"eO", OperatorKind::Binary, Precedence::Assignment, "operator^="),
    op(*b"eo", OperatorKind::Binary, Precedence::Xor, "operator^"),
    op(*b"eq", OperatorKind::Binary, Precedence::Equality, "operator=="),
    op(*b"ge", OperatorKind::Binary, Precedence::Relational, "operator>="),
    op(*b"gt", OperatorKind::Binary, Precedence::Relational, "operator>"),
    op(*b"ix", OperatorKind::Subscript, Precedence::Postfix, "operator[]"),
    op(*b"lS", OperatorKind::Binary, Precedence::Assignment, "operator<<="),
    op(*b"le", OperatorKind::Binary, Precedence::Relational, "operator<="),
    op(*b"ls", OperatorKind::Binary, Precedence::Shift, "operator<<"),
    op(*b"lt", OperatorKind::Binary, Precedence::Relational, "operator<"),
    op(*b"mI", OperatorKind::Binary, Precedence::Assignment, "operator-="),
    op(*b"mL", OperatorKind::Binary, Precedence::Assignment, "operator*="),
    op(*b"mi", OperatorKind::Binary, Precedence::Additive, "operator-"),
    op(*b"ml", OperatorKind::Binary, Precedence::Multiplicative, "operator*"),
    op(*b"mm", OperatorKind::Postfix, Precedence::Postfix, "operator--"),
    op(*b"na", OperatorKind::New(true), Precedence::Unary, "operator new[]"),
    op(*b"ne", OperatorKind::Binary, Precedence::Equality, "operator!="),
    op(*b"ng", OperatorKind::Prefix, Precedence::Unary, "operator-"),
    op(*b"nt", OperatorKind::Prefix, Precedence::Unary, "operator!"),
    op(*b"nw", OperatorKind::New(false), Precedence::Unary, "operator new"),
    op(*b"oR", OperatorKind::Binary, Precedence::Assignment, "operator|="),
    op(*b"oo", OperatorKind::Binary, Precedence::LogicalOr, "operator||"),
    op(*b"or", OperatorKind::Binary, Precedence::Or, "operator|"),
    op(*b"pL", OperatorKind::Binary, Precedence::Assignment, "operator+="),
    op(*b"pl", OperatorKind::Binary, Precedence::Additive, "operator+"),
    op(*b"pm", OperatorKind::Member(true), Precedence::MemberPointer, "operator->*"),
    op(*b"pp", OperatorKind::Postfix, Precedence::Postfix, "operator++"),
    op(*b"ps", OperatorKind::Prefix, Precedence::Unary, "operator+"),
    op(*b"pt", OperatorKind::Member(true), Precedence::Postfix, "operator->"),
    op(*b"qu", OperatorKind::Conditional, Precedence::Conditional, "operator?"),
    op(*b"rM", OperatorKind::Binary, Precedence::Assignment, "operator%="),
    op(*b"rS", OperatorKind::Binary, Precedence::Assignment, "operator>>="),
    op(*b"rc", OperatorKind::NamedCast, Precedence::Postfix, "reinterpret_cast"),
    op(*b"rm", OperatorKind::Binary, Precedence::Multiplicative, "operator%"),
    op(*b"rs", OperatorKind::Binary, Precedence::Shift, "operator>>"),
    op(*b"sc", OperatorKind::NamedCast, Precedence::Postfix, "static_cast"),
    op(*b"ss", OperatorKind::Binary, Precedence::Spaceship, "operator<=>"),
    op(*b"st", OperatorKind::Of(true), Precedence::Unary, "sizeof "),
    op(*b"sz", OperatorKind::Of(false), Precedence::Unary, "sizeof "),
    op(*b"te", OperatorKind::Of(false), Precedence::Postfix, "typeid "),
    op(*b"ti", OperatorKind::Of(true), Precedence::Postfix, "typeid "),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(OPERATORS.windows(2).all(|pair| pair[0].code < pair[1].code));
        assert_eq!(OPERATORS.len(), 62);
    }

    #[test]
    fn symbols_of_operators() {
        for (code, symbol, is_function) in [
            (b"nw", "new", true),
            (b"pl", "+", true),
            (b"dt", ".", false),
            (b"sc", "static_cast", false),
            (b"cl", "()", true),
        ] {
            let found = operator(find(*code).unwrap());
            assert_eq!((found.symbol(), found.is_function()), (symbol, is_function));
        }
        assert_eq!(find(*b"zz"), None);
    }
}
