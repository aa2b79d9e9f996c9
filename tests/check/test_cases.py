"""The cases: each can come about, puts the rules that it says it puts, and does so in all its shapes."""

from pathlib import Path

import pytest

from referee.check import cases
from referee.check.cases import CaseError, PositionCase, all_cases, cases_for, moved, stack
from referee.check.requirements import breakable
from referee.rules import variant, variant_names

EVERY = [(case, name) for case in all_cases() for name in case.variants]


@pytest.mark.parametrize(("case", "name"), EVERY, ids=[f"{case.id}-{name}" for case, name in EVERY])
def test_a_case_puts_the_rules_that_it_names_in_every_shape(case: PositionCase, name: str) -> None:
    position = case.position(variant(name))
    rules = breakable(position.reached())
    assert set(case.clauses) <= rules
    for number in range(4):
        shape = moved(position, number)
        assert breakable(shape.reached()) == rules
        assert shape.reached().seat == (position.reached().seat + number) % case.seats


def test_every_game_has_cases() -> None:
    assert {name for case in all_cases() for name in case.variants} == set(variant_names())


def test_shapes_exchange_suits_and_keep_colours_together() -> None:
    position = next(case for case in all_cases() if case.id == "left-pedro-follows").position(variant("cinch"))
    trumps = {moved(position, number).reached().trump for number in range(4)}
    assert trumps == {0, 1, 2, 3}
    for number in range(4):
        deal = moved(position, number).reached()
        (held,) = [card for card in range(64) if deal.hands[deal.seat] >> card & 1 and deal.trumps >> card & 1]
        assert held & 15 == 5
        assert held >> 4 == 3 - deal.trump


def test_scores_move_with_the_seats() -> None:
    case = next(case for case in all_cases() if case.id == "gift-would-end-the-game")
    position = case.position(variant("all-fours"))
    for number in range(4):
        deal = moved(position, number).reached()
        eldest = (deal.dealer + 1) % deal.seats
        assert deal.scores[eldest] == 6


def test_house_rules_that_make_a_case_impossible_leave_it_out() -> None:
    usual = {position.origin for position in cases_for(variant("auction-pitch"))}
    changed = {
        position.origin for position in cases_for(variant("auction-pitch").with_rules({"min_bid": 3, "steal": (3,)}))
    }
    assert "bid-over-two" in usual - changed


def test_a_stacked_pack_deals_what_was_asked_for() -> None:
    with pytest.raises(ValueError, match="two places"):
        stack(variant("auction-pitch"), [(16,), (16,)], 1)
    with pytest.raises(ValueError, match="6 are dealt"):
        stack(variant("auction-pitch"), [tuple(range(2, 9)), ()], 1)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("format = 2\n", "format 2 is not 1"),
        ("format = 1\n", "'case'"),
        ("format = 1\n[[case]]\nid = 'x'\n", "'seats'"),
        ("format = ", "x.toml"),
    ],
)
def test_a_garbled_file_is_named(text: str, told: str) -> None:
    with pytest.raises(CaseError, match=r"x\.toml") as caught:
        list(cases._read("x.toml", text))
    assert told in str(caught.value)


def test_a_case_that_cannot_come_about_says_where_it_stops() -> None:
    case = PositionCase(
        id="odd",
        title="",
        clauses=(),
        variants=("auction-pitch",),
        seats=4,
        dealer=3,
        hands=("",) * 4,
        stock="",
        said=("3 2",),
        scores=(),
    )
    with pytest.raises(CaseError, match="case odd: 2: AF-BID-002"):
        case.position(variant("auction-pitch"))


def test_without_any_case_there_is_no_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cases").mkdir()
    monkeypatch.setattr(cases.resources, "files", lambda _package: tmp_path)
    all_cases.cache_clear()
    try:
        with pytest.raises(CaseError, match="no case was found"):
            all_cases()
        (tmp_path / "cases" / "a.toml").write_text("format = 1\n" + CASE * 2, "utf-8")
        with pytest.raises(CaseError, match="two cases have the id twice"):
            all_cases()
    finally:
        monkeypatch.undo()
        all_cases.cache_clear()


CASE = '[[case]]\nid = "twice"\ntitle = ""\nclauses = []\nvariants = []\nseats = 2\n'
