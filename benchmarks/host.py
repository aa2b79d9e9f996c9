"""A whole host under load: does anything leak, is anybody late through our fault, and what does the site cost the games?

    python benchmarks/host.py --minutes 30 --json docs/host.json      # `make host-soak`
    python benchmarks/host.py --minutes 2 --bots 8 --kinds 'python/*' # a short one, with bots that need no compiler

A host runs on this machine with all its parts, as ``referee host`` starts it, and plays rounds back to back. Its house bots
are the sample bots of every language that is built (``make bots``), each under several names with an owner of its own. Beside it

* watchers hold streams of events of the board, from a process of their own at the lowest priority, for people are elsewhere;
* pages are asked for at a fixed rate, whether or not earlier ones were answered, and how long each takes is noted;
* uploads come in all at once through the API (good ones, such as break a rule, do not build, are no archive or too large), and later
  new versions one after another, so that the jobs always have something to build and to check;
* every few seconds memory, open files, threads and the sizes of the stores are noted.

Every other round is played without the site: its processes are stopped (SIGSTOP) with its watchers, for a whole round, in the order
with, without, without, with. So games a minute are compared in one run, whatever else the machine does.

Ends with an error, and says why, where a sample bot was late or lost, a good bot was refused or a bad one was not, a page failed, a
watcher was lost, a part of the host died, the queue was not worked off, a log of writes grew without bound, the export did not verify, or a
part's memory or open files grew all the time.
"""

import argparse
import asyncio
import contextlib
import fnmatch
import io
import itertools
import json
import os
import platform
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from referee.host.home import HostHome
from referee.host.rows import JobState, VersionState
from referee.host.store import HostStore
from referee.league.definition.shipped import shipped_folder
from referee.league.entrants.bot_build import unbuilt
from referee.league.entrants.bot_source import find_bot
from referee.league.league import read_league
from referee.league.store import Store, StoreError

REFEREE: Final = (sys.executable, "-m", "referee")
KINDS: Final = tuple(
    f"{language}/{name}"
    for language in ("python", "typescript", "go", "rust", "java", "cpp")
    for name in ("random", "careful")
)
PARTS: Final = ("web", "engine", "jobs")  # of a host without a door for remote bots
PANEL: Final = 4
PATIENCE: Final = 3600.0
"""Seconds after which something hangs, on a busy machine too."""

SAMPLE_S: Final = 5.0
SWITCH_S: Final = 1.0
"""A round in which the site was taken away, or came back, later than this is not counted."""

PAGES_A_SECOND: Final = 5.0
WATCHERS_OF_AN_ADDRESS: Final = 50
WAL_MIB: Final = 64.0
"""A log of writes that is longer was never worked off."""

GROWTH_MIB: Final = 24.0
"""So much more memory than at first a part may need that knows more games and rounds than at first."""

GROWTH_FILES: Final = 8
LEAST_SAMPLES: Final = 48
"""Of fewer than these, some four minutes, nothing follows: every part grows at first."""

WANTED_RATIO: Final = 0.9
LEAST_ROUNDS: Final = 4
"""Of fewer rounds with the site, or without, nothing follows."""


GOOD: Final = "from referee.bot import run\nrun(lambda turn: turn.rng.choice(turn.legal))\n"
RENEGES: Final = """\
from referee.bot import Kind, run
def choose(turn):
    wrong = [card for card in turn.hand if card not in turn.legal] if turn.kind is Kind.PLAY else []
    return wrong[0] if wrong else turn.rng.choice(turn.legal)
run(choose)
"""
MANIFEST: Final = 'name = "{name}"\nversion = "{version}"\nrun = ["python", "build/bot.py"]\nbuild = "sh make.sh"\n'
MAKES: Final = "mkdir -p build\npython3 -c 'print(sum(range(30_000_000)))'\ncp bot.py build/bot.py\n"
"""A build that keeps a processor busy for some seconds."""


