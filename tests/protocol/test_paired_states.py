"""On the wire: two games that differ only in what a seat may not know look the same to that seat, byte for byte.

The twin of a position is made by changing places among the cards that the seat has never held and that were never shown
to all. Trumps change with trumps, so that everybody draws as many cards as before; what the others play stays.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from random import Random
from typing import Final

import pytest
from hypothesis import given, settings

from referee.cards import PACK, Card, Mask, cards_in, mask_of
from referee.protocol.translate import deal_over, game_started, ruling_message, turn_message
from referee.rules import Deal, EventKind, Game, Kind, RuleSet, unpack_event, variant, variant_names
from referee.rules.deal import substitute
from referee.umpire.events import DealClosed, DealLog, GameSpec, Ruling
from referee.umpire.fallback_player import fallback_move
from referee.umpire.faults import Consequence, Fault
from referee.umpire.record import canonical, seat_record, write_record
from referee.umpire.umpire import Umpire
from referee.umpire.view import Chair, Turn, see
from tests.helpers import CONCEIVABLE, chances, random_rules, seeded, shuffled

SHOWN: Final = {EventKind.TURN_UP, EventKind.SHOW, EventKind.TAKE, EventKind.STOCK_TOP, EventKind.PLAY}
NUMBERS: Final[dict[str, int]] = {"turn_id": 5, "decision": 6, "retry": 1, "move_us": 7000, "bank_us": 8000}


@dataclass
class Script:
    """All that makes a position: it can be set up again with another pack."""

    rules: RuleSet
    seats: int
    dealer: int
    scores: list[int]
    pack: tuple[Card, ...]
    actions: list[tuple[Kind, int, int]]

    def play(self) -> tuple[Game, Deal]:
        """The position. Actions are carried out unseen: a twin's hands need not allow what was played."""
        game = Game(self.rules, self.seats, self.dealer, self.scores)
        deal = game.deal_pack(self.pack)
        for _, _, action in self.actions:
            deal.apply(action)
        return game, deal

    def twin(self, chance: Random, seat: int) -> "Script":
        """The same position but for what this seat may not know."""
        deal = self.play()[1]
        known = deal.hands[seat] | deal.laid_away[seat] | deal.played[seat]
        events = [unpack_event(event) for event in deal.history]
        known |= mask_of({event.value for event in events if event.kind in SHOWN})
        other = dict(zip(PACK, PACK, strict=True))
        for group in (deal.trumps, ~deal.trumps):
            cards = [card for card in PACK if group >> card & 1 and not known >> card & 1]
            other.update(zip(cards, chance.sample(cards, len(cards)), strict=True))

        def mapped(kind: Kind, actor: int, action: int) -> int:
            hidden = kind is Kind.DISCARD and actor != seat
            return sum(1 << other[card] for card in cards_in(action)) if hidden else action

        actions = [(kind, actor, mapped(kind, actor, action)) for kind, actor, action in self.actions]
        pack = tuple(other[card] for card in self.pack)
        return Script(self.rules, self.seats, self.dealer, self.scores, pack, actions)


def drawn(chance: Random, *, to_the_end: bool = False) -> Script:
    """A position of any game of the family: random play up to some decision, or through the whole deal."""
    while True:
        rules, seats = random_rules(chance)
        if chance.random() < 0.8:
            rules = variant(chance.choice(variant_names()))
            low, high = rules.players
            seats = chance.choice(range(low, high + 1, rules.sides or 1))
        low = min(-5, rules.target - 1)
        scores = [chance.randint(low, rules.target - 1) for _ in range(rules.side_count(seats))]
        script = Script(rules, seats, chance.randrange(seats), scores, shuffled(chance), [])
        deal = script.play()[1]
        timid = chance.random() < 0.3
        while deal.kind is not None:
            legal = deal.legal()
            passes = timid and deal.kind is Kind.BID and 0 in legal
            action = 0 if passes else legal[chance.randrange(len(legal))]
            script.actions.append((deal.kind, deal.seat, action))
            deal.act(action)
        if to_the_end:
            return script
        if script.actions:
            del script.actions[chance.randrange(len(script.actions)) :]
            return script


def chair_of(script: Script, seat: int) -> Chair:
    return Chair(game_id=9, seat=seat, seats=script.seats, rules=script.rules, rule_set_id=1, bot_seed=77)


def turn_bytes(script: Script, seat: int) -> bytes:
    game, deal = script.play()
    assert deal.seat == seat
    return turn_message(see(deal, game, chair_of(script, seat), **NUMBERS)).SerializeToString(deterministic=True)


def ruling_bytes(script: Script, seat: int) -> list[bytes]:
    """The rulings on whatever this seat could answer, its own cards put aside in every way that one card makes."""
    deal = script.play()[1]
    assert deal.kind is not None
    found = []
    for action in CONCEIVABLE.get(deal.kind, range(-2, 9)) if deal.kind is not Kind.DISCARD else keeps(deal, seat):
        violation = deal.verify(action)
        if violation is not None:
            ruling = Ruling(
                seat=seat,
                turn_id=5,
                fault=Fault.ILLEGAL_ACTION,
                rule=violation.rule,
                sentence=violation.sentence,
                legal=violation.legal,
                kind=deal.kind,
                consequence=Consequence.SUBSTITUTED,
                substitute=substitute(deal),
                violations=1,
            )
            found.append(ruling_message(ruling, chair_of(script, seat)).SerializeToString(deterministic=True))
    return found


