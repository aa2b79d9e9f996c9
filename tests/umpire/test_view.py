"""What a seat is told: all that it may know, and nothing else."""

import copy
import itertools
from dataclasses import fields
from random import Random
from typing import Any, Final

from hypothesis import given, settings

from referee.cards import Card, cards_in, mask_of, parse_card, parse_hand
from referee.rules import Deal, EventKind, Game, Kind, unpack_event
from referee.umpire.events import GameSpec
from referee.umpire.umpire import Umpire
from referee.umpire.view import Chair, Turn, see
from tests.helpers import call, chances, pitch, play, random_rules, rules_of, seeded, shuffled, start

HANDS: Final = ["AH JH 2H KS TC 4D", "QH 3H AS 9S TD 5C", "KH 6H TS 8S AC 7D", "9H QS QC JD 3C 8D"]
NUMBERS: Final[dict[str, int]] = {"turn_id": 5, "decision": 6, "retry": 1, "move_us": 7, "bank_us": 8}


def turn_of(game: Game, deal: Deal) -> Turn:
    """What the seat to decide is told."""
    return see(
        deal,
        game,
        Chair(game_id=9, seat=deal.seat, seats=deal.seats, rules=deal.rules, rule_set_id=3, bot_seed=77),
        **NUMBERS,
    )


def fields_of(turn: Turn) -> dict[str, Any]:
    return {field.name: getattr(turn, field.name) for field in fields(Turn)}


def hidden_shuffle(chance: Random, deal: Deal, pack: tuple[Card, ...]) -> tuple[Card, ...]:
    """Another pack that deals the same to the seat to decide, and lets the same cards be played by the same seats.

    All other cards, those of the other hands and of the stock, change places at random.
    """
    known = deal.dealt[deal.seat]
    for played in deal.played:
        known |= played
    places = [place for place, card in enumerate(pack) if not known >> card & 1]
    cards = chance.sample([pack[place] for place in places], len(places))
    changed = list(pack)
    for place, card in zip(places, cards, strict=True):
        changed[place] = card
    return tuple(changed)


class Position:
    """All that makes a position in which somebody has to decide: it can be set up again with another pack."""

    def __init__(self, chance: Random) -> None:
        self.rules, self.seats = random_rules(chance)
        self.dealer = chance.randrange(self.seats)
        self.scores = [chance.randint(-5, self.rules.target - 1) for _ in range(self.rules.side_count(self.seats))]
        self.set_backs = [chance.randint(0, 3) for _ in self.scores]
        self.pack = shuffled(chance)
        self.actions: list[int] = []
        deal = self.deal(self.pack)[1]
        while deal.kind is not None:
            self.actions.append(chance.choice(deal.legal()))
            deal.act(self.actions[-1])
        del self.actions[chance.randrange(len(self.actions)) :]

    def deal(self, pack: tuple[Card, ...]) -> tuple[Game, Deal]:
        """The position with that pack, whether or not its hands allow all that was played."""
        game = Game(self.rules, self.seats, self.dealer, self.scores, self.set_backs)
        deal = game.deal_pack(pack)
        for action in self.actions:
            deal.apply(action)
        return game, deal


@settings(max_examples=400)
@given(chances())
def test_two_positions_that_differ_in_what_a_seat_may_not_know_look_alike(chance: Random) -> None:
    position = Position(chance)
    game, deal = position.deal(position.pack)
    other_game, other = position.deal(hidden_shuffle(chance, deal, position.pack))
    assert (other.seat, other.kind, other.dealt[deal.seat]) == (deal.seat, deal.kind, deal.dealt[deal.seat])
    assert fields_of(turn_of(other_game, other)) == fields_of(turn_of(game, deal))


def test_the_paired_positions_do_differ() -> None:
    """The test above compares something: nearly always other hands or the stock have changed."""
    differ = 0
    for seed in range(50):
        chance = seeded(seed)
        position = Position(chance)
        deal = position.deal(position.pack)[1]
        other = position.deal(hidden_shuffle(chance, deal, position.pack))[1]
        assert other.hands[deal.seat] == deal.hands[deal.seat]
        assert [hand.bit_count() for hand in other.hands] == [hand.bit_count() for hand in deal.hands]
        differ += other.hands != deal.hands or other.stock != deal.stock
    assert differ > 45


