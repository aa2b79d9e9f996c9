"""Mutation testing of the rules: small faults are put into ``referee/rules`` one at a time; a test has to notice each.

    python -m tests.mutants                              # every mutant, hours
    python -m tests.mutants --sample 300 --seed 1        # so many, drawn over all modules
    python -m tests.mutants --modules play,scoring       # only these
    python -m tests.mutants --write                      # after a run: docs/testing.md from what is known

Each mutant runs in a fork of one warm process: first the vectors and the module's own tests, then all of ``tests/rules``,
stopping at the first failure. What came out is kept in ``--results``, so that a run can be stopped and taken up again; a
mutant is known by its module, its place there and its fault, and is tried again when the line that it changes is another.
"""

import argparse
import contextlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import random
import resource
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Final

import pytest

from tests.mutants_report import write_report
from tests.mutations import Mutant, mutants_of

ROOT: Final = Path(__file__).resolve().parents[1]
RULES: Final = ROOT / "referee" / "rules"
TESTS: Final = Path("tests/rules")
FIRST: Final[dict[str, tuple[str, ...]]] = {
    "conduct": ("rulebook",),
    "deal": ("state", "substitute"),
    "draw": ("cinch", "pedro", "all_fours"),
    "play": ("california_jack", "cinch"),
    "ranking": ("cinch",),
    "ruleset": ("sense",),
    "turn_up": ("all_fours", "trinidad"),
}
"""Tests that know a module best, where they are not those of its name."""

SECONDS: Final = 90
"""Processor time that the tests of a mutant may take: more is an endless loop (the whole of them takes about 20)."""

HEAVY: Final = ("hypothesis.strategies", "jsonschema", "referencing")
"""Loaded once, before the forks."""

OPTIONS: Final = (
    *("-x", "-q", "--no-header", "--tb=line", "-p", "no:randomly", "-p", "no:cacheprovider", "-p", "no:xdist"),
    *("--hypothesis-seed=0", "--assert=plain"),
)


class MutatedLoader(importlib.abc.SourceLoader):
    """Loads one module with its fault."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant

    def get_filename(self, fullname: str) -> str:
        return str(RULES / f"{fullname.rpartition('.')[2]}.py")

    def get_data(self, path: str | bytes) -> bytes:
        return Path(os.fsdecode(path)).read_bytes()

    def exec_module(self, module: ModuleType) -> None:
        code = compile(self.mutant.apply(), self.get_filename(module.__name__), "exec", dont_inherit=True)
        exec(code, module.__dict__)  # noqa: S102  # the mutated module


class MutatedFinder(importlib.abc.MetaPathFinder):
    """Finds the mutated module before Python finds the one in the file."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant, self.name = mutant, f"referee.rules.{mutant.module}"

    def find_spec(self, fullname: str, path: object, target: object = None) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.name:
            return None
        return importlib.util.spec_from_loader(fullname, MutatedLoader(self.mutant))


def files_for(module: str) -> tuple[list[str], list[str]]:
    """The tests that are likeliest to notice a fault of this module, and all others of the rules."""
    names = ["vectors", *FIRST.get(module, ()), module]
    first = [str(path) for name in names if (path := TESTS / f"test_{name}.py").exists()]
    others = sorted(str(path) for path in TESTS.glob("test_*.py"))
    return first, [path for path in others if path not in first]


def run_tests(mutant: Mutant | None, files: Sequence[str], log: Path) -> str:
    """Runs tests in a fork: "" if they pass, else what stopped them."""
    child = os.fork()
    if child == 0:
        _in_the_fork(mutant, files, log)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return f"ended by {signal.Signals(os.WTERMSIG(status)).name}"
    code = os.waitstatus_to_exitcode(status)
    if code == 0:
        return ""
    failed = [line for line in log.read_text("utf-8", "replace").splitlines() if line.startswith(("FAILED", "ERROR"))]
    return failed[0].split(" - ")[0][:160] if failed else f"exit code {code}"


def _in_the_fork(mutant: Mutant | None, files: Sequence[str], log: Path) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(out, 1)
    os.dup2(out, 2)
    if mutant is not None:
        sys.meta_path.insert(0, MutatedFinder(mutant))
    code = 70
    with contextlib.suppress(BaseException):
        code = int(pytest.main([*OPTIONS, *files]))
    os._exit(code)


