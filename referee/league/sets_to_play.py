"""How far a league is, from its store: what is left to play, which sets come next, why a set is void, when it may stop.

A league that looks at its results looks at fixed places of the schedule only, after whole rounds of all tables, and only when
all sets up to there are closed. So the end does not depend on speed, on workers or on interruptions, and ``verify`` finds it
again. The tests hold at every look, so the places are free to choose; each is a quarter further than the last, because every
look costs starts of all bot processes.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from referee.league.ladder_history import LadderHistory, is_ladder, open_round, rounds_of, sets_of_round
from referee.league.league import League
from referee.league.schedule.format import SetResult
from referee.league.schedule.formats import format_of, plan
from referee.league.schedule.schedule import PlannedSet, Schedule, read_schedule
from referee.league.standings import closed_sets, games_by_set
from referee.league.store import GameRow, SetRow, Source, Store
from referee.statistics.results import GameSet
from referee.statistics.version_comparison import FIRST_LOOK

# Why a set is void, and why an attempt ended without a game: the sentences that the store keeps, and verification reads. A
# set is void for one of four reasons, or with its round (``voided_with_round``), each with traces of its own: so none can be taken
# out of a league by a word alone.

MOST_NO_CONTESTS: Final = 3
"""So many attempts at one game without a result, through no bot's fault, void its set."""

INTERRUPTED: Final = "the referee ended before the game"
"""An attempt that was under way when a referee died; the next one found it."""

STOPPED: Final = "stopped"
"""An attempt that was under way when somebody stopped the league."""

WITHDRAWN: Final = "a bot was withdrawn"
"""An attempt that could not be ended, or begun, without a bot that had left."""


def withdrawn_from(entrant: str, reason: str) -> str:
    """Of a set that was not over when the entrant was withdrawn for that reason."""
    return f"{entrant} was withdrawn: {reason}"


def withdrawn_early(entrant: str, reason: str) -> str:
    """Of a set that was scored, of an entrant that was withdrawn before half of its sets were."""
    return f"{entrant} was withdrawn before half of its sets: {reason}"


def away_from(entrant: str, reason: str) -> str:
    """Of a set of a ladder that was not over when a remote bot was given up for its round: that is a fault on record."""
    return f"{entrant} was away: {reason}"


def never_contested(fixture: str) -> str:
    """Of a set with a game that came to nothing too often."""
    return f"game {fixture} was no contest three times"


# What is left to play.


def sets_to_play(store: Store, league: League, schedule: Schedule, size: int) -> list[PlannedSet]:
    """The sets of the next stage, none if there is nothing left to play of this schedule.

    Usually the first ``size`` that are open. A league that looks at its results plays up to its next look instead, and
    nothing more once a look has shown enough.
    """
    states = {row.id: row.state for row in store.sets()}
    open_ = [number for number, planned in enumerate(schedule.sets) if states[planned.id] == "OPEN"]
    if not looks_at_its_results(league):
        return [schedule.sets[number] for number in open_[:size]]
    if not open_ or (open_[0] in look_places(schedule) and _enough(store, league, schedule, open_[0])):
        return []
    place = next_look(schedule, open_[0])
    return [schedule.sets[number] for number in open_ if number < place]


def closed_by_id(store: Store) -> dict[str, GameSet]:
    """The scored sets of a store by their id."""
    return {games[0].set_id: games for games in closed_sets(store.sets(), store.games())}


def _enough(store: Store, league: League, schedule: Schedule, place: int) -> bool:
    closed = closed_by_id(store)
    return bool(_reason_to_stop(league, [closed[one.id] for one in schedule.sets[:place] if one.id in closed]))


# The schedule, round by round.


def schedule_to_play(store: Store, league: League) -> Schedule:
    """The stored schedule, of a ladder that of its open round: its history is long, and nobody plays it again."""
    schedule, round_ = read_schedule(store), open_round(league)
    return schedule if round_ is None else Schedule(schedule.sets[len(schedule.sets) - sets_of_round(round_) :])


def next_sets(store: Store, league: League, schedule: Schedule) -> tuple[PlannedSet, ...]:
    """The sets that the format adds to the stored schedule now that all of it is over; none if some is not, or none come."""
    sets = store.sets()
    if any(row.state == "OPEN" for row in sets):
        return ()
    return _next_round(league, store.entrants(), schedule.sets, sets, store.games()).sets


