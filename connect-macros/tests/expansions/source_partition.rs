//! What the macro writes; `p` stands for `::connect_sdk::__private`.

const _: () = {
    const __FIELD_0: p::Ops<String> = p::partition_field::<String>();
    #[automatically_derived]
    impl p::SourcePartition for InFile {
        const FIELDS: &'static [p::FieldMeta] =
            &[p::FieldMeta { name: "filename", kind: __FIELD_0.kind, may_be_absent: __FIELD_0.optional || false }];
        fn __encode(&self) -> p::FieldMap {
            let mut __map = p::FieldMap::with_capacity(1usize);
            __map.set("filename", (__FIELD_0.put)(&self.filename));
            __map
        }
        fn __decode(__stored: &p::FieldMap) -> p::Result<Self, p::RestoreError> {
            p::Ok(Self { filename: p::restore_field(__stored, "InFile", "filename", &__FIELD_0, p::None)? })
        }
    }
};
