"""What one process needs to play games: plain data, so that it can be sent to a worker."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self
from urllib.parse import quote

from referee import deals
from referee.league.schedule.schedule import Fixture
from referee.net.connection import START_SECONDS
from referee.rules import RuleSet
from referee.sandbox.command import Command
from referee.sandbox.isolation import Policy
from referee.sandbox.limits import ResourceLimits as BotLimits
from referee.umpire.events import GameSpec, TimeLimits
from referee.umpire.faults import PROFILES, Profile
from referee.umpire.record import GameHeading
from referee.umpire.view import Chair


@dataclass(frozen=True, slots=True, kw_only=True)
class BotPlan:
    """How one entrant gets to the table. ``command`` is ``None`` for a remote bot, whose ``token`` is fixed.

    ``partner`` starts the bot at the other seat of the side, where that is another one. ``patience_seconds``: so long it may be silent
    beyond its time, at no charge, as a person may; 0 = as bots may.
    """

    key: str
    version: str
    command: Command | None
    token: str = ""
    wait_seconds: float = 600.0
    partner: Command | None = None
    patience_seconds: float = 0.0

    def command_of(self, slot: int) -> Command | None:
        """What starts the bot in that slot of the entrant."""
        return self.partner if slot and self.partner is not None else self.command


@dataclass(frozen=True, slots=True, kw_only=True)
class GamePlan:
    """One game to play: its fixture, which entrant (and which of its slots) sits where, and which packs.

    ``excused`` are the entrants for whose late decisions it is played again: a stall excuses nobody twice in one game.
    """

    fixture_id: str
    set_id: str
    rotation: int
    seats: tuple[str, ...]
    slots: tuple[int, ...]
    redeal: int = 0
    excused: tuple[str, ...] = ()

    @classmethod
    def of(cls, fixture: Fixture, redeal: int = 0) -> Self:
        """The game of a fixture, with the packs of this redeal."""
        return cls(
            fixture_id=fixture.id,
            set_id=fixture.set_id,
            rotation=fixture.rotation,
            seats=fixture.seats,
            slots=fixture.slots,
            redeal=redeal,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaguePlan:
    """What holds for every game of a league. ``master`` is the secret of all packs.

    ``max_processes`` bounds the bot processes alive at once (0 = no bound); with ``terminal`` the bots share ours. So many
    ``sharers`` play at once on one machine: each lets its share of bots think at a time.
    """

    league: str
    master: bytes = field(repr=False)
    rules: RuleSet
    seats: int
    objective: str
    commitment: str
    bots: dict[str, BotPlan]
    log_dir: Path
    profile: Profile = PROFILES["ranked"]
    limits: TimeLimits = field(default_factory=TimeLimits)
    bot_limits: BotLimits = field(default_factory=BotLimits)
    sandbox: Policy = "auto"
    max_in_flight: int = 64
    asked_at_once: int = 0
    max_processes: int = 0
    sharers: int = 1
    terminal: bool = False
    listen: str = ""
    tls: tuple[str, str] | None = None
    start_seconds: float = START_SECONDS
    earlier: Mapping[str, bytes] = field(default_factory=dict, repr=False)

    def master_of(self, set_id: str) -> bytes:
        """The master of a set's packs: the league's, or that of an earlier season for sets kept from it (``earlier``)."""
        return self.earlier.get(set_id, self.master)

    def spec(self, game: GamePlan, game_id: int) -> GameSpec:
        """The game as the umpire is told it. ``game_id`` is random and means nothing.

        Rotations beyond the seats are those of a swapped version, which draws the same chance.
        """
        chairs = tuple(
            Chair(
                game_id=game_id,
                seat=seat,
                seats=self.seats,
                rules=self.rules,
                bot_seed=deals.bot_seed(
                    self.master_of(game.set_id), self.league, game.set_id, game.rotation % self.seats, seat
                ),
            )
            for seat in range(self.seats)
        )
        return GameSpec(
            key=game.fixture_id,
            rules=self.rules,
            chairs=chairs,
            first_dealer=0,
            profile=self.profile,
            limits=self.limits,
        )

    def pack(self, game: GamePlan, deal: int) -> tuple[int, ...]:
        """The pack of one deal of a game; all rotations of a set share it."""
        return deals.shuffle(deals.deal_key(self.master_of(game.set_id), self.league, game.set_id, deal, game.redeal))

    def heading(self, game: GamePlan) -> GameHeading:
        """What a record says of its game besides the play."""
        return {
            "league": self.league,
            "set": game.set_id,
            "rotation": game.rotation,
            "redeal": game.redeal,
            "names": [f"{key} {self.bots[key].version}".strip() for key in game.seats],
        }


def log_file(folder: Path, key: str, slot: int = 0) -> Path:
    """Where in the folder of the logs the output of an entrant's bot goes: no two share a file, whatever they are called."""
    name = quote(key, safe="@+") + (f"~{slot}" if slot else "")  # no name has a tilde
    return folder / f"{name}.log"
