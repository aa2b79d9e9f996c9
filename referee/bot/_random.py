"""A bot's own chance: a ``random.Random`` that costs nothing to seed, so that every turn can have one of its own."""

import random
from typing import Any, Final

_WORD: Final = 2**64 - 1
_STEP: Final = 0x9E3779B97F4A7C15
_MANY: Final = 2**32


class Chance(random.Random):
    """``random.Random`` in all its methods, over SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).

    Seeding the generator of the standard library takes longer than many bots think. Not for secrets.

    >>> Chance(7).choice("abc") == Chance(7).choice("abc")
    True
    """

    def __init__(self, seed: int = 0) -> None:
        self.seed(seed)  # and not the generator underneath, which is never used

    def seed(self, a: Any = 0, version: int = 2) -> None:  # noqa: ARG002  # as random.Random has it
        """Starts anew from a number. Raises ``TypeError`` for anything else."""
        if not isinstance(a, int):
            raise TypeError(f"a seed is a number, not {a!r}")
        self._state = a & _WORD
        self.gauss_next = None

    def _word(self) -> int:
        """The next 64 random bits."""
        self._state = word = (self._state + _STEP) & _WORD
        word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & _WORD
        word = (word ^ word >> 27) * 0x94D049BB133111EB & _WORD
        return word ^ word >> 31

    def random(self) -> float:
        """The next number from 0 to below 1."""
        return (self._word() >> 11) * 2.0**-53

    def getrandbits(self, k: int, /) -> int:
        """The next k random bits as a number; raises ``ValueError`` if k is negative."""
        if k < 0:
            raise ValueError("the number of bits must be 0 or more")
        bits = 0
        for _ in range((k + 63) // 64):
            bits = bits << 64 | self._word()
        return bits >> -k % 64

    def _randbelow(self, n: int) -> int:
        """What ``choice``, ``shuffle``, ``sample`` and ``randrange`` stand on: a number from 0 to below n.

        One word each instead of a loop; numbers below 2^32 are even to one part in 2^32.
        """
        if n < _MANY:
            return self._word() * n >> 64
        while (number := self.getrandbits(n.bit_length())) >= n:
            pass
        return number

    def getstate(self) -> tuple[Any, ...]:
        """The state, for ``setstate``."""
        return (self._state, self.gauss_next)

    def setstate(self, state: tuple[Any, ...]) -> None:
        """Goes on from a state that ``getstate`` has given."""
        self._state, self.gauss_next = state


def seed_of(bot_seed: int, deal: int, decision: int, retry: int) -> int:
    """One seed of 64 bits out of what names a decision; odd factors keep neighbours apart."""
    return bot_seed + deal * 0xD1B54A32D192ED03 + decision * 0xABC98388FB8FAC03 + retry * 0x8CB92BA72F3D8DD7
