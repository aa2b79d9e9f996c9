"""A straight scale from figures to percent of a drawing's width, with round ticks.

Drawings place everything in percent, so they stretch with the page while their letters stay readable.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark of a scale: where, in percent, and what is written there."""

    at: str
    text: str


@dataclass(frozen=True, slots=True)
class Axis:
    """``low`` lies at 0 percent, ``high`` at 100."""

    low: float
    high: float

    @classmethod
    def over(cls, figures: Iterable[float], room: float = 0.06) -> Self:
        """A scale that holds all the figures with some room on both sides."""
        known = list(figures) or [0.0, 1.0]
        low, high = min(known), max(known)
        margin = (high - low) * room or abs(high) * room or 0.5
        return cls(low - margin, high + margin)

    def share(self, figure: float) -> float:
        """Where a figure lies, 0..100; what lies outside is at the edge."""
        return min(max(100.0 * (figure - self.low) / (self.high - self.low), 0.0), 100.0)

    def at(self, figure: float) -> str:
        """Where a figure lies, as ``12.5%``."""
        return f"{self.share(figure):.2f}%"

    def width(self, low: float, high: float) -> str:
        """How wide the part between two figures is, as ``12.5%``."""
        return f"{self.share(high) - self.share(low):.2f}%"

    def ticks(self, about: int = 5) -> list[Tick]:
        """Round figures inside the scale, ascending; ``about`` so many."""
        rough = (self.high - self.low) / max(about, 1)
        first, last = 1, 0
        while first > last:  # a wide step may fall beside a narrow scale: then the next finer one
            step = _round_step(rough)
            first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
            rough = step / 2.5
        digits = max(0, -math.floor(math.log10(step) + 1e-9))
        return [Tick(self.at(i * step), f"{i * step + 0.0:.{digits}f}") for i in range(first, last + 1)]


def _round_step(rough: float) -> float:
    """The step of 1, 2 or 5 times a power of ten that is nearest above a rough one."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= rough * 0.999)
