"""An event loop whose time goes on only when nothing else is left to do, and then at once: an hour takes no time."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Selector(selectors.DefaultSelector):
    """Never waits: the time that it was to wait passes on the loop's clock."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> Any:
        found = super().select(0 if timeout is not None else None)
        if not found and timeout:
            self.now += timeout
        return found


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop on virtual time, which begins at 0."""

    def __init__(self) -> None:
        self._virtual = _Selector()
        super().__init__(self._virtual)

    def time(self) -> float:
        """Seconds of virtual time."""
        return self._virtual.now

    def stand_still(self, seconds: float) -> None:
        """Time passes while the loop does nothing at all, as when its process is stopped."""
        self._virtual.now += seconds


def run(story: Coroutine[Any, Any, T]) -> T:
    """As ``asyncio.run``, on virtual time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(story)
