"""The report as one HTML file: nothing is loaded from elsewhere, and nothing from elsewhere can run in it."""

import base64
import hashlib
from functools import cache
from pathlib import Path
from typing import Any

import referee
from referee.report.facts import Facts, gather
from referee.report.forest import forest
from referee.report.harmless import harmless
from referee.report.verdict import judge
from referee.report.wide import HINTS, LEFT, columns
from referee.store import Store
from referee.tournament.league import League
from referee.tournament.standings import Standings


def write_report(store: Store, league: League, path: Path, table: Standings | None = None) -> Path:
    """Writes the report of a league to ``path`` and returns it. ``table`` saves making the standings again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(render_report(gather(store, league, table)), "utf-8")
    return path


def render_report(facts: Facts) -> str:
    """The report as HTML."""
    table = facts.table
    same_packs = facts.league.definition.schedule.duplicate
    verdict = judge(table, facts.names, facts.copies, finished=facts.finished, same_packs=same_packs)
    cells = columns(table, facts.called)
    return render(
        "report.html.j2",
        facts=facts,
        title=harmless(facts.league.name, 100),
        verdict=verdict,
        forest=forest(facts, verdict.winner),
        headings=[(heading, heading in LEFT, HINTS.get(heading, "")) for heading in cells],
        rows=[[(cell(row), heading in LEFT) for heading, cell in cells.items()] for row in table.rows],
        notes=[harmless(note) for note in (*table.notes, *facts.league.facts.get("notes", ()))],
        skipped=[
            (harmless(path, 200), harmless(reason)) for path, reason in facts.league.facts.get("skipped", ())[:50]
        ],
    )


def render(template: str, **values: Any) -> str:
    """A template of this package, filled in."""
    script = _source("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    found = _environment().get_template(template)
    text: str = found.render(version=referee.__version__, script=script, script_hash=f"sha256-{digest}", **values)
    return text


@cache
def _environment() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("referee.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _source(name: str) -> str:
    text: str = (Path(__file__).parent / "templates" / name).read_text("utf-8")
    return text
