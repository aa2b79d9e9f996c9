"""Standings on the screen: they fit it, whatever bots are called; nothing in a name is markup; nothing is live in a pipe."""

import fcntl
import os
import pty
import struct
import subprocess
import termios
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from referee.cli.lines import Lines, broken, columns_of, messages
from referee.cli.standings_text import card_lines, folded, notes, play_lines, standings_lines, wrapped
from referee.league.definition.problems import counted
from referee.report.headline import judge
from referee.statistics.standings import FaultCounts, Standings, VoidSet, standings
from tests.league.leagues import league, played
from tests.program import FIRST, LAST, PATIENCE, REFEREE, referee
from tests.report.made_leagues import chance, make_league, sound

ODD_NAMES = [
    ":x: [red]bold[/red]",
    "机器人玩家甲乙丙丁戊己庚辛壬癸机器人玩家甲乙丙丁",
    "a-name-of-which-there-is-no-end-in-sight-and-none-was-planned-either",
    "\x1b[31mred\x1b]0;title\x07\u202ename\n\r\tback",
    "e" + "\u0301" * 30,
    " ",
]


def table_of(names: list[str], sets: int = 12) -> Standings:
    seated = dict.fromkeys(names, 0.0)
    tallies = {
        names[0]: FaultCounts(
            bids_made=12,
            bids_set_back=3,
            illegal_actions=1234,
            time_outs=56,
            crashes=7,
            decision_ms_median=0.27,
            decision_ms_p99=12.0,
        )
    }
    return standings(league(seated, [names[:6]], sets, seed=1), tallies, entrants=names)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.text(max_size=90) | st.sampled_from(ODD_NAMES), min_size=2, max_size=6, unique=True),
    st.sampled_from([80, 100, 120, 200]),
)
def test_lines_fit_the_screen_whatever_bots_are_called(names: list[str], width: int) -> None:
    table = table_of(names)
    for line in (*standings_lines(table, width), *card_lines(table, width)):
        assert cell_len(line) <= width
        assert line.isprintable()


def test_a_narrow_screen_has_all_that_is_needed() -> None:
    lines = standings_lines(table_of(["careful", "random"], 40), 80)
    assert lines[0].split() == ["place", "95%"]
    assert lines[1].split() == ["rank", "bot", "points", "interval", "rating", "TrueSkill", "games", "faults"]
    assert len(lines) == 4
    assert "1,297" in "".join(lines)
    assert "rating's" in standings_lines(table_of(["careful", "random"], 40), 100)[0]
    crowded = standings_lines(table_of(["a-name-of-rather-more-letters", "random"], 40), 80)
    assert "..." not in "".join(crowded)
    assert "\N{HORIZONTAL ELLIPSIS}" not in "".join(crowded)


def test_names_are_shown_as_they_are() -> None:
    text = "\n".join(standings_lines(table_of(ODD_NAMES), 120))
    assert ":x: [red]bold[/red]" in text
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_the_figures_say_what_they_are() -> None:
    text = "\n".join(card_lines(table_of(["careful", "random"], 40)))
    assert "(mu " in text
    assert ", sigma " in text
    assert "±" not in text


def test_forty_bots_leave_room_for_the_bar() -> None:
    table = table_of([f"bot-{number:02}" for number in range(40)])
    assert len(standings_lines(table, 80)) == 42
    shown = standings_lines(table, 80, 20)
    assert len(shown) == 20
    assert shown[-1] == "... and 23 lines more"


def test_void_sets_stand_below_with_their_reasons() -> None:
    void = tuple(VoidSet(f"set {n}", ("careful", "random"), "random was withdrawn: it crashed") for n in range(5))
    lines = notes(replace(table_of(["careful", "random"]), void=void))
    told = "Void: 5 sets with careful, random (set 0, set 1, set 2, ...): random was withdrawn: it crashed"
    assert told in lines


def test_trueskill_is_not_explained_after_every_standings() -> None:
    assert not any("running estimate" in line for line in notes(table_of(["careful", "random"])))


def test_words_are_wrapped_by_cells_and_paths_stay_whole() -> None:
    path = "/a/very/long/path/" + "x" * 90
    lines = wrapped(
        f"See {path} for the record of it all, and more words that fill the line to its end", 40
    ).splitlines()
    assert path in lines
    assert all(cell_len(line) <= 40 for line in lines if line != path)
    assert all(cell_len(line) <= 10 for line in wrapped("机器 人玩 家甲 乙丙 丁戊", 10).splitlines())
    assert folded("机器人", 4) == ["机器", "人"]
    assert folded("", 4) == [""]
    assert counted(1, "set") == "1 set"


@pytest.mark.parametrize("sets", [1, 12])
def test_three_lines_after_play(sets: int) -> None:
    games = [[played(f"{n}", "ab", (1, 2)), played(f"{n}", "ba", (2, 1))] for n in range(sets)]
    table = standings(games, {})
    lines = play_lines(table, judge(table, {}, {}, finished=True))
    assert lines[0].startswith("a won, certain at" if sets == 12 else "Too early to say")
    assert lines[1] == f"a 1.000, b 0.000 place points a game, over {2 * sets} games."


