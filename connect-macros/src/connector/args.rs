//! The arguments of `#[source_connector(..)]` and `#[sink_connector(..)]`.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::{LitStr, Path, Type};

use crate::description::{Common, Examples};
use crate::diagnostics::{Diagnostics, expected};
use crate::options::{self, Arg, Value};
use crate::symbols;

/// What `#[source_connector(..)]` takes beside that.
#[derive(Default)]
pub(crate) struct OfSource {
    pub(crate) exactly_once: Option<ExactlyOnce>,
    pub(crate) replay_test: Option<Path>,
    pub(crate) connector_transactions: bool,
    pub(crate) on_commit: Option<Type>,
}

/// What the author says of replay.
pub(crate) enum ExactlyOnce {
    Supported(TokenStream),
    Untested(LitStr),
    Unsupported(LitStr),
}

const NAME_EXAMPLE: &str = "name = \"file-lines\"";
const EXAMPLES: Examples =
    Examples { name: NAME_EXAMPLE, java: "java = \"org.apache.kafka.connect.file.FileStreamSourceConnector\"" };
const EXACTLY_ONCE_EXAMPLES: &str = "`exactly_once = supported` with `replay_test = fixture`, or `exactly_once = \
                                     supported(untested = \"why\")`, or `exactly_once = unsupported(why = \"why\")`";

/// Reads the arguments of `#[sink_connector(..)]`.
pub(crate) fn sink(tokens: TokenStream, found: &Diagnostics) -> Common {
    let mut common = Common::default();
    let before = found.count();
    let (ours, foreign): (Vec<Arg>, Vec<Arg>) =
        options::parse(tokens, "#[sink_connector(..)]", symbols::SOURCE_ARGUMENTS, found)
            .into_iter()
            .partition(|arg| symbols::SINK_ARGUMENTS.iter().any(|name| arg.name == name));
    for arg in foreign {
        let why = if arg.name == symbols::ON_COMMIT {
            "a sink is asked in `pre_commit` and told in `closed`"
        } else {
            "a sink's offsets are committed after its records are written, so it delivers at least once"
        };
        found.at(&arg.name, format!("`{}` is an argument of `#[source_connector(..)]` only: {why}", arg.name));
    }
    for arg in ours {
        common.set(&arg, &EXAMPLES, found);
    }
    if common.name.is_none() && found.count() == before {
        found.at_span(Span::call_site(), format!("give the connector the name that users write: `{NAME_EXAMPLE}`"));
    }
    common
}

/// Reads the arguments of `#[source_connector(..)]`.
pub(crate) fn source(tokens: TokenStream, found: &Diagnostics) -> (Common, OfSource) {
    let (mut common, mut own) = (Common::default(), OfSource::default());
    let before = found.count();
    for arg in options::parse(tokens, "#[source_connector(..)]", symbols::SOURCE_ARGUMENTS, found) {
        if common.set(&arg, &EXAMPLES, found) {
            continue;
        }
        match arg.name.to_string().as_str() {
            symbols::EXACTLY_ONCE => own.exactly_once = exactly_once(&arg, found),
            symbols::REPLAY_TEST => own.replay_test = replay_test(&arg, found),
            symbols::TRANSACTION_BOUNDARIES => own.connector_transactions = connector_transactions(&arg, found),
            _ => own.on_commit = arg.ty("on_commit = Type", found),
        }
    }
    // What is missing may be what was misspelt: say it only if nothing else is wrong.
    if found.count() == before {
        missing(&common, &own, found);
    }
    (common, own)
}

