"""More lanes where bots think and processors are idle, within the bounds; and the results are the same."""

import asyncio
import shutil
from collections import deque
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from referee.league.definition.definition import parse_definition
from referee.league.entrants.roster import enter
from referee.league.league import begin, plan_of, read_league
from referee.league.play import idle_processors
from referee.league.play.event_sink import LeagueObserver
from referee.league.play.idle_processors import Demand, IdleProcessors
from referee.league.play.leg import Leg
from referee.league.play.runner import Runner
from referee.league.store import Store
from referee.sandbox.processor_time import Usage
from referee.verification.verify import verify
from tests.league.inprocess import league_text

THINKS = (
    "import time\nfrom referee.bot import run\nrun(lambda turn: time.sleep(0.002) or turn.rng.choice(turn.legal))\n"
)
QUITS = """
import os
from referee.bot import run
run(lambda turn: os._exit(3))
"""


class Meter:
    """A bot that runs, and waits for a processor, so many seconds a look."""

    def __init__(self, ran_s: float, waited_s: float = 0.0) -> None:
        self.ran_us, self.waited_us = int(ran_s * 1e6), int(waited_s * 1e6)
        self.recent = deque([Usage(0, 0, 0, 0, 1)])

    def look(self) -> None:
        last = self.recent[-1]
        ran, waited = last.cpu_us + self.ran_us, last.waited_us + self.waited_us
        self.recent.append(Usage(last.at_us + 1_000_000, ran, 0, 0, 1, 1, waited))


@pytest.mark.parametrize(
    ("processors", "referee", "bots", "lanes", "more"),
    [
        (2, 0.1, 1.0, 1, 1),  # one thinks, and one processor is idle
        (2, 0.1, 1.6, 1, 0),
        (2, 0.6, 0.3, 1, 0),  # the bots wait for the referee
        (2, 0.1, 0.2, 2, 0),  # there is one for each processor already
        (8, 0.1, 1.1, 1, 6),
        (8, 0.2, 2.2, 2, 5),
        (8, 0.0, 0.01, 1, 7),  # bots that sleep
        (8, 0.4, 7.2, 7, 0),
        (1, 0.0, 0.1, 1, 0),
    ],
)
def test_lanes_are_opened_as_processors_are_idle(
    processors: int, referee: float, bots: float, lanes: int, more: int
) -> None:
    demand = Demand(referee, bots)
    assert IdleProcessors(processors).more_lanes(demand, lanes, narrow=True) == more
    patient = IdleProcessors(processors)
    assert patient.more_lanes(demand, lanes, narrow=False) == 0  # two looks have to agree
    assert patient.more_lanes(demand, lanes, narrow=False) == more


def test_a_busy_look_between_two_idle_ones_counts() -> None:
    idle = IdleProcessors(2)
    for demand in (Demand(0.1, 1.0), Demand(0.1, 1.9), Demand(0.1, 1.0)):
        assert idle.more_lanes(demand, 1, narrow=False) == 0
    assert idle.more_lanes(Demand(0.1, 1.0), 1, narrow=False) == 1


def test_demand_is_what_ran_and_what_had_no_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine that others keep busy, nothing is idle because our bots get little."""
    now, own = [10.0], [0, 0]
    monkeypatch.setattr(idle_processors.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(idle_processors, "scheduled", lambda _pid, _thread: tuple(own))
    idle, meters = IdleProcessors(2), [Meter(0.25, 0.5), Meter(0.25)]
    assert idle.look(meters) is None  # type: ignore[arg-type]
    now[0] += 2
    own[:] = [200_000_000, 400_000_000]
    for meter in meters:
        meter.look()
    found = idle.look(meters)  # type: ignore[arg-type]
    assert found is not None
    assert found == pytest.approx((0.3, 1.0))
    idle.begin_again()
    assert idle.look(meters) is None  # type: ignore[arg-type]


def test_where_the_system_tells_nothing_there_is_one_lane(monkeypatch: pytest.MonkeyPatch) -> None:
    assert IdleProcessors(2).may_help
    assert not IdleProcessors(1).may_help
    monkeypatch.setattr(idle_processors, "scheduled", lambda _pid, _thread: (0, 0))
    assert not IdleProcessors(2).may_help


# Whole leagues of real bots, on a machine that says it is idle


class Seen:
    """The legs that were played, and how many bots lived at once."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, demand: Demand | None) -> None:
        self.alive = self.most = self.legs = 0
        self.at_once = self.most_legs = 0
        self.sets: set[str] = set()
        self.twice: list[str] = []
        real = Leg.play

        async def play(leg: Leg) -> None:
            sets = {game.set_id for game in leg._queue}
            self.legs += 1
            self.at_once += 1
            self.alive += leg.size
            self.most, self.most_legs = max(self.most, self.alive), max(self.most_legs, self.at_once)
            left = leg._leave

            def leave(games: Any) -> None:
                self.sets.difference_update(game.set_id for game in games)
                sets.difference_update(game.set_id for game in games)
                left(games)

            leg._leave = leave
            self.twice += sorted(self.sets & sets)
            self.sets |= sets
            try:
                await real(leg)
            finally:
                self.sets -= sets
                self.alive -= leg.size
                self.at_once -= 1

        monkeypatch.setattr(Leg, "play", play)
        monkeypatch.setattr(IdleProcessors, "look", lambda _idle, _meters: demand)
        monkeypatch.setattr("referee.league.play.runner._LOOK_SECONDS", 0.02)


