"""Verification: other actions, rulings, results and figures are named at their place."""

import json
from pathlib import Path
from typing import Any

import pytest

from referee.cards import card_text, cards_in, parse_card, parse_cards
from referee.oracle import OracleGame
from referee.protocol import wire
from referee.rules import Deal, Game, variant
from referee.umpire.record import Record
from referee.verification import second_engine
from referee.verification.result import Check
from tests.league.tampered import edit_fact, edit_record, put, rows, sql
from tests.verification.findings import GAMES, first, fixture_of, record_of, ruling_of, verdict

# Actions, rulings, results.


def test_a_swapped_result_is_named(league: Path) -> None:
    def change(record: Record) -> None:
        record["result"]["places"].reverse()

    number = next(n for n in range(1, GAMES + 1) if (p := record_of(league, n)["result"]["places"]) != p[::-1])
    places = record_of(league, number)["result"]["places"]
    edit_record(league, number, change)
    odd = first(league)
    seat = next(s for s, place in enumerate(places) if place != places[::-1][s])
    assert (odd.check, odd.game) == (Check.REPLAY, number)
    assert f"result.places[{seat}]: the record says {places[::-1][seat]}, the umpire {places[seat]}" in odd.says


def test_an_edited_delta_is_named_with_its_deal(league: Path) -> None:
    edit_record(league, 3, lambda record: record["deals"][1]["deltas"].__setitem__(0, 9))
    odd = first(league)
    assert (odd.check, odd.game) == (Check.REPLAY, 3)
    assert "deals[1].deltas[0]: the record says 9" in odd.says


def a_play_with_a_choice(record: Record) -> tuple[int, int, int, str]:
    """A card that was played where another in the hand was illegal: deal, trick, place in it, the illegal card."""
    game = Game(variant("auction-pitch"), 4, 0)
    for number, entry in enumerate(record["deals"]):
        deal = game.deal_pack(parse_cards(entry["pack"]))
        for word in entry["bids"].split():
            deal.act(0 if word == "-" else int(word))
        for at, trick in enumerate(entry["tricks"]):
            for place, word in enumerate(trick.split()):
                wrong = [card for card in cards_in(deal.hands[deal.seat]) if card not in deal.legal()]
                if wrong and not rulings_in(record, number):
                    return number, at, place, card_text(wrong[0])
                deal.act(parse_card(word))
        assert deal.outcome
        game.close(deal.outcome)
    raise AssertionError("no revoke is possible in this game")


def rulings_in(record: Record, deal: int) -> bool:
    start = sum(actions_in(entry) for entry in record["deals"][:deal])
    return any(start <= ruling["step"] < start + actions_in(record["deals"][deal]) for ruling in record["irregular"])


def actions_in(entry: dict[str, Any]) -> int:
    return len(entry["bids"].split()) + sum(len(trick.split()) for trick in entry["tricks"])


def test_an_illegal_play_accepted_is_named_with_its_clause(league: Path) -> None:
    number = 8
    deal, trick, place, wrong = a_play_with_a_choice(record_of(league, number))

    def change(record: Record) -> None:
        cards = record["deals"][deal]["tricks"][trick].split()
        cards[place] = wrong
        record["deals"][deal]["tricks"][trick] = " ".join(cards)

    edit_record(league, number, change)
    odd = first(league)
    assert (odd.check, odd.game, odd.deal) == (Check.REPLAY, number, deal + 1)
    assert f"{wrong} breaks AF-PLAY-00" in odd.says
    assert odd.says.endswith("(the second engine calls it illegal)")


def test_a_legal_play_ruled_illegal_is_named(league: Path) -> None:
    number = 8
    record = record_of(league, number)
    entry = record["deals"][0]
    step, card = len(entry["bids"].split()), entry["tricks"][0].split()[0]
    assert not rulings_in(record, 0)
    forged = {
        "step": step,
        "seat": first_leader(entry),
        "fault": "ILLEGAL_ACTION",
        "rule": "AF-PLAY-001",
        "sentence": f"You do not hold {card}.",
        "consequence": "SUBSTITUTED",
        "charged_us": 10,
        "action": parse_card(card),
    }
    edit_record(league, number, lambda record: record["irregular"].insert(0, forged))
    odd = first(league)
    assert (odd.check, odd.game, odd.deal) == (Check.REPLAY, number, 1)
    assert odd.says == (
        f"seat {forged['seat'] + 1}: {card} is ruled to break AF-PLAY-001, but it is legal (the second engine calls it legal)"
    )


