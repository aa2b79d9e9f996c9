"""Varied positions by chance: deals played at random, of which those decisions are kept that show something new.

What is new, for a clause that could be broken there: a pair of features (seat, place in the trick, suit led, trump, size
of the hand, high bid, scores ...) that no position kept so far has shown; or three of the plainer ``conditions`` at once
(the dealer, nobody has bid, in the hole). A few hundred positions so cover what thousands of random deals would, for
every variant, without a word about any of them.
"""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from heapq import heapify, heappop, heappush
from itertools import combinations

from referee.cards import PACK, SUIT_MASKS, Card
from referee.check.position import Position
from referee.check.requirements import LEAST, breakable
from referee.rules import Deal, Kind, RuleSet, RuleSetError

Feature = tuple[str, object]

_STOPS = 0.15
_ONE_SIDED = 0.4
"""So many packs give a seat little but one suit, or none of it, which chance alone does not in years."""

_AUCTION_ONLY = 0.4
_TRIPLES = {count: tuple(combinations(range(count), 3)) for count in range(9)}


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
    rules: RuleSet, counts: Sequence[int], wanted: Iterable[str], *, seed: str, most: int = 600, looks: int = 4000
) -> list[Position]:
    """At most ``most`` positions for the wanted clauses, out of about ``looks`` decisions; the most telling first.

    The first ones alone put every clause that came up ``LEAST`` times; of the others each next one shows as many
    ``conjunctions`` as it can that none before it has shown.
    """
    chance = random.Random(seed)  # noqa: S311  # repeatable on purpose
    picker = _Picker(frozenset(wanted))
    number = looked = 0
    while looked < looks:
        seats = counts[number % len(counts)]
        stacked = one_sided_pack(rules, seats, chance) if chance.random() < _ONE_SIDED else ()
        for position, deal in _walk(rules, seats, chance, stacked):
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
    """Every decision of one deal of a random pack, or of one that is given; or only those of its auction.

    What is yielded is looked at before the deal goes on.
    """
    scores, closed = standing(rules, seats, chance)
    dealer = chance.randrange(seats)
    pack = stacked or tuple(chance.sample(PACK, len(PACK)))
    set_backs = tuple(chance.choice((0, 0, 1, 3)) for _ in scores)
    start = Position(
        rules=rules,
        seats=seats,
        dealer=dealer,
        pack=pack,
        actions=(),
        scores=scores,
        set_backs=set_backs,
        deal=closed,
        decision=None,
        bot_seed=chance.getrandbits(53),
    )
    deal = Deal(rules, seats, dealer, pack, scores)
    actions: list[int] = []
    boldness = _boldness(deal, chance, leaning=bool(stacked))
    auction_only = chance.random() < _AUCTION_ONLY
    while deal.kind is not None and not (auction_only and deal.kind is Kind.PLAY and deal.trick):
        if deal.kind is Kind.PLAY and not deal.trick and chance.random() < _STOPS:
            auction_only = True  # the tricks behind this lead show little that is new
        yield _at(start, actions), deal
        legal = deal.legal()
        passes = deal.kind is Kind.BID and 0 in legal and chance.random() >= boldness[deal.seat]
        action = 0 if passes else legal[chance.randrange(len(legal))]
        actions.append(action)
        deal.apply(action)


def _boldness(deal: Deal, chance: random.Random, *, leaning: bool) -> list[float]:
    """How readily each seat bids: nobody, hardly anybody, everybody, or the seat with the longest suit alone."""
    style = chance.choice((0, 0, 1, 2, 3, 3, 3, 3) if leaning else (0, 0, 1, 1, 2))
    if style < 3:
        return [(0.0, 0.25, 1.0)[style]] * deal.seats
    longest = [max((hand & mask).bit_count() for mask in SUIT_MASKS) for hand in deal.hands]
    return [float(length == max(longest)) for length in longest]


def _at(start: Position, actions: Sequence[int]) -> Position:
    return Position(
        rules=start.rules, seats=start.seats, dealer=start.dealer, pack=start.pack, actions=tuple(actions), scores=start.scores, set_backs=start.set_backs, deal=start.deal,
        decision=None, bot_seed=start.bot_seed, origin="sampled",
    )  # fmt: skip  # dataclasses.replace costs ten times as much, and this is done for every decision


def standing(rules: RuleSet, seats: int, chance: random.Random) -> tuple[tuple[int, ...], int]:
    """Where a game may stand before a deal: the scores by side, and how many deals are over.

    Often at its start; often somebody is one short of the target or in the hole, or all are level there, or no deal is
    left after this one.
    """
    sides, last = rules.side_count(seats), rules.max_deals - 1
    closed = min(chance.choice((0, 0, 0, 1, 5, last)), last)
    if chance.random() < 0.25:
        return (0,) * sides, closed
    values = (0, 0, rules.target - 1, rules.target - 2, -3, -3, -rules.target, chance.randrange(rules.target))
    level = chance.random() < 0.15
    scores = (chance.choice(values),) * sides if level else tuple(chance.choice(values) for _ in range(sides))
    return scores, closed


