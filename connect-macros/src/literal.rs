//! Literals in attribute values: what can be known of a value before the compiler evaluates it.

use quote::ToTokens;
use syn::{Expr, ExprLit, ExprUnary, Lit, LitFloat, LitInt, LitStr, UnOp};

/// A number that stands literally in the source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    Int(i128),
    Float(f64),
}

impl Number {
    #[allow(clippy::cast_precision_loss, reason = "only to compare limits that an author wrote")]
    fn as_f64(self) -> f64 {
        match self {
            Self::Int(n) => n as f64,
            Self::Float(x) => x,
        }
    }

    pub(crate) fn cmp(self, other: Self) -> Option<std::cmp::Ordering> {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => Some(a.cmp(&b)),
            (a, b) => a.as_f64().partial_cmp(&b.as_f64()),
        }
    }
}

/// The number that `expr` literally is, with a minus sign before it or not.
pub(crate) fn number(expr: &Expr) -> Option<Number> {
    match expr {
        Expr::Lit(ExprLit { lit: Lit::Int(n), .. }) => n.base10_parse().ok().map(Number::Int),
        Expr::Lit(ExprLit { lit: Lit::Float(x), .. }) => x.base10_parse().ok().map(Number::Float),
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => Some(match number(expr)? {
            Number::Int(n) => Number::Int(-n),
            Number::Float(x) => Number::Float(-x),
        }),
        Expr::Group(group) => number(&group.expr),
        Expr::Paren(paren) => number(&paren.expr),
        _ => None,
    }
}

/// The text that `expr` literally is.
pub(crate) fn string(expr: &Expr) -> Option<&LitStr> {
    match expr {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text),
        Expr::Group(group) => string(&group.expr),
        _ => None,
    }
}

/// `expr` with the suffix `i64` or `f64` on its number, so that no literal is cut to 32 bits.
pub(crate) fn widened(expr: &Expr) -> Expr {
    let mut wide = expr.clone();
    match &mut wide {
        Expr::Lit(ExprLit { lit: Lit::Int(n), .. }) if n.suffix().is_empty() => {
            *n = LitInt::new(&format!("{}i64", n.to_token_stream()), n.span());
        }
        Expr::Lit(ExprLit { lit: Lit::Float(x), .. }) if x.suffix().is_empty() => {
            *x = LitFloat::new(&format!("{}f64", x.to_token_stream()), x.span());
        }
        Expr::Unary(unary) => *unary.expr = widened(&unary.expr),
        Expr::Group(group) => *group.expr = widened(&group.expr),
        Expr::Paren(paren) => *paren.expr = widened(&paren.expr),
        _ => {}
    }
    wide
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    #[test]
    fn numbers_are_read_and_widened() {
        assert_eq!(number(&parse_quote!(-5)), Some(Number::Int(-5)));
        assert_eq!(number(&parse_quote!(1_000u32)), Some(Number::Int(1000)));
        assert_eq!(number(&parse_quote!((0.5))), Some(Number::Float(0.5)));
        assert_eq!(number(&parse_quote!(LIMIT)), None);
        let wide = |expr: &Expr| widened(expr).to_token_stream().to_string();
        assert_eq!(wide(&parse_quote!(-10_000_000_000)), "- 10_000_000_000i64");
        assert_eq!(wide(&parse_quote!(0.5)), "0.5f64");
        assert_eq!(wide(&parse_quote!(7u16)), "7u16");
    }
}
