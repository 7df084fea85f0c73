//! Takes an `impl` apart without parsing its bodies, so that half-typed code keeps every token for the editor.

use proc_macro2::{Delimiter, Group, Ident, Spacing, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::Parser;

/// `impl Trait for Type { .. }`.
pub(crate) struct TraitImpl {
    /// Attributes before `impl`, each as its `#` and its brackets.
    pub(crate) attributes: Vec<TokenStream>,
    /// Everything from `impl` up to the body.
    head: TokenStream,
    /// `<T>` of `impl<T>`.
    pub(crate) generics: Option<TokenStream>,
    pub(crate) trait_path: TokenStream,
    pub(crate) self_type: TokenStream,
    /// None while the author has not typed a body.
    pub(crate) body: Option<Body>,
}

/// What an attribute for an `impl` of a trait was put on instead.
pub(crate) struct NotTraitImpl {
    /// The tokens to point at.
    pub(crate) at: TokenStream,
    pub(crate) what: What,
}

impl NotTraitImpl {
    /// The wrong place in words.
    pub(crate) fn place(&self) -> String {
        match &self.what {
            What::InherentImpl => "on an impl without a trait".to_owned(),
            What::Item(word) => format!("on `{word}`"),
        }
    }
}

/// Kinds of wrong places.
pub(crate) enum What {
    /// `impl Type { .. }`.
    InherentImpl,
    /// `struct`, `trait`, `fn`, ...: the keyword.
    Item(String),
}

/// The braces of an `impl` and what is in them.
pub(crate) struct Body {
    braces: Group,
    pub(crate) parts: Vec<Part>,
}

/// One item of the body, or what is left of one.
pub(crate) struct Part {
    tokens: Vec<TokenTree>,
    /// The name, if it is a function with a body.
    pub(crate) function: Option<Ident>,
    /// True if the function has `<..>` behind its name.
    pub(crate) has_generics: bool,
    /// The parentheses of the function.
    parameters: Option<Group>,
}

impl TraitImpl {
    pub(crate) fn parse(item: TokenStream) -> Result<Self, NotTraitImpl> {
        let mut tokens: Vec<TokenTree> = item.into_iter().collect();
        let attributes = take_attributes(&mut tokens);
        let start = tokens.iter().position(|token| !is_modifier(token)).unwrap_or(tokens.len());
        match tokens.get(start) {
            Some(TokenTree::Ident(keyword)) if *keyword == "impl" => {}
            Some(other) => {
                return Err(NotTraitImpl { at: other.to_token_stream(), what: What::Item(other.to_string()) });
            }
            None => return Err(NotTraitImpl { at: tokens.into_iter().collect(), what: What::Item("nothing".into()) }),
        }
        let body = match tokens.pop() {
            Some(TokenTree::Group(braces)) if braces.delimiter() == Delimiter::Brace => Some(Body::parse(braces)),
            other => {
                tokens.extend(other);
                None
            }
        };
        let rest = &tokens[start + 1..];
        let generics_len = if is_punct(rest.first(), '<') { angle_length(rest) } else { 0 };
        let generics = (generics_len > 0).then(|| rest[..generics_len].iter().cloned().collect());
        let rest = &rest[generics_len..];
        let Some(for_at) = position_outside_angles(rest, "for") else {
            let at = rest.iter().cloned().collect::<TokenStream>();
            let at = if at.is_empty() { tokens[start].to_token_stream() } else { at };
            return Err(NotTraitImpl { at, what: What::InherentImpl });
        };
        let trait_path = rest[..for_at].iter().cloned().collect();
        let self_tokens = &rest[for_at + 1..];
        let end = position_outside_angles(self_tokens, "where").unwrap_or(self_tokens.len());
        let self_type = self_tokens[..end].iter().cloned().collect();
        Ok(Self { attributes, head: tokens.into_iter().collect(), generics, trait_path, self_type, body })
    }

    /// The last name of the trait's path: `Source` of `connect_sdk::source::Source`.
    pub(crate) fn trait_name(&self) -> Option<Ident> {
        last_name(&self.trait_path)
    }

    /// The last name of the type's path.
    pub(crate) fn type_name(&self) -> Option<Ident> {
        last_name(&self.self_type)
    }

    /// The `#[cfg(..)]` among the attributes, which code beside the impl must repeat.
    pub(crate) fn conditions(&self) -> TokenStream {
        conditions(&self.attributes)
    }

    /// True for an impl of a path, false for one of a reference, tuple, trait object and the like.
    pub(crate) fn is_of_named_type(&self) -> bool {
        match self.self_type.clone().into_iter().next() {
            Some(TokenTree::Punct(first)) => matches!(first.as_char(), ':' | '<'),
            Some(TokenTree::Ident(first)) => !["dyn", "impl", "fn"].iter().any(|word| first == word),
            Some(TokenTree::Group(first)) => first.delimiter() == Delimiter::None,
            Some(TokenTree::Literal(_)) => false,
            // Not typed yet.
            None => true,
        }
    }

    /// What stands behind the `=` of `type name = ..;`.
    pub(crate) fn associated_type(&self, name: &str) -> Option<TokenStream> {
        let parts = &self.body.as_ref()?.parts;
        let is =
            |token: Option<&TokenTree>, wanted: &str| matches!(token, Some(TokenTree::Ident(word)) if word == wanted);
        parts.iter().find_map(|part| {
            let at = part.tokens.iter().position(|token| is(Some(token), "type"))?;
            if !is(part.tokens.get(at + 1), name) || !is_punct(part.tokens.get(at + 2), '=') {
                return None;
            }
            Some(part.tokens[at + 3..].iter().filter(|token| !is_punct(Some(token), ';')).cloned().collect())
        })
    }

    /// The doc comment among the attributes.
    pub(crate) fn doc(&self) -> String {
        doc(&self.attributes)
    }

    /// Functions that were taken out, in an impl of their own, where they mean the same and disturb nothing.
    pub(crate) fn outside(&self, functions: &[Part], trait_path: &TokenStream) -> TokenStream {
        let functions = functions.iter().map(|part| written_out(part.tokens(), trait_path));
        let (self_type, generics, cfg) = (&self.self_type, &self.generics, self.conditions());
        quote! {
            #cfg
            #[allow(dead_code)]
            impl #generics #self_type {
                #(#functions)*
            }
        }
    }

    /// Adds an item to the end of the body.
    pub(crate) fn add(&mut self, item: TokenStream) {
        if let Some(body) = &mut self.body {
            body.parts.push(Part::new(item.into_iter().collect(), true));
        }
    }

    /// Removes the functions for which `wanted` holds from the body.
    pub(crate) fn take_functions(&mut self, mut wanted: impl FnMut(&Part) -> bool) -> Vec<Part> {
        let Some(body) = &mut self.body else { return Vec::new() };
        let (taken, kept) = body.parts.drain(..).partition(|part| part.function.is_some() && wanted(part));
        body.parts = kept;
        taken
    }
}

