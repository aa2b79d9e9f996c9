"""The rule book: ids, sentences, which clauses a game has, and that the code breaks just the clauses of the book."""

import ast
import re
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Final

import pytest

import referee.rules
from referee.rules import RuleSet, variant, variant_names
from referee.rules.conduct_clauses import CONDUCT, EDITIONS, ROBUST, WHOLE_BOOK
from referee.rules.rulebook import CLAUSES, Clause, Level, clause_text, clauses_of
from referee.rules.ruleset import allowed_values
from tests.helpers import one_change

RULES: Final = Path(referee.rules.__file__).parent
MUST: Final = {entry.id for entry in CLAUSES if entry.level is Level.MUST}
BY_ID: Final = {entry.id: entry for entry in CLAUSES}


def violations_in_code(paths: Iterable[Path]) -> set[str]:
    """The id of every ``Violation("...", ...)`` that these files write out, read from their source."""
    found: set[str] = set()
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Violation":
                rule = node.args[0]
                found.add(
                    str(rule.value) if isinstance(rule, ast.Constant) else f"{path.name}:{node.lineno}: not written out"
                )
    return found


def test_the_code_breaks_just_the_clauses_that_bind() -> None:
    assert violations_in_code(RULES.glob("*.py")) == MUST


def test_the_clauses_about_conduct_are_whole_too() -> None:
    ids = [entry.id for entry in WHOLE_BOOK]
    assert len(set(ids)) == len(ids) == len(CLAUSES) + len(CONDUCT) + len(ROBUST)
    for entry in (*CONDUCT, *ROBUST):
        assert re.fullmatch(r"AF-(PROTO|CLOCK|LIFE|ROBUST)-\d{3}", entry.id)
        assert entry.title
        assert entry.sentence.endswith(".")
        assert entry.source
    time_outs = {entry.id for entry in CONDUCT if "-CLOCK-" in entry.id}
    assert time_outs <= violations_in_text((RULES.parent / "umpire" / "umpire.py").read_text("utf-8"))


def violations_in_text(text: str) -> set[str]:
    return set(re.findall(r"AF-[A-Z]+-\d{3}", text))


def test_ids_are_unique_well_formed_and_in_order() -> None:
    ids = [entry.id for entry in CLAUSES]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"AF-(BID|TRUMP|DRAW|PLAY|SCORE)-\d{3}", id_) for id_ in ids)
    for area in {id_.split("-")[1] for id_ in ids}:
        of_area = [id_ for id_ in ids if f"-{area}-" in id_]
        assert of_area == sorted(of_area)


@pytest.mark.parametrize("entry", CLAUSES, ids=lambda entry: entry.id)
def test_every_clause_is_a_sentence_with_a_source(entry: Clause) -> None:
    assert entry.title
    assert not re.search(r"\bmust\b", entry.title, re.IGNORECASE)
    assert entry.source
    assert entry.since
    assert entry.sentence.endswith(".")
    for name in variant_names():
        text = clause_text(entry, variant(name))
        assert "{" not in text
        assert "_" not in text


@pytest.mark.parametrize("entry", CLAUSES, ids=lambda entry: entry.id)
def test_what_a_clause_binds_are_values_of_house_rules(entry: Clause) -> None:
    fields = RuleSet.__dataclass_fields__
    for name, values in entry.binds.items():
        if name in fields:
            assert set(values) <= set(allowed_values(name) or values)
        else:
            assert isinstance(getattr(RuleSet, name), property)
            assert {type(value) for value in values} == {bool}


def test_every_clause_is_switched_on_by_some_game() -> None:
    """By a game of the registry, or by one with a single house rule changed."""
    games = [game for name in variant_names() for game in (variant(name), *one_change(variant(name)))]
    assert {entry.id for rules in games for entry in clauses_of(rules)} == {entry.id for entry in CLAUSES}


