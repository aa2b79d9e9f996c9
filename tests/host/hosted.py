"""A host in a folder, its bots, and its engine without processes: games are played by functions of the turn."""

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from referee.host import engine
from referee.host.disk import DiskRoom
from referee.host.engine import Engine, EngineOptions
from referee.host.home import HostHome
from referee.host.rows import Version, VersionState
from referee.host.store import HostStore
from referee.league.entrants.bot_source import find_bot
from referee.league.league import read_league
from referee.league.plan import GamePlan
from referee.league.play.runner import Runner, RunOutcome
from referee.league.store import Store
from referee.sandbox.isolation import SandboxChoice
from referee.umpire.fallback_player import fallback_move
from referee.umpire.record import write_record
from tests.league.inprocess import Player, at_random, play_game
from tests.program import FIRST, LAST, PATIENCE

CHANCE: Final = "from referee.bot import run\nrun(lambda turn: turn.rng.choice(turn.legal))\n"

HEAD: Final = """
[tournament]
name = "Small host"
variant = "auction-pitch"
seats = 2
length = "deal"
[schedule]
format = "ladder"
sets = 3
seed = "small"
"""

HOST: Final = '[host]\naddress = "127.0.0.1:0"\n'

HOUSE: Final = {"first": FIRST, "last": LAST, "chance": CHANCE}


def definition_text(*bots: str, host: str = HOST, head: str = HEAD) -> str:
    """A definition of a hosted ladder with these house bots."""
    return head + host + "".join(f'[[bots]]\npath = "{bot}.py"\n' for bot in bots)


class Hosted:
    """A host in a folder: its definition, its house bots, its store, and who hands something in."""

    def __init__(self, folder: Path, *bots: str, host: str = HOST) -> None:
        self.folder, self.file = folder, folder / "small.toml"
        for name, text in HOUSE.items():
            (folder / f"{name}.py").write_text(text)
        self.file.write_text(definition_text(*(bots or HOUSE), host=host))
        self.home = HostHome.beside(self.file)
        self.home.make()
        self.store = HostStore.open(self.home.store)
        self.now = 1000.0
        self.archives = 0

    def hand_in(self, owner: str, bot: str, text: str = FIRST, version: str = "1") -> Version:
        """A version that keeps the rules and may play; whose bot it is joins first, if nobody has that name."""
        owners = {one.name: one for one in self.store.owners()}
        somebody = owners.get(owner) or self.store.join(self.store.invite(owner, self.now, by="test"), owner, self.now)
        self.archives += 1
        self.store.hand_in(somebody, bot, f"{self.archives:064x}", self.now, most_bots=4)
        job = self.store.lease(self.now, 60)
        assert job is not None
        folder = self.home.bot(job.version)
        folder.mkdir()
        (folder / "bot.py").write_text(text)
        (folder / "bot.toml").write_text(f'name = "{bot}"\nversion = "{version}"\nrun = ["python", "bot.py"]\n')
        digest = find_bot(str(folder), folder).digest
        assert self.store.finish(job, VersionState.ACCEPTED, "ok", self.now, name=version, digest=digest)
        return self.store.version(job.version)

    def set(self, key: str, value: str) -> None:
        """A setting, as the organiser's page sets it."""
        self.store.set(key, value, self.now, by="organiser")

    def facts(self) -> Any:
        """What the ladder has of itself."""
        with Store.read(self.home.ladder) as store:
            return read_league(store).facts

    def rounds(self) -> list[Any]:
        """The rounds of the ladder."""
        return list(self.facts().get("rounds", []))


Hook = Callable[[GamePlan, threading.Event], None]


class _Here(Runner):
    """A runner whose games are played in this process."""

    before: Hook = staticmethod(lambda game, stopping: None)
    players: Mapping[str, Player]

    def run(self) -> RunOutcome:
        self._settle_earlier_attempts()
        self._void_withdrawn()
        asyncio.run(self._play_rounds())
        return self._close()

    async def _play_leg(self, _lane: object, games: Sequence[GamePlan], *, first: bool) -> None:
        self._event_sink.begin(games)
        for game in games:
            self.before(game, self._stopping)
            if self._halted:
                return
            umpire = play_game(self._plan, game, self.players)
            self._event_sink.finished(game, umpire, write_record(umpire, self._plan.heading(game)))


class _Anybody(dict[str, Player]):
    """A player for every key: those named so play the fallback's way, all others by chance."""

    def __missing__(self, key: str) -> Player:
        return fallback_move if key.startswith("first") else at_random


@contextmanager
def engine_of(
    hosted: Hosted,
    monkeypatch: pytest.MonkeyPatch,
    before: Hook = lambda game, stopping: None,
    *,
    until: int = 0,
    sandbox: Any = "bubblewrap",
    clock: Callable[[], float] | None = None,
    free: Callable[[Path], DiskRoom] = lambda folder: DiskRoom(1 << 39),
) -> Iterator[tuple[Engine, threading.Event]]:
    """An engine whose games are played here; ``before`` is called before each of them."""

    class Playing(_Here):
        players = _Anybody()

    Playing.before = staticmethod(before)
    monkeypatch.setattr(engine, "Runner", Playing)
    monkeypatch.setattr(engine, "choose_sandbox", SandboxChoice)  # as asked for: no bot is started here
    stop = threading.Event()
    with HostStore.open(hosted.home.store) as store:
        yield (
            Engine(
                hosted.home,
                store,
                stop,
                EngineOptions(sandbox=sandbox, until=until),
                clock or (lambda: hosted.now),
                free,
            ),
            stop,
        )


def play_a_part(hosted: Hosted, monkeypatch: pytest.MonkeyPatch, games: int) -> None:
    """The engine plays the open round, or the next; it is stopped when it would play game number ``games``, from 1."""
    left = games

    def before(_game: GamePlan, stopping: threading.Event) -> None:
        nonlocal left
        left -= 1
        if not left:
            stop.set()
            assert stopping.wait(PATIENCE)

    with engine_of(hosted, monkeypatch, before) as (engine, stop):
        assert engine.step() is None
