"""Kills a referee again and again while it plays a league, and proves that nothing is lost and nothing counts twice.

    python -m tests.chaos --kills 1000 --workers 1 --seed 1

The league is small (24 games of three quick bots); after every kill it is taken up again, by one process or by workers,
and after it has finished the next one begins. Every finished league has to equal the one that nobody disturbed.
"""

import argparse
import contextlib
import os
import random
import signal
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from referee.league.league import read_league
from referee.league.standings import standings_of
from referee.league.store import Store
from referee.sandbox.process_tree import processes
from tests.program import PATIENCE, REFEREE, Started

ROOT: Final = Path(__file__).parents[1]
GAMES: Final = 24

BOTS: Final = {
    "any": "run(lambda turn: turn.rng.choice(turn.legal))",
    "last": "run(lambda turn: turn.legal[-1])",
    "reneges": """
def choose(turn):
    wrong = [card for card in turn.hand if card not in turn.legal] if turn.kind is Kind.PLAY else []
    return wrong[0] if wrong and turn.rng.random() < 0.05 else turn.rng.choice(turn.legal)

run(choose)
""",
}


@dataclass(slots=True)
class Ground:
    """A folder with the bots and the definition of the league."""

    folder: Path
    sets: int = 8
    in_flight: int = 4
    limits: str = ""
    loaded: bool = False
    """Whether a referee is forked from a process that has loaded the program: it starts in a tenth of the time."""
    definition: Path = field(init=False)

    def __post_init__(self) -> None:
        bots = self.folder / "bots"
        bots.mkdir(exist_ok=True)
        for name, body in BOTS.items():
            (bots / f"{name}.py").write_text(f"from referee.bot import Kind, run\n\n{body}\n")
        self.definition = self.folder / f"chaos{self.in_flight}.toml"
        entries = "".join(f'[[bots]]\npath = "bots/{name}.py"\n' for name in BOTS)
        self.definition.write_text(
            f'[tournament]\nname = "Chaos"\nvariant = "auction-pitch"\nseats = 3\n[schedule]\nsets = {self.sets}\n'
            f'seed = "chaos"\n[limits]\nmove_ms = 600000\nmax_in_flight = {self.in_flight}\n{self.limits}\n'
            f"[rules]\nmax_deals = 4\n{entries}"
        )

    def start(self, store: Path, workers: int = 1) -> "subprocess.Popen[str] | Started":
        """A referee that plays the league, or what is left of it."""
        words = ["run", str(self.definition), "--store", str(store), "--workers", str(workers)]
        words += ["--sandbox", "none", "--output", "plain"]
        if self.loaded:
            return Started(ROOT, words, PYTHONPATH=str(ROOT), COLUMNS="200")
        return subprocess.Popen(
            [*REFEREE, *words],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "200"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def play(self, store: Path, workers: int = 1) -> str:
        """Plays the league to its end; what was printed."""
        out, err = (referee := self.start(store, workers)).communicate(timeout=PATIENCE)
        assert referee.returncode == 0, err
        return out

    def left_running(self) -> list[int]:
        """Processes that run in this folder: bots that nobody has ended."""
        found = []
        for one in processes().values():
            with contextlib.suppress(OSError):
                if not one.dead and Path(f"/proc/{one.pid}/cwd").readlink().is_relative_to(self.folder):
                    found.append(one.pid)
        return found


@dataclass(frozen=True, slots=True)
class Result:
    """What two runs of the same league have in common: all but times and numbers of attempts."""

    root: str
    standings: dict[str, Any]
    games: dict[str, str]


def result_of(path: Path) -> Result:
    """The result of a finished league. Every game must be there once, and must have been stored once."""
    with Store.read(path) as store:
        facts, games = store.league(), store.every_game()
        assert facts["state"] == "finished"
        assert len({game.fixture_id for game in games}) == len(games) == len(store.fixtures())
        assert all(row.state == "SCORED" for row in store.sets())
        table = standings_of(store, read_league(store)).to_json()
        assert facts["standings"] == table
    for row in table["rows"]:
        del row["tally"]["decision_ms_median"], row["tally"]["decision_ms_p99"]
    check_attempts(path, len(games))
    return Result(facts["result_root"], table, {game.fixture_id: game.result_digest for game in games})


def check_attempts(path: Path, games: int) -> None:
    """Each game comes from one attempt; all others ended without one; the file is sound."""
    with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as db:
        outcomes = dict(db.execute("SELECT outcome, count(*) FROM attempt GROUP BY outcome").fetchall())
        assert set(outcomes) <= {"SCORED", "STOPPED"}, outcomes
        assert outcomes["SCORED"] == games
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        orphaned = "SELECT count(*) FROM game LEFT JOIN attempt a ON a.id = attempt_id WHERE a.outcome IS NOT 'SCORED'"
        assert db.execute(orphaned).fetchone() == (0,)


def stored(path: Path) -> dict[str, str]:
    """The games that a store holds now, by fixture, with the digests of their records; empty if there is no store."""
    if not path.exists():
        return {}
    with Store.read(path) as store:
        return {game.fixture_id: game.record_digest for game in store.every_game()}


def kill_when(referee: "subprocess.Popen[str] | Started", now: Callable[[], bool]) -> bool:
    """Kills a referee as soon as it is time; whether it was still running then."""
    end = time.monotonic() + PATIENCE
    while referee.poll() is None and not now():
        assert time.monotonic() < end, "the referee hangs"
        time.sleep(0.002)
    killed = referee.poll() is None
    referee.send_signal(signal.SIGKILL)
    referee.communicate()
    return killed


def moments(chance: random.Random, path: Path, usual_seconds: float) -> Iterator[Callable[[], bool]]:
    """When to kill: at any moment from the first instruction on, or a moment after so many games were stored."""
    while True:
        if chance.random() < 0.5:
            at = time.monotonic() + chance.uniform(0, usual_seconds)
            yield lambda at=at: time.monotonic() > at  # type: ignore[misc]
        else:
            wanted = len(stored(path)) + chance.randint(1, 6)
            yield lambda wanted=wanted: len(stored(path)) >= wanted  # type: ignore[misc]


def chaos(
    ground: Ground, kills: int, workers: int, seed: int, tell: Callable[[str], None] = lambda _line: None
) -> tuple[int, int]:
    """Plays leagues with that many kills in all; how many leagues were finished, and how many kills hit."""
    chance = random.Random(seed)  # noqa: S311 - repeatable on purpose
    began = time.monotonic()
    ground.play(ground.folder / "reference.sqlite")
    usual, reference = time.monotonic() - began, result_of(ground.folder / "reference.sqlite")
    leagues = hits = 0
    while hits < kills:
        path = ground.folder / f"chaos-{leagues}.sqlite"
        for moment in moments(chance, path, usual):
            before = stored(path)
            hits += kill_when(ground.start(path, workers), moment)
            after = stored(path)
            assert before.items() <= after.items(), "a stored game was lost or changed"
            if hits >= kills or len(after) == GAMES:
                break
        if not path.exists() or not finished(path):
            ground.play(path, workers)
        assert result_of(path) == reference
        assert not ground.left_running()
        leagues += 1
        tell(f"{leagues} leagues, {hits} kills, all equal to the undisturbed one ({time.monotonic() - began:.0f} s)")
        for file in ground.folder.glob(f"{path.name}*"):
            file.unlink()
    return leagues, hits


def finished(path: Path) -> bool:
    """Whether a league is over."""
    with Store.read(path) as store:
        return bool(store.league()["state"] == "finished")


def main() -> None:
    """Runs it from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="chaos-") as folder:
        chaos(Ground(Path(folder)), options.kills, options.workers, options.seed, lambda line: print(line, flush=True))  # noqa: T201


if __name__ == "__main__":
    main()
