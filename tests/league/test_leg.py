"""Legs with real bot processes: fresh ones each leg, errors that end a leg, a stop, and nothing left behind."""

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest

from referee.deals import seeded_master
from referee.league.league import LeagueError
from referee.league.plan import BotPlan, GamePlan, LeaguePlan
from referee.league.play.arena import Arena, new_connection
from referee.league.play.leg import NARROW, Leg
from referee.league.store import StoreError
from referee.net.supervisor import LocalSupervisor, RemoteSupervisor
from referee.rules import variant
from referee.sandbox.command import Command
from referee.sandbox.isolation import SandboxError
from referee.sandbox.process_tree import marker_of, owner, processes
from referee.umpire.events import TimeLimits
from referee.umpire.fallback_player import fallback_move
from referee.umpire.faults import Fault
from referee.umpire.record import result_digest
from referee.umpire.umpire import Umpire
from tests.program import PATIENCE

ANY: Final = "from referee.bot import run\nrun(lambda turn: turn.rng.choice(turn.legal))\n"

REMEMBERS: Final = """
import os
from collections import defaultdict
from pathlib import Path
from referee.bot import Bot, Card, EventKind, run

NOTES = Path(os.environ["HOME"], "hands")
seen = set(NOTES.read_text().splitlines()) if NOTES.exists() else set()
games = defaultdict(set)

class Remembers(Bot):
    '''Keeps every hand of every deal, in memory and in its private folder, and looks for its own among them.'''

    def choose(self, turn):
        if len(turn.hand) == 6:
            hand = " ".join(map(str, sorted(turn.hand)))
            if hand in seen and hand not in games[turn.message.game_id]:
                print("RECOGNISED", hand, flush=True)
            games[turn.message.game_id].add(hand)
        return turn.rng.choice(turn.legal)

    def deal_over(self, over):
        hands = defaultdict(list)
        for event in over.history:
            if event >> 16 == EventKind.PLAY:
                hands[event >> 8 & 255].append(event & 255)
        for cards in hands.values():
            if len(cards) == 6:
                seen.add(" ".join(str(Card(card)) for card in sorted(cards)))
        NOTES.write_text("\\n".join(seen))

run(Remembers())
"""


class EventSink:
    """Keeps what a leg reports; ``fails`` names the method that raises, as a full disk would make it."""

    def __init__(self, fails: str = "") -> None:
        self.fails = fails
        self.told: list[tuple[str, tuple[Any, ...]]] = []

    def __getattr__(self, name: str) -> Callable[..., None]:
        def tell(*what: Any) -> None:
            if name == self.fails:
                raise StoreError("league.sqlite could not be written; free some disk space and resume")
            self.told.append((name, what))

        return tell

    def of(self, name: str) -> list[tuple[Any, ...]]:
        return [what for told, what in self.told if told == name]


def plan_of(folder: Path, programs: dict[str, str], **more: Any) -> LeaguePlan:
    bots = {}
    for name, program in programs.items():
        (folder / f"{name}.py").write_text(program)
        bots[name] = BotPlan(
            key=name,
            version="1",
            command=Command(argv=("python", f"{name}.py"), folder=folder, name=name, only=(f"{name}.py",)),
        )
    rules = variant("auction-pitch").with_rules({"max_deals": 2})
    terms = {"sandbox": "none", "limits": TimeLimits(60_000_000, 0, 0)} | more
    return LeaguePlan(
        league="test",
        master=seeded_master("leg"),
        rules=rules,
        seats=3,
        objective="place",
        commitment="",
        bots=bots,
        log_dir=folder / "logs",
        **terms,
    )


def games_of(names: Sequence[str], sets: int, rotations: Sequence[int]) -> list[GamePlan]:
    games = []
    for number in range(sets):
        for rotation in rotations:
            seats = tuple(names[(seat + rotation) % 3] for seat in range(3))
            games.append(
                GamePlan(
                    fixture_id=f"s{number}-{rotation}",
                    set_id=f"s{number}",
                    rotation=rotation,
                    seats=seats,
                    slots=(0, 0, 0),
                )
            )
    return games


