//! From JSON to schemas.
//!
//! The members of a schema come in any order, so its text becomes a small tree first. Messages seldom get here: schemas
//! that were read are remembered by their text.

use connect_sdk::data::{DataError, Schema, SchemaBuilder, Type};

use super::number::Number;
use super::reader::read_value;
use super::scanner::{RawText, Scanner, Token};
use super::schema_writer::type_name;

/// Reads a schema; `null` is none.
///
/// `replace_null` is what it is for values: it counts for nulls inside defaults.
pub(super) fn read_schema(scanner: &mut Scanner<'_>, replace_null: bool) -> Result<Option<Schema>, DataError> {
    let root = read_node(scanner)?;
    let reader = SchemaReader { scanner, replace_null };
    reader.schema(&root).map_err(|error| DataError::new(format!("the text of the schema is no schema: {error}")))
}

enum Node<'a> {
    Null,
    Boolean(bool),
    Number(Number<'a>),
    Text(String),
    Array(Vec<Self>),
    Object(Object<'a>),
}

struct Object<'a> {
    members: Vec<Member<'a>>,
    /// The level of its members.
    depth: usize,
}

struct Member<'a> {
    name: RawText<'a>,
    /// Where its value begins.
    position: usize,
    value: Node<'a>,
}

impl<'a> Object<'a> {
    /// The member with this name; of several the last.
    fn member(&self, name: &str) -> Option<&Member<'a>> {
        self.members.iter().rev().find(|member| member.name.as_bytes() == name.as_bytes())
    }

    fn get(&self, name: &str) -> Option<&Node<'a>> {
        self.member(name).map(|member| &member.value)
    }

    fn text(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Some(Node::Text(text)) => Some(text),
            _ => None,
        }
    }
}

impl<'a> Object<'a> {
    fn elements(&self, name: &str) -> &[Node<'a>] {
        match self.get(name) {
            Some(Node::Array(elements)) => elements,
            _ => &[],
        }
    }
}

impl Node<'_> {
    /// The name of the field that this is the schema of.
    fn field_name(&self) -> Option<&str> {
        match self {
            Node::Object(object) => object.text("field"),
            _ => None,
        }
    }
}

/// A list or an object of which the rest is still to be read.
enum Open<'a> {
    Array(Vec<Node<'a>>),
    Object { object: Object<'a>, name: RawText<'a>, position: usize },
}

fn read_node<'a>(scanner: &mut Scanner<'a>) -> Result<Node<'a>, DataError> {
    let mut open: Vec<Open<'a>> = Vec::new();
    loop {
        let mut node = match scanner.token()? {
            Token::Null => Node::Null,
            Token::Boolean(value) => Node::Boolean(value),
            Token::Number(number) => Node::Number(number),
            Token::Text(text) => Node::Text(scanner.to_str(&text)?.to_owned()),
            Token::Array if scanner.close_if_empty(b']') => Node::Array(Vec::new()),
            Token::Array => {
                open.push(Open::Array(Vec::new()));
                continue;
            }
            Token::Object => {
                let object = Object { members: Vec::new(), depth: scanner.depth() };
                if scanner.close_if_empty(b'}') {
                    Node::Object(object)
                } else {
                    let name = scanner.name()?;
                    open.push(Open::Object { object, name, position: scanner.position() });
                    continue;
                }
            }
        };
        // The node is complete: it goes into what is open, which may be complete in turn.
        loop {
            match open.pop() {
                None => return Ok(node),
                Some(Open::Array(mut elements)) => {
                    elements.push(node);
                    if scanner.another(b']')? {
                        open.push(Open::Array(elements));
                        break;
                    }
                    node = Node::Array(elements);
                }
                Some(Open::Object { mut object, name, position }) => {
                    object.members.push(Member { name, position, value: node });
                    if scanner.another(b'}')? {
                        let name = scanner.name()?;
                        open.push(Open::Object { object, name, position: scanner.position() });
                        break;
                    }
                    node = Node::Object(object);
                }
            }
        }
    }
}

/// Where a schema stands in the one around it.
#[derive(Clone, Copy)]
enum Place {
    Root,
    Items,
    Keys,
    Values,
    Field(usize),
}

/// A schema of the tree.
struct Item<'n, 'a> {
    object: &'n Object<'a>,
    kind: Type,
    place: Place,
    /// The schema around it, which stands before it in the list.
    parent: usize,
    /// The schemas of its parts, as far as they are made, the last part first.
    parts: Vec<Schema>,
}

struct SchemaReader<'r, 'a> {
    scanner: &'r Scanner<'a>,
    replace_null: bool,
}

