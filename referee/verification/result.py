"""What a verification has found: counts, divergences, and what nobody can prove."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Final

from referee.league.definition.problems import plain

KEPT: Final = 20
"""Divergences that a verdict names; the others are only counted."""

_LONGEST = 300


class Check(StrEnum):
    """What was compared."""

    STORE = "store"
    COMMITMENT = "commitment"
    DEFINITION = "definition"
    FACTS = "facts"
    ENTRANT = "entrant"
    ROUND = "round"
    SCHEDULE = "schedule"
    ATTEMPT = "attempt"
    GAMES = "games"
    RECORD = "record"
    PACK = "pack"
    REPLAY = "replay"
    SECOND_ENGINE = "second engine"
    DIGEST = "digest"
    RULING = "ruling"
    SUMMARY = "summary"
    CHAIN = "chain"
    SETS = "sets"
    FAULTS = "faults"
    CLOCK = "clock"
    EXPORT = "export"
    ARCHIVE = "archive"
    RECEIPT = "receipt"
    ROOT = "root"
    STANDINGS = "standings"


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence:
    """One place where a league is not what follows from its definition, its master and its moves.

    ``what`` is the thing compared, ``says`` what is stored (or a whole sentence) and ``should`` what it should be, as
    harmless text. ``game`` is the game's number, 0 where it is about the league; ``deal`` counts from 1, 0 where it is
    about the whole game.
    """

    check: Check
    what: str
    says: str
    should: str
    game: int = 0
    fixture: str = ""
    deal: int = 0

    @property
    def where(self) -> str:
        """Game, fixture and deal, as far as it is about one."""
        if not self.game:
            return self.fixture and f"fixture {self.fixture}"
        deal = f", deal {self.deal}" if self.deal else ""
        return f"game {self.game} (fixture {self.fixture}){deal}"

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        should = f"; it should be {self.should}" if self.should else ""
        return f"{place}{self.check}: {self.what}: {self.says}{should}"


class Findings:
    """Collects divergences: names the first ``KEPT``, counts all."""

    def __init__(self) -> None:
        self.named: list[Divergence] = []
        self.count = 0

    def add(self, divergence: Divergence) -> None:
        """Takes one more."""
        self.count += 1
        if len(self.named) < KEPT:
            self.named.append(divergence)

    def differ(self, check: Check, what: str, says: object, should: object, fixture: str = "") -> None:
        """Takes one about the league, unless both are the same."""
        if says != should:
            self.add(Divergence(check=check, what=what, says=shown(says), should=shown(should), fixture=fixture))


@dataclass(slots=True, kw_only=True)
class VerificationCounts:
    """Counts while a verification runs."""

    games: int = 0
    archived: int = 0
    superseded: int = 0
    deals: int = 0
    decisions: int = 0
    rulings: int = 0
    unproven: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationResult:
    """The outcome of a verification.

    ``games`` were replayed and judged, ``superseded`` of them being of packs that were dealt anew later; ``archived`` were not, for their
    records lie in archives that were not at hand; ``deals``,
    ``decisions`` and ``rulings`` are what was judged in them. ``unproven`` counts by fault the rulings that rest on the
    referee's clock, or on what it saw of a process: nobody can judge them again. ``findings`` are the first divergences,
    ``divergences`` how many there are in all. ``notes`` are sentences that a reader should know.
    """

    league: str
    commitment: str
    result_root: str
    record_root: str
    games: int
    superseded: int
    deals: int
    decisions: int
    rulings: int
    unproven: dict[str, int]
    findings: tuple[Divergence, ...]
    divergences: int
    notes: tuple[str, ...]
    archived: int = 0

    @property
    def ok(self) -> bool:
        """Whether everything agrees."""
        return self.divergences == 0

    @property
    def unprovable(self) -> int:
        """How many rulings cannot be judged again."""
        return sum(self.unproven.values())

    def to_json(self) -> dict[str, Any]:
        """Plain dicts, lists, text and numbers, ready for ``json.dumps``."""
        plain_ = asdict(self)
        if not self.archived:
            del plain_["archived"]
        plain_["findings"] = [{**asdict(one), "check": str(one.check)} for one in self.findings]
        return {"ok": self.ok, **plain_, "notes": list(self.notes), "unprovable": self.unprovable}

    def __str__(self) -> str:
        agrees = "everything that is here agrees" if self.archived else "everything agrees"
        verdict = agrees if self.ok else _counted(self.divergences, "divergence")
        counts = (self.games, "game"), (self.deals, "deal"), (self.decisions, "decision"), (self.rulings, "ruling")
        judged = ", ".join(_counted(number, noun) for number, noun in counts)
        lines = [
            _line(f"{self.league}: {verdict}"),
            f"Dealt, replayed and judged again by the second engine: {judged}.",
            *(
                [f"Not replayed, for their records lie elsewhere: {_counted(self.archived, 'game')}."]
                if self.archived
                else []
            ),
            self._unproven_line(),
            *(_line(note) for note in self.notes),
        ]
        if self.result_root:
            lines += [f"Commitment:  {_line(self.commitment)}", f"Result root: {self.result_root}"]
            lines += [f"Record root: {self.record_root}"]
        return "\n".join(lines + self._finding_lines())

    def _finding_lines(self) -> list[str]:
        if not self.findings:
            return []
        first, *others = (f"  {one}" for one in self.findings)
        lines = ["", "First divergence:", first]
        lines += ["Then:", *others] if others else []
        more = self.divergences - len(self.findings)
        return [*lines, f"  and {more:,} more"] if more else lines

    def _unproven_line(self) -> str:
        if not self.unproven:
            return "No ruling rests on the referee's clock."
        kinds = ", ".join(f"{count:,} {_line(fault)}" for fault, count in sorted(self.unproven.items()))
        rest = "ruling rests" if self.unprovable == 1 else "rulings rest"
        return f"{self.unprovable:,} {rest} on the referee's clock or its watch, and cannot be proven: {kinds}."


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def object_in(facts: Mapping[str, object], name: str) -> Mapping[str, Any]:
    """A fact of a league that should be an object; empty if it is none."""
    found = facts.get(name)
    return found if isinstance(found, dict) else {}


def shown(value: object) -> str:
    """A stored value as one harmless, short piece of text."""
    text = "nothing" if value is None else value if isinstance(value, str) else repr(value)
    return _line(text or "an empty text")


def _line(text: str) -> str:
    clean = plain(text)
    return clean if len(clean) <= _LONGEST else f"{clean[: _LONGEST - 3]}..."
