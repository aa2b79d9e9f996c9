"""From what pydantic says about a document to problems that people can act on.

The words for what is allowed come from the model's JSON Schema (with the key ``x-allowed`` where the schema alone does
not read well), so they cannot drift away from what is checked.
"""

import json
import math
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from referee.league.definition.problems import Location, Problem, near, one_of, shown
from referee.league.definition.toml_file import Document, field_name


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """A fault that concerns several fields, told at one of them: see ``finding_error``.

    ``found`` is read from the document unless it is given.
    """

    where: Location
    allowed: str
    remedy: str
    found: str | None = None

    def problem(self, document: Document, around: Location = ()) -> Problem:
        """The finding as a problem of the document; ``around`` is the location of the model that made it."""
        return document.problem(around + self.where, self.allowed, self.remedy, self.found)


def finding_error(*findings: FieldProblem) -> PydanticCustomError:
    """What a model validator raises; locations are relative to its model."""
    return PydanticCustomError("findings", "{text}", {"text": findings[0].allowed, "findings": findings})


def problems_of(error: ValidationError, model: type[BaseModel], document: Document) -> list[Problem]:
    """Every fault that pydantic found in the document, in the order of the file."""
    schema = _schema(model)
    problems: list[Problem] = []
    errors = error.errors(include_url=False)
    for details in errors:
        place = details["loc"]
        if details["type"] == "too_short" and any(
            other["loc"][: len(place)] == place != other["loc"] for other in errors
        ):
            continue  # pydantic counts the sound items of a list only; the faulty ones are told by themselves
        if details["type"] == "findings":
            problems += [finding.problem(document, details["loc"]) for finding in details["ctx"]["findings"]]
        else:
            problems.append(_problem(details, schema, document))
    return sorted(dict.fromkeys(problems), key=lambda problem: problem.line)