def test_a_seat_is_told_only_its_own_chair() -> None:
    """Seeds of other seats, and the packs of deals to come, stay unknown: two tables that differ in them ask alike."""
    rules = rules_of("auction-pitch")

    def first_turns(seed: int) -> list[Turn]:
        chairs = tuple(
            Chair(game_id=9, seat=seat, seats=3, rules=rules, rule_set_id=1, bot_seed=5 if seat == 1 else seed + seat)
            for seat in range(3)
        )
        spec = GameSpec(key="test", rules=rules, chairs=chairs)
        packs = [shuffled(seeded("first")), shuffled(seeded(seed))]
        umpire = Umpire(spec, lambda number: packs[min(number, 1)], itertools.count(1).__next__, lambda turn: 0)
        umpire.start()
        turns = []
        while umpire.deals[-1].pack == packs[0] and umpire.open is not None:
            if umpire.open.chair.seat == 1:
                turns.append(copy.deepcopy(umpire.open))
            umpire.answer(umpire.open.turn_id, max(umpire.open.legal), 0)
        return turns

    assert first_turns(100) == first_turns(200) != []


# Every field


def test_a_turn_in_the_auction() -> None:
    deal = call(start(HANDS, scores=[1, 2, 3, 4]), [2, 0])
    game = Game(deal.rules, 4, 3, [1, 2, 3, 4], [0, 1, 0, 2])
    game.deals = 12
    assert fields_of(turn_of(game, deal)) == {
        "turn_id": 5,
        "chair": Chair(game_id=9, seat=2, seats=4, rules=deal.rules, rule_set_id=3, bot_seed=77),
        "kind": Kind.BID,
        "legal": (0, 3, 4),
        "hand": parse_hand(HANDS[2]),
        "dealer": 3,
        "history": [0x10002, 0x10100],
        "trick": [],
        "leader": None,
        "trump": None,
        "pitcher": None,
        "bid": 2,
        "turn_up": None,
        "stock_count": 28,
        "laid_away": 0,
        "scores": [1, 2, 3, 4],
        "set_backs": [0, 1, 0, 2],
        "deal": 12,
        "decision": 6,
        "retry": 1,
        "move_us": 7,
        "bank_us": 8,
    }


def test_a_turn_in_the_play() -> None:
    deal = play(pitch(start(HANDS), 0, 3), "AH 3H 6H 9H TC 5C")
    told = fields_of(turn_of(Game(deal.rules, 4, 3), deal))
    expected = {
        "kind": Kind.PLAY,
        "legal": cards_in(parse_hand("AC KH")),
        "hand": parse_hand("KH TS 8S AC 7D"),
        "trick": [parse_card("TC"), parse_card("5C")],
        "leader": 0,
        "trump": 2,
        "pitcher": 0,
        "bid": 3,
        "stock_count": 28,
    }
    assert {name: told[name] for name in expected} == expected
    assert len(told["history"]) == 4 + 6


def test_the_pitcher_is_told_of_himself_before_trump_is_made() -> None:
    deal = pitch(start(HANDS), 1, 4)
    turn = turn_of(Game(deal.rules, 4, 3), deal)
    assert (turn.chair.seat, turn.leader, turn.pitcher, turn.bid, turn.trump) == (1, 1, 1, 4, None)
    assert list(turn.legal) == list(cards_in(parse_hand(HANDS[1])))


@settings(max_examples=100)
@given(chances())
def test_the_history_tells_what_the_other_public_fields_say(chance: Random) -> None:
    """A bot that reads the history alone, and the dealer and the number of seats, comes to the same table."""
    position = Position(chance)
    game, deal = position.deal(position.pack)
    turn = turn_of(game, deal)
    events = [unpack_event(event) for event in turn.history]
    bids = [event for event in events if event.kind is EventKind.BID and event.value]
    plays = [event for event in events if event.kind is EventKind.PLAY]
    assert turn.bid == (bids[-1].value if bids else 0)
    on_the_table = len(plays) % position.seats
    assert list(turn.trick) == [event.value for event in plays[len(plays) - on_the_table :]]
    assert turn.trump == (plays[0].value >> 4 if plays else None)
    own = mask_of(event.value for event in plays if event.seat == turn.chair.seat)
    assert turn.hand | own == deal.dealt[turn.chair.seat]
    assert not turn.hand & own
    if turn.kind is Kind.PLAY:
        free = {"dealer_free": position.dealer, "eldest_free": (position.dealer + 1) % position.seats}
        assert turn.pitcher == (bids[-1].seat if bids else free[position.rules.all_pass])
        assert turn.leader == (turn.chair.seat - on_the_table) % position.seats
    else:
        assert (turn.pitcher, turn.leader) == (None, None)
    assert (turn.scores, turn.set_backs) == (position.scores, position.set_backs)
    assert turn.stock_count == 52 - position.seats * position.rules.hand_size
