"""What the person sees, whole, as plain data: the page and the terminal know nothing else. Every text is text, never HTML.

Cards are written as in ``referee.cards`` (``QH``), suits by their letter. Seats count from 0. Fields are only ever added.
"""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class GameOnTable:
    """Which game is played. ``deal`` counts from 1; ``rules_page`` is where its rules are."""

    variant: str
    title: str
    target: int
    deal: int
    rules_page: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatState:
    """One seat as everybody sees it.

    ``partner``: another seat of its side, if there is one. ``bid``: what it said last in the auction, ``"pass"`` or an amount, or about
    the turned-up card. ``cards`` and ``tricks`` are numbers. ``thinking``: it is asked now. ``out``: why it has lost the game, if it has.
    """

    seat: int
    name: str
    person: bool
    partner: int | None
    score: int
    dealer: bool
    pitcher: bool
    bid: str
    cards: int
    tricks: int
    thinking: bool
    out: str


@dataclass(frozen=True, slots=True)
class AskedTurn:
    """What the person is asked. ``choose``: so many cards are to be kept, at least and at most. ``seconds`` are left on the clock."""

    id: str
    kind: str
    prompt: str
    choose: tuple[int, int] | None
    seconds: float | None


@dataclass(frozen=True, slots=True)
class HeldCard:
    """A card of the person's hand; ``rule`` and ``why`` say what forbids it. ``must``: it has to be kept."""

    card: str
    name: str
    legal: bool
    rule: str
    why: str
    must: bool = False


@dataclass(frozen=True, slots=True)
class PossibleMove:
    """A move that is no card of the hand: a bid, a pass, a call, a suit. ``key`` is the key that makes it."""

    move: str
    label: str
    legal: bool
    rule: str
    why: str
    key: str


@dataclass(frozen=True, slots=True)
class CardOnTable:
    """A card that lies face up, and whose it is."""

    seat: int
    card: str
    name: str


@dataclass(frozen=True, slots=True)
class TakenTrick:
    """A trick that has been taken."""

    winner: int
    cards: tuple[CardOnTable, ...]


@dataclass(frozen=True, slots=True)
class AwayCards:
    """The cards that a seat has laid away, as far as the person may know them."""

    seat: int
    cards: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SheetItem:
    """One thing that scored: what, for which seat and side, and by what."""

    item: str
    seat: int
    side: str
    points: int
    why: str


@dataclass(frozen=True, slots=True)
class DealSheet:
    """What a deal was worth. ``bid`` tells of the contract, or why there is nothing to score; ``totals`` are by seat."""

    deal: int
    items: tuple[SheetItem, ...]
    bid: str
    totals: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LogLine:
    """A sentence about what has happened. ``n`` counts them."""

    n: int
    text: str


@dataclass(frozen=True, slots=True)
class GameOver:
    """How it ended. ``record``: where its replay is, ``command``: what shows it in a terminal; empty where nothing is kept."""

    sentence: str
    record: str
    command: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TableState:
    """All that the person sees. ``revision`` grows with every change. ``sheet`` is there from the end of a deal until the person goes on."""

    revision: int
    practice: bool
    paused: bool
    game: GameOnTable
    you: int
    seats: tuple[SeatState, ...]
    phase: str
    trump: str | None
    turn_up: str | None
    turn: AskedTurn | None
    hand: tuple[HeldCard, ...]
    moves: tuple[PossibleMove, ...]
    trick: tuple[CardOnTable, ...]
    leader: int | None
    last_trick: TakenTrick | None
    laid_away: tuple[AwayCards, ...]
    sheet: DealSheet | None
    sheets: tuple[DealSheet, ...]
    log: tuple[LogLine, ...]
    over: GameOver | None

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class MoveRuling:
    """Why a move that was not sent is illegal: the clause, the sentence of the umpire, and the clause in words."""

    rule: str
    sentence: str
    clause: str
    link: str


@dataclass(frozen=True, slots=True)
class MoveHint:
    """What a careful player would do here, and why. ``cards`` are those it would keep, where cards are kept."""

    move: str
    label: str
    why: str
    cards: tuple[str, ...] = ()
