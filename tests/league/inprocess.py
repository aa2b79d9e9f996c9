"""Whole leagues without processes: players are functions, everything else (schedule, umpire, store, roots) is real.

    path = play_league(tmp_path / "league.sqlite", {"a": house, "b": at_random, "c": reneges})

A player is given a ``Turn`` and returns an action, or what else a bot may do: ``Late``, ``Garbled``, ``Lost``. Players are
pure functions of their turn, so the same league comes out every time.
"""

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any

from referee import deals
from referee.league.definition.definition import Definition, parse_definition
from referee.league.entrants.roster import Entrant, Roster
from referee.league.league import begin, plan_of, read_league, rules_of
from referee.league.plan import BotPlan, GamePlan, LeaguePlan
from referee.league.play.event_sink import BufferSink, LeagueObserver
from referee.league.play.runner import Runner, RunOutcome
from referee.league.play.worker_process import Legs, Tell
from referee.league.play.workers import Pool
from referee.league.schedule.formats import plan
from referee.league.schedule.schedule import Schedule
from referee.league.store import Store
from referee.net.open_turns import _without_id
from referee.protocol import wire
from referee.protocol.translate import Malformed, read_move
from referee.rules import Action, Kind
from referee.umpire.fallback_player import fallback_move
from referee.umpire.faults import Fault
from referee.umpire.record import Record, write_record
from referee.umpire.umpire import Umpire
from referee.umpire.view import Turn


@dataclass(frozen=True, slots=True)
class Late:
    """The player does not answer in time."""


@dataclass(frozen=True, slots=True)
class Garbled:
    """The player sends a move that holds no action."""

    move: wire.Move


@dataclass(frozen=True, slots=True)
class Lost:
    """The player's process is gone: it loses the game."""

    fault: Fault = Fault.CRASH
    sentence: str = "Its process ended with code 1."


STALL = "the referee stalled"

Reply = Action | Late | Garbled | Lost
Player = Callable[[Turn], Reply]


def at_random(turn: Turn) -> Reply:
    """Any legal action, the same for the same turn."""
    return chance_of(turn).choice(list(turn.legal))


def reneges(turn: Turn) -> Reply:
    """Sound, but now and then plays a card that it may not play, or a bid that there is not."""
    chance = chance_of(turn)
    if chance.random() < 0.05:
        held = [card for card in range(64) if turn.hand >> card & 1]
        wrong = [card for card in held if card not in turn.legal] if turn.kind is Kind.PLAY else [15]
        if wrong:
            return chance.choice(wrong)
    return fallback_move(turn)


def stumbles(turn: Turn) -> Reply:
    """Sound, but now and then late, garbled, or gone."""
    number = chance_of(turn).randrange(400)
    if number < 2:
        return Late()
    if number < 5:
        return Garbled(wire.Move(turn_id=turn.turn_id, bid=3, suit=wire.SUIT_HEARTS))
    return Lost() if number < 8 else fallback_move(turn)


def chance_of(turn: Turn) -> random.Random:
    """A source of chance that belongs to the turn."""
    return random.Random(f"{turn.chair.bot_seed}/{turn.deal}/{turn.decision}")  # noqa: S311  # repeatable, not secret


def league_text(
    names: Sequence[str],
    *,
    seats: int = 3,
    sets: int = 2,
    variant: str = "auction-pitch",
    seed: str | None = "kitchen",
    length: str = "target",
    more: str = "",
) -> str:
    """A definition in TOML. ``more`` is further sections."""
    lines = [
        f'[tournament]\nname = "Test league"\nvariant = "{variant}"\nseats = {seats}\nlength = "{length}"',
        'objective = "points"' if length == "deal" else "",
        f"[schedule]\nsets = {sets}" + (f'\nseed = "{seed}"' if seed is not None else ""),
        more,
        *(f'[[bots]]\npath = "{name}"' for name in names),
    ]
    return "\n".join(lines) + "\n"


def roster(names: Sequence[str]) -> Roster:
    """Entrants by these names, of version 1, whose program is never started."""
    digests = {name: sha256(name.encode()).hexdigest() for name in names}
    argv = ("never", "run")
    return Roster(
        tuple(
            Entrant(
                key=name,
                name=name,
                version="1",
                argv=argv,
                folder=Path(),
                digest=digests[name],
                remote=False,
                variants=(),
                copy_of=None,
            )
            for name in names
        )
    )


def record_of(players: Mapping[str, Player], *, fixture: int = 0, **shape: Any) -> Record:
    """The record of one game of a league that is kept nowhere. ``shape`` goes to ``league_text``."""
    definition = parse_definition(league_text(list(players), **shape))
    planned = plan(definition.shape(), roster(list(players)).entrants).fixtures[fixture]
    game = GamePlan.of(planned)
    league = LeaguePlan(
        league=definition.tournament.name,
        master=deals.seeded_master(str(definition.schedule.seed)),
        rules=rules_of(definition),
        seats=definition.tournament.seats,
        objective=definition.tournament.objective,
        commitment="",
        bots={name: BotPlan(key=name, version="1", command=None) for name in players},
        log_dir=Path(),
    )
    return write_record(play_game(league, game, players), league.heading(game))


