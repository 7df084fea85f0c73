//! Direct sinks that are broken in one place.

use crate::{fixture, honest::TargetConfig, must_catch, target::Target};
use connect_sdk::{
    data::{SchemaAndValue, Value},
    prelude::*,
    sink::SinkConnector,
    testkit::check_sink,
};

/// Writes the methods of a direct sink around its `put`.
macro_rules! direct {
    ($(#[$doc:meta])* $name:literal $type:ident { $($field:ident: $field_type:ty = $init:expr),* } |$this:ident, $records:ident, $cx:ident| $put:block) => {
        struct $type { target: Target, $($field: $field_type),* }

        $(#[$doc])*
        #[sink_connector(name = $name)]
        impl DirectSink for $type {
            type Config = TargetConfig;

            async fn open(cfg: &TargetConfig, _: &OpenCx) -> Result<Self> {
                Ok(Self { target: cfg.open(), $($field: $init),* })
            }
            async fn put(&mut self, $records: &[SinkRecord], $cx: &mut PutCx) -> Result<()> {
                let $this = self;
                $put
            }
        }
    };
}

direct! {
    /// Keeps the values, which it may not: a direct sink has written when it returns.
    "keeps-values" KeepsValues { held: Vec<String> = vec![] } |this, records, _cx| {
        this.held.extend(records.iter().map(|r| r.value_text().into_owned()));
        if this.held.len() >= 5 {
            this.held.drain(..).for_each(|row| this.target.write(row));
        }
        Ok(())
    }
}

direct! {
    /// Overlooks the last record of a batch.
    "off-by-one" OffByOne {} |this, records, _cx| {
        records.iter().take(records.len().max(1) - 1).for_each(|r| this.target.write(r.value_text()));
        Ok(())
    }
}

direct! {
    /// Does not take a record a second time, as a table with a unique key.
    "unique" Unique {} |this, records, _cx| {
        for r in records {
            if this.target.entries().iter().any(|e| *e == r.value_text()) {
                return Err(TaskError::fatal("duplicate key"));
            }
            this.target.write(r.value_text());
        }
        Ok(())
    }
}

direct! {
    /// Fails without records.
    "needs-records" NeedsRecords {} |this, records, _cx| {
        let first = records.first().ok_or_else(|| TaskError::fatal("an empty batch"))?;
        this.target.write(first.value_text());
        Ok(())
    }
}

#[test]
fn cheats_of_direct_sinks_are_caught() {
    must_catch::<KeepsValues>("is not in the target");
    must_catch::<OffByOne>("is not in the target");
    must_catch::<Unique>("duplicate key");
    must_catch::<NeedsRecords>("an empty batch");
}

direct! {
    /// Writes what it can before the bad record and asks for everything again.
    "replays-batch" ReplaysBatch {} |this, records, _cx| {
        for r in records {
            match r.value() {
                Some(Value::String(text)) => this.target.write(text.as_str()),
                _ => return Err(TaskError::retriable("only text can be written")),
            }
        }
        Ok(())
    }
}

direct! {
    /// Rejects the whole batch for one record.
    "rejects-batch" RejectsBatch {} |this, records, cx| {
        if records.iter().any(|r| !matches!(r.value(), Some(Value::String(_)))) {
            return records.iter().try_for_each(|r| cx.reject(r, "only text can be written"));
        }
        records.iter().for_each(|r| this.target.write(r.value_text()));
        Ok(())
    }
}

direct! {
    /// Does not pass on the error of `reject`.
    "ignores-reject" IgnoresReject {} |this, records, cx| {
        for r in records {
            match r.value() {
                Some(Value::String(text)) => this.target.write(text.as_str()),
                _ => drop(cx.reject(r, "only text can be written")),
            }
        }
        Ok(())
    }
}

direct! {
    /// Writes the good records before the bad one twice.
    "writes-twice" WritesTwice {} |this, records, cx| {
        if let Some(bad) = records.iter().position(|r| !matches!(r.value(), Some(Value::String(_)))) {
            records[..bad].iter().for_each(|r| this.target.write(r.value_text()));
            cx.reject(&records[bad], "only text can be written")?;
        }
        records.iter().filter(|r| matches!(r.value(), Some(Value::String(_)))).for_each(|r| this.target.write(r.value_text()));
        Ok(())
    }
}

#[track_caller]
fn must_catch_with_bad_record<S: SinkConnector>(text: &str) {
    let fixture = fixture(&Target::new()).rejects(SchemaAndValue::new(None, Some(Value::Int32(1))));
    let found = check_sink::<S>(fixture);
    let Err(error) = found else { panic!("`{}` is broken, and the kit did not notice", S::META.name) };
    assert!(error.contains(text), "found something else than `{text}`: {error}");
}

#[test]
fn one_bad_record_must_be_rejected_and_no_other() {
    must_catch_with_bad_record::<ReplaysBatch>("fails instead of calling `cx.reject(&record, why)?`");
    must_catch_with_bad_record::<RejectsBatch>("the sink rejected [0, 1, 2, 3, 4]");
    must_catch_with_bad_record::<IgnoresReject>("pass the error of `cx.reject(..)` on with `?`");
    must_catch_with_bad_record::<WritesTwice>("is 2 times in the target");
}
