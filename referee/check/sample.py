"""Varied positions by chance: deals played at random, of which those decisions are kept that show something new.

What is new: a pair of features (seat, place in the trick, suit led, trump, size of the hand, high bid, scores ...)
that no position kept so far has shown for a clause that could be broken there. A few hundred positions so cover what
thousands of random deals would, for every variant, without a word about any of them.
"""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from referee.cards import PACK, SUIT_MASKS, Card
from referee.check.opportunity import breakable
from referee.check.position import Position
from referee.check.requirements import LEAST
from referee.rules import Deal, Kind, RuleSet, RuleSetError

Feature = tuple[str, object]


def seat_counts(rules: RuleSet) -> tuple[int, ...]:
    """The numbers of seats that the game can be played with."""
    low, high = rules.players
    return tuple(count for count in range(low, high + 1) if _can_play(rules, count))


def _can_play(rules: RuleSet, seats: int) -> bool:
    try:
        rules.check_seats(seats)
    except RuleSetError:
        return False
    return True


def seats_of(rules: RuleSet, wanted: Sequence[int]) -> tuple[int, ...]:
    """The numbers of seats to check a game with: those asked for that it allows, all if none are asked for."""
    counts = seat_counts(rules)
    return tuple(number for number in counts if not wanted or number in wanted)


def sample(
    rules: RuleSet, counts: Sequence[int], wanted: Iterable[str], *, seed: str, most: int = 300, looks: int = 4000
) -> list[Position]:
    """At most ``most`` positions for the wanted clauses, out of about ``looks`` decisions; the most telling first.

    The first ones alone put every clause that came up ``LEAST`` times, so a slow bot need not see the rest.
    """
    chance = random.Random(seed)  # noqa: S311  # repeatable on purpose
    picker = _Picker(frozenset(wanted))
    number = looked = 0
    while looked < looks and len(picker.kept) < most:
        for position, deal in _walk(rules, counts[number % len(counts)], chance):
            picker.look(position, deal)
            looked += 1
        number += 1
    return picker.in_order()[:most]


def seek(
    rules: RuleSet, counts: Sequence[int], lacking: Mapping[str, int], *, seed: str, looks: int = 60_000
) -> list[Position]:
    """Positions for clauses that seldom come up, so many of each, out of at most ``looks`` decisions.

    The packs are stacked: some seat holds as many cards of a suit as it can, or none of it.
    """
    chance = random.Random(f"{seed} stacked")  # noqa: S311  # repeatable on purpose
    left, kept = dict(lacking), []
    number = looked = 0
    while looked < looks and any(count > 0 for count in left.values()):
        seats = counts[number % len(counts)]
        for position, deal in _walk(rules, seats, chance, one_sided_pack(rules, seats, chance)):
            looked += 1
            put = [rule for rule in breakable(deal) if left.get(rule, 0) > 0]
            if put:
                kept.append(position)
            for rule in put:
                left[rule] -= 1
        number += 1
    return kept


def one_sided_pack(rules: RuleSet, seats: int, chance: random.Random) -> tuple[Card, ...]:
    """A pack that deals some seat as many cards of a suit as it can hold, or as few."""
    cards = chance.sample(PACK, len(PACK))
    suit, few, place = chance.randrange(4), chance.random() < 0.5, chance.randrange(seats)
    own = sorted(cards, key=lambda card: (card >> 4 == suit) is few)[: rules.hand_size]
    rest = [card for card in cards if card not in own]
    top = rules.hand_size * (seats - 1)
    if few and top < len(rest):  # what may be turned up is of the suit that the seat lacks
        other = next(number for number, card in enumerate(rest) if card >> 4 == suit)
        rest[top], rest[other] = rest[other], rest[top]
    chance.shuffle(own)
    hands = [rest[first : first + rules.hand_size] for first in range(0, top, rules.hand_size)]
    hands.insert(place, own)
    packets = range(0, rules.hand_size, rules.packet)
    dealt = [card for first in packets for hand in hands for card in hand[first : first + rules.packet]]
    return (*dealt, *rest[top:])