def first_leader(entry: dict[str, Any]) -> int:
    deal = Deal(variant("auction-pitch"), 4, entry["dealer"], parse_cards(entry["pack"]))
    for word in entry["bids"].split():
        deal.act(0 if word == "-" else int(word))
    return deal.seat


def test_a_changed_ruling_sentence_is_named(league: Path) -> None:
    number, place = ruling_of(league, "ILLEGAL_ACTION", "AF-PLAY")
    sentence = record_of(league, number)["irregular"][place]["sentence"]
    edit_record(league, number, lambda record: record["irregular"][place].update(sentence="It was slow."))
    odd = first(league)
    assert (odd.check, odd.game) == (Check.REPLAY, number)
    assert odd.deal > 0
    assert f"ruling {place + 1}, sentence: the record says 'It was slow.', the umpire {sentence!r}" in odd.says
    assert {one.check for one in verdict(league).findings} >= {Check.REPLAY, Check.RULING}


@pytest.mark.parametrize(("field", "value"), [("sentence", "Other."), ("rule", "AF-BID-001"), ("entrant", "careful")])
def test_a_changed_row_of_a_ruling_is_named(league: Path, field: str, value: str) -> None:
    number, place = ruling_of(league, "ILLEGAL_ACTION", "AF-PLAY")
    fixture = fixture_of(league, number)
    put(league, "ruling", {field: value}, "fixture_id = ? AND number = ?", fixture, place)
    odd = first(league)
    assert (odd.check, odd.game, odd.what) == (Check.RULING, number, f"rulings[{place}].{field}")


def test_a_ruling_row_that_is_gone_is_named(league: Path) -> None:
    number, _ = ruling_of(league, "ILLEGAL_ACTION")
    sql(league, "DELETE FROM ruling WHERE fixture_id = ?", fixture_of(league, number))
    odd = first(league)
    assert (odd.check, odd.game, odd.says) == (Check.RULING, number, "nothing")


def test_a_ruling_that_was_left_out_is_named(league: Path) -> None:
    number, place = ruling_of(league, "ILLEGAL_ACTION", "AF-PLAY")
    edit_record(league, number, lambda record: record["irregular"].pop(place))
    assert (first(league).check, first(league).game) == (Check.REPLAY, number)


def test_a_forfeit_for_an_action_that_nobody_made_is_named(league: Path) -> None:
    number, place = ruling_of(league, "CRASH")
    edit_record(league, number, lambda record: record["irregular"][place].update(fault="ILLEGAL_ACTION"))
    odd = first(league)
    assert (odd.check, odd.game) == (Check.REPLAY, number)
    assert "ILLEGAL_ACTION, but names no action" in odd.says


@pytest.mark.parametrize(
    ("change", "should"),
    [
        ({"rule": "AF-PROTO-003"}, "AF-PROTO-00"),
        ({"sentence": "Something else."}, "A turn of kind"),
        ({"raw": wire.Move(turn_id=1).SerializeToString().hex()}, "this move sets no field"),
        ({"raw": "ff"}, "no message at all"),
    ],
)
def test_malformed_bytes_are_parsed_again(league: Path, change: dict[str, str], should: str) -> None:
    number, place = ruling_of(league, "MALFORMED")
    edit_record(league, number, lambda record: record["irregular"][place].update(change))
    odd = first(league)
    assert (odd.check, odd.game) == (Check.SECOND_ENGINE, number)
    assert odd.deal > 0
    assert odd.what.startswith("bytes of seat ")
    assert should in odd.should


def test_malformed_bytes_that_hold_a_sound_move_are_named(league: Path) -> None:
    number, place = ruling_of(league, "MALFORMED", "AF-PROTO-001")  # no bid was asked for, so a card was
    raw = wire.Move(turn_id=1, card=wire.Card.ValueType(2)).SerializeToString().hex()
    edit_record(league, number, lambda record: record["irregular"][place].update(raw=raw))
    odd = first(league)
    assert (odd.check, odd.game, odd.should) == (Check.SECOND_ENGINE, number, "2C, a sound move")


