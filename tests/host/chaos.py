"""Kills the parts of a host again and again while bots are pushed and rounds are played, and proves that nothing is lost or counts twice.

    python -m tests.host.chaos --kills 200 --seed 1

Each ladder tells the same story: bots come in by ``referee push`` before each of its rounds, good ones, new versions, and such as
are refused; then the round is played. Meanwhile its supervisor, its parts, the process of a job and bots that play are killed
(SIGKILL), and a host whose supervisor is dead is started again. Every ladder has to equal the one that nobody disturbed, down to the
roots of its rounds. A seed that fails is printed with the command that repeats it.
"""

import argparse
import contextlib
import json
import os
import random
import re
import signal
import socket
import sqlite3
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from referee.host.home import HostHome
from referee.host.jobs import sweep
from referee.host.rows import JobState, VersionState
from referee.host.store import HostStore
from referee.league.league import read_league
from referee.league.store import Store, StoreError
from referee.sandbox.process_tree import Process, process, processes, send
from tests.host.gates import BUILDS, MAKES, RENEGES
from tests.host.hosted import CHANCE, HOUSE
from tests.program import FIRST, LAST, PATIENCE, Started, run

DEFINITION: Final = """\
[tournament]
name = "Chaos"
variant = "auction-pitch"
seats = 2
length = "deal"
[schedule]
format = "ladder"
sets = {sets}
seed = "chaos"
[limits]
move_ms = 600000
start_s = 600
[host]
address = "127.0.0.1:{port}"
every = "24h"
uploads_per_hour = 1000
"""
"""A round begins when the story says so, and no sooner: ``every`` keeps the next one for a day."""

KINDS: Final = ("web", "engine", "jobs", "supervisor", "job", "bot")
"""What is killed."""

SHORT_LIFE: Final = 5.0
"""Seconds between two kills, at most, while things go on. Half as many more after each kill before which nothing had come about: so
a host gets somewhere in the end on a slow machine too.
"""

LONG_LIFE: Final = 60.0

_DAY: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class Push:
    """Somebody hands a bot in. ``good``: it keeps the rules."""

    owner: str
    program: str
    good: bool = True
    builds: bool = False

    def write(self, folder: Path) -> None:
        """The folder of the bot, in the place of an earlier version."""
        folder.mkdir(exist_ok=True)
        (folder / "bot.py").write_text(self.program)
        run_as = 'run = ["python", "bot.py"]\n'
        told = (
            BUILDS.replace('"mine"', f'"{self.owner}s"')
            if self.builds
            else f'name = "{self.owner}s"\nversion = "1"\n{run_as}'
        )
        (folder / "bot.toml").write_text(told)
        (folder / "make.sh").write_text(MAKES)


STORY: Final[tuple[tuple[Push, ...], ...]] = (
    (Push("ann", LAST, builds=True), Push("bob", RENEGES, good=False)),
    (Push("ann", f"# The second.\n{CHANCE}"), Push("cid", FIRST)),
    (Push("bob", f"# Mended.\n{CHANCE}", builds=True),),
)
"""What is handed in before each round, one after another."""


@dataclass(frozen=True, slots=True)
class Told:
    """What two ladders have in common: all but times and numbers of attempts."""

    rounds: list[dict[str, Any]]
    games: dict[str, str]
    verdicts: list[tuple[str, str, str]]
    """Of each bot the verdicts on its versions that differ: bot, state, the digest of its files."""


