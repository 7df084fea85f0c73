//! What the macro writes; `p` stands for `::connect_sdk::__private`.

const _: () = {
    const __FIELD_0: p::Ops<i64> = p::offset_field::<i64>();
    const __FIELD_1: p::Ops<i32> = p::offset_field::<i32>();
    const __FIELD_2: p::Ops<Option<String>> = p::offset_field::<Option<String>>();
    #[automatically_derived]
    impl p::SourceOffset for Pos {
        const FIELDS: &'static [p::FieldMeta] = &[
            p::FieldMeta { name: "position", kind: __FIELD_0.kind, may_be_absent: __FIELD_0.optional || false },
            p::FieldMeta { name: "epoch", kind: __FIELD_1.kind, may_be_absent: __FIELD_1.optional || true },
            p::FieldMeta { name: "etag", kind: __FIELD_2.kind, may_be_absent: __FIELD_2.optional || false },
        ];
        fn __encode(&self) -> p::FieldMap {
            let mut __map = p::FieldMap::with_capacity(3usize);
            __map.set("position", (__FIELD_0.put)(&self.position));
            __map.set("epoch", (__FIELD_1.put)(&self.epoch));
            __map.set("etag", (__FIELD_2.put)(&self.tag));
            __map
        }
        fn __decode(__stored: &p::FieldMap) -> p::Result<Self, p::RestoreError> {
            p::Ok(Self {
                position: p::restore_field(__stored, "Pos", "position", &__FIELD_0, p::None)?,
                epoch: p::restore_field(__stored, "Pos", "epoch", &__FIELD_1, p::Some(|| 0))?,
                tag: p::restore_field(__stored, "Pos", "etag", &__FIELD_2, p::None)?,
            })
        }
        fn __duplicate(&self) -> Self {
            Self {
                position: (__FIELD_0.duplicate)(&self.position),
                epoch: (__FIELD_1.duplicate)(&self.epoch),
                tag: (__FIELD_2.duplicate)(&self.tag),
            }
        }
        fn __same(&self, __other: &Self) -> bool {
            (__FIELD_0.same)(&self.position, &__other.position)
                && (__FIELD_1.same)(&self.epoch, &__other.epoch)
                && (__FIELD_2.same)(&self.tag, &__other.tag)
        }
        fn __not_finite(&self) -> p::Option<&'static p::core::primitive::str> {
            if !(__FIELD_0.is_finite)(&self.position) {
                return p::Some("position");
            }
            if !(__FIELD_1.is_finite)(&self.epoch) {
                return p::Some("epoch");
            }
            if !(__FIELD_2.is_finite)(&self.tag) {
                return p::Some("etag");
            }
            p::None
        }
    }
    #[cfg(not(test))]
    const __LOCK: &p::core::primitive::str = p::core::include_str!("offsets.lock");
    #[cfg(not(test))]
    const _: () = p::check_lock(
        __LOCK,
        "Pos",
        &<Pos as p::SourceOffset>::FIELDS[0usize],
        false,
        [
            "`Pos.position` is not in `offsets.lock`: offsets that are stored already do not have it; give it a default: `#[offset(default = ..)]`",
            "`Pos.position` is not of the kind that `offsets.lock` says: what is stored could not be read back; keep the type, or give the field another name",
            "`Pos.position` may be absent from what is stored, as `offsets.lock` says; keep the `Option` or give it a default: `#[offset(default = ..)]`",
        ],
    );
    #[cfg(not(test))]
    const _: () = p::check_lock(
        __LOCK,
        "Pos",
        &<Pos as p::SourceOffset>::FIELDS[1usize],
        false,
        [
            "`Pos.epoch` is not in `offsets.lock`: offsets that are stored already do not have it; give it a default: `#[offset(default = ..)]`",
            "`Pos.epoch` is not of the kind that `offsets.lock` says: what is stored could not be read back; keep the type, or give the field another name",
            "`Pos.epoch` may be absent from what is stored, as `offsets.lock` says; keep the `Option` or give it a default: `#[offset(default = ..)]`",
        ],
    );
    #[cfg(not(test))]
    const _: () = p::check_lock(
        __LOCK,
        "Pos",
        &<Pos as p::SourceOffset>::FIELDS[2usize],
        false,
        [
            "`Pos.etag` is not in `offsets.lock`: offsets that are stored already do not have it; give it a default: `#[offset(default = ..)]`",
            "`Pos.etag` is not of the kind that `offsets.lock` says: what is stored could not be read back; keep the type, or give the field another name",
            "`Pos.etag` may be absent from what is stored, as `offsets.lock` says; keep the `Option` or give it a default: `#[offset(default = ..)]`",
        ],
    );
};
#[cfg(test)]
#[p::core::prelude::v1::test]
fn lock_of_pos() {
    p::update_lock(
        p::core::option_env!("CARGO_MANIFEST_DIR"),
        p::core::file!(),
        "offsets.lock",
        "Pos",
        <Pos as p::SourceOffset>::FIELDS,
        false,
    );
}
