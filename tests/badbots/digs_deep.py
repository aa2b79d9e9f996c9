"""Leaves a tree in its folder that is deeper than any path, with odd names, no rights, a pipe and a loop of links.

Verdict: none
Games: played
"""

import os
from pathlib import Path

from referee.bot import run


def dig():
    """As deep as a program that calls itself for each level cannot go."""
    for _ in range(1100):
        Path("level-of-it").mkdir()
        os.chdir("level-of-it")
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
