"""Whole deals of the games beyond Pitch (``family_deals.json``) through the engine; and what the vectors cover."""

from pathlib import Path
from typing import Any, Final

import pytest

from referee.cards import SUITS, parse_cards
from referee.rules import Game, variant, variant_names
from referee.rules.actions import parse_action
from referee.rules.rulebook import Level, clauses_of
from tests.helpers import rules_of
from tests.rules.test_vectors import FILES, Case, cases, document

ROOT: Final = Path(__file__).resolve().parents[2]

EXAMPLES: Final = (
    *(1, 2, 3, 4, 6, 7, 9, 10, 11, 12, 14, 15, 16, 18, 19, 20, 21, 22, 24, 25, 26, 27, 28, 30, 31, 32, 34, 35, 37, 38),
    *(40, 42, 43, 44, 46, 47, 48, 50, 51, 52, 53, 55, 57, 58, 59, 60, 61, 62, 63, 65, 66, 68, 69, 70, 72, 73, 74, 76),
    *(77, 79, 80, 81, 82, 84, 85, 86, 88, 89, 90),
)
"""Numbers of the worked examples of the rule text."""

NO_VECTOR: Final = {
    68: "scores counted down from seven are another way to write the same scores; no field of a vector holds them",
    89: "the number of trumps and points of a suit is a sum over the pack, not a position: test_cinch.py has it",
}
"""Examples that no vector shows, and why."""


@cases("family_deals")
def test_family_deals(case: Case) -> None:
    game = Game(rules_of(case["rules"]), case["seats"], case["dealer"], case["before"])
    deal = game.deal_pack(parse_cards(case["pack"]))
    for word in case["actions"]:
        assert deal.kind is not None
        deal.act(parse_action(deal.kind, word))
    outcome = deal.outcome
    assert outcome is not None
    result = game.close(outcome)
    won = result is not None and result.winner is not None
    found: dict[str, Any] = {
        "ending": outcome.ending.name,
        "pitcher": outcome.pitcher,
        "bid": outcome.bid,
        "trump": None if outcome.trump is None else SUITS[outcome.trump],
        "awards": [{"item": a.item, "side": deal.side(a.seat), "points": a.points} for a in outcome.awards],
        "pips": list(outcome.pips),
        "deltas": list(outcome.deltas),
        "set_back": outcome.set_back,
        "after": game.scores,
        "winner": result.winner if result and won else None,
        "reason": result.reason.name if result and won else None,
        "next_dealer": game.dealer,
    }
    assert found == {name: case[name] for name in found}


def test_there_are_whole_deals_of_every_game_beyond_pitch() -> None:
    played = [case["rules"]["variant"] for case in document("family_deals")["cases"] if case["ending"] == "PLAYED"]
    beyond = [name for name in variant_names() if variant(name).trump_by != "pitch" or name == "pedro"]
    assert [name for name in beyond if played.count(name) < 3] == []


def shown_and_refused() -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """Which clauses some position shows in each variant, and which ones refuse an action there."""
    shown, refused = set(), set()
    for name in ("legal", "auctions", "choices"):
        for case in document(name)["cases"]:
            game = case["rules"]["variant"]
            illegal = case.get("refused", case.get("next", {}).get("refused", {}))
            shown |= {(game, rule) for rule in case["clause"] if case.get("legal") or case.get("next", {}).get("legal")}
            refused |= {(game, rule) for rule in illegal.values()}
    return shown, refused


@pytest.mark.parametrize("name", variant_names())
def test_every_must_clause_is_shown_and_broken_in_every_variant_that_it_binds(name: str) -> None:
    shown, refused = shown_and_refused()
    binding = {(name, entry.id) for entry in clauses_of(variant(name)) if entry.level is Level.MUST}
    assert binding - shown == set()
    assert binding - refused == set()


def test_every_worked_example_has_a_vector_or_a_reason() -> None:
    with_vector = {case["example"] for name in FILES for case in document(name)["cases"] if "example" in case}
    assert with_vector | set(NO_VECTOR) == set(EXAMPLES)
    assert with_vector & set(NO_VECTOR) == set()


def test_the_page_on_testing_has_the_right_figures() -> None:
    page = (ROOT / "docs" / "testing.md").read_text("utf-8")
    counted = [case["counts"] for case in document("perft")["cases"]]
    assert f"{len(counted)} deals, {sum(map(sum, counted)):,} lists in all" in page
