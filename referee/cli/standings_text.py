"""Standings for the terminal: plain lines that fit its width, all figures as a card for each bot, or JSON.

The same lines go to a terminal, to a pipe and into the live screen. Nothing in them is markup: what bots are called cannot
be taken for any.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len

from referee.cli.lines import WIDTH
from referee.league.definition.problems import counted
from referee.league.play.run_figures import RunFigures
from referee.report.headline import Headline
from referee.report.number_format import NONE, UNITS, between, figure, ranks
from referee.report.report_data import names_of
from referee.report.sanitize import sanitize
from referee.report.standings_columns import columns, void_lines
from referee.statistics.standings import Standings, StandingsRow

_GAP: Final = "  "
_NARROWEST_NAME: Final = 8
_WIDEST_NAME: Final = 40

TRUESKILL: Final = (
    "TrueSkill is mu - 3 sigma, the skill that a bot very probably has. It is a running estimate: each game moves it from where "
    "the games before have left it, so the same results in another order give other numbers; here it is the order of the "
    "schedule. Its sigma takes the games of a set for independent. Trust the rank range first, then the rating, which depends on "
    "no order."
)
EXPLANATIONS: Final = (
    "rank: the best and the worst rank that the data leave open. Bots whose ranges do not overlap are told apart.",
    (
        "place points, stakes, points: the league's measure a game, and its 95% interval over sets, the games of which share their "
        "packs. Place points are the share of the others that a bot beat, a tie counting half."
    ),
    "rating: order-free (Plackett-Luce), the mean of all being 0; 400 more is odds of 10 to 1 to finish ahead.",
    TRUESKILL,
    "faults: illegal and malformed answers, answers that came too late, and games lost by a crash or a limit.",
    "Without a rank or an interval, a bot has fewer than ten closed sets: too few to show how much its results vary.",
)
"""What the columns mean, for ``--explain``."""


@dataclass(frozen=True, slots=True)
class _Column:
    """A column: its heading in two lines, and what makes a cell of a row. ``needed``: it stands in the narrowest table too."""

    heading: tuple[str, str]
    cell: Callable[[StandingsRow], str]
    needed: bool = True


def _columns(table: Standings) -> list[_Column]:
    """The columns beside rank and bot."""
    found = [
        _Column(_MEASURES[table.measure], lambda row: figure(row.measure.mean)),
        _Column(("95%", "interval"), lambda row: between(row.measure) or NONE),
        _Column(("", "rating"), lambda row: figure(row.rating.value, 0, sign=True)),
        _Column(("rating's 95%", "interval"), _rating_interval, needed=False),
        _Column(("", "TrueSkill"), lambda row: figure(row.skill.conservative, 1)),
        _Column(("", "games"), lambda row: f"{row.games:,}"),
        _Column(("", "faults"), lambda row: f"{faults(row):,}"),
    ]
    if table.share_by == "house replay":
        adjusted = _Column(
            ("luck-", "adjusted"), lambda row: NONE if row.adjusted is None else figure(row.adjusted.mean), needed=False
        )
        found.insert(2, adjusted)
    if table.ladder and any(row.panel is not None for row in table.rows):
        found.insert(2, _Column(("panel", "points"), lambda row: NONE if row.panel is None else figure(row.panel.mean)))
    return found


_MEASURES: Final = {"place": ("place", "points"), "stakes": ("stakes", "a game"), "points": ("points", "a game")}


def _rating_interval(row: StandingsRow) -> str:
    low, high = row.rating.low, row.rating.high
    return NONE if low is None or high is None else f"{figure(low, 0, sign=True)} to {figure(high, 0, sign=True)}"


def faults(row: StandingsRow) -> int:
    """Illegal answers, late answers and lost games together."""
    return row.tally.illegal_actions + row.tally.time_outs + row.tally.crashes


def standings_lines(table: Standings, width: int = WIDTH, rows: int | None = None) -> list[str]:
    """The standings as lines of at most ``width`` cells, the heading in two; a long name goes on in the line below.

    ``rows``: the most lines, where there is no room for all.
    """
    names = names_of([row.entrant for row in table.rows])
    rank = max([4, *(len(ranks(row)) for row in table.rows)])
    shown = _columns(table)
    cells = {id(column): [column.cell(row) for row in table.rows] for column in shown}
    widths = {id(column): max(map(len, (*column.heading, *cells[id(column)]))) for column in shown}
    longest = min(max([_NARROWEST_NAME, *(cell_len(name) for name in names.values())]), _WIDEST_NAME)

    def room() -> int:
        return width - rank - sum(widths[id(column)] + len(_GAP) for column in shown) - len(_GAP)

    for column in [column for column in shown if not column.needed]:
        if room() < longest:
            shown.remove(column)
    name_width = max(min(longest, room()), _NARROWEST_NAME)
    lines = []
    for part in (0, 1):
        head = [("", "rank")[part].ljust(rank), ("", "bot")[part].ljust(name_width)]
        lines.append(_GAP.join([*head, *(c.heading[part].rjust(widths[id(c)]) for c in shown)]).rstrip())
    body = []
    for number, row in enumerate(table.rows):
        first, *more = folded(names[row.entrant], name_width)
        figures = [cells[id(column)][number].rjust(widths[id(column)]) for column in shown]
        body.append(_GAP.join([ranks(row).ljust(rank), padded(first, name_width), *figures]).rstrip())
        body += [f"{' ' * rank}{_GAP}{rest}" for rest in more]
    if rows is not None and len(lines) + len(body) > rows:
        kept = max(rows - len(lines) - 1, 0)
        body = [*body[:kept], f"... and {counted(len(body) - kept, 'line')} more"]
    return lines + body


def folded(text: str, width: int) -> list[str]:
    """The text in pieces of at most ``width`` cells, where wide characters take two; one piece at least.

    Broken at blanks; inside of a word only where the word alone is wider.
    """
    pieces = [""]
    for char in text:
        if cell_len(pieces[-1] + char) > width and pieces[-1]:
            whole, blank, begun = pieces[-1].rpartition(" ")
            if char == " ":
                pieces.append("")
                continue
            if blank and whole.strip():
                pieces[-1:] = [whole, begun]
            else:
                pieces.append("")
        pieces[-1] += char
    return pieces


def padded(text: str, width: int) -> str:
    """The text with blanks up to so many cells."""
    return text + " " * max(width - cell_len(text), 0)


def card_lines(table: Standings, width: int = WIDTH) -> list[str]:
    """All figures of the standings, a card for each bot."""
    names = names_of([row.entrant for row in table.rows])
    cells = columns(table, names.__getitem__)
    headings = [heading for heading in cells if heading not in ("rank", "bot")]
    label = max(map(len, headings))
    lines: list[str] = []
    for row in table.rows:
        head = f"{ranks(row):<5}"
        first, *more = folded(names[row.entrant], width - len(head))
        lines += [f"{head}{first}", *(f"{' ' * len(head)}{rest}" for rest in more)]
        lines += [f"     {heading:<{label}}  {cells[heading](row)}" for heading in headings]
        lines.append("")
    return lines[:-1]


def wrapped(text: str, width: int = WIDTH) -> str:
    """A sentence in lines of at most so many cells; a word that is longer, such as a path, stays whole."""
    lines: list[str] = []
    for word in sanitize(text, 2000).split():
        if lines and cell_len(lines[-1]) + 1 + cell_len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return "\n".join(lines)


def notes(table: Standings) -> list[str]:
    """What a reader of the table must know."""
    over = f"{counted(table.sets, 'set')} ({counted(table.games, 'game')})"
    if any(between(row.measure) for row in table.rows):
        said = f"Figures are over {over}; intervals are 95%. "
    else:
        said = f"Figures are over {over}. " if table.sets else ""
    return [
        *table.notes,
        *([table.share_note] if table.share_note else []),
        *void_lines(table),
        f"{said}All figures: --all; what they mean: --explain.",
    ]


def play_lines(table: Standings, verdict: Headline) -> list[str]:
    """After a few quick games: who won, and by how much."""
    if not table.games:
        return [verdict.headline]
    names = names_of([row.entrant for row in table.rows])
    said = verdict.headline
    if verdict.sure == "sure":
        said = f"{said.removesuffix('.')}, {verdict.label}."
    elif verdict.sure == "early":
        said += " A rank needs ten sets: play more games with -n."
    got = ", ".join(f"{names[row.entrant]} {figure(row.measure.mean)}" for row in table.rows)
    return [said, f"{got} {UNITS[table.measure]} a game, over {counted(table.games, 'game')}."]


def json_table(table: Standings, figures: RunFigures | None = None) -> str:
    """The standings in full, as one JSON object; what the run took, if that is given, as its ``run``."""
    whole = table.to_json() if figures is None else {**table.to_json(), "run": figures.to_json()}
    return json.dumps(whole, indent=2, ensure_ascii=True)
