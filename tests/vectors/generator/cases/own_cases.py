"""Cases that are not in the open set, each for a fact that no other case shows. Usage: python3 own_cases.py FOLDER"""
import sys

from notation import *

s = Suite("own")
T = s.transform
CAST = TRANSFORMS + "Cast$Value"
TOMBSTONE = TRANSFORMS + "predicates.RecordIsTombstone"


def validate(config, connector="FileStreamSink", quirk=None, note=None):
    base = {"name": "c", "connector.class": connector, "file": "f", "topics" if "Sink" in connector else "topic": "t"}
    s.add("validation", "connector", "validation", connector, None, {**base, **config}, None, quirk, note)


def cast(**more):
    keys = {"transforms": "a", "transforms.a.type": CAST, "transforms.a.spec": "int8"}
    return {**keys, **{f"transforms.a.{k.replace('_', '.')}": v for k, v in more.items()}}


# ---- what a worker says about transformations, predicates and converters ------------------------------------------------
validate({})
validate({}, connector="FileStreamSourceConnector")
validate(cast())
validate(cast(spec="int9", negate="x"))
validate(cast(negate="true"))
validate({"transforms": "a", "transforms.a.type": "Filter", "transforms.a.predicate": "p", "transforms.a.negate": "true", "predicates": "p", "predicates.p.type": "RecordIsTombstone"})
validate({"transforms": "a", "transforms.a.type": TRANSFORMS + "ExtractField$Key", "transforms.a.field.syntax.version": "V3", "transforms.a.replace.null.with.default": "x"})
validate({"transforms": "a,b", "transforms.a.type": "InsertHeader", "transforms.b.type": "TimestampRouter"})
validate({"transforms": "a,a", "transforms.a.type": "Filter"})
validate({"transforms": "a,b", "transforms.b.type": "nope"})
validate({"predicates": "p", "predicates.p.type": "TopicNameMatches"})
# classes that are something else
validate({"transforms": "a", "transforms.a.type": TRANSFORMS + "Cast"})
validate({"transforms": "a", "transforms.a.type": TOMBSTONE})
validate({"predicates": "p", "predicates.p.type": TRANSFORMS + "Filter"})
validate({"key.converter": STORAGE + "SimpleHeaderConverter", "key.converter.plugin.version": "1"})
# versions
for version in ("4.3.1", "latest", "[4.0,)", "1", "[5,)", "(,3],[3.5,4)", ""):
    validate(cast(plugin_version=version))
    validate({"predicates": "p", "predicates.p.type": TOMBSTONE, "predicates.p.plugin.version": version})
validate(cast(plugin_version="(1"))
validate({"transforms": "a", "transforms.a.plugin.version": "1"})
validate({"connector.plugin.version": "[4.3.1]"})
validate({"header.converter": STORAGE + "SimpleHeaderConverter", "header.converter.plugin.version": "5"})
validate({"header.converter": STORAGE + "SimpleHeaderConverter", "header.converter.plugin.version": "[4,5)"})
validate({"key.converter.plugin.version": "5"}, note="the worker's converter is used, whatever version is asked for")
validate({"key.converter": "JsonConverter", "key.converter.plugin.version": "[4,5)", "key.converter.schemas.enable": "x"})
validate({"value.converter": "nope", "value.converter.plugin.version": "1"})

# ---- which of two mistakes is told ------------------------------------------------------------------------------------
T("ExtractField$Value", {"field": "a", "field.syntax.version": "V3", "replace.null.with.default": "x"}, rec(None, SM(a=I32(1))))
s.config("validatePlugin", {"props": {"header": "h"}}, class_=TRANSFORMS + "InsertHeader")
s.config("validatePlugin", {"props": {"value.literal": None}}, class_=TRANSFORMS + "InsertHeader")

for file in ("transforms", "config"):
    s.files["own_" + file] = s.files.pop(file)
s.save(sys.argv[1])
print({file: len(cases) for file, cases in s.files.items()})
