"""A private folder is removed whatever is in it; what cannot be removed is named in one line and stops nobody."""

import asyncio
import errno
import fcntl
import logging
import os
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from referee.sandbox import temporary_folder as scratch
from referee.sandbox.command import LaunchError
from referee.sandbox.orphans import end_orphans
from referee.sandbox.process_tree import owner
from referee.sandbox.temporary_folder import (
    LONGEST,
    PREFIX,
    discard_folder,
    make_folder,
    new_folder,
    private_folder,
    remove_folder,
    temporary_folder,
)
from tests.net.bot_processes import HOLD, BotProcesses, until
from tests.program import PATIENCE

NOBODY = 65534

TREES = {
    "deep": "dig(1200, 'level-of-it')",
    "deep and wide": "[(dig(40, str(n)), os.chdir(home)) for n in range(40)]",
    "many": "[os.close(os.open(str(n), os.O_CREAT)) for n in range(20000)]",
    "without rights": "dig(5, 'a'); open('b', 'w'); os.chdir(home); [os.chmod('a/' * n, 0) for n in (4, 3, 2, 1)]",
    "read-only": "dig(5, 'a'); open('b', 'w'); os.chdir(home); [os.chmod('a/' * n, 0o500) for n in (5, 3, 2)]",
    "itself without rights": "dig(3, 'a'); os.chmod(home, 0)",
    "odd names": "[os.mkdir(bytes([n]) * 9) for n in range(1, 256) if n not in b'./']; os.mkdir(b' '); os.mkdir(b'-rf')",
    "long names": "dig(20, 'n' * 255)",
    "loops": "os.symlink('.', 'here'); os.symlink('loop', 'loop'); os.symlink(home, 'top'); os.symlink('..', 'up')",
    "pipes and sockets": "os.mkfifo('pipe'); socket.socket(socket.AF_UNIX).bind('socket')",
    "hard links": "open('a', 'w'); [os.link('a', f'b{n}') for n in range(50)]",
    "our own names": "dig(3, '1-00000000'); os.chdir(home); os.mkdir('2-00000000')",
}

MAKE = """
import os, socket, sys
home = sys.argv[1]
os.chdir(home)
def dig(levels, name):
    for _ in range(levels):
        os.mkdir(name)
        os.chdir(name)
"""


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder of a file system in memory, where there is one: thousands of folders take long on some disks."""
    fast = Path("/dev/shm")  # noqa: S108 - a folder of a name of its own is made there
    with tempfile.TemporaryDirectory(dir=fast if os.access(fast, os.W_OK) else None) as folder:
        Path(folder).chmod(0o777)
        yield Path(folder)


def run_as_user(program: str, *argv: str) -> str:
    """Runs a program as somebody without any rights, where we are root; what it printed.

    It gives up its rights when it has loaded everything: the interpreter may lie where only root may read.
    """
    loads = f"import os, sys\nsys.path[:0] = {sys.path!r}\nfrom pathlib import Path\n"
    loads += "from referee.sandbox.temporary_folder import make_folder, remove_folder\nimport socket\n"
    if os.geteuid() == 0:
        loads += f"os.setgroups([]), os.setresgid(*[{NOBODY}] * 3), os.setresuid(*[{NOBODY}] * 3)\n"
    command = [sys.executable, "-c", loads + program, *argv]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("tree", TREES)
def test_it_is_removed_whatever_a_bot_has_left_in_it(place: Path, tree: str) -> None:
    folder = make_folder(place, "marker")
    subprocess.run([sys.executable, "-c", MAKE + TREES[tree], str(folder)], timeout=PATIENCE, check=True)
    assert remove_folder(folder, PATIENCE) == ""
    assert list(place.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="the rights are taken back by way of /proc: Linux only")
@pytest.mark.parametrize("tree", TREES)
def test_a_user_without_rights_removes_it_as_well(place: Path, tree: str) -> None:
    program = f"""
folder = make_folder(Path(sys.argv[1]), "marker")
sys.argv[1] = str(folder)
if os.fork() == 0:
    exec({MAKE + TREES[tree]!r})
    os._exit(0)
