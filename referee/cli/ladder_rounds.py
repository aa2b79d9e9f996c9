"""Rounds of a ladder from the command line: begun, played one after another, and closed; and what is told of them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rich.console import Console

from referee.cli.standings_text import counted
from referee.league.definition.definition import Definition
from referee.league.entrants.roster import Roster
from referee.league.ladder import (
    begin_round,
    check_round_unchanged,
    check_same_ladder,
    close_round,
    finish,
    history_in,
    is_resolved,
)
from referee.league.ladder_history import open_round, sets_of_round
from referee.league.league import League, LeagueError, read_league
from referee.league.play.runner import RunOutcome
from referee.league.schedule.ladder import balanced_tables, extra_tables, rounds_to_meet
from referee.league.standings import standings_of
from referee.league.store import Store
from referee.league.store.league_facts import RoundFacts

_NAMED: Final = 3
"""The most pairs that a line names."""

_QUICK_RESAMPLES: Final = 20

Play = Callable[[Store, League], RunOutcome]
"""Plays the open round of a ladder as far as it comes."""

Look = Callable[[], tuple[Definition, Roster]]
"""Reads the definition and its bots as they are now."""


@dataclass(frozen=True, slots=True)
class LadderRun:
    """What came of a run of rounds: whether it was stopped in one, and whether the ladder is finished."""

    stopped: bool
    finished: bool


def play_rounds(path: Path, rounds: int, look: Look, play: Play, console: Console, *, finals: bool) -> LadderRun:
    """Plays so many rounds of the ladder at that path; one that is open is the first. ``finals``: until all are told apart.

    Each round begins with the bots that are there then. Raises ``LeagueError`` or ``ScheduleError`` where none can begin.
    """
    for _ in range(rounds):
        definition, roster = look()
        with Store.write(path) as store:
            if finals:
                _freeze(store)
            league = _with_open_round(store, definition, roster, console)
            outcome = play(store, league)
            if outcome.open:
                return LadderRun(stopped=True, finished=False)
            closed = close_round(store, read_league(store))
            console.print(
                f"Round {closed['number']} is closed. Master: {closed['master']}, result root: {closed.get('result_root')}",
                markup=False,
            )
            if finals and _is_over(store):
                finish(store, read_league(store))
                return LadderRun(stopped=False, finished=True)
    return LadderRun(stopped=False, finished=False)


def _freeze(store: Store) -> None:
    facts = store.league()
    if not (rounds := facts.get("rounds", [])):
        raise LeagueError(
            f"{store.path} has no round yet: finals are for bots that have entered; run it without --finals"
        )
    if "frozen" not in facts:
        store.put(frozen=len(rounds))


def _is_over(store: Store) -> bool:
    league = read_league(store)
    history = history_in(store, league, store.sets(), store.games())
    return is_resolved(history, standings_of(store, league, _QUICK_RESAMPLES))


def _with_open_round(store: Store, definition: Definition, roster: Roster, console: Console) -> League:
    """The ladder with an open round: the one that was stopped, or the next."""
    league = read_league(store)
    check_same_ladder(store.path, league, definition)
    if (round_ := open_round(league)) is not None:
        check_round_unchanged(store, league, roster)
        console.print(f"Going on with round {round_['number']} of {store.path}", markup=False)
    else:
        begun = begin_round(store, league, definition, roster)
        for line in (*begun.notes, *round_lines(begun.facts)):
            console.print(line, markup=False)
        league = read_league(store)
    return league


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


def ladder_dry_lines(definition: Definition, roster: Roster) -> Iterator[str]:
    """The rounds of a ladder of these bots, in lines. Who sits where is drawn when a round begins."""
    shape, bots = definition.shape(), len(roster.entrants)
    balanced, extra = balanced_tables(shape, bots), extra_tables(shape, bots)
    games = shape.rotations if shape.duplicate else 1
    yield (
        f"A round of {counted(bots, 'bot')}: {counted(balanced, 'table')} in the balanced part, at most "
        f"{counted(extra, 'extra table')} for neighbours whose order is open, {counted(games, 'game')} each"
    )
    yield f"Each bot plays {shape.sets} sets or more a round; every two bots meet within {rounds_to_meet(shape, bots)} rounds"
    yield "Who sits where follows from the master of each round, which is drawn when it begins"


def games_of_a_round(definition: Definition, bots: int) -> int:
    """How many games a round of so many bots has at most, but for newcomers and pairs that have not met for long."""
    shape = definition.shape()
    return (balanced_tables(shape, bots) + extra_tables(shape, bots)) * (shape.rotations if shape.duplicate else 1)


def status_lines(store: Store, league: League) -> Iterator[str]:
    """A ladder in lines: who plays, its last rounds with their commitments, and whether it is paused or frozen."""
    facts, withdrawn = league.facts, store.entrants()
    rounds = facts.get("rounds", [])
    yield f"{league.name}: {counted(len(rounds), 'round')}"
    if not rounds:
        return
    history = history_in(store, league, store.sets(), store.games())
    versions = {entrant.key: entrant.version for entrant in league.entrants}
    for key in rounds[-1]["bots"]:
        own = history.entered[key]
        parts = [f"  {key} {versions[key]}", counted(history.orders.sets(key), "closed set")]
        parts += [f"owner {own['owner']}"] if own["owner"] else []
        parts += ["of the panel"] if own["panel"] else []
        parts += [f"withdrawn: {withdrawn[key]['withdrawn']}"] if withdrawn[key]["withdrawn"] else []
        yield ", ".join(parts)
    gone = [key for key in history.entered if key not in rounds[-1]["bots"]]
    for key in gone:
        yield f"  {key} {versions[key]}, {counted(history.orders.sets(key), 'closed set')}, retired after round {history.last_round[key]}"
    for round_ in rounds:
        state = "closed" if "result_root" in round_ else "open"
        revealed = f", master {round_['master']}" if state == "closed" else ""
        yield f"Round {round_['number']}, {state}: {counted(sets_of_round(round_), 'set')}, commitment {round_['commitment']}{revealed}"
    if "frozen" in facts:
        yield f"Frozen after round {facts['frozen']}: nobody enters any more."
    if facts.get("paused"):
        yield f"Paused; let it go on with: referee ladder {store.path} --go-on"
