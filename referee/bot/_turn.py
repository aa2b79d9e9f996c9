"""What a bot is asked: one turn, decoded as far as the bot looks at it. Use it from ``referee.bot``."""

import random
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import islice
from math import comb
from typing import Any, Final, Generic, Self, TypeVar, cast, overload

from referee.bot._cards import CARDS, Call, Card, Event, EventKind, Kind, Objective, Suit, cards_text
from referee.bot._random import Chance, seed_of
from referee.protocol import wire

T = TypeVar("T")

_KINDS: Final = {int(kind): kind for kind in Kind}
_CALLS: Final = {int(call): call for call in Call}
_EVENT_KINDS: Final = {int(kind): kind for kind in EventKind}
_SUITS: Final = (None, *Suit)
_CARD_EVENTS: Final = {EventKind.TURN_UP, EventKind.SHOW, EventKind.TAKE, EventKind.STOCK_TOP, EventKind.PLAY}


class lazy(Generic[T]):  # noqa: N801  # it reads as a decorator, as property does
    """A property that is worked out once, when somebody looks. (functools.cached_property locks in Python 3.11.)"""

    def __init__(self, function: Callable[[Any], T]) -> None:
        self._function, self._name = function, function.__name__
        self.__doc__ = function.__doc__

    @overload
    def __get__(self, turn: None, owner: type) -> Self: ...
    @overload
    def __get__(self, turn: object, owner: type) -> T: ...
    def __get__(self, turn: object | None, owner: type) -> Self | T:
        if turn is None:
            return self
        value = turn.__dict__[self._name] = self._function(turn)
        return value


class Keeps(Sequence[tuple[Card, ...]]):
    """Every way to keep ``size`` cards: all of ``must``, the others from ``may``. Lazy: 177,100 ways need no room.

    >>> from referee.bot import parse_cards
    >>> ways = Keeps(parse_cards("AS"), parse_cards("2C 3C 4C"), 3)
    >>> len(ways), ways[0], ways[-1], parse_cards("AS 4C 2C") in ways
    (3, (2C, 3C, AS), (3C, 4C, AS), True)
    """

    __slots__ = ("may", "must", "size")

    def __init__(self, must: tuple[Card, ...], may: tuple[Card, ...], size: int) -> None:
        self.must, self.may, self.size = must, may, size

    def __len__(self) -> int:
        free = self.size - len(self.must)
        return comb(len(self.may), free) if free >= 0 else 0

    @overload
    def __getitem__(self, index: int) -> tuple[Card, ...]: ...
    @overload
    def __getitem__(self, index: slice) -> list[tuple[Card, ...]]: ...
    def __getitem__(self, index: int | slice) -> tuple[Card, ...] | list[tuple[Card, ...]]:
        ways = len(self)
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(ways))]
        if not -ways <= index < ways:
            raise IndexError(index)
        return tuple(sorted((*self.must, *self._choice(index % ways))))

    def __contains__(self, kept: object) -> bool:
        if not isinstance(kept, Iterable):
            return False
        cards = list(cast("Iterable[object]", kept))
        different = set(cards)
        return (
            len(cards) == len(different) == self.size
            and different.issuperset(self.must)
            and different.issubset((*self.must, *self.may))
        )

    def _choice(self, index: int) -> list[Card]:
        """The free cards of the index-th way, in lexicographic order."""
        chosen: list[Card] = []
        free = self.size - len(self.must)
        for place, card in enumerate(self.may):
            with_card = comb(len(self.may) - place - 1, free - 1) if free else 0
            if index < with_card:
                chosen.append(card)
                free -= 1
            else:
                index -= with_card
        return chosen


