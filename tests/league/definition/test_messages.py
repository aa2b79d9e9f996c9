"""Whatever stands in a field of a definition or a bot.toml: it is taken, or refused with file, line, field, what is allowed
and a remedy, in our words; and what a remedy says to write is taken.
"""

import json
import re
from datetime import date
from functools import cache
from typing import Any

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from referee.league.definition.definition import Definition, DefinitionError, parse_definition
from referee.league.definition.model_problems import problems_of
from referee.league.definition.problems import Problem
from referee.league.definition.toml_file import parse
from referee.league.entrants.bot_source import Manifest

FOREIGN = re.compile(
    r"another value|what is allowed cannot|pydantic|Input should|type=|validation error|Errno|Traceback|<class|None\b|\.\.\. to"
)
"""Words of libraries, and words that say nothing."""

BASE: dict[str, Any] = {
    "tournament": {"name": "x", "variant": "auction-pitch", "seats": 2},
    "schedule": {},
    "limits": {},
    "policy": {},
    "bots": [{"path": "careful"}],
}

VALUES: tuple[Any, ...] = (
    *(0, 1, -1, 7, 95, 10**12, 10**40, 1.5, -0.25, 0.95, float("inf"), float("nan"), True, False),
    *("", "x", "95", "0.95", "yes", "4 ", "\u202e", "\x1b[31m", "x" * 5000, "careful", "10m", "auction-pitch"),
    *([], [1], ["a", 1], [[]], ["a", "b"], ["a", "b", "c"], {}, {"a": 1}, [{"path": "x"}], [{}], date(1979, 5, 27)),
)


@cache
def fields() -> tuple[tuple[str, str], ...]:
    """Every section with every field."""
    schema = Definition.model_json_schema()
    found = []
    for section, outer in schema["properties"].items():
        node = outer
        while "properties" not in node and node.keys() & {"items", "anyOf", "$ref"}:
            if "$ref" in node:
                node = schema["$defs"][node["$ref"].rsplit("/", 1)[1]]
            else:
                node = node.get("items") or next(one for one in node["anyOf"] if one.get("type") != "null")
        found += [(section, field) for field in node.get("properties", {})]
    return tuple(found)


def document(section: str, field: str, value: Any) -> str:
    data = json.loads(json.dumps(BASE))
    if section in ("bots", "pairs"):
        data.setdefault(section, [{"bots": ["a", "b"]}])
        data[section][0][field] = value
    elif section == "host":
        data |= {"schedule": {"format": "ladder"}, "host": {field: value}}
    else:
        data[section][field] = value
    return tomlkit.dumps(data)


def refused(text: str) -> tuple[Problem, ...]:
    try:
        parse_definition(text, file="club.toml")
    except DefinitionError as error:
        return error.problems
    return ()


def check(problem: Problem) -> None:
    text = str(problem)
    assert problem.file == "club.toml"
    assert problem.line >= 1
    assert problem.field
    assert problem.allowed
    assert problem.remedy
    assert not FOREIGN.search(text), text
    assert text.isascii()
    assert text.isprintable()
    assert len(text) < 1200


def test_every_section_is_looked_at() -> None:
    assert {section for section, _ in fields()} == {*BASE, "pairs", "host"}
    assert len(fields()) > 30


@pytest.mark.parametrize(("section", "field"), fields())
def test_every_field_says_what_it_takes(section: str, field: str) -> None:
    for value in VALUES:
        problems = refused(document(section, field, value))
        for problem in problems:
            check(problem)
            written = re.match(rf"write {field} = (.+?)(, or leave it out.*)?$", problem.remedy)
            if written and problem.field.endswith(field) and " or " not in written[1]:
                corrected = refused(document(section, field, tomlkit.parse(f"x = {written[1]}").unwrap()["x"]))
                again = [one for one in corrected if one.field == problem.field and one.allowed == problem.allowed]
                assert not again, f"{value!r}: {problem.remedy}, and then: {again}"


@pytest.mark.parametrize("section", [*BASE, "rules", "pairs", "host"])
@pytest.mark.parametrize("value", [7, "x", [], [1], [[]], True, 1.5, {"a": 1}, [{"a": 1}], [{}]])
def test_a_section_that_is_no_section_is_told(section: str, value: object) -> None:
    problems = refused(tomlkit.dumps({**BASE, section: value}))
    for problem in problems:
        check(problem)
    assert problems or section in ("bots", "pairs", "rules", "schedule", "limits", "policy")


LEAVES = st.integers() | st.floats() | st.booleans() | st.text(max_size=8)
ANYTHING = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", min_size=1, max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.sampled_from(fields()), ANYTHING)
def test_whatever_stands_there_is_told_in_our_words(place: tuple[str, str], value: object) -> None:
    try:
        text = document(*place, value)
    except (ValueError, TypeError):
        return  # no TOML
    for problem in refused(text):
        check(problem)


MANIFEST = {"name": "x", "version": "1", "run": ["x"]}


@pytest.mark.parametrize("field", list(Manifest.model_fields))
def test_every_field_of_a_bot_toml_says_what_it_takes(field: str) -> None:
    for value in VALUES:
        for problem in faults(Manifest, tomlkit.dumps({**MANIFEST, field: value})):
            check(problem)


def faults(model: type[BaseModel], text: str) -> list[Problem]:
    document = parse(text, "club.toml")
    try:
        model.model_validate(document.data)
    except ValidationError as error:
        return problems_of(error, model, document)
    return []


@pytest.mark.parametrize(
    ("value", "allowed", "remedy"),
    [
        ("95", "a number, 0.5 to 0.9999", "write until_resolved = 0.95"),
        ("1", "a number, 0.5 to 0.9999", "write until_resolved = 0.9999"),
        ('"0.9"', "a number, 0.5 to 0.9999", "write until_resolved = 0.9"),
    ],
)
def test_a_certainty_has_its_range(value: str, allowed: str, remedy: str) -> None:
    (problem,) = refused(tomlkit.dumps(BASE).replace("[schedule]", f"[schedule]\nuntil_resolved = {value}"))
    assert (problem.allowed, problem.remedy) == (allowed, remedy)