class _Picker:
    """Keeps positions that show a new pair of features for a wanted clause."""

    def __init__(self, wanted: frozenset[str]) -> None:
        self.kept: list[tuple[Position, frozenset[str], frozenset[int]]] = []
        self._wanted = wanted
        self._numbers: dict[Feature, int] = {}
        self._seen: dict[str, set[int]] = {rule: set() for rule in wanted}
        self._met: dict[str, set[int]] = {rule: set() for rule in wanted}
        self._met_again: dict[str, set[int]] = {rule: set() for rule in wanted}
        self._often = dict.fromkeys(wanted, 0)

    def look(self, position: Position, deal: Deal) -> None:
        """Keeps the position if it shows enough that is new."""
        rules = breakable(deal) & self._wanted
        if not rules:
            return
        pairs, triples = self._pairs(deal), conjunctions(deal)
        telling, met = (
            False,
            self._met if deal.kind is Kind.PLAY else self._met_again,
        )  # words are few: each three twice
        for rule in rules:
            new = pairs - self._seen[rule]
            # The more positions a rule has, the more news it takes to get another.
            if len(new) > self._often[rule] // 12:
                telling = True
                self._seen[rule] |= new
            if not triples <= met[rule]:
                telling = True
        if telling:
            self.kept.append((position, rules, triples))
            for rule in rules:
                self._often[rule] += 1
                self._met_again[rule] |= triples & self._met[rule]
                self._met[rule] |= triples

    def _pairs(self, deal: Deal) -> set[int]:
        """Every pair of features of a decision, each as one number."""
        numbers = self._numbers
        marks = [numbers.setdefault(feature, len(numbers)) for feature in features(deal)]
        return {one << 16 | other for one, other in combinations(marks, 2)}

    def in_order(self) -> list[Position]:
        """Those that bring each clause to its least number of opportunities, then the others."""
        first: list[Position] = []
        rest: list[tuple[Position, frozenset[int]]] = []
        counts = dict.fromkeys(self._wanted, 0)
        shown: set[int] = set()
        rarest_first = sorted(self.kept, key=lambda one: self._rarity(one[1]))
        for position, rules, triples in rarest_first:
            if any(counts[rule] < LEAST for rule in rules):
                first.append(position)
                shown |= triples
            else:
                rest.append((position, triples))
            for rule in rules:
                counts[rule] += 1
        return first + _most_telling_first(rest, shown)

    def _rarity(self, rules: frozenset[str]) -> int:
        return min(self._often[rule] for rule in rules)


def _most_telling_first(kept: Sequence[tuple[Position, frozenset[int]]], shown: set[int]) -> list[Position]:
    """In each place the position that shows most of what none before it has shown; of equal ones the earlier."""
    heap = [(-len(triples), number) for number, (_, triples) in enumerate(kept)]
    heapify(heap)
    ordered = []
    while heap:
        _, number = heappop(heap)
        position, triples = kept[number]
        now = (-len(triples - shown), number)
        if heap and now > heap[0]:  # less than it was, for some of it has been shown since
            heappush(heap, now)
            continue
        ordered.append(position)
        shown |= triples
    return ordered


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


def conjunctions(deal: Deal) -> frozenset[int]:
    """Every three conditions that hold together at a decision, each three as one number."""
    return _triples_of(0 if deal.kind is None else int(deal.kind), tuple(conditions(deal)))


@lru_cache(maxsize=2048)  # most decisions share their conditions with one before
def _triples_of(kind: int, found: tuple[int, ...]) -> frozenset[int]:
    marks = [(kind << 18) + place * 8 + value for place, value in enumerate(found)]
    return frozenset(
        (marks[one] << 12) + (place_two << 6) + place_three
        for one, two, three in _TRIPLES[len(found)]
        for place_two, place_three in ((two * 8 + found[two], three * 8 + found[three]),)
    )


def conditions(deal: Deal) -> list[int]:
    """What an author tells decisions apart by, each as one of a few values below 8: for play or for a word before it."""
    rules, seat, seats, scores = deal.rules, deal.seat, deal.seats, deal.scores
    own = scores[deal.side(seat)]
    best = max(score for side, score in enumerate(scores) if side != deal.side(seat))
    dealer = seat == deal.dealer
    mine = 0 if own < 0 else 3 if own == rules.target - 1 else 2 if own == rules.target - 2 else 1
    hand = deal.hands[seat]
    near = int(best >= rules.target - 2)
    table = 0 if seats == 2 else 1 if seats <= 4 else 2
    if deal.kind is not Kind.PLAY:
        suits = [(hand & mask).bit_count() for mask in SUIT_MASKS]
        place = 2 if dealer else 0 if (seat - deal.dealer) % seats == 1 else 1
        bid = 0 if not deal.bid else 1 if deal.bid <= rules.min_bid else 3 if deal.bid >= rules.max_bid else 2
        shape = 0 if max(suits) >= 5 else 1 if max(suits) == 4 else 2 if 0 in suits else 3
        return [mine, near, table, place, bid, shape]
    trumps, trick, held = deal.trumps, deal.trick, hand.bit_count()
    own_trumps = (hand & trumps).bit_count()
    led = 0
    if trick:
        trump_led = trumps >> trick[0] & 1
        of_led = hand & (trumps if trump_led else SUIT_MASKS[trick[0] >> 4] & ~trumps)
        ruffed = not trump_led and any(trumps >> card & 1 for card in trick[1:])
        led = 1 + 2 * (trump_led or 2 * ruffed) + bool(of_led)
    place = 0 if not trick else 3 if len(trick) == seats - 1 else min(len(trick), 2)
    many = 0 if not own_trumps else 3 if own_trumps == held else 1 if own_trumps == 1 else 2
    left = min(held, 3) - 1
    partner = rules.sides and deal.pitcher is not None and (deal.pitcher - seat) % rules.sides == 0
    role = 3 if deal.pitcher == seat else 2 if partner else 1 if dealer else 0
    return [mine, near, table, place, led, many, left, role]