def play_game(plan_: LeaguePlan, game: GamePlan, players: Mapping[str, Player]) -> Umpire:
    """Plays one game to its end, through the umpire."""
    ids = count(1)
    umpire = Umpire(plan_.spec(game, 1), partial(plan_.pack, game), ids.__next__, fallback_move)
    umpire.start()
    while (turn := umpire.open) is not None:
        key = game.seats[turn.chair.seat]
        _feed(umpire, players[key](turn), 100 + 37 * turn.decision % 1000)
    return umpire


def _feed(umpire: Umpire, reply: Reply, charged_us: int) -> None:
    turn = umpire.open
    assert turn is not None
    match reply:
        case Late():
            umpire.late(turn.turn_id, turn.move_us + turn.bank_us)
        case Garbled(move):
            wrong = read_move(move, turn.kind)
            assert isinstance(wrong, Malformed)
            raw = _without_id(move)
            umpire.malformed(turn.turn_id, wrong.rule, wrong.sentence, raw, charged_us)
        case Lost(fault, sentence):
            umpire.lose(turn.chair.seat, fault, sentence)
        case _:
            umpire.answer(turn.turn_id, reply, charged_us)


class ThreadWorkers(Pool):
    """Workers that are threads of this process. What they play is what ``play_one`` says."""

    def __init__(self, workers: int, players: Mapping[str, Player] | None = None, *, threads: int = 1) -> None:
        self.workers = self.sharers = workers
        self.threads = ThreadPoolExecutor(threads)
        self.players = players or {}
        self.told = False

    def play(self, plan: LeaguePlan, legs: Legs, tell: Tell) -> None:
        for leg in legs:
            for game in leg:
                if self.told:
                    return
                self.play_one(plan, game, tell)

    def play_one(self, plan: LeaguePlan, game: GamePlan, tell: Tell) -> None:
        """Plays a game and tells of it."""
        sink = BufferSink()
        if self.is_spoiled(game):
            sink.no_contest(game, STALL)
        else:
            umpire = play_game(plan, game, self.players)
            sink.finished(game, umpire, write_record(umpire, plan.heading(game)))
        tell(sink.events)

    def is_spoiled(self, _game: GamePlan) -> bool:
        """Whether this game is no contest."""
        return False

    def tell(self) -> None:
        self.told = True

    def kill(self) -> None:
        self.told = True


class InProcess(Runner):
    """A runner whose legs are played in process. After ``most`` games it stops, as after a Ctrl-C."""

    def __init__(
        self, store: Store, players: Mapping[str, Player], listener: LeagueObserver | None = None, most: int = 1 << 30
    ) -> None:
        self.league = read_league(store)
        self.players, self.left = players, most
        super().__init__(store, self.league, plan_of(self.league, Path(), "none"), listener or LeagueObserver())

    def share_with(self, pool: ThreadWorkers) -> None:
        """All is played by these workers."""
        self._workers, self._pool = pool.workers, pool

    def play_rounds(self) -> None:
        """Plays what is left; the workers are told to stop whatever happens, and none is left."""
        try:
            asyncio.run(self._play_rounds())
        finally:
            if isinstance(self._pool, ThreadWorkers):
                self._pool.tell()
                self._pool.threads.shutdown()

    def run(self) -> RunOutcome:
        """As in a runner, but there are no processes to look after."""
        self._settle_earlier_attempts()
        self._void_withdrawn()
        asyncio.run(self._play_rounds())
        return self._close()

    async def _play_leg(self, _lane: object, games: Sequence[GamePlan], *, first: bool) -> None:
        self._event_sink.begin(games)
        for game in games:
            if not self.left:
                self.stop()
                break
            self.left -= 1
            umpire = play_game(self._plan, game, self.players)
            self._event_sink.finished(game, umpire, write_record(umpire, self._plan.heading(game)))


def found_league(path: Path, definition: Definition, names: Sequence[str]) -> Schedule:
    """Makes the store of a league in which nothing is played yet."""
    return begin(definition, roster(names), path, "none", {})


def play_league(path: Path, players: Mapping[str, Player], text: str | None = None, **shape: Any) -> Path:
    """Plays a whole league into a new store, closes it and returns its path.

    ``text`` is its definition; without one, ``shape`` goes to ``league_text``.
    """
    names = list(players)
    found_league(path, parse_definition(text or league_text(names, **shape)), names)
    outcome = go_on(path, players)
    assert outcome.finished
    return path


def go_on(path: Path, players: Mapping[str, Player], most: int = 1 << 30) -> RunOutcome:
    """Plays what is left of a league, or ``most`` games of it."""
    with Store.write(path) as store:
        return InProcess(store, players, most=most).run()


def end_of(path: Path) -> tuple[Any, ...]:
    """Results, standings and games of a finished league: every game is there once, and every attempt has ended."""
    with Store.read(path) as store:
        facts, games = store.league(), store.every_game()
        assert facts["state"] == "finished"
        assert not store.open_attempts()
        assert len({game.fixture_id for game in games}) == len(games) == len(store.fixtures())
        return facts["result_root"], facts["standings"], {game.fixture_id: game.result_digest for game in games}
