"""The words of an error: short and harmless, whatever was found."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.league.definition.problems import SHOWN, Problem, ProblemsError, near, one_of, plain, shown

found = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.dates(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(found | st.text(min_size=1000, max_size=2000) | st.integers(10**300, 10**400))
def test_a_found_value_is_shown_in_one_short_harmless_line(value: Any) -> None:
    text = shown(value)
    assert text.isascii()
    assert text.isprintable()
    assert len(text) < 3 * (SHOWN * 12 + 40)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("x", '"x"'),
        (True, "true"),
        (7, "7"),
        (None, "nothing"),
        ([1, "a"], '[1, "a"]'),
        ([1, 2, 3, 4], "a list of 4"),
        ([[1]], "a list of 1"),
        ({"a": 1}, "a table of 1 field"),
        ("\u202e\x1b\x7f", '"\\u202e\\u001b\\u007f"'),
    ],
)
def test_values_are_shown_as_toml_writes_them(value: Any, text: str) -> None:
    assert shown(value) == text


def test_choices_read_as_a_list() -> None:
    assert one_of(["a"]) == '"a"'
    assert one_of([2, 3, 4]) == "2, 3 or 4"


def test_the_near_name_is_found_whatever_its_case() -> None:
    assert near("Ranked", ["ranked", "dev"]) == "ranked"
    assert near("random-bt", ["careful", "Random-Bot"]) == "Random-Bot"
    assert near("zzz", ["ranked", "dev"]) is None
    assert near("x" * 1_000_000, ["ranked"]) is None


def test_file_names_are_left_alone_unless_they_could_spoil_a_line() -> None:
    assert plain("leagues/kitchen.toml") == "leagues/kitchen.toml"
    assert plain("a\nb\u202e") == "a\\nb\\u202e"


def test_an_error_has_a_line_for_each_problem() -> None:
    here = Problem(file="a.toml", line=3, field="seats", found="9", allowed="2 to 7", remedy="write seats = 7")
    whole = Problem(
        file="a.toml", line=0, field="the file", found="nothing", allowed="a text file", remedy="check the path"
    )
    assert str(ProblemsError([here, whole])).splitlines() == [
        "a.toml:3: seats: found 9; allowed: 2 to 7; remedy: write seats = 7",
        "a.toml: the file: found nothing; allowed: a text file; remedy: check the path",
    ]
