"""A finished league is read where nothing can be written; a copy that lacks its last games says so."""

import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from referee.league.store import Store, StoreError
from tests.program import FIRST, LAST, PATIENCE, REFEREE, referee

READS = [
    ["standings", "league.sqlite"],
    ["standings", "league.sqlite", "--output", "json"],
    ["show", "1", "--league", "league.sqlite"],
    ["verify", "league.sqlite"],
    ["report", "league.sqlite", "--out", "OUT/report.html"],
    ["report", "league.sqlite", "--format", "markdown"],
    ["report", "league.sqlite", "--format", "csv"],
    ["replay", "1", "--league", "league.sqlite"],
    ["replay", "1", "--league", "league.sqlite", "--html", "--out", "OUT/replay.html"],
    ["export", "league.sqlite", "--out", "OUT/export"],
    ["ask", "1", "--turn", "1", "first.py", "--league", "league.sqlite", "--sandbox", "none"],
]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a finished league of two bots."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "first.py").write_text(FIRST)
    (folder / "last.py").write_text(LAST)
    done = referee(folder, "play", "first.py", "last.py", "-n", "2", "--keep", "league.sqlite", "--seed", "1")
    assert done.returncode == 0, done.stderr
    return folder


def sealed(folder: Path, command: list[str], out: Path) -> subprocess.CompletedProcess[str]:
    """A command in a folder on a read-only mount, in which only ``out`` can be written."""
    line = [*("bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--bind", str(out), str(out), "--proc", "/proc")]
    words = [word.replace("OUT", str(out)) for word in command]
    environment = os.environ | {"TMPDIR": str(out), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [*line, "--chdir", str(folder), *REFEREE, *words],
        capture_output=True,
        text=True,
        env=environment,
        timeout=PATIENCE,
        check=False,
    )


@pytest.mark.needs("bwrap")
@pytest.mark.parametrize("command", READS, ids=lambda words: " ".join(words[:1] + words[-1:]))
def test_every_command_that_looks_works_on_a_read_only_mount(
    command: list[str], finished: Path, tmp_path: Path
) -> None:
    assert not list(finished.glob("*-wal"))
    done = sealed(finished, command, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.needs("bwrap")
@pytest.mark.parametrize("command", [["resume", "league.sqlite"], ["run", "club.toml", "--store", "league.sqlite"]])
def test_what_writes_says_in_one_line_that_it_cannot(command: list[str], finished: Path, tmp_path: Path) -> None:
    seats = '[tournament]\nname = "x"\nvariant = "auction-pitch"\nseats = 2\n'
    (finished / "club.toml").write_text(seats + '[[bots]]\npath = "first.py"\ncopies = 2\n')
    done = sealed(finished, command, tmp_path)
    assert done.returncode in (0, 1), "a finished league may be told as it stands"
    assert "Traceback" not in done.stderr
    assert "Errno" not in done.stderr


@pytest.mark.needs("bwrap")
def test_a_league_that_is_begun_where_nothing_can_be_written_names_the_option(finished: Path, tmp_path: Path) -> None:
    done = sealed(finished, ["play", "first.py", "last.py", "-n", "1"], tmp_path)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith("name a file in a folder that you may write to (--store, or --keep)")
    kept = sealed(finished, ["play", "first.py", "last.py", "-n", "1", "--keep", "OUT/x.sqlite"], tmp_path)
    assert kept.returncode == 0, kept.stderr


@pytest.mark.needs("bwrap")
def test_games_in_the_wal_of_a_read_only_store_are_read_too(finished: Path, tmp_path: Path) -> None:
    """As after a power cut, moved to an archive."""
    folder, out = tmp_path / "archive", tmp_path / "out"
    out.mkdir()
    folder.mkdir()
    shutil.copy(finished / "league.sqlite", folder)
    with Store.write(folder / "league.sqlite") as store:
        store.put(name="In the WAL")
        shutil.copytree(folder, tmp_path / "copy")
    for file in (tmp_path / "copy").glob("*-shm"):
        file.unlink()
    program = "from referee.league.store import Store; from pathlib import Path; print(Store.read(Path('league.sqlite')).league()['name'])"
    line = ["bwrap", "--ro-bind", "/", "/", "--bind", str(out), str(out), "--chdir", str(tmp_path / "copy")]
    done = subprocess.run(
        [*line, sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env=os.environ | {"TMPDIR": str(out)},
        check=False,
    )
    assert done.stdout == "In the WAL\n", done.stderr


def test_a_copy_without_the_wal_of_its_original_says_so_and_can_go_on(finished: Path, tmp_path: Path) -> None:
    original, copy = tmp_path / "a.sqlite", tmp_path / "b.sqlite"
    shutil.copy(finished / "league.sqlite", original)
    with Store.write(original) as store:
        store.put(name="In the WAL")
        shutil.copy(original, copy)
        shutil.copy(f"{original}-wal", f"{tmp_path / 'whole'}.sqlite-wal")
        shutil.copy(original, tmp_path / "whole.sqlite")
        with Store.read(original) as reader:
            assert reader.league()["name"] == "In the WAL"
    with pytest.raises(StoreError, match=r"without b\.sqlite-wal, which holds its last games: copy both"):
        Store.read(copy)
    with Store.read(tmp_path / "whole.sqlite") as reader:
        assert reader.league()["name"] == "In the WAL"
    Store.write(copy).close()
    with Store.read(copy) as reader:
        assert reader.league()["name"] == "Quick games"
    # Closed, a store is whole in one file.
    shutil.copy(original, tmp_path / "c.sqlite")
    with Store.read(tmp_path / "c.sqlite") as reader:
        assert reader.league()["name"] == "In the WAL"


def test_a_damaged_store_is_not_called_unwritable(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE x (y)")
    db.close()
    with pytest.raises(StoreError) as caught:
        Store.read(path)
    assert "disk full" not in str(caught.value)
