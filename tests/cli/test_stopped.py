"""What a league says that was stopped, or that is too large to begin without a word: in process, without a bot."""

import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from referee.cli import new_league, run
from referee.cli.exits import DONE, INTERRUPTED
from referee.cli.lines import Lines, messages
from referee.cli.options import OutputFormat
from referee.league.definition.definition import Definition, parse_definition
from referee.league.entrants.roster import Roster, enter
from referee.league.league import begin
from referee.league.store import Store
from referee.sandbox.isolation import SandboxChoice
from referee.statistics.standings import Standings
from tests.league.inprocess import InProcess, at_random, league_text
from tests.program import referee
from tests.report.made_leagues import chance, make_league, sound

PLAYERS = {"careful": at_random, "random": at_random}
NOT_SHUT_IN = SandboxChoice("none", "")

Going = Callable[..., int]


def defined(sets: int) -> tuple[Definition, Roster]:
    definition = parse_definition(league_text(list(PLAYERS), seats=2, sets=sets, length="deal"))
    return definition, enter(definition)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A league of three sets of two games, in which nothing is played yet."""
    begin(*defined(3), tmp_path / "kitchen.sqlite", "none", {})
    return tmp_path / "kitchen.sqlite"


@pytest.fixture
def going_on(path: Path, monkeypatch: pytest.MonkeyPatch) -> Going:
    """``go_on`` with the league for so many games, after which it is stopped; returns the exit code."""

    def play(
        most: int = 1 << 30, output: OutputFormat = OutputFormat.RICH, console: Console | None = None, **more: Any
    ) -> int:
        def runner(store: Store, _league: object, _plan: object, observer: Any, *_: object) -> InProcess:
            return InProcess(store, PLAYERS, observer, most)

        monkeypatch.setattr(run, "Runner", runner)
        return run.go_on(path, 1, output, NOT_SHUT_IN, ("", None), console or messages(), **more)

    return play


@pytest.fixture
def ctrl_c() -> Iterator[Callable[..., Standings]]:
    """Stands for what works out standings: the user has enough of it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def interrupted(*_: object) -> Standings:
        signal.raise_signal(signal.SIGINT)
        raise AssertionError("nobody listens to Ctrl-C")

    yield interrupted
    signal.signal(signal.SIGINT, before)


# Stopped


@pytest.mark.parametrize(
    ("most", "told"),
    [
        (0, "Stopped with 3 sets open."),
        (1, "Stopped with 3 sets open; 1 game is played already and will count once the whole set is."),
        (3, "Stopped with 3 sets open; 3 games are played already and will count once the whole set is."),
        (5, "Stopped with 1 set open; 1 game is played already and will count once the whole set is."),
    ],
)
@pytest.mark.parametrize("brief", [False, True])
def test_a_stopped_league_says_what_is_open_and_what_does_not_count_yet(
    path: Path, going_on: Going, capsys: pytest.CaptureFixture[str], most: int, told: str, brief: bool
) -> None:
    assert going_on(most, brief=brief) == INTERRUPTED
    shown = capsys.readouterr().out
    assert told in " ".join(shown.split())
    assert f"Go on with: referee resume {path}" in shown.splitlines()  # it can be copied
    assert ("random" in shown) == (not brief or most == 5)
    assert going_on() == DONE
    assert "Stopped" not in capsys.readouterr().out


def test_standings_of_an_unfinished_league_say_what_is_open(tmp_path: Path) -> None:
    for finish in (False, True):
        name = f"finished-{finish}.sqlite".lower()
        make_league(tmp_path / name, {"sound": sound, "chance": chance}, sets=4, finish=finish)
        shown = referee(tmp_path, "standings", name).stdout
        told = "Not finished: 2 sets open; 2 games are played already and will count once the whole set is."
        assert (told in " ".join(shown.split())) != finish
        assert ("Not finished" in shown) != finish
        assert (f"If it has stopped, go on with: referee resume {name}" in shown.splitlines()) != finish


# Ctrl-C once more


