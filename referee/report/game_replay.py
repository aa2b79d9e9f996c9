"""A game as it can be watched: every decision with what was legal, every ruling at its place, every hand after it.

Made by playing the record again through the umpire, which confirms it, and then through ``referee.rules.Deal``, which
says what was legal. Nothing here knows a variant: what is shown are decisions, public events, hands and outcomes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from referee.cards import Card, Mask, Suit
from referee.report.sanitize import name
from referee.rules import Action, Deal, Kind, Outcome, RuleSet
from referee.umpire.events import DealLog, GameSpec, Irregularity
from referee.umpire.fallback_player import fallback_move
from referee.umpire.faults import Consequence
from referee.umpire.record import Record, replay


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayStep:
    """One action, and the deal after it.

    ``legal``: what the seat could have done. ``events``: the public events that followed, packed. ``hands``: masks by
    seat. ``turn_up``: the card that lies face up beside or on the stock. ``trick_to``: the seat that took a trick with it. ``by_house``: the house played for a seat that had forfeited.
    """

    seat: int
    kind: Kind
    action: Action
    legal: Sequence[Action]
    events: tuple[int, ...]
    hands: tuple[Mask, ...]
    trick_to: int | None
    trump: Suit | None
    pitcher: int | None
    bid: int
    stock: int
    turn_up: Card | None
    by_house: bool


@dataclass(frozen=True, slots=True)
class Decision:
    """What is to be decided, by whom, and what is legal."""

    seat: int
    kind: Kind
    legal: Sequence[Action]


@dataclass(frozen=True, slots=True)
class ReplayPosition:
    """A place in a game: before step ``step`` of deal ``deal``, both from 0."""

    deal: int
    step: int


@dataclass(frozen=True, slots=True)
class ReplayRuling:
    """A ruling and where it was made. ``kind`` and ``legal`` are those of the decision, if its seat was to decide."""

    place: ReplayPosition
    item: Irregularity
    kind: Kind | None
    legal: Sequence[Action]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayDeal:
    """One deal. ``scores`` are by side before it, ``after`` behind it; ``opening`` are the events before any decision.

    ``pending``: what was to be decided when the game ended inside this deal.
    """

    dealer: int
    scores: tuple[int, ...]
    after: tuple[int, ...]
    hands: tuple[Mask, ...]
    stock: tuple[Card, ...]
    opening: tuple[int, ...]
    trump: Suit | None
    turn_up: Card | None
    steps: tuple[ReplayStep, ...]
    outcome: Outcome | None
    pending: Decision | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GameReplay:
    """A whole game. ``called``: harmless names by seat; ``names``: the same, numbered where two seats would look alike.

    ``scores`` are by side; ``winner`` is a side, or None; ``places`` and ``forfeits`` are about seats.
    """

    number: int
    rules: RuleSet
    called: tuple[str, ...]
    names: tuple[str, ...]
    deals: tuple[ReplayDeal, ...]
    rulings: tuple[ReplayRuling, ...]
    winner: int | None
    reason: str
    scores: tuple[int, ...]
    places: tuple[int, ...]
    forfeits: tuple[int, ...]

    @property
    def seats(self) -> int:
        """How many seats the table has."""
        return len(self.names)

    def side(self, seat: int) -> int:
        """The side that a seat plays for."""
        return self.rules.side(seat)

    def side_name(self, side: int) -> str:
        """The names of those who play for a side."""
        members = [seat for seat in range(self.seats) if self.side(seat) == side]
        return " and ".join(
            dict.fromkeys(self.called[seat] if len(members) > 1 else self.names[seat] for seat in members)
        )


def game_replay(record: Record, number: int, names: Sequence[str] = ()) -> GameReplay:
    """The replay of a recorded game; raises ``RecordError`` where the umpire does not confirm the record.

    ``names`` by seat are used instead of those of the record, which have versions.
    """
    umpire = replay(record, fallback_move)
    result = umpire.result
    if result is None:
        raise AssertionError("a game replayed to its end has a result")
    called = _names(names or record.get("names", []), umpire.spec.seats)
    forfeits = _forfeited_at(umpire.irregularities)
    deals: list[ReplayDeal] = []
    first = 0
    for number_of_deal, log in enumerate(umpire.deals):
        following = umpire.deals[number_of_deal + 1].scores if number_of_deal + 1 < len(umpire.deals) else result.scores
        deals.append(_replay_deal(umpire.spec, log, tuple(following), first, forfeits))
        first += len(log.actions)
    return GameReplay(
        number=number,
        rules=umpire.spec.rules,
        called=called,
        names=_told_apart(called),
        deals=tuple(deals),
        rulings=tuple(_ruled(item, deals) for item in umpire.irregularities),
        winner=result.winner,
        reason=str(result.reason),
        scores=result.scores,
        places=result.places,
        forfeits=result.forfeits,
    )


def _names(texts: Sequence[object], seats: int) -> tuple[str, ...]:
    """Harmless names, one a seat."""
    given = [name(text) for text in texts][:seats]
    return (*given, *(f"seat {seat + 1}" for seat in range(len(given), seats)))


def _told_apart(names: Sequence[str]) -> tuple[str, ...]:
    """The names, with the number of the seat where two would look alike."""
    return tuple(text if names.count(text) == 1 else f"{text} ({seat})" for seat, text in enumerate(names, start=1))


def _forfeited_at(items: Sequence[Irregularity]) -> Mapping[int, int]:
    """For each seat that forfeited, the number of actions of the game before it did."""
    return {item.seat: item.step for item in items if item.consequence is Consequence.FORFEITED}


def _replay_deal(
    spec: GameSpec, log: DealLog, after: tuple[int, ...], first: int, forfeits: Mapping[int, int]
) -> ReplayDeal:
    """``first`` is the number of actions in the game before this deal."""
    deal = Deal(spec.rules, spec.seats, log.dealer, log.pack, log.scores)
    dealt = ReplayDeal(
        dealer=log.dealer,
        scores=log.scores,
        after=after,
        hands=tuple(deal.hands),
        stock=tuple(deal.stock),
        opening=tuple(deal.history),
        trump=deal.trump,
        turn_up=deal.turn_up,
        steps=(),
        outcome=None,
        pending=None,
    )
    steps = []
    for number, action in enumerate(log.actions, first):
        forfeited = deal.seat in forfeits and number >= forfeits[deal.seat]
        steps.append(_step(deal, action, by_house=forfeited))
    pending = None if deal.kind is None else Decision(deal.seat, deal.kind, deal.legal())
    return replace(dealt, steps=tuple(steps), outcome=deal.outcome, pending=pending)


def _step(deal: Deal, action: Action, *, by_house: bool) -> ReplayStep:
    seat, kind, legal = deal.seat, deal.kind, deal.legal()
    if kind is None:
        raise AssertionError("a deal that is over takes no action")
    events, taken = len(deal.history), list(deal.taken)
    deal.apply(action)
    takers = [taker for taker, pile in enumerate(deal.taken) if pile != taken[taker]]
    return ReplayStep(
        seat=seat,
        kind=kind,
        action=action,
        legal=legal,
        events=tuple(deal.history[events:]),
        hands=tuple(deal.hands),
        trick_to=takers[0] if takers else None,
        trump=deal.trump,
        pitcher=deal.pitcher,
        bid=deal.bid,
        stock=len(deal.stock),
        turn_up=deal.turn_up,
        by_house=by_house,
    )


def _ruled(item: Irregularity, deals: Sequence[ReplayDeal]) -> ReplayRuling:
    """A ruling at its place: in the deal that was under way when so many actions of the game had been made."""
    left = item.step
    for number, deal in enumerate(deals):
        if left < len(deal.steps) or number == len(deals) - 1:
            break
        left -= len(deal.steps)
    decision = deal.steps[left] if left < len(deal.steps) else deal.pending
    if decision is None or decision.seat != item.seat:
        return ReplayRuling(ReplayPosition(number, left), item, None, ())
    return ReplayRuling(ReplayPosition(number, left), item, decision.kind, decision.legal)
