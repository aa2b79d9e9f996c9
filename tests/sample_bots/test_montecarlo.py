"""What the montecarlo bot imagines: worlds that fit all that was seen, and what the end of a deal is worth."""

import math
import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.strength import load
from referee import cards
from referee.bot import Card, Kind, Objective, Turn, parse_cards, wire
from referee.cards import cards_in, mask_of, parse_hand
from referee.protocol.translate import rule_set_message, turn_message
from referee.rules import Deal, Game, RuleSet, variant, variant_names
from referee.rules.state import deal_out
from referee.umpire.view import Chair, see
from tests.helpers import pitch, start

GLOBALS: dict[str, Any] = load("montecarlo").__globals__  # type: ignore[attr-defined]  # a plain function
PITCH = variant("auction-pitch")


def turn_of(deal: Deal, scores: tuple[int, ...] = (), **changes: Any) -> Turn:
    game = Game(deal.rules, deal.seats, deal.dealer, scores)
    chair = Chair(game_id=1, seat=deal.seat, seats=deal.seats, rules=deal.rules, bot_seed=77)
    message = turn_message(see(deal, game, chair, turn_id=1, decision=3, retry=0, move_us=5_000_000, bank_us=0))
    message.MergeFrom(wire.Turn(**changes))
    return Turn(message, rule_set_message(deal.rules, 1))


def positions(rules: RuleSet, seats: int, seed: int) -> Iterator[Deal]:
    """The positions of one deal that is played at random."""
    rng = random.Random(seed)  # noqa: S311  # a test
    pack = list(cards.PACK)
    rng.shuffle(pack)
    deal = Deal(
        rules, seats, rng.randrange(seats), pack, [rng.randrange(-3, 7) for _ in range(rules.side_count(seats))]
    )
    while deal.kind is not None:
        yield deal
        deal.act(rng.choice(deal.legal()))


@given(seed=st.integers(0, 10**6), seats=st.integers(2, 7))
@settings(max_examples=20)
def test_every_world_fits_what_was_seen(seed: int, seats: int) -> None:
    for deal in positions(PITCH, seats, seed):
        turn = turn_of(deal)
        imagined = GLOBALS["Imagination"](turn, PITCH)
        assert not any(hand & barred for hand, barred in zip(deal.hands, imagined.barred, strict=True)), "true"
        seen = mask_of(event.value for event in turn.history if event.kind.name == "PLAY")
        for _ in range(3):
            hands = imagined.hands()
            assert hands[turn.seat] == deal.hands[deal.seat]
            assert [hand.bit_count() for hand in hands] == [hand.bit_count() for hand in deal.hands]
            assert sum(hands) == mask_of(card for hand in hands for card in cards_in(hand)), "a card is in two hands"
            assert not sum(hands) & seen
            others = [(seat, hand) for seat, hand in enumerate(hands) if seat != turn.seat]
            assert not any(hand & imagined.barred[seat] for seat, hand in others)


@given(seed=st.integers(0, 10**6), game=st.sampled_from(["auction-pitch", "partnership-pitch", "smudge"]))
@settings(max_examples=20)
def test_the_imagined_deal_stands_where_the_true_one_does(seed: int, game: str) -> None:
    for deal in positions(variant(game), 4, seed):
        imagined = GLOBALS["Imagination"](turn_of(deal, tuple(deal.scores)), deal.rules).deal
        for name in (
            "kind",
            "seat",
            "seats",
            "dealer",
            "bid",
            "pitcher",
            "trump",
            "trick",
            "leader",
            "scores",
            "history",
        ):
            assert getattr(imagined, name) == getattr(deal, name), name
        assert imagined.played == deal.played
        assert imagined.taken == deal.taken
        assert imagined.legal() == deal.legal()


def test_a_seat_that_did_not_follow_holds_none_of_the_suit() -> None:
    deal = pitch(start(["AS 3C 4C", "9H 2H QD", "2S KH 5S"], rules={"hand_size": 3, "packet": 3}), 0, 2)
    for card in parse_cards("AS 9H"):
        deal.act(card)
    imagined = GLOBALS["Imagination"](turn_of(deal), deal.rules)
    assert imagined.barred == [0, cards.SUIT_MASKS[cards.SPADES], 0]


def test_a_trump_on_a_plain_lead_says_nothing_about_the_suit_led() -> None:
    deal = pitch(start(["AS 3C 4C", "9S 2S QD", "2H KH 5S"], rules={"hand_size": 3, "packet": 3}), 0, 2)
    for card in parse_cards("AS 9S 5S 3C 2S"):
        deal.act(card)
    imagined = GLOBALS["Imagination"](turn_of(deal), deal.rules)
    assert imagined.barred == [0, 0, 0]


def test_a_pitcher_is_given_something_to_have_bid_on() -> None:
    hands = ["AS KS QS 2S 3D 4D", "9H 2H QD 5C 6C 7C", "TS KH 5S 8C 9C TC", "3S 4S 6S 7S 8S 9S"]
    deal = start(hands)
    deal.act(4)
    deal.act(0) if deal.kind is Kind.BID else None
    deal.act(Card("AS"))
    imagined = GLOBALS["Imagination"](turn_of(deal), deal.rules)
    promised = []
    for _ in range(30):
        trumps = imagined.hands()[0] | parse_hand("AS")
        promised.append(GLOBALS["promise"](trumps >> 48 & GLOBALS["RANKS"], 4))
    assert sum(promised) / len(promised) > 2.0


