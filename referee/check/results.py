"""What a check has found so far: how often each rule was put to the bot and broken, what would explain it, and the stream of events."""

import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final

from google.protobuf.message import DecodeError

from referee.cards import SUITS
from referee.check.position import GamePrefix, Position
from referee.check.requirements import Requirement, Requirements, key_of
from referee.net.open_turns import TurnAnswer
from referee.protocol import wire
from referee.protocol.translate import Malformed, read_move
from referee.rules import Action, Deal, Kind
from referee.umpire.faults import Fault

Event = dict[str, Any]


class EventLog:
    """The events of a check in order. With a file, each is written to it at once."""

    def __init__(self, path: Path | None = None) -> None:
        """Raises ``OSError`` if the file cannot be written."""
        self.events: list[Event] = []
        self._file: IO[str] | None = path.open("w", encoding="utf-8") if path else None
        self._started = time.monotonic()

    def emit(self, event: str, **facts: Any) -> None:
        """Notes one event. ``ms`` counts from the start of the log."""
        entry = {"event": event, "ms": int((time.monotonic() - self._started) * 1000), **facts}
        self.events.append(entry)
        if self._file is not None:
            self._file.write(line_of(entry))
            self._file.flush()

    def of(self, event: str) -> Iterator[Event]:
        """The events of one kind."""
        return (entry for entry in self.events if entry["event"] == event)

    def close(self) -> None:
        """Closes the file. May be called again."""
        if self._file is not None:
            self._file.close()
            self._file = None


