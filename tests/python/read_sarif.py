"""read_sarif.py FILE: the log as a model of SARIF 2.1.0 that a package ships. Status 0 where it holds and knows every property; 77 where there
is no such package."""

import json
import sys

try:
    import pydantic
    import sarif_pydantic
except ImportError:
    sys.exit(77)

# the standard leaves their keys to tools
FREE = {"properties", "partial_fingerprints", "partialFingerprints", "$schema", "schema_uri"}


def unknown(value, way="log"):
    """Properties that the standard's model does not have."""
    if isinstance(value, pydantic.BaseModel):
        for name in value.model_extra or {}:
            if name not in FREE:
                yield f"{way}.{name}"
        for name in type(value).model_fields:
            if name not in FREE:
                yield from unknown(getattr(value, name), f"{way}.{name}")
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from unknown(item, f"{way}[{i}]")


with open(sys.argv[1], encoding="utf-8") as file:
    log = sarif_pydantic.Sarif.model_validate(json.load(file))
found = list(unknown(log))
for place in found:
    print(f"unknown property {place}")
results = sum(len(run.results or []) for run in log.runs)
print(f"{results} results")
sys.exit(1 if found or results == 0 else 0)