@pytest.mark.parametrize("packet", [1, 2, 3, 6])
def test_a_pack_deals_the_hands_that_were_wanted(packet: int) -> None:
    pack = list(cards.PACK)
    random.Random(packet).shuffle(pack)  # noqa: S311  # a test
    hands, _ = deal_out(pack, 5, 2, 6, packet)
    again = GLOBALS["pack_of"](hands, 2, packet)
    assert sorted(again) == list(cards.PACK)
    assert deal_out(again, 5, 2, 6, packet)[0] == hands


@pytest.mark.parametrize("name", variant_names())
def test_the_kernels_rule_set_is_read_from_the_wire(name: str) -> None:
    assert GLOBALS["rules_of"](rule_set_message(variant(name), 3).SerializeToString()) == variant(name)


def worth_after(scores: tuple[int, ...], plays: str) -> float:
    """What seat 0 thinks of the end of a deal in which seat 0 pitched at 2; one card a hand."""
    deal = start(plays.split(), rules={"hand_size": 1, "packet": 1}, scores=scores)
    pitch(deal, 0, 2)
    imagined = GLOBALS["Imagination"](turn_of(deal, scores), deal.rules)
    for card in parse_cards(plays):
        deal.act(card)
    return float(imagined.worth(deal))


def test_the_end_of_a_deal_is_worth_the_share_of_the_others_that_we_beat() -> None:
    won = worth_after((6, 0, 0), "AS TH 2H")  # High, Low and Game: the pitcher is out
    assert won == 1.0
    assert worth_after((0, 6, 0), "2S 3S TH") == 0.0  # set back to -2; seat 1 is out by High
    assert worth_after((0, 6, -2), "2S 3S TH") == 0.25
    good, poor = worth_after((1, 2, 2), "AS TH 2H"), worth_after((-2, 2, 2), "AS TH 2H")
    assert won > good > 0.5 > poor > 0.0


def test_cards_as_good_as_each_other_are_tried_once() -> None:
    def tried(hand: str, others: tuple[str, str]) -> tuple[Card, ...]:
        deal = pitch(start([hand, *others]), 0, 2)
        return tuple(GLOBALS["different"](turn_of(deal)))

    others = ("9H 2H QD 5C 6C 7C", "TS KH 5S 8C 9C TC")
    assert tried("2S 3S 4S 6S QH KD", others) == parse_cards("KD QH 2S 6S")
    assert tried("TS JS QS KS AS 9S", ("9H 2H QD 5C 6C 7C", "TH KH 5S 8C 9C TC")) == parse_cards("9S TS JS QS KS AS")


def test_cards_are_not_as_good_as_each_other_across_a_card_on_the_table() -> None:
    deal = pitch(start(["5S 3C 4C", "4S 6S QD", "2H KH 7S"], rules={"hand_size": 3, "packet": 3}), 0, 2)
    deal.act(Card("5S"))
    assert tuple(GLOBALS["different"](turn_of(deal))) == parse_cards("4S 6S")


def test_where_low_is_won_every_low_trump_is_tried() -> None:
    hands = ["2S 3S 4C 5C QD KD", "4S 6S 7S 8S 9S TS", "2H KH 7H 8H 9H TH"]
    assert len(GLOBALS["different"](turn_of(pitch(start(hands, rules="smudge"), 0, 2)))) == 6
    assert len(GLOBALS["different"](turn_of(pitch(start(hands), 0, 2)))) == 4


def test_strict_following_tells_more() -> None:
    rules = {"hand_size": 3, "packet": 3, "follow": "strict"}
    deal = pitch(start(["AS 3C 4C", "9S 2S QD", "2H KH 5S"], rules=rules), 0, 2)
    for card in parse_cards("AS 9S 5S 3C 2S"):
        deal.act(card)
    assert GLOBALS["Imagination"](turn_of(deal), deal.rules).barred == [0, cards.SUIT_MASKS[cards.CLUBS], 0]


@pytest.mark.parametrize(
    ("rules", "objective", "worth"),
    [
        ({}, Objective.POINTS, 3.0),  # High, Low and Game
        ({"max_deals": 1}, Objective.PLACE, 0.75),  # the game ends here, 3 to 3 and 0
        ({}, Objective.PLACE, 0.5 * 0.5 + 0.5 / (1 + math.exp(-3 * (0.32 + 0.24 / 4)))),
    ],
)
def test_what_counts_is_what_is_told(rules: dict[str, Any], objective: Objective, worth: float) -> None:
    deal = pitch(start(["AS", "TH", "2H"], rules={"hand_size": 1, "packet": 1, **rules}, scores=(0, 3, 0)), 0, 2)
    turn = turn_of(deal, (0, 3, 0))
    turn.objective = objective
    imagined = GLOBALS["Imagination"](turn, deal.rules)
    for card in parse_cards("AS TH 2H"):
        deal.act(card)
    assert imagined.worth(deal) == pytest.approx(worth)


def test_the_clock_is_a_safety_net() -> None:
    deal = start(["AS KS QS 2S 3D 4D", "9H 2H QD 5C 6C 7C", "TS KH 5S 8C 9C TC"])
    turn = turn_of(deal)
    turn.message.move_ms = 0
    assert GLOBALS["choose"](turn) in turn.legal
