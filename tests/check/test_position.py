"""A position is stated by pack and actions, comes back from JSON, and is asked as in play."""

from dataclasses import replace
from itertools import count

import pytest

from referee.cards import PACK
from referee.check.plan import clock
from referee.check.position import Position, PositionError, Setting, seat_at
from referee.check.sampling import sample, seat_counts
from referee.rules import Game, variant, variant_names
from referee.rules.rulebook import clauses_of
from referee.rules.state import DealState
from referee.umpire.umpire import Umpire
from referee.umpire.view import Turn
from tests.helpers import seeded, shuffled

PITCH = variant("auction-pitch")
PASSED = Position(
    rules=PITCH,
    seats=4,
    dealer=3,
    pack=PACK,
    actions=(2, 0),
    scores=(6, 0, -3, 1),
    set_backs=(0, 1, 0, 0),
    deal=7,
    decision=12,
    bot_seed=99,
    origin="by hand",
)


def setting() -> Setting:
    return Setting(count(1).__next__, lambda _rules: 1, clock(5000))


def test_a_position_survives_json() -> None:
    assert Position.from_json(PASSED.to_json()) == PASSED
    assert PASSED.to_json()["origin"] == "by hand"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"actions": [3, 2]}, "action 2 .2.: AF-BID-002"),
        ({"actions": [4, *PACK[:3], *[0] * 40]}, "AF-PLAY"),
        ({"dealer": 9}, "dealer 9"),
        ({"pack": "AS"}, "52 different"),
        ({"seats": 9}, "players"),
        ({"scores": [1]}, "figures"),
    ],
)
def test_a_position_that_cannot_come_about_is_refused(change: dict[str, object], told: str) -> None:
    with pytest.raises(PositionError, match=told):
        Position.from_json(PASSED.to_json() | change)


def test_a_garbled_position_is_refused() -> None:
    data = PASSED.to_json()
    del data["pack"]
    with pytest.raises(PositionError, match="lacks or garbles 'pack'"):
        Position.from_json(data)


def test_the_bot_is_told_what_the_position_says() -> None:
    umpire, seat, _ = seat_at(PASSED, setting())
    turn = umpire.open
    assert turn is not None
    assert (seat, turn.chair.seat) == (2, 2)
    assert list(turn.scores) == [6, 0, -3, 1]
    assert list(turn.set_backs) == [0, 1, 0, 0]
    assert (turn.deal, turn.decision, turn.chair.bot_seed, turn.bid) == (7, 12, 99, 2)
    assert turn.hand == PASSED.reached().hands[2]


def test_without_a_number_the_decision_counts_what_the_seat_did() -> None:
    deal, actions = PASSED.at_start().reached(), []
    chance = seeded("decision")
    while len(actions) < 9:
        actions.append(chance.choice(list(deal.legal())))
        deal.apply(actions[-1])
    position = replace(PASSED, actions=tuple(actions), decision=None)
    umpire, seat, _ = seat_at(position, setting())
    assert umpire.open is not None
    assert umpire.open.decision == position.own_past(seat) == position.turn().decision


@pytest.mark.parametrize("name", variant_names())
def test_an_umpire_at_a_position_is_as_if_every_turn_before_had_been_answered(name: str) -> None:
    rules = variant(name)
    for position in sample(rules, seat_counts(rules), [clause.id for clause in clauses_of(rules)], seed="s", looks=200):
        stated, _, outputs = seat_at(position, setting())
        played, _, _ = seat_at(position, setting(), ask_from=0)
        for action in position.actions:
            assert played.open is not None
            last = played.answer(played.open.turn_id, action, 0)
        assert state_of(stated) == state_of(played)
        assert not position.actions or len(outputs) == len(last) == 1


def state_of(umpire: Umpire) -> dict[str, object]:
    """Everything that an umpire knows, but for the functions that it was given."""
    state = {name: value for name, value in vars(umpire).items() if name not in ("_packs", "_turn_ids", "_fallback")}
    assert umpire.deal is not None
    assert umpire.open is not None
    state["open"] = {name: getattr(umpire.open, name) for name in Turn.__slots__} | {"legal": list(umpire.open.legal)}
    state["deal"] = {name: getattr(umpire.deal, name) for name in DealState.__slots__}
    state["game"] = {name: getattr(umpire.game, name) for name in Game.__slots__}
    return state


def test_a_position_after_the_last_card_asks_nothing() -> None:
    chance = seeded("over")
    deal, actions = Position(rules=PITCH, seats=2, dealer=1, pack=shuffled(chance)).reached(), []
    pack = Position(rules=PITCH, seats=2, dealer=1, pack=shuffled(seeded("over")))
    deal = pack.reached()
    while deal.kind is not None:
        actions.append(max(deal.legal()))
        deal.apply(actions[-1])
    with pytest.raises(PositionError, match="nothing is to be decided"):
        replace(pack, actions=tuple(actions)).reached()
    with pytest.raises(PositionError, match="the deal is over"):
        replace(pack, actions=(*actions, 0)).reached()


def test_smaller_positions_sort_first() -> None:
    bare = replace(PASSED, scores=(), set_backs=(), deal=0)
    assert sorted([PASSED, bare, bare.at_start()], key=Position.size) == [bare.at_start(), bare, PASSED]