impl<'a> SchemaReader<'_, 'a> {
    /// Lists all schemas, each before its parts, and then makes them from the end of the list on: however deep the schema
    /// is, nothing recurses.
    fn schema(&self, root: &Node<'a>) -> Result<Option<Schema>, DataError> {
        if let Node::Null = root {
            return Ok(None);
        }
        let mut items = vec![item(root, Place::Root, 0)?];
        let mut next = 0;
        while next < items.len() {
            if let Err((error, part)) = add_parts(&mut items, next) {
                let (place, parent) = part.map_or((items[next].place, items[next].parent), |part| (part, next));
                return Err(located(error, &items, place, parent));
            }
            next += 1;
        }
        loop {
            let Some(Item { object, kind, place, parent, parts }) = items.pop() else { return Ok(None) };
            let schema = self.build(object, kind, parts).map_err(|error| located(error, &items, place, parent))?;
            match items.get_mut(parent) {
                Some(around) => around.parts.push(schema),
                None => return Ok(Some(schema)),
            }
        }
    }

    /// `parts` are in reverse order.
    fn build(&self, object: &Object<'a>, kind: Type, mut parts: Vec<Schema>) -> Result<Schema, DataError> {
        let mut builder = match (kind, parts.pop(), parts.pop()) {
            (Type::Array, Some(element), _) => SchemaBuilder::array(element),
            (Type::Map, Some(key), Some(value)) => SchemaBuilder::map(key, value),
            (Type::Struct, first, second) => {
                let schemas = first.into_iter().chain(second).chain(parts.into_iter().rev());
                let names = object.elements("fields").iter().filter_map(Node::field_name);
                names.zip(schemas).fold(SchemaBuilder::struct_(), |builder, (name, schema)| builder.field(name, schema))
            }
            (kind, ..) => SchemaBuilder::new(kind),
        };
        if let Some(Node::Boolean(true)) = object.get("optional") {
            builder = builder.optional();
        }
        if let Some(name) = object.text("name") {
            builder = builder.name(name);
        }
        if let Some(Node::Number(version)) = object.get("version")
            && version.is_integral()
        {
            let version = version.as_i64().and_then(|version| i32::try_from(version).ok()).ok_or_else(|| {
                DataError::new(format!("`{}` is no version, which is an integer of 32 bits", version.text()))
            })?;
            builder = builder.version(version);
        }
        if let Some(doc) = object.text("doc") {
            builder = builder.doc(doc);
        }
        if let Some(Node::Object(parameters)) = object.get("parameters") {
            for Member { name, value, .. } in &parameters.members {
                let name = self.scanner.to_str(name)?;
                let Node::Text(value) = value else {
                    return Err(DataError::new(format!(
                        "the value of the parameter `{}` is not text",
                        shortened(name)
                    )));
                };
                builder = builder.parameter(name, value.as_str());
            }
        }
        let schema = builder.build()?;
        match object.member("default") {
            Some(default) => self.with_default(&schema, default, object.depth),
            None => Ok(schema),
        }
    }

    fn with_default(&self, schema: &Schema, default: &Member<'a>, depth: usize) -> Result<Schema, DataError> {
        let mut scanner = self.scanner.at(default.position, depth);
        let value =
            read_value(&mut scanner, Some(schema), self.replace_null).map_err(|error| error.in_field("default"))?;
        SchemaBuilder::from_schema(schema).default_value(value).build()
    }
}

fn item<'n, 'a>(node: &'n Node<'a>, place: Place, parent: usize) -> Result<Item<'n, 'a>, DataError> {
    let Node::Object(object) = node else { return Err(no_type()) };
    Ok(Item { object, kind: kind(object)?, place, parent, parts: Vec::new() })
}

