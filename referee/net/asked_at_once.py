"""How many local bots that think hold turns at once: as many as keep the processors busy, and no more.

Forty bots that think on two processors would each have a twentieth of one, and be late by no fault of theirs. So a bot that
takes long over a decision waits its turn before it is asked, when its clock does not run yet. Bots that answer at once
neither wait nor count; nor do those on other machines.
"""

import os
from collections.abc import Iterable
from typing import Final

from referee.net.connection import BotConnection
from referee.sandbox.processor_time import Usage, UsageMeter

A_PROCESSOR: Final = 2
"""Bots that are asked at once for each processor at the least: while one thinks, the next has its message already."""

THINKS_US: Final = 5_000
"""A bot thinks if a decision takes it so many microseconds or more. A new one is taken for a bot that thinks until it answers."""

_IDLE, _CROWDED = 0.75, 1.5


class ProcessorDemand:
    """How many processors a set of measured processes could have used lately: what they ran, and what they waited for one."""

    def __init__(self) -> None:
        self._before: dict[UsageMeter, Usage] = {}
        self.processors: float | None = None

    def look(self, meters: Iterable[UsageMeter]) -> None:
        """Takes the newest figures; ``processors`` is ``None`` where none are known."""
        newest = {meter: meter.recent[-1] for meter in meters if meter.recent}
        spans = [(self._before[meter], now) for meter, now in newest.items() if meter in self._before]
        self._before = newest
        shares = [
            (now.cpu_us - then.cpu_us + now.waited_us - then.waited_us) / (now.at_us - then.at_us)
            for then, now in spans
            if now.at_us > then.at_us
        ]
        self.processors = sum(shares) if shares else None


class AskingLimit:
    """The limit of one server: ``most`` bots that think may hold turns.

    It grows while bots wait their turn and processors are idle all the same (they sleep, or wait for somebody else), and
    shrinks to ``A_PROCESSOR`` a processor when more of them could run than there are. A ``fixed`` limit does
    neither, and every bot counts.
    """

    def __init__(self, processors: int | None = None, *, sharers: int = 1, fixed: int = 0) -> None:
        """Of ``processors`` (``None``: those of this machine) so many ``sharers`` have an equal part each; 0: not ``fixed``."""
        self._processors = max(1, (processors or os.cpu_count() or 1) // sharers)
        self.fixed = fixed
        self.least = fixed or A_PROCESSOR * self._processors
        self.most = self.least

    def look(self, demand: float | None, *, waiting: bool) -> None:
        """Fits the limit to what the bots demand of the processors; ``waiting``: some wait to be asked."""
        if self.fixed or demand is None:
            return
        if demand > _CROWDED * self._processors:
            self.most = max(self.least, self.most // 2)
        elif waiting and demand < _IDLE * self._processors:
            self.most += max(1, self.most // 2)

    def must_wait(self, connection: BotConnection, others: Iterable[BotConnection]) -> bool:
        """Whether this bot, which is to be asked, has to wait for one of the others to answer."""
        if not self._counts(connection):
            return False
        asked = sum(1 for other in others if other is not connection and other.session.open and self._counts(other))
        return asked >= self.most

    def _counts(self, connection: BotConnection) -> bool:
        return self.fixed > 0 or thinks(connection)


def thinks(connection: BotConnection) -> bool:
    """Whether a bot takes the processors of this machine for its decisions, as far as is known."""
    pace = connection.session.pace_us
    return connection.meter is not None and (pace is None or pace >= THINKS_US)
