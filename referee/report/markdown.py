"""The report as Markdown: for a chat, an issue, a wiki."""

from collections.abc import Iterator, Sequence

from referee.report.headline import judge
from referee.report.report_data import ReportData
from referee.report.rulings import fault_lines, ruling_groups
from referee.report.sanitize import markdown_text
from referee.report.standings_columns import LEFT, columns, void_lines


def markdown(facts: ReportData) -> str:
    """The verdict, the standings, rulings and faults, and how to verify. Nothing in it is markup but our own."""
    return "\n".join(_lines(facts)) + "\n"


def _lines(facts: ReportData) -> Iterator[str]:
    league, table = facts.league, facts.table
    same_packs = league.definition.schedule.duplicate
    verdict = judge(table, facts.names, facts.copies, finished=facts.finished, same_packs=same_packs)
    yield f"# {markdown_text(league.name, 100)}"
    yield ""
    yield f"**{markdown_text(verdict.headline)}** ({verdict.label}) {markdown_text(verdict.detail)}"
    yield ""
    seats = league.definition.tournament.seats
    yield f"{league.rules.title}, {seats} seats, {table.games} games in {table.sets} sets."
    yield ""
    yield from _standings(facts)
    notes = [*facts.ending, *table.notes, *filter(None, [table.share_note]), *league.facts.get("notes", ())]
    notes += void_lines(table, facts.called)
    if notes:
        yield ""
        yield from (f"- {markdown_text(note)}" for note in notes)
    yield from _faults(facts)
    yield ""
    yield "## How to verify"
    yield ""
    yield "Deal, judge and rate everything again: `referee verify` and the league's file."
    yield ""
    yield f"- Commitment: `{league.commitment}`"
    yield from (f"- Root of all {name}s: `{root}`" for name, root in facts.roots.items() if root)


def _standings(facts: ReportData) -> Iterator[str]:
    cells = columns(facts.table, facts.called)
    yield _row(list(cells))
    yield _row(["---" if heading in LEFT else "---:" for heading in cells], plain=True)
    for row in facts.table.rows:
        yield _row([cell(row) for cell in cells.values()])


def _row(cells: Sequence[str], *, plain: bool = False) -> str:
    return f"| {' | '.join(cells if plain else [markdown_text(cell) for cell in cells])} |"


def _faults(facts: ReportData) -> Iterator[str]:
    groups, faults = ruling_groups(facts, frozenset()), fault_lines(facts)
    if not groups and not faults and not facts.withdrawn:
        return
    yield ""
    yield "## Faults and rulings"
    yield ""
    for key, reason in facts.withdrawn.items():
        yield f"- {markdown_text(facts.called(key))} is out of the league: {markdown_text(reason)}"
    for group in groups:
        first = group.lines[0]
        yield (
            f"- {markdown_text(group.entrant)}: {group.rule or group.fault}, {group.count} times; first in game "
            f"{first.game}: {markdown_text(first.sentence)}"
        )
    for fault in faults:
        yield f"- {markdown_text(fault.entrant)}: {fault.fault}, {fault.count} times: {markdown_text(fault.sentence)}"
