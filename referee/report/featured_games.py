"""Which games a report shows whole: those with rulings, the closest, the most lopsided, and those asked for.

The packs of a set that is still being played are a secret, so only games of closed sets are chosen by themselves.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from referee.league.store import GameRow, Store
from referee.league.store.archived_records import archived_in
from referee.report.game_replay import game_replay
from referee.report.replay_json import replay_json
from referee.report.report_data import ReportData
from referee.umpire.record import RecordError

ROOM: Final = 700_000
"""Bytes that replays may take in a report."""

_EXTREMES: Final = 3


@dataclass(frozen=True, slots=True)
class ChosenGame:
    """A game shown whole. ``data`` is its replay, or None where the record does not replay; ``flaw`` then says why."""

    row: GameRow
    why: tuple[str, ...]
    data: dict[str, Any] | None
    flaw: str = ""


def choose(store: Store, facts: ReportData, wanted: Sequence[int] = (), room: int = ROOM) -> list[ChosenGame]:
    """The games that matter, in the order of their numbers, as many as there is room for; ``wanted`` always."""
    rows = {row.number: row for row in facts.games}
    reasons = _reasons(facts)
    for number in wanted:
        store.record(number)  # says so if there is no such game
        if number in rows:
            reasons.setdefault(number, []).insert(0, "asked for")
    order = [number for number in wanted if number in rows]
    archives = store.archives()  # of these games the records are not at hand
    order += [n for n in _by_weight(facts, reasons) if n not in order and archived_in(archives, n) is None]
    chosen, used = [], 0
    for number in order:
        game = _shown(store, facts, rows[number], tuple(reasons[number]))
        used += len(json.dumps(game.data, separators=(",", ":")))
        if used > room and number not in wanted:
            break
        chosen.append(game)
    return sorted(chosen, key=lambda game: game.row.number)


def _shown(store: Store, facts: ReportData, row: GameRow, why: tuple[str, ...]) -> ChosenGame:
    names = [facts.called(key) for key in row.summary["entrants"]]
    try:
        return ChosenGame(row, why, replay_json(game_replay(store.record(row.number), row.number, names), why))
    except (RecordError, ValueError) as error:
        return ChosenGame(row, why, None, str(error))


def _reasons(facts: ReportData) -> dict[int, list[str]]:
    """Why each game is worth a look, by its number."""
    closed = facts.closed_ids
    reasons: dict[int, list[str]] = {}
    margins = [(margin(row), row.number) for row in facts.scored if margin(row) is not None]
    for text, picked in (
        ("one of the closest", sorted(margins)[:_EXTREMES]),
        ("one of the most lopsided", sorted(margins, key=lambda pair: (-(pair[0] or 0), pair[1]))[:_EXTREMES]),
    ):
        for _, number in picked:
            reasons.setdefault(number, []).append(text)
    open_games = {row.number for row in facts.games if row.summary["set"] not in closed}
    for game, count in _counted(ruling["game"] for ruling in facts.rulings):
        if game not in open_games:
            reasons.setdefault(game, []).insert(0, "1 ruling" if count == 1 else f"{count} rulings")
    return reasons


def _counted(numbers: Iterable[int]) -> list[tuple[int, int]]:
    counts: dict[int, int] = {}
    for number in numbers:
        counts[number] = counts.get(number, 0) + 1
    return list(counts.items())


def _by_weight(facts: ReportData, reasons: dict[int, list[str]]) -> list[int]:
    """First a game for every kind of ruling against every entrant, then the extremes, then all other rulings."""
    first: dict[tuple[str, str, str], int] = {}
    for ruling in facts.rulings:
        if ruling["game"] in reasons:
            first.setdefault((ruling["entrant"], ruling["fault"], ruling["rule"]), ruling["game"])
    extremes = [number for number, why in reasons.items() if any(text.startswith("one of") for text in why)]
    return list(dict.fromkeys([*first.values(), *extremes, *sorted(reasons)]))


def margin(row: GameRow) -> float | None:
    """How far the winner was ahead of the next at the end; None without a winner, or where somebody forfeited."""
    summary = row.summary
    if summary["winner"] is None or summary["forfeits"]:
        return None
    sides = summary["sides"] or len(summary["points"])
    scores = summary["points"][:sides]
    others = [score for side, score in enumerate(scores) if side != summary["winner"]]
    return float(scores[summary["winner"]] - max(others)) if others else None
