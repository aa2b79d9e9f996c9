"""Faults and rulings of a league, grouped so that a page can hold them, each with the way to its replay."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from referee.league.store import RulingLine
from referee.report.clauses import CONSEQUENCES, clause
from referee.report.report_data import ReportData
from referee.report.sanitize import sanitize

_SHOWN: Final = 12


@dataclass(frozen=True, slots=True)
class ShownRuling:
    """One ruling: its game, its number in it, what was said, what followed, whether the report shows the game."""

    game: int
    number: int
    sentence: str
    then: str
    shown: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RulingGroup:
    """All rulings of one kind against one entrant; ``lines`` holds the first of them, those with a replay before others."""

    entrant: str
    fault: str
    rule: str
    clause: str
    count: int
    lines: Sequence[ShownRuling]

    @property
    def more(self) -> int:
        """How many are counted but not listed."""
        return self.count - len(self.lines)


@dataclass(frozen=True, slots=True)
class ShownFaults:
    """Faults outside single decisions that say the same of the same entrant."""

    entrant: str
    fault: str
    sentence: str
    count: int
    log: str


def ruling_groups(facts: ReportData, shown: frozenset[int]) -> list[RulingGroup]:
    """The rulings by entrant, fault and rule, most frequent first. ``shown``: numbers of the games in the report."""
    groups: dict[tuple[str, str, str], list[RulingLine]] = {}
    for ruling in facts.rulings:
        groups.setdefault((ruling["entrant"], ruling["fault"], ruling["rule"]), []).append(ruling)
    made = [
        RulingGroup(
            entrant=facts.called(entrant),
            fault=fault,
            rule=rule,
            clause=clause(rule, facts.league.rules),
            count=len(found),
            lines=_lines(found, shown),
        )
        for (entrant, fault, rule), found in groups.items()
    ]
    return sorted(made, key=lambda group: (-group.count, group.entrant, group.rule))


def _lines(found: Sequence[RulingLine], shown: frozenset[int]) -> list[ShownRuling]:
    first = sorted(found, key=lambda ruling: (ruling["game"] not in shown, ruling["game"], ruling["number"]))[:_SHOWN]
    return [
        ShownRuling(
            ruling["game"],
            ruling["number"],
            sanitize(ruling["sentence"], 200),
            CONSEQUENCES.get(ruling["consequence"], sanitize(ruling["consequence"], 40)),
            ruling["game"] in shown,
        )
        for ruling in first
    ]


def fault_lines(facts: ReportData) -> list[ShownFaults]:
    """The faults outside single decisions, equal ones counted together, at most fifty lines."""
    counts: dict[tuple[str, str, str], list[str]] = {}
    for fault in facts.faults:
        counts.setdefault((fault.entrant, fault.fault, fault.sentence), []).append(fault.log)
    return [
        ShownFaults(
            facts.called(entrant), sanitize(fault, 40), sanitize(sentence, 300), len(logs), sanitize(logs[-1], 200)
        )
        for (entrant, fault, sentence), logs in list(counts.items())[:50]
    ]
