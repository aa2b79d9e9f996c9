"""Making a store in one step: it appears at its place complete, or not at all."""

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from referee.league.store.schema import StoreError

_ELSEWHERE = "name a file in a folder that you may write to (--store, or --keep)"


@contextlib.contextmanager
def draft_of(path: Path) -> Iterator[Path]:
    """A place to make the store of ``path`` at; it moves there when the body is done.

    So a referee that is killed while it begins a league leaves nothing that looks like one. Raises ``StoreError`` if
    there is something at ``path`` already, or nothing can be made there.
    """
    with _private_folder(path) as folder:
        yield folder / path.name
        try:
            os.link(folder / path.name, path)
        except FileExistsError:
            raise StoreError(f"{path} exists already; resume it, or start a new season") from None
        except OSError as error:
            raise StoreError(f"{path} cannot be made: {error.strerror}; {_ELSEWHERE}") from None


@contextlib.contextmanager
def _private_folder(path: Path) -> Iterator[Path]:
    """A folder beside ``path`` that exists while the body runs; those of referees that were killed are removed."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for left in path.parent.glob(f".{path.name}.*.draft"):
            with _held(left) as ours:
                if ours:
                    shutil.rmtree(left, ignore_errors=True)
        folder = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".draft", dir=path.parent))
    except OSError as error:
        raise StoreError(f"{path} cannot be made: {error.strerror}; {_ELSEWHERE}") from None
    try:
        with _held(folder):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _held(folder: Path) -> Iterator[bool]:
    """Holds a folder as ours while the body runs; whether nobody else does. The hold dies with the process."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield True
    except BlockingIOError:
        yield False
    finally:
        os.close(handle)
