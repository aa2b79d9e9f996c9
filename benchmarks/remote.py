"""A thousand remote bots in one league: what they cost the referee, and whether a clock is missed by its fault.

Run: python benchmarks/remote.py [--bots N] [--games N] [--strangers N]

All bots dial in over loopback TCP, each on a connection of its own, from two other processes; they are gRPC clients of
Python that bid high and play the first legal card. Every bot is in a game all the time: the bots are seated by fours, and each four
plays its games one after another. Rulings, clocks, records and the store are on, and the limits are those of a league.
With --strangers as many connections more are held that show no token, and renewed as the referee ends them.

Prints the referee's processor time a decision beside that of the same games with four bots, its memory, and how much of
a move's time the slowest answers were charged. Ends with an error if a bot was late, lost or withdrawn, a game was no
contest, or fewer bots were in a game at once than there are.
"""

import argparse
import asyncio
import contextlib
import re
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import grpc
import grpc.aio

from referee.deals import seeded_master
from referee.league.plan import BotPlan, GamePlan, LeaguePlan
from referee.league.play.arena import Arena
from referee.league.play.event_sink import StoreSink
from referee.league.play.leg import Leg
from referee.league.play.open_files import make_room
from referee.league.store import FixtureRow, Store
from referee.protocol import wire
from referee.rules import variant

CLIENTS = 2
PLAY = "/allfours.v1.RefereeService/Play"
HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\x04" + bytes(5)


class Silent:
    """A listener that counts decisions; whatever goes wrong is kept."""

    def __init__(self) -> None:
        self.decisions = 0
        self.p99_us = 0
        self.wrong: list[str] = []
        self.seated: set[str] = set()
        self.address, self.tokens = "", list[str]()

    def remote(self, _entrant: str, address: str, token: str) -> None:
        """Where a bot dials in."""
        self.address = address
        self.tokens.append(token)

    def game(self, _game: GamePlan, summary: dict[str, int]) -> None:
        """Counts."""
        self.decisions += summary["decisions"]

    def launched(self, _processes: object, _games: object) -> None:
        """Of no interest."""

    def tick(self) -> None:
        """Of no interest."""

    def __getattr__(self, name: str) -> object:
        return lambda *what: self.wrong.append(f"{name} {' '.join(map(str, what))}"[:200])


async def bot(target: str, token: str) -> None:
    """A whole bot."""
    options = [("grpc.use_local_subchannel_pool", 1)]
    async with grpc.aio.insecure_channel(target, options) as channel:
        method = channel.stream_stream(PLAY, lambda sent: sent.SerializeToString(), wire.PlayResponse.FromString)
        call = method(metadata=(("authorization", f"Bearer {token}"),))
        await call.write(wire.PlayRequest(join=wire.Join(name="bench", max_in_flight=64)))
        async for response in call:
            if response.turns:
                await call.write(wire.PlayRequest(moves=[first(turn) for turn in response.turns]))
            if response.HasField("farewell"):
                await call.done_writing()
                return


def first(turn: wire.Turn) -> wire.Move:
    """The highest bid, and else the first legal move."""
    move, options = wire.Move(turn_id=turn.turn_id), turn.options
    if options.cards:
        move.card = options.cards[0]
    elif options.bids:
        move.bid = options.bids[-1]
    elif options.suits:
        move.suit = options.suits[0]
    return move


async def bots(target: str, tokens: list[str]) -> None:
    """Many bots in one process, which all dial in at once."""
    await asyncio.gather(*(bot(target, token) for token in tokens))


def strangers(target: str, number: int) -> None:
    """Holds connections that say hello and nothing else, and renews those that are ended."""
    host, _, port = target.rpartition(":")
    held: list[socket.socket] = []
    while True:
        held = [line for line in held if not _ended(line)]
        for _ in range(number - len(held)):
            with contextlib.suppress(OSError):
                line = socket.create_connection((host, int(port)), 5)
                line.sendall(HELLO)
                line.setblocking(False)
                held.append(line)
        time.sleep(0.1)


def _ended(line: socket.socket) -> bool:
    try:
        return line.recv(65536) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


@contextlib.contextmanager
def clients(target: str, tokens: list[str], unknown: int) -> Iterator[None]:
    """The processes of the bots and of the strangers."""
    with contextlib.ExitStack() as stack:
        for number in range(CLIENTS):
            text = "\n".join([target, *tokens[number::CLIENTS]])
            process = subprocess.Popen([sys.executable, __file__, "--client"], stdin=subprocess.PIPE, text=True)
            stack.callback(_end, process)
            assert process.stdin is not None
            process.stdin.write(text)
            process.stdin.close()
        if unknown:
            stack.callback(_end, subprocess.Popen([sys.executable, __file__, "--stranger", target, str(unknown)]))
        yield


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()


