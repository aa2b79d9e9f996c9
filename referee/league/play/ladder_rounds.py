"""A round of a ladder that is to be played: the open one, or the next; its plan; and what is told of it, in lines."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from referee.league.definition.definition import Definition
from referee.league.definition.problems import counted
from referee.league.entrants.roster import Roster
from referee.league.ladder import begin_round, check_round_unchanged, check_same_ladder, freeze
from referee.league.ladder_history import open_round, sets_of_round
from referee.league.league import League, plan_of, read_league
from referee.league.plan import LeaguePlan
from referee.league.schedule.schedule import Schedule
from referee.league.sets_to_play import schedule_to_play
from referee.league.store import Store
from referee.league.store.league_facts import RoundFacts
from referee.sandbox.isolation import Policy

_NAMED: Final = 3
"""The most pairs that a line names."""


def with_open_round(
    store: Store, league: League, definition: Definition, roster: Roster, *, finals: bool = False
) -> tuple[League, tuple[str, ...]]:
    """The ladder with an open round, the one that was stopped or the next, and what is told of it in lines.

    ``finals``: it freezes the ladder. Raises ``LeagueError`` or ``ScheduleError`` where none can begin or go on.
    """
    if (round_ := open_round(league)) is not None:
        check_same_ladder(store.path, league, definition)
        check_round_unchanged(store, league, roster)
        if finals:
            freeze(store, league)
        return read_league(store), (f"Going on with round {round_['number']} of {store.path}",)
    begun = begin_round(store, league, definition, roster, finals=finals)
    return read_league(store), (*begun.notes, *round_lines(begun.facts))


def round_lines(round_: RoundFacts) -> Iterator[str]:
    """A round that has begun, in lines: its size, whose order is open, and its commitment."""
    tables = counted(sets_of_round(round_), "table")
    yield f"Round {round_['number']}: {counted(len(round_['bots']), 'bot')} at {tables}"
    if round_["placed"]:
        yield f"  placed against others: {', '.join(round_['placed'])}"
    pairs = list(dict.fromkeys(tuple(pair) for pair in round_["pairs"]))
    if pairs:
        named = ", ".join(" and ".join(pair) for pair in pairs[:_NAMED])
        more = f" and {len(pairs) - _NAMED} other pairs" if len(pairs) > _NAMED else ""
        yield f"  {counted(len(round_['pairs']), 'extra table')} for {named}{more}"
    yield f"  commitment to its chairs and packs: {round_['commitment']}"


def closed_line(round_: RoundFacts) -> str:
    """A round that is closed, in a line."""
    return f"Round {round_['number']} is closed. Master: {round_['master']}, result root: {round_.get('result_root')}"


def plan_of_round(store: Store, league: League, log_dir: Path, sandbox: Policy) -> tuple[LeaguePlan, Schedule]:
    """What the processes that play the open round need to know, and what of it is in the schedule.

    They are told the masters of its own packs alone.
    """
    plan, playing = plan_of(league, log_dir, sandbox), schedule_to_play(store, league)
    return replace(plan, earlier={one.id: plan.master_of(one.id) for one in playing.sets}), playing
