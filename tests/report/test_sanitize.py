"""Text from elsewhere can spoil nothing."""

import doctest
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.report import sanitize as sanitizing
from referee.report.sanitize import csv_text, markdown_text, name
from referee.report.sanitize import sanitize as clean


def test_its_example_holds() -> None:
    result = doctest.testmod(sanitizing)
    assert result.attempted > 0
    assert result.failed == 0


@given(st.text(), st.integers(1, 40))
def test_what_is_left_is_printable_short_and_in_one_line(text: str, limit: int) -> None:
    found = clean(text, limit)
    assert found.isprintable()
    assert len(found) <= limit


@given(st.text(alphabet="abcABC0123 .,;:", max_size=40))
def test_plain_text_stays_as_it_is(text: str) -> None:
    assert clean(text) == text.strip()


@pytest.mark.parametrize("sign", ["\u202e", "\u2066", "\u200f", "\x1b", "\x00", "\x9b", "\ufeff"])
def test_marks_that_turn_or_hide_text_show(sign: str) -> None:
    assert clean(f"a{sign}b") == "a\N{REPLACEMENT CHARACTER}b"


def test_a_megabyte_is_cut_and_says_so() -> None:
    assert clean("x" * 1_000_000, 20) == "x" * 19 + "\N{HORIZONTAL ELLIPSIS}"
    assert clean("\u0301" * 1_000_000, 20).count("\u0301") <= 20


def test_towers_of_accents_are_taken_down() -> None:
    tower = clean("e" + "\u0301" * 50 + "nd")
    assert sum(unicodedata.combining(sign) > 0 for sign in tower) == 2
    assert tower.endswith("nd")


def test_a_name_is_never_empty() -> None:
    assert name("\n \t") == "(no name)"


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_no_cell_is_a_formula(text: str) -> None:
    assert csv_text(text)[0] not in "=+-@\t\r"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a|b", r"a\|b"),
        ("<b>", r"\<b\>"),
        ("[x](http://y)", r"\[x\](http://y)"),
        ("`rm`", r"\`rm\`"),
        ("- x", r"\- x"),
        ("---", r"\---"),
        ("# x", r"\# x"),
        ("-211", "-211"),
        ("", ""),
    ],
)
def test_nothing_is_markdown(text: str, shown: str) -> None:
    assert markdown_text(text) == shown