def keeps(deal: Deal, seat: int) -> list[Mask]:
    hand = deal.hands[seat]
    return [0, hand, (1 << 63) - 1, *(hand & ~(1 << card) for card in PACK), *(1 << card for card in PACK)]


def over_bytes(script: Script, seat: int) -> bytes:
    game, deal = script.play()
    assert deal.outcome is not None
    log = DealLog(dealer=deal.dealer, pack=script.pack, scores=tuple(script.scores), history=deal.history)
    closed = DealClosed(0, log, deal.outcome, tuple(game.scores))
    return deal_over(chair_of(script, seat), closed, deal.history).SerializeToString(deterministic=True)


@settings(max_examples=250)
@given(chances())
def test_a_turn_and_every_ruling_on_it_are_the_same_in_twin_positions(chance: Random) -> None:
    script = drawn(chance)
    seat = script.play()[1].seat
    twin = script.twin(chance, seat)
    assert turn_bytes(twin, seat) == turn_bytes(script, seat)
    assert ruling_bytes(twin, seat) == ruling_bytes(script, seat)


@settings(max_examples=120)
@given(chances())
def test_the_notice_of_a_finished_deal_is_the_same_in_twin_deals(chance: Random) -> None:
    script = drawn(chance, to_the_end=True)
    for seat in range(script.seats):
        twin = script.twin(chance, seat)
        assert over_bytes(twin, seat) == over_bytes(script, seat)
        assert game_started(chair_of(twin, seat), 0) == game_started(chair_of(script, seat), 0)


@settings(max_examples=60)
@given(chances())
def test_the_record_that_a_seat_is_given_is_the_same_in_twin_games(chance: Random) -> None:
    """Two deals of a game; each is replaced by a twin for one seat, which gets the same record in the end."""
    rules = variant(chance.choice(variant_names())).with_rules({"max_deals": 2})
    seats = chance.choice(range(rules.players[0], rules.players[1] + 1, rules.sides or 1))
    packs = [shuffled(chance), shuffled(chance)]
    umpire, said = played(rules, seats, packs, lambda turn: turn.legal[chance.randrange(len(turn.legal))])
    for seat in range(seats):
        scripts = []
        for number, log in enumerate(umpire.deals):
            actions = [(kind, actor, action) for deal, kind, actor, action in said if deal == number]
            scripts.append(Script(rules, seats, log.dealer, list(log.scores), log.pack, actions).twin(chance, seat))
        script = iter([action for one in scripts for _, _, action in one.actions])
        twin, _ = played(rules, seats, [one.pack for one in scripts], lambda _turn, script=script: next(script))
        assert not twin.irregularities
        records = [write_record(one, {"names": ["x"] * seats, "league": "test"}) for one in (umpire, twin)]
        assert canonical(seat_record(records[1], seat)) == canonical(seat_record(records[0], seat))


def played(
    rules: RuleSet, seats: int, packs: Sequence[Sequence[Card]], choose: Callable[[Turn], int]
) -> tuple[Umpire, list[tuple[int, Kind, int, int]]]:
    """A whole game at the umpire, and who did what in which deal."""
    chairs = tuple(Chair(game_id=9, seat=seat, seats=seats, rules=rules) for seat in range(seats))
    umpire = Umpire(
        GameSpec(key="game", rules=rules, chairs=chairs), packs.__getitem__, count(1).__next__, fallback_move
    )
    said: list[tuple[int, Kind, int, int]] = []
    umpire.start()
    while (turn := umpire.open) is not None:
        action = choose(turn)
        said.append((len(umpire.deals) - 1, turn.kind, turn.chair.seat, action))
        umpire.answer(turn.turn_id, action, 0)
    return umpire, said


def test_the_twins_do_differ_and_every_kind_of_decision_is_among_them() -> None:
    """The tests above compare something: nearly always others hold other cards; and no phase is left out."""
    kinds: Counter[Kind | None] = Counter()
    games: set[str] = set()
    differ = 0
    for seed in range(400):
        chance = seeded(seed)
        script = drawn(chance)
        deal = script.play()[1]
        other = script.twin(chance, deal.seat).play()[1]
        assert other.hands[deal.seat] == deal.hands[deal.seat]
        assert [hand.bit_count() for hand in other.hands] == [hand.bit_count() for hand in deal.hands]
        differ += other.hands != deal.hands or other.stock != deal.stock
        kinds[deal.kind] += 1
        games.add(script.rules.name)
    assert differ > 360
    assert set(kinds) == set(Kind)
    assert games >= set(variant_names())


@pytest.mark.parametrize("name", variant_names())
def test_a_hand_that_is_told_would_be_found_out(name: str) -> None:
    """The comparison has teeth: a message that also held a neighbour's hand would differ."""
    found = 0
    for seed in range(20):
        chance = seeded(f"{name}/{seed}")
        script = Script(variant(name), variant(name).players[0], 0, [], shuffled(chance), [])
        deal = script.play()[1]
        if deal.kind is None:
            continue
        other = script.twin(chance, deal.seat).play()[1]
        neighbour = (deal.seat + 1) % script.seats
        found += other.hands[neighbour] != deal.hands[neighbour]
    assert found > 10