class Ground:
    """A folder with a host of its own: its definition, its house bots, and who hands bots in from folders beside it."""

    def __init__(self, folder: Path, story: tuple[tuple[Push, ...], ...] = STORY, sets: int = 8) -> None:
        self.story, self.place = story, folder / "host"
        self.temporary = folder / "tmp"
        self.authors = folder / "authors"
        for made in (self.place, self.temporary, self.authors):
            made.mkdir()
        for name, text in HOUSE.items():
            (self.place / f"{name}.py").write_text(text)
        self.wrong: list[BaseException] = []
        self.file = self.place / "chaos.toml"
        bots = "".join(f'[[bots]]\npath = "{name}.py"\n' for name in HOUSE)
        self.file.write_text(DEFINITION.format(sets=sets, port=free_port()) + bots)
        self.home = HostHome.beside(self.file)
        self.home.make()
        self.store = HostStore.open(self.home.store)
        self.store.set("paused", "1", time.time(), by="chaos")
        self.tokens = {name: self._join(name) for name in {one.owner for part in story for one in part}}

    def _join(self, name: str) -> str:
        owner = self.store.join(self.store.invite(name, time.time(), by="chaos"), name, time.time())
        return self.store.add_token(owner.id, "chaos", time.time())

    # What the host is at this moment.

    def rounds(self) -> list[dict[str, Any]]:
        """The rounds of its ladder."""
        with contextlib.suppress(StoreError), Store.read(self.home.ladder) as store:
            return [dict(one) for one in read_league(store).facts.get("rounds", [])]
        return []

    def games(self) -> dict[str, str]:
        """Its games, with the digests of their records."""
        with contextlib.suppress(StoreError), Store.read(self.home.ladder) as store:
            return {f"{one.fixture_id} {one.redeal}": one.record_digest for one in store.every_game()}
        return {}

    def verdicts(self) -> dict[str, str]:
        """Its jobs that are over."""
        done = self.store.jobs(state=JobState.DONE, most=1 << 30)
        return {f"job {one.id}": f"{self.store.version(one.version).state} {one.sentence}" for one in done}

    def kept(self) -> dict[str, str]:
        """Whatever may never be lost or changed again."""
        roots = {f"round {one['number']}": one["result_root"] for one in self.rounds() if "result_root" in one}
        return {**self.games(), **self.verdicts(), **roots}

    def processes(self) -> dict[str, list[Process]]:
        """Its processes, by what they are. Bots: those that play, not those that are checked."""
        everything, found = processes(), dict[int, str]()
        for one in everything.values():
            words = _words(one.pid)
            if one.dead or str(self.file) not in words:
                continue
            for program, place in (("referee.host.part", 1), ("referee.host.job", 0)):
                if program in words:
                    found[one.pid] = words[words.index(program) + 1] if place else "job"
        # A child that a part has forked has the same words until it is a program of its own.
        parts = {pid: kind for pid, kind in found.items() if found.get(everything[pid].parent) != kind}
        by_kind: dict[str, list[Process]] = {kind: [] for kind in KINDS}
        for pid, kind in parts.items():
            by_kind[kind].append(everything[pid])
        engines = {one.pid for one in by_kind["engine"]}
        by_kind["bot"] = [one for one in everything.values() if not one.dead and one.parent in engines]
        return by_kind

    def left(self) -> list[str]:
        """Processes that have to do with this folder."""
        return [
            f"{one.pid} {' '.join(_words(one.pid))}"
            for one in processes().values()
            if not one.dead and (_is_in(one.pid, self.place.parent) or str(self.place) in " ".join(_words(one.pid)))
        ]

    # What happens.

    def go_on(self) -> None:
        """Raises what the killer has found wrong."""
        if self.wrong:
            raise self.wrong[0]

    def until(self, look: Callable[[], object], otherwise: str) -> None:
        """Waits until something is so; says what is wrong if it does not become so."""
        end = time.monotonic() + PATIENCE
        while not look():
            self.go_on()
            assert time.monotonic() < end, otherwise
            time.sleep(0.05)

    def push(self, one: Push) -> None:
        """Hands a bot in as its author does: once more while there is no verdict, for nobody waits for a host that is killed."""
        folder = self.authors / one.owner
        one.write(folder)
        end = time.monotonic() + PATIENCE
        while True:
            assert time.monotonic() < end, f"no verdict on the bot of {one.owner}"
            self.until(lambda: self.store.setting("address"), "the site is not there")
            address = self.store.setting("address")
            words = ["push", ".", "--to", f"http://{address}", "--output", "json"]
            done = run(folder, words, REFEREE_TOKEN=self.tokens[one.owner])
            if done.returncode in (0, 1):
                told = json.loads(done.stdout)["job"]
                assert told["verdict"] == ("accepted" if one.good else "refused"), f"{one.owner}: {told}"
                return

    def play(self, number: int) -> None:
        """Has the next round begin, which is that number, and waits until it is closed."""
        self.store.tell("round_began", "")
        self.store.set("paused", "", time.time(), by="chaos")
        self.until(lambda: len(self.rounds()) == number, f"round {number} does not begin")
        self.store.set("paused", "1", time.time(), by="chaos")
        self.until(lambda: "result_root" in self.rounds()[-1], f"round {number} is not closed")

    def start(self) -> Started:
        """Starts the host."""
        return Started(self.place, ["host", self.file.name], TMPDIR=str(self.temporary))

    def tell(self, killer: "Killer | None" = None) -> Told:
        """Runs the host from its first start to the end of the story; what came of it, and that all of it is in order."""
        host = RestartedHost(self)
        with host, killer.at_work(self, host) if killer else contextlib.nullcontext():
            for number, pushes in enumerate(self.story, 1):
                for one in pushes:
                    self.push(one)
                self.play(number)
        with host:  # nobody kills any more
            self.until(lambda: self.store.setting("address"), "the site is not there")
            verified = run(self.place, ["verify", f"http://{self.store.setting('address')}"])
            assert verified.returncode == 0, verified.stdout + verified.stderr
        host.end()
        self.check()
        return self.told()

    # What has to be true in the end.

    def told(self) -> Told:
        """What it has in common with another ladder of the same story."""
        versions = {(one.bot, str(one.state), one.digest) for one in self.store.versions()}
        with Store.read(self.home.ladder) as store:
            games = {one.fixture_id: one.result_digest for one in store.every_game()}
        return Told(self.rounds(), games, sorted(versions))

    def check(self) -> None:
        """Nothing is lost, nothing is doubled, nothing is left over. The host is stopped."""
        self._check_versions()
        self._check_ladder()
        self.until(
            lambda: not self.left(), f"still there: {self.left()}"
        )  # what its parent's death ends takes a moment
        left = [path.name for path in self.temporary.iterdir()]
        assert not left, f"temporary files: {left}"
        sweep(self.home, self.store, time.time() + 2 * _DAY)  # what was left half made is removed a day later
        strange = self._strange_files()
        assert not strange, f"files of nobody: {strange}"

    def _check_versions(self) -> None:
        handed_in = Counter(one.owner for part in self.story for one in part if one.good)
        accepted = Counter(one.owner for one in self.store.versions(state=VersionState.ACCEPTED))
        assert accepted == handed_in, "a version was lost, or taken in twice"
        for version in self.store.versions():
            jobs = [one for one in self.store.jobs(most=1 << 30) if one.version == version.id]
            done = [one for one in jobs if one.state is JobState.DONE]
            assert len(done) == 1, f"version {version.id} has {len(done)} verdicts: {jobs}"
            assert all(one.state in (JobState.DONE, JobState.FAILED) for one in jobs), jobs
            told = [row for row in self.store.audit(most=1 << 30) if re.search(rf"\bjob {done[0].id}:", row.about)]
            assert [row.what for row in told if row.what in ("accepted", "refused")] == [str(version.state)]

    def _check_ladder(self) -> None:
        rounds = self.rounds()
        assert [one["number"] for one in rounds] == [*range(1, len(self.story) + 1)]
        with Store.read(self.home.ladder) as store:
            games = store.every_game()
            assert len({(one.fixture_id, one.redeal) for one in games}) == len(games)
            assert {one.fixture_id for one in games} == {one.id for one in store.fixtures()}
            assert all(row.state == "SCORED" for row in store.sets())
            assert [one["withdrawn"] for one in store.entrants().values() if one["withdrawn"]] == []
        for path in (self.home.ladder, self.home.store):
            with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as db:
                assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)

    def _strange_files(self) -> list[str]:
        """What is in the host's folder and belongs to nothing."""
        versions, jobs = self.store.versions(), {str(one.id) for one in self.store.jobs(most=1 << 30)}
        known: dict[str, Callable[[str], object]] = {
            "bots": {str(one.id) for one in versions}.__contains__,
            "uploads": {f"{one.archive}.zip" for one in versions}.__contains__,
            "jobs": jobs.__contains__,
            "logs": re.compile(r"(web|engine|jobs)\.log").fullmatch,
            "": re.compile(
                r"host\.lock|jobs\.lock|(host|ladder)\.sqlite(-wal|-shm|\.lock)?|ladder\.logs|export-\d+\.zip|board\.json|bots|uploads|jobs|logs|records"
            ).fullmatch,
        }
        return [
            f"{name}/{path.name}"
            for name, belongs in known.items()
            for path in (self.home.folder / name).iterdir()
            if not belongs(path.name)
        ]


