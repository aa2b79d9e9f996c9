"""What one check is: which bot, which games, how long, under which limits."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from referee.check.requirements import Selection
from referee.net.connection import START_SECONDS
from referee.rules import RuleSet, RuleSetError, variant
from referee.sandbox.command import Command
from referee.sandbox.isolation import Policy
from referee.sandbox.limits import ResourceLimits as BotLimits
from referee.umpire.events import TimeLimits

MOVE_MS = 5000
MOVES_A_GAME = 60
"""The time for a game, in moves: so many decisions at full length, and no more."""


def clock(move_ms: int, bank_ms: int = 0) -> TimeLimits:
    """The clock of a check. There is no bank unless one is asked for: a late bot must not cost half a minute each time."""
    move_us = move_ms * 1000
    return TimeLimits(move_us, bank_ms * 1000, MOVES_A_GAME * move_us)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One check of one bot.

    ``command`` is ``None`` for a bot that dials in at ``listen`` with ``token``, where ``tls`` names the files of certificate and key if
    that is encrypted. ``games`` are those asked for; where
    ``by_name`` is false they are a default that the bot's own list of variants replaces. ``seats`` is empty for every
    number of seats that a game allows. The random phase lasts ``seconds``, or ``deals`` deals. With one of the ``lives``
    the bot is not started again, and what needs that is not checked. It has ``start_seconds`` to start and join.
    """

    name: str
    command: Command | None
    games: tuple[RuleSet, ...]
    version: str = ""
    digest: str = ""
    by_name: bool = False
    claims: tuple[str, ...] = ()
    seats: tuple[int, ...] = ()
    selection: Selection = field(default_factory=Selection)
    seed: str = "1"
    seconds: float = 4.0
    deals: int | None = None
    long_deals: int = 0
    only_doctor: bool = False
    lives: int = 3
    start_seconds: float = START_SECONDS
    limits: TimeLimits = field(default_factory=lambda: clock(MOVE_MS))
    max_in_flight: int = 64
    bot_limits: BotLimits = field(default_factory=BotLimits)
    sandbox: Policy = "auto"
    log_path: Path = Path("referee-check.log")
    listen: str = ""
    token: str = ""
    tls: tuple[str, str] | None = None
    wait_seconds: float = 600.0

    def for_join(self, claims: Sequence[str]) -> tuple[RuleSet, ...]:
        """The games to check with a bot whose Join names these variants (none = all)."""
        claims = claims or self.claims
        if not claims:
            return self.games
        names = {name for name in map(_full_name, claims) if name}
        if self.by_name:
            return tuple(rules for rules in self.games if rules.name in names)
        return tuple(variant(name) for name in dict.fromkeys(map(_full_name, claims)) if name)


def _full_name(name: str) -> str:
    try:
        return variant(name).name
    except RuleSetError:
        return ""
