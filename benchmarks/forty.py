"""A class of forty: a whole league of small submitted bots on this machine. What does it take?

Run: python benchmarks/forty.py [--bots 40] [--seats 4] [--sets 1] [--processes 40] [--workers 1]

Makes that many bots in a temporary folder, runs a league of them by ``referee run`` as its own process, and watches that
process with all it starts: resident memory of the whole tree (shared pages counted by share), processes at once, games a
minute. The yardstick is the same league with the bots grouped, as many at once as by default: ``--processes 0``.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

BOT = """from referee.bot import run

run(lambda turn: turn.legal[{place} % len(turn.legal)])
"""


@dataclass
class Peak:
    """The most that was seen at any one time. ``bots``: processes below the referee."""

    mib: float = 0.0
    referee_mib: float = 0.0
    bots: int = 0


def make(folder: Path, bots: int, seats: int, sets: int, processes: int) -> Path:
    """Writes the bots and the definition; returns its path."""
    for number in range(bots):
        own = folder / "submissions" / f"bot{number:02}"
        own.mkdir(parents=True)
        (own / "bot.py").write_text(BOT.format(place=number))
        (own / "bot.toml").write_text(f'name = "bot{number:02}"\nversion = "1"\nrun = ["python", "bot.py"]\n')
    limits = f"[limits]\nmax_processes = {processes}\n" if processes else ""
    path = folder / "class.toml"
    path.write_text(
        f'[tournament]\nname = "A class"\nvariant = "auction-pitch"\nseats = {seats}\n'
        f'[schedule]\nsets = {sets}\nseed = "forty"\nmax_tables = 500\n{limits}[[bots]]\nbots_from = "submissions/*"\n'
    )
    return path


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
        time.sleep(0.5)
    return peak


def main() -> int:
    """Prints one line of figures; returns 1 if the league did not end well, or took more than 4 GiB."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--bots", type=int, default=40)
    options.add_argument("--seats", type=int, default=4)
    options.add_argument("--sets", type=int, default=1)
    options.add_argument("--processes", type=int, default=40, help="max_processes of the definition; 0 = the default")
    options.add_argument("--workers", type=int, default=1)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="forty-") as folder:
        path = make(Path(folder), chosen.bots, chosen.seats, chosen.sets, chosen.processes)
        command = [
            sys.executable,
            "-c",
            "from referee.cli import main; main()",
            "run",
            path.name,
            "--trust-bots",
            "--output",
            "json",
        ]
        command += ["--workers", str(chosen.workers)]
        started = time.monotonic()
        with (Path(folder) / "out.json").open("w") as out, (Path(folder) / "errors").open("w") as errors:
            process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=errors, text=True)
            try:
                peak = watch(process)
            finally:
                process.terminate()
                process.wait()
        seconds = time.monotonic() - started
        if process.returncode:
            print((Path(folder) / "errors").read_text()[-2000:])
            return 1
        table = json.loads((Path(folder) / "out.json").read_text())
    print(
        f"{chosen.bots} bots, {chosen.seats} seats: {table['games']:,} games in {seconds:.0f} s, "
        f"{60 * table['games'] / seconds:,.0f} a minute; at most {peak.bots} processes below the referee, "
        f"{peak.mib:,.0f} MiB in all (the referee {peak.referee_mib:,.0f}), {os.cpu_count()} cores"
    )
    return int(peak.mib > 4096)


if __name__ == "__main__":
    sys.exit(main())
