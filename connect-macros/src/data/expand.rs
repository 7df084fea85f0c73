//! The impl: a schema that is made once, a list of values in its order, and the way back.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Expr, GenericParam, Generics, Ident};

use super::{Content, Default, Field, Model, Shape, Variant};

/// Names and paths that the parts of one expansion share.
struct Code<'a> {
    model: &'a Model,
    /// The private module.
    p: TokenStream,
    /// The support of this derive.
    d: TokenStream,
    /// The type's name in messages.
    type_name: String,
    value: Ident,
    fields: Ident,
    schema: Ident,
}

pub(super) fn expand(model: &Model) -> TokenStream {
    let p = model.krate.private();
    let d = quote!(#p::data);
    let local = |name| Ident::new(name, Span::mixed_site());
    let code = Code {
        model,
        d,
        type_name: model.ident.unraw().to_string(),
        value: local("__value"),
        fields: local("__fields"),
        schema: local("__schema"),
        p,
    };
    code.whole()
}

impl Code<'_> {
    fn whole(&self) -> TokenStream {
        let Self { model, p, d, value, .. } = self;
        let ident = &model.ident;
        let generics = bounded(&model.generics, p);
        let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
        // With parameters a constant cannot name the type; without, it is the one place where the type must fit.
        let consts = model.fields().into_iter().enumerate().filter(|(_, field)| self.is_constant(field));
        let consts = consts.map(|(i, field)| {
            let (name, ty, call) = (const_name(i), &field.ty, self.field_type(field));
            quote!(const #name: #d::FieldType<#ty> = #call;)
        });
        let schema = self.schema();
        let (to_value, from_value, as_text) = match &model.shape {
            Shape::Struct(fields) => self.of_struct(fields),
            Shape::Newtype(field) => self.of_newtype(field),
            Shape::Names(variants) => self.of_names(variants),
            Shape::Choice(variants) => self.of_choice(variants),
            Shape::Nothing => return TokenStream::new(),
        };
        quote! {
            const _: () = {
                #(#consts)*
                #[automatically_derived]
                impl #impl_generics #p::ConnectData for #ident #type_generics #where_clause {
                    fn schema() -> #p::Schema {
                        #schema
                    }
                    fn to_value(&self) -> #p::Option<#p::Value> {
                        #to_value
                    }
                    fn from_value(#value: #p::Option<&#p::Value>) -> #p::Result<Self, #p::DataError> {
                        #from_value
                    }
                    #as_text
                }
            };
        }
    }

    fn is_constant(&self, field: &Field) -> bool {
        !field.skip && self.model.generics.params.is_empty()
    }

    /// What knows how to send a field.
    fn field_type(&self, field: &Field) -> TokenStream {
        let (d, ty) = (&self.d, &field.ty);
        match &field.scale {
            Some(scale) if matches!(scale, Expr::Lit(_)) => {
                quote_spanned!(ty.span()=> #d::decimal_type::<#ty, #scale>())
            }
            Some(scale) => quote_spanned!(ty.span()=> #d::decimal_type::<#ty, { #scale }>()),
            None => quote_spanned!(ty.span()=> #d::field_type::<#ty>()),
        }
    }

    /// The constant of a field, or what the constant would hold.
    fn of_field(&self, field: &Field) -> TokenStream {
        let same = |other: &&Field| std::ptr::eq(*other, field);
        match self.model.fields().iter().position(same) {
            Some(i) if self.is_constant(field) => {
                let name = const_name(i);
                quote!(#name)
            }
            _ => self.field_type(field),
        }
    }

    fn schema(&self) -> TokenStream {
        let Self { model, p, d, .. } = self;
        let type_name = &self.type_name;
        let given_name = model.name.as_ref();
        let version = model.version.as_ref().map(|version| quote!(.version(#version)));
        let name = given_name.unwrap_or(type_name);
        let builder = match &model.shape {
            Shape::Newtype(field) => {
                let of_field = self.of_field(field);
                let name = given_name.map(|name| quote!(.name(#name)));
                if name.is_none() && version.is_none() {
                    return quote!((#of_field.schema)());
                }
                quote!(#p::SchemaBuilder::from_schema(&(#of_field.schema)())#name #version)
            }
            Shape::Names(_) => match given_name {
                None if version.is_none() => return quote!(#p::Schema::string()),
                given => {
                    let name = given.map(|name| quote!(.name(#name)));
                    quote!(#p::SchemaBuilder::string()#name #version)
                }
            },
            Shape::Struct(fields) => {
                let fields = self.schema_fields(fields);
                quote!(#p::SchemaBuilder::struct_().name(#name)#version #fields)
            }
            Shape::Choice(variants) => {
                let fields = variants.iter().map(|variant| {
                    let field = &variant.name;
                    let schema = match &variant.content {
                        Content::Nothing => quote!(#p::Schema::optional_boolean()),
                        Content::One(content) => {
                            let of_field = self.of_field(content);
                            quote!((#of_field.schema)().to_optional())
                        }
                        Content::Named(fields) => {
                            let name = format!("{name}.{field}");
                            let fields = self.schema_fields(fields);
                            quote!(#d::content_schema(#p::SchemaBuilder::struct_().name(#name)#fields))
                        }
                    };
                    quote!(.field(#field, #schema))
                });
                quote!(#p::SchemaBuilder::struct_().name(#name)#version #(#fields)*)
            }
            Shape::Nothing => return TokenStream::new(),
        };
        // The whole path, so that another type of this name inside is not taken for this one.
        let path = quote!(#p::core::concat!(#p::core::module_path!(), "::", #type_name));
        if model.generics.params.is_empty() {
            let cell = Ident::new("__SCHEMA", Span::mixed_site());
            quote! {
                static #cell: #p::std::sync::OnceLock<#p::Schema> = #p::std::sync::OnceLock::new();
                #d::schema_once(&#cell, #path, || #builder)
            }
        } else {
            quote!(#d::schema_once_generic::<Self>(#path, || #builder))
        }
    }

    fn schema_fields(&self, fields: &[Field]) -> TokenStream {
        let sent = fields.iter().filter(|field| !field.skip);
        sent.map(|field| {
            let (name, of_field) = (&field.name, self.of_field(field));
            quote!(.field(#name, (#of_field.schema)()))
        })
        .collect()
    }

    fn of_struct(&self, fields: &[Field]) -> (TokenStream, TokenStream, TokenStream) {
        let Self { p, d, value, fields: of, type_name, .. } = self;
        let values = fields.iter().filter(|field| !field.skip).map(|field| {
            let (member, of_field) = (&field.member, self.of_field(field));
            quote!((#of_field.to_value)(&self.#member))
        });
        let reads = fields.iter().map(|field| self.read(field));
        // A struct of which nothing is sent is refused, so that the fields are always read.
        (
            quote!(#d::struct_value(Self::schema(), #p::std::vec![#(#values),*])),
            quote! {
                let #of = #d::Fields::of(#value, #type_name)?;
                #p::Ok(Self { #(#reads,)* })
            },
            TokenStream::new(),
        )
    }

    /// `member: value` of a field that is read from `fields`.
    fn read(&self, field: &Field) -> TokenStream {
        let Self { p, fields, .. } = self;
        let (member, name, ty) = (&field.member, &field.name, &field.ty);
        let default = match &field.default {
            Some(Default::Value(value)) => {
                if crate::literal::string(value).is_some() && crate::types::is(ty, "String") {
                    Some(quote!(|| #p::text(#value)))
                } else {
                    Some(quote!(|| #value))
                }
            }
            Some(Default::Call(path)) => Some(quote!(#path)),
            Some(Default::OfType) => Some(of_type(field, p)),
            None => None,
        };
        if field.skip {
            let default = default.unwrap_or_else(|| of_type(field, p));
            return quote!(#member: (#default)());
        }
        let of_field = self.of_field(field);
        match default {
            Some(default) => quote!(#member: #fields.read_or(&#of_field, #name, #default)?),
            None => quote!(#member: #fields.read(&#of_field, #name)?),
        }
    }

    fn of_newtype(&self, field: &Field) -> (TokenStream, TokenStream, TokenStream) {
        let Self { p, value, .. } = self;
        let of_field = self.of_field(field);
        // Text and bytes are lent to a record only where the schema is the plain one.
        let lent = (self.model.name.is_none() && self.model.version.is_none()).then(|| {
            quote! {
                fn as_text(&self) -> #p::Option<&#p::core::primitive::str> {
                    (#of_field.as_text)(&self.0)
                }
                fn as_bytes(&self) -> #p::Option<&[#p::core::primitive::u8]> {
                    (#of_field.as_bytes)(&self.0)
                }
            }
        });
        (
            quote!((#of_field.to_value)(&self.0)),
            quote!((#of_field.from_value)(#value).map(Self)),
            lent.unwrap_or_default(),
        )
    }

    fn of_names(&self, variants: &[Variant]) -> (TokenStream, TokenStream, TokenStream) {
        let Self { p, d, value, type_name, .. } = self;
        let idents: Vec<&Ident> = variants.iter().map(|variant| &variant.ident).collect();
        let names: Vec<&String> = variants.iter().map(|variant| &variant.name).collect();
        let (last, first) = match idents.split_last() {
            Some((last, first)) => (*last, first),
            None => return std::default::Default::default(),
        };
        let indices = 0..first.len();
        let text = quote!(match self { #(Self::#idents => #names,)* });
        let is_plain = self.model.name.is_none() && self.model.version.is_none();
        let lent = is_plain.then(|| {
            quote! {
                fn as_text(&self) -> #p::Option<&#p::core::primitive::str> {
                    #p::Some(#text)
                }
            }
        });
        (
            quote!(#d::text_value(#text)),
            quote! {
                #p::Ok(match #d::variant_from_text(#value, #type_name, &[#(#names),*])? {
                    #(#indices => Self::#first,)*
                    _ => Self::#last,
                })
            },
            lent.unwrap_or_default(),
        )
    }

    fn of_choice(&self, variants: &[Variant]) -> (TokenStream, TokenStream, TokenStream) {
        let Self { p, d, value, type_name, schema, .. } = self;
        let names: Vec<&String> = variants.iter().map(|variant| &variant.name).collect();
        let index = Ident::new("__index", Span::mixed_site());
        let to = variants.iter().enumerate().map(|(i, variant)| self.variant_to_value(i, variant));
        let last = variants.len() - 1;
        let from = variants.iter().enumerate().map(|(i, variant)| {
            let arm = if i == last { quote!(_) } else { quote!(#i) };
            let read = self.variant_from_value(variant);
            quote!(#arm => #read,)
        });
        (
            quote! {
                let #schema = Self::schema();
                match self { #(#to)* }
            },
            quote! {
                let (#index, #value) = #d::variant_from_fields(#value, #type_name, &[#(#names),*])?;
                #p::Ok(match #index { #(#from)* })
            },
            TokenStream::new(),
        )
    }

    fn variant_to_value(&self, i: usize, variant: &Variant) -> TokenStream {
        let Self { p, d, schema, .. } = self;
        let ident = &variant.ident;
        match &variant.content {
            Content::Nothing => {
                quote!(Self::#ident => #d::variant_value(#schema, #i, #p::Some(#p::Value::Boolean(true))),)
            }
            Content::One(field) => {
                let of_field = self.of_field(field);
                let content = local(0);
                quote!(Self::#ident(#content) => #d::variant_value(#schema, #i, (#of_field.to_value)(#content)),)
            }
            Content::Named(fields) => {
                let patterns = fields.iter().enumerate().map(|(n, field)| {
                    let (member, name) = (&field.member, local(n));
                    if field.skip { quote!(#member: _) } else { quote!(#member: #name) }
                });
                let sent = fields.iter().enumerate().filter(|(_, field)| !field.skip);
                let values = sent.map(|(n, field)| {
                    let (of_field, name) = (self.of_field(field), local(n));
                    quote!((#of_field.to_value)(#name))
                });
                quote! {
                    Self::#ident { #(#patterns),* } => {
                        #d::variant_struct_value(#schema, #i, #p::std::vec![#(#values),*])
                    }
                }
            }
        }
    }

    fn variant_from_value(&self, variant: &Variant) -> TokenStream {
        let Self { p, d, value, fields: of, .. } = self;
        let (ident, name) = (&variant.ident, &variant.name);
        match &variant.content {
            Content::Nothing => quote!(Self::#ident),
            Content::One(field) => {
                let of_field = self.of_field(field);
                quote!(Self::#ident(#d::in_variant(#name, (#of_field.from_value)(#p::Some(#value)))?))
            }
            Content::Named(fields) => {
                let reads = fields.iter().map(|field| self.read(field));
                let type_name = format!("{}::{ident}", self.type_name);
                quote! {
                    #d::in_variant(#name, (|| {
                        let #of = #d::Fields::of(#p::Some(#value), #type_name)?;
                        #p::Ok(Self::#ident { #(#reads,)* })
                    })())?
                }
            }
        }
    }
}

fn of_type(field: &Field, p: &TokenStream) -> TokenStream {
    let ty = &field.ty;
    quote_spanned!(ty.span()=> <#ty as #p::core::default::Default>::default)
}

fn const_name(i: usize) -> Ident {
    format_ident!("__FIELD_{i}", span = Span::mixed_site())
}

fn local(i: usize) -> Ident {
    format_ident!("__content_{i}", span = Span::mixed_site())
}

/// The type's parameters, each of which must be data that owns itself.
fn bounded(generics: &Generics, p: &TokenStream) -> Generics {
    let mut generics = generics.clone();
    for param in &mut generics.params {
        if let GenericParam::Type(param) = param {
            param.bounds.push(syn::parse_quote!(#p::ConnectData));
            param.bounds.push(syn::parse_quote!('static));
        }
    }
    generics
}

/// An impl that only keeps further errors away; it is never run, since the mistakes are reported beside it.
pub(super) fn fallback(model: &Model) -> TokenStream {
    let p = model.krate.private();
    let ident = &model.ident;
    let (impl_generics, type_generics, where_clause) = model.generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #impl_generics #p::ConnectData for #ident #type_generics #where_clause {
            fn schema() -> #p::Schema { #p::core::unreachable!() }
            fn to_value(&self) -> #p::Option<#p::Value> { #p::core::unreachable!() }
            fn from_value(_: #p::Option<&#p::Value>) -> #p::Result<Self, #p::DataError> { #p::core::unreachable!() }
        }
    }
}
