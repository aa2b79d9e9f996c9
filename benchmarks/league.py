"""Whole leagues as users run them, against a bare stream with one message a decision.

    python benchmarks/league.py                                # every row, once
    python benchmarks/league.py 8-few 8-many --runs 5          # some rows, the medians of five runs
    python benchmarks/league.py '8-*' --sets 1 --json now.json
    python benchmarks/league.py --short                        # a few small leagues, two minutes
    python benchmarks/league.py --list

Each league is run by ``referee run`` with its default settings, as a process of its own that is watched from outside, and
says at the end what playing took (``--verbose``). Before each run the yardstick of ``wire.py`` is measured: a bare stream
between two processes that carries one message a decision. Columns:

    decisions/s    while the league is played, starts of bots included
    x bare         the same as a multiple of the yardstick of this run; on a machine with other work trust the next one
    x bare, CPU    processor time of a message of the yardstick, both sides, over that of a decision, all processes
    turns/message  how full a message to a bot is
    starts         of bot processes
    us referee     microseconds of processor time a decision: the referee with its workers; us bots: the bots
    whole s        the command from start to end, standings and report too
    processes      most at a time below the referee, those of the sandbox too; MiB: most memory of all, shared parts by share

The fit at the end says which part of the processor time goes by messages, by turns and by starts; it needs rows that differ.
"""

import argparse
import asyncio
import fnmatch
import json
import os
import platform
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.wire import bare
from referee.league.definition.shipped import shipped_folder

PLAIN = "from referee.bot import run\n\nrun(lambda turn: turn.rng.choice(turn.legal))\n"
REFEREE = (sys.executable, "-c", "from referee.cli import main; main()")
BARE_MESSAGES = 6_000

Figures = dict[str, float]


@dataclass(frozen=True, slots=True)
class Row:
    """A league. ``bots`` of the kinds named, in turn; a balanced part of the tables is played, of at most ``tables`` (0: 2,000).

    ``more`` is for the section [tournament]; ``in_flight`` games at most are given to a bot at once, of ``deals`` deals at most,
    and ``processes`` bots live at once; 0 is the default of the referee.
    """

    name: str
    bots: int
    sets: int
    kinds: tuple[str, ...] = ("plain",)
    seats: int = 4
    workers: int = 1
    tables: int = 0
    in_flight: int = 0
    deals: int = 0
    processes: int = 0
    more: str = ""

    @property
    def what(self) -> str:
        """In words."""
        workers = f", {self.workers} workers" if self.workers > 1 else ""
        tables = f", {self.tables} tables" if self.tables else ""
        length = ", single deals" if self.more == DEALS else f", {self.deals} deals at most" if self.deals else ""
        length += f", {self.in_flight} in flight" if self.in_flight else ""
        length += f", {self.processes} processes" if self.processes else ""
        who = " ".join(self.kinds)
        return f"{self.bots} bots ({who}), {self.sets} {'sets' if self.sets > 1 else 'set'} a table of {self.seats}{tables}{length}{workers}"


DEALS = 'length = "deal"\nobjective = "points"\n'

ROWS = (
    Row("1-game", 4, 8, in_flight=1),
    Row("64-games", 4, 64, deals=8),
    Row("256-games", 4, 256, in_flight=256, deals=8),
    Row("4-few", 4, 16),
    Row("8-few", 8, 1),
    Row("8-few-2w", 8, 1, workers=2),
    Row("8-many", 8, 3),
    Row("8-many-2w", 8, 3, workers=2),
    Row("12-few", 12, 6, tables=12),
    Row("40", 40, 1),
    Row("40-2w", 40, 1, workers=2),
    Row("class", 40, 1, deals=8),
    Row("careful", 4, 64, ("careful",)),
    Row("go", 8, 1, ("go",)),
    Row("go-2w", 8, 1, ("go",), workers=2),
    Row("kitchen", 3, 10, ("random", "careful", "montecarlo"), seats=3),
    Row("kitchen-2w", 3, 10, ("random", "careful", "montecarlo"), seats=3, workers=2),
    Row("montecarlo", 8, 1, ("montecarlo",), tables=8, more=DEALS),
)
SHORT = (
    Row("4-short", 4, 16),
    Row("8-short", 8, 4, tables=8),
    Row("8-short-2w", 8, 4, tables=8, workers=2),
    Row("40-short", 40, 1, more=DEALS),
    Row("kitchen-short", 3, 2, ("random", "careful", "montecarlo"), seats=3),
)


