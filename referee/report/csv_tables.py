"""The report as CSV: one table at a time, keyed by name, numbers in full."""

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from referee.league.ladder_history import entered_on
from referee.report.report_data import ReportData
from referee.report.sanitize import csv_text

Line = Sequence[Any]


def csv_table(facts: ReportData, name: str) -> str:
    """One of ``TABLES`` as CSV. Figures are written in full, so that they read back as the same numbers."""
    made = io.StringIO()
    writer = csv.writer(made, lineterminator="\n")
    for line in TABLES[name](facts):
        writer.writerow([_cell(value) for value in line])
    return made.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return csv_text(value)
    return "" if value is None else repr(value) if isinstance(value, float) else value


def _standings(facts: ReportData) -> Iterable[Line]:
    yield (
        *("bot", "status", "rank_low", "rank_high", "mean", "low", "high", "advantage", "stability"),
        *("rating", "rating_low", "rating_high", "trueskill_mu", "trueskill_sigma", "trueskill_conservative"),
        *("sets", "games", "wins", "shared_wins", "stakes", "bids_made", "bids_set_back"),
        *("illegal_actions", "time_outs", "crashes", "decision_ms_median", "decision_ms_p99"),
    )
    for row in facts.table.rows:
        tally = row.tally
        yield (
            *(row.entrant, row.status, row.rank_low, row.rank_high, row.measure.mean, row.measure.low),
            *(row.measure.high, row.advantage, row.stability, row.rating.value, row.rating.low, row.rating.high),
            *(row.skill.mu, row.skill.sigma, row.skill.conservative, row.sets, row.games, row.wins, row.shared_wins),
            *(row.stakes, tally.bids_made, tally.bids_set_back, tally.illegal_actions, tally.time_outs, tally.crashes),
            *(tally.decision_ms_median, tally.decision_ms_p99),
        )


def _cross(facts: ReportData) -> Iterable[Line]:
    yield ("first", "second", "difference", "low", "high", "sets")
    for meeting in facts.meetings:
        found = meeting.difference
        yield (meeting.first, meeting.second, found.mean, found.low, found.high, found.sets)


def _games(facts: ReportData) -> Iterable[Line]:
    yield ("game", "set", "fixture", "seat", "bot", "place", "points", "stakes", "reason", "deals")
    for game in facts.games:
        summary = game.summary
        for seat, key in enumerate(summary["entrants"]):
            yield (
                *(game.number, summary["set"], game.fixture_id, seat + 1, key, summary["places"][seat]),
                *(summary["points"][seat], summary["stakes"][seat], summary["reason"], summary["deals"]),
            )


def _rulings(facts: ReportData) -> Iterable[Line]:
    yield ("game", "ruling", "bot", "seat", "fault", "rule", "sentence", "consequence")
    for one in facts.rulings:
        yield (
            *(one["game"], one["number"], one["entrant"], one["seat"] + 1),
            *(one["fault"], one["rule"], one["sentence"], one["consequence"]),
        )


def _seats(facts: ReportData) -> Iterable[Line]:
    yield ("bot", "seat", "mean_points", "games")
    for key, by_seat in facts.seats.items():
        for number, seat in enumerate(by_seat, 1):
            if seat:
                yield (key, number, seat.points, seat.games)


def _marks(facts: ReportData) -> Iterable[Line]:
    """A line for each bot, by owner: what a class is marked by. Bots without an owner come last."""
    entered = entered_on(facts.league)
    versions = {entrant.key: entrant.version for entrant in facts.league.entrants}
    yield (
        *("owner", "bot", "entrant", "version", "status", "rank_low", "rank_high", "mean", "low", "high"),
        *("panel_mean", "panel_low", "panel_high", "sets", "games"),
    )
    rows = [(entered.get(row.entrant), row) for row in facts.table.rows]
    for own, row in sorted(
        rows, key=lambda one: (not (one[0] and one[0]["owner"]), one[0]["owner"].casefold() if one[0] else "")
    ):
        panel = row.panel
        status = "panel" if own and own["panel"] else "provisional" if row.status != "ranked" else "ranked"
        yield (
            *(own["owner"] if own else "", own["bot"] if own else row.entrant, row.entrant, versions[row.entrant]),
            *(status if facts.table.ladder else row.status, row.rank_low, row.rank_high),
            *(row.measure.mean, row.measure.low, row.measure.high),
            *((panel.mean, panel.low, panel.high) if panel else (None, None, None)),
            *(row.sets, row.games),
        )


TABLES: Final[Mapping[str, Callable[[ReportData], Iterable[Line]]]] = {
    "standings": _standings,
    "cross": _cross,
    "games": _games,
    "rulings": _rulings,
    "seats": _seats,
    "marks": _marks,
}
"""The tables that can be had as CSV. Seats count from 1, as in the report."""
