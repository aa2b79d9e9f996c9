"""All columns of the standings, as text: what ``referee standings`` prints, cell for cell."""

from collections.abc import Callable, Mapping
from typing import Final

from referee.report.number_format import DIGITS, NONE, UNITS, estimate, figure, milliseconds, ranks, rating, skill
from referee.report.sanitize import name, sanitize
from referee.statistics.standings import Standings, StandingsRow, VoidSet

LEFT: Final = frozenset({"bot"})
"""Columns of words; all others hold figures."""


def columns(table: Standings, called: Callable[[str], str] = name) -> Mapping[str, Callable[[StandingsRow], str]]:
    """The columns of the standings: heading, and what makes a cell of a row."""
    adjusted: dict[str, Callable[[StandingsRow], str]] = {}
    if table.share_by == "house replay":
        adjusted["luck-adjusted"] = lambda row: NONE if row.adjusted is None else estimate(row.adjusted, DIGITS)
    panel: dict[str, Callable[[StandingsRow], str]] = {}
    if table.ladder:
        panel["panel points"] = lambda row: NONE if row.panel is None else estimate(row.panel, DIGITS)
    return {
        "rank": ranks,
        "bot": lambda row: called(row.entrant),
        f"{UNITS[table.measure]}/game": lambda row: estimate(row.measure, DIGITS),
        **adjusted,
        **panel,
        "rating": lambda row: rating(row.rating),
        "TrueSkill": skill,
        "games": lambda row: str(row.games),
        "wins": lambda row: str(row.wins),
        "stakes": lambda row: figure(row.stakes, 0, sign=True),
        "bids made/set": lambda row: f"{row.tally.bids_made}/{row.tally.bids_set_back}",
        "illegal": lambda row: str(row.tally.illegal_actions),
        "late": lambda row: str(row.tally.time_outs),
        "lost": lambda row: str(row.tally.crashes),
        "ms p50/p99": lambda row: (
            f"{milliseconds(row.tally.decision_ms_median)}/{milliseconds(row.tally.decision_ms_p99)}"
        ),
    }


HINTS: Final = {
    "rank": "The ranks that the data support: a range where the order is open.",
    "rating": "Order-free rating (Plackett-Luce) on an Elo-like scale, mean 0, with its 95% interval.",
    "luck-adjusted": "Points a game less what the packs were worth to house players in the same seats, with a 95% interval.",
    "panel points": "The share of games in which it finished ahead of a bot of the panel, with a 95% interval; it compares over months.",
    "TrueSkill": "Conservative skill mu - 3 sigma, then mu and sigma. A running estimate: it depends on the order of games.",
    "stakes": "Stakes won less stakes lost, in all.",
    "bids made/set": "Contracts made, and contracts set back.",
    "illegal": "Moves against the rules, and moves that could not be read.",
    "late": "Decisions without an answer in time.",
    "lost": "Crashes, disconnects and other losses of a game.",
    "ms p50/p99": "Time of a decision in milliseconds: median, and what 99 in 100 stay below.",
}
"""What a column means, where its heading does not say it."""


_NAMED: Final = 3


def void_lines(table: Standings, called: Callable[[str], str] = name) -> list[str]:
    """The sets that do not count: how many, with which bots, and why; equal reasons told together."""
    by_reason: dict[str, list[VoidSet]] = {}
    for one in table.void:
        by_reason.setdefault(one.reason, []).append(one)
    lines = []
    for reason, sets in by_reason.items():
        bots = list(dict.fromkeys(called(key) for one in sets for key in one.entrants))
        who = f" with {', '.join(bots)}" if 0 < len(bots) <= 2 * _NAMED else ""
        ids = ", ".join(one.id for one in sets[:_NAMED]) + (", ..." if len(sets) > _NAMED else "")
        lines.append(f"Void: {len(sets):,} {'set' if len(sets) == 1 else 'sets'}{who} ({ids}): {sanitize(reason)}")
    return lines