@pytest.mark.parametrize("output", list(OutputFormat))
@pytest.mark.parametrize("brief", [False, True])
def test_ctrl_c_while_the_standings_are_worked_out_leaves_them_out(
    path: Path,
    going_on: Going,
    ctrl_c: Callable[..., Standings],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    output: OutputFormat,
    brief: bool,
) -> None:
    monkeypatch.setattr(run, "standings_of", ctrl_c)
    monkeypatch.setattr(run, "_QUICK_GAMES", 3)
    assert going_on(4, output, brief=brief) == INTERRUPTED
    shown = capsys.readouterr()
    assert "Working out the standings; Ctrl-C once more leaves them out." in shown.err
    told, empty = (shown.err, shown.out) if output is OutputFormat.JSON else (shown.out, "")
    assert not empty
    assert f"Go on with: referee resume {path}" in told.splitlines()
    assert f"How it stands: referee standings {path}" in told.splitlines()
    assert "place" not in told
    assert going_on() == DONE


def test_few_games_need_no_word(going_on: Going, capsys: pytest.CaptureFixture[str]) -> None:
    assert going_on(4) == INTERRUPTED
    assert "Working out" not in capsys.readouterr().err


@pytest.mark.parametrize("limit", ["_STOPPED_GAMES", "_STOPPED_BOTS"])
def test_whoever_stops_a_large_league_does_not_wait_for_its_standings(
    path: Path,
    going_on: Going,
    ctrl_c: Callable[..., Standings],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    limit: str,
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(run, limit, 1)
        patch.setattr(run, "standings_of", ctrl_c)
        assert going_on(4) == INTERRUPTED
    shown = capsys.readouterr()
    assert "Working out" not in shown.err
    assert "How it stands: referee standings" in shown.out
    monkeypatch.setattr(run, limit, 1)
    assert going_on(1, OutputFormat.JSON) == INTERRUPTED  # a program waits for what it asked for
    assert json.loads(capsys.readouterr().out)["games"] == 4
    assert going_on() == DONE
    assert "random" in capsys.readouterr().out


# Large


@pytest.mark.parametrize(("games", "told"), [(6, True), (7, False)])
def test_a_large_schedule_is_said_to_take_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], games: int, told: bool
) -> None:
    monkeypatch.setattr(new_league, "MANY_GAMES", games)
    new_league.begin_league(*defined(3), tmp_path / "kitchen.sqlite", NOT_SHUT_IN, None, messages())
    assert ("Making the schedule of 6 games; that takes a while ..." in capsys.readouterr().err) == told


@pytest.mark.parametrize(
    ("games", "terminal", "output", "told"),
    [
        (6, False, OutputFormat.RICH, True),
        (6, False, OutputFormat.JSON, True),
        (6, True, OutputFormat.PLAIN, True),
        (6, True, OutputFormat.RICH, False),  # the bar says it
        (7, False, OutputFormat.RICH, False),
    ],
)
def test_where_no_bar_shows_it_a_large_league_says_how_to_see_how_it_stands(
    path: Path,
    going_on: Going,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    games: int,
    terminal: bool,
    output: OutputFormat,
    told: bool,
) -> None:
    monkeypatch.setattr(run, "MANY_GAMES", games)
    console = Lines(stderr=True, force_terminal=terminal, highlight=False)
    line = f"6 games are to be played; how they stand meanwhile: referee standings {path}"
    assert going_on(2, output, console) == INTERRUPTED
    assert (line in " ".join(capsys.readouterr().err.split())) == told
    assert going_on(output=output, console=console) == DONE  # four games are left: no longer many
    assert line not in " ".join(capsys.readouterr().err.split())


def test_a_signal_in_the_midst_of_a_line_stops_all_the_same() -> None:
    class Written(Lines):
        """Its stream is being written to when the handler comes."""

        def print(self, *_objects: object, **_options: object) -> None:
            raise RuntimeError("reentrant call inside <_io.BufferedWriter name=2>")

    stops: list[int] = []
    with run.stopping(lambda: stops.append(1), Written()):
        for _ in range(3):
            signal.raise_signal(signal.SIGINT)
    assert len(stops) == 3