def play(
    plan: LeaguePlan,
    games: Sequence[GamePlan],
    event_sink: EventSink,
    during: Callable[[asyncio.Event, Leg], Awaitable[None]] | None = None,
) -> None:
    """Plays a leg; afterwards there is no process, folder or handle more than before."""
    before = len(list(Path("/proc/self/fd").iterdir()))

    async def whole() -> None:
        stop = asyncio.Event()
        leg = Leg(plan, games, event_sink, stop)
        beside = asyncio.ensure_future(during(stop, leg)) if during else None
        try:
            await leg.play()
        finally:
            if beside is not None:
                await beside

    try:
        asyncio.run(whole())
    finally:
        assert [pid for pid in processes() if (marker_of(pid) or "").startswith(owner())] == []
        assert list(Path(tempfile.gettempdir()).glob(f"bot-{owner()}.*")) == []
        assert len(list(Path("/proc/self/fd").iterdir())) <= before + 4  # gRPC keeps four for good, once


NAMES: Final = ("x", "y", "z")
THREE: Final = dict.fromkeys(NAMES, ANY)


# Memory


def recognised(logs: Path) -> int:
    return sum(log.read_text("utf-8").count("RECOGNISED") for log in logs.glob("*.log"))


@pytest.mark.parametrize("sandbox", ["none", pytest.param("bubblewrap", marks=pytest.mark.needs("bwrap"))])
def test_a_bot_that_remembers_never_meets_a_deal_again(tmp_path: Path, sandbox: str) -> None:
    """A duplicate league, rotation by rotation: each leg has fresh processes and fresh private folders."""
    plan = plan_of(tmp_path, dict.fromkeys(NAMES, REMEMBERS), sandbox=sandbox)
    event_sink = EventSink()
    for rotation in range(3):
        play(plan, games_of(NAMES, 3, [rotation]), event_sink)
    assert len(event_sink.of("finished")) == 9
    assert not event_sink.of("fault")
    assert recognised(plan.log_dir) == 0


def test_a_bot_that_remembers_would_recognise_its_hand_in_one_leg(tmp_path: Path) -> None:
    """The test above would find it out: with all rotations in one leg, hands are recognised."""
    plan = plan_of(tmp_path, dict.fromkeys(NAMES, REMEMBERS), max_in_flight=1)
    play(plan, games_of(NAMES, 2, [0, 1, 2]), EventSink())
    assert recognised(plan.log_dir) > 0


# Results


def test_results_do_not_depend_on_how_much_is_played_at_once(tmp_path: Path) -> None:
    digests = []
    for in_flight in (1, 3, 64):
        event_sink = EventSink()
        play(plan_of(tmp_path, THREE, max_in_flight=in_flight), games_of(NAMES, 5, [0]), event_sink)
        digests.append({game.fixture_id: result_digest(record) for game, _, record in event_sink.of("finished")})
    assert digests[0] == digests[1] == digests[2]
    assert len(digests[0]) == 5


def test_every_process_is_told_to_the_organiser(tmp_path: Path) -> None:
    event_sink = EventSink()
    play(plan_of(tmp_path, THREE), games_of(NAMES, 1, [0]), event_sink)
    told = [process for launched, _ in event_sink.of("launched") for process in launched]
    assert sorted(process["entrant"] for process in told) == list(NAMES)
    assert all(process["sandbox"] == "none" and process["pid"] > 1 for process in told)


# What ends a leg


