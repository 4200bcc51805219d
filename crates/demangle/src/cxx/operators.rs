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
pub(crate) enum Kind {
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
    pub(crate) kind: Kind,
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
        !matches!(self.kind, Kind::NamedCast | Kind::Of(_) | Kind::Member(false))
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

const fn op(code: [u8; 2], kind: Kind, precedence: Precedence, name: &'static str) -> Operator {
    Operator { code, kind, precedence, name }
}

const UNKNOWN: Operator = op(*b"??", Kind::NameOnly, Precedence::Primary, "operator?");

/// Sorted by letters.
///
/// Source: Itanium C++ ABI, 5.1.3 "Operator Encodings" and 5.1.6 "Expressions".
const OPERATORS: &[Operator] = &[
    op(*b"aN", Kind::Binary, Precedence::Assignment, "operator&="),
    op(*b"aS", Kind::Binary, Precedence::Assignment, "operator="),
    op(*b"aa", Kind::Binary, Precedence::LogicalAnd, "operator&&"),
    op(*b"ad", Kind::Prefix, Precedence::Unary, "operator&"),
    op(*b"an", Kind::Binary, Precedence::And, "operator&"),
    op(*b"at", Kind::Of(true), Precedence::Unary, "alignof "),
    op(*b"aw", Kind::NameOnly, Precedence::Primary, "operator co_await"),
    op(*b"az", Kind::Of(false), Precedence::Unary, "alignof "),
    op(*b"cc", Kind::NamedCast, Precedence::Postfix, "const_cast"),
    op(*b"cl", Kind::Call, Precedence::Postfix, "operator()"),
    op(*b"cm", Kind::Binary, Precedence::Comma, "operator,"),
    op(*b"co", Kind::Prefix, Precedence::Unary, "operator~"),
    op(*b"cv", Kind::Conversion, Precedence::Cast, "operator"),
    op(*b"dV", Kind::Binary, Precedence::Assignment, "operator/="),
    op(*b"da", Kind::Delete(true), Precedence::Unary, "operator delete[]"),
    op(*b"dc", Kind::NamedCast, Precedence::Postfix, "dynamic_cast"),
    op(*b"de", Kind::Prefix, Precedence::Unary, "operator*"),
    op(*b"dl", Kind::Delete(false), Precedence::Unary, "operator delete"),
    op(*b"ds", Kind::Member(false), Precedence::MemberPointer, "operator.*"),
    op(*b"dt", Kind::Member(false), Precedence::Postfix, "operator."),
    // LLVM gives the division the precedence of an assignment, which affects parentheses.
    op(*b"dv", Kind::Binary, Precedence::Assignment, "operator/"),
    op(*b"eO", Kind::Binary, Precedence::Assignment, "operator^="),
    op(*b"eo", Kind::Binary, Precedence::Xor, "operator^"),
    op(*b"eq", Kind::Binary, Precedence::Equality, "operator=="),
    op(*b"ge", Kind::Binary, Precedence::Relational, "operator>="),
    op(*b"gt", Kind::Binary, Precedence::Relational, "operator>"),
    op(*b"ix", Kind::Subscript, Precedence::Postfix, "operator[]"),
    op(*b"lS", Kind::Binary, Precedence::Assignment, "operator<<="),
    op(*b"le", Kind::Binary, Precedence::Relational, "operator<="),
    op(*b"ls", Kind::Binary, Precedence::Shift, "operator<<"),
    op(*b"lt", Kind::Binary, Precedence::Relational, "operator<"),
    op(*b"mI", Kind::Binary, Precedence::Assignment, "operator-="),
    op(*b"mL", Kind::Binary, Precedence::Assignment, "operator*="),
    op(*b"mi", Kind::Binary, Precedence::Additive, "operator-"),
    op(*b"ml", Kind::Binary, Precedence::Multiplicative, "operator*"),
    op(*b"mm", Kind::Postfix, Precedence::Postfix, "operator--"),
    op(*b"na", Kind::New(true), Precedence::Unary, "operator new[]"),
    op(*b"ne", Kind::Binary, Precedence::Equality, "operator!="),
    op(*b"ng", Kind::Prefix, Precedence::Unary, "operator-"),
    op(*b"nt", Kind::Prefix, Precedence::Unary, "operator!"),
    op(*b"nw", Kind::New(false), Precedence::Unary, "operator new"),
    op(*b"oR", Kind::Binary, Precedence::Assignment, "operator|="),
    op(*b"oo", Kind::Binary, Precedence::LogicalOr, "operator||"),
    op(*b"or", Kind::Binary, Precedence::Or, "operator|"),
    op(*b"pL", Kind::Binary, Precedence::Assignment, "operator+="),
    op(*b"pl", Kind::Binary, Precedence::Additive, "operator+"),
    op(*b"pm", Kind::Member(true), Precedence::MemberPointer, "operator->*"),
    op(*b"pp", Kind::Postfix, Precedence::Postfix, "operator++"),
    op(*b"ps", Kind::Prefix, Precedence::Unary, "operator+"),
    op(*b"pt", Kind::Member(true), Precedence::Postfix, "operator->"),
    op(*b"qu", Kind::Conditional, Precedence::Conditional, "operator?"),
    op(*b"rM", Kind::Binary, Precedence::Assignment, "operator%="),
    op(*b"rS", Kind::Binary, Precedence::Assignment, "operator>>="),
    op(*b"rc", Kind::NamedCast, Precedence::Postfix, "reinterpret_cast"),
    op(*b"rm", Kind::Binary, Precedence::Multiplicative, "operator%"),
    op(*b"rs", Kind::Binary, Precedence::Shift, "operator>>"),
    op(*b"sc", Kind::NamedCast, Precedence::Postfix, "static_cast"),
    op(*b"ss", Kind::Binary, Precedence::Spaceship, "operator<=>"),
    op(*b"st", Kind::Of(true), Precedence::Unary, "sizeof "),
    op(*b"sz", Kind::Of(false), Precedence::Unary, "sizeof "),
    op(*b"te", Kind::Of(false), Precedence::Postfix, "typeid "),
    op(*b"ti", Kind::Of(true), Precedence::Postfix, "typeid "),
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
