"""Every command that opens a league, given a file that is none, damaged, foreign, newer: one line, a remedy, no traceback."""

import contextlib
import os
import shutil
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from referee import cli
from referee.league.store.schema import SCHEMA_VERSION
from tests import program
from tests.league.tampered import sql


def truncated(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2 // 4096 * 4096)


def cut_in_the_header(path: Path) -> None:
    os.truncate(path, 50)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def text(path: Path) -> None:
    path.write_text("This is not a league, however long one looks at it.\n" * 300)


def foreign(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE recipe (name TEXT)")


def foreign_of_our_version(path: Path) -> None:
    foreign(path)
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def newer(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")


def negative(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = -1")


def corrupted(path: Path) -> None:
    """Every page but the first is noise."""
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(bytes(range(256)) * ((size - 4096) // 256))


def without_a_table(path: Path) -> None:
    sql(path, "DROP TABLE game")


def without_facts(path: Path) -> None:
    sql(path, "DELETE FROM league")


def with_garbled_facts(path: Path) -> None:
    sql(path, "UPDATE league SET value = '{' WHERE key IN ('definition', 'host')")


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def loop(path: Path) -> None:
    path.unlink()
    path.symlink_to(path)


def nothing(path: Path) -> None:
    path.unlink()


def forbidden(path: Path) -> None:
    path.chmod(0)


DAMAGES: list[Callable[[Path], None]] = [
    truncated,
    cut_in_the_header,
    empty,
    text,
    foreign,
    foreign_of_our_version,
    newer,
    negative,
    corrupted,
    without_a_table,
    without_facts,
    with_garbled_facts,
    folder,
    pipe,
    loop,
    nothing,
    forbidden,
]
COMMANDS = {
    "standings": ["standings", "LEAGUE"],
    "report": ["report", "LEAGUE"],
    "markdown": ["report", "LEAGUE", "--format", "markdown"],
    "verify": ["verify", "LEAGUE"],
    "export": ["export", "LEAGUE", "--out", "made"],
    "show": ["show", "1", "--league", "LEAGUE"],
    "replay": ["replay", "1", "--league", "LEAGUE"],
    "ask": ["ask", "1", "--turn", "1", "careful", "--league", "LEAGUE"],
    "resume": ["resume", "LEAGUE", "--sandbox", "none"],
    "run": ["run", "own.toml", "--store", "LEAGUE", "--sandbox", "none"],
    "compare": ["compare", "careful", "random", "--keep", "LEAGUE", "--sandbox", "none"],
    "rerun": ["rerun", "LEAGUE"],
}
OWN = '[tournament]\nname = "Own"\nvariant = "auction-pitch"\nseats = 2\n[[bots]]\npath = "careful"\ncopies = 2\n'


def referee(words: list[str], monkeypatch: pytest.MonkeyPatch) -> int:
    """Runs a command as the shell does; its exit code."""
    monkeypatch.setattr(sys, "argv", ["referee", *words])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return ended.value.code if isinstance(ended.value.code, int) else 0


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda one: one.__name__)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_damaged_league_is_one_line_in_every_command(
    sound: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
    damage: Callable[[Path], None],
) -> None:
    if command == "show" and damage in (without_facts, with_garbled_facts):
        return  # it looks at the game alone
    if damage is nothing and command in ("run", "compare"):
        return  # there they begin a league
    monkeypatch.chdir(tmp_path)
    path = Path(shutil.copy(sound, tmp_path / "damaged.sqlite"))
    (tmp_path / "own.toml").write_text(OWN)
    damage(path)
    words = ["damaged.sqlite" if word == "LEAGUE" else word for word in COMMANDS[command]]
    if damage is forbidden:  # root reads everything, unless it gives that up, for good
        done = program.referee(tmp_path, *words, ordinary=True)
        code, out, err = done.returncode, done.stdout, done.stderr
    else:
        code = referee(words, monkeypatch)
        out, err = capsys.readouterr()
    assert code in (1, 2), out + err
    told = [line for line in (out + err).splitlines() if "damaged.sqlite" in line]
    assert told, out + err
    assert "Traceback" not in out + err
    assert "[Errno" not in out + err
    with contextlib.suppress(OSError):
        path.chmod(0o600)


@pytest.mark.parametrize("name", ["export.json", "league.json", "games.jsonl", "records.jsonl", "sets.jsonl"])
@pytest.mark.parametrize(
    "damage", [empty, text, folder, pipe, loop, nothing, truncated, corrupted], ids=lambda d: d.__name__
)
@pytest.mark.parametrize("command", ["verify", "rerun", "ask"])
def test_a_damaged_export_is_one_line_in_every_command(
    exported: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
    damage: Callable[[Path], None],
    name: str,
) -> None:
    if command != "verify" and name in ("games.jsonl", "sets.jsonl", "records.jsonl"):
        return  # they look at the frame alone, or at one game
    monkeypatch.chdir(tmp_path)
    copied = Path(shutil.copytree(exported, tmp_path / "damaged.sqlite"))
    if damage is corrupted:
        (copied / name).write_bytes(bytes(range(256)) * 20)
    else:
        damage(copied / name)
    code = referee(["damaged.sqlite" if word == "LEAGUE" else word for word in COMMANDS[command]], monkeypatch)
    out, err = capsys.readouterr()
    assert code in (1, 2), out + err
    assert name in out + err
    assert "Traceback" not in out + err
    assert "[Errno" not in out + err