def try_mutant(mutant: Mutant, log: Path) -> str:
    """What kills a mutant; "" if it survives."""
    first, others = files_for(mutant.module)
    return run_tests(mutant, first, log) or run_tests(mutant, others, log)


def all_mutants(modules: Sequence[str]) -> list[Mutant]:
    """The mutants of these modules, or of all."""
    found = [path.stem for path in sorted(RULES.glob("*.py"))]
    unknown = set(modules) - set(found)
    if unknown:
        raise SystemExit(f"--modules: no module {', '.join(sorted(unknown))} in referee/rules")
    chosen = [name for name in found if not modules or name in modules]
    return [mutant for name in chosen for mutant in mutants_of(name, (RULES / f"{name}.py").read_text("utf-8"))]


class Results:
    """What is known of mutants: one line of JSON each, the last word counts."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.known: dict[str, dict[str, str]] = {}
        if path.exists():
            for line in path.read_text("utf-8").splitlines():
                entry = json.loads(line)
                self.known[entry["id"]] = entry

    def add(self, mutant: Mutant, killer: str) -> None:
        entry = {"id": mutant.id, "line": mutant.line_text, "change": mutant.change, "killer": killer}
        self.known[mutant.id] = entry
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")

    def of(self, mutant: Mutant) -> dict[str, str] | None:
        entry = self.known.get(mutant.id)
        return entry if entry and entry["line"] == mutant.line_text else None


def main() -> None:
    parser = argparse.ArgumentParser(description="Mutation testing of referee/rules.")
    parser.add_argument("--modules", default="", help="modules of referee/rules, separated by commas (default: all)")
    parser.add_argument("--sample", type=int, default=0, help="try only so many mutants, drawn at random")
    parser.add_argument("--seed", type=int, default=1, help="of the draw")
    parser.add_argument("--jobs", type=int, default=1, help="how many are tried at a time")
    parser.add_argument("--results", type=Path, default=ROOT / "build" / "mutants.jsonl", help="where results are kept")
    parser.add_argument("--survivors", action="store_true", help="try those again that survived")
    parser.add_argument("--write", action="store_true", help="only write docs/testing.md from the results")
    options = parser.parse_args()
    os.chdir(ROOT)
    mutants = all_mutants([name for name in options.modules.split(",") if name])
    every = len(mutants)
    if options.sample:
        random.Random(options.seed).shuffle(mutants)  # noqa: S311  # a draw to be repeated
        mutants = mutants[: options.sample]
    if not options.write:
        run(mutants, Results(options.results), options.survivors, options.jobs)
    told = f"--modules {options.modules}" if options.modules else ""
    told += f" --sample {options.sample} --seed {options.seed}" if options.sample else ""
    write_report(mutants, Results(options.results).known, told, every)


def run(mutants: Sequence[Mutant], results: Results, survivors_again: bool, jobs: int) -> None:
    """Tries all mutants that are not known yet; raises ``SystemExit`` if the tests fail without any."""
    log = results.path.with_suffix(".log")
    log.parent.mkdir(parents=True, exist_ok=True)
    broken = run_tests(None, [str(TESTS)], log)
    if broken:
        raise SystemExit(f"the tests fail without a mutant: {broken}; see {log}")
    for name in HEAVY:
        importlib.import_module(name)
    children = []
    for job in range(jobs):
        child = os.fork()
        if child == 0:
            code = 1
            with contextlib.suppress(KeyboardInterrupt):
                _work(mutants[job::jobs], results, survivors_again, log.with_suffix(f".{job}.log"))
                code = 0
            os._exit(code)
        children.append(child)
    ends = [os.waitpid(child, 0)[1] for child in children]
    if any(ends):
        raise SystemExit("a part of the run did not come to its end; the same command takes it up again")


def _work(mutants: Sequence[Mutant], results: Results, survivors_again: bool, log: Path) -> None:
    """One part of a run, told on standard output."""
    began = time.monotonic()
    for number, mutant in enumerate(mutants, 1):
        known = results.of(mutant)
        if known is None or (survivors_again and not known["killer"]):
            killer = try_mutant(mutant, log)
            results.add(mutant, killer)
            verdict = f"killed by {killer}" if killer else "SURVIVED"
            told = f"{number}/{len(mutants)} {time.monotonic() - began:.0f} s {mutant.id} {mutant.change}: {verdict}"
            sys.stdout.write(told + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
