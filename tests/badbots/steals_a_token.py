"""Looks for the token of another bot among the processes of the machine, and shows it.

Verdict: POLICY
Games: lost
Says: the token of another session
"""

import os
from pathlib import Path

import raw


def others():
    for file in Path("/proc").glob("[0-9]*/environ"):
        try:
            words = dict(word.partition(b"=")[::2] for word in file.read_bytes().split(b"\0"))
        except OSError:
            continue
        token = words.get(b"REFEREE_TOKEN", b"").decode()
        address = words.get(b"REFEREE_ADDRESS", b"").decode()
        if token and Path(address).parent == Path(os.environ["REFEREE_ADDRESS"]).parent:
            yield token


def answer(turn):
    stolen = next(token for token in others() if token != os.environ["REFEREE_TOKEN"])
    with raw.dial(token=stolen) as (stream, _out):
        for _ in stream:
            pass


raw.play(answer)
