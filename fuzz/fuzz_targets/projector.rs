//! SchemaProjector: whatever schemas meet, what it gives fits the target; a schema is its own projection; and where two
//! projections follow each other, the second finds nothing to change.
#![no_main]

use arbitrary::{Result, Unstructured};
use connect_fuzz::generate;
use connect_sdk::data::{projector::project, validate_value};
use libfuzzer_sys::fuzz_target;

fn check(u: &mut Unstructured<'_>) -> Result<()> {
    let source = generate::schema(u)?;
    let value = generate::value_of(u, &source)?;
    let same = project(&source, value.as_ref(), &source).expect("a value fits its own schema");
    assert_eq!(same, value);
    let target = generate::schema(u)?;
    if let Ok(projected) = project(&source, value.as_ref(), &target) {
        if projected.is_some() {
            validate_value(&target, projected.as_ref()).expect("what was projected fits its target");
        }
        // As text: the schema of a struct in a default is that of the struct, but for the default.
        let again = project(&target, projected.as_ref(), &target).map(|again| format!("{again:?}"));
        assert_eq!(again, Ok(format!("{projected:?}")));
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