@dataclass(frozen=True, slots=True)
class Load:
    """What is done to the host."""

    minutes: float
    rounds: int
    bots: int
    kinds: tuple[str, ...]
    seats: int
    sets: int
    watchers: int
    uploads: int
    pages_a_second: float = PAGES_A_SECOND


@dataclass(frozen=True, slots=True)
class RoundFigures:
    """A round: how many games, in how many seconds; seconds of processor time of the engine with its bots, of the site, and of the jobs."""

    number: int
    with_site: bool
    games: int
    seconds: float
    engine_cpu: float
    web_cpu: float
    jobs_cpu: float


@dataclass(slots=True)
class Seen:
    """What was noted every few seconds: by part, MiB of memory, open files and threads."""

    at: list[float] = field(default_factory=list)
    memory: dict[str, list[float]] = field(default_factory=lambda: {part: [] for part in ("supervisor", *PARTS)})
    files: dict[str, list[float]] = field(default_factory=lambda: {part: [] for part in ("supervisor", *PARTS)})
    threads: dict[str, list[float]] = field(default_factory=lambda: {part: [] for part in ("supervisor", *PARTS)})
    wal: dict[str, list[float]] = field(default_factory=lambda: {"ladder": [], "host": []})
    waiting: list[float] = field(default_factory=list)
    load: list[float] = field(default_factory=list)


# What /proc says.


def children() -> dict[int, list[int]]:
    """All processes, by parent."""
    found: dict[int, list[int]] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit() and (words := _stat(int(entry.name))):
            found.setdefault(int(words[1]), []).append(int(entry.name))
    return found


def parts_of(supervisor: int) -> dict[str, int]:
    """The processes of a host, by part."""
    found = {"supervisor": supervisor}
    for pid in children().get(supervisor, []):
        with contextlib.suppress(OSError):
            words = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
            if "referee.host.part" in words:
                found[words[words.index("referee.host.part") + 1]] = pid
    return found


def processor_seconds(pid: int) -> float:
    """Processor time of a process, of all below it, and of those of them that have ended and were waited for."""
    below, found = children(), [pid]
    for one in found:
        found += below.get(one, [])
    ticks = sum(sum(map(int, words[11:15])) for one in found if (words := _stat(one)))
    return ticks / os.sysconf("SC_CLK_TCK")


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat behind the name of the program, from the state on."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return []


def _status(pid: int) -> tuple[float, int, int]:
    """MiB of memory, open files, threads of a process."""
    text = Path(f"/proc/{pid}/status").read_text()
    kib, threads = re.search(r"VmRSS:\s+(\d+)", text), re.search(r"Threads:\s+(\d+)", text)
    return (
        int(kib[1]) / 1024 if kib else 0.0,
        len(list(Path(f"/proc/{pid}/fd").iterdir())),
        int(threads[1]) if threads else 0,
    )


# The host.


def house(load: Load) -> Iterator[str]:
    """The house bots as they stand in the definition: the samples of every language that is built, in turn."""
    samples = shipped_folder("sample_bots")
    kinds = [kind for kind in load.kinds if unbuilt(find_bot(str(samples / kind), samples)) is None]
    if not kinds:
        raise SystemExit("no sample bot of these kinds is built: make bots")
    for number, kind in zip(range(load.bots), itertools.cycle(kinds), strict=False):
        name = f"{kind.replace('/', '-')}-{number:02}"
        whose = "panel = true" if number < PANEL else f'owner = "house{number:02}"'
        yield f'[[bots]]\npath = "{samples / kind}"\nname = "{name}"\n{whose}\n'


