"""The command line as a user types it: a real process in a folder."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

REFEREE: Final = (sys.executable, "-m", "referee")

FIRST: Final = "from referee.bot import run\nrun(lambda turn: turn.legal[0])\n"
LAST: Final = "from referee.bot import run\nrun(lambda turn: turn.legal[-1])\n"
"""Two bots without chance."""


def referee(folder: Path, *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    """Runs ``referee ARGUMENTS`` there, with ``text`` on its standard input, on a screen wide enough to wrap little."""
    return subprocess.run(
        [*REFEREE, *arguments],
        cwd=folder,
        input=text,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        env={**os.environ, "COLUMNS": "300"},
    )
