"""What playing took: messages, turns, starts of bots, and processor time, here and in workers."""

import os
from dataclasses import asdict, dataclass, fields


@dataclass(frozen=True, slots=True)
class RunFigures:
    """What a run, or a part of it, took.

    ``games``: those that were stored, with their ``decisions``. ``messages``: those to bots, which held ``turns``; a turn that was
    sent again to another process counts twice. ``starts``: of local bots. ``seconds``: by the clock. ``referee_s`` and ``bots_s``:
    seconds of processor time of the referee with its workers, and of all bots that have ended; those of a cluster count too.
    """

    games: int = 0
    decisions: int = 0
    messages: int = 0
    turns: int = 0
    starts: int = 0
    seconds: float = 0.0
    referee_s: float = 0.0
    bots_s: float = 0.0

    def __add__(self, other: "RunFigures") -> "RunFigures":
        return RunFigures(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))

    def to_json(self) -> dict[str, int | float]:
        """As JSON, seconds to the millisecond."""
        return {name: round(value, 3) for name, value in asdict(self).items()}

    @property
    def sentence(self) -> str:
        """In a line for people."""
        a_message = f" ({self.turns / self.messages:.1f} a message)" if self.messages else ""
        return (
            f"Played {self.games:,} games of {self.decisions:,} decisions in {self.seconds:.1f} s: {self.turns:,} turns in {self.messages:,} messages"
            f"{a_message}, {self.starts:,} starts of bots; processor time {self.referee_s:.1f} s of the referee, "
            f"{self.bots_s:.1f} s of the bots."
        )


class ProcessorTime:
    """The processor time of this process, and of those of its children that have ended: what was used since it was last ``taken``."""

    def __init__(self, own_s: float = 0.0, children_s: float = 0.0) -> None:
        self._own, self._children = own_s, children_s

    @classmethod
    def from_now(cls) -> "ProcessorTime":
        """What was used before does not count."""
        return cls(*_used())

    def taken(self) -> RunFigures:
        """What was used since the last time; that of children is the bots'."""
        before_own, before_children = self._own, self._children
        self._own, self._children = _used()
        return RunFigures(referee_s=self._own - before_own, bots_s=self._children - before_children)


def _used() -> tuple[float, float]:
    times = os.times()
    return times.user + times.system, times.children_user + times.children_system
