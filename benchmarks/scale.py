"""What does a game cost the main process and the store, and does that grow with the number of games?

Run: python benchmarks/scale.py [--games 1000 10000 100000]

Whole leagues are run by the runner of every league: schedule, stages, legs, attempts, transactions, hash chains, scoring,
standings and roots, with the store on disk. Only the games are stubs: records of real games that were played beforehand,
each stored under the name of its fixture. The yardstick is the first size of the same run. Stages are as small as in a
league whose legs last 30 s (512 games), so that what is paid once a stage shows.
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from referee import deals
from referee.league.definition.definition import Definition, parse_definition
from referee.league.entrants.roster import Entrant, Roster
from referee.league.league import League, begin, plan_of, read_league
from referee.league.plan import GamePlan
from referee.league.play.event_sink import LeagueObserver
from referee.league.play.runner import Runner
from referee.league.schedule.schedule import PlannedSet
from referee.league.standings import summarise
from referee.league.store import Store
from referee.umpire.fallback_player import fallback_move
from referee.umpire.record import Record, write_record
from referee.umpire.umpire import Umpire

NAMES = ("careful", "random", "montecarlo", "other")
STAGE = 128  # sets, of four games each
SAMPLES = 64


class Stubbed(Runner):
    """A runner whose games are there already."""

    def __init__(self, store: Store, league: League) -> None:
        super().__init__(store, league, plan_of(league, Path(), "none"), LeagueObserver())
        self.samples = [self._sample(number) for number in range(SAMPLES)]
        self.stages: list[tuple[int, float]] = []

    def _next_stage(self, _lane: Any) -> list[PlannedSet]:  # as small as if games took long
        return self._queue.take(STAGE)

    def _sample(self, number: int) -> tuple[Record, dict[str, Any]]:
        """A real game of the house with itself."""
        fixture = self._schedule.fixtures[number % len(self._schedule.fixtures)]
        game = GamePlan.of(fixture)
        ids = count(1)
        umpire = Umpire(
            self._plan.spec(game, 1), partial(_pack, self._plan.master, number), ids.__next__, fallback_move
        )
        umpire.start()
        while (turn := umpire.open) is not None:
            umpire.answer(turn.turn_id, fallback_move(turn), 250 + 37 * number)
        return write_record(umpire, self._plan.heading(game)), summarise(umpire, game.seats, game.set_id)

    async def _play_leg(self, _lane: object, games: Sequence[GamePlan], *, first: bool) -> None:  # noqa: ARG002
        started = time.perf_counter()
        self._event_sink.begin(games)
        for game in games:
            record, summary = self.samples[hash(game.fixture_id) % SAMPLES]
            own = {**record, **self._plan.heading(game), "game": game.fixture_id}
            told = {**summary, "set": game.set_id, "entrants": list(game.seats)}
            self._event_sink.stored(game, own, told)
        self.stages.append((len(games), time.perf_counter() - started))

    def play(self) -> None:
        """As ``run``, but there are no processes to look after, and the end is left to the caller."""
        self._settle_earlier_attempts()
        self._void_withdrawn()
        asyncio.run(self._play_rounds())


def _pack(master: bytes, number: int, deal: int) -> tuple[int, ...]:
    return deals.shuffle(deals.deal_key(master, "scale", str(number), deal))


def definition_of(games: int) -> Definition:
    """A league of one table of four with about so many games."""
    lines = ['[tournament]\nname = "Scale"\nvariant = "auction-pitch"\nseats = 4']
    lines.append(f'[schedule]\nsets = {games // 4}\nseed = "scale"')
    lines += [f'[[bots]]\npath = "{name}"' for name in NAMES]
    return parse_definition("\n".join(lines))


def measure(games: int, folder: Path, *, whole: bool) -> dict[str, float]:
    """Microseconds a game of each part, and the size of the store."""
    definition, path = definition_of(games), folder / f"{games}.sqlite"
    entrants = tuple(
        Entrant(
            key=name,
            name=name,
            version="1",
            argv=("never", "run"),
            folder=Path(),
            digest="",
            remote=False,
            variants=(),
            copy_of=None,
        )
        for name in NAMES
    )
    clock = [time.perf_counter()]
    schedule = begin(definition, Roster(entrants), path, "none", {})
    clock.append(time.perf_counter())
    with Store.write(path) as store:
        league = read_league(store)
        runner = Stubbed(store, league)
        before, started = time.process_time(), time.perf_counter()
        runner.play()
        busy, played = time.process_time() - before, time.perf_counter() - started
        ended = time.perf_counter()
        if whole:
            runner._close()  # noqa: SLF001  # the end of every run
        closed = time.perf_counter() - ended
    number = len(schedule.fixtures)
    size = sum(file.stat().st_size for file in folder.glob(f"{games}.sqlite*"))
    times = {"begin": clock[1] - clock[0], "play": played, "play, CPU": busy, "end": closed}
    return {name: 1e6 * seconds / number for name, seconds in times.items()} | {"bytes": size / number}


def main() -> int:
    """Prints a table and the ratio of the last size to the first; returns 1 if playing a game costs 10% more."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--games", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    options.add_argument("--folder", type=Path, default=None, help="where the stores are kept while it runs")
    options.add_argument("--play-only", action="store_true", help="leave the standings at the end out")
    chosen = options.parse_args()
    found: dict[int, dict[str, float]] = {}
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        for games in chosen.games:
            repeats = max(1, min(5, 20_000 // games))
            runs = []
            for repeat in range(repeats):
                place = Path(folder) / f"{games}-{repeat}"
                place.mkdir()
                runs.append(measure(games, place, whole=not chosen.play_only))
            found[games] = {name: statistics.median(run[name] for run in runs) for name in runs[0]}
    names = list(next(iter(found.values())))
    print("a game costs, in microseconds")
    print(f"{'games':>9}  " + "  ".join(f"{name:>{max(9, len(name))}}" for name in names))
    for games, figures in found.items():
        print(f"{games:>9,}  " + "  ".join(f"{figures[name]:>{max(9, len(name))},.0f}" for name in names))
    sizes = list(found)
    ratio = found[sizes[-1]]["play, CPU"] / found[sizes[0]]["play, CPU"]
    print(f"playing {sizes[-1]:,} games costs {ratio:.2f} times as much a game as {sizes[0]:,} (target: at most 1.10)")
    return int(ratio > 1.10)


if __name__ == "__main__":
    sys.exit(main())
