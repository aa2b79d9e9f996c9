"""What commands write stands there whole, or what stood there before does; a full disk is told with the file that it had no room for."""

import errno
import os
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from referee import cli
from referee.league.definition.definition import DefinitionError
from referee.league.definition.shipped import copy_shipped, shipped_folder
from referee.league.definition.toml_file import write_text
from referee.league.entrants.bot_source import BotSourceError, find_bot
from referee.sandbox.command import os_error_text
from tests.report.made_leagues import chance, make_league, sound

ROOM = 40_000
"""Bytes that a file may have on the full disk: more than the files beside a store, less than a report."""


@contextmanager
def full_disk(room: int = ROOM) -> Iterator[None]:
    """No file may grow beyond so many bytes: writing ends in its middle, as it does where the disk is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_text_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "standings.md"
    for before in (None, "what stood there"):
        if before:
            path.write_text(before)
        with full_disk(1000), pytest.raises(OSError, match="large") as caught:
            write_text(path, "x" * 5000)
        assert caught.value.filename == str(path)
        assert [file.name for file in tmp_path.iterdir()] == ([path.name] if before else [])
    assert path.read_text() == "what stood there"
    path.chmod(0o640)
    write_text(path, "é")
    assert path.read_bytes() == "é".encode()
    assert path.stat().st_mode & 0o777 == 0o640
    with pytest.raises(UnicodeEncodeError):
        write_text(path, "\udcff")
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_a_link_stays_and_a_pipe_is_written_to(tmp_path: Path) -> None:
    link = tmp_path / "link.md"
    link.symlink_to("elsewhere.md")
    write_text(link, "through a link")
    assert link.is_symlink()
    assert (tmp_path / "elsewhere.md").read_text() == "through a link"
    os.mkfifo(tmp_path / "pipe")
    reading = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_text(tmp_path / "pipe", "into a pipe")
    assert os.read(reading, 100) == b"into a pipe"
    os.close(reading)
    write_text(Path("/dev/null"), "nowhere")
    assert not Path("/dev/null").is_file()


@pytest.mark.parametrize(
    ("words", "file"),
    [
        (["report", "made.sqlite"], "made.html"),
        (["report", "made.sqlite", "--out", "own.html"], "own.html"),
        (["replay", "1", "--league", "made.sqlite", "--html"], "made-game-1.html"),
    ],
)
def test_a_report_for_which_there_is_no_room_leaves_the_one_before(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    file: str,
) -> None:
    make_league(tmp_path / "made.sqlite", {"sound": sound, "chance": chance}, sets=2)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["referee", *words])
    for before in (None, "the report of yesterday"):
        if before:
            Path(file).write_text(before)
        with full_disk(), pytest.raises(SystemExit) as caught:
            cli.main()
        assert caught.value.code == 1
        assert f"{file}: " in capsys.readouterr().err
        assert Path(file).exists() == bool(before)
        assert not list(tmp_path.glob(".*.new"))
    assert Path(file).read_text() == "the report of yesterday"
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert not caught.value.code
    assert Path(file).stat().st_size > ROOM


def test_a_full_disk_is_told_with_the_file_that_had_no_room() -> None:
    full = OSError(errno.ENOSPC, "No space left on device", "shipped/cards.proto", None, "out/cards.proto")
    assert os_error_text(full) == "out/cards.proto: the disk is full: make room, then go on"
    other = OSError(errno.EXDEV, "Invalid cross-device link", "one", None, "two")
    assert os_error_text(other).startswith("one: two: ")


@pytest.mark.parametrize("command", ["protos", "vectors"])
def test_what_is_shipped_may_be_written_where_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    folder = shipped_folder({"protos": "protos", "vectors": "tests/vectors"}[command])
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.suffix in {".proto", ".json", ".md"}}
    monkeypatch.setattr(sys, "argv", ["referee", command, "--out", str(folder)])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert not caught.value.code
    assert before == {path: path.read_bytes() for path in before}
    source, target = next(iter(before)), tmp_path / "copy"
    copy_shipped(source, target)
    copy_shipped(source, target)
    assert target.read_bytes() == before[source]


def test_a_bot_that_is_not_there_was_looked_for_in_each_place_once() -> None:
    sample = shipped_folder("sample_bots") / "python"
    with pytest.raises((BotSourceError, DefinitionError)) as caught:
        find_bot("nobody.py", sample)
    assert str(caught.value).count(str(sample / "nobody.py")) == 1
