"""Stands for the process of a job that is killed when it has just forked, and what it forked is no program of its own yet."""

import os
import signal
import sys
from pathlib import Path

if __name__ == "__main__":
    forked = os.fork()
    if not forked:
        os.setsid()
        folder = Path(sys.argv[2])
        (folder / "forked.part").write_text(str(os.getpid()))
        (folder / "forked.part").rename(folder / "forked")
    signal.pause()