class RestartedHost:
    """A host that is started again when somebody has killed its supervisor. As a context it runs."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._lock = threading.Lock()
        self.process: Started | None = None

    def __enter__(self) -> None:
        self.run()

    def __exit__(self, *_: object) -> None:
        if sys.exc_info()[0] is not None:
            self.end()

    def run(self) -> None:
        """Starts it, if it does not run."""
        with self._lock:
            if self.process is not None and self.process.poll() is None:
                return
            if self.process is not None:
                printed, told = self.process.communicate()
                assert self.process.returncode == -signal.SIGKILL, f"the host has ended by itself: {printed}{told}"
            self.process = self._ground.start()

    def end(self) -> None:
        """Ends it as Ctrl-C does, and waits until its parts are gone too."""
        with self._lock:
            if self.process is None:
                return
            self.process.send_signal(signal.SIGINT)
            self.process.communicate()
            self.process = None
        self._ground.until(lambda: not any(self._ground.processes().values()), "parts of a host outlive it")


class Killer:
    """Kills something of a host now and then. ``killed``: how often what was hit."""

    def __init__(self, seed: int, most: int) -> None:
        self._chance, self._most = random.Random(seed), most  # noqa: S311 - repeatable on purpose
        self.killed = Counter[str]()
        self._robbed = set[tuple[int, int]]()
        self._life = SHORT_LIFE

    @contextlib.contextmanager
    def at_work(self, ground: Ground, host: RestartedHost) -> Iterator[None]:
        """It is at work while the body runs, which raises what it has found wrong."""
        over = threading.Event()

        def work() -> None:
            try:
                kept = ground.kept()
                while not over.wait(self._chance.uniform(0, self._life)) and self.killed.total() < self._most:
                    before, kept = kept, self._strike(ground, host)
                    self._life = SHORT_LIFE if len(kept) > len(before) else min(1.5 * self._life, LONG_LIFE)
            except BaseException as error:  # noqa: BLE001 - the main thread raises it
                ground.wrong.append(error)

        thread = threading.Thread(target=work, name="kills")
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
        ground.go_on()

    def _strike(self, ground: Ground, host: RestartedHost) -> dict[str, str]:
        """Kills one thing, looks that nothing is lost by it, and has the host run; what it has kept."""
        kept = ground.kept()
        found = {**ground.processes(), "supervisor": self._supervisor(host)}
        # A bot that is lost twice in one leg may lose a game by it, which is right: so one to each life of an engine.
        engines = {(one.pid, one.started) for one in found["engine"]}
        if not engines or engines & self._robbed:
            found["bot"] = []
        if kinds := [kind for kind in KINDS if found[kind]]:
            kind = self._chance.choice(kinds)
            if send(self._chance.choice(sorted(found[kind])), signal.SIGKILL):
                self.killed[kind] += 1
                if kind == "bot":
                    self._robbed |= engines
        host.run()
        now = ground.kept()
        lost = {key: (value, now.get(key)) for key, value in kept.items() if now.get(key) != value}
        assert not lost, f"lost or changed: {lost}"
        return now

    @staticmethod
    def _supervisor(host: RestartedHost) -> list[Process]:
        one = process(host.process.pid) if host.process is not None else None
        return [one] if one is not None and not one.dead else []


def free_port() -> int:
    """A port that nobody listens at, outside those that the system gives away: a host that is started again is where it was."""
    while True:
        port = random.SystemRandom().randrange(20_000, 30_000)
        with socket.socket() as one, contextlib.suppress(OSError):
            one.bind(("127.0.0.1", port))
            return port


def _words(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace").split("\0")
    except OSError:
        return []


def _is_in(pid: int, folder: Path) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cwd").readlink().is_relative_to(folder)
    return False


def undisturbed(folder: Path, **more: Any) -> Told:
    """The story without a kill."""
    folder.mkdir()
    ground = Ground(folder, **more)
    with ground.store:
        return ground.tell()


def chaos(folder: Path, reference: Told | None, seed: int, most: int, **more: Any) -> Counter[str]:
    """The story with so many kills at most; how often what was hit.

    Raises ``AssertionError`` where anything is lost or doubled, or not as in the ladder that nobody disturbed, if that is given.
    """
    folder.mkdir()
    ground, killer = Ground(folder, **more), Killer(seed, most)
    with ground.store:
        told = ground.tell(killer)
    assert reference in (None, told), f"not as undisturbed: {told} and {reference}"
    return killer.killed


def main() -> None:
    """Runs it from the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.host.chaos", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1, help="of the first ladder; each further one has the next")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that the host is ended with us
    signal.signal(signal.SIGINT, signal.default_int_handler)
    began, killed, seed = time.monotonic(), Counter[str](), options.seed
    with tempfile.TemporaryDirectory(prefix="host-chaos-") as name:
        reference = undisturbed(Path(name, "undisturbed"))
        print(f"undisturbed: {time.monotonic() - began:.0f} s, {len(reference.games)} games", flush=True)  # noqa: T201
        while killed.total() < options.kills:
            left = options.kills - killed.total()
            try:
                killed += chaos(Path(name, str(seed)), reference, seed, left)
            except BaseException:
                print(f"FAILED. Again: python -m tests.host.chaos --kills {left} --seed {seed}", flush=True)  # noqa: T201
                raise
            counts = ", ".join(f"{kind} {killed[kind]}" for kind in KINDS)
            print(  # noqa: T201
                f"seed {seed}: {killed.total()} kills ({counts}), as undisturbed ({time.monotonic() - began:.0f} s, load {os.getloadavg()[0]:.0f})",
                flush=True,
            )
            seed += 1


if __name__ == "__main__":
    main()
