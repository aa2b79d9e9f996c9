"""Private folders for temporary files: made, removed whatever a bot has put there, and swept up by a later run.

A bot without a sandbox may leave anything in its folder: a tree thousands of levels deep, a million files, folders
without rights, files that nobody may change, a mount of the whole system. So removal neither recurses nor follows
anything: each folder found is first moved up to the top, where it is one name deep, and only then entered. A move is
also what the kernel refuses for a mount point; what is mounted there is never touched.
"""

import contextlib
import errno
import logging
import os
import secrets
import stat
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path

from referee.sandbox.command import LaunchError, os_error_text
from referee.sandbox.process_tree import owner

if sys.platform == "linux":
    import fcntl

PREFIX = "bot-"
"""The folder's name is this and the bot's marker, so that a later run knows whose it was."""

REMOVAL_SECONDS = 20.0
"""How long one removal may take, in seconds. What is left then is left to the sweep of the next run."""

LONGEST = 36
"""Characters of a folder below which a socket can still be named: its path may have 100, our part of it has up to 60."""

_LOG = logging.getLogger(__name__)
_SHORT_PLACES = ("/tmp", "/var/tmp", "/dev/shm")
_MOST_STUCK = 100
_GET_FLAGS, _SET_FLAGS, _IMMUTABLE_OR_APPEND_ONLY = 0x80086601, 0x40086602, 0x30
_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


def temporary_places() -> list[Path]:
    """All places where a private folder may have been made, the one to be used first in front: that of `TMPDIR` or the
    system's own. One whose name leaves no room for the path of a socket is passed over.
    """
    names = [os.environ.get("XDG_RUNTIME_DIR", ""), *_SHORT_PLACES]
    with contextlib.suppress(OSError):
        names.insert(0, tempfile.gettempdir())
    places = dict.fromkeys(Path(name).absolute() for name in names if name)
    return [place for place in places if len(os.fsencode(place)) <= LONGEST and place.is_dir()]


def temporary_folder() -> Path:
    """The place where private folders are made. Raises LaunchError if none can be written."""
    for place in temporary_places():
        try:
            with tempfile.TemporaryFile(dir=place, buffering=0) as file:
                file.write(b"room")
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                raise LaunchError(os_error_text(error)) from None
            continue
        return place
    raise LaunchError(
        "no folder for temporary files can be written, is the disk full? "
        f"Make room, or set TMPDIR to a folder that can (a path of at most {LONGEST} characters)"
    )


def make_folder(work_dir: Path, marker: str) -> Path:
    """A new private folder in `work_dir`. Raises OSError if it cannot be made."""
    folder = work_dir.absolute() / f"{PREFIX}{marker}"
    folder.mkdir(mode=0o700, parents=True)
    return folder


def new_folder() -> Path:
    """A new private folder of the referee itself, for sockets and the like. Raises LaunchError if none can be made."""
    place = temporary_folder()
    try:
        return make_folder(place, f"{owner()}.{secrets.token_hex(8)}")
    except OSError as error:
        raise LaunchError(f"no folder can be made in {place}: {error.strerror}") from error


@contextlib.contextmanager
def private_folder() -> Iterator[Path]:
    """A new private folder for the body, removed at its end. Raises LaunchError if it cannot be made."""
    folder = new_folder()
    try:
        yield folder
    finally:
        discard_folder(folder)


def discard_folder(folder: Path) -> None:
    """Removes a folder; what cannot be removed is told in one line of the log, and is otherwise nobody's trouble."""
    left = remove_folder(folder)
    if left:
        _LOG.warning("%s", left)


def remove_folder(folder: Path, seconds: float = REMOVAL_SECONDS) -> str:
    """Removes a folder with all that is in it, in at most so many `seconds`. Never raises.

    Returns an empty text, or one line that says what is left, and why. It runs in any thread.
    """
    removal = _Removal(time.monotonic() + seconds)
    try:
        removal.remove(folder.absolute())
    except Exception as error:  # noqa: BLE001 - a bot must find nothing that ends more than its own removal
        removal.stuck.append(f"{type(error).__name__}: {error}")
    if not removal.stuck and not removal.late:
        return ""
    if removal.late:
        return f"folder {folder} is not removed yet: {seconds:g} s were not enough; the next run goes on with it"
    more = f" and {len(removal.stuck) - 1} more" if len(removal.stuck) > 1 else ""
    return f"folder {folder} cannot be removed ({removal.stuck[0]}{more}): remove it by hand"


class _RemovalTimeout(Exception):
    """The time is over."""


