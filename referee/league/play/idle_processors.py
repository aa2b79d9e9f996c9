"""Whether processors are idle while legs are played here: where bots think, one leg more beside them uses those."""

import os
import threading
import time
from collections.abc import Iterable
from typing import Final, NamedTuple

from referee.net.asked_at_once import ProcessorDemand
from referee.sandbox.processor_time import UsageMeter, scheduled

_OWN_MOST: Final = 0.5
"""Beyond this share of a processor the referee itself is what the bots wait for."""

_IDLE_LEAST: Final = 0.5
_A_LANE_LEAST: Final = 0.25
_LOOKS: Final = 2


class Demand(NamedTuple):
    """Processors that the referee and its bots could have used since the look before."""

    referee: float
    bots: float


class IdleProcessors:
    """``look`` about twice a second; ``more_lanes`` then says how many lanes more to open."""

    def __init__(self, processors: int | None = None) -> None:
        self.processors = processors or os.cpu_count() or 1
        self._bots = ProcessorDemand()
        self._own: tuple[float, float] | None = None
        self._idle_looks = 0

    @property
    def may_help(self) -> bool:
        """Whether this machine could ever use another lane, and tells us so."""
        return self.processors > 1 and scheduled(os.getpid(), str(threading.get_native_id())) != (0, 0)

    def begin_again(self) -> None:
        """What was seen so far does not count: something has changed."""
        self._bots, self._own, self._idle_looks = ProcessorDemand(), None, 0

    def look(self, meters: Iterable[UsageMeter]) -> Demand | None:
        """What was demanded since the look before; ``None`` at the first, and where it is not known."""
        self._bots.look(meters)
        ran_ns, waited_ns = scheduled(os.getpid(), str(threading.get_native_id()))
        before, self._own = self._own, (time.monotonic(), (ran_ns + waited_ns) / 1e9)
        if before is None or self._bots.processors is None or self._own[0] <= before[0]:
            return None
        return Demand((self._own[1] - before[1]) / (self._own[0] - before[0]), self._bots.processors)

    def more_lanes(self, demand: Demand, lanes: int, *, narrow: bool) -> int:
        """How many lanes to open beside these. A ``narrow`` leg waits for the answer, else two looks have to agree."""
        idle = self.processors - demand.referee - demand.bots
        if demand.referee > _OWN_MOST or idle < _IDLE_LEAST or lanes >= self.processors:
            self._idle_looks = 0
            return 0
        self._idle_looks += 1
        if not narrow and self._idle_looks < _LOOKS:
            return 0
        a_lane = max((demand.referee + demand.bots) / lanes, _A_LANE_LEAST)
        return min(self.processors - lanes, max(1, round(idle / a_lane)))