def _walk(
    rules: RuleSet, seats: int, chance: random.Random, stacked: tuple[Card, ...] = ()
) -> Iterator[tuple[Position, Deal]]:
    """Every decision of one deal of a random pack, or of one that is given.

    What is yielded is looked at before the deal goes on.
    """
    scores = _scores(rules, seats, chance)
    pack = tuple(chance.sample(PACK, len(PACK)))
    dealer, number = chance.randrange(seats), chance.choice((0, 0, 1, 5))
    pack = stacked or pack
    start = Position(
        rules, seats, dealer, pack, (), scores, (), min(number, rules.max_deals - 1), None, chance.getrandbits(53)
    )
    deal = Deal(rules, seats, dealer, pack, scores)
    actions: list[int] = []
    timid = chance.random() < 0.4
    while deal.kind is not None:
        yield _at(start, actions), deal
        legal = deal.legal()
        passes = timid and deal.kind is Kind.BID and 0 in legal
        action = 0 if passes else legal[chance.randrange(len(legal))]
        actions.append(action)
        deal.apply(action)


def _at(start: Position, actions: Sequence[int]) -> Position:
    return Position(
        start.rules, start.seats, start.dealer, start.pack, tuple(actions), start.scores, (), start.deal, None,
        start.bot_seed, "sampled",
    )  # fmt: skip  # dataclasses.replace costs ten times as much, and this is done for every decision


def _scores(rules: RuleSet, seats: int, chance: random.Random) -> tuple[int, ...]:
    """Scores before the deal: often none, often somebody one short of the target, or in the hole."""
    if chance.random() < 0.4:
        return ()
    values = (0, rules.target - 1, rules.target - 2, -3, chance.randrange(rules.target))
    return tuple(chance.choice(values) for _ in range(rules.side_count(seats)))


class _Picker:
    """Keeps positions that show a new pair of features for a wanted clause."""

    def __init__(self, wanted: frozenset[str]) -> None:
        self.kept: list[tuple[Position, frozenset[str]]] = []
        self._wanted = wanted
        self._seen: set[tuple[str, Feature, Feature]] = set()
        self._often = dict.fromkeys(wanted, 0)

    def look(self, position: Position, deal: Deal) -> None:
        """Keeps the position if it shows enough that is new."""
        rules = breakable(deal) & self._wanted
        if not rules:
            return
        pairs = list(combinations(features(deal), 2))
        telling = False
        for rule in rules:
            new = {(rule, *pair) for pair in pairs} - self._seen
            # The more positions a rule has, the more news it takes to get another.
            if len(new) > self._often[rule] // 12:
                telling = True
                self._seen |= new
        if telling:
            self.kept.append((position, rules))
            for rule in rules:
                self._often[rule] += 1

    def in_order(self) -> list[Position]:
        """Those that bring each clause to its least number of opportunities, then the others."""
        first: list[Position] = []
        rest: list[Position] = []
        counts = dict.fromkeys(self._wanted, 0)
        rarest_first = sorted(self.kept, key=lambda one: self._rarity(one[1]))
        for position, rules in rarest_first:
            needed = any(counts[rule] < LEAST for rule in rules)
            (first if needed else rest).append(position)
            for rule in rules:
                counts[rule] += 1
        return first + rest

    def _rarity(self, rules: frozenset[str]) -> int:
        return min(self._often[rule] for rule in rules)


def features(deal: Deal) -> list[Feature]:
    """What tells decisions apart, in plain values."""
    hand, seat = deal.hands[deal.seat], deal.seat
    own = deal.scores[deal.side(seat)]
    found: list[Feature] = [
        ("kind", deal.kind),
        ("seats", deal.seats),
        ("seat", seat),
        ("from dealer", (seat - deal.dealer) % deal.seats),
        ("score", "hole" if own < 0 else "near" if own >= deal.rules.target - 2 else "some"),
        ("choices", min(len(deal.legal()), 4)),
        ("deal", len(deal.history) > 20),
    ]
    if deal.kind is Kind.PLAY:
        found += _of_play(deal, hand)
    else:
        found += [("bid", deal.bid), ("pitcher", deal.pitcher == seat), ("trump", deal.trump)]
        found += [("stock", min(len(deal.stock), 8)), ("hand", hand.bit_count())]
    return found


def _of_play(deal: Deal, hand: int) -> list[Feature]:
    trump = deal.trump
    led = deal.trick[0] >> 4 if deal.trick else None
    return [
        ("place", len(deal.trick)),
        ("led", led),
        ("trump", trump),
        ("hand", min(hand.bit_count(), 7)),
        ("trumps", min((hand & deal.trumps).bit_count(), 3)),
        ("of suit", min((hand & SUIT_MASKS[led]).bit_count(), 3) if led is not None else None),
        ("ruffed", any(deal.trumps >> card & 1 for card in deal.trick[1:])),
        ("pitcher", deal.pitcher == deal.seat),
        ("winning", deal.top_seat == (deal.seat + deal.rules.sides) % deal.seats if deal.trick else None),
    ]
