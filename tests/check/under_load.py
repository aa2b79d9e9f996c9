"""How often does a busy machine get a sample bot a false verdict? ``python -m tests.check.under_load``.

Runs ``referee check`` on the sample bots, which keep every rule, beside busy loops that take the processors away, and
counts every outcome but "conforms". ``make check-load`` is the long run; docs/testing.md has its last figures.
"""

import argparse
import contextlib
import itertools
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from referee.rules import variant_names

SAMPLES = ("careful", "random")
"""Bots of ``sample_bots/python`` that play every variant."""

REFEREE = "import sys; from referee.cli import main; sys.argv[0] = 'referee'; main()"
LOOP = "while True: pass"
OUTCOMES = {0: "conforms", 1: "does not conform", 3: "incomplete", 4: "never became ready", 5: "the harness failed"}


@dataclass(frozen=True)
class Check:
    """One check to run: a bot, the games, a seed, and what else is on its command line."""

    bot: str
    variant: str
    seed: int
    options: tuple[str, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The words of its command line behind ``referee``."""
        return ("check", self.bot, "--variant", self.variant, "--seed", str(self.seed), *self.options)


@dataclass(frozen=True)
class Done:
    """What came of a check. ``code`` is its exit code, ``output`` what it printed."""

    check: Check
    code: int
    output: str


def plan(checks: int, bots: tuple[str, ...], options: tuple[str, ...] = ()) -> list[Check]:
    """So many checks: each bot in each game in turn, now and then in all games at once, each with a seed of its own."""
    games = itertools.cycle((*variant_names(), "all"))
    turns = zip(itertools.cycle(bots), games, strict=False)
    return [Check(bot, game, seed, options) for seed, (bot, game) in enumerate(itertools.islice(turns, checks), 1)]


@contextlib.contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """So many processes that do nothing, as fast as they can."""
    loops = [subprocess.Popen([sys.executable, "-c", LOOP]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def run(check: Check, folder: Path) -> Done:
    """Runs one check to its end."""
    failures = folder / f"{check.bot}-{check.variant}-{check.seed}"
    done = subprocess.run(
        [sys.executable, "-c", REFEREE, *check.words, "--failures", str(failures)],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return Done(check, done.returncode, done.stdout.decode("utf-8", "replace"))


def run_all(checks: list[Check], parallel: int, folder: Path) -> Iterator[Done]:
    """Runs checks, so many at once; yields each as it is done."""
    with ThreadPoolExecutor(parallel) as pool:
        try:
            for one in as_completed([pool.submit(run, check, folder) for check in checks]):
                yield one.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)  # an interrupted run begins no more of them


def main() -> int:
    """Runs the checks and prints what came of them; 0 if no verdict was false."""
    parser = argparse.ArgumentParser(prog="python -m tests.check.under_load", description=__doc__)
    parser.add_argument("--checks", type=int, default=300)
    parser.add_argument("--loops", type=int, default=8, help="busy loops beside the checks")
    parser.add_argument("--parallel", type=int, default=os.cpu_count() or 1, help="checks at once")
    parser.add_argument("--bot", action="append", help=f"instead of {' and '.join(SAMPLES)}; may be repeated")
    parser.add_argument("options", nargs="*", help="more options of referee check, behind --")
    told = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)  # so that the loops are ended with us
    checks = plan(told.checks, tuple(told.bot or SAMPLES), tuple(told.options))
    started, outcomes, loads = time.monotonic(), Counter[str](), []
    with tempfile.TemporaryDirectory(prefix="under-load-") as name, busy_loops(told.loops):
        for number, done in enumerate(run_all(checks, told.parallel, Path(name)), 1):
            outcomes[OUTCOMES.get(done.code, f"exit {done.code}")] += 1
            loads.append(os.getloadavg()[0])
            if done.code != 0:
                print(f"FALSE: referee {' '.join(done.check.words)}\n{done.output}", flush=True)
            if number % 10 == 0 or number == len(checks):
                counts = ", ".join(f"{outcome} {count}" for outcome, count in outcomes.most_common())
                print(f"{number:4} of {len(checks)}  load {loads[-1]:.1f}  {counts}", flush=True)
    false = outcomes.total() - outcomes["conforms"]
    minutes = (time.monotonic() - started) / 60
    load = f"{min(loads):.0f} to {max(loads):.0f}" if loads else "unknown"
    print(
        f"{len(checks)} checks beside {told.loops} busy loops (load {load}), {minutes:.0f} min: {false} false verdicts"
    )
    return 1 if false else 0


if __name__ == "__main__":
    sys.exit(main())
