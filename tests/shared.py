"""What one worker of a test run has made and all others of that run may use: a league that takes long, a bot that is built."""

import contextlib
import fcntl
import hashlib
import os
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeVar

FOLDER: Final = "REFEREE_TESTS_SHARED"
"""The environment variable that names the folder of a run. tests/conftest.py makes it, and removes it after the run."""

T = TypeVar("T")


def made_once(what: str, make: Callable[[], T]) -> T:
    """What ``make`` returns: called by whoever comes first, while others wait; they get a copy, for it is pickled."""
    with alone(what) as note:
        if not note.exists():
            value = make()
            note.write_bytes(pickle.dumps(value))
            return value
        return pickle.loads(note.read_bytes())  # noqa: S301  # our own


@contextlib.contextmanager
def alone(what: str) -> Iterator[Path]:
    """One worker of the run at a time, for this; the file in which one may leave word for those that come later."""
    note = Path(os.environ[FOLDER]) / hashlib.sha256(what.encode()).hexdigest()
    with note.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield note
