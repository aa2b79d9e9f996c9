"""How often somebody may ask for something, and how many may have something at once. In memory, in tables that are bounded."""

import math
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from referee.host.store import NotAllowedError

_MOST_KEYS: Final = 10_000


class WaitError(NotAllowedError):
    """What will go later. ``wait_s``: after so many seconds it may be tried again."""

    def __init__(self, status: int, sentence: str, wait_s: float) -> None:
        super().__init__(status, sentence)
        self.wait_s = max(1, math.ceil(wait_s))


class TooOftenError(WaitError):
    """Somebody asked too often."""

    def __init__(self, sentence: str, wait_s: float) -> None:
        super().__init__(429, sentence, wait_s)


class NotYetError(WaitError):
    """What was asked for is not there yet."""

    def __init__(self, sentence: str, wait_s: float) -> None:
        super().__init__(503, sentence, wait_s)


class RateLimit:
    """So many times in so many seconds for each key, such as an address; whoever rests may do so much at once again.

    The table holds 10,000 keys; whoever has asked for nothing for longest is forgotten first. May be used by several threads.
    """

    def __init__(self, times: float, seconds: float, clock: Callable[[], float], what: str) -> None:
        """``what``: the sentence that tells of it; ``clock``: in seconds."""
        self._most, self._rate, self._clock, self._what = times, times / seconds, clock, what
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, key: str) -> None:
        """Counts one; raises ``TooOftenError`` where there was one too many."""
        now = self._clock()
        with self._lock:
            left, since = self._left.pop(key, (self._most, now))
            left = min(self._most, left + max(now - since, 0.0) * self._rate)
            self._left[key] = (left - 1 if left >= 1 else left, now)
            if len(self._left) > _MOST_KEYS:
                self._left.popitem(last=False)
        if left < 1:
            raise TooOftenError(self._what, (1 - left) / self._rate)


class RecentPages:
    """Pages that take long to make, and never change: the last ones that were asked for. May be used by several threads."""

    def __init__(self, most: int = 64) -> None:
        self._most, self._pages = most, OrderedDict[int, str]()
        self._lock = threading.Lock()
        self._making = threading.Lock()

    def page(self, number: int, make: Callable[[], str]) -> str:
        """The page with that number; made if it is not there, one at a time. Raises what ``make`` does."""
        if (found := self._found(number)) is not None:
            return found
        with self._making:
            if (found := self._found(number)) is not None:
                return found
            made = make()
            with self._lock:
                self._pages[number] = made
                if len(self._pages) > self._most:
                    self._pages.popitem(last=False)
            return made

    def _found(self, number: int) -> str | None:
        with self._lock:
            if number in self._pages:
                self._pages.move_to_end(number)
            return self._pages.get(number)


class Places:
    """So many at once in all, and so many of each key. May be used by several threads."""

    def __init__(self, most: int, most_of_one: int, what: str, wait_s: float = 5) -> None:
        """``what``: the sentence for whom there is no place; ``wait_s``: when there may be one."""
        self._most, self._most_of_one, self._what, self._wait_s = most, most_of_one, what, wait_s
        self._taken: Counter[str] = Counter()
        self._lock = threading.Lock()

    @property
    def taken(self) -> int:
        """How many places are taken."""
        with self._lock:
            return self._taken.total()

    def take(self, key: str) -> None:
        """Takes a place; raises ``TooOftenError`` if there is none."""
        with self._lock:
            if self._taken.total() >= self._most or self._taken[key] >= self._most_of_one:
                raise TooOftenError(self._what, self._wait_s)
            self._taken[key] += 1

    def leave(self, key: str) -> None:
        """Gives a place back."""
        with self._lock:
            self._taken[key] -= 1
            if not self._taken[key]:
                del self._taken[key]

    @contextmanager
    def place(self, key: str) -> Iterator[None]:
        """A place while the body runs; raises ``TooOftenError`` if there is none."""
        self.take(key)
        try:
            yield
        finally:
            self.leave(key)


class SiteLimits:
    """What a site allows: rates, by address or owner, and places, of which so many are taken at once."""

    def __init__(self, ticks: Callable[[], float], uploads_an_hour: int) -> None:
        """``ticks``: seconds since whenever; ``uploads_an_hour``: versions that an owner may hand in."""

        def rate(times: float, seconds: float, what: str) -> RateLimit:
            return RateLimit(times, seconds, ticks, what)

        minute, hour = 60.0, 3600.0
        self.requests = rate(6000, minute, "Too many requests from your address; wait a moment, and try again.")
        self.logins = rate(20, minute, "Too many tries from your address; wait a minute, and try again.")
        self.newcomers = rate(60, hour, "Too many have come from your address this hour; try again later.")
        self.exports = rate(60, hour, "The closed rounds were fetched often from your address; try again later.")
        self.archives = rate(3000, hour, "Records of old rounds were fetched often from your address; try again later.")
        self.replays = rate(60, minute, "Many games were looked at from your address; wait a moment, and try again.")
        self.games = rate(60, minute, "Games were fetched often from your address; wait a moment, and try again.")
        self.uploads = rate(
            uploads_an_hour,
            hour,
            f"An owner may hand in {uploads_an_hour} versions an hour, and you have; try again later.",
        )
        self.upload_places = Places(8, 2, "Too many are handing in at this moment; try again in a few seconds.")
        self.remote_places = Places(500, 40, "Too many remote bots are connected; try again later.", 30)
        # A class sits behind one address.
        self.watcher_places = Places(1000, 60, "Too many watch at the moment; load the page again later.", 30)
        # Whoever waits for these holds a thread that all share.
        self.export_places = Places(4, 2, "Many fetch the closed rounds at the moment; try again in a few seconds.")
        self.replay_places = Places(8, 4, "Many games are being looked at; try again in a moment.")