assert os.wait()[1] == 0
print(repr(remove_folder(folder, {PATIENCE})), folder.exists())
"""
    assert run_as_user(program, str(place)) == "'' False\n"


def test_links_are_removed_and_what_they_point_to_stays(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    (precious / "more").mkdir(parents=True)
    (precious / "file").write_text("x")
    precious.chmod(0o750)
    folder = make_folder(tmp_path, "marker")
    (folder / "link").symlink_to(precious)
    (folder / "deep").mkdir()
    (folder / "deep" / "link").symlink_to("../../precious")
    (folder / "file").hardlink_to(precious / "file")
    assert remove_folder(folder) == ""
    assert sorted(path.name for path in precious.iterdir()) == ["file", "more"]
    assert precious.stat().st_mode & 0o777 == 0o750
    (tmp_path / f"{PREFIX}link").symlink_to(precious)
    assert remove_folder(tmp_path / f"{PREFIX}link") == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["precious"]
    assert (precious / "more").is_dir()


def test_what_is_not_there_is_removed(tmp_path: Path) -> None:
    assert remove_folder(tmp_path / "nowhere") == ""
    assert remove_folder(tmp_path / "no" / "where") == ""


def test_the_time_is_bounded_and_the_next_run_goes_on(tmp_path: Path) -> None:
    folder = make_folder(tmp_path, "marker")
    (folder / "a" / "b").mkdir(parents=True)
    left = remove_folder(folder, 0.0)
    assert left == f"folder {folder} is not removed yet: 0 s were not enough; the next run goes on with it"
    assert folder.exists()
    assert remove_folder(folder) == ""
    assert not folder.exists()


def test_a_bot_that_still_writes_does_not_keep_us(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_folder(tmp_path, "marker")
    (folder / "a").mkdir()
    real, clock = os.unlink, [0.0]

    def unlink(name: str, *, dir_fd: int) -> None:
        real(name, dir_fd=dir_fd)
        clock[0] += 1.0
        os.close(os.open(f"more{clock[0]}", os.O_CREAT, dir_fd=dir_fd))

    (folder / "a" / "file").touch()
    monkeypatch.setattr(scratch.os, "unlink", unlink)
    monkeypatch.setattr(scratch.time, "monotonic", lambda: clock[0])
    assert "30 s were not enough" in remove_folder(folder, 30.0)
    monkeypatch.undo()
    assert remove_folder(folder) == ""


@pytest.mark.parametrize("name", ["unlink", "rmdir", "rename", "scandir", "open"])
@pytest.mark.parametrize(
    "error", [PermissionError(1, "Operation not permitted"), OSError(5, "Input/output error"), ValueError("odd")]
)
def test_what_cannot_be_removed_is_named_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, name: str, error: Exception
) -> None:
    folder = make_folder(tmp_path, "marker")
    (folder / "a\nb" / "c").mkdir(parents=True)
    (folder / "a\nb" / "d").touch()

    def fails(*_: object, **__: object) -> None:
        raise error

    with monkeypatch.context() as patch, caplog.at_level(logging.WARNING):
        patch.setattr(scratch.os, name, fails)
        discard_folder(folder)
    (line,) = [record.getMessage() for record in caplog.records]
    assert line.startswith(f"folder {folder} cannot be removed (")
    assert line.endswith("): remove it by hand")
    assert "\n" not in line
    assert remove_folder(folder) == ""


needs_root = pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root can do it")


@needs_root
def test_files_of_other_users_are_left_by_a_user_and_named(place: Path) -> None:
    (place / f"{PREFIX}marker" / "mine").mkdir(parents=True)
    (place / f"{PREFIX}marker" / "theirs").mkdir()
    (place / f"{PREFIX}marker" / "theirs" / "file").touch()
    for path in (place / f"{PREFIX}marker", place / f"{PREFIX}marker" / "mine"):
        os.chown(path, NOBODY, NOBODY)
    program = "print(remove_folder(Path(sys.argv[1])))"
    said = run_as_user(program, str(place / f"{PREFIX}marker"))
    assert "cannot be removed ('file': Permission denied" in said
    assert said.count("\n") == 1
    assert (place / f"{PREFIX}marker").is_dir()
    assert remove_folder(place / f"{PREFIX}marker") == ""


@needs_root
@pytest.mark.needs("unshare")
@pytest.mark.parametrize("deep", [True, False])
def test_what_is_mounted_there_is_not_touched(tmp_path: Path, deep: bool) -> None:
    """A bot that runs as root could show us the whole system in its folder."""
    precious = tmp_path / "precious"
    (precious / "more").mkdir(parents=True)
    (precious / "file").write_text("x")
    precious.chmod(0o750)
    folder = make_folder(tmp_path, "marker")
    point = folder / "a" / "b" if deep else folder
    point.mkdir(parents=True, exist_ok=True)
    program = f"""
