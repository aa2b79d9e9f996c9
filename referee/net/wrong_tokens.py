"""Streams with a token that nobody has: they wait for their refusal, and are told of in one line a minute.

Nobody is locked out by them: who has a right token is let in at once, from whatever address.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Final
from urllib.parse import unquote

DELAY_SECONDS: Final = 1.0
"""How long such a stream waits for its refusal."""

PERIOD_US: Final = 60_000_000
"""Microseconds between two lines at least."""

WAITING: Final = 64
"""So many wait at a time at most; those beyond are refused at once, for a held stream costs memory."""

_PEERS: Final = 32
_NAMED: Final = 5


class WrongTokens:
    """Counts them by address. ``tell`` is given the lines: the first at once, then one a minute while more come."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self.total = 0
        self._untold: Counter[str] = Counter()
        self._told_us: int | None = None
        self._waiting = 0

    def came(self, peer: str, now_us: int) -> None:
        """One has come from this peer, as gRPC or a socket names it."""
        self.total += 1
        host = host_of(peer)
        known = host in self._untold or len(self._untold) < _PEERS
        self._untold[host if known else "elsewhere"] += 1
        self.look(now_us)

    async def slow(self) -> None:
        """Waits before a refusal, unless very many do."""
        if self._waiting < WAITING:
            self._waiting += 1
            try:
                await asyncio.sleep(DELAY_SECONDS)
            finally:
                self._waiting -= 1

    def look(self, now_us: int) -> None:
        """Tells what has come since the last line, if that is a minute ago."""
        if self._untold and (self._told_us is None or now_us - self._told_us >= PERIOD_US):
            self._told_us = now_us
            self.close()

    def close(self) -> None:
        """Tells what has come since the last line."""
        if self._untold:
            self._tell(self._line())
            self._untold.clear()

    def _line(self) -> str:
        count, first = self._untold.total(), self.total == self._untold.total()
        hosts = [
            f"{host} ({times})" if len(self._untold) > 1 else host for host, times in self._untold.most_common(_NAMED)
        ]
        more = len(self._untold) - _NAMED
        hosts += [f"{more} more"] if more > 0 else []
        what = "A stream" if count == 1 else f"{count} streams"
        line = f"{what} with a token that no bot of this league has, from {', '.join(hosts)}: refused."
        return f"{line} If it is one of yours, compare its REFEREE_TOKEN; more are counted." if first else line


def host_of(peer: str) -> str:
    """The host of ``ipv4:127.0.0.1:4711``, ``ipv6:%5B::1%5D:4711`` or ``127.0.0.1:4711``, harmless to print."""
    text = unquote(peer).removeprefix("ipv4:").removeprefix("ipv6:")
    if text.startswith("unix"):
        return "this machine"
    host = text.rpartition(":")[0] if text.count(":") == 1 or "]" in text else text
    clean = "".join(char for char in host.strip("[]")[:60] if char.isascii() and char.isprintable())
    return clean or "somewhere"
