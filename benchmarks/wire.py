"""League decisions a second over the real wire, against a bare stream with one message a decision.

Run: python benchmarks/wire.py [--games N] [--in-flight N] [--runs N]

Yardstick, in the same run: a bidirectional stream between two Python processes on a unix socket that carries one message
of a turn's size there and one of a move's size back, one at a time, with no rules, clocks or records. The league plays
Auction Pitch with four Python random bots (the SDK), records, rulings, clocks and the store switched on.
"""

import argparse
import asyncio
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import grpc
import grpc.aio

from referee.deals import seeded_master
from referee.league.plan import BotPlan, GamePlan, LeaguePlan
from referee.league.play.event_sink import StoreSink
from referee.league.play.leg import Leg
from referee.league.store import FixtureRow, Store
from referee.rules import variant
from referee.sandbox.command import Command

TURN_BYTES, MOVE_BYTES = 190, 12
BOT = "from referee.bot import run\nrun(lambda turn: turn.rng.choice(turn.legal))\n"
ECHO = f"""
import queue, sys, grpc
out = queue.SimpleQueue()
with grpc.insecure_channel(sys.argv[1]) as channel:
    call = channel.stream_stream("/bare/Play")(iter(out.get, None))
    out.put(b"m" * {MOVE_BYTES})
    for _ in call:
        out.put(b"m" * {MOVE_BYTES})
"""


class Bare(grpc.GenericRpcHandler):
    """A handler that sends a turn-sized message for every move-sized one, and counts."""

    def __init__(self, total: int) -> None:
        self.total, self.seconds = total, 0.0
        self.done = asyncio.Event()

    def service(self, _details: grpc.HandlerCallDetails) -> object:
        """The one method."""
        return grpc.stream_stream_rpc_method_handler(self.play)

    async def play(self, _requests: object, context: grpc.aio.ServicerContext) -> None:
        """Ping and pong, `total` times."""
        turn = b"t" * TURN_BYTES
        await context.read()
        started = time.perf_counter()
        for _ in range(self.total):
            await context.write(turn)
            await context.read()
        self.seconds = time.perf_counter() - started
        self.done.set()


async def bare(folder: Path, messages: int) -> float:
    """Messages a second of the yardstick."""
    handler = Bare(messages)
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((handler,))
    address = f"unix:{folder / 'bare.sock'}"
    server.add_insecure_port(address)
    await server.start()
    with subprocess.Popen([sys.executable, "-c", ECHO, address], stderr=subprocess.DEVNULL) as client:
        await handler.done.wait()
        client.kill()
    await server.stop(0)
    return messages / handler.seconds


class Silent:
    """A listener that counts decisions."""

    def __init__(self) -> None:
        self.decisions = 0

    def game(self, _game: GamePlan, summary: dict[str, int]) -> None:
        """Counts."""
        self.decisions += summary["decisions"]

    def __getattr__(self, name: str) -> object:
        return lambda *what: print(name, *what, file=sys.stderr)


def league(folder: Path, games: int, in_flight: int) -> tuple[float, float]:
    """Decisions a second of a leg of games with everything on, and the referee's CPU in µs a decision."""
    (folder / "bot.py").write_text(BOT)
    keys = [f"random{seat}" for seat in range(4)]
    bots = {
        key: BotPlan(
            key=key,
            version="1",
            command=Command(argv=(sys.executable, "bot.py"), folder=folder, name=key, only=("bot.py",)),
        )
        for key in keys
    }
    rules = variant("auction-pitch").with_rules({"max_deals": 8})
    plan = LeaguePlan(
        league="bench",
        master=seeded_master("bench"),
        rules=rules,
        seats=4,
        objective="place",
        commitment="",
        bots=bots,
        log_dir=folder,
        sandbox="none",
        max_in_flight=in_flight,
    )
    fixtures = [FixtureRow(f"s{i}-0", f"s{i}", 0, tuple(keys)) for i in range(games)]
    path = folder / f"bench-{time.monotonic_ns()}.sqlite"
    with Store.create(path, {"name": "bench"}) as store:
        store.add_sets("bench", [fixture.set_id for fixture in fixtures], fixtures)
        listener = Silent()
        event_sink = StoreSink(store, listener)  # type: ignore[arg-type]
        plans = [
            GamePlan(fixture_id=f.id, set_id=f.set_id, rotation=0, seats=f.seats, slots=(0, 0, 0, 0)) for f in fixtures
        ]
        leg = Leg(plan, plans, event_sink, asyncio.Event())
        before = resource.getrusage(resource.RUSAGE_SELF)
        started = time.perf_counter()
        asyncio.run(leg.play())
        seconds = time.perf_counter() - started
        after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return listener.decisions / seconds, cpu / listener.decisions * 1e6


def main() -> None:
    """Measures both in turn and prints the medians and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=1500)
    parser.add_argument("--in-flight", type=int, default=256)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    ratios, leagues, yardsticks, costs = [], [], [], []
    for _ in range(options.runs):
        with tempfile.TemporaryDirectory() as folder:
            yardsticks.append(asyncio.run(bare(Path(folder), 6000)))
            rate, cost = league(Path(folder), options.games, options.in_flight)
        leagues.append(rate)
        costs.append(cost)
        ratios.append(rate / yardsticks[-1])
        print(f"bare stream {yardsticks[-1]:9,.0f}/s   league {rate:9,.0f}/s   ratio {ratios[-1]:5.1f}")
    print(f"{options.in_flight} games in flight, medians of {options.runs} runs, start and end of the bots included:")
    print(f"  bare stream, one message a decision   {statistics.median(yardsticks):9,.0f}/s")
    print(f"  league, everything on                 {statistics.median(leagues):9,.0f}/s")
    print(f"  ratio                                 {statistics.median(ratios):9.1f}   (target: at least 8)")
    print(f"  referee CPU a decision                {statistics.median(costs):9.1f} µs")


if __name__ == "__main__":
    main()