import sys
sys.path[:0] = {sys.path!r}
from pathlib import Path
from referee.sandbox.temporary_folder import remove_folder
print(remove_folder(Path(sys.argv[1])))
"""
    script = 'mount --bind "$1" "$2" && shift 2 && exec "$@"'
    argv = ["unshare", "--mount", "sh", "-c", script, "sh", str(precious), str(point)]
    done = subprocess.run(
        [*argv, sys.executable, "-c", program, str(folder)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert "Device or resource busy" in done.stdout, done.stderr
    assert sorted(path.name for path in precious.iterdir()) == ["file", "more"]
    assert precious.stat().st_mode & 0o777 == 0o750
    assert remove_folder(folder) == ""


_GET_FLAGS, _SET_FLAGS, _IMMUTABLE = 0x80086601, 0x40086602, 0x10  # FS_IOC_GETFLAGS and so on, of linux/fs.h


def shut_for_all(path: Path) -> bool:
    """Makes a file one that nobody may change, as chattr +i does; whether this file system and this user can."""
    handle = os.open(path, os.O_RDONLY)
    try:
        flags = bytearray(8)
        fcntl.ioctl(handle, _GET_FLAGS, flags)
        fcntl.ioctl(handle, _SET_FLAGS, struct.pack("l", int.from_bytes(flags[:4], sys.byteorder) | _IMMUTABLE))
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTTY, errno.EOPNOTSUPP, errno.EINVAL):
            raise
        return False
    finally:
        os.close(handle)
    return True


@needs_root
def test_files_that_nobody_may_change_are_removed(tmp_path: Path) -> None:
    """Where we cannot make such files no bot can either, and there are none to remove."""
    folder = make_folder(tmp_path, "marker")
    (folder / "shut").mkdir()
    for name in ("a", "shut/b"):
        (folder / name).write_text("x")
    for name in ("a", "shut/b", "shut", "."):
        if shut_for_all(folder / name):
            with pytest.raises(PermissionError):
                (folder / name).chmod(0o700)
    assert remove_folder(folder) == ""
    assert not folder.exists()


def test_the_sweep_at_the_start_outlives_what_it_cannot_remove(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    namespace = owner().split(".")[0]
    stale = [make_folder(tmp_path, f"{namespace}.{2**22 + number}.1.abc") for number in (1, 2)]
    ours = make_folder(tmp_path, f"{owner()}.abc")
    real = scratch._Removal.remove

    def remove(removal: scratch._Removal, folder: Path) -> None:
        if folder == stale[0]:
            raise RecursionError("maximum recursion depth exceeded")
        real(removal, folder)

    monkeypatch.setattr(scratch._Removal, "remove", remove)
    with caplog.at_level(logging.WARNING):
        end_orphans(tmp_path)
    assert [folder.exists() for folder in (*stale, ours)] == [True, False, True]
    assert len(caplog.records) == 1
    assert "RecursionError" in caplog.text


def test_a_bots_folder_is_removed_beside_the_event_loop(
    bots_here: BotProcesses, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A million files take minutes: until then everybody else plays on."""
    removed: list[threading.Thread] = []
    let_go = threading.Event()

    def remove(folder: Path, seconds: float) -> str:
        removed.append(threading.current_thread())
        assert let_go.wait(PATIENCE)
        return remove_folder(folder, seconds)

    monkeypatch.setattr("referee.sandbox.process.remove_folder", remove)

    async def story() -> None:
        bot = await bots_here.ready(HOLD, "none")
        ending = asyncio.ensure_future(bot.kill())
        await until(lambda: bool(removed))
        assert not ending.done()
        let_go.set()
        await ending

    bots_here.run(story)
    assert removed[0] is not threading.main_thread()


def test_a_long_name_of_the_place_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = tmp_path / ("long" * 20)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    assert len(str(temporary_folder())) <= LONGEST
    with private_folder() as folder:
        assert len(str(folder / "9999.sock")) < 100
        assert folder.stat().st_mode & 0o777 == 0o700
    assert not folder.exists()


def test_where_nothing_can_be_written_one_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(LaunchError, match="no folder for temporary files can be written, is the disk full"):
        new_folder()


def test_a_place_that_is_gone_or_full_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    assert temporary_folder().is_dir()
    real = tempfile.TemporaryFile
    first = temporary_folder()

    def full(**where: Any) -> object:
        if where["dir"] == first:
            raise OSError(28, "No space left on device")
        return real(**where)

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    assert temporary_folder() != first


def test_too_few_open_files_are_not_called_a_full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: object) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    with pytest.raises(LaunchError, match=r"too many files are open.*ulimit -n"):
        temporary_folder()