@pytest.mark.parametrize("fails", ["finished", "ruled", "launched", "fault", "tick", "withdrawn"])
def test_what_the_store_cannot_take_ends_the_leg_with_its_error(tmp_path: Path, fails: str) -> None:
    """Whatever it was, and whoever noticed: a message, the clock, a supervisor. Nobody is blamed and nothing hangs."""
    programs = THREE | {"z": "from referee.bot import run\nrun(lambda turn: 99)\n"}
    if fails in {"fault", "withdrawn"}:
        programs["z"] = "raise SystemExit(3)\n"
    event_sink = EventSink(fails)
    with pytest.raises(StoreError, match="free some disk space and resume"):
        play(plan_of(tmp_path, programs), games_of(NAMES, 3, [0]), event_sink)
    assert {what[1] for what in event_sink.of("fault")} <= {Fault.START_FAILED}


def test_a_sandbox_that_is_missing_ends_the_leg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: Any, **__: Any) -> Any:
        raise SandboxError("bubblewrap is not installed: apt install bubblewrap")

    monkeypatch.setattr("referee.league.play.leg.launch", missing)
    with pytest.raises(SandboxError, match="apt install bubblewrap"):
        play(plan_of(tmp_path, THREE), games_of(NAMES, 1, [0]), EventSink())


def test_a_process_that_cannot_be_ended_ends_the_league_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It could still be there, and remember, when its packs come again."""
    real = LocalSupervisor.end

    async def leaves_one(supervisor: LocalSupervisor) -> None:
        await real(supervisor)
        supervisor.survivors.add(4711)

    monkeypatch.setattr(LocalSupervisor, "end", leaves_one)
    event_sink = EventSink()
    with pytest.raises(LeagueError, match="could not be ended: 4711; end them by hand, then run it again"):
        play(plan_of(tmp_path, THREE), games_of(NAMES, 2, [0]), event_sink)
    assert len(event_sink.of("finished")) == 2


def test_a_game_whose_record_cannot_be_written_is_no_contest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from referee.league.play import leg

    real = leg.write_record

    def fails(umpire: Any, about: Any) -> Any:
        if umpire.spec.key == "s1-0":
            raise KeyError("CARD_QH")
        return real(umpire, about)

    monkeypatch.setattr(leg, "write_record", fails)
    event_sink = EventSink()
    play(plan_of(tmp_path, THREE), games_of(NAMES, 3, [0]), event_sink)
    assert [game.fixture_id for game, _ in event_sink.of("no_contest")] == ["s1-0"]
    assert len(event_sink.of("finished")) == 2
    assert "CARD_QH" in caplog.text


LATE_ONCE: Final = """
import time
from referee.bot import run