fn missing(common: &Common, own: &OfSource, found: &Diagnostics) {
    let replay = format!(
        "say whether every record can be read again from the offset before it: {EXACTLY_ONCE_EXAMPLES}; only the \
         author can know"
    );
    match (&common.name, &own.exactly_once, &own.replay_test) {
        (None, None, _) => found.at_span(
            Span::call_site(),
            format!("give the connector the name that users write, `{NAME_EXAMPLE}`, and {replay}"),
        ),
        (None, Some(_), _) => {
            found.at_span(Span::call_site(), format!("give the connector the name that users write: `{NAME_EXAMPLE}`"));
        }
        (Some(_), None, _) => found.at_span(Span::call_site(), replay),
        (Some(_), Some(ExactlyOnce::Supported(at)), None) => found.at(
            at,
            "`exactly_once = supported` needs `replay_test = fixture`, a function that returns a `Fixture`: types cannot \
             prove that an offset is enough to go on from, a test can. Without one say why: `supported(untested = \"why\")`",
        ),
        (Some(_), Some(ExactlyOnce::Untested(why)), Some(_)) => {
            found.at(why, "there is a replay test: write `exactly_once = supported` without `untested`");
        }
        (Some(_), Some(ExactlyOnce::Unsupported(_)), Some(test)) => found.at(
            test,
            "a source that is `exactly_once = unsupported` cannot be replayed: remove `replay_test`, or say `supported`",
        ),
        _ => {}
    }
}

fn exactly_once(arg: &Arg, found: &Diagnostics) -> Option<ExactlyOnce> {
    let Value::Is(value) = &arg.value else {
        found.at(arg, format!("write {EXACTLY_ONCE_EXAMPLES}"));
        return None;
    };
    let mut tokens = value.clone().into_iter();
    let word = tokens.next().map(|token| token.to_string()).unwrap_or_default();
    let rest: TokenStream = tokens.collect();
    match word.as_str() {
        "supported" if rest.is_empty() => Some(ExactlyOnce::Supported(value.clone())),
        "supported" => because(value, rest, "supported", "untested", found).map(ExactlyOnce::Untested),
        "unsupported" if rest.is_empty() => {
            found.at(
                value,
                "say why it cannot be read again: `exactly_once = unsupported(why = \"..\")`; users are shown it",
            );
            None
        }
        "unsupported" => because(value, rest, "unsupported", "why", found).map(ExactlyOnce::Unsupported),
        written => {
            let near = expected(written.trim_matches('"'), &["supported", "unsupported"]);
            let near = near.split_once('\n').map_or("", |(_, help)| help);
            let near = if near.is_empty() { String::new() } else { format!("\n{near}") };
            found.at(value, format!("`exactly_once` cannot be `{written}`: write {EXACTLY_ONCE_EXAMPLES}{near}"));
            None
        }
    }
}

/// The text in `supported(untested = "..")` or `unsupported(why = "..")`.
fn because(value: &TokenStream, list: TokenStream, word: &str, argument: &str, found: &Diagnostics) -> Option<LitStr> {
    let example = format!("{word}({argument} = \"..\")");
    let Ok(group) = syn::parse2::<proc_macro2::Group>(list) else {
        found.at(value, format!("write `exactly_once = {example}`, and a comma before the next argument"));
        return None;
    };
    if syn::parse2::<LitStr>(group.stream()).is_ok() {
        found.at(group.stream(), format!("say what this is: `{word}({argument} = {})`", group.stream()));
        return None;
    }
    let before = found.count();
    let args = options::parse(group.stream(), word, &[argument], found);
    match args.first() {
        Some(arg) => arg.string(&format!("{argument} = \"..\""), found),
        None => {
            if found.count() == before {
                found.at(group, format!("say why: `{example}`"));
            }
            None
        }
    }
}

fn replay_test(arg: &Arg, found: &Diagnostics) -> Option<Path> {
    if let Value::Is(value) = &arg.value
        && let Ok(call) = syn::parse2::<syn::ExprCall>(value.clone())
    {
        let function = call.func.to_token_stream();
        found.at(value, format!("name the function without calling it: `replay_test = {function}`"));
        return None;
    }
    arg.path("replay_test = fixture", found)
}

fn connector_transactions(arg: &Arg, found: &Diagnostics) -> bool {
    if let Value::Is(value) = &arg.value {
        let written = value.to_string();
        if ["poll", "interval"].contains(&written.to_lowercase().trim_matches('"')) {
            found.at(
                value,
                format!(
                    "`{written}` is the operator's choice, by the key `transaction.boundary`; the attribute says only \
                     whether the source can mark the boundaries itself: `transaction_boundaries = connector`"
                ),
            );
            return false;
        }
    }
    arg.word(&["connector"], found).is_some()
}