def test_a_clause_is_told_with_the_values_of_the_house() -> None:
    pitch = variant("auction-pitch")
    assert clause_text(BY_ID["AF-BID-001"], pitch) == "A call is a pass, or a bid of a whole number from 2 to 4."
    assert clause_text(BY_ID["AF-BID-003"], pitch).endswith("only at these amounts: 2, 3.")
    assert clause_text(BY_ID["AF-SCORE-015"], pitch).endswith("in the hole when it is: below zero.")


def ids_of(rules: RuleSet) -> set[str]:
    return {entry.id for entry in clauses_of(rules)}


def test_where_nothing_may_be_stolen_no_clause_tells_who_may_steal() -> None:
    stealing = {"AF-BID-003", "AF-BID-011", "AF-BID-012"}
    assert ids_of(variant("auction-pitch")) & stealing == {"AF-BID-003"}
    assert ids_of(variant("pidro")) & stealing == {"AF-BID-011"}
    assert ids_of(variant("smudge")) & stealing == {"AF-BID-012"}
    assert ids_of(variant("all-fours")) & stealing == set()


@pytest.mark.parametrize(
    ("changes", "holds", "fails"),
    [
        ({}, {"AF-BID-007", "AF-PLAY-003", "AF-SCORE-002", "AF-SCORE-013"}, {"AF-BID-004", "AF-PLAY-004"}),
        ({"all_pass": "dealer_forced"}, {"AF-BID-004"}, {"AF-BID-007", "AF-BID-008", "AF-BID-009", "AF-BID-010"}),
        ({"all_pass": "thrown_in_same_dealer"}, {"AF-BID-008"}, {"AF-BID-004", "AF-BID-007"}),
        ({"all_pass": "dealer_free"}, {"AF-BID-009"}, {"AF-BID-007"}),
        ({"all_pass": "eldest_free"}, {"AF-BID-009"}, {"AF-BID-007"}),
        ({"all_pass": "dealer_set_back"}, {"AF-BID-010"}, {"AF-BID-007"}),
        ({"top_bid_ends": False}, set(), {"AF-BID-006"}),
        ({"follow": "strict"}, {"AF-PLAY-002", "AF-PLAY-004"}, {"AF-PLAY-003"}),
        ({"low_to": "taker"}, {"AF-SCORE-003"}, {"AF-SCORE-002"}),
        ({"pitcher_scores": "bid"}, {"AF-SCORE-008"}, {"AF-SCORE-007"}),
        ({"pitcher_first": False}, {"AF-SCORE-012"}, {"AF-SCORE-011"}),
        ({"smudge": "any"}, {"AF-SCORE-014"}, {"AF-SCORE-013", "AF-SCORE-015"}),
        ({"smudge": "none"}, set(), {"AF-SCORE-013", "AF-SCORE-014", "AF-SCORE-015"}),
        ({"settlement": "none"}, set(), {"AF-SCORE-016", "AF-SCORE-017"}),
        ({"settlement_set_backs": True}, {"AF-SCORE-016", "AF-SCORE-017"}, set()),
    ],
)
def test_a_game_has_just_the_clauses_that_its_house_rules_switch_on(
    changes: dict[str, object], holds: set[str], fails: set[str]
) -> None:
    ids = ids_of(variant("auction-pitch").with_rules(changes))
    assert holds <= ids
    assert not fails & ids


def test_the_clauses_keep_the_order_of_the_book() -> None:
    book = [entry.id for entry in CLAUSES]
    for name in variant_names():
        ids = [entry.id for entry in clauses_of(variant(name))]
        assert ids == sorted(ids, key=book.index)


def test_levels_as_the_book_writes_them() -> None:
    assert [level.value for level in Level] == ["MUST", "SHOULD", "INFO"]


def test_a_hanged_jack_is_in_the_book_for_every_worth_above_one() -> None:
    for worth in range(1, 11):
        book = clauses_of(variant("trinidad").with_rules({"hang_jack": worth}))
        assert (BY_ID["AF-SCORE-022"] in book) == (worth > 1)