def line_of(event: Event) -> str:
    """An event as one line."""
    return json.dumps(event, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n"


Cause = tuple[str, int]
"""A possible cause by its key, and what differs from answer to answer: one answer over and over proves nothing."""

ANOTHER_TURN: Final = "another turn"
LAID_AWAY: Final = "laid away"
SUIT_OFF: Final = "suit off by one"
CARD_SUIT_OFF: Final = "card's suit off by one"
RANK_OFF: Final = "rank off by one"
INDEX: Final = "index"
BEFORE_DEALER: Final = "before the dealer"
BEHIND_DEALER: Final = "behind the dealer"

SENTENCES: Final = {
    ANOTHER_TURN: "Each of these answers is legal for another turn of the same message: are the turn ids mixed up?",
    LAID_AWAY: "Each time the other cards of its hand would have been right: `kept` names the cards that stay, not those "
    "that are laid away.",
    SUIT_OFF: "Each time the number is just outside of the four suits: they are counted from 1 (clubs) to 4 (spades) here.",
    CARD_SUIT_OFF: "Each time the same rank of the suit beside it would have been legal: the suit of the card is off by "
    "one (a card is 16 * suit + rank, clubs being suit 0).",
    RANK_OFF: "Each time the card beside it would have been legal: the rank is off by one (2 is 2, the ace is 14).",
    INDEX: "Each time the number is that of a place in its hand: `card` names the card itself (16 * suit + rank).",
    BEFORE_DEALER: "Each time it sat one seat before the dealer: does it take itself for the dealer?",
    BEHIND_DEALER: "Each time it sat one seat behind the dealer: does it take itself for the dealer?",
}

_PREFIX: Final = 5

ENOUGH: Final = 3
"""So many wrong answers, all explained, before a cause is named."""

_ALWAYS_THE_SAME: Final = frozenset({ANOTHER_TURN, LAID_AWAY, SUIT_OFF})
_CALLS: Final = (Kind.STAND_OR_BEG, Kind.ANSWER_BEG)


def about_bytes(data: bytes) -> str:
    """What bytes that are no message of the bot's look like, in one sentence; empty if like nothing known."""
    if data.lstrip()[:1] in (b"{", b"["):
        return "These bytes are JSON text: the stream takes protobuf messages, each a PlayRequest."
    if len(data) > _PREFIX and data[0] in (0, 1) and int.from_bytes(data[1:_PREFIX], "big") == len(data) - _PREFIX:
        return "These bytes begin with the five bytes of a gRPC frame: the gRPC library puts those before each message itself."
    if data[:2] == b"\x1f\x8b":
        return "These bytes are compressed by gzip: send the message as it is, or have the gRPC library compress it."
    for kind in (wire.Join, wire.Move):
        try:
            bare = kind.FromString(data)
        except DecodeError:
            continue
        size, known = bare.ByteSize(), bool(bare.ListFields())
        bare.DiscardUnknownFields()
        if known and bare.ByteSize() == size:
            return f"These bytes are a {kind.DESCRIPTOR.name} by itself: put it into a PlayRequest."
    try:
        return f"These bytes are text: {data.decode()[:40]!r}." if data.decode().isprintable() and data else ""
    except UnicodeDecodeError:
        return ""


def answer_is_legal(answer: TurnAnswer) -> bool:
    """Whether an answer breaks no rule of the game or the message."""
    return not isinstance(answer.action, Malformed) and answer.action in answer.pending.turn.legal


def causes_of(deal: Deal, answer: TurnAnswer, message: Sequence[TurnAnswer]) -> frozenset[Cause]:
    """What might explain a wrong answer, given what came in the same message."""
    return frozenset(_causes(deal, answer, message))


def _causes(deal: Deal, answer: TurnAnswer, message: Sequence[TurnAnswer]) -> Iterator[Cause]:
    if any(other is not answer and _is_for(answer, other) for other in message):
        yield ANOTHER_TURN, 0
    kind, action, hand = deal.kind, answer.action, deal.hands[deal.seat]
    if isinstance(action, Malformed):
        move = wire.Move.FromString(answer.raw)
        if kind is Kind.NAME_TRUMP and move.HasField("suit") and move.suit in (0, len(SUITS) + 1):
            yield SUIT_OFF, 0
        if kind is Kind.PLAY and move.HasField("card") and len(move.ListFields()) == 1:
            yield from _of_card(deal, move.card)
    elif kind is Kind.PLAY:
        yield from _of_card(deal, action)
    elif kind is Kind.DISCARD and action & ~hand == 0 and hand & ~action in deal.legal():
        yield LAID_AWAY, 0
    elif kind is Kind.BID and deal.seats > 2 and action == deal.bid:
        if (deal.seat + 1) % deal.seats == deal.dealer:
            yield BEFORE_DEALER, deal.seat
        if (deal.seat - 1) % deal.seats == deal.dealer:
            yield BEHIND_DEALER, deal.seat


def _of_card(deal: Deal, number: int) -> Iterator[Cause]:
    legal = deal.legal()
    if {(number + 16) % 64, (number - 16) % 64} & {*legal}:
        yield CARD_SUIT_OFF, number
    if {number + 1, number - 1} & {*legal}:
        yield RANK_OFF, number
    if 0 <= number <= deal.hands[deal.seat].bit_count():
        yield INDEX, number


def _is_for(answer: TurnAnswer, other: TurnAnswer) -> bool:
    """Whether an answer would be a legal one to the turn of another answer."""
    kind, turn = answer.pending.turn.kind, other.pending.turn
    action: Action | Malformed = answer.action
    if isinstance(action, Malformed):
        action = read_move(wire.Move.FromString(answer.raw), turn.kind) if answer.raw else action
        return not isinstance(action, Malformed) and action in turn.legal
    return (kind is turn.kind or {kind, turn.kind} <= {*_CALLS}) and action in turn.legal


def explains(cause: str, count: int, values: int, breaches: int) -> bool:
    """Whether a cause that fits so many of the breaches, with so many different answers, is the explanation."""
    return count == breaches >= ENOUGH and (values > 1 or cause in _ALWAYS_THE_SAME)


STATED = "stated"
"""The phase of single decisions in deals in which the bot has not made the decisions of its own seat before."""

IN_A_BATCH = "in a batch"
"""The phase of a loss that no single turn can be blamed for."""

WRITTEN = frozenset({"directed", STATED})
"""Phases whose positions may be cases with a title."""

KEPT = 24
"""Breaches of one rule that are kept, the simplest first; all are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Breach:
    """One breach of a rule.

    ``position`` is where it happened, ``None`` where no single decision was to blame. ``did`` is the bot's answer as
    people read it, ``phase`` and ``origin`` say when, ``number`` is how many answers it had given before. With a
    ``perturbation``, ``because`` is the rule of the game that the answer to it broke. ``company`` is how many answers came in
    the same message (0 where there was none), ``batch`` their positions if they are known, ``courses`` the games that
    may have led there, ``causes`` what would explain the answer. ``shown_by`` says by what it was shown again during
    the check: "position", "batch", "game" or "run"; empty if by nothing so far. ``further``: it was found in what is
    asked while there is time, so that another run need not come to it.
    """

    rule: str
    variant: str
    fault: Fault
    sentence: str
    phase: str
    origin: str = ""
    position: Position | None = None
    action: int | None = None
    further: bool = False
    did: str = ""
    perturbation: str = ""
    because: str = ""
    number: int = 0
    talk: tuple[dict[str, Any], ...] = ()
    log_tail: str = ""
    company: int = 0
    batch: tuple[Position, ...] = ()
    courses: tuple[GamePrefix, ...] = ()
    causes: frozenset[Cause] = frozenset()
    shown_by: str = ""

    def size(self) -> tuple[Any, ...]:
        """How much a reader has to take in; smaller is simpler."""
        if self.position is None:
            return (not self.shown_by, 1, self.further)
        written = self.phase in WRITTEN and self.origin != "sampled"
        return (not self.shown_by, 0, self.further, not written, *self.position.size())


@dataclass(slots=True, kw_only=True)
class ClauseCoverage:
    """What is known of one requirement: opportunities and breaches by phase, and the simplest breaches.

    ``least`` are the opportunities in what every check asks, however long it takes: they alone decide whether the rule
    was put often enough. ``alone`` counts breaches by an answer that came by itself, ``unheard`` the turns at which the
    rule could have been broken if the answer had been readable. ``explained`` counts for every cause the breaches that it
    would explain, with the different answers among them; ``in_batch`` is the first breach of which the whole message is
    known.
    """

    requirement: Requirement
    opportunities: Counter[str] = field(default_factory=Counter)
    least: int = 0
    broken: Counter[str] = field(default_factory=Counter)
    kept: list[Breach] = field(default_factory=list)
    alone: int = 0
    unheard: int = 0
    in_batch: Breach | None = None
    explained: dict[str, tuple[int, frozenset[int]]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """Opportunities in all."""
        return self.opportunities.total()

    @property
    def breaches(self) -> int:
        """Breaches in all."""
        return self.broken.total()

    def add(self, breach: Breach) -> None:
        """Counts a breach, and keeps it if it is among the simplest."""
        self.broken[breach.phase] += 1
        self.alone += breach.company == 1
        if self.in_batch is None and breach.batch:
            self.in_batch = breach
        for cause, value in breach.causes:
            count, values = self.explained.get(cause, (0, frozenset()))
            self.explained[cause] = count + 1, values if len(values) > 1 else values | {value}
        self.kept.append(breach)
        if len(self.kept) > 2 * KEPT:
            self.kept.sort(key=Breach.size)
            del self.kept[KEPT:]

    def causes(self) -> set[str]:
        """The causes that explain every breach."""
        return {
            cause
            for cause, (count, values) in self.explained.items()
            if explains(cause, count, len(values), self.breaches)
        }

    def clear(self) -> None:
        """Nothing of what was counted as a breach is held against this rule any more."""
        self.broken.clear()
        self.kept.clear()
        self.explained.clear()
        self.alone = 0

    def simplest(self) -> list[Breach]:
        """The breaches kept, the simplest first."""
        return sorted(self.kept, key=Breach.size)


@dataclass(frozen=True, slots=True)
class Attribution:
    """The rule that is to blame for the breaches of another one, and the breach that shows it."""

    rule: str
    breach: Breach


class Coverage:
    """The scores of all requirements by key. What is not asked for is not counted, but ``others`` remembers it.

    ``why_not`` says why a rule could not be put, ``waived`` which do not apply, ``flaky`` what was seen and not again.
    ``blamed`` says of a rule, by key, which other rule its breaches are held against, once that was found out by asking;
    ``own`` holds those that were found to be broken by themselves; ``hints`` what may be behind the breaches of a rule.
    """

    def __init__(self, requirements: Requirements) -> None:
        self.scores = {key: ClauseCoverage(requirement=entry) for key, entry in requirements.of.items()}
        self.others: Counter[str] = Counter()
        self.answers = 0
        self.why_not: dict[str, str] = {}
        self.waived: dict[str, str] = {}
        self.flaky: dict[str, str] = {}
        self.blamed: dict[str, Attribution] = {}
        self.own: set[str] = set()
        self.hints: dict[str, str] = {}

    def __iter__(self) -> Iterator[ClauseCoverage]:
        return iter(self.scores.values())

    def chance(self, rule: str, phase: str, variant: str = "", times: int = 1, *, further: bool = False) -> None:
        """The rule could have been broken here; ``further``: in more than the least that is asked."""
        score = self.scores.get(key_of(rule, variant))
        if score is not None:
            score.opportunities[phase] += times
            score.least += 0 if further else times

    def chances(self, rules: Iterable[str], phase: str, variant: str = "", *, further: bool = False) -> None:
        """Several rules could have been broken here."""
        for rule in rules:
            self.chance(rule, phase, variant, further=further)

    def unheard(self, rules: Iterable[str], variant: str) -> None:
        """Several rules could have been broken here, but the answer could not be read."""
        for rule in rules:
            score = self.scores.get(key_of(rule, variant))
            if score is not None:
                score.unheard += 1

    def breach(self, breach: Breach) -> None:
        """A rule was broken."""
        score = self.score_of(breach.rule, breach.variant)
        if score is None:
            self.others[key_of(breach.rule, breach.variant)] += 1
        else:
            score.add(breach)

    def score_of(self, rule: str, variant: str) -> ClauseCoverage | None:
        """The score of a rule of a game, or of conduct whatever the game; ``None`` if it is not asked for."""
        return self.scores.get(key_of(rule, variant)) or self.scores.get(rule)

    def excuse(self, rule: str, reason: str, variant: str = "") -> None:
        """Why a rule could not be put to the bot, for the report."""
        self.why_not.setdefault(key_of(rule, variant), reason)

    def waive(self, rule: str, reason: str, variant: str = "") -> None:
        """A rule does not apply to this bot."""
        key = key_of(rule, variant)
        if key in self.scores:
            self.waived[key] = reason

    def lacking(self, least: int, rules: Iterable[str] | None = None) -> list[str]:
        """The keys of binding requirements that came up less often than ``least`` in what every check asks."""
        wanted = None if rules is None else set(rules)
        return [
            key
            for key, score in self.scores.items()
            if score.least < least
            and score.requirement.clause.level != "INFO"
            and (wanted is None or score.requirement.id in wanted)
        ]
