"""Where a decision's time goes, from ``performance.json``: a table, a sentence and a plot.

The file is what ``benchmarks/league.py --json docs/performance.json`` wrote; this module only words and draws it.
"""

import json
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, Final

FILE: Final = Path(__file__).resolve().parent / "performance.json"
PLOT: Final = Path(__file__).resolve().parent / "images" / "decision-time.svg"

PARTS: Final = (
    ("messages", "message_ms", 1e3, "#3b6ea5"),
    ("turns", "turn_us", 1.0, "#8fb8de"),
    ("starts", "start_s", 1e6, "#d9a441"),
)
"""What takes processor time: of a row the count, the term of the fit, its microseconds, the colour of its bar."""

_BAR, _GAP, _LEFT, _WIDE = 26, 20, 250, 460


def measured() -> dict[str, Any]:
    """What is in the file."""
    found: dict[str, Any] = json.loads(FILE.read_text("utf-8"))
    return found


def shares(row: Mapping[str, Any], fit: Mapping[str, float]) -> list[float]:
    """What messages, turns and starts take of a decision's processor time by the fit, in microseconds."""
    median = row["median"]
    return [median[count] * fit[term] * scale / median["decisions"] for count, term, scale, _ in PARTS]


def cost(row: Mapping[str, Any]) -> float:
    """A decision's processor time as measured, referee and bots together, in microseconds."""
    return float(row["median"]["referee_us"] + row["median"]["bots_us"])


def decision_time() -> str:
    """The table of all rows."""
    lines = [
        "| league | command | decisions | turns a message | starts | µs of the referee | µs of the bots | times the bare stream |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in measured()["rows"]:
        median = row["median"]
        cells = (
            row["what"],
            f"`python benchmarks/league.py {row['row']}`",
            f"{median['decisions']:,.0f}",
            f"{median['fill']:.1f}",
            f"{median['starts']:,.0f}",
            f"{median['referee_us']:,.0f}",
            f"{median['bots_us']:,.0f}",
            f"{median['cpu_ratio']:.2f}",
        )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def decision_fit() -> str:
    """The fit, what it was measured on, and how far it is off."""
    found = measured()
    fit, machine, rows = found["fit"], found["machine"], [row for row in found["rows"] if row["plain"]]
    off = max(abs(sum(shares(row, fit)) / cost(row) - 1) for row in rows)
    bare = sorted(run["bare_us"] for row in found["rows"] for run in row["runs"])
    runs = sorted({len(row["runs"]) for row in found["rows"]})
    others = round(machine["load"])
    beside = f"{others} other programs wanted to run besides" if others else "nothing else ran"
    return (
        f"**{fit['message_ms']:.2f} ms a message + {fit['turn_us']:.0f} µs a turn + {fit['start_s']:.2f} s a start**, all "
        f"processes together; no row is further from it than {100 * off:.0f}%. A message of the bare stream costs "
        f"{bare[len(bare) // 2]:.0f} µs, both sides.\n\n"
        f"Measured with Python {machine['python']} on {machine['cores']} cores ({machine['machine']}), on which "
        f"{beside}; {_listed(runs)} of each row.\n"
    )


def _listed(runs: Sequence[int]) -> str:
    told = " or ".join(map(str, runs))
    return "one run" if told == "1" else f"medians of {told} runs"


def decision_plot() -> str:
    """The plot: of each row of plain bots a bar of what messages, turns and starts take, and a mark where it was measured."""
    found = measured()
    fit, rows = found["fit"], [row for row in found["rows"] if row["plain"]]
    most = max(max(sum(shares(row, fit)), cost(row)) for row in rows)
    height = 70 + len(rows) * (_BAR + _GAP)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 {height}" font-family="sans-serif" font-size="13">',
        "<title>Where a decision's time goes</title>",
        "<desc>A bar for each league: what messages, turns and starts of bots take of a decision's processor time.</desc>",
        f'<rect width="800" height="{height}" fill="#ffffff"/>',
        '<text x="20" y="24" font-size="15" font-weight="bold">Processor time of a decision, all processes, µs</text>',
    ]
    at = 20
    for name, _, _, colour in PARTS:
        lines.append(f'<rect x="{at}" y="36" width="12" height="12" fill="{colour}"/>')
        lines.append(f'<text x="{at + 17}" y="47">{name}</text>')
        at += 90
    lines.append(f'<path d="M{at + 6} 35 v14" stroke="#222222" stroke-width="2.5"/>')
    lines.append(f'<text x="{at + 17}" y="47">as measured</text>')
    for number, row in enumerate(rows):
        top = 62 + number * (_BAR + _GAP)
        what = ", ".join(row["what"].split(", ")[:2])
        lines.append(f'<text x="20" y="{top + 11}" font-weight="bold">{escape(row["row"])}</text>')
        lines.append(f'<text x="20" y="{top + 26}" font-size="10.5" fill="#555555">{escape(what)}</text>')
        left = float(_LEFT + 40)
        for (_, _, _, colour), part in zip(PARTS, shares(row, fit), strict=True):
            width = _WIDE * part / most
            lines.append(f'<rect x="{left:.1f}" y="{top}" width="{width:.1f}" height="{_BAR}" fill="{colour}"/>')
            left += width
        mark = _LEFT + 40 + _WIDE * cost(row) / most
        lines.append(f'<path d="M{mark:.1f} {top - 3} v{_BAR + 6}" stroke="#222222" stroke-width="2.5"/>')
        lines.append(f'<text x="{max(mark, left) + 6:.1f}" y="{top + 18}">{cost(row):,.0f}</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"
