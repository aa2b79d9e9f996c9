"""How long a league takes: rates from earlier runs and trials, sets that fit, and the most processes."""

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
import typer

from referee.cli.dry_run import duration, seconds_of, within
from referee.league import league as leagues
from referee.league.definition.definition import parse_definition
from referee.league.entrants.roster import Entrant, Roster, enter
from referee.league.league import MOST_BY_DEFAULT, LeagueError, most_processes
from referee.league.play.forecast import Rate, _covered, past_rate, peak_processes, trial_rate
from referee.league.schedule.format import Shape
from referee.league.schedule.formats import plan
from referee.sandbox import machine_memory
from referee.sandbox.machine_memory import available_mib
from referee.umpire.fallback_player import fallback_move
from tests.league.inprocess import at_random, league_text, play_league, roster


@dataclass(frozen=True)
class Bot:
    key: str
    version: str = "1"


def at(second: float) -> datetime:
    return datetime.fromtimestamp(second, UTC)


def test_time_in_which_several_games_run_counts_once() -> None:
    assert _covered([]) == 0
    assert math.isclose(_covered([(at(0), at(4)), (at(1), at(2)), (at(3), at(6)), (at(10), at(11))]), 7)


def test_a_rate_says_how_long_and_how_many_sets() -> None:
    schedule = plan(Shape(seats=4, sets=5), [Bot(key) for key in "abcde"])  # 5 tables, 20 games a round of sets
    rate = Rate(2.0, "for the test")
    assert rate.seconds(100) == 50
    assert rate.sets(schedule, 100) == 9
    assert rate.sets(schedule, 1) == 1


def test_an_earlier_run_of_enough_games_gives_a_rate(tmp_path: Path) -> None:
    players = {"a": fallback_move, "b": at_random, "c": fallback_move}
    few = play_league(tmp_path / "few.sqlite", players, sets=2)
    assert past_rate(few) is None
    assert past_rate(tmp_path / "none.sqlite") is None
    many = play_league(tmp_path / "many.sqlite", players, sets=8, length="deal")
    rate = past_rate(many)
    assert rate is not None
    assert rate.games_a_second > 0
    assert rate.source == f"from 24 games of {many}"


def test_the_most_processes_are_those_of_the_largest_groups() -> None:
    schedule = plan(Shape(seats=4, sets=2, max_tables=200), [Bot(f"b{number:02}") for number in range(40)])
    assert peak_processes(schedule, 0) == 40
    assert peak_processes(schedule, 40) == 40
    assert peak_processes(schedule, 12) <= 12
    assert peak_processes(schedule, 16, workers=2) <= 16
    assert peak_processes(schedule, 2) == 4
    partners = plan(Shape(seats=4, sides=2, sets=1), [Bot("a"), Bot("b")])
    assert peak_processes(partners, 8) == 4
    assert peak_processes(partners, 8, workers=2) == 8


def test_the_default_of_max_processes_follows_from_memory_and_is_never_less_than_the_cores_can_use(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def most(limits: str = "") -> int:
        return most_processes(parse_definition(league_text(["careful", "random"], seats=2, more=f"[limits]\n{limits}")))

    monkeypatch.setattr("os.cpu_count", lambda: 2)
    for available, processes in ((0, 6), (512, 6), (4096, 32), (8192, 64), (1 << 20, MOST_BY_DEFAULT)):
        monkeypatch.setattr(leagues, "available_mib", lambda available=available: available)
        assert most() == processes
        assert most("max_processes = 9") == 9
    monkeypatch.setattr(leagues, "available_mib", lambda: 8192)
    assert most("memory_mib = 2048") == 16


def test_available_memory_is_that_of_the_machine_or_of_the_container_that_we_are_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert 0 < available_mib() < 1 << 30
    system, most, used = tmp_path / "meminfo", tmp_path / "memory.max", tmp_path / "memory.current"
    monkeypatch.setattr(machine_memory, "_SYSTEM", system)
    monkeypatch.setattr(machine_memory, "_GROUPS", ((most, used),))
    assert available_mib() > 0  # elsewhere than on Linux
    system.write_text("MemTotal: 99 kB\nMemAvailable:   4194304 kB\n")
    assert available_mib() == 4096
    most.write_text("max\n")
    assert available_mib() == 4096
    most.write_text(str(1 << 30))
    used.write_text(str(1 << 28))
    assert available_mib() == 768


def test_sets_are_picked_for_a_time() -> None:
    definition = parse_definition(league_text(["a", "b", "c"]))
    assert within(definition, roster(["a", "b", "c"]), 60, Rate(1.0, "")).schedule.sets == 18


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("45m", 2700), ("1.5h", 5400)])
def test_times_are_read(text: str, seconds: float) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "45", "m", "-1m", "0s", "1d", "1m30s", "99999999h"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="90s, 45m or 2h"):
        seconds_of(text)


def test_times_are_told() -> None:
    assert [duration(one) for one in (0.2, 40, 89, 600, 12_000)] == ["1 s", "40 s", "89 s", "10 min", "3 h 20 min"]


def bot(folder: Path, name: str, text: str) -> None:
    (folder / f"{name}.py").write_text(f"import sys\nfrom referee.bot import run\n{text}\n")


def test_a_trial_plays_the_league_elsewhere_and_leaves_nothing(tmp_path: Path) -> None:
    for name in ("one.py", "two.py"):
        bot(tmp_path, name[:-3], "run(lambda turn: turn.legal[0])")
    definition = parse_definition(league_text(["one.py", "two.py"], seats=2, sets=4), folder=tmp_path)
    rate = trial_rate(definition, enter(definition), "none", 10.0)
    assert rate.games_a_second > 0
    assert rate.source.startswith("from a trial of ")
    assert {path.name for path in tmp_path.iterdir()} - {"__pycache__"} == {"one.py", "two.py"}


def test_a_trial_in_which_nothing_is_finished_says_why(tmp_path: Path) -> None:
    bot(tmp_path, "one", "run(lambda turn: turn.legal[0])")
    (tmp_path / "two.py").write_text("raise SystemExit(3)\n")
    definition = parse_definition(league_text(["one.py", "two.py"], seats=2, sets=4), folder=tmp_path)
    with pytest.raises(LeagueError, match="two was withdrawn"):
        trial_rate(definition, enter(definition), "none", 10.0)


def test_no_trial_is_played_with_remote_bots() -> None:
    far = Entrant(
        key="far", name="far", version="1", argv=(), folder=None, digest="", remote=True, variants=(), copy_of=None
    )
    with pytest.raises(LeagueError, match="no trial is played with remote bots"):
        trial_rate(parse_definition(league_text(["far"], seats=2)), Roster((far,)), "none", 1.0)
