//! SchemaProjector: whatever schemas meet, what it gives fits the target; a schema is its own projection; and where two
//! projections follow each other, the second finds nothing to change but nulls that have defaults.
#![no_main]

use arbitrary::{Result, Unstructured};
use connect_fuzz::generate;
use connect_sdk::data::values::convert_to_string;
use connect_sdk::data::{Value, projector::project, validate_value};
use libfuzzer_sys::fuzz_target;

fn check(u: &mut Unstructured<'_>) -> Result<()> {
    let source = generate::schema(u)?;
    let value = generate::value_of(u, &source)?;
    let same = project(&source, value.as_ref(), &source).expect("a value fits its own schema");
    // As text: a null in a struct becomes the default of its field, as in Java.
    let text = |value: &Option<Value>| value.as_ref().map(convert_to_string);
    assert_eq!(text(&same), text(&value));
    let target = generate::schema(u)?;
    if let Ok(projected) = project(&source, value.as_ref(), &target) {
        if projected.is_some() {
            validate_value(&target, projected.as_ref()).expect("what was projected fits its target");
        }
        let again = project(&target, projected.as_ref(), &target).expect("a value fits its own schema");
        assert_eq!(text(&again), text(&projected));
    }
    // A value that is none of its schema.
    let other = generate::value(u)?;
    let _refused = project(&source, Some(&other), &target);
    let _refused = project(&source, Some(&other), &source);
    Ok(())
}

fuzz_target!(|bytes: &[u8]| {
    let _end = check(&mut Unstructured::new(bytes));
});