def test_malformed_bytes_that_were_cut_cannot_be_proven(league: Path) -> None:
    number, place = ruling_of(league, "MALFORMED")
    before = verdict(league)
    edit_record(
        league, number, lambda record: record["irregular"][place].update(raw="00" * second_engine.MOST_RAW_BYTES)
    )
    after = verdict(league)
    assert after.ok, str(after)
    assert after.unproven["MALFORMED (cut)"] == 1
    assert (after.rulings, after.unprovable) == (before.rulings - 1, before.unprovable + 1)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"low_to": "taker"}, {"items", "seat of L"}),
        ({"min_bid": 3}, {"seat 1", "seat 2", "seat 3", "seat 4"}),
        ({"target": 5}, {"history", "game over", "reason"}),
        ({"follow": "strict"}, {"seat 1", "seat 2", "seat 3", "seat 4"}),
        ({"settlement": "none"}, {"stakes"}),
        ({"pitcher_scores": "bid"}, {"deltas"}),
    ],
)
def test_where_only_the_second_engine_differs_it_is_named(
    league: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], what: set[str]
) -> None:
    """One engine is told another house rule: record and replay still agree, and the judge does not."""
    monkeypatch.setattr(second_engine, "OracleGame", lambda rules, *others: OracleGame({**rules, **change}, *others))
    found = verdict(league)
    assert not found.ok
    assert {one.check for one in found.findings} == {Check.SECOND_ENGINE}
    assert {one.what for one in found.findings} & what
    assert all(one.should for one in found.findings)


# Figures.


@pytest.mark.parametrize(
    ("figure", "value"),
    [
        ("stakes", [9, 9, 9, 9]),
        ("bids_made", [5, 5, 5, 5]),
        ("winner", 7),
        ("times", []),
        ("entrants", ["x"]),
        ("set", "y"),
    ],
)
def test_a_changed_figure_of_a_summary_is_named(league: Path, figure: str, value: object) -> None:
    ((text,),) = rows(league, "SELECT summary FROM game WHERE number = 11")
    sql(league, "UPDATE game SET summary = ? WHERE number = 11", json.dumps(json.loads(text) | {figure: value}))
    odd = first(league)
    assert (odd.check, odd.game) == (Check.SUMMARY, 11)
    assert odd.what.split("[")[0].split(".")[0] == figure


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("rows", 0, "skill", "mu"), 30.0),
        (("rows", 1, "measure", "mean"), 0.9),
        (("rows", 2, "wins"), 99),
        (("rows", 3, "entrant"), "somebody"),
        (("notes",), []),
        (("resamples",), 10**12),
        (("resamples",), "many"),
    ],
)
def test_a_changed_figure_of_the_standings_is_named(league: Path, path: tuple[Any, ...], value: object) -> None:
    def change(umpire: Any) -> Any:
        inner = umpire
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = value
        return umpire

    edit_fact(league, "standings", change)
    odd = first(league)
    assert odd.check is Check.STANDINGS
    if path[0] == "rows":
        assert odd.what == f"rows[{path[1]}].{'.'.join(map(str, path[2:]))}"


def test_standings_that_were_taken_out_are_named(league: Path) -> None:
    sql(league, "DELETE FROM league WHERE key = 'standings'")
    odd = first(league)
    assert (odd.check, odd.what, odd.says) == (Check.STANDINGS, "standings of a finished league", "nothing")


@pytest.mark.parametrize("root", ["result_root", "record_root"])
def test_a_changed_root_is_named(league: Path, root: str) -> None:
    edit_fact(league, root, lambda _: "0" * 64)
    odd = first(league)
    assert (odd.check, odd.what, odd.says) == (Check.ROOT, root.replace("_", " "), "0" * 64)


@pytest.mark.parametrize("column", ["record_digest", "result_digest"])
def test_a_changed_digest_is_named(league: Path, column: str) -> None:
    put(league, "game", {column: "0" * 64}, "number = 10")
    odd = first(league)
    assert (odd.check, odd.game, odd.what) == (Check.DIGEST, 10, f"digest of the {column.removesuffix('_digest')}")
