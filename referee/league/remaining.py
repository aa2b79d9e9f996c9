"""What is left to play of a league in its store, and how a league that looks at its results has ended."""

from dataclasses import asdict
from typing import Any

from referee.league.early_stop import find_ending, look_places, looks_at_its_results, next_look, reason_to_stop
from referee.league.league import League
from referee.league.schedule.schedule import PlannedSet, Schedule
from referee.league.standings import closed_sets
from referee.league.store import Store
from referee.statistics.results import GameSet


def sets_to_play(store: Store, league: League, schedule: Schedule, size: int) -> list[PlannedSet]:
    """The sets of the next stage, none if there is nothing left to play.

    Usually the first ``size`` that are open. A league that looks at its results plays up to its next look instead, and
    nothing more once a look has shown enough.
    """
    states = {row.id: row.state for row in store.sets()}
    open_ = [number for number, planned in enumerate(schedule.sets) if states[planned.id] == "OPEN"]
    if not looks_at_its_results(league.definition):
        return [schedule.sets[number] for number in open_[:size]]
    if not open_ or (open_[0] in look_places(schedule) and _enough(store, league, schedule, open_[0])):
        return []
    place = next_look(schedule, open_[0])
    return [schedule.sets[number] for number in open_ if number < place]


def closed_by_id(store: Store) -> dict[str, GameSet]:
    """The scored sets of a store by their id."""
    return {games[0].set_id: games for games in closed_sets(store.sets(), store.games())}


def closed_up_to(store: Store, schedule: Schedule, place: int) -> list[GameSet]:
    """The scored ones among the first sets of the schedule."""
    closed = closed_by_id(store)
    return [closed[planned.id] for planned in schedule.sets[:place] if planned.id in closed]


def _enough(store: Store, league: League, schedule: Schedule, place: int) -> bool:
    return bool(reason_to_stop(league.definition, league.entrants, closed_up_to(store, schedule, place)))


def ended(store: Store, league: League, schedule: Schedule) -> dict[str, Any] | None:
    """How a league stopped before its sets were used up, as JSON values; None if it did not."""
    if not looks_at_its_results(league.definition):
        return None
    found = find_ending(league.definition, league.entrants, schedule, closed_by_id(store), len(schedule.sets))
    return asdict(found) if found else None
