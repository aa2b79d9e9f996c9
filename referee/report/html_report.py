"""The report as one HTML file, and a replay as one: nothing is loaded from elsewhere, and nothing from elsewhere runs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from referee.league.definition.toml_file import write_text
from referee.league.league import League
from referee.league.store import Store
from referee.report.cross_table import heat_map
from referee.report.decision_times import times
from referee.report.featured_games import ChosenGame, choose
from referee.report.forest_plot import forest
from referee.report.game_replay import game_replay
from referee.report.headline import judge
from referee.report.rating_history import history
from referee.report.render import render
from referee.report.replay_json import replay_json, to_script
from referee.report.report_data import ReportData, collect
from referee.report.rulings import fault_lines, ruling_groups
from referee.report.sanitize import sanitize
from referee.report.seats_and_bids import bid_rows, seat_table
from referee.report.standings_columns import HINTS, LEFT, columns, void_lines
from referee.statistics.standings import Standings
from referee.umpire.record import Record


def write_report(
    store: Store, league: League, path: Path, table: Standings | None = None, games: Sequence[int] = ()
) -> Path:
    """Writes the report of a league to ``path`` and returns it.

    ``table`` saves making the standings again. ``games``: numbers of games to show whole besides those that matter;
    raises ``StoreError`` if there is none of a number.
    """
    facts = collect(store, league, table)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, render_report(facts, choose(store, facts, games)))
    return path


def render_report(facts: ReportData, games: Sequence[ChosenGame] = ()) -> str:
    """The report as HTML, with the replays of these games."""
    table = facts.table
    same_packs = facts.league.definition.schedule.duplicate
    verdict = judge(table, facts.names, facts.copies, finished=facts.finished, same_packs=same_packs)
    cells = columns(table, facts.called)
    shown = frozenset(game.row.number for game in games if game.data)
    return render(
        "report.html.j2",
        facts=facts,
        title=sanitize(facts.league.name, 100),
        verdict=verdict,
        forest=forest(facts, verdict.winner),
        headings=[(heading, heading in LEFT, HINTS.get(heading, "")) for heading in cells],
        rows=[[(cell(row), heading in LEFT) for heading, cell in cells.items()] for row in table.rows],
        notes=[
            sanitize(note)
            for note in (
                *facts.ending,
                *table.notes,
                *filter(None, [table.share_note]),
                *facts.league.facts.get("notes", ()),
            )
        ],
        skipped=[
            (sanitize(path, 200), sanitize(reason)) for path, reason in facts.league.facts.get("skipped", ())[:50]
        ],
        void=void_lines(table, facts.called),
        heat=heat_map(facts),
        history=history(facts, verdict.winner),
        seats=seat_table(facts),
        bids=bid_rows(facts),
        times=times(facts),
        file=sanitize(Path(facts.file).name, 100),
        played_by=_played_by(facts),
        groups=ruling_groups(facts, shown),
        faults=fault_lines(facts),
        games=games,
        games_json=to_script(game.data for game in games if game.data),
    )


def _played_by(facts: ReportData) -> str:
    """The program and the machine that played, in words."""
    known = facts.league.facts
    code, host = known.get("code", {}), known.get("host", {})
    sandbox = known.get("sandbox")
    shut = "bots without a sandbox" if sandbox == "none" else f"bots in a sandbox ({sandbox})"
    parts = (f"Referee {code.get('referee')}", f"house {code.get('house')}", f"Python {code.get('python')}")
    return sanitize(f"{', '.join(parts)}; {host.get('system')}; {shut}")


def write_replay(record: Record, number: int, path: Path, names: Sequence[str] = ()) -> Path:
    """Writes the replay of one game to ``path`` and returns it; raises ``RecordError`` if the record does not replay.

    ``names`` by seat are used instead of those of the record, which have versions.
    """
    page = replay_page(record, number, names)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, page)
    return path


def replay_page(record: Record, number: int, names: Sequence[str] = ()) -> str:
    """The replay of one game as a page; raises ``RecordError`` if the record does not replay."""
    data = replay_json(game_replay(record, number, names))
    return render(
        "replay.html.j2", number=number, names=data["names"], title=_league(record), games_json=to_script([data])
    )


def _league(record: Any) -> str:
    return sanitize(record.get("league", "") if isinstance(record, dict) else "", 100)
