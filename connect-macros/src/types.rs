//! What the tokens of a field's type tell: only for better messages, since an alias hides everything.

use syn::{GenericArgument, Ident, PathArguments, PathSegment, Type};

/// The last part of a path type: `Vec<String>` of `std::vec::Vec<String>`.
fn last_segment(ty: &Type) -> Option<&PathSegment> {
    match ty {
        Type::Path(path) if path.qself.is_none() => path.path.segments.last(),
        Type::Group(group) => last_segment(&group.elem),
        Type::Paren(paren) => last_segment(&paren.elem),
        _ => None,
    }
}

/// The name of a path type without its arguments.
pub(crate) fn name(ty: &Type) -> Option<&Ident> {
    last_segment(ty).map(|segment| &segment.ident)
}

/// True if the type is written with this name.
pub(crate) fn is(ty: &Type, wanted: &str) -> bool {
    name(ty).is_some_and(|name| name == wanted)
}

/// The first type argument of a type that is written with this name: `T` of `Option<T>`.
pub(crate) fn argument_of<'a>(ty: &'a Type, wanted: &str) -> Option<&'a Type> {
    let segment = last_segment(ty).filter(|segment| segment.ident == wanted)?;
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

/// `T` of `Option<T>`, else the type itself.
pub(crate) fn inside_option(ty: &Type) -> &Type {
    argument_of(ty, "Option").unwrap_or(ty)
}