@cache
def _schema(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema()


def _problem(details: ErrorDetails, schema: dict[str, Any], document: Document) -> Problem:
    where: Location = details["loc"]
    if details["type"] == "extra_forbidden":
        return _unknown_field(where, schema, document)
    node = _node(schema, where)
    allowed = allowed_text(node, schema)
    if details["type"] == "missing":
        example = (
            f"{where[-1]} = {_example(node)}" if isinstance(where[-1], str) else f"another item, {_example(node)},"
        )
        section = field_name(where[:-1]) if len(where) > 1 else "the file"
        if len(where) == 1:
            example = f"a [{where[0]}] section" if where[0] != "bots" else "a [[bots]] section for each bot"
        if len(where) == 1 and node.get("type") in ("string", "array") and where[0] != "bots":
            example = f"{where[0]} = {_example(node)}"
        return document.problem(where, allowed, f"add {example} to {section}")
    return document.problem(where, allowed, _remedy(str(where[-1]), document.value(where), node))


def _unknown_field(where: Location, schema: dict[str, Any], document: Document) -> Problem:
    name = str(where[-1])
    known = list(_node(schema, where[:-1]).get("properties", {}))
    homes = [
        section
        for section, node in schema.get("properties", {}).items()
        if name in _resolved(node.get("items", node), schema).get("properties", {})
    ]
    meant = near(name, known)
    if meant:
        remedy = f'did you mean "{meant}"?'
    elif homes:
        remedy = f"it belongs in {'[[bots]]' if homes[0] == 'bots' else f'[{homes[0]}]'}: move it there"
    else:
        remedy = "delete it"
    return document.problem(where, f"only the fields {', '.join(known)}", remedy, f"the unknown field {shown(name)}")


def _resolved(node: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """The node behind references, and behind ``anyOf [X, null]``: TOML has no null."""
    while "$ref" in node or "anyOf" in node:
        outer = node
        if "$ref" in node:
            node = schema["$defs"][node["$ref"].rsplit("/", 1)[1]]
        else:
            node = next(option for option in node["anyOf"] if option.get("type") != "null")
        if "x-allowed" in outer:
            node = {**node, "x-allowed": outer["x-allowed"]}
    return node


def _node(schema: dict[str, Any], where: Location) -> dict[str, Any]:
    """The JSON Schema of a location."""
    node = _resolved(schema, schema)
    for key in where:
        if isinstance(key, int):
            first = node.get("prefixItems", [])
            inner = first[key] if key < len(first) else node.get("items")
        else:
            inner = node.get("properties", {}).get(key)
        if not isinstance(inner, dict):
            return {}
        node = {**_resolved(inner, schema), **({"default": inner["default"]} if "default" in inner else {})}
    return node


def allowed_text(node: Mapping[str, Any], schema: dict[str, Any]) -> str:
    """What a JSON Schema allows, in words.

    >>> allowed_text({"type": "integer", "minimum": 2, "maximum": 7}, {})
    'a whole number, 2 to 7'
    """
    if "x-allowed" in node:
        return str(node["x-allowed"])
    if "enum" in node:
        return one_of(node["enum"])
    match node.get("type"):
        case "integer":
            return f"a whole number{_range(node)}"
        case "number":
            return f"a number{_range(node)}"
        case "boolean":
            return "true or false"
        case "string":
            return (
                f"text of {node.get('minLength', 0)} to {node['maxLength']} characters"
                if "maxLength" in node
                else "text"
            )
        case "array":
            items = _resolved(node.get("items", {}), schema)
            kind = "sections" if items.get("type") == "object" else "texts"
            least = node.get("minItems", 0)
            return f"a list of {kind}" + (f", at least {least}" if least else "")
        case "object":
            return "a section" + (f" with {', '.join(node['properties'])}" if "properties" in node else "")
    raise ValueError(f"what is allowed cannot be said of {node}: give it an x-allowed")


def _range(node: Mapping[str, Any]) -> str:
    low, high = node.get("minimum"), node.get("maximum")
    if low is not None and high is not None:
        return f", {low} to {high}"
    return f", {low} or more" if low is not None else f", {high} or less" if high is not None else ""


def _example(node: Mapping[str, Any]) -> str:
    if node.get("examples"):
        return json.dumps(node["examples"][0])
    if "enum" in node:
        return json.dumps(node["enum"][0])
    return {"integer": "...", "number": "...", "boolean": "true", "array": '["..."]'}.get(node.get("type", ""), '"..."')


def _remedy(name: str, found: Any, node: Mapping[str, Any]) -> str:
    """The nearest thing that would be allowed, as the line to write, and the default where there is one."""
    default = node.get("default")
    fallback = f", or leave it out for the default ({shown(default)})" if default not in (None, [], (), {}) else ""
    value = _nearest(found, node)
    if value is None or not _fits(value, node):
        return f"change it to what is allowed{fallback}" if found != "" else f"fill it in{fallback}"
    # An item of a list has a number in place of a name.
    return f"write {json.dumps(value)} there" if name.isdigit() else f"write {name} = {json.dumps(value)}{fallback}"


def _fits(value: Any, node: Mapping[str, Any]) -> bool:
    """Whether a suggestion would be taken, as far as the schema tells."""
    if isinstance(value, str):
        sized = node.get("minLength", 0) <= len(value) <= node.get("maxLength", len(value))
        return sized and re.search(node.get("pattern", ""), value) is not None
    return not isinstance(value, list) or node.get("minItems", 0) <= len(value) <= node.get("maxItems", len(value))


def _nearest(found: Any, node: Mapping[str, Any]) -> Any:
    """An allowed value that the found one was probably meant to be, or ``None``."""
    if "enum" in node:
        return near(found, node["enum"])
    match node.get("type"), found:
        case "integer", bool():
            return None
        case "integer", str() if re.fullmatch(r"[+-]?\d{1,9}", found.strip()):
            return _nearest(int(found), node)
        case "number", bool():
            return None
        case "number", str() if re.fullmatch(r"[+-]?\d{1,9}(\.\d{1,9})?", found.strip()):
            return _nearest(float(found), node)
        case "number", int() | float() if abs(found) < 1e9:  # not so for nan and inf
            low, high = node.get("minimum", found), node.get("maximum", found)
            # Certainties are often meant in per cent.
            return found / 100 if high < found and low <= found / 100 <= high else min(max(found, low), high)
        case "integer", int() | float() if math.isfinite(found):
            return int(min(max(found, node.get("minimum", found)), node.get("maximum", found)))
        case "boolean", str() if found.strip().lower() in ("true", "yes", "on", "false", "no", "off"):
            return found.strip().lower() in ("true", "yes", "on")
        case "boolean", int() if found in (0, 1):
            return bool(found)
        case "array", str() if 0 < len(found) < 60:
            try:
                return shlex.split(found)
            except ValueError:
                return [found]
        case "string", int() | float() if "format" not in node and not isinstance(found, bool) and math.isfinite(found):
            return str(found)
    return None
