"""Writes the part of docs/testing.md on mutants: how many faults the tests of the rules notice, and every one that they do not, with the reason.

The reasons stand in ``mutants_survivors.toml``, by module, line and fault.
"""

import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from math import sqrt
from pathlib import Path
from typing import Final

from tests.mutations import Mutant

PAGE: Final = Path(__file__).resolve().parents[1] / "docs" / "testing.md"
REASONS: Final = Path(__file__).with_name("mutants_survivors.toml")
UNEXPLAINED: Final = "**no reason known: a test is missing**"

BEGIN: Final = "<!-- mutants:begin -->\n"
END: Final = "<!-- mutants:end -->"


def write_report(mutants: Sequence[Mutant], known: Mapping[str, Mapping[str, str]], options: str, every: int) -> None:
    """Writes that part of the page from what is known of these mutants; ``every`` is how many there are in all."""
    tried = [(mutant, entry) for mutant in mutants if (entry := known.get(mutant.id)) and _same(mutant, entry)]
    survivors = [mutant for mutant, entry in tried if not entry["killer"]]
    command = " ".join(f"python -m tests.mutants {options}".split())
    parts = [_summary(len(tried), len(survivors), every, command), _modules(tried), _table(survivors)]
    before, rest = PAGE.read_text("utf-8").split(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}{chr(10).join(parts)}{END}{rest.partition(END)[2]}", "utf-8")


def _same(mutant: Mutant, entry: Mapping[str, str]) -> bool:
    return entry["line"] == mutant.line_text


def _summary(tried: int, survived: int, every: int, command: str) -> str:
    killed = tried - survived
    low, high = wilson(killed, tried)
    share = 100 * killed / max(tried, 1)
    interval = "" if tried == every else f" (95% interval for all: {100 * low:.1f} to {100 * high:.1f}%)"
    told = (
        f"{tried} of {every} mutants were tried: **{killed} were killed, {share:.1f}%**{interval}; {survived} survived."
    )
    return f"{told} The command was `{command}`.\n"


def wilson(hits: int, trials: int) -> tuple[float, float]:
    """The 95% interval of a share, by Wilson's score."""
    if not trials:
        return 0.0, 1.0
    z, share = 1.959964, hits / trials
    middle = (share + z * z / (2 * trials)) / (1 + z * z / trials)
    reach = z * sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials)) / (1 + z * z / trials)
    return max(0.0, middle - reach), min(1.0, middle + reach)


def _modules(tried: Sequence[tuple[Mutant, Mapping[str, str]]]) -> str:
    counts = Counter(mutant.module for mutant, _ in tried)
    alive = Counter(mutant.module for mutant, entry in tried if not entry["killer"])
    rows = [f"| `{name}` | {count} | {count - alive[name]} | {alive[name]} |" for name, count in sorted(counts.items())]
    return "\n".join(["| module | tried | killed | survived |", "|---|---:|---:|---:|", *rows, ""])


def _table(survivors: Sequence[Mutant]) -> str:
    reasons = {
        (entry["module"], entry["line"], entry["change"]): entry["reason"]
        for entry in tomllib.loads(REASONS.read_text("utf-8")).get("survivor", [])
    }
    head = ["### Survivors", "", "| where | fault | why no test can notice it, or need not |", "|---|---|---|"]
    rows = [
        f"| `{mutant.module}`: `{_cell(mutant.line_text)}` | `{_cell(mutant.change)}` | "
        f"{reasons.get((mutant.module, mutant.line_text, mutant.change), UNEXPLAINED)} |"
        for mutant in sorted(survivors, key=lambda mutant: (mutant.module, mutant.line, mutant.change))
    ]
    return "\n".join([*head, *rows, ""])


def _cell(text: str) -> str:
    line = text if len(text) <= 80 else f"{text[:77]}..."
    return line.replace("|", "\\|")