class SoakedHost:
    """A host in a folder, with its owners' tokens; it runs between ``start`` and ``stop``."""

    def __init__(self, folder: Path, load: Load) -> None:
        self.folder, self.file = folder, folder / "soak.toml"
        self.file.write_text(
            f'[tournament]\nname = "Soak"\nvariant = "auction-pitch"\nseats = {load.seats}\n'
            f'[schedule]\nformat = "ladder"\nsets = {load.sets}\n[host]\naddress = "127.0.0.1:0"\nuploads_per_hour = 1000\n'
            f"upload_mib = 1\n{''.join(house(load))}"
        )
        self.home = HostHome.beside(self.file)
        self.home.make()
        self.store = HostStore.open(self.home.store)
        self.tokens = [self._join(f"owner{number:03}") for number in range(load.uploads)]
        self.process: subprocess.Popen[bytes] | None = None
        self.pid = 0
        self.url = ""

    def _join(self, name: str) -> str:
        owner = self.store.join(self.store.invite(name, time.time(), by="soak"), name, time.time())
        return self.store.add_token(owner.id, "soak", time.time())

    def start(self) -> None:
        """Starts it, and waits for its site."""
        with (self.folder / "host.out").open("wb") as out:
            self.process = subprocess.Popen(
                [*REFEREE, "host", self.file.name], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=out, stderr=out
            )
        self.pid = self.process.pid
        self.wait(lambda: self.store.setting("address") and len(parts_of(self.pid)) == 1 + len(PARTS))
        self.url = f"http://{self.store.setting('address')}"

    def wait(self, look: Any) -> None:
        """Waits until something is so. Raises ``SystemExit`` where it never comes, or the host has ended."""
        end = time.monotonic() + PATIENCE
        while not look():
            if self.process is None or self.process.poll() is not None or time.monotonic() > end:
                raise SystemExit(f"the host has ended, or hangs: {self.said()[-3000:]}")
            time.sleep(0.1)

    def said(self) -> str:
        """What it has printed."""
        return (self.folder / "host.out").read_text("utf-8", "replace")

    def stop(self) -> int:
        """Stops it as Ctrl-C does; its exit code."""
        if self.process is None:
            return 0
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE)

    def rounds(self) -> list[Any]:
        """The rounds of its ladder."""
        with contextlib.suppress(StoreError), Store.read(self.home.ladder) as store:
            return list(read_league(store).facts.get("rounds", []))
        return []

    def games(self) -> int:
        """How many games its ladder has."""
        with contextlib.suppress(StoreError), Store.read(self.home.ladder) as store:
            return store.count_games()
        return 0

    def waiting(self) -> int:
        """Jobs that are not over."""
        return self.store.count_jobs(JobState.WAITING) + self.store.count_jobs(JobState.RUNNING)


# Who comes over the network: processes of their own.


async def watch(url: str, count: int) -> None:
    """Holds streams of the board until the input ends, then prints how many events came, and how many streams were lost."""
    seen = Counter[str]()
    over = asyncio.Event()
    host, port = url.removeprefix("http://").split(":")

    async def one(number: int) -> None:
        address = f"10.1.{number // WATCHERS_OF_AN_ADDRESS}.1"
        asked = f"GET /events HTTP/1.1\r\nHost: {host}:{port}\r\nX-Forwarded-For: {address}\r\n\r\n".encode()
        while not over.is_set():
            try:
                reader, writer = await asyncio.open_connection(host, int(port))
                writer.write(asked)
                head = await reader.readline()
                seen["streams" if b" 200 " in head else "refused"] += 1
                while line := await reader.readline():
                    seen["events"] += line.startswith(b"event: board")
                writer.close()
            except OSError:
                pass
            if not over.is_set():
                seen["lost"] += 1
                await asyncio.sleep(1)

    tasks = [asyncio.create_task(one(number)) for number in range(count)]
    await asyncio.to_thread(sys.stdin.read)
    over.set()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    print(json.dumps(seen))


