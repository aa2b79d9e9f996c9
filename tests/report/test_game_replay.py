"""The replay of a game tells what the umpire saw, in every variant, and survives its compact form."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from referee.cards import PACK_MASK, cards_in
from referee.report.game_replay import GameReplay, game_replay
from referee.report.replay_json import replay_json, to_script
from referee.rules import Kind, variant, variant_names
from referee.umpire.fallback_player import fallback_move
from referee.umpire.record import Record, RecordError, replay
from tests.report.made_leagues import PLAYERS, make_league, open_league

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
CARD = dict(zip(LETTERS, cards_in(PACK_MASK), strict=True))


def a_league(folder: Path, name: str) -> Path:
    """A small league of a variant in which somebody slips."""
    rules = variant(name)
    seats = 4 if rules.sides else min(rules.players[1], 3)
    entrants = dict(list(PLAYERS.items())[-(rules.sides or seats) :])
    return make_league(folder / f"{name}.sqlite", entrants, variant=name, seats=seats, sets=2)


@pytest.fixture(scope="module", params=variant_names())
def records(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Record]:
    path = a_league(tmp_path_factory.mktemp("replay"), request.param)
    store, _ = open_league(path)
    with store:
        return [store.record(game.number) for game in store.games()]


def test_every_action_was_legal_and_every_card_is_somewhere(records: list[Record]) -> None:
    for record in records:
        found = game_replay(record, 1)
        for deal in found.deals:
            held = 0
            for hand in deal.hands:
                assert not held & hand
                held |= hand
            assert held.bit_count() + len(deal.stock) + (deal.turn_up is not None) in (52, 52 + 1)
            for step in deal.steps:
                assert step.action in step.legal
                assert step.events or step.kind in (Kind.DISCARD, Kind.ANSWER_BEG)


def test_scores_add_up_from_deal_to_deal(records: list[Record]) -> None:
    for record in records:
        found = game_replay(record, 1)
        for deal in found.deals:
            if deal.outcome is None:  # only where the game was forfeited inside its last deal
                assert found.reason == "forfeit"
                assert deal is found.deals[-1]
                continue
            assert tuple(a + d for a, d in zip(deal.scores, deal.outcome.deltas, strict=True)) == deal.after
        assert list(found.deals[-1].after) == record["result"]["scores"] == list(found.scores)


def test_rulings_stand_before_the_decision_they_are_about(records: list[Record]) -> None:
    ruled = [(record, ruling) for record in records for ruling in game_replay(record, 1).rulings]
    assert ruled
    for _, ruling in ruled:
        assert ruling.kind is not None
        assert ruling.item.action is not None
        assert ruling.item.action not in ruling.legal


def states(data: dict[str, Any]) -> Iterator[tuple[int, int, list[str], Any]]:
    """What a reader of the compact form knows of hands and trump: deal, step, hands as letters, trump."""
    for number, deal in enumerate(data["deals"]):
        hands, trump = [set(hand) for hand in deal["h"]], deal.get("t")
        yield number, 0, ["".join(sorted(hand)) for hand in hands], trump
        for count, (seat, kind, action, *rest) in enumerate(deal["steps"], 1):
            more = rest[1] if len(rest) > 1 else {}
            if kind == Kind.PLAY:
                hands[seat] -= {action}
            for other, hand in more.get("h", {}).items():
                hands[int(other)] = set(hand)
            trump = more.get("t", trump)
            yield number, count, ["".join(sorted(hand)) for hand in hands], trump


def letters(mask: int) -> str:
    return "".join(sorted(letter for letter, card in CARD.items() if mask >> card & 1))


def test_the_compact_form_says_the_same(records: list[Record]) -> None:
    for record in records:
        found = game_replay(record, 1)
        for number, count, hands, trump in states(replay_json(found)):
            deal = found.deals[number]
            step = deal.steps[count - 1] if count else None
            masks = deal.hands if step is None else step.hands
            assert hands == [letters(mask) for mask in masks]
            assert trump == (deal.trump if step is None else step.trump)


def test_the_compact_form_is_compact(records: list[Record]) -> None:
    steps = sum(len(deal.steps) for record in records for deal in game_replay(record, 1).deals)
    size = sum(len(to_script([replay_json(game_replay(record, 1))])) for record in records)
    assert size < 90 * steps


def one(folder: Path, **options: Any) -> tuple[Record, GameReplay]:
    path = make_league(folder / "one.sqlite", PLAYERS, sets=1, **options)
    store, _ = open_league(path)
    with store:
        record = store.record(1)
    return record, game_replay(record, 1)


def test_a_forfeited_seat_is_played_by_the_house(tmp_path: Path) -> None:
    record, found = one(tmp_path, lose={"chance": "The stream ended."})
    (seat,) = found.forfeits
    ruling = next(ruling for ruling in found.rulings if str(ruling.item.consequence) == "FORFEITED")
    before = [step for deal in found.deals[: ruling.place.deal] for step in deal.steps]
    before += found.deals[ruling.place.deal].steps[: ruling.place.step]
    after = [step for deal in found.deals for step in deal.steps][len(before) :]
    assert not any(step.by_house for step in before)
    assert [step.by_house for step in after] == [step.seat == seat for step in after]
    assert ruling.item.sentence == "The stream ended."
    assert replay(record, fallback_move).result is not None


def test_a_game_that_ends_inside_a_deal_shows_what_was_to_be_decided(tmp_path: Path) -> None:
    path = make_league(
        tmp_path / "two.sqlite",
        {"sound": PLAYERS["sound"], "chance": PLAYERS["chance"]},
        sets=1,
        lose={"sound": "It crashed."},
    )
    store, _ = open_league(path)
    with store:
        found = game_replay(store.record(1), 1)
    last = found.deals[-1]
    assert last.outcome is None
    assert last.pending is not None
    assert found.rulings[0].place.deal == len(found.deals) - 1
    assert found.rulings[0].place.step == len(last.steps)
    assert replay_json(found)["deals"][-1]["q"][0] == last.pending.seat


def test_names_may_be_given_and_are_told_apart(tmp_path: Path) -> None:
    record, found = one(tmp_path)
    assert found.names == tuple(record["names"])
    assert game_replay(record, 1, ["a", "b", "a"]).names == ("a (1)", "b", "a (3)")
    assert game_replay({**record, "names": []}, 1).names == ("seat 1", "seat 2", "seat 3")


def test_a_record_that_was_tampered_with_has_no_replay(tmp_path: Path) -> None:
    record, _ = one(tmp_path)
    record["result"]["scores"][0] += 1
    with pytest.raises(RecordError, match="scores"):
        game_replay(record, 1)


def test_nothing_in_the_data_ends_the_script() -> None:
    text = to_script([{"names": ["</script><script>alert(1)</script>", "<!--", "&\u2028"]}])
    assert not set("<>&\u2028") & set(text)
