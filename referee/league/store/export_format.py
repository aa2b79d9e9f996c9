"""The form of an exported league: which files there are, and what each line holds, as JSON Schema.

The fields are those of ``referee.league.store.league_facts``. Another field, or one that changes its meaning or goes, makes another
``FORMAT``: whatever stands in an export is checked, so nothing may stand there that nobody knows.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    NotRequired,
    TypedDict,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from referee.league.store.league_facts import (
    ArchivedRecords,
    AttemptLine,
    EntrantLine,
    FaultLine,
    FixtureRow,
    GameRow,
    LadderFacts,
    PublicFacts,
    RecordLine,
    RulingLine,
    SetRow,
)

FORMAT: Final = "allfours-export/2"

FIRST_FORMAT: Final = "allfours-export/1"
"""That of Referee 0.1.0, which is read too: games do not name their attempt, superseded games have no rulings."""

MANIFEST: Final = "export.json"
LEAGUE: Final = "league.json"


class ExportManifest(TypedDict):
    """What this folder is, and the commands that check it and play it again."""

    format: Annotated[str, "The version of the form.", {"const": FORMAT}]
    league: Annotated[str, "The league's name."]
    written_by: Annotated[str, "The version of Referee that wrote the folder."]
    files: NotRequired[
        Annotated[dict[str, object], "SHA-256 of each further file: the schema, the definition, the tables."]
    ]
    rows: Annotated[dict[str, int], "How many lines each JSONL file has."]
    verify: Annotated[str, "The command that checks everything."]
    rerun: Annotated[str, "The command that plays the league again with the same packs."]


class LadderManifest(ExportManifest):
    """What this folder is, and the commands that check it and play it again."""

    archives: NotRequired[
        Annotated[
            list[ArchivedRecords],
            "Of a ladder: the files that the records of old rounds lie in, which are not in `records.jsonl`.",
        ]
    ]


Schema = dict[str, Any]

_KINDS: Final[dict[Any, str]] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    NoneType: "null",
    dict: "object",
    list: "array",
    tuple: "array",
}
"""Types of Python as JSON Schema calls them."""

_SOUND: Final[dict[str, type]] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "null": NoneType,
    "object": dict,
    "array": list,
}


def schema_of(kind: type) -> Schema:
    """The JSON Schema of a ``TypedDict`` or a dataclass: the first line of its docstring, its fields, which of them are needed.

    A dataclass may lack a field that has a default.
    """
    if is_dataclass(kind):
        optional = {field.name for field in fields(kind) if field.default is not MISSING}
    else:
        optional = set(kind.__optional_keys__)  # type: ignore[attr-defined]  # every TypedDict has it
    hints = get_type_hints(kind, include_extras=True)
    properties = {name: _field_schema(hint, may_be_lacking=name in optional) for name, hint in hints.items()}
    needed = [name for name in properties if name not in optional]
    meaning = (kind.__doc__ or "").partition("\n")[0]
    return {"type": "object", "description": meaning, "properties": properties, "required": needed}


def _field_schema(hint: Any, *, may_be_lacking: bool) -> Schema:
    """The schema of a field from its annotation. ``None`` is no value of a field that may be lacking, unless it says so."""
    if get_origin(hint) is NotRequired:
        (hint,) = get_args(hint)
        may_be_lacking = False
    meaning, keywords = "", {}
    if get_origin(hint) is Annotated:
        hint, *notes = get_args(hint)
        meaning = [note for note in notes if isinstance(note, str)][-1]
        keywords = {key: value for note in notes if isinstance(note, dict) for key, value in note.items()}
    parts = list(get_args(hint)) if get_origin(hint) in (Union, UnionType) else [hint]
    if may_be_lacking:
        parts.remove(NoneType)
    kinds = [_kind(part) for part in parts]
    return {"type": kinds[0] if len(kinds) == 1 else kinds, "description": meaning, **_inner(parts[0]), **keywords}


def _kind(part: Any) -> str:
    return "object" if is_typeddict(part) else _KINDS[get_origin(part) or part]


def _inner(part: Any) -> Schema:
    """What an array or an object holds, where that is texts or whole numbers."""
    arguments = get_args(part)
    if get_origin(part) in (list, tuple) and arguments[0] is str:
        return {"items": {"type": "string"}}
    if get_origin(part) is dict and arguments[1] in (str, int):
        return {"additionalProperties": {"type": _KINDS[arguments[1]]}}
    return {}


LINES: Final[dict[str, type]] = {
    MANIFEST: LadderManifest,
    LEAGUE: LadderFacts,
    "entrants.jsonl": EntrantLine,
    "sets.jsonl": SetRow,
    "fixtures.jsonl": FixtureRow,
    "games.jsonl": GameRow,
    "records.jsonl": RecordLine,
    "rulings.jsonl": RulingLine,
    "attempts.jsonl": AttemptLine,
    "faults.jsonl": FaultLine,
}
"""Each file of JSON with the type of the whole, or of each line where the name ends in ``.jsonl``."""

FILES: Final[dict[str, Schema]] = {name: schema_of(kind) for name, kind in LINES.items()}
"""Each file of JSON with the schema of the whole, or of each line."""


def misfit(name: str, field: str, value: object) -> str:
    """What a field of a file needs instead of this value, such as ``string or null``; empty if it is of the right type."""
    kinds = FILES[name]["properties"][field]["type"]
    kinds = [kinds] if isinstance(kinds, str) else kinds
    allowed = tuple(_SOUND[kind] for kind in kinds)
    sound = isinstance(value, allowed) and (not isinstance(value, bool) or bool in allowed)
    return "" if sound else " or ".join(kinds)


@dataclass(frozen=True, slots=True)
class _Form:
    """An annotation, read once: the kind of its values, JSON Schema's keywords, and of what is in an array or an object."""

    kind: str
    keywords: Mapping[str, Any]
    item: "_Form | None"
    fields: "Mapping[str, _Form]"
    needed: frozenset[str]

    @classmethod
    def of(cls, hint: Any) -> "_Form":
        keywords: dict[str, Any] = {}
        if get_origin(hint) is NotRequired:
            (hint,) = get_args(hint)
        if get_origin(hint) is Annotated:
            hint, *notes = get_args(hint)
            keywords = {key: value for note in notes if isinstance(note, dict) for key, value in note.items()}
        kind = _kind(hint)
        item = cls.of(get_args(hint)[0]) if kind == "array" else None
        hints = get_type_hints(hint, include_extras=True) if is_typeddict(hint) else {}
        fields_ = {name: cls.of(one) for name, one in hints.items()}
        return cls(kind, keywords, item, fields_, frozenset(hint.__required_keys__ if hints else ()))

    def misfit(self, value: object) -> str:
        if not isinstance(value, _SOUND[self.kind]) or (isinstance(value, bool) and self.kind != "boolean"):
            return f": no {self.kind}"
        if isinstance(value, dict):
            lacking = next((f".{name}: missing" for name in sorted(self.needed - value.keys())), "")
            told = ((name, one.misfit(value[name])) for name, one in self.fields.items() if name in value)
            return lacking or next((f".{name}{misfit}" for name, misfit in told if misfit), "")
        keywords = self.keywords
        if isinstance(value, list):
            if len(value) > keywords.get("maxItems", len(value)):
                return f": {len(value):,} entries, more than {keywords['maxItems']}"
            if self.item is None or (self.item.kind == "string" and set(map(type, value)) <= {str}):
                return ""  # no need to look at each by itself
            misfits = map(self.item.misfit, value)
            return next((f"[{at}]{misfit}" for at, misfit in enumerate(misfits) if misfit), "")
        if isinstance(value, str) and "pattern" in keywords and not re.search(keywords["pattern"], value):
            return f": not of the form {keywords['pattern']}"
        if isinstance(value, int) and value < keywords.get("minimum", value):
            return f": less than {keywords['minimum']}"
        return ""


_form_of = cache(_Form.of)


def inner_misfit(kind: type, value: object) -> str:
    """What is wrong with a value of JSON as a ``TypedDict`` has it, such as ``.tables[2].sets: no integer``; empty if nothing is.

    Looks at all that it holds, but for fields that the type does not know.
    """
    return _form_of(kind).misfit(value)


def dumped(value: object) -> bytes:
    """The bytes of the files that are one JSON object each: sorted keys, a line for each value."""
    try:
        return (json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()
    except UnicodeEncodeError:  # names of files in another encoding
        return (json.dumps(value, indent=1, sort_keys=True) + "\n").encode()


def export_schema(*, ladder: bool = False) -> Schema:
    """The JSON Schema (2020-12) of an export: a definition for each file, by its name. ``ladder``: of a ladder."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "An exported league",
        "description": f"{FORMAT}: each file of JSON, or each line of a JSONL file, by the definition of its name.",
        "$defs": FILES if ladder else {**FILES, MANIFEST: schema_of(ExportManifest), LEAGUE: schema_of(PublicFacts)},
    }