async def browse(url: str, rate: float, names: Sequence[str]) -> None:
    """Asks for pages at a rate, between ``go`` and ``rest`` of the input; in the end prints how long each took, by kind."""
    took: dict[str, list[float]] = {}
    wrong = Counter[str]()
    going, over, running = asyncio.Event(), asyncio.Event(), set[asyncio.Task[None]]()
    chance = random.Random(1)
    last_game = 0

    async def one(client: httpx.AsyncClient, kind: str, path: str) -> None:
        nonlocal last_game
        started = time.perf_counter()
        try:
            told = {"X-Forwarded-For": f"10.2.{chance.randrange(250)}.{chance.randrange(250)}"}
            answer = await client.get(url + path, headers=told)
        except httpx.HTTPError as error:
            wrong[f"{kind}: {type(error).__name__}"] += 1
            return
        took.setdefault(kind, []).append(time.perf_counter() - started)
        if answer.status_code != 200:
            wrong[f"{kind}: {answer.status_code}"] += 1
        if kind == "bot" and (found := re.findall(r"games/(\d+)", answer.text)):
            last_game = max(last_game, *map(int, found))

    async def ask() -> None:
        async with httpx.AsyncClient(timeout=60) as client:
            while not over.is_set():
                await going.wait()
                kind = chance.choice(("board", "board", "bot", "bot", "game", "rounds", "enter", "rules", "api"))
                name = chance.choice(names)
                if kind == "game" and not last_game:
                    kind = "bot"
                paths = {
                    "board": "/",
                    "bot": f"/bots/{name}",
                    "api": "/api/v1/board",
                    "game": f"/games/{chance.randint(1, max(last_game, 1))}",
                }
                task = asyncio.create_task(one(client, kind, paths.get(kind, f"/{kind}")))
                running.add(task)
                task.add_done_callback(running.discard)
                await asyncio.sleep(chance.expovariate(rate))
            await asyncio.gather(*running)

    asking = asyncio.create_task(ask())
    while line := await asyncio.to_thread(sys.stdin.readline):
        if line == "go\n":
            going.set()
        else:
            going.clear()
            await asyncio.sleep(0.05)
            await asyncio.gather(*running)
        print("done", flush=True)
    over.set()
    going.set()
    await asking
    print(json.dumps({"took": took, "wrong": wrong}))


class Visitors:
    """A process of visitors of the site."""

    def __init__(self, role: str, *words: str, nice: int = 0) -> None:
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--nice", str(nice), "--role", role, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def tell(self, word: str) -> None:
        """Tells it something, and waits until it is done."""
        if self.process.stdin is None or self.process.stdout is None:
            raise SystemExit("visitors without streams")
        self.process.stdin.write(f"{word}\n")
        self.process.stdin.flush()
        self.process.stdout.readline()

    def end(self) -> dict[str, Any]:
        """Ends it; what it has seen."""
        printed, _ = self.process.communicate(timeout=PATIENCE)
        found: dict[str, Any] = json.loads(printed.splitlines()[-1])
        return found


# What is handed in.


def archive(name: str, version: int, kind: str) -> bytes:
    """An archive of that kind: good, reneges, unbuildable, hostile, or large."""
    if kind == "large":
        return random.Random(name).randbytes(2 << 20)
    if kind == "hostile" and int(name[-1]) % 2:
        return random.Random(name).randbytes(5_000)
    files = {
        "bot.toml": MANIFEST.format(name=name, version=version),
        "make.sh": "echo no such thing\nexit 3\n" if kind == "unbuildable" else MAKES,
        "bot.py": f"# {name} {version}\n{RENEGES if kind == 'reneges' else GOOD}",
    }
    if kind == "hostile":
        files["../outside.py"] = GOOD
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for path, text in files.items():
            made.writestr(path, text)
    return out.getvalue()


def kind_of(number: int) -> str:
    """Of ten uploads one is good."""
    return (
        "good",
        "reneges",
        "hostile",
        "unbuildable",
        "large",
        "reneges",
        "hostile",
        "unbuildable",
        "large",
        "reneges",
    )[number % 10]


def hand_in(host: SoakedHost, number: int, version: int, kind: str) -> tuple[int, float]:
    """Hands an archive in, and tries again where the host asks for patience; the status in the end, and seconds until then."""
    name, started = f"bot{number:03}", time.perf_counter()
    data = archive(name, version, kind)
    headers = {
        "Authorization": f"Bearer {host.tokens[number]}",
        "Content-Type": "application/zip",
        "X-Forwarded-For": f"10.3.{number // 200}.{number % 200 + 1}",
    }
    with httpx.Client(timeout=120) as client:
        while True:
            with contextlib.suppress(httpx.TransportError):  # what is too large is refused before it is read to its end
                answer = client.post(f"{host.url}/api/v1/bots/{name}/versions", content=data, headers=headers)
                if answer.status_code not in (429, 503):
                    return answer.status_code, time.perf_counter() - started
                time.sleep(float(answer.headers.get("Retry-After", 1)) * random.uniform(0.5, 1.0))
                continue
            if kind == "large":
                return 0, time.perf_counter() - started
            time.sleep(0.5)


