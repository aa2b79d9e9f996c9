"""Unpacking in the sandbox: the same files and the same sentences as without, and nothing else comes out."""

import os
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.host import unpacking
from referee.host.archive import ArchiveError, unpack
from referee.host.unpacking import look_over, unpack_in_sandbox

MANIFEST = 'name = "mine"\nversion = "1"\nrun = ["python", "bot.py"]\n'


def archive_of(folder: Path, **more: bytes) -> Path:
    path = folder / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr("mine/bot.toml", MANIFEST)
        zipped.writestr("mine/bot.py", "#!/usr/bin/env python\n")
        for name, data in more.items():
            zipped.writestr(f"mine/{name}", data)
    return path


def files_in(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    found = {}
    for path in folder.rglob("*"):
        state = path.lstat()
        data = path.read_bytes() if path.is_file() else b""
        found[str(path.relative_to(folder))] = (state.st_mode, state.st_uid, data)
    return found


@pytest.mark.needs("bwrap")
def test_the_same_files_come_out_in_the_sandbox_and_without(tmp_path: Path) -> None:
    archive = archive_of(tmp_path, **{"lib/räder.py": b"x = 1\n", "data": os.urandom(100_000)})
    unpack(archive, tmp_path / "plain")
    unpack_in_sandbox(archive, tmp_path / "boxed", "bubblewrap")
    assert files_in(tmp_path / "boxed") == files_in(tmp_path / "plain")
    assert len(files_in(tmp_path / "plain")) == 5
    assert stat.S_IMODE((tmp_path / "boxed").stat().st_mode) == 0o755
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.zip", "boxed", "plain"]


@pytest.mark.needs("bwrap")
def test_a_refusal_is_the_same_sentence_and_leaves_nothing(tmp_path: Path) -> None:
    bomb = archive_of(tmp_path, zeros=bytes(20 << 20))
    sentences = []
    for name, way in (("plain", unpack), ("boxed", lambda a, f: unpack_in_sandbox(a, f, "bubblewrap"))):
        with pytest.raises(ArchiveError) as caught:
            way(bomb, tmp_path / name)
        sentences.append(str(caught.value))
    assert sentences[0] == sentences[1]
    assert "100 times the size of the zip file" in sentences[0]
    assert [path.name for path in tmp_path.iterdir()] == ["a.zip"]


@pytest.mark.needs("bwrap")
def test_whoever_takes_the_reader_over_sees_nothing_of_the_host_and_gets_nothing_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In place of the reader a program that does what it likes, in the same sandbox."""
    (tmp_path / "secret").write_text("the master")
    evil = (
        "import os, socket, sys\n"
        f"assert not os.path.exists({str(tmp_path / 'secret')!r})\n"
        "os.mkdir('bot'); open('bot/bot.toml', 'w').close()\n"
        "os.symlink('/etc/passwd', 'bot/link')\n"
        "try:\n    socket.create_connection(('127.0.0.1', 1), 1)\nexcept OSError as error:\n"
        "    assert error.errno in (101, 111), error\n"
    )
    known = unpacking.BuildStep

    def other(**more: object) -> object:
        folder = more["folder"]
        assert isinstance(folder, Path)
        return known(**{**more, "argv": (unpacking.sys.executable, "-c", evil)})  # type: ignore[arg-type]

    monkeypatch.setattr(unpacking, "BuildStep", other)
    with pytest.raises(ArchiveError, match="more than files and folders"):
        unpack_in_sandbox(archive_of(tmp_path), tmp_path / "boxed", "bubblewrap")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.zip", "secret"]


@pytest.mark.needs("bwrap")
def test_a_reader_that_dies_is_our_fault_and_says_nothing_of_the_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = unpacking.BuildStep

    def other(**more: object) -> object:
        argv = (unpacking.sys.executable, "-c", "import os; print('refused: ha'); os.abort()")
        return known(**{**more, "argv": argv})  # type: ignore[arg-type]

    monkeypatch.setattr(unpacking, "BuildStep", other)
    with pytest.raises(OSError, match="could not be unpacked"):
        unpack_in_sandbox(archive_of(tmp_path), tmp_path / "boxed", "bubblewrap")
    assert [path.name for path in tmp_path.iterdir()] == ["a.zip"]


def _hard_link(folder: Path) -> None:
    (folder / "again").hardlink_to(folder / "bot.py")


def _much(folder: Path) -> None:
    with (folder / "much").open("wb") as file:
        file.truncate((64 << 20) + 1)


@pytest.mark.parametrize(
    "make",
    [
        lambda folder: os.mkfifo(folder / "pipe"),
        lambda folder: (folder / "link").symlink_to("bot.py"),
        lambda folder: [(folder / str(number)).touch() for number in range(4001)],
        _hard_link,
        _much,
    ],
    ids=["pipe", "link", "many", "hard link", "much"],
)
def test_what_no_reader_makes_is_refused(tmp_path: Path, make: Callable[[Path], object]) -> None:
    folder = tmp_path / "bot"
    folder.mkdir()
    (folder / "bot.py").write_text("pass")
    look_over(folder)
    make(folder)
    with pytest.raises(ArchiveError):
        look_over(folder)


def test_special_modes_are_taken_away(tmp_path: Path) -> None:
    (tmp_path / "run").touch()
    (tmp_path / "run").chmod(0o4700)
    (tmp_path / "read").touch()
    (tmp_path / "read").chmod(0o600)
    look_over(tmp_path)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert modes == {"run": 0o755, "read": 0o644}