class _Removal:
    """One removal. `stuck` says what cannot be removed, with reasons; `late` whether the time was not enough."""

    def __init__(self, end: float) -> None:
        """`end` is on the monotonic clock."""
        self.stuck: list[str] = []
        self.late = False
        self._end = end
        self._names = count(1)
        self._removed = 0
        self._held: set[str] = set()

    def remove(self, folder: Path) -> None:
        """Removes `folder`, or notes why that cannot be."""
        try:
            parent = os.open(folder.parent, _OPEN & ~os.O_NOFOLLOW)
        except FileNotFoundError:
            return
        except OSError as error:
            self._note(folder.name, error)
            return
        try:
            self._remove_entry(parent, folder.name)
        finally:
            os.close(parent)

    def _remove_entry(self, parent: int, name: str) -> None:
        """Removes the folder `name` of the folder `parent`; a link or a file of that name as well."""
        # The name stays one that the sweep of a later run knows. A mount point would refuse to take another.
        moved = f"{name}x"
        top = None
        try:
            if not stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
                os.unlink(name, dir_fd=parent)
                return
            _set_free(parent, name)
            os.rename(name, moved, src_dir_fd=parent, dst_dir_fd=parent)
            top = os.open(moved, _OPEN, dir_fd=parent)
            self._empty(top)
            os.rmdir(moved, dir_fd=parent)
        except _RemovalTimeout:
            self.late = True
        except FileNotFoundError:
            return
        except OSError as error:
            if not self.stuck:
                self._note(name, error)
        finally:
            if top is not None:
                os.close(top)
            if self.late or self.stuck:
                with contextlib.suppress(OSError):
                    os.rename(moved, name, src_dir_fd=parent, dst_dir_fd=parent)

    def _empty(self, top: int) -> None:
        """Removes all that is in `top`, pass by pass, as long as a pass removes or moves anything."""
        while True:
            before, self.stuck = self._removed, []
            self._held.clear()
            anything = False
            with os.scandir(top) as entries:
                for entry in entries:
                    anything = True
                    self._take(top, top, entry)
                    if len(self.stuck) > _MOST_STUCK:
                        return
            if not anything or self._removed == before:
                return

    def _take(self, top: int, where: int, entry: "os.DirEntry[str]") -> None:
        """Removes an entry of the folder `where`. A folder that is not empty is moved up to `top`; there it is emptied."""
        if time.monotonic() > self._end:
            raise _RemovalTimeout
        if where == top and entry.name in self._held:
            return
        try:
            if not _is_folder(entry):
                _insist(partial(os.unlink, entry.name, dir_fd=where), where, entry.name)
                self._removed += 1
                return
            with contextlib.suppress(OSError):
                os.rmdir(entry.name, dir_fd=where)
                self._removed += 1
                return
            moved = self._move(entry.name, where, top)
            if where == top:
                self._empty_one(top, moved)
        except FileNotFoundError:
            return
        except OSError as error:
            self._note(entry.name, error)

    def _move(self, name: str, where: int, top: int) -> str:
        """Moves a folder to `top`, under a new name. Raises OSError, for a mount point too."""
        while True:
            moved = f"{next(self._names)}-{secrets.token_hex(4)}"
            try:
                _insist(partial(os.rename, name, moved, src_dir_fd=where, dst_dir_fd=top), where, name)
            except FileExistsError:
                continue
            if where != top:
                self._removed += 1  # it got shallower
            return moved

    def _empty_one(self, top: int, name: str) -> None:
        """Removes the folder `name` of `top`, one name deep, after its own folders were moved up."""
        self._held.add(name)
        try:
            handle = os.open(name, _OPEN, dir_fd=top)
        except PermissionError:
            _set_free(top, name)
            handle = os.open(name, _OPEN, dir_fd=top)
        try:
            with os.scandir(handle) as entries:
                for entry in entries:
                    self._take(top, handle, entry)
        finally:
            os.close(handle)
        os.rmdir(name, dir_fd=top)
        self._held.discard(name)
        self._removed += 1

    def _note(self, name: str, error: OSError) -> None:
        self.stuck.append(f"{name[:40]!a}: {error.strerror or error}")


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    """Whether an entry is a folder, not a link to one."""
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _insist(call: Callable[[], None], where: int, name: str) -> None:
    """Makes a call that needs the rights to `name` in the folder `where`; once more, when they have been taken back."""
    try:
        call()
    except PermissionError:
        _unlock(where)
        _set_free(where, name)
        call()


def _set_free(where: int, name: str) -> None:
    """Takes back the rights to what a bot made, and the marks that keep a file from any change. No link is followed."""
    if sys.platform != "linux":
        with contextlib.suppress(OSError, NotImplementedError):
            os.chmod(name, 0o700, dir_fd=where, follow_symlinks=False)
        return
    try:
        handle = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=where)
    except OSError:
        return
    try:
        mode = os.fstat(handle).st_mode
        if (stat.S_ISDIR(mode) or stat.S_ISREG(mode)) and _mount_of(handle) == _mount_of(where):
            link = f"/proc/self/fd/{handle}"
            with contextlib.suppress(OSError):
                if stat.S_IMODE(mode) & 0o700 != 0o700:
                    os.chmod(link, 0o700)
            with contextlib.suppress(OSError):
                opened = os.open(link, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
                try:
                    _unlock(opened)
                finally:
                    os.close(opened)
            with contextlib.suppress(OSError):
                os.chmod(link, 0o700)  # an immutable one refuses it before
    finally:
        os.close(handle)


def _unlock(handle: int) -> None:
    """Takes the marks `immutable` and `append only` from an open file or folder, where there are such and we may."""
    if sys.platform != "linux":
        return
    with contextlib.suppress(OSError):
        flags = struct.unpack("l", fcntl.ioctl(handle, _GET_FLAGS, struct.pack("l", 0)))[0]
        if flags & _IMMUTABLE_OR_APPEND_ONLY:
            fcntl.ioctl(handle, _SET_FLAGS, struct.pack("l", flags & ~_IMMUTABLE_OR_APPEND_ONLY))
        mode = os.fstat(handle).st_mode
        if stat.S_ISDIR(mode) and stat.S_IMODE(mode) & 0o700 != 0o700:
            os.fchmod(handle, 0o700)


def _mount_of(handle: int) -> bytes:
    """The mount that an open file is on: what a bot has mounted over its folder is not the bot's."""
    with open(f"/proc/self/fdinfo/{handle}", "rb") as file:
        return next((line for line in file if line.startswith(b"mnt_id:")), b"")
