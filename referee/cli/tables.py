"""Standings for the terminal: a rich table, plain text, or JSON."""

import json
from collections.abc import Callable, Mapping

from rich import box
from rich.console import RenderableType
from rich.table import Table

from referee.cli.screen import plain_text
from referee.statistics.paired import Estimate
from referee.statistics.standings import Row, Standings

_MEASURES = {"place": "place points", "stakes": "stakes", "points": "points"}


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun: 1 set, 2 sets."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def ranks(row: Row) -> str:
    """The rank, or the range of ranks that the data support."""
    if row.rank_low is None or row.rank_high is None:
        return "-"
    return str(row.rank_low) if row.rank_low == row.rank_high else f"{row.rank_low}-{row.rank_high}"


def _estimate(value: Estimate, digits: int) -> str:
    if value.mean is None:
        return "-"
    if value.low is None or value.high is None:
        return f"{value.mean:.{digits}f}"
    return f"{value.mean:.{digits}f} ±{(value.high - value.low) / 2:.{digits}f}"


def _rating(row: Row) -> str:
    rating = row.rating
    if rating.value is None:
        return "-"
    if rating.low is None or rating.high is None:
        return f"{rating.value:+.0f}"
    return f"{rating.value:+.0f} [{rating.low:+.0f}, {rating.high:+.0f}]"


def _ms(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}" if value < 10 else f"{value:.0f}"


def columns(table: Standings) -> Mapping[str, Callable[[Row], str]]:
    """The columns of the standings: heading and content."""
    adjusted: dict[str, Callable[[Row], str]] = {}
    if table.share_by == "house replay":
        adjusted["luck-adjusted"] = lambda row: "-" if row.adjusted is None else _estimate(row.adjusted, 3)
    return {
        "rank": ranks,
        "bot": lambda row: plain_text(row.entrant, 40),
        f"{_MEASURES[table.measure]}/game": lambda row: _estimate(row.measure, 3),
        **adjusted,
        "rating": _rating,
        "TrueSkill": lambda row: f"{row.skill.conservative:.1f} ({row.skill.mu:.1f} ±{row.skill.sigma:.1f})",
        "games": lambda row: str(row.games),
        "wins": lambda row: str(row.wins),
        "stakes": lambda row: f"{row.stakes:+.0f}",
        "bids made/set": lambda row: f"{row.tally.bids_made}/{row.tally.bids_set_back}",
        "illegal": lambda row: str(row.tally.illegal_actions),
        "late": lambda row: str(row.tally.time_outs),
        "lost": lambda row: str(row.tally.crashes),
        "ms p50/p99": lambda row: f"{_ms(row.tally.decision_ms_median)}/{_ms(row.tally.decision_ms_p99)}",
    }


_RIGHT = {"games", "wins", "stakes", "illegal", "late", "lost"}


def rich_table(table: Standings, title: str) -> RenderableType:
    """The standings as a table for the terminal."""
    shown = Table(title=plain_text(title, 100), box=box.SIMPLE_HEAD, title_justify="left")
    cells = columns(table)
    for heading in cells:
        shown.add_column(heading, justify="right" if heading in _RIGHT else "left", no_wrap=heading in ("rank", "bot"))
    for row in table.rows:
        shown.add_row(*(cell(row) for cell in cells.values()))
    return shown


def plain_table(table: Standings) -> str:
    """The standings as columns of plain text, two blanks apart."""
    cells = columns(table)
    lines = [list(cells), *([cell(row) for cell in cells.values()] for row in table.rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(cells))]
    return "\n".join("  ".join(text.ljust(w) for text, w in zip(line, widths, strict=True)).rstrip() for line in lines)


def json_table(table: Standings) -> str:
    """The standings in full, as one JSON object."""
    return json.dumps(table.to_json(), indent=2, ensure_ascii=True)


def notes(table: Standings) -> list[str]:
    """What a reader of the table must know."""
    lines = [*table.notes, *([table.share_note] if table.share_note else [])]
    lines.append(
        f"Intervals are 95 %, over {counted(table.sets, 'set')} ({counted(table.games, 'game')})."
        " A rank range is as wide as the data leave it."
    )
    lines.append(
        "TrueSkill is a running estimate: each game moves it from where the games before have left it, so the same results in "
        "another order give other numbers; here it is the order of the schedule. Its sigma takes the games of a set for "
        "independent. Trust the rank range first, then the rating beside it, which depends on no order."
    )
    return lines