/// Adds the parts of a schema to the list; an error comes with the part that it is about, if it is not the whole.
fn add_parts<'n, 'a>(items: &mut Vec<Item<'n, 'a>>, parent: usize) -> Result<(), (DataError, Option<Place>)> {
    let Item { object, kind, .. } = items[parent];
    let mut part = |name: &str, place| match object.get(name) {
        None | Some(Node::Null) => Err((lacks_part(name), None)),
        Some(node) => {
            items.push(item(node, place, parent).map_err(|error| (error, Some(place)))?);
            Ok(())
        }
    };
    match kind {
        Type::Array => part("items", Place::Items),
        Type::Map => {
            part("keys", Place::Keys)?;
            part("values", Place::Values)
        }
        Type::Struct => {
            let Some(Node::Array(nodes)) = object.get("fields") else {
                return Err((DataError::new("a struct needs the member `fields`, which is an array"), None));
            };
            for (index, node) in nodes.iter().enumerate() {
                let place = Place::Field(index);
                if node.field_name().is_none() {
                    return Err((DataError::new("a field needs the member `field`, which is its name"), Some(place)));
                }
                items.push(item(node, place, parent).map_err(|error| (error, Some(place)))?);
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The error with the path to the schema at this place of this parent.
fn located(mut error: DataError, items: &[Item<'_, '_>], mut place: Place, mut parent: usize) -> DataError {
    loop {
        error = match place {
            Place::Root => return error,
            Place::Items => error.in_field("items"),
            Place::Keys => error.in_field("keys"),
            Place::Values => error.in_field("values"),
            Place::Field(index) => error.in_element(index).in_field("fields"),
        };
        let Some(around) = items.get(parent) else { return error };
        (place, parent) = (around.place, around.parent);
    }
}

fn kind(object: &Object<'_>) -> Result<Type, DataError> {
    let name = object.text("type").ok_or_else(no_type)?;
    Type::ALL.into_iter().find(|kind| type_name(*kind) == name).ok_or_else(|| {
        let known: Vec<String> = Type::ALL.iter().map(|kind| format!("`{}`", type_name(*kind))).collect();
        DataError::new(format!("unknown type `{}`; the types are {}", shortened(name), known.join(", ")))
    })
}

/// Text from a message as an error shows it: not more than tells what it was.
fn shortened(text: &str) -> String {
    const CHARS_MAX: usize = 64;
    text.chars().take(CHARS_MAX).collect()
}

fn no_type() -> DataError {
    DataError::new("a schema is an object with the member `type`, which is text")
}

fn lacks_part(name: &str) -> DataError {
    DataError::new(format!("the member `{name}`, the schema of the parts, is missing or null"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use connect_sdk::data::Value;

    fn read(text: &str) -> Result<Option<Schema>, DataError> {
        let mut scanner = Scanner::new(text.as_bytes());
        let schema = read_schema(&mut scanner, true)?;
        scanner.finish()?;
        Ok(schema)
    }

    #[test]
    fn members_come_in_any_order() {
        let text = r#" { "optional" : true, "parameters":{"a":"b"}, "fields":[{"field":"x","default":5,"type":"int8"}], "version":3,
            "type":"string", "type":"struct", "zz":[{}], "name":"n", "doc":"d" } "#;
        let schema = read(text).unwrap().unwrap();
        let x = SchemaBuilder::int8().default_value(5i8).build().unwrap();
        let builder =
            SchemaBuilder::struct_().field("x", x).name("n").version(3).doc("d").parameter("a", "b").optional();
        assert_eq!(schema, builder.build().unwrap());
        assert_eq!(read("null").unwrap(), None);
    }

    #[test]
    fn a_struct_may_be_a_default() {
        let text = r#"{"type":"struct","fields":[{"type":"int32","field":"x"}],"default":{"x":1}}"#;
        let schema = read(text).unwrap().unwrap();
        let default = schema.default().and_then(Value::as_struct).unwrap();
        assert_eq!(default.get_int32("x").unwrap(), Some(1));
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        for (text, part) in [
            ("5", "member `type`"),
            ("{}", "member `type`"),
            (r#"{"type":"int31"}"#, "unknown type `int31`; the types are `int8`"),
            (r#"{"type":"array"}"#, "`items`"),
            (r#"{"type":"map","keys":null,"values":{"type":"int8"}}"#, "`keys`"),
            (r#"{"type":"struct","fields":{}}"#, "`fields`"),
            (r#"{"type":"struct","fields":[{"type":"int8","field":"a"},{"type":"int8"}]}"#, "`fields[1]`"),
            (r#"{"type":"struct","fields":[{"type":"array","field":"a","items":{"type":"x"}}]}"#, "`fields[0].items`"),
            (r#"{"type":"array","items":{"type":"struct"}}"#, "`items`: a struct needs"),
            (r#"{"type":"int8","version":3000000000}"#, "3000000000"),
            (r#"{"type":"int8","parameters":{"p":1}}"#, "`p`"),
            (r#"{"type":"int8","default":300}"#, "`default`"),
            (r#"{"type":"int8","default":null}"#, "`default`"),
            (
                r#"{"type":"struct","fields":[{"type":"int8","field":"a"},{"type":"int8","field":"a"}]}"#,
                "two fields named `a`",
            ),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn depth_is_no_matter_of_the_stack() {
        let levels = super::super::scanner::LEVELS_MAX;
        let text = r#"{"type":"array","items":"#.repeat(levels - 1) + r#"{"type":"int8"}"# + &"}".repeat(levels - 1);
        let read = move || {
            let schema = read(&text).unwrap().unwrap();
            assert_eq!(schema.kind(), Type::Array);
        };
        std::thread::Builder::new().stack_size(1 << 20).spawn(read).unwrap().join().unwrap();
    }
}