class Turn:
    """One decision, and all that your seat may know about it. Read only.

    Choose from ``legal`` by ``kind``. Every property is decoded when you look at it, so a bot pays for what it reads.
    ``message`` is the protobuf message itself, for what is not here.
    """

    def __init__(
        self, message: wire.Turn, rules: wire.RuleSet | None = None, objective: Objective = Objective.UNSPECIFIED
    ) -> None:
        """From a message; tests of your bot may make turns this way too."""
        self.message = message
        self.objective = objective
        self._rules = rules

    @property
    def kind(self) -> Kind:
        """What is asked for. Raises ``LookupError`` for a kind that this version of Referee has no name for."""
        kind = _KINDS.get(self.message.kind)
        if kind is None:
            raise LookupError(f"the referee asks for a decision of kind {self.message.kind}: install a newer Referee")
        return kind

    @lazy
    def legal(self) -> Sequence[Any]:
        """Every legal choice, ascending: ``Card`` s to play, amounts to bid (0 = pass), ``Suit`` s, ``Call`` s, or with
        ``Kind.DISCARD`` every way to keep cards (``Keeps``). Return one of these from ``choose``.
        """
        options = self.message.options
        kind: int = self.message.kind
        if kind == Kind.PLAY:
            return _cards(options.cards)
        if kind == Kind.BID:
            return tuple(options.bids)
        if kind == Kind.NAME_TRUMP:
            return tuple(_SUITS[suit] for suit in options.suits)
        if kind == Kind.DISCARD:
            return self.keeps
        return tuple(_CALLS.get(call, call) for call in options.calls)

    @lazy
    def keeps(self) -> Keeps:
        """With ``Kind.DISCARD`` the same as ``legal``: the cards that you must keep, that you may keep, and how many."""
        keep = self.message.options.keep
        return Keeps(_cards(keep.must_keep), _cards(keep.may_keep), keep.count)

    @lazy
    def hand(self) -> tuple[Card, ...]:
        """Your cards, ascending: clubs, diamonds, hearts, spades, each from the lowest up."""
        return _cards(self.message.hand)

    @lazy
    def trick(self) -> tuple[Card, ...]:
        """The cards of the trick so far, in the order played; empty = you lead, or play has not begun."""
        return _cards(self.message.trick)

    @property
    def leader(self) -> int | None:
        """The seat that led to the trick, or has to lead; None before play."""
        return self.message.trick_leader if self.message.HasField("trick_leader") else None

    @property
    def trump(self) -> Suit | None:
        """Trump; None while it is not settled (the pitcher's first lead settles it)."""
        return suit_or_none(self.message.trump)

    @property
    def pitcher(self) -> int | None:
        """The seat that has the contract; None before the auction is over, or where there is none."""
        return self.message.pitcher if self.message.HasField("pitcher") else None

    @property
    def bid(self) -> int:
        """The contract in points; 0 = no obligation, or the auction is not over."""
        return self.message.bid

    @property
    def high_bid(self) -> int:
        """The highest bid of the auction so far; 0 = nobody has bid."""
        return max((event.value for event in self.history if event.kind is EventKind.BID), default=0)

    @property
    def turn_up(self) -> Card | None:
        """The card that lies face up beside the pack, if any."""
        return CARDS[self.message.turn_up] if self.message.turn_up else None

    @lazy
    def history(self) -> tuple[Event, ...]:
        """The public events of this deal, in order: who bid, played, laid away what."""
        return events(self.message.history)

    @lazy
    def discards(self) -> tuple[Card, ...]:
        """The cards that you have laid away in this deal yourself, ascending."""
        return _cards(self.message.discards)

    @property
    def seat(self) -> int:
        """Your seat, 0 to seats - 1."""
        return self.message.seat

    @property
    def seats(self) -> int:
        """How many play, 2 to 7. The seat after s is ``(s + 1) % seats``."""
        return self.message.seats

    @property
    def dealer(self) -> int:
        """The dealer's seat."""
        return self.message.dealer

    @property
    def eldest(self) -> int:
        """The seat after the dealer's: it speaks first."""
        return (self.message.dealer + 1) % self.message.seats

    @property
    def partners(self) -> tuple[int, ...]:
        """The other seats of your side; empty where each plays for itself."""
        sides, seat = self.message.sides, self.message.seat
        return tuple(s for s in range(seat % sides, self.message.seats, sides) if s != seat) if sides else ()

    @property
    def opponents(self) -> tuple[int, ...]:
        """The seats that play against you."""
        ours = (self.message.seat, *self.partners)
        return tuple(seat for seat in range(self.message.seats) if seat not in ours)

    @lazy
    def scores(self) -> tuple[int, ...]:
        """Score of every seat in this game, by seat; partners both show their side's. May be negative."""
        return tuple(self.message.scores)

    @lazy
    def set_backs(self) -> tuple[int, ...]:
        """How often every seat has been set back in this game, by seat."""
        return tuple(self.message.set_backs)

    @property
    def target(self) -> int:
        """The score that ends the game; 0 = it does not end by score."""
        return self.message.target

    @property
    def stock_count(self) -> int:
        """How many undealt cards are left."""
        return self.message.stock_count

    @property
    def deal(self) -> int:
        """Number of the deal in this game, from 0."""
        return self.message.deal

    @property
    def decision(self) -> int:
        """Number of this decision among yours in this game, from 0."""
        return self.message.decision

    @property
    def retry(self) -> int:
        """How many illegal answers to this decision have been sent back; 0 = this is the first try."""
        return self.message.retry

    @property
    def game(self) -> int:
        """The id of the game: turns of several games may come mixed."""
        return self.message.game_id

    @property
    def move_ms(self) -> int:
        """Milliseconds for this decision before the bank is touched."""
        return self.message.move_ms

    @property
    def bank_ms(self) -> int:
        """Milliseconds in your bank."""
        return self.message.bank_ms

    @property
    def rules(self) -> wire.RuleSet:
        """The rule set in force, field by field. Raises ``LookupError`` if the referee has not told it."""
        if self._rules is None:
            raise LookupError(f"the referee has not told the rule set {self.message.rule_set_id}")
        return self._rules

    @lazy
    def rng(self) -> random.Random:
        """Your chance for this decision, the same whenever it is asked: seeded by bot seed, deal, decision and retry."""
        message = self.message
        return Chance(seed_of(message.bot_seed, message.deal, message.decision, message.retry))

    def suit_of(self, card: Card) -> Suit:
        """The suit a card counts in: the printed one, but for the left pedro, which is a trump (Cinch)."""
        trump = self.trump
        if trump is not None and card & 15 == 5 and card >> 4 == 3 - trump and self._rules and self._rules.left_pedro:
            return trump
        return card.suit

    def beats(self, card: Card) -> bool:
        """Whether the card, played now, would be the winning card of the trick so far.

        >>> from referee.bot import Card, Suit, wire
        >>> turn = Turn(wire.Turn(trick=[Card("TH"), Card("2S")], trump=wire.SUIT_SPADES))
        >>> turn.beats(Card("AH")), turn.beats(Card("3S"))
        (False, True)
        """
        return not self.trick or self._power(card) > max(map(self._power, self.trick))

    @property
    def winning(self) -> int | None:
        """The seat whose card wins the trick so far; None when no card lies."""
        if not self.trick:
            return None
        place = self.trick.index(max(self.trick, key=self._power))
        played = [event.seat for event in self.history if event.kind is EventKind.PLAY][-len(self.trick) :]
        if len(played) == len(self.trick):
            return played[place]  # not always the place-th seat after the leader: in Pidro seats drop out
        return (self.message.trick_leader + place) % self.message.seats

    @property
    def winning_card(self) -> Card | None:
        """The card that wins the trick so far; None when no card lies.

        >>> from referee.bot import Card, wire
        >>> Turn(wire.Turn(trick=[Card("TH"), Card("2S"), Card("AH")], trump=wire.SUIT_SPADES)).winning_card
        2S
        """
        return max(self.trick, key=self._power, default=None)

    def _power(self, card: Card) -> int:
        """What a card is worth in this trick: trumps above the suit led above all others."""
        suit = self.suit_of(card)
        trump = self.trump if self.trump is not None else self.suit_of(self.trick[0])
        if suit == trump:
            return 64 + 2 * card.rank - (card.suit != suit)
        return card.rank if suit == self.suit_of(self.trick[0]) else 0

    def __str__(self) -> str:
        message = self.message
        trump = "not settled" if self.trump is None else str(self.trump)
        kind = _KINDS.get(message.kind)
        legal = cast("Iterable[object]", islice(self.legal, 12)) if kind else ()
        more = " ..." if kind and len(self.legal) > 12 else ""
        return "\n".join(
            (
                f"turn {message.turn_id}: {kind.name if kind else message.kind}, seat {self.seat + 1} of {self.seats}",
                f"  game {self.game}, deal {self.deal}, decision {self.decision}, retry {self.retry}",
                f"  hand    {cards_text(self.hand)}",
                f"  trick   {' '.join(map(str, self.trick)) or '-'}  (leader {self.leader})",
                f"  trump   {trump}; pitcher {self.pitcher}, bid {self.bid}, dealer {self.dealer}",
                f"  scores  {' '.join(map(str, self.scores))}  (target {self.target})",
                f"  events  {', '.join(map(_event_text, self.history)) or '-'}",
                f"  legal   {', '.join(map(str, legal))}{more}",
            )
        )

    def __repr__(self) -> str:
        return f"<Turn {self.message.turn_id}: seat={self.seat}, decision {self.decision}>"


def events(history: Iterable[int]) -> tuple[Event, ...]:
    """The events of a packed history (``Turn.message.history``, ``DealOver.history``); unknown kinds are left out."""
    return tuple(event for event in map(_event, history) if event is not None)


def suit_or_none(number: int) -> Suit | None:
    """The suit that the wire calls by this number (1 to 4); None for any other."""
    return _SUITS[number] if 0 <= number <= 4 else None


@lru_cache(maxsize=4096)
def _event(packed: int) -> Event | None:
    kind, value = _EVENT_KINDS.get(packed >> 16), packed & 0xFF
    if kind is None:
        return None
    if kind in _CARD_EVENTS:
        value = CARDS[value]
    elif kind is EventKind.NAME_TRUMP and value < 4:
        value = Suit(value)
    return Event(kind, packed >> 8 & 0xFF, value)


def _event_text(event: Event) -> str:
    return f"{event.seat} {event.kind.name} {event.value}"


def _cards(numbers: Iterable[int]) -> tuple[Card, ...]:
    """The cards of a repeated field. Numbers beyond a byte are of no version that we know."""
    return tuple([CARDS[number & 0xFF] for number in numbers])
