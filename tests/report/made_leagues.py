"""Leagues for the tests of reports, played in process in no time: stores like those that ``referee run`` leaves."""

import random
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from referee.league.definition.definition import parse_definition
from referee.league.entrants.roster import Entrant, Roster
from referee.league.league import League, begin, plan_of, read_league
from referee.league.plan import GamePlan
from referee.league.schedule.schedule import Fixture
from referee.league.standings import summarise
from referee.league.store import FixtureRow, Store
from referee.league.store.league_facts import FinishedGame
from referee.rules import Action, Keeps, Kind
from referee.umpire.fallback_player import fallback_move
from referee.umpire.faults import Fault
from referee.umpire.record import write_record
from referee.umpire.umpire import Umpire
from referee.umpire.view import Turn

Player = Callable[[Turn, random.Random], Action]

ILLEGAL: Final = 63
"""A number that is no legal action of any kind."""


def chance(turn: Turn, rng: random.Random) -> Action:
    """Any legal move."""
    legal = turn.legal
    return legal[rng.randrange(len(legal))] if isinstance(legal, Keeps) else rng.choice(list(legal))


def sound(turn: Turn, rng: random.Random) -> Action:
    """What the house plays."""
    return fallback_move(turn)


def slipping(turn: Turn, rng: random.Random) -> Action:
    """Any card of the hand now and then, legal or not; a number that is no action where nothing is played."""
    if rng.random() < 0.1:
        cards = [card for card in range(64) if turn.hand >> card & 1]
        return rng.choice(cards) if turn.kind is Kind.PLAY else ILLEGAL
    return chance(turn, rng)


PLAYERS: Final[Mapping[str, Player]] = {"sound": sound, "chance": chance, "slipping": slipping}


def entrant(key: str, copy_of: str | None = None, **about: Any) -> Entrant:
    """An entrant without a program."""
    known = {"version": "1", "argv": (), "folder": None, "digest": "d" * 64, "remote": False, "variants": ()}
    return Entrant(key=key, name=copy_of or key, copy_of=copy_of, **{**known, **about})


def make_league(  # noqa: PLR0913  # a league has many properties
    path: Path,
    entrants: Mapping[str, Player],
    *,
    variant: str = "auction-pitch",
    seats: int = 0,
    sets: int = 12,
    seed: str = "made",
    name: str = "Made league",
    rules: str = "",
    options: str = "",
    finish: bool = True,
    lose: Mapping[str, str] | None = None,
    copies: Mapping[str, str] | None = None,
) -> Path:
    """Plays a league to its end and returns its store's path.

    ``lose``: entrants that leave their first game in its middle, with what is said of it. ``finish``: whether the last
    half of the sets is played too.
    """
    text = f"""
[tournament]
name = "League"
variant = "{variant}"
seats = {seats or len(entrants)}
[rules]
{rules}
[schedule]
sets = {sets}
seed = "{seed}"
{options}
[[bots]]
path = "careful"
"""
    definition = parse_definition(text)
    roster = Roster(tuple(entrant(key, (copies or {}).get(key)) for key in entrants))
    schedule = begin(definition, roster, path, "none", {})
    with Store.write(path) as store:
        store.put(name=name)
        league = read_league(store)
        match = _Match(league, entrants, dict(lose or {}))
        closing = schedule.sets if finish else schedule.sets[: len(schedule.sets) // 2]
        for planned in schedule.sets if finish else schedule.sets[: len(closing) + 1]:
            for fixture in planned.fixtures:
                match.play(store, fixture)
            if planned in closing:
                store.close_set(planned.id, "SCORED")
        if finish:
            store.put(state="finished", result_root="a" * 64, record_root="b" * 64)
    return path


class _Match:
    """Plays the games of a league, each with its own chance."""

    def __init__(self, league: League, entrants: Mapping[str, Player], lose: dict[str, str]) -> None:
        self._plan = plan_of(league, Path("logs"), "none")
        self._entrants, self._lose = entrants, lose

    def play(self, store: Store, fixture: Fixture) -> None:
        game = GamePlan.of(fixture)
        umpire = Umpire(
            self._plan.spec(game, 1), partial(self._plan.pack, game), iter(range(1, 1 << 30)).__next__, fallback_move
        )
        umpire.start()
        rng = random.Random(fixture.id)  # noqa: S311
        while not umpire.closed:
            self._turn(umpire, fixture, rng)
        (attempt,) = store.begin([(fixture.id, 0)])
        row = FixtureRow(fixture.id, fixture.set_id, fixture.rotation, fixture.seats)
        record = write_record(umpire, self._plan.heading(game))
        store.finish_games([FinishedGame(attempt, row, 0, record, summarise(umpire, fixture.seats, fixture.set_id))])

    def _turn(self, umpire: Umpire, fixture: Fixture, rng: random.Random) -> None:
        turn = umpire.open
        assert turn is not None
        key = fixture.seats[turn.chair.seat]
        if key in self._lose and umpire.steps > 15:
            umpire.lose(turn.chair.seat, Fault.DISCONNECT, self._lose.pop(key))
            return
        umpire.answer(turn.turn_id, self._entrants[key](turn, rng), rng.randrange(100, 40_000))


def open_league(path: Path) -> tuple[Store, League]:
    """The store of a league for looking, and the league."""
    store = Store.read(path)
    return store, read_league(store)