run(lambda turn: time.sleep(6 * (turn.decision == 0)) or turn.rng.choice(turn.legal))
"""


@pytest.mark.parametrize("stall", [0.0, 0.5])
def test_who_is_late_while_the_referee_itself_stalls_is_not_blamed(tmp_path: Path, stall: float) -> None:
    """The decision has its time anew, or in the worst case the game is played again; without a stall it is a time-out."""

    async def stalls(_stop: asyncio.Event, leg: Leg) -> None:
        async with asyncio.timeout(PATIENCE):
            while len(leg._supervisors) < 3 or not leg._supervisors["z", 0].connection.session.open:  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.002)
        time.sleep(stall)  # noqa: ASYNC251 - the whole event loop stands still

    event_sink = EventSink()
    plan = plan_of(tmp_path, THREE | {"z": LATE_ONCE}, limits=TimeLimits(5_000_000, 0, 0))
    play(plan, games_of(NAMES, 1, [0]), event_sink, stalls)
    ruled = {ruling.fault for _, ruling in event_sink.of("ruled")}
    if stall:
        assert not ruled
        assert len(event_sink.of("finished")) + len(event_sink.of("no_contest")) == 1
    else:
        assert ruled <= {Fault.TIMEOUT_MOVE}  # on a very busy machine a stall excuses it


def test_a_stall_excuses_nobody_twice_in_one_game(tmp_path: Path) -> None:
    """The game that is played again carries who was late in it."""
    plan = plan_of(tmp_path, THREE)
    (game,) = games_of(NAMES, 1, [0])
    told: list[GamePlan] = []

    class Keeps(EventSink):
        def no_contest(self, game: GamePlan, _reason: str) -> None:
            told.append(game)

    def seated(game: GamePlan) -> tuple[Leg, Any, list[Any]]:
        leg = Leg(plan, [game], Keeps(), asyncio.Event())
        leg._arena.begin(leg)
        connections = [new_connection(plan, leg._games_in_play, key, 0) for key in game.seats]
        umpire = Umpire(plan.spec(game, 1), partial(plan.pack, game), iter(range(1, 99)).__next__, fallback_move)
        leg._plans[umpire], leg._load = game, dict.fromkeys([(key, 0) for key in game.seats], 1)
        leg._games_in_play.open(umpire, [connection.session for connection in connections], leg)
        return leg, umpire, connections

    async def story() -> None:
        leg, umpire, connections = seated(game)
        assert leg.may_replay(connections[1], umpire)
        leg._games_in_play.abandon(umpire, "the referee stalled for 400 ms while a decision ran late")
        again, umpire, connections = seated(told[0])
        assert not again.may_replay(connections[1], umpire)
        assert again.may_replay(connections[2], umpire)
        assert again._arena.may_replay(connections[2], umpire)
        again._games_in_play.abandon(umpire, "the referee stalled for 400 ms while a decision ran late")
        assert not again._arena.may_replay(connections[0], umpire)  # that game is over

    asyncio.run(story())
    assert [one.excused for one in told] == [(NAMES[1],), (NAMES[1], NAMES[2])]
    assert {one.fixture_id for one in told} == {game.fixture_id}


def test_games_wait_for_a_remote_bot_that_is_away_and_the_others_go_on(tmp_path: Path) -> None:
    """However many wait, those behind them are reached; and the bot's supervisor is told that it is wanted."""
    names = ("far", "x", "y", "z")
    plan = plan_of(tmp_path, dict.fromkeys(names[1:], ANY))
    plan.bots["far"] = BotPlan(key="far", version="1", command=None, token="token")
    with_it = [replace(game, set_id=f"far-{game.set_id}") for game in games_of(names[:3], 300, [0])]
    without = games_of(names[1:], 5, [0])

    async def story() -> None:
        leg = Leg(plan, [*with_it, *without], EventSink(), asyncio.Event())
        for key in names:
            connection = new_connection(plan, leg._games_in_play, key, 0)
            make: Any = RemoteSupervisor if key == "far" else LocalSupervisor
            leg._supervisors[key, 0] = make(connection, leg._games_in_play, leg, 600)
            leg._load[key, 0] = 0
        far = leg._supervisors["far", 0]
        assert isinstance(far, RemoteSupervisor)
        leg._feed()
        assert [game.set_id for game in leg._plans.values()] == [game.set_id for game in without]
        assert [game.set_id for game in leg._queue] == [game.set_id for game in with_it]  # in their order
        assert far.wanted
        far.connection.ready.set()
        leg._feed()
        assert len(leg._plans) == 64  # as many as the other two take
        assert not far.wanted
        far.connection.ready.clear()
        leg._queue.clear()
        leg._feed()
        assert not far.wanted

    asyncio.run(story())


def test_a_stall_of_the_referee_is_not_charged_to_the_answers_that_wait_meanwhile(tmp_path: Path) -> None:
    """As after Ctrl-Z and fg: the messages are read before any timer goes off."""

    async def stalls(_stop: asyncio.Event, leg: Leg) -> None:
        async with asyncio.timeout(PATIENCE):
            while len(leg._supervisors) < 3 or not leg._supervisors["z", 0].connection.session.open:  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.001)
        time.sleep(3)  # noqa: ASYNC251 - the whole event loop stands still

    event_sink = EventSink()
    play(plan_of(tmp_path, THREE), games_of(NAMES, 3, [0]), event_sink, stalls)
    charged = [times for _, _, record in event_sink.of("finished") for times in record["volatile"]["charged_us"]]
    assert 0 < max(max(times) for times in charged) < 2_500_000