impl ToTokens for TraitImpl {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(self.attributes.iter().cloned());
        self.head.to_tokens(tokens);
        if let Some(body) = &self.body {
            let inner = body.parts.iter().flat_map(|part| part.tokens.iter().cloned()).collect();
            let mut braces = Group::new(Delimiter::Brace, inner);
            braces.set_span(body.braces.span());
            braces.to_tokens(tokens);
        }
    }
}

impl Body {
    fn parse(braces: Group) -> Self {
        let mut parts = Vec::new();
        let mut part = Vec::new();
        let mut kind = Kind::Unknown;
        let mut tokens = braces.stream().into_iter().peekable();
        while let Some(token) = tokens.next() {
            if let (Kind::Unknown, TokenTree::Ident(word)) = (&kind, &token) {
                kind = match word.to_string().as_str() {
                    "fn" => Kind::Function,
                    "const" if !matches!(tokens.peek(), Some(TokenTree::Ident(next)) if is_function_word(next)) => {
                        Kind::UntilSemicolon
                    }
                    "type" | "use" | "static" => Kind::UntilSemicolon,
                    _ => Kind::Unknown,
                };
            }
            let ends = match &token {
                TokenTree::Punct(punct) => punct.as_char() == ';',
                TokenTree::Group(group) => {
                    group.delimiter() == Delimiter::Brace && !matches!(kind, Kind::UntilSemicolon)
                }
                _ => false,
            };
            part.push(token);
            if ends {
                parts.push(Part::new(std::mem::take(&mut part), matches!(kind, Kind::Function)));
                kind = Kind::Unknown;
            }
        }
        if !part.is_empty() {
            parts.push(Part { tokens: part, function: None, has_generics: false, parameters: None });
        }
        Self { braces, parts }
    }
}

enum Kind {
    Unknown,
    Function,
    UntilSemicolon,
}