def test_force_color_makes_no_pipe_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    console = messages()
    assert not console.is_terminal
    with console.capture() as capture:
        console.print("[red]:x:[/red]", style="red")
    assert capture.get() == "[red]:x:[/red]\n"
    with Path("/dev/null").open() as file:
        assert columns_of(file) == 80


# As typed


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a league in it."""
    make_league(tmp_path / "made.sqlite", {":x:": chance, "a-bot-with-a-name-of-many-letters": sound}, sets=10)
    return tmp_path


def test_play_ends_with_three_lines_and_nothing_is_live_in_a_pipe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    (tmp_path / "first.py").write_text(FIRST)
    (tmp_path / "last.py").write_text(LAST)
    done = referee(tmp_path, "play", "first.py", "last.py", "-n", "4", "--variant", "auction-pitch-forced")
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 3
    assert "place points a game, over 4 games." in lines[1]
    assert lines[2] == "Replay: referee replay 1   Record and report: leagues/play.sqlite, .html"


@pytest.mark.parametrize("output", ["rich", "plain"])
def test_a_pipe_has_plain_lines_of_80_columns(folder: Path, output: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    shown = referee(folder, "standings", "made.sqlite", "--output", output).stdout
    assert max(map(cell_len, shown.splitlines())) <= 80
    assert "\x1b" not in shown
    assert ":x:" in shown


def test_all_figures_and_what_they_mean(folder: Path) -> None:
    shown = referee(folder, "standings", "made.sqlite", "--all", "--explain").stdout
    assert "running" in shown
    assert "ms p50/p99" in shown


@pytest.mark.parametrize("width", [80, 120])
def test_a_terminal_is_not_overrun(folder: Path, width: int) -> None:
    shown = in_a_terminal(folder, width, "standings", "made.sqlite")
    assert max(map(cell_len, shown.splitlines())) <= width
    assert "faults" in shown
    assert ":x:" in shown
    assert ("rating's" in shown) == (width == 120)


def in_a_terminal(folder: Path, width: int, *arguments: str, code: int = 0) -> str:
    """What a terminal of that width is sent by a command that ends with that code."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    with subprocess.Popen(
        [*REFEREE, *arguments],
        cwd=folder,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={name: value for name, value in os.environ.items() if name != "COLUMNS"},
    ) as process:
        os.close(slave)
        sent = b""
        try:
            while part := os.read(master, 65536):
                sent += part
        except OSError:  # the end of a terminal on Linux
            pass
        assert process.wait(PATIENCE) == code
    os.close(master)
    return sent.decode()


@pytest.mark.parametrize(
    ("text", "width", "pieces"),
    [
        ("The quick brown fox jumps", 17, ["The quick brown", "fox jumps"]),
        ("The quick brown fox jumps", 15, ["The quick brown", "fox jumps"]),
        ("Antidisestablishmentarianism", 10, ["Antidisest", "ablishment", "arianism"]),
        ("a Antidisestablishment", 10, ["a", "Antidisest", "ablishment"]),
        ("日本 日本日本", 6, ["日本", "日本日", "本"]),
        ("short", 10, ["short"]),
        ("", 10, [""]),
    ],
)
def test_a_long_name_is_broken_at_its_blanks(text: str, width: int, pieces: list[str]) -> None:
    assert folded(text, width) == pieces


@pytest.mark.parametrize("width", [40, 80, 120])
def test_a_terminal_gets_sentences_broken_between_words_and_anything_else_a_line(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = "/a/" + "very/" * 40 + "long/path.log"
    said = f"ruling   highest: ILLEGAL_ACTION AF-PLAY-003: 3S was led and you hold 7S: play spades or a trump. See {path} now."
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    shown = {}
    for terminal in (True, False):
        stream = StringIO()
        Lines(file=stream, force_terminal=terminal, markup=False, emoji=False, highlight=False).print(said)
        shown[terminal] = stream.getvalue()
    assert shown[False] == f"{said}\n"
    lines = shown[True].splitlines()
    assert " ".join(" ".join(lines).split()) == " ".join(said.split())
    assert path in [line.strip() for line in lines]
    assert all(cell_len(line) <= width for line in lines if path not in line)
    assert all(line.startswith(" " * len("ruling   ")) for line in lines[1:])
    assert broken("short", width) == "short"


def test_an_error_is_broken_between_words_on_a_terminal_alone(folder: Path) -> None:
    (folder / "one.toml").write_text(
        '[tournament]\nname = "A name, and what else does not belong to it\\u202e"\n', "utf-8"
    )
    said = referee(folder, "schedule", "one.toml").stderr
    assert "one.toml:2: [tournament] name: " in said
    shown = in_a_terminal(folder, 60, "schedule", "one.toml", code=2)
    assert shown.split() == said.split()
    assert max(map(cell_len, shown.splitlines())) <= 60
    assert len(shown.splitlines()) > len(said.splitlines())
