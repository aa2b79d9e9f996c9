"""How commands end: one list of exit codes, one sentence for what a user can put right, nothing left behind."""

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from referee.cli.exits import EXIT_CODES
from tests.program import PATIENCE, referee

LEAGUE = """\
[tournament]
name = "Small"
variant = "auction-pitch"
seats = 2
[schedule]
sets = 1
seed = "endings"
[[bots]]
path = "careful"
[[bots]]
path = "{second}"
"""


def league(folder: Path, second: str = "random") -> Path:
    path = folder / "small.toml"
    path.write_text(LEAGUE.format(second=second), "utf-8")
    return path


MISSING = [
    ["run", "no.toml"],
    ["run", "no/such/folder.toml"],
    ["resume", "no.sqlite"],
    ["play", "no.py", "careful"],
    ["play", "--script", "no.toml"],
    ["compare", "no.py", "careful"],
    ["schedule", "no.toml"],
    ["standings", "no.sqlite"],
    ["report", "no.sqlite"],
    ["report"],
    ["show", "1"],
    ["show", "1", "--league", "no.sqlite"],
    ["replay", "1", "--league", "no.sqlite"],
    ["verify", "no.sqlite"],
    ["verify", "no/export"],
    ["export", "no.sqlite", "--out", "out"],
    ["rerun", "no-export"],
    ["ask", "1", "careful", "--turn", "1"],
    ["ask", "1", "careful", "--turn", "1", "--league", "no.sqlite"],
    ["check", "no.py"],
    ["check", "careful", "--replay", "no.json"],
    ["build", "no"],
    ["submit", "careful", "no.toml"],
    ["withdraw", "careful", "no.toml"],
]


@pytest.mark.parametrize("arguments", MISSING, ids=" ".join)
def test_what_is_not_there_is_2_and_a_sentence(tmp_path: Path, arguments: list[str]) -> None:
    done = referee(tmp_path, *arguments)
    assert done.returncode == 2, done.stderr
    assert "no" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Errno" not in done.stderr


@pytest.mark.parametrize("words", ["python 'bot.py", 'python "bot.py'])
def test_a_quotation_mark_without_a_partner_is_named(tmp_path: Path, words: str) -> None:
    done = referee(tmp_path, "check", words)
    assert done.returncode == 2
    assert "a quotation mark in this command has no partner" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_finished_league_shows_its_standings_again(tmp_path: Path) -> None:
    first = referee(tmp_path, "run", str(league(tmp_path)), "-o", "plain")
    assert first.returncode == 0, first.stderr
    for again in (["run", "small.toml"], ["resume", "leagues/small.sqlite"]):
        done = referee(tmp_path, *again, "-o", "plain")
        assert done.returncode == 0, done.stderr
        assert done.stdout == first.stdout
        assert "finished" in done.stderr
    machine = referee(tmp_path, "run", "small.toml", "-o", "json")
    assert machine.stdout.startswith("{")


def test_a_league_that_lost_a_bot_is_3_also_when_it_is_looked_at_again(tmp_path: Path) -> None:
    (tmp_path / "ends.py").write_text("raise SystemExit(1)\n", "utf-8")
    for _ in range(2):
        done = referee(tmp_path, "run", str(league(tmp_path, "ends.py")), "-o", "plain")
        assert done.returncode == 3, done.stderr


def test_a_new_season_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    assert referee(tmp_path, "run", str(league(tmp_path)), "-o", "plain").returncode == 0
    before = sorted(path.name for path in (tmp_path / "leagues").iterdir())
    program = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (14, 14)); "
        "sys.argv = ['referee', 'run', 'small.toml', '--new-season', '--sandbox', 'none']; "
        "from referee.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "raise the limit (ulimit -n" in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(path.name for path in (tmp_path / "leagues").iterdir()) == before
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 14


STOPPED = """\
import os, signal, sys
class Stop:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Stop())
sys.argv = ["referee", "run", "small.toml"]
from referee.__main__ import main
main()
"""


@pytest.mark.parametrize(
    "module", ["typer", "referee.cli", "referee.cli.run", "referee.league.play.runner", "pydantic"]
)
def test_ctrl_c_while_it_starts_is_130_without_a_traceback(tmp_path: Path, module: str) -> None:
    league(tmp_path)
    code = STOPPED.format(module=module)
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 130
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "leagues").exists()


def test_an_ignored_ctrl_c_stays_ignored(tmp_path: Path) -> None:
    program = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); sys.argv = ['referee', '--version']\n"
        "from referee.__main__ import main\n"
        "try: main()\n"
        "finally: print(signal.getsignal(signal.SIGINT) is signal.SIG_IGN)"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == "True"


def test_a_name_that_the_terminal_cannot_show_is_no_error(tmp_path: Path) -> None:
    path = league(tmp_path)
    path.write_text(path.read_text("utf-8").replace('"Small"', '"Größe ♠"'), "utf-8")
    environment = os.environ | {"PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"}
    shown = b""
    for arguments in (["run", "small.toml", "-o", "plain"], ["standings", "leagues/small.sqlite"], ["show", "1"]):
        done = subprocess.run(
            [sys.executable, "-m", "referee", *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        shown += done.stdout
    assert b"\\u2660" in shown


def test_a_reader_that_has_gone_is_141(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "referee", "explain", "AF"],
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


def test_the_list_of_exit_codes_is_whole() -> None:
    assert {code for code, _, _ in EXIT_CODES} == {"0", "1", "2", "3", "4", "5", "6", "130", "141"}
    assert signal.SIGINT + 128 == 130
    page = (Path(__file__).resolve().parents[2] / "docs" / "commands.md").read_text("utf-8")
    for code, commands, meaning in EXIT_CODES:
        assert f"| {code} | {commands} | {meaning} |" in page


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_standard_stream_stops_no_league(closed: str, tmp_path: Path) -> None:
    file = league(tmp_path)
    for words in (["run", file.name], ["standings", "leagues/small.sqlite"], ["verify", "leagues/small.sqlite"]):
        line = " ".join([sys.executable, "-m", "referee", *words, closed])
        done = subprocess.run(
            ["sh", "-c", line], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
    assert referee(tmp_path, "verify", "leagues/small.sqlite").returncode == 0