def test_a_jump_of_the_wall_clock_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hours = count(1)
    monkeypatch.setattr(time, "time", lambda: 3600.0 * next(hours) * (-1) ** next(hours))
    event_sink = EventSink()
    play(plan_of(tmp_path, THREE, limits=TimeLimits(30_000_000, 0, 0)), games_of(NAMES, 3, [0]), event_sink)
    assert len(event_sink.of("finished")) == 3
    assert not event_sink.of("ruled")
    assert not event_sink.of("fault")


def test_a_stop_ends_the_leg_soon_and_sends_the_bots_off(tmp_path: Path) -> None:
    slow = ANY.replace("run(lambda", "import time\nrun(lambda").replace("turn.rng", "time.sleep(0.01) or turn.rng")

    async def stop_soon(stop: asyncio.Event, leg: Leg) -> None:
        async with asyncio.timeout(PATIENCE):
            while not leg._games_in_play.seated:  # noqa: ASYNC110 - what is looked for tells nobody
                await asyncio.sleep(0.01)
        await asyncio.sleep(0.2)
        stop.set()

    event_sink = EventSink()
    play(
        plan_of(tmp_path, dict.fromkeys(NAMES, slow), max_in_flight=1), games_of(NAMES, 300, [0]), event_sink, stop_soon
    )
    assert len(event_sink.of("finished")) < 300
    assert not event_sink.of("fault")
    assert not event_sink.of("no_contest")


def test_a_stop_while_bots_are_starting_is_no_fault_of_theirs(tmp_path: Path) -> None:
    sleeper = "import time\ntime.sleep(3600)\n"

    async def stop_soon(stop: asyncio.Event, leg: Leg) -> None:
        async with asyncio.timeout(PATIENCE):
            while not event_sink.of("launched"):  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.01)
        stop.set()

    event_sink = EventSink()
    play(plan_of(tmp_path, THREE | {"z": sleeper}), games_of(NAMES, 3, [0]), event_sink, stop_soon)
    assert not event_sink.of("fault")
    assert not event_sink.of("withdrawn")


def test_one_leg_after_another_is_told_of_its_own_games_in_the_same_arena(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, THREE)
    first, second = games_of(NAMES, 2, [0])
    sinks = [EventSink(), EventSink()]

    async def story() -> None:
        arena = Arena(plan, EventSink())
        await arena.open()
        try:
            for game, event_sink in zip((first, second), sinks, strict=True):
                await Leg(plan, [game], event_sink, asyncio.Event(), arena).play()
        finally:
            await arena.close(stopped=False)

    asyncio.run(story())
    assert [[game for game, *_ in one.of("finished")] for one in sinks] == [[first], [second]]


def test_a_game_is_told_of_before_any_bot_is_asked_and_with_the_processes_that_will_see_it(tmp_path: Path) -> None:
    event_sink = EventSink()
    play(plan_of(tmp_path, THREE, max_in_flight=2), games_of(NAMES, 9, [0]), event_sink)
    begun = [game.fixture_id for games, _ in event_sink.of("begin") for game in games]
    assert sorted(begun) == [f"s{number}-0" for number in range(9)]
    pids = {process["pid"] for launched, _ in event_sink.of("launched") for process in launched}
    for games, seen in event_sink.of("begin"):
        assert len(games) == len(seen)
        assert all({process["pid"] for process in those} == pids for those in seen)
    order = [name for name, *_ in event_sink.told]
    assert order.index("begin") < order.index("finished")


