"""The SDK of a bot: cards, chance, and what a turn tells."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee import cards, rules
from referee.bot import Call, Card, EventKind, Keeps, Kind, Objective, Suit, Turn, parse_cards, wire
from referee.bot import _cards as bot_cards
from referee.bot import _random as chance
from referee.rules.actions import pack_event
from tests.sdk import play_turn

# Cards, suits, chance


def test_numbers_are_those_of_the_domain_and_of_the_wire() -> None:
    assert tuple(map(int, bot_cards.PACK)) == cards.PACK
    assert [card.pips for card in bot_cards.PACK] == [cards.PIPS[card] for card in cards.PACK]
    for ours, theirs in ((Kind, rules.Kind), (Call, rules.Call), (EventKind, rules.EventKind)):
        assert {item.name: int(item) for item in ours} == {item.name: int(item) for item in theirs}
    assert [suit.name.lower() for suit in Suit] == list(cards.SUIT_NAMES)
    assert {objective.name: int(objective) for objective in Objective} == {
        name.removeprefix("OBJECTIVE_"): number for name, number in wire.Objective.items()
    }


@pytest.mark.parametrize("card", cards.PACK)
def test_a_card_reads_as_its_text_and_counts_as_its_number(card: int) -> None:
    ours = Card(card)
    assert str(ours) == repr(ours) == f"{ours}" == cards.card_text(card)
    assert Card(str(ours).lower()) is ours
    assert (ours, ours.rank, ours.suit) == (card, cards.rank_of(card), cards.suit_of(card))


@pytest.mark.parametrize("what", ["1H", "H", "", "QHH", 0, 15, 64, -1])
def test_what_is_no_card_is_refused(what: Any) -> None:
    with pytest.raises(ValueError, match="is not a card: write rank then suit"):
        Card(what)


def test_words_print_as_words() -> None:
    assert f"{Suit.HEARTS:>7} {Call.BEG} {Kind.PLAY}" == " hearts beg play"
    assert Suit.SPADES.letter == "S"


@given(st.integers(0, 2**53 - 1), st.integers(1, 2**40))
def test_chance_stays_below_and_repeats_itself(seed: int, below: int) -> None:
    one, other = chance.Chance(seed), chance.Chance(seed)
    numbers = [one.randrange(below) for _ in range(5)]
    assert numbers == [other.randrange(below) for _ in range(5)]
    assert all(0 <= number < below for number in numbers)


def test_chance_is_even_and_has_every_method_of_random() -> None:
    rng = chance.Chance(5)
    counts = [0] * 6
    for _ in range(6000):
        counts[rng.randrange(6)] += 1
    assert all(850 < count < 1150 for count in counts)
    assert sorted(rng.sample(range(52), 52)) == list(range(52))
    assert 0.45 < sum(rng.random() for _ in range(2000)) / 2000 < 0.55
    assert {rng.getrandbits(3) for _ in range(200)} == set(range(8))
    assert rng.getrandbits(130).bit_length() > 64
    assert rng.getrandbits(0) == 0
    state = rng.getstate()
    again = rng.gauss(0, 1)
    rng.setstate(state)
    assert rng.gauss(0, 1) == again
    with pytest.raises(ValueError, match="0 or more"):
        rng.getrandbits(-1)
    with pytest.raises(TypeError, match="a seed is a number"):
        rng.seed("seven")
    with pytest.raises(IndexError):
        rng.choice([])


# Turns


def test_a_turn_reads_well() -> None:
    turn = Turn(
        play_turn(
            game_id=9,
            seat=2,
            seats=4,
            sides=2,
            dealer=3,
            hand=parse_cards("2C QH AS"),
            trick=parse_cards("3C TC"),
            trick_leader=0,
            trump=wire.SUIT_SPADES,
            pitcher=0,
            bid=2,
            scores=[3, -2, 3, -2],
            set_backs=[0, 1, 0, 1],
            target=11,
            stock_count=28,
            deal=4,
            decision=17,
            retry=1,
            turn_up=wire.CARD_JD,
            discards=parse_cards("4D"),
            move_ms=5000,
            bank_ms=30000,
            history=[pack_event(1, 0, 2), pack_event(13, 0, Card("3C")), pack_event(7, 1, 2), pack_event(99, 1, 1)],
        )
    )
    assert (turn.kind, turn.seat, turn.seats, turn.game, turn.dealer, turn.eldest) == (Kind.PLAY, 2, 4, 9, 3, 0)
    assert turn.legal == turn.hand == parse_cards("2C QH AS")
    assert (turn.trick, turn.leader, turn.trump, turn.pitcher, turn.bid) == (parse_cards("3C TC"), 0, Suit.SPADES, 0, 2)
    assert (turn.partners, turn.opponents) == ((0,), (1, 3))
    assert (turn.scores, turn.set_backs, turn.target) == ((3, -2, 3, -2), (0, 1, 0, 1), 11)
    assert (turn.deal, turn.decision, turn.retry, turn.stock_count) == (4, 17, 1, 28)
    assert (turn.turn_up, turn.discards) == (Card("JD"), parse_cards("4D"))
    assert (turn.move_ms, turn.bank_ms) == (5000, 30000)
    assert turn.high_bid == 2
    assert [str(event.value) for event in turn.history] == ["2", "3C", "hearts"]
    for word in ("turn 1: PLAY", "hand    AS QH 2C", "trick   3C TC", "spades", "0 BID 2, 0 PLAY 3C", "2C, QH, AS"):
        assert word in str(turn)


def test_an_empty_turn_has_nothing_settled() -> None:
    turn = Turn(wire.Turn(kind=wire.TURN_KIND_BID, seats=3, options=wire.Options(bids=[0, 2, 3, 4])))
    assert (turn.trump, turn.leader, turn.pitcher, turn.turn_up, turn.winning) == (None,) * 5
    assert (turn.partners, turn.opponents, turn.high_bid, turn.trick) == ((), (1, 2), 0, ())
    assert turn.legal == (0, 2, 3, 4)
    with pytest.raises(LookupError, match="has not told the rule set 0"):
        _ = turn.rules


def test_what_is_legal_comes_as_what_it_is() -> None:
    suits = Turn(wire.Turn(kind=wire.TURN_KIND_NAME_TRUMP, options=wire.Options(suits=[1, 4])))
    assert suits.legal == (Suit.CLUBS, Suit.SPADES)
    assert isinstance(suits.legal[0], Suit)
    calls = Turn(wire.Turn(kind=wire.TURN_KIND_ANSWER_BEG, options=wire.Options(calls=[3, 4])))
    assert calls.legal == (Call.GIVE, Call.RUN)


def test_a_kind_of_later_versions_is_named_in_the_error() -> None:
    turn = Turn(wire.Turn(kind=wire.TurnKind.ValueType(77)))
    with pytest.raises(LookupError, match="kind 77: install a newer Referee"):
        _ = turn.kind
    assert "77" in str(turn)


def test_a_cinch_dealer_never_lists_all_his_ways() -> None:
    keep = wire.Keep(may_keep=bot_cards.PACK[:25], count=6)
    turn = Turn(wire.Turn(kind=wire.TURN_KIND_DISCARD, options=wire.Options(keep=keep)))
    assert len(turn.legal) == 177_100
    assert turn.keeps is turn.legal
    kept = turn.rng.choice(turn.legal)
    assert kept in turn.legal
    assert list(kept) == sorted(kept)
    assert len(set(kept)) == 6


@given(st.sets(st.sampled_from(cards.PACK), max_size=9), st.integers(0, 9), st.integers(0, 9))
def test_ways_to_keep_are_those_of_the_domain_in_the_same_order(held: set[int], musts: int, size: int) -> None:
    held_cards = sorted(map(Card, held))
    must, may = tuple(held_cards[:musts]), tuple(held_cards[musts:])
    ours = Keeps(must, may, size)
    theirs = rules.Keeps(cards.mask_of(must), cards.mask_of(may), size)
    assert [cards.mask_of(kept) for kept in ours] == list(theirs)
    assert all(kept in ours for kept in ours)
    assert ours[1:3] == [ours[i] for i in range(len(ours))][1:3]


def test_only_ways_to_keep_are_in_keeps() -> None:
    ways = Keeps(parse_cards("AS"), parse_cards("2C 3C 4C"), 2)
    assert list(parse_cards("AS 2C")) in ways
    assert set(parse_cards("AS 2C")) in ways
    for wrong in ("AS", "2C 3C", "AS 2C 3C", "AS KS", "AS AS"):
        assert parse_cards(wrong) not in ways
    assert 7 not in ways
    with pytest.raises(IndexError):
        _ = ways[3]
    assert len(Keeps(parse_cards("AS KS"), (), 1)) == 0


def test_chance_depends_on_the_decision_alone() -> None:
    def numbers(**fields: int) -> list[int]:
        return Turn(wire.Turn(**{"bot_seed": 5, "deal": 1, "decision": 2, **fields})).rng.sample(range(100), 5)  # type: ignore[arg-type]

    assert numbers() == numbers(turn_id=77, move_ms=3)
    different = [numbers(), numbers(bot_seed=6), numbers(deal=2), numbers(decision=3), numbers(retry=1)]
    assert len({tuple(row) for row in different}) == len(different)
    turn = Turn(wire.Turn())
    assert turn.rng is turn.rng
    assert isinstance(turn.rng, random.Random)


def test_the_winning_card_of_a_trick() -> None:
    def winning(trick: str, trump: wire.Suit.ValueType, leader: int = 2) -> int | None:
        return Turn(wire.Turn(trick=parse_cards(trick), trump=trump, trick_leader=leader, seats=4)).winning

    assert winning("TH AH 9S", wire.SUIT_CLUBS) == 3
    assert winning("TH AS 9H", wire.SUIT_CLUBS) == 2
    assert winning("TH AH 2C", wire.SUIT_CLUBS) == 0
    assert winning("TH 9H", wire.SUIT_UNSPECIFIED) == 2


def test_the_left_pedro_is_a_trump_below_the_five() -> None:
    house = wire.RuleSet(left_pedro=True)
    message = wire.Turn(trick=parse_cards("4S"), trump=wire.SUIT_SPADES, seats=4)
    cinch, pitch = Turn(message, house), Turn(message, wire.RuleSet())
    assert cinch.suit_of(Card("5C")) is Suit.SPADES
    assert pitch.suit_of(Card("5C")) is Suit.CLUBS
    assert cinch.beats(Card("5C"))
    assert not pitch.beats(Card("5C"))
    assert not Turn(wire.Turn(trick=parse_cards("5S"), trump=wire.SUIT_SPADES), house).beats(Card("5C"))
    assert Turn(wire.Turn(trick=parse_cards("5C"), trump=wire.SUIT_SPADES), house).beats(Card("5S"))
