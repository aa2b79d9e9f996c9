"""Stepping through frames in a terminal, key by key."""

import sys
import termios
import tty
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from rich.console import Console
from rich.text import Text

from referee.report.terminal import Frame

KEYS: Final = {
    "\x1b[C": "on",
    "\x1b[D": "back",
    "\x1b[B": "next stop",
    "\x1b[A": "last stop",
    " ": "on",
    "\r": "on",
    "\n": "on",
    "n": "on",
    "b": "back",
    "t": "next stop",
    "T": "last stop",
    "r": "ruling",
    "g": "start",
    "G": "end",
    "q": "quit",
    "\x04": "quit",
    "\x1b": "quit",
    "": "quit",
}
"""What a key does; the empty key is the end of the input."""

HELP: Final = "right/space on, left/b back, down/t next trick, up/T last trick, r next ruling, g start, G end, q quit"


def step_through(frames: Sequence[Frame]) -> None:
    """Shows one frame at a time until the user quits; the terminal is as it was afterwards."""
    console = Console(highlight=False, emoji=False, markup=False)
    with console.screen(hide_cursor=True) as screen, _keys() as read_key:
        at = 0
        while True:
            lines = [*frames[at].lines, "", f"{at + 1} / {len(frames)}   {HELP}"]
            screen.update(Text("\n".join(lines), style="yellow" if frames[at].ruling else ""))
            try:
                command = KEYS.get(read_key())
            except KeyboardInterrupt:
                return
            if command == "quit":
                return
            at = move(frames, at, command)


def move(frames: Sequence[Frame], at: int, command: str | None) -> int:
    """Where a command leads from frame ``at``; an unknown one leads nowhere."""
    last = len(frames) - 1
    match command:
        case "on":
            return min(at + 1, last)
        case "back":
            return max(at - 1, 0)
        case "next stop":
            return next((i for i in range(at + 1, last) if frames[i].stop), last)
        case "last stop":
            return next((i for i in range(at - 1, 0, -1) if frames[i].stop), 0)
        case "ruling":
            rulings = [i for i, frame in enumerate(frames) if frame.ruling]
            return next((i for i in rulings if i > at), rulings[0] if rulings else at)
        case "start":
            return 0
        case "end":
            return last
    return at


@contextmanager
def _keys() -> Iterator[Callable[[], str]]:
    """A function that waits for a key; arrows come as one."""
    import os
    import select

    number = sys.stdin.fileno()
    before = termios.tcgetattr(number)

    def read_key() -> str:
        key = os.read(number, 1)
        if key == b"\x1b" and select.select([number], [], [], 0.05)[0]:
            key += os.read(number, 2)
        return key.decode("utf-8", "replace")

    tty.setcbreak(number)
    try:
        yield read_key
    finally:
        termios.tcsetattr(number, termios.TCSADRAIN, before)