# A run.


class Soak:
    """A run: the load, and what is noted."""

    def __init__(self, host: SoakedHost, load: Load) -> None:
        self.host, self.load = host, load
        self.seen, self.rounds = Seen(), list[RoundFigures]()
        self.wrong: list[str] = []
        self.uploads = Counter[str]()
        self.upload_seconds: list[float] = []
        self._site_is_there = threading.Event()
        self._over = threading.Event()
        self._began = time.monotonic()
        self._version = itertools.count(2)
        self._running, self._lock = 0, threading.Condition()

    def run(self) -> dict[str, Any]:
        """Runs it; the figures."""
        self.host.start()
        parts, names = parts_of(self.host.pid), self._names()
        watchers = Visitors("watch", self.host.url, str(self.load.watchers), nice=19)
        browsers = Visitors("browse", self.host.url, str(self.load.pages_a_second), *names)
        self._site_is_there.set()
        with ThreadPoolExecutor(2) as pool:
            noting = pool.submit(self._note_all, parts)
            handing_in = pool.submit(self._hand_all_in)
            try:
                self._play(parts, watchers, browsers)
            except KeyboardInterrupt:
                print("interrupted: these are the figures until now", flush=True)
            finally:
                self._over.set()
                self._resume(parts, watchers)
            handing_in.result()
            drained = self._drain()
            noting.result()
        pages, watched = browsers.end(), watchers.end()
        if parts_of(self.host.pid) != parts:
            self.wrong.append(f"a part of the host has died:\n{self.host.said()[-2000:]}")
        verified = subprocess.run(
            [*REFEREE, "verify", self.host.url], cwd=self.host.folder, capture_output=True, text=True, check=False
        )
        if verified.returncode:
            self.wrong.append(f"the export does not verify: {verified.stdout[-500:]}{verified.stderr[-500:]}")
        code = self.host.stop()
        if code:
            self.wrong.append(f"the host ended with exit code {code}: {self.host.said()[-1000:]}")
        return self._figures(pages, watched, drained)

    def _names(self) -> list[str]:
        return re.findall(r'^name = "([\w]+-[\w-]+)"$', self.host.file.read_text(), re.MULTILINE)

    # Rounds with and without the site.

    def _play(self, parts: dict[str, int], watchers: Visitors, browsers: Visitors) -> None:
        """Lets rounds be played until the time is over, every other one without the site."""
        order = itertools.cycle((True, False, False, True))
        self.host.wait(self._closed)  # the first one warms up
        ends = self._began + 60 * self.load.minutes
        while not self._is_over(ends) and not self._died(parts):
            with_site, number, began = next(order), self._closed(), time.monotonic()
            if with_site:
                self._resume(parts, watchers)
                browsers.tell("go")
            else:
                self._site_is_there.clear()
                browsers.tell("rest")
                self._wait_for_uploads()
                os.killpg(parts["web"], signal.SIGSTOP)
                watchers.process.send_signal(signal.SIGSTOP)
            if self._closed() > number or time.monotonic() - began > SWITCH_S:  # not a whole round any more
                number = self._closed()
                self.host.wait(lambda number=number: self._closed() > number)
            number = self._closed()
            games, began, before = self.host.games(), time.monotonic(), self._processor(parts)
            self.host.wait(lambda number=number: self._closed() > number or self._is_over(ends))
            if self._closed() == number:
                break
            spent = [now - then for now, then in zip(self._processor(parts), before, strict=True)]
            figures = RoundFigures(number + 1, with_site, self.host.games() - games, time.monotonic() - began, *spent)
            self.rounds.append(figures)
            told = "with" if with_site else "without"
            print(
                f"round {figures.number:3} {told:7} the site: {figures.games} games in {figures.seconds:.0f} s, "
                f"{self.host.waiting()} jobs wait, load {os.getloadavg()[0]:.0f}",
                flush=True,
            )
            if with_site:
                browsers.tell("rest")

    def _resume(self, parts: dict[str, int], watchers: Visitors) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(parts["web"], signal.SIGCONT)
        watchers.process.send_signal(signal.SIGCONT)
        self._site_is_there.set()

    def _is_over(self, ends: float) -> bool:
        return time.monotonic() > ends and len(self.rounds) >= self.load.rounds

    def _closed(self) -> int:
        return sum("result_root" in one for one in self.host.rounds())

    def _died(self, parts: dict[str, int]) -> bool:
        return parts_of(self.host.pid) != parts

    @staticmethod
    def _processor(parts: dict[str, int]) -> list[float]:
        return [processor_seconds(parts[part]) for part in ("engine", "web", "jobs")]

    # Uploads.

    def _hand_all_in(self) -> None:
        """All at once; then new versions of those that build, as soon as few wait."""
        with ThreadPoolExecutor(self.load.uploads) as pool:
            done = [pool.submit(self._one, number, 1, kind_of(number)) for number in range(self.load.uploads)]
            for one in done:
                one.result()
        more = itertools.cycle(number for number in range(self.load.uploads) if kind_of(number) in ("good", "reneges"))
        while not self._over.wait(1.0):
            if self.host.waiting() < 2 and self._site_is_there.is_set():
                number = next(more)
                self._one(number, next(self._version), kind_of(number))

    def _one(self, number: int, version: int, kind: str) -> None:
        with self._uploading():
            status, seconds = hand_in(self.host, number, version, kind)
        self.uploads[kind] += 1
        self.upload_seconds.append(seconds)
        wanted = (413, 0) if kind == "large" else (200, 201)
        if status not in wanted:
            self.wrong.append(f"an upload ({kind}) was answered with {status}")

    @contextlib.contextmanager
    def _uploading(self) -> Iterator[None]:
        with self._lock:
            self._running += 1
        try:
            yield
        finally:
            with self._lock:
                self._running -= 1
                self._lock.notify_all()

    def _wait_for_uploads(self) -> None:
        """The site is stopped when it holds no lock of the store: after the last upload."""
        with self._lock:
            self._lock.wait_for(lambda: not self._running, PATIENCE)

    def _drain(self) -> float:
        """Seconds until no job waits any more; infinite where it hangs."""
        began = time.monotonic()
        while self.host.waiting():
            if time.monotonic() - began > PATIENCE:
                self.wrong.append(f"{self.host.waiting()} jobs were never done")
                return float("inf")
            time.sleep(0.5)
        return time.monotonic() - began

    # Notes.

    def _note_all(self, parts: dict[str, int]) -> None:
        while True:
            with contextlib.suppress(OSError):
                self._note(parts)
            if self._over.wait(min(SAMPLE_S, 6 * self.load.minutes + 0.1)):
                return

    def _note(self, parts: dict[str, int]) -> None:
        found = {part: _status(pid) for part, pid in parts.items()}
        seen = self.seen
        seen.at.append(time.monotonic() - self._began)
        for part, (memory, files, threads) in found.items():
            seen.memory[part].append(memory)
            seen.files[part].append(files)
            seen.threads[part].append(threads)
        for name, path in (("ladder", self.host.home.ladder), ("host", self.host.home.store)):
            wal = path.with_name(f"{path.name}-wal")
            seen.wal[name].append(wal.stat().st_size / (1 << 20) if wal.exists() else 0.0)
        seen.waiting.append(self.host.waiting())
        seen.load.append(os.getloadavg()[0])

    # Figures.

    def _figures(self, pages: dict[str, Any], watched: dict[str, int], drained: float) -> dict[str, Any]:
        verdicts = Counter(f"{kind_of(int(one.bot[3:]))} {one.state}" for one in self.host.store.versions())
        wanted = {
            "good": VersionState.ACCEPTED,
            "reneges": VersionState.REFUSED,
            "unbuildable": VersionState.REFUSED,
            "hostile": VersionState.REFUSED,
        }
        for one in self.host.store.versions():
            if one.state is not wanted.get(kind_of(int(one.bot[3:]))):
                self.wrong.append(f"{one.bot} ({kind_of(int(one.bot[3:]))}) is {one.state}: {one.reason}")
        failed = self.host.store.count_jobs(JobState.FAILED)
        if failed:
            self.wrong.append(f"{failed} jobs failed through our fault")
        with Store.read(self.host.home.ladder) as store:
            rulings = list(store.every_ruling())
            faults = list(store.faults())
            games, rounds = store.count_games(), len(read_league(store).facts.get("rounds", []))
        self.wrong += [f"ruling against {one['entrant']}: {one['sentence']}" for one in rulings[:10]]
        self.wrong += [f"fault: {one}" for one in faults[:10]]
        took = sorted(seconds for kind in pages["took"].values() for seconds in kind)
        if pages["wrong"]:
            self.wrong.append(f"pages failed: {pages['wrong']}")
        if watched.get("lost") or watched.get("refused") or watched.get("streams", 0) < self.load.watchers:
            self.wrong.append(f"watchers were lost: {watched}")
        for name, sizes in self.seen.wal.items():
            if max(sizes, default=0) > WAL_MIB:
                self.wrong.append(f"the log of writes of the {name} grew to {max(sizes):.0f} MiB")
        parts = {part: self._part(part) for part in self.seen.memory}
        compared = compare(self.rounds)
        if (
            min(compared[name]["rounds"] for name in ("with", "without")) >= LEAST_ROUNDS
            and compared["ratio_high"] < WANTED_RATIO
        ):
            self.wrong.append(f"with the site {compared['ratio']:.2f} of the games a minute are played")
        return {
            "machine": {
                "cores": len(os.sched_getaffinity(0)),
                "python": platform.python_version(),
                "machine": platform.machine(),
                "load": statistics.median(self.seen.load),
                "most_load": max(self.seen.load),
            },
            "load": asdict(self.load),
            "minutes": (time.monotonic() - self._began) / 60,
            "rounds": rounds,
            "games": games,
            "parts": parts,
            "pages": {
                kind: {"count": len(each), **_percentiles(sorted(each))}
                for kind, each in sorted({**pages["took"], "all": took}.items())
            },
            "watchers": watched,
            "uploads": {
                "count": dict(self.uploads),
                "verdicts": dict(verdicts),
                **_percentiles(sorted(self.upload_seconds)),
            },
            "most_waiting": max(self.seen.waiting),
            "drained_s": drained,
            "wal_mib": {name: max(sizes) for name, sizes in self.seen.wal.items()},
            "rulings": len(rulings),
            "clock": sum(one["rule"].startswith("AF-CLOCK") for one in rulings),
            "faults": len(faults),
            "compared": compared,
            "each_round": [asdict(one) for one in self.rounds],
            "seen": thinned(asdict(self.seen)),
            "wrong": self.wrong,
        }

    def _part(self, part: str) -> dict[str, float]:
        """Memory and files of a part, and how both grew: from the second quarter of the time to the last one, and by the hour."""
        found: dict[str, float] = {}
        for what, values, most in (
            ("mib", self.seen.memory[part], GROWTH_MIB),
            ("files", self.seen.files[part], GROWTH_FILES),
            ("threads", self.seen.threads[part], GROWTH_FILES),
        ):
            grown = growth(values)
            found |= {what: statistics.median(values), f"{what}_most": max(values), f"{what}_grown": grown}
            found[f"{what}_an_hour"] = slope(self.seen.at, values) * 3600
            if grown > most and len(values) >= LEAST_SAMPLES:
                self.wrong.append(f"{part}: {what} grew by {grown:.0f}")
        return found


