"""What the umpire is given, what it says, and what it keeps for the record."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from referee.cards import Card
from referee.rules import Action, Kind, Outcome, RuleSet
from referee.umpire.faults import PROFILES, Consequence, Fault, Profile
from referee.umpire.view import Chair, Turn

Fallback = Callable[[Turn], Action]
"""Plays on for a seat that has forfeited: deterministic, in process."""


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """Time limits of one seat, in microseconds: a decision, the bank of the game, all charged time of the game.

    A ``game_us`` of 0 means no limit.
    """

    move_us: int = 5_000_000
    bank_us: int = 30_000_000
    game_us: int = 300_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class GameSpec:
    """All that fixes a game but the players: rules, seats, first dealer, penalties, limits, what each seat is told."""

    key: str
    rules: RuleSet
    chairs: tuple[Chair, ...]
    first_dealer: int = 0
    profile: Profile = PROFILES["ranked"]
    limits: TimeLimits = TimeLimits()

    @property
    def seats(self) -> int:
        """How many seats the table has."""
        return len(self.chairs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What was judged of a seat's answer, or of the lack of one. ``violations`` counts towards the forfeit."""

    seat: int
    turn_id: int
    fault: Fault
    rule: str
    sentence: str
    legal: Sequence[Action]
    kind: Kind | None
    consequence: Consequence
    substitute: Action | None
    violations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Irregularity:
    """An input of the umpire other than a legal answer, as the record keeps it.

    ``step`` is the number of actions applied in the game before it, ``action`` what was answered (if anything could be
    read), ``raw`` the undecodable bytes in hexadecimal, ``charged_us`` the time charged.
    """

    step: int
    seat: int
    fault: Fault
    rule: str
    sentence: str
    consequence: Consequence
    action: Action | None
    raw: str
    charged_us: int


@dataclass(slots=True, kw_only=True)
class DealLog:
    """One deal as it was played: the pack, who dealt, every action applied (with its kind), every public event, in order.

    ``scores`` are by side, before the deal.
    """

    dealer: int
    pack: tuple[Card, ...]
    scores: tuple[int, ...]
    history: list[int]
    actions: list[Action] = field(default_factory=list)
    kinds: list[Kind] = field(default_factory=list)
    outcome: Outcome | None = None


@dataclass(slots=True)
class Ask:
    """Output: the seat of ``turn.chair`` has to decide. (Not frozen only because one is made for every decision.)"""

    turn: Turn


@dataclass(frozen=True, slots=True)
class Ruled:
    """Output: a ruling, to be told to its seat."""

    ruling: Ruling


@dataclass(frozen=True, slots=True)
class DealClosed:
    """Output: a deal is over. ``scores`` are by side, after it."""

    number: int
    log: DealLog
    outcome: Outcome
    scores: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableResult:
    """The end of a game. ``places`` and ``stakes`` are by seat, ``scores`` by side.

    ``winner`` is a side, or ``None`` at the cap or when the house has won and the best of the others are equal;
    ``forfeits`` lists the seats in the order in which they forfeited. ``reason`` is an ``EndReason``, or "forfeit".
    """

    winner: int | None
    reason: str
    scores: tuple[int, ...]
    places: tuple[int, ...]
    stakes: tuple[int, ...]
    forfeits: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class GameClosed:
    """Output: the game is over."""

    result: TableResult


@dataclass(frozen=True, slots=True)
class Voided:
    """Output: the game is no contest, through no player's fault."""

    sentence: str


Output = Ask | Ruled | DealClosed | GameClosed | Voided


def places_with_forfeits(
    winner: int | None, scores: Sequence[int], sides: Sequence[int], forfeits: Sequence[int]
) -> tuple[int, ...]:
    """Places by seat, 1 the best: the winner, then by score; forfeiters below all others, the earliest last.

    ``sides`` gives the side of each seat; a side is out as soon as one of its seats is.
    """
    order: dict[int, int] = {}
    for number, seat in enumerate(forfeits):
        order.setdefault(sides[seat], number)

    def key(side: int) -> tuple[int, bool, int]:
        if side in order:
            return (order[side], False, 0)
        return (len(forfeits) + 1, side == winner, scores[side])

    keys = [key(side) for side in sides]
    return tuple(1 + len({sides[s] for s, other in enumerate(keys) if other > mine}) for mine in keys)