def found_league(folder: Path, programs: dict[str, str], sets: int = 12, more: str = "") -> Path:
    for name, text in programs.items():
        (folder / f"{name}.py").write_text(text)
    names = [f"{name}.py" for name in programs]
    definition = parse_definition(league_text(names, seats=2, sets=sets, length="deal", more=more), folder=folder)
    path = folder / "begun.sqlite"
    begin(definition, enter(definition), path, "none", {})
    return path


def play(path: Path, processors: int = 4, stop_after: int = 1 << 30) -> tuple[bool, str]:
    """Plays what is left; whether it is finished, and its result root."""

    class Stops(LeagueObserver):
        left = stop_after

        def game(self, *_what: object) -> None:
            self.left -= 1
            if not self.left:
                runner.stop()

    with Store.write(path) as store:
        league = read_league(store)
        runner = Runner(store, league, plan_of(league, path.parent / "logs", "none"), Stops())
        runner._idle = IdleProcessors(processors)
        outcome = runner.run()
        assert not outcome.finished or verify(store).ok
        return outcome.finished, str(store.league().get("result_root"))


@pytest.fixture
def undisturbed(tmp_path: Path) -> tuple[Path, str]:
    """A league of two bots that think, and its result root when it was played in one lane."""
    path = found_league(tmp_path, {"a": THINKS, "b": THINKS})
    alone = tmp_path / "alone.sqlite"
    shutil.copy(path, alone)
    return path, play(alone, processors=1)[1]


def test_bots_that_think_play_in_several_lanes_with_the_same_results(
    undisturbed: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, root = undisturbed
    seen = Seen(monkeypatch, Demand(0.1, 0.5))
    assert play(path) == (True, root)
    assert seen.most_legs == 4
    assert not seen.twice
    assert seen.legs == 8  # each lane two, and no small rests


def test_one_lane_is_enough_where_nothing_is_idle(
    undisturbed: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, root = undisturbed
    seen = Seen(monkeypatch, Demand(0.1, 3.9))
    assert play(path) == (True, root)
    assert (seen.most_legs, seen.legs) == (1, 2)


def test_lanes_are_bounded_by_max_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = found_league(tmp_path, {"a": THINKS, "b": THINKS}, more="[limits]\nmax_processes = 5")
    seen = Seen(monkeypatch, Demand(0.1, 0.5))
    assert play(path)[0]
    assert seen.most == 4
    assert not seen.twice


def test_a_stop_and_a_resume_in_several_lanes_lose_nothing(
    undisturbed: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, root = undisturbed
    seen = Seen(monkeypatch, Demand(0.1, 0.5))
    assert not play(path, stop_after=5)[0]
    with Store.read(path) as store:
        assert 5 <= len(store.games()) < 24
        assert not store.open_attempts()
    assert play(path) == (True, root)
    assert not seen.twice


def test_a_bot_that_is_withdrawn_in_one_lane_is_out_of_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("referee.net.supervisor.LOSSES_A_LEG", 2)
    path = found_league(tmp_path, {"a": THINKS, "b": THINKS, "c": QUITS}, sets=16)
    seen = Seen(monkeypatch, Demand(0.1, 0.5))
    assert play(path)[0]
    with Store.read(path) as store:
        gone = {key for key, about in store.entrants().items() if about["withdrawn"]}
        rows, fixtures = {row.id: row.state for row in store.sets()}, store.fixtures()
    assert gone == {"c"}
    assert {rows[one.set_id] for one in fixtures if "c" in one.seats} == {"VOID"}
    assert {rows[one.set_id] for one in fixtures if "c" not in one.seats} == {"SCORED"}
    assert seen.most_legs > 1
    assert not seen.twice


@pytest.mark.parametrize("remote", [True, False])
def test_no_lane_is_opened_beside_remote_bots(
    undisturbed: tuple[Path, str], monkeypatch: pytest.MonkeyPatch, *, remote: bool
) -> None:
    """A remote bot is one process, whatever we do."""
    path, _ = undisturbed
    asked: list[object] = []
    monkeypatch.setattr("referee.league.play.runner._LOOK_SECONDS", 0)
    monkeypatch.setattr(Runner, "_use_idle_processors", lambda runner: asked.append(runner) or set())
    with Store.write(path) as store:
        plan = plan_of(league := read_league(store), path.parent / "logs", "none")
        if remote:
            plan = replace(plan, bots={key: replace(bot, command=None) for key, bot in plan.bots.items()})
        runner = Runner(store, league, plan, LeagueObserver())

        async def stage(lane: Any) -> None:
            for _ in range(20):
                await asyncio.sleep(0)
            lane.sets = []

        async def play_sets() -> None:
            await runner._play_sets(runner._schedule.sets)

        runner._stage_here = stage  # type: ignore[method-assign]
        asyncio.run(play_sets())
    assert bool(asked) is not remote