def whole_schedule(source: Source, league: League, sets: Sequence[SetRow], games: Iterable[GameRow] = ()) -> Schedule:
    """The schedule that follows from definition and entrants, made again: every round whose results are there, and the next.

    ``games`` are those that count. The notes are those of the first round. Raises ``ScheduleError`` where there is none.
    """
    if is_ladder(league):
        return Schedule(_drawn_again(league, sets, games), ())
    entrants, states, counting = source.entrants(), {row.id: row.state for row in sets}, list(games)
    first = whole = _next_round(league, entrants, (), sets, counting)
    while format_of(league.shape).by_rounds and all(states.get(one.id, "OPEN") != "OPEN" for one in whole.sets):
        more = _next_round(league, entrants, whole.sets, sets, counting).sets
        if not more:
            break
        whole = Schedule(whole.sets + more, first.notes)
    return whole


def _drawn_again(league: League, sets: Sequence[SetRow], games: Iterable[GameRow]) -> tuple[PlannedSet, ...]:
    """The sets of all rounds of a ladder, each drawn again from its master and what was known before it."""
    results = {one[0].set_id: one for one in closed_sets(sets, games)}
    history, drawn = LadderHistory(league), list[PlannedSet]()
    for round_ in rounds_of(league):
        history.enter(round_["entered"])
        plan = history.plan(round_["entered"], round_["bots"])
        made = history.draw(plan, bytes.fromhex(round_["master"]), sets_of_round(round_))
        drawn += made.sets
        history.add({**round_, "placed": list(plan.placed), "tables": made.tables}, made.sets, results)
    return tuple(drawn)


def _next_round(
    league: League,
    entrants: Mapping[str, Mapping[str, Any]],
    planned: Sequence[PlannedSet],
    sets: Iterable[SetRow],
    games: Iterable[GameRow],
) -> Schedule:
    """What the format makes of the results of the planned sets. Who lost a set by its withdrawal is not in it any more.

    Nothing else counts as gone: when the next sets were made must not be a matter of chance.
    """
    format_ = format_of(league.shape)
    if not planned:
        return plan(league.shape, league.entrants)
    if not format_.by_rounds:
        return Schedule(())
    reasons = {row.id: row.reason for row in sets}
    played = games_by_set(games)
    results = [
        SetResult(one, tuple(found) if len(found := played.get(one.id, ())) == len(one.rotations) else ())
        for one in planned
    ]
    lost = {reasons.get(one.id) for one in planned}
    gone = {key for key, about in entrants.items() if withdrawn_from(key, str(about.get("withdrawn"))) in lost}
    return format_.next_sets(league.shape, [one for one in league.entrants if one.key not in gone], results)


# Early ends.


@dataclass(frozen=True, slots=True)
class EarlyStop:
    """Why a league stopped before its sets were used up: after how many sets of the schedule, and the reason in words."""

    sets: int
    reason: str


def looks_at_its_results(league: League) -> bool:
    """Whether the league may stop early. One that is scheduled by rounds ends with its last round."""
    format_ = format_of(league.shape)
    return not format_.by_rounds and format_.certainty(league.shape) is not None


def look_places(schedule: Schedule) -> Iterator[int]:
    """After how many sets of the schedule the league looks, ascending; the last is the whole schedule.

    At the first look everybody has ``FIRST_LOOK`` sets or more.
    """
    tables, total = schedule.tables, len(schedule.sets)
    seated = Counter(key for table in tables for key in table)
    rounds = -(-FIRST_LOOK // min(seated.values()))
    while rounds * len(tables) < total:
        yield rounds * len(tables)
        rounds = max(rounds + 1, int(rounds * _GROWTH))
    yield total


_GROWTH: Final = 1.25


def next_look(schedule: Schedule, played: int) -> int:
    """The first look after that many sets."""
    return next((place for place in look_places(schedule) if place > played), len(schedule.sets))


def find_ending(league: League, schedule: Schedule, closed: Mapping[str, GameSet]) -> EarlyStop | None:
    """The first look at which the league has to stop, None if none has. The end of the schedule is no early end.

    ``closed``: the scored sets by id; sets that are void are not there.
    """
    for place in look_places(schedule) if looks_at_its_results(league) else ():
        if place == len(schedule.sets):
            break
        reason = _reason_to_stop(league, [closed[one.id] for one in schedule.sets[:place] if one.id in closed])
        if reason:
            return EarlyStop(place, reason)
    return None


def _reason_to_stop(league: League, sets: Sequence[GameSet]) -> str:
    bots = {entrant.key: entrant.name for entrant in league.entrants}
    return format_of(league.shape).reason_to_stop(league.shape, bots, sets)