BOOKS: Final = {
    "auction-pitch": "BID 1 2 3 5 6 7, TRUMP 1, PLAY 1 2 3 6 7, SCORE 1 2 4 5 6 7 9 10 11 12 13 15 16 18",
    "auction-pitch-forced": "BID 1 2 3 4 5 6, TRUMP 1, PLAY 1 2 3 6 7, SCORE 1 2 4 5 6 7 9 10 11 12 13 15 16 18",
    "smudge": "BID 1 2 5 6 7 12, TRUMP 1, PLAY 1 2 3 6 7, SCORE 1 3 4 5 6 7 9 10 11 12 14 16 18",
    "partnership-pitch": "BID 1 2 3 5 6 7, TRUMP 1, PLAY 1 2 3 6 7, SCORE 1 2 4 5 6 7 9 10 11 12 13 15 18",
    "all-fours": "TRUMP 3 4 5 7 8 10, DRAW 1 2 6, PLAY 1 2 3 6 7 11, SCORE 1 2 4 5 6 10 12 18 19 20 21",
    "all-fours-partners": "TRUMP 3 4 5 7 8 10, DRAW 1 2 6, PLAY 1 2 3 6 7 11, SCORE 1 2 4 5 6 10 12 18 19 20 21",
    "seven-up": "TRUMP 3 4 5 7 8 10, DRAW 1 2 6, PLAY 1 2 3 6 7 11, SCORE 1 2 4 5 6 10 12 18 19 20 21",
    "seven-up-partners": "TRUMP 3 4 5 7 8 10, DRAW 1 2 6, PLAY 1 2 3 6 7 11, SCORE 1 2 4 5 6 10 12 18 19 20 21",
    "trinidad": "TRUMP 3 4 5 7 8 9 10, DRAW 7, PLAY 1 2 3 5 6 7 11, SCORE 1 2 4 5 6 10 12 18 19 20 21 22",
    "california-jack": "TRUMP 11, DRAW 14, PLAY 1 2 3 6 7 11, SCORE 1 3 4 5 6 10 12 18",
    "shasta-sam": "TRUMP 11, DRAW 15, PLAY 1 2 3 6 7 11, SCORE 1 3 4 5 6 10 12 18",
    "pedro": "BID 1 2 3 5 6 7, TRUMP 1, PLAY 1 2 3 6 7, SCORE 7 9 10 11 16 18 24 26",
    "cinch": "BID 1 2 5 6 9 12, TRUMP 2, DRAW 1 2 3 4 9 10 11 12, PLAY 1 2 3 6 7 10 12, SCORE 7 9 10 11 18 24 26",
    "pedro-louisiana": "BID 1 2 4 5 6 12, TRUMP 2, DRAW 1 2 3 4 9 10 11 12, PLAY 1 2 3 6 7 10 12, SCORE 7 9 10 11 18 24 26",
    "pidro": "BID 1 2 4 5 6 11, TRUMP 2, DRAW 1 2 3 4 5 9 10 13, PLAY 1 7 8 9 10 12, SCORE 7 9 10 11 18 24 25 26",
}
"""The clauses of every game by area and number."""


@pytest.mark.parametrize("name", variant_names())
def test_the_clauses_of_every_game(name: str) -> None:
    ids = [entry.id.split("-") for entry in clauses_of(variant(name))]
    areas = [
        f"{area} {' '.join(str(int(number)) for _, _, number in found)}"
        for area, found in groupby(ids, lambda parts: parts[1])
    ]
    assert ", ".join(areas) == BOOKS[name]


def test_the_editions_of_the_book_stand_in_order() -> None:
    """A clause says in which edition it came, and comes after the older ones of its area: a check can ask for an old book."""
    assert EDITIONS[0] == "2026.1"
    assert all(re.fullmatch(r"20\d\d\.[1-9]\d*", edition) for edition in EDITIONS)
    for area in {entry.id.split("-")[1] for entry in WHOLE_BOOK}:
        since = [EDITIONS.index(entry.since) for entry in WHOLE_BOOK if f"-{area}-" in entry.id]
        assert since == sorted(since)