impl Part {
    fn new(tokens: Vec<TokenTree>, is_function: bool) -> Self {
        let has_body = matches!(tokens.last(), Some(TokenTree::Group(_)));
        let keyword = tokens.iter().position(|token| matches!(token, TokenTree::Ident(word) if *word == "fn"));
        let (mut function, mut parameters) = (None, None);
        let mut has_generics = false;
        if let (true, true, Some(keyword)) = (is_function, has_body, keyword)
            && let Some(TokenTree::Ident(name)) = tokens.get(keyword + 1)
        {
            let rest = &tokens[keyword + 2..];
            let generics = if is_punct(rest.first(), '<') { angle_length(rest) } else { 0 };
            if let Some(TokenTree::Group(group)) = rest.get(generics)
                && group.delimiter() == Delimiter::Parenthesis
            {
                function = Some(name.clone());
                has_generics = generics > 0;
                parameters = Some(group.clone());
            }
        }
        Self { tokens, function, has_generics, parameters }
    }

    /// True if it is an `async fn`.
    pub(crate) fn is_async(&self) -> bool {
        let before = self.tokens.iter().take_while(|token| !matches!(token, TokenTree::Ident(word) if *word == "fn"));
        self.function.is_some() && before.into_iter().any(|t| matches!(t, TokenTree::Ident(word) if *word == "async"))
    }

    /// True if the function takes `self` by value.
    pub(crate) fn consumes_self(&self) -> bool {
        let Some(parameters) = &self.parameters else { return false };
        let mut tokens = parameters.stream().into_iter();
        let is = |token: Option<TokenTree>, wanted| matches!(token, Some(TokenTree::Ident(word)) if word == wanted);
        match tokens.next() {
            Some(TokenTree::Ident(word)) if word == "self" => {
                // `self: &mut Self` does not consume it.
                let typed = matches!(tokens.next(), Some(TokenTree::Punct(colon)) if colon.as_char() == ':');
                !typed || is(tokens.next(), "Self")
            }
            Some(TokenTree::Ident(word)) if word == "mut" => is(tokens.next(), "self"),
            _ => false,
        }
    }

    /// The part as it stands.
    pub(crate) fn tokens(&self) -> TokenStream {
        self.tokens.iter().cloned().collect()
    }
}

/// The associated types of the traits that authors implement.
const ASSOCIATED_TYPES: &[&str] = &["Config", "Partition", "Offset"];

/// `Self::Offset` becomes `<Self as Trait>::Offset`.
fn written_out(tokens: TokenStream, trait_path: &TokenStream) -> TokenStream {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut out = TokenStream::new();
    for (i, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(word)
                if *word == "Self"
                    && is_punct(tokens.get(i + 1), ':')
                    && matches!(tokens.get(i + 3), Some(TokenTree::Ident(name)) if ASSOCIATED_TYPES.iter().any(|a| name == a)) =>
            {
                out.extend(quote!(<#word as #trait_path>));
            }
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), written_out(group.stream(), trait_path));
                inner.set_span(group.span());
                inner.to_tokens(&mut out);
            }
            other => other.to_tokens(&mut out),
        }
    }
    out
}

/// The doc comment among attributes.
pub(crate) fn doc(attributes: &[TokenStream]) -> String {
    let all: TokenStream = attributes.iter().map(ToTokens::to_token_stream).collect();
    syn::Attribute::parse_outer.parse2(all).map_or_else(|_| String::new(), |attrs| crate::doc_comments::text(&attrs))
}

/// The `#[cfg(..)]` among attributes.
pub(crate) fn conditions(attributes: &[TokenStream]) -> TokenStream {
    let is_condition = |attribute: &&TokenStream| matches!(syn::Attribute::parse_outer.parse2((*attribute).clone()), Ok(attrs) if attrs.iter().all(|a| a.path().is_ident("cfg")));
    attributes.iter().filter(is_condition).cloned().collect()
}

/// Removes the attributes at the beginning, each as its `#` and its brackets.
pub(crate) fn take_attributes(tokens: &mut Vec<TokenTree>) -> Vec<TokenStream> {
    let mut attributes = Vec::new();
    while tokens.len() >= 2
        && is_punct(tokens.first(), '#')
        && matches!(&tokens[1], TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket)
    {
        attributes.push(tokens.drain(..2).collect());
    }
    attributes
}

/// Words that may stand before the keyword of an item.
fn is_modifier(token: &TokenTree) -> bool {
    match token {
        TokenTree::Ident(word) => {
            ["pub", "unsafe", "default", "async", "extern"].iter().any(|modifier| word == modifier)
        }
        // `pub(crate)`
        TokenTree::Group(group) => group.delimiter() == Delimiter::Parenthesis,
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    }
}