def thinned(found: Any) -> Any:
    """Lists of at most some eighty values, to be drawn."""
    if isinstance(found, dict):
        return {key: thinned(one) for key, one in found.items()}
    return [round(value, 1) for value in found[:: max(1, len(found) // 40)]]


def growth(values: Sequence[float]) -> float:
    """How much the median of the last quarter is above that of the second one."""
    quarter = len(values) // 4
    if not quarter:
        return 0.0
    return statistics.median(values[-quarter:]) - statistics.median(values[quarter : 2 * quarter])


def slope(at: Sequence[float], values: Sequence[float]) -> float:
    """Least squares: by how much the values grow in a second, the first quarter of the time left out."""
    first = len(at) // 4
    if len(at) - first < 2:
        return 0.0
    return float(statistics.linear_regression(at[first:], values[first:]).slope)


def compare(rounds: Sequence[RoundFigures]) -> dict[str, Any]:
    """Games a minute with and without the site, their ratio with its 95% interval (bootstrap over rounds), and what processor time a game took."""
    groups = {told: [one for one in rounds if one.with_site is told] for told in (True, False)}
    found: dict[str, Any] = {"ratio": None}
    for told, name in ((True, "with"), (False, "without")):
        group = groups[told]
        games = sum(one.games for one in group) or 1
        found[name] = {
            "rounds": len(group),
            "games_a_minute": _rate(group),
            "engine_cpu_a_game": sum(one.engine_cpu for one in group) / games,
        }
        found[name]["web_cpu_share"] = sum(one.web_cpu for one in group) / (sum(one.seconds for one in group) or 1)
    if not all(groups.values()):
        return found
    chance = random.Random(1)
    ratios = sorted(
        _rate(chance.choices(groups[True], k=len(groups[True])))
        / _rate(chance.choices(groups[False], k=len(groups[False])))
        for _ in range(2000)
    )
    return found | {
        "ratio": _rate(groups[True]) / _rate(groups[False]),
        "ratio_low": ratios[50],
        "ratio_high": ratios[-51],
    }


def _rate(rounds: Sequence[RoundFigures]) -> float:
    return 60 * sum(one.games for one in rounds) / (sum(one.seconds for one in rounds) or 1)


def _percentiles(ordered: Sequence[float]) -> dict[str, float]:
    if not ordered:
        return {}
    return {f"p{part}_ms": 1000 * ordered[min(len(ordered) * part // 100, len(ordered) - 1)] for part in (50, 90, 99)}


def main() -> int:
    """Runs it and prints the figures; 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--rounds", type=int, default=4, help="at least so many are compared, however long they take")
    parser.add_argument("--bots", type=int, default=40)
    parser.add_argument("--kinds", default="*", help="a pattern of sample bots, such as 'python/*'")
    parser.add_argument("--seats", type=int, default=2)
    parser.add_argument("--sets", type=int, default=1)
    parser.add_argument("--watchers", type=int, default=400)
    parser.add_argument("--uploads", type=int, default=100)
    parser.add_argument("--json", type=Path, help="write all figures there")
    parser.add_argument("--role", nargs="+", help=argparse.SUPPRESS)
    parser.add_argument("--nice", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.role:
        os.nice(options.nice)
        role, url, *more = options.role
        asyncio.run(watch(url, int(more[0])) if role == "watch" else browse(url, float(more[0]), more[1:]))
        return 0
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)  # so that the host is ended with us
    kinds = tuple(kind for kind in KINDS if fnmatch.fnmatch(kind, options.kinds))
    load = Load(
        options.minutes,
        options.rounds,
        options.bots,
        kinds,
        options.seats,
        options.sets,
        options.watchers,
        options.uploads,
    )
    with tempfile.TemporaryDirectory(prefix="host-soak-") as name:
        host = SoakedHost(Path(name), load)
        try:
            figures = Soak(host, load).run()
        finally:
            host.stop()
            host.store.close()
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")
    print(json.dumps({key: value for key, value in figures.items() if key not in ("seen", "each_round")}, indent=1))
    return 1 if figures["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
