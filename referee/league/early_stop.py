"""When a league that looks at its results may stop: after which sets it looks, and what it must see. Pure.

It looks at fixed places of the schedule only, after whole rounds of all tables, and only when all sets up to there are
closed. So the end does not depend on speed, on workers or on interruptions, and ``verify`` finds it again. The tests
hold at every look, so the places are free to choose; each is a quarter further than the last, because every look costs
starts of all bot processes.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from referee.league.definition.definition import Definition
from referee.league.entrants.roster import Entrant
from referee.league.schedule.schedule import Schedule
from referee.statistics.comparison import compare
from referee.statistics.intervals import FEWEST_SETS
from referee.statistics.ranks import separated
from referee.statistics.results import GameSet, MeasureName
from referee.statistics.version_comparison import ALPHA, FIRST_LOOK, MARGINS, VersionVerdict, judge_versions

_GROWTH: Final = 1.25


@dataclass(frozen=True, slots=True)
class EarlyStop:
    """Why a league stopped before its sets were used up: after how many sets of the schedule, and the reason in words."""

    sets: int
    reason: str


def looks_at_its_results(definition: Definition) -> bool:
    """Whether the league may stop early."""
    return certainty_at_any_look(definition) is not None


def certainty_at_any_look(definition: Definition) -> float | None:
    """With what certainty, 0..1, a league that may stop early must be right; None for one of fixed length."""
    wanted = definition.schedule
    if wanted.format == "compare":
        return 1.0 - (ALPHA if wanted.alpha is None else wanted.alpha)
    return wanted.until_resolved


def look_places(schedule: Schedule) -> Iterator[int]:
    """After how many sets of the schedule the league looks, ascending; the last is the whole schedule.

    At the first look everybody has ``FIRST_LOOK`` sets or more.
    """
    tables, total = len(schedule.tables), len(schedule.sets)
    seated = Counter(key for table in schedule.tables for key in table)
    rounds = -(-FIRST_LOOK // min(seated.values()))
    while rounds * tables < total:
        yield rounds * tables
        rounds = max(rounds + 1, int(rounds * _GROWTH))
    yield total


def next_look(schedule: Schedule, played: int) -> int:
    """The first look after that many sets."""
    return next((place for place in look_places(schedule) if place > played), len(schedule.sets))


def find_ending(
    definition: Definition, entrants: Sequence[Entrant], schedule: Schedule, closed: Mapping[str, GameSet], played: int
) -> EarlyStop | None:
    """The first look at which the league has to stop, among those within the first ``played`` sets; None if none has.

    ``closed``: the scored sets by id; sets that are void are not there. The end of the schedule is no early end.
    """
    if not looks_at_its_results(definition):
        return None
    for place in look_places(schedule):
        if place > played or place == len(schedule.sets):
            return None
        sets = [closed[planned.id] for planned in schedule.sets[:place] if planned.id in closed]
        reason = reason_to_stop(definition, entrants, sets)
        if reason:
            return EarlyStop(place, reason)
    return None


def reason_to_stop(definition: Definition, entrants: Sequence[Entrant], sets: Sequence[GameSet]) -> str:
    """Why the league need not go on after these closed sets; empty if it should."""
    if definition.schedule.format == "compare":
        return reason_of(verdict_of(definition, entrants, sets))
    certainty = definition.schedule.until_resolved
    bots = {entrant.key: entrant.name for entrant in entrants}
    if certainty is None or not is_resolved(sets, definition.tournament.objective, bots, certainty):
        return ""
    return f"all neighbours are told apart, with certainty {certainty:g}"


def is_resolved(sets: Sequence[GameSet], measure: MeasureName, bots: Mapping[str, str], certainty: float) -> bool:
    """Whether all neighbours in the table are told apart, all at once with this certainty, whatever the looks so far.

    ``bots``: every entrant with the bot that it is a copy of; copies of one bot are not told apart.
    """
    comparison = compare(sets, measure)
    advantages = dict(zip(comparison.entrants, comparison.advantages, strict=True))
    if advantages.keys() != bots.keys() or min(comparison.sets, default=0) < FEWEST_SETS:
        return False
    order = sorted(bots, key=lambda key: (-round(advantages[key], 12), key))
    told_apart = set(separated(comparison, order, certainty, at_any_look=True))
    return all(bots[one] == bots[other] or (one, other) in told_apart for one, other in pairwise(order))


def verdict_of(
    definition: Definition,
    entrants: Sequence[Entrant],
    sets: Sequence[GameSet],
    deals: Mapping[str, Sequence[int]] | None = None,
) -> VersionVerdict:
    """The verdict of a comparison on these closed sets. ``deals``: how many each game had, by set id."""
    wanted = definition.schedule
    measure: MeasureName = definition.tournament.objective
    return judge_versions(
        sets,
        entrants[0].key,
        entrants[1].key,
        measure=measure,
        margin=MARGINS[measure] if wanted.margin is None else wanted.margin,
        alpha=ALPHA if wanted.alpha is None else wanted.alpha,
        deals=deals,
    )


def reason_of(verdict: VersionVerdict) -> str:
    """Why a comparison with this verdict may stop; empty if nothing is decided."""
    found = {
        "better": "the new version is better",
        "worse": "the new version is worse",
        "same": f"no difference beyond {verdict.margin:g} a game is left",
    }
    return found.get(verdict.answer, "")