async def league(folder: Path, number: int, games: int, unknown: int) -> tuple[float, float, Silent, int]:
    """Plays; the referee's processor time in µs a decision, decisions a second, what was heard, and most in a game."""
    keys = [f"bot{one}" for one in range(number)]
    entrants = {
        key: BotPlan(key=key, version="1", command=None, token=f"token-{key}", wait_seconds=300) for key in keys
    }
    rules = variant("auction-pitch").with_rules({"max_deals": 2})
    plan = LeaguePlan(
        league="bench",
        master=seeded_master("bench"),
        rules=rules,
        seats=4,
        objective="place",
        commitment="",
        bots=entrants,
        log_dir=folder,
        max_in_flight=1,
        listen="tcp:127.0.0.1:0",
    )
    fours = [tuple(keys[at : at + 4]) for at in range(0, number, 4)]
    rows = [
        FixtureRow(f"s{one}.{at}-0", f"s{one}.{at}", 0, four) for one in range(games) for at, four in enumerate(fours)
    ]
    heard, busiest = Silent(), 0
    with Store.create(folder / f"bench{number}.sqlite", {"name": "bench"}) as store:
        store.add_sets("bench", [row.set_id for row in rows], rows)
        event_sink = StoreSink(store, heard)  # type: ignore[arg-type]
        plans = [
            GamePlan(fixture_id=row.id, set_id=row.set_id, rotation=0, seats=row.seats, slots=(0, 0, 0, 0))
            for row in rows
        ]
        arena = Arena(plan, event_sink)
        await arena.open({(key, 0) for key in keys})
        with clients(heard.address.removeprefix("tcp:"), heard.tokens, unknown):
            await asyncio.gather(*(supervisor.settled.wait() for supervisor in arena.remote.values()))
            leg = Leg(plan, plans, event_sink, asyncio.Event(), arena)
            before, started = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
            playing = asyncio.ensure_future(leg.play())
            while not playing.done():
                await asyncio.wait({playing}, timeout=0.02)
                busiest = max(busiest, 4 * len(arena.games_in_play.seated))
            await playing
            event_sink.flush()
            seconds, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_SELF)
            await arena.close(stopped=False)
        heard.p99_us = _p99(store)
        if store.count_games() != len(rows):
            heard.wrong.append(f"{store.count_games()} of {len(rows)} games have a result")
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent / heard.decisions * 1e6, heard.decisions / seconds, heard, busiest


def _p99(store: Store) -> int:
    """What the slowest hundredth of all decisions was charged at least, in µs."""
    records = (store.record(row.number) for row in store.games())
    charged = sorted(us for record in records for seat in record["volatile"]["charged_us"] for us in seat)
    return charged[len(charged) * 99 // 100] if charged else 0


def resident_mib() -> int:
    """The memory of this process."""
    found = re.search(r"VmRSS:\s+(\d+)", Path("/proc/self/status").read_text("ascii"))
    return int(found[1]) >> 10 if found else 0


def main() -> None:
    """Measures the few and the many, and prints them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bots", type=int, default=1000, help="a multiple of 4 (default 1000)")
    parser.add_argument("--games", type=int, default=4, help="games of each bot (default 4)")
    parser.add_argument("--strangers", type=int, default=0, help="connections held without a token (default 0)")
    parser.add_argument("--client", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--stranger", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.client:
        target, *tokens = sys.stdin.read().split("\n")
        asyncio.run(bots(target, tokens))
        return
    if options.stranger:
        strangers(options.stranger[0], int(options.stranger[1]))
        return
    make_room(0, options.bots)
    with tempfile.TemporaryDirectory() as folder:
        few, _, small, _ = asyncio.run(league(Path(folder), 4, 20, 0))
        before = resident_mib()
        many, rate, heard, busiest = asyncio.run(league(Path(folder), options.bots, options.games, options.strangers))
    print(f"{options.bots} remote bots, {busiest} in a game at once, {options.strangers} strangers beside them")
    print(f"  decisions                             {heard.decisions:9,}   ({rate:,.0f}/s)")
    print(f"  referee CPU a decision, 4 bots        {few:9.1f} µs")
    print(f"  referee CPU a decision, all           {many:9.1f} µs   (ratio {many / few:.2f})")
    print(f"  memory of the referee                 {resident_mib():9} MiB (before: {before})")
    print(f"  charged, slowest hundredth            {heard.p99_us / 1000:9.1f} ms")
    wrong = small.wrong + heard.wrong
    if busiest < options.bots:
        wrong.append(f"only {busiest} of {options.bots} bots were in a game at once")
    sys.exit("\n".join(wrong[:20]) if wrong else 0)


if __name__ == "__main__":
    main()