# The league of a row.


def _plain(folder: Path, number: int) -> None:
    (folder / "bot.py").write_text(PLAIN)
    (folder / "bot.toml").write_text(f'name = "plain{number:02}"\nversion = "1"\nrun = ["python", "bot.py"]\n')


def _copied(source: Path, folder: Path, number: int) -> None:
    """A sample bot under a name of its own, as somebody would hand it in who copied it."""
    shutil.copytree(source, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    manifest = folder / "bot.toml"
    name = tomllib.loads(manifest.read_text())["name"]
    manifest.write_text(manifest.read_text().replace(f'name = "{name}"', f'name = "{name}{number:02}"', 1))


def _built_go(folder: Path) -> Path:
    """The Go sample ``random``, built in a copy; raises ``OSError`` or ``CalledProcessError`` where that cannot be."""
    source = folder / "go"
    if not source.exists():
        shutil.copytree(shipped_folder("sample_bots") / "go", source)
        compiler = shutil.which("go") or "no program called go"
        subprocess.run([compiler, "build", "-o", "bin/random-go", "."], cwd=source / "random", check=True)
    built = folder / "go-random"
    built.mkdir(exist_ok=True)
    (built / "bin").mkdir(exist_ok=True)
    shutil.copy2(source / "random/bin/random-go", built / "bin")
    (built / "bot.toml").write_text('name = "go"\nversion = "1"\nrun = ["bin/random-go"]\n')
    return built


def make(row: Row, folder: Path, cache: Path) -> Path:
    """Writes the bots and the definition of a row; returns its path. ``cache`` keeps what is built for several rows.

    By two workers the same league is played, to the last card, for packs follow from its name and seed.
    """
    for number in range(row.bots):
        own, kind = folder / "submissions" / f"bot{number:02}", row.kinds[number % len(row.kinds)]
        own.mkdir(parents=True)
        if kind == "plain":
            _plain(own, number)
        elif kind == "go":
            _copied(_built_go(cache), own, number)
        else:
            _copied(shipped_folder("sample_bots") / "python" / kind, own, number)
    path = folder / "league.toml"
    tables = f"max_tables = {row.tables}\n" if row.tables else ""
    rules = f"[rules]\nmax_deals = {row.deals}\n" if row.deals else ""
    wanted = {"max_in_flight": row.in_flight, "max_processes": row.processes}
    limits = "[limits]\n" + "".join(f"{name} = {most}\n" for name, most in wanted.items() if most)
    path.write_text(
        f'[tournament]\nname = "{row.name.removesuffix("-2w")}"\nvariant = "auction-pitch"\nseats = {row.seats}\n{row.more}'
        f'[schedule]\nsets = {row.sets}\nseed = "bench"\n{tables}{rules}{limits}[[bots]]\nbots_from = "submissions/*"\n'
    )
    return path


# Measuring.


@dataclass
class Peak:
    """The most that was seen at any one time. ``bots``: processes below the referee."""

    mib: float = 0.0
    referee_mib: float = 0.0
    bots: int = 0


def tree(root: int) -> list[int]:
    """The processes that descend from one, itself first."""
    children: dict[int, list[int]] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                parent = int(Path(entry.path, "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, ValueError, IndexError):
                continue
            children.setdefault(parent, []).append(int(entry.name))
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found


def memory_mib(pid: int) -> float:
    """Memory of a process in MiB, what it shares divided among those that share it."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    except (OSError, ValueError):
        pass
    return 0.0


def watch(process: "subprocess.Popen[str]") -> Peak:
    """Looks at the tree of a process until it ends."""
    peak = Peak()
    while process.poll() is None:
        pids = tree(process.pid)
        each = [memory_mib(pid) for pid in pids]
        peak.mib = max(peak.mib, sum(each))
        peak.referee_mib = max(peak.referee_mib, each[0])
        peak.bots = max(peak.bots, len(pids) - 1)
        time.sleep(1.0)  # to look at a hundred processes takes time of its own
    return peak


def yardstick() -> tuple[float, float]:
    """Messages a second of the bare stream, and microseconds of processor time a message, both sides."""
    before = _processor_time()
    with tempfile.TemporaryDirectory(prefix="league-") as folder:
        rate = asyncio.run(bare(Path(folder), BARE_MESSAGES))
    return rate, 1e6 * (_processor_time() - before) / BARE_MESSAGES


def _processor_time() -> float:
    usages = (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def played(row: Row, options: Sequence[str], cache: Path) -> Figures:
    """The figures of one run of a row; raises ``SystemExit`` with the words of the referee if it did not end well."""
    rate, cost = yardstick()
    with tempfile.TemporaryDirectory(prefix="league-") as name:
        folder = Path(name)
        path = make(row, folder, cache)
        command = [*REFEREE, "run", path.name, "--trust-bots", "--output", "json", "--verbose", *options]
        command += ["--workers", str(row.workers)] if row.workers > 1 else []
        started = time.monotonic()
        with (folder / "out.json").open("w") as out, (folder / "errors").open("w") as errors:
            process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=errors, text=True)
            try:
                peak = watch(process)
            finally:
                process.terminate()
                process.wait()
        whole = time.monotonic() - started
        if process.returncode:
            raise SystemExit(f"{row.name}: {(folder / 'errors').read_text()[-2000:]}")
        run = json.loads((folder / "out.json").read_text())["run"]
    decisions = run["decisions"]
    both = 1e6 * (run["referee_s"] + run["bots_s"]) / decisions
    return run | {
        "bare": rate,
        "bare_us": cost,
        "rate": decisions / run["seconds"],
        "ratio": decisions / run["seconds"] / rate,
        "cpu_ratio": cost / both,
        "fill": run["turns"] / run["messages"],
        "referee_us": 1e6 * run["referee_s"] / decisions,
        "bots_us": 1e6 * run["bots_s"] / decisions,
        "whole": whole,
        "processes": peak.bots,
        "mib": peak.mib,
    }


COLUMNS: tuple[tuple[str, str, str], ...] = (
    ("decisions/s", "rate", ",.0f"),
    ("x bare", "ratio", ".2f"),
    ("x bare, CPU", "cpu_ratio", ".2f"),
    ("turns/message", "fill", ".1f"),
    ("starts", "starts", ",.0f"),
    ("us referee", "referee_us", ",.0f"),
    ("us bots", "bots_us", ",.0f"),
    ("decisions", "decisions", ",.0f"),
    ("whole s", "whole", ",.1f"),
    ("processes", "processes", ".0f"),
    ("MiB", "mib", ",.0f"),
)


def table(found: Mapping[str, Sequence[Figures]]) -> list[str]:
    """The medians of each row, in lines."""
    wide = max(len(name) for name in found)
    lines = [" ".join((" " * wide, *(f"{title:>{max(len(title), 8)}}" for title, _, _ in COLUMNS)))]
    for name, runs in found.items():
        cells = (
            f"{format(statistics.median(run[key] for run in runs), form):>{max(len(title), 8)}}"
            for title, key, form in COLUMNS
        )
        lines.append(" ".join((f"{name:{wide}}", *cells)))
    return lines


def fit(found: Mapping[str, Sequence[Figures]], rows: Mapping[str, Row]) -> tuple[float, float, float] | None:
    """Milliseconds of processor time a message, microseconds a turn, seconds a start: least squares over plain bots.

    Relative errors are squared, so that a large league does not drown a small one; none of the three is below zero. ``None``
    with fewer than three rows.
    """
    points = []
    for name, runs in found.items():
        if rows[name].kinds == ("plain",):
            points += [(run["messages"], run["turns"], run["starts"], run["referee_s"] + run["bots_s"]) for run in runs]
    if len({point[:2] for point in points}) < 3:
        return None
    terms = [[part / point[3] for part in point[:3]] for point in points]
    message, turn, start = _not_below_zero(terms)
    return 1e3 * message, 1e6 * turn, start


def _not_below_zero(terms: Sequence[Sequence[float]]) -> list[float]:
    """The least squares solution of ``terms`` times it = 1 without negative parts, by descent along one part at a time."""
    size = len(terms[0])
    scale = [sum(row[i] for row in terms) / len(terms) for i in range(size)]
    scaled = [[part / scale[i] for i, part in enumerate(row)] for row in terms]
    solution = [0.0] * size
    for _ in range(20_000):
        for i in range(size):
            rest = [1.0 - sum(row[j] * solution[j] for j in range(size) if j != i) for row in scaled]
            power = sum(row[i] ** 2 for row in scaled)
            solution[i] = max(sum(row[i] * left for row, left in zip(scaled, rest, strict=True)) / power, 0.0)
    return [part / scale[i] for i, part in enumerate(solution)]


def chosen(rows: Sequence[Row], names: Sequence[str]) -> list[Row]:
    """The rows whose names match one of the patterns; raises ``SystemExit`` for a pattern that matches none."""
    if not names:
        return list(rows)
    for name in names:
        if not any(fnmatch.fnmatch(row.name, name) for row in rows):
            raise SystemExit(f"no row is called {name}; there are {', '.join(row.name for row in rows)}")
    return [row for row in rows if any(fnmatch.fnmatch(row.name, name) for name in names)]


def buildable(rows: Sequence[Row], cache: Path, say: Callable[[str], None]) -> list[Row]:
    """The rows whose bots can be had here; of the others it is said why not."""
    kept = []
    for row in rows:
        try:
            if "go" in row.kinds:
                _built_go(cache)
        except (OSError, subprocess.CalledProcessError) as error:
            say(f"left out: {row.name}: the Go sample cannot be built ({error})")
            continue
        kept.append(row)
    return kept


def machine() -> dict[str, Any]:
    """What was measured on."""
    return {
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "load": os.getloadavg()[0],
    }


def main() -> None:
    """Runs the chosen rows in turn and prints the medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", metavar="ROW", help="names or patterns of rows; default: all")
    parser.add_argument("--runs", type=int, default=1, help="of each row, all rows in turn; medians are printed")
    parser.add_argument("--sets", type=int, default=0, help="sets a table, instead of what the row has")
    parser.add_argument("--workers", type=int, default=0, help="instead of what the row has")
    parser.add_argument("--processes", type=int, default=0, help="max_processes of the definition")
    parser.add_argument("--sandbox", default="auto", help="as of referee run")
    parser.add_argument("--short", action="store_true", help="a few small leagues")
    parser.add_argument("--json", type=Path, help="write every run to this file")
    parser.add_argument("--list", action="store_true", help="name the rows and end")
    options = parser.parse_args()
    rows = [
        replace(
            row,
            sets=options.sets or row.sets,
            workers=options.workers or row.workers,
            processes=options.processes or row.processes,
        )
        for row in chosen(SHORT if options.short else ROWS, options.rows)
    ]
    if options.list:
        print("\n".join(f"{row.name:14} {row.what}" for row in rows))
        return
    found: dict[str, list[Figures]] = {}
    began = machine()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the league that runs is ended too
    with tempfile.TemporaryDirectory(prefix="league-") as cache:
        rows = buildable(rows, Path(cache), print)
        named = {row.name: row for row in rows}
        for _ in range(options.runs):
            for row in rows:
                run = played(row, ("--sandbox", options.sandbox), Path(cache))
                found.setdefault(row.name, []).append(run)
                print(f"{row.what}: {run['rate']:,.0f} decisions/s, {run['ratio']:.2f} x bare", file=sys.stderr)
                if options.json:
                    options.json.write_text(json.dumps(written(found, named, began), indent=1) + "\n")
    if not found:
        return
    print("\n".join(table(found)))
    yardsticks = [run for runs in found.values() for run in runs]
    print(
        f"bare stream: {statistics.median(run['bare'] for run in yardsticks):,.0f} messages a second, "
        f"{statistics.median(run['bare_us'] for run in yardsticks):,.0f} us of processor time each, both sides"
    )
    if (parts := fit(found, named)) is not None:
        print(f"processor time: {parts[0]:.2f} ms a message + {parts[1]:.0f} us a turn + {parts[2]:.2f} s a start")


def written(
    found: Mapping[str, Sequence[Figures]], rows: Mapping[str, Row], began: Mapping[str, Any]
) -> dict[str, Any]:
    """What ``--json`` writes: the machine, the fit, and of each row every run and the medians."""
    parts = fit(found, rows)
    return {
        "machine": dict(began),
        "fit": None if parts is None else dict(zip(("message_ms", "turn_us", "start_s"), parts, strict=True)),
        "rows": [
            {
                "row": name,
                "what": rows[name].what,
                "plain": rows[name].kinds == ("plain",),
                "median": {key: statistics.median(run[key] for run in runs) for key in runs[0]},
                "runs": list(runs),
            }
            for name, runs in found.items()
        ],
    }


if __name__ == "__main__":
    main()
