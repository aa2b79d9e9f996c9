"""The command line as a user types it: a real process in a folder."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

REFEREE: Final = (sys.executable, "-m", "referee")

PATIENCE: Final = 900.0
"""Seconds after which a test gives up what hangs, on a machine that is twenty times as busy as ours too. Nothing is measured by it."""

FIRST: Final = "from referee.bot import run\nrun(lambda turn: turn.legal[0])\n"
LAST: Final = "from referee.bot import run\nrun(lambda turn: turn.legal[-1])\n"
"""Two bots without chance."""


_DROP_FROM_BOUNDING_SET: Final = 24  # PR_CAPBSET_DROP
_MAY_READ_ALL: Final = (1, 2)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH


def without_roots_rights() -> None:
    """In a child, before its program: it may read and write what its user may, though that be root. For ``preexec_fn``."""
    if sys.platform == "linux" and os.geteuid() == 0:
        for right in _MAY_READ_ALL:
            if ctypes.CDLL(None, use_errno=True).prctl(_DROP_FROM_BOUNDING_SET, right, 0, 0, 0):
                raise OSError(ctypes.get_errno(), "root's right to read everything cannot be given up")


def referee(folder: Path, *arguments: str, text: str = "", ordinary: bool = False) -> subprocess.CompletedProcess[str]:
    """Runs ``referee ARGUMENTS`` there, with ``text`` on its standard input, on a screen wide enough to wrap little.

    ``ordinary``: what its user has no right to read, it cannot read, though that be root.
    """
    return subprocess.run(
        [*REFEREE, *arguments],
        cwd=folder,
        input=text,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        env={**os.environ, "COLUMNS": "300"},
        preexec_fn=without_roots_rights if ordinary else None,
    )