fn is_function_word(word: &Ident) -> bool {
    ["fn", "async", "unsafe", "extern"].iter().any(|function_word| word == function_word)
}

fn is_punct(token: Option<&TokenTree>, wanted: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == wanted)
}

/// How many tokens the `<..>` at the beginning has.
fn angle_length(tokens: &[TokenTree]) -> usize {
    let mut depth = Depth::default();
    for (i, token) in tokens.iter().enumerate() {
        depth.pass(token);
        if depth.is_outside() {
            return i + 1;
        }
    }
    tokens.len()
}

/// Where a word stands outside `<..>`.
fn position_outside_angles(tokens: &[TokenTree], wanted: &str) -> Option<usize> {
    let mut depth = Depth::default();
    tokens.iter().position(|token| {
        depth.pass(token);
        depth.is_outside() && matches!(token, TokenTree::Ident(word) if word == wanted)
    })
}

/// How many `<` are open.
#[derive(Default)]
struct Depth {
    open: usize,
    after_minus: bool,
}

impl Depth {
    fn pass(&mut self, token: &TokenTree) {
        let TokenTree::Punct(punct) = token else {
            self.after_minus = false;
            return;
        };
        match punct.as_char() {
            '<' => self.open += 1,
            '>' if !self.after_minus => self.open = self.open.saturating_sub(1),
            _ => {}
        }
        // The `>` of `->` closes nothing.
        self.after_minus = punct.as_char() == '-' && punct.spacing() == Spacing::Joint;
    }

    fn is_outside(&self) -> bool {
        self.open == 0
    }
}

/// The last name of a path, without type arguments; nothing for types that are not paths.
fn last_name(path: &TokenStream) -> Option<Ident> {
    let tokens: Vec<TokenTree> = path.clone().into_iter().collect();
    let mut name = None;
    let mut depth = Depth::default();
    for token in tokens {
        depth.pass(&token);
        if depth.is_outside()
            && let TokenTree::Ident(word) = token
        {
            name = Some(word);
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<TraitImpl, NotTraitImpl> {
        TraitImpl::parse(text.parse().expect("tokens"))
    }

    #[test]
    fn an_impl_comes_back_token_by_token() {
        for text in [
            "#[doc = \"x\"] impl Source for X { type A = B; async fn poll(&mut self) -> Result<()> { self. } }",
            "impl<T: Fn(u8) -> u8> a::Source<T> for b::X<T> where T: Send { const N: usize = { 1 }; fn f(); }",
            "impl Source for X { async fn po type A = ; let x }",
            "unsafe impl Source for X { macro_call! { a } fn a<F: Fn(i32) -> i32>(f: F) {} pub fn b(self) {} }",
        ] {
            let tokens: TokenStream = text.parse().unwrap();
            let parsed = TraitImpl::parse(tokens.clone()).ok().unwrap();
            assert_eq!(parsed.to_token_stream().to_string(), tokens.to_string());
        }
    }

    #[test]
    fn the_parts_of_the_head_are_found() {
        let item = parse("impl<'a, T> crate::sdk::Source for m::X<'a, T> where T: Fn() -> u8 {}").ok().unwrap();
        assert_eq!(item.generics.as_ref().unwrap().to_string(), "<'a , T >");
        assert_eq!(item.trait_name().unwrap().to_string(), "Source");
        assert_eq!(item.type_name().unwrap().to_string(), "X");
        assert!(parse("impl X { fn for_all() {} }").is_err_and(|not| matches!(not.what, What::InherentImpl)));
        assert!(
            parse("pub(crate) struct X;").is_err_and(|not| matches!(not.what, What::Item(word) if word == "struct"))
        );
    }

    #[test]
    fn functions_are_taken_out_and_mean_the_same_outside() {
        let mut item = parse(
            "impl Source for X { fn a() {} async fn commit(&mut self, o: Self::Offset) { Self::f(o) } type B = C; \
             fn close(mut self) {} fn close(&mut self) {} }",
        )
        .ok()
        .unwrap();
        let taken = item.take_functions(|part| part.function.as_ref().unwrap() == "commit");
        assert_eq!(
            written_out(taken[0].tokens(), &quote!(S)).to_string(),
            "async fn commit (& mut self , o : < Self as S > :: Offset) { Self :: f (o) }"
        );
        let consuming = item.take_functions(Part::consumes_self);
        assert_eq!(consuming.len(), 1);
        assert!(item.to_token_stream().to_string().ends_with("{ fn a () { } type B = C ; fn close (& mut self) { } }"));
    }
}