def test_a_narrow_leg_begins_few_games_and_what_has_not_begun_can_be_left_to_another(tmp_path: Path) -> None:
    left: list[GamePlan] = []
    games, event_sink = games_of(NAMES, 40, [0]), EventSink()
    under_way: list[int] = []

    async def story() -> None:
        leg = Leg(plan_of(tmp_path, THREE), games, event_sink, asyncio.Event(), narrow=True, leave=left.extend)
        playing = asyncio.ensure_future(leg.play())
        async with asyncio.timeout(PATIENCE):
            while not leg.fed_s:  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.001)
        under_way.extend((leg.under_way, leg.fresh))
        leg.give_back(2)
        assert leg.fresh == 2
        leg.widen()
        await playing

    asyncio.run(story())
    assert under_way == [NARROW, 40 - NARROW]
    told = {game.fixture_id for games, _ in event_sink.of("begin") for game in games}
    assert told == {game.fixture_id for game, *_ in event_sink.of("finished")}
    assert len(told) == NARROW + 2
    assert [game.fixture_id for game in left] == [game.fixture_id for game in games[NARROW + 2 :]]


@pytest.mark.parametrize(("sets", "leaves"), [(40, True), (5, False)])
def test_a_leg_whose_time_is_up_leaves_what_has_not_begun_unless_that_is_little(
    tmp_path: Path, sets: int, leaves: bool
) -> None:
    left: list[GamePlan] = []
    event_sink = EventSink()

    async def story() -> None:
        plan = plan_of(tmp_path, THREE, max_in_flight=4)
        await Leg(
            plan, games_of(NAMES, sets, [0]), event_sink, asyncio.Event(), seconds=0.000_001, leave=left.extend
        ).play()

    asyncio.run(story())
    finished = {game.fixture_id for game, *_ in event_sink.of("finished")}
    assert bool(left) is leaves
    assert finished | {game.fixture_id for game in left} == {f"s{number}-0" for number in range(sets)}
    assert not finished & {game.fixture_id for game in left}
    assert finished


def test_two_legs_in_one_arena_are_told_of_their_own_games_and_of_who_is_gone(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, THREE)
    games = games_of(NAMES, 6, [0])
    sinks = [EventSink(), EventSink()]

    async def story() -> None:
        arena = Arena(plan, EventSink())
        await arena.open()
        try:
            both = [
                Leg(plan, games[number::2], event_sink, asyncio.Event(), arena)
                for number, event_sink in enumerate(sinks)
            ]
            await asyncio.gather(*(leg.play() for leg in both))
            third = Leg(plan, games_of(NAMES, 1, [1]), sinks[1], asyncio.Event(), arena)
            third.do_without({"z": "It left."})
            await third.play()
        finally:
            await arena.close(stopped=False)

    asyncio.run(story())
    for number, event_sink in enumerate(sinks):
        finished = {game.fixture_id for game, *_ in event_sink.of("finished")}
        assert finished == {game.fixture_id for game in games[number::2]}
    pids = [process["pid"] for one in sinks for launched, _ in one.of("launched") for process in launched]
    assert len(set(pids)) == len(pids) == 9


def test_an_error_that_ends_the_clocks_of_an_arena_ends_every_leg_of_it(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, THREE)

    async def story() -> None:
        arena = Arena(plan, EventSink())
        await arena.open()

        async def fails() -> None:
            raise RuntimeError("the watch has failed")

        try:
            legs = [Leg(plan, games_of(NAMES, 3, [one]), EventSink(), asyncio.Event(), arena) for one in (0, 1)]
            playing = [asyncio.ensure_future(leg.play()) for leg in legs]
            await asyncio.sleep(0)
            arena.attend(fails())
            for work in playing:
                with pytest.raises(RuntimeError, match="the watch has failed"):
                    await work
            with pytest.raises(RuntimeError, match="the watch has failed"):  # and those that come
                await Leg(plan, games_of(NAMES, 1, [0]), EventSink(), asyncio.Event(), arena).play()
        finally:
            await arena.close(stopped=False)

    asyncio.run(story())
