"""Looks for what is not its own: tokens, sockets, stores and folders of others. In a sandbox it finds nothing.

Verdict: none
Games: played
"""

import os
from pathlib import Path

from referee.bot import run


def found():
    """What a bot that is shut in must not see."""
    own = os.environ["REFEREE_TOKEN"].encode()
    for file in Path("/proc").glob("[0-9]*/environ"):
        try:
            text = file.read_bytes()
        except OSError:
            continue
        if b"REFEREE_TOKEN=" in text and own not in text:
            yield file
    folder = Path(os.environ["REFEREE_ADDRESS"].removeprefix("unix:")).parent
    yield from (file for file in folder.glob("*.sock") if str(file) not in os.environ["REFEREE_ADDRESS"])
    yield from Path("/tmp").glob("badbots-*/*")


for thing in found():
    print("FOUND", thing)
run(lambda turn: turn.rng.choice(turn.legal))
