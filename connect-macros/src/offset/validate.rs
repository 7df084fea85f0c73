//! What can be seen to be wrong without knowing the types.

use syn::Type;

use super::{Model, Role};
use crate::diagnostics::Diagnostics;
use crate::types;

pub(super) fn validate(model: &Model, found: &Diagnostics) {
    if !model.generics.params.is_empty() {
        found.at(
            &model.generics,
            format!("{} cannot be generic: what is stored must have one meaning", model.role.noun()),
        );
    }
    for (i, field) in model.fields.iter().enumerate() {
        if let Some(why) = unfit(model.role, &field.ty) {
            found.at(&field.ty, why);
        } else if let Some(default) = field.default.as_ref().filter(|_| types::is(&field.ty, "Option")) {
            found.at(default, "an `Option` that was not stored is `None`: remove `default` or the `Option`");
        }
        let clash = model.fields[..i].iter().find(|before| before.stored_name == field.stored_name);
        if let Some(before) = clash {
            found.at(
                &field.ident,
                format!("`{}` and `{}` are both stored as `{}`", before.ident, field.ident, field.stored_name),
            );
        }
    }
}

/// Why the type cannot be stored, where its tokens tell; the traits judge the rest.
fn unfit(role: Role, ty: &Type) -> Option<String> {
    let noun = role.noun();
    if let Some(inner) = types::argument_of(ty, "Option") {
        return if types::is(inner, "Option") {
            Some("an `Option` in an `Option` cannot be stored: both kinds of nothing are null".to_owned())
        } else {
            unfit(role, inner)
        };
    }
    let why = match ty {
        Type::Reference(_) => "it must own its fields: use `String` for text".to_owned(),
        Type::Tuple(_) | Type::Array(_) | Type::Slice(_) => {
            format!("its fields are plain values: {}", role.field_types())
        }
        Type::Path(_) => match types::name(ty)?.to_string().as_str() {
            "u64" => "the stored form has signed 64-bit integers only; use `i64`, with `i64::try_from`".to_owned(),
            name @ ("usize" | "isize" | "i128" | "u128") => {
                format!("`{name}` has no fixed width of at most 64 bits with a sign; use `i64`, with `i64::try_from`")
            }
            "Vec" | "HashMap" | "BTreeMap" | "HashSet" | "BTreeSet" | "VecDeque" => {
                "it is stored as one flat map; write one field for each part, or one partition for each position"
                    .to_owned()
            }
            "PathBuf" | "OsString" => {
                "a path is stored as text: use `String`, with `path.display().to_string()`".to_owned()
            }
            "Bytes" => "bytes come back from storage as text; use `String`, encoded as hex or base64".to_owned(),
            "SystemTime" | "Instant" | "DateTime" | "Duration" => {
                "a time is stored as a number: use `i64` milliseconds".to_owned()
            }
            "Uuid" | "Box" | "Arc" | "Rc" | "Cow" | "char" => "use `String` for text".to_owned(),
            "f32" | "f64" if role == Role::Partition => {
                "a fraction has no exact text, so that it cannot be part of a partition's identity; use text or an \
                 integer of a smaller unit"
                    .to_owned()
            }
            _ => return None,
        },
        _ => return None,
    };
    Some(format!("this cannot be a field of {noun}: {why}"))
}
