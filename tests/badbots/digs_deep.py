"""Leaves a tree in its folder that is deeper than any path, with odd names, no rights, a pipe and a loop of links.

Verdict: none
Games: played
"""

import os
from pathlib import Path

from referee.bot import run


def dig():
    """Too deep for any path. Each level takes milliseconds on some disks: a thousand of them are for other tests."""
    for _ in range(250):
        Path("a-level-of-the-tree-").mkdir()
        os.chdir("a-level-of-the-tree-")
    Path(os.fsdecode(b"\xff\n\x1b[31m")).mkdir()
    os.mkfifo("pipe")
    Path("loop").symlink_to("loop")
    Path("shut").mkdir()
    Path("shut/in").mkdir()
    Path("shut").chmod(0)


home = Path.cwd()
os.chdir(os.environ["HOME"])
try:
    dig()
except OSError as error:  # it was here before, or the folder is full
    print(error)
os.chdir(home)
run(lambda turn: turn.rng.choice(turn.legal))
