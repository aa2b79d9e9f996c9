"""The report: its figures are those of the standings, it is one file, and nothing from elsewhere runs in it."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from referee.cli.standings_text import card_lines, json_table
from referee.league.league import League
from referee.league.standings import standings_of
from referee.league.store import Store, StoreError
from referee.report.csv_tables import csv_table
from referee.report.featured_games import choose, margin
from referee.report.html_report import render_report, write_replay, write_report
from referee.report.markdown import markdown
from referee.report.rating_history import history
from referee.report.render import render
from referee.report.report_data import ReportData, collect
from referee.report.standings_columns import columns
from tests.report.made_leagues import PLAYERS, chance, make_league, open_league, slipping, sound


class Page(HTMLParser):
    """The tables of a page by the id of their section, all ids, all links, and what a browser would load."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loads: list[str] = []
        self.handlers: list[str] = []
        self._section, self._cell = "", False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.handlers += [name for name in found if name.startswith("on")]
        self.loads += [found[name] for name in ("src", "srcset", "data", "poster") if name in found]
        self.loads += [found["href"]] if tag == "link" else []
        if "id" in found:
            self.ids.append(found["id"])
        if tag == "a":
            self.links.append(found.get("href", ""))
        if tag == "section":
            self._section = found.get("id", "")
        if tag == "tr":
            self.tables.setdefault(self._section, []).append([])
        if tag in ("td", "th"):
            self._cell = True
            self.tables[self._section][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._cell = False

    def handle_data(self, data: str) -> None:
        if self._cell:
            self.tables[self._section][-1][-1] += data


def page_of(opened: tuple[Store, League]) -> tuple[str, Page]:
    store, _ = opened
    facts = collect(*opened)
    text = render_report(facts, choose(store, facts))
    return text, Page(text)


def test_every_figure_of_the_standings_agrees_to_the_last_digit(opened: tuple[Store, League]) -> None:
    table = standings_of(*opened)
    _, page = page_of(opened)
    cells = columns(table)
    shown = page.tables["all-figures"]
    assert shown[0] == list(cells)
    assert shown[1:] == [[cell(row) for cell in cells.values()] for row in table.rows]


def test_the_forest_plot_shows_the_same_figures(opened: tuple[Store, League]) -> None:
    table = standings_of(*opened)
    _, page = page_of(opened)
    rows = page.tables["standings"][1 : 1 + len(table.rows)]
    for cells, row in zip(rows, table.rows, strict=True):
        shown = columns(table)
        assert cells[0].replace("–", "-") == shown["rank"](row)  # noqa: RUF001
        assert cells[3] == shown["place points/game"](row)


def test_all_figures_of_the_terminal_are_those_of_the_report(opened: tuple[Store, League]) -> None:
    table = standings_of(*opened)
    cells = columns(table)
    lines = iter(card_lines(table))
    for row in table.rows:
        assert next(lines).split() == [cells["rank"](row), *cells["bot"](row).split()]
        for heading, cell in cells.items():
            if heading not in ("rank", "bot"):
                line = next(lines).strip()
                assert line.startswith(heading)
                assert line.removeprefix(heading).strip() == cell(row)
        next(lines, None)


def test_the_csv_is_the_json_of_the_standings_to_the_last_digit(facts: ReportData) -> None:
    plain = json.loads(json_table(facts.table))
    lines = [line.split(",") for line in csv_table(facts, "standings").splitlines()]
    named = [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]
    for line, row in zip(named, plain["rows"], strict=True):
        assert line["bot"] == row["entrant"]
        assert float(line["mean"]) == row["measure"]["mean"]
        assert float(line["low"]) == row["measure"]["low"]
        assert float(line["rating"]) == row["rating"]["value"]
        assert float(line["trueskill_conservative"]) == row["skill"]["conservative"]
        assert float(line["decision_ms_p99"]) == row["tally"]["decision_ms_p99"]
        assert int(line["bids_made"]) == row["tally"]["bids_made"]


def test_the_markdown_holds_the_same_cells(facts: ReportData) -> None:
    text = markdown(facts).replace("\\", "")
    for row in facts.table.rows:
        line = " | ".join(cell(row) for cell in columns(facts.table).values())
        assert f"| {line} |" in text


def test_the_rating_over_time_ends_at_the_rating_of_the_standings(facts: ReportData) -> None:
    chart = history(facts, None)
    assert chart is not None
    assert len(chart.lines) == len(facts.table.rows)
    for line in chart.lines:
        _, _, last = line.points.rpartition(" ")
        assert float(last.split(",")[1]) == pytest.approx(float(line.end.rstrip("%")), abs=0.06)
        assert line.low is not None
        assert line.high is not None
        assert float(line.high.rstrip("%")) < float(line.end.rstrip("%")) < float(line.low.rstrip("%"))


def test_it_is_one_file_that_loads_nothing(opened: tuple[Store, League]) -> None:
    text, page = page_of(opened)
    assert page.loads == []
    assert page.handlers == []
    assert not re.search(r"@import|url\(|https?://(?!www\.w3\.org/2000/svg)", text)
    assert "default-src 'none'" in text


def test_every_link_leads_somewhere(opened: tuple[Store, League]) -> None:
    _, page = page_of(opened)
    games = {number for number in page.ids if number.startswith("row-")}
    assert len(page.ids) == len(set(page.ids))
    for link in page.links:
        game = re.fullmatch(r"#game-(\d+)(-r\d+)?", link)
        assert f"row-{game[1]}" in games if game else link.removeprefix("#") in page.ids


def test_every_ruling_is_linked_to_its_place(opened: tuple[Store, League]) -> None:
    _, page = page_of(opened)
    store, _ = opened
    rulings = store.rulings()
    assert rulings
    linked = {link for link in page.links if re.fullmatch(r"#game-\d+-r\d+", link)}
    for ruling in rulings[:5]:
        assert f"#game-{ruling['game']}-r{ruling['number']}" in linked


def test_the_games_that_matter_are_shown(opened: tuple[Store, League], facts: ReportData) -> None:
    store, _ = opened
    chosen = choose(store, facts)
    numbers = {game.row.number for game in chosen}
    assert {ruling["game"] for ruling in facts.rulings} <= numbers
    margins = {row.number: margin(row) for row in facts.scored if margin(row) is not None}
    assert min(margins, key=lambda number: (margins[number], number)) in numbers
    assert max(margins, key=lambda number: (margins[number], -number)) in numbers
    assert all(game.data and game.why for game in chosen)


def test_a_game_may_be_asked_for(opened: tuple[Store, League], facts: ReportData) -> None:
    store, _ = opened
    shown = {game.row.number for game in choose(store, facts)}
    others = [row.number for row in facts.games if row.number not in shown]
    assert others
    asked = {game.row.number: game for game in choose(store, facts, others[:1])}
    assert asked[others[0]].why == ("asked for",)
    with pytest.raises(StoreError, match="no game 9999"):
        choose(store, facts, [9999])


def test_where_there_is_little_room_each_kind_of_ruling_keeps_a_game(
    opened: tuple[Store, League], facts: ReportData
) -> None:
    store, _ = opened
    kinds = {(ruling["entrant"], ruling["fault"], ruling["rule"]) for ruling in facts.rulings}
    whole = choose(store, facts)
    room = sum(len(json.dumps(game.data)) for game in whole) * (len(kinds) + 1) // len(whole)
    few = {game.row.number for game in choose(store, facts, room=room)}
    assert 0 < len(few) < len(whole)
    assert any(ruling["game"] in few for ruling in facts.rulings)


def test_a_record_that_does_not_replay_is_named(
    opened: tuple[Store, League], facts: ReportData, tmp_path: Path
) -> None:
    store, _ = opened

    class Spoilt:
        def archives(self) -> list[Any]:
            return []

        def record(self, number: int) -> Any:
            return {**store.record(number), "rules": {}}

    chosen = choose(Spoilt(), facts)  # type: ignore[arg-type]
    assert chosen
    assert all(game.data is None and game.flaw for game in chosen)
    text = render_report(facts, chosen)
    assert "it cannot be replayed" in text
    assert "#game-" not in Page(text).links


def test_a_league_under_way_keeps_its_secrets(tmp_path: Path) -> None:
    entrants = {"sound": sound, "slipping": slipping}
    store, league = open_league(make_league(tmp_path / "open.sqlite", entrants, sets=8, finish=False))
    with store:
        facts = collect(store, league)
        still_open = {row.id for row in facts.sets if row.state == "OPEN"}
        assert any(game.summary["set"] in still_open for game in facts.games)
        assert not any(game.row.summary["set"] in still_open for game in choose(store, facts))
        text = render_report(facts, choose(store, facts))
    assert "still being played" in text
    assert league.master.hex() not in text
    assert league.commitment in text
    assert "won." not in Page(text).rawdata.split("</h1>")[0]


def test_before_any_set_is_closed_there_is_a_report(tmp_path: Path) -> None:
    store, league = open_league(make_league(tmp_path / "new.sqlite", PLAYERS, sets=1, finish=False))
    with store:
        text = write_report(store, league, tmp_path / "deep" / "new.html").read_text("utf-8")
    assert "Nothing is known yet." in text
    assert "Rating over time" not in text


def test_ten_thousand_games_stay_under_two_megabytes(opened: tuple[Store, League], facts: ReportData) -> None:
    """What grows with games: rulings, voids and faults are counted together, replays have a limit."""
    store, _ = opened
    many = 10_000 // len(facts.games) + 1
    grown = replace(
        facts, games=list(facts.games) * many, rulings=list(facts.rulings) * many, sets=list(facts.sets) * many
    )
    assert len(grown.games) >= 10_000
    text = render_report(grown, choose(store, grown))
    assert len(text.encode()) < 2_000_000
    assert len(text) < 1.05 * len(render_report(facts, choose(store, facts)))


HOSTILE = {
    "<script>window.pwned=1</script>": chance,
    '"><img src=x onerror="window.pwned=1">': sound,
    "\u202eevil\u0007\x1b[2J": slipping,
    "=HYPERLINK('http://x')|{{ 7*7 }}": chance,
}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    name = "</title></script><script>window.pwned=1</script>\u202e"
    lose = {next(iter(HOSTILE)): "</script><script>window.pwned=1</script>\x1b[31m\u202e" + "x" * 100_000}
    return make_league(tmp_path_factory.mktemp("hostile") / "h.sqlite", HOSTILE, sets=10, name=name, lose=lose)


def test_hostile_text_is_text(hostile: Path, tmp_path: Path) -> None:
    store, league = open_league(hostile)
    with store:
        facts = collect(store, league)
        games = choose(store, facts)
        pages = [render_report(facts, games), write_replay(store.record(1), 1, tmp_path / "r.html").read_text("utf-8")]
        shown = [*pages, markdown(facts), *(csv_table(facts, name) for name in ("standings", "games", "rulings"))]
    for text in pages:
        page = Page(text)
        assert page.handlers == []
        assert page.loads == []
        assert "<script>window" not in text
        assert "{{ 7*7 }}" in text
    for text in shown:
        assert not set("\u202e\x1b\x07") & set(text)
        assert len(text) < 2_000_000
        assert not re.search("x{1000}", text)


def test_hostile_text_is_no_formula_and_no_markup(hostile: Path) -> None:
    store, league = open_league(hostile)
    with store:
        facts = collect(store, league)
    for name in ("standings", "cross", "games", "seats"):
        cells = [cell for line in csv_table(facts, name).splitlines() for cell in re.split(r",(?=\D)", line)]
        assert not [cell for cell in cells if cell.lstrip('"')[:1] in tuple("=+@")]
    rows = [line for line in markdown(facts).splitlines() if line.startswith("|")]
    assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) == 1
    assert "<script" not in markdown(facts).replace("\\<", "")


def test_a_megabyte_of_a_name_is_shown_short(tmp_path: Path) -> None:
    entrants = {"x" * 1_000_000: sound, "y" * 1_000_000: slipping}
    store, league = open_league(make_league(tmp_path / "big.sqlite", entrants, sets=1))
    with store:
        facts = collect(store, league)
        text = render_report(facts, choose(store, facts))
    assert len(text) < 400_000
    assert max(map(len, re.findall("x+", text))) < 100


def test_two_names_that_look_alike_are_told_apart(tmp_path: Path) -> None:
    entrants = {"same" * 40 + "1": sound, "same" * 40 + "2": chance}
    store, league = open_league(make_league(tmp_path / "alike.sqlite", entrants, sets=1))
    with store:
        facts = collect(store, league)
    assert len(set(facts.names.values())) == 2


def test_templates_escape_and_miss_nothing() -> None:
    with pytest.raises(Exception, match="undefined"):
        render("report.html.j2")


def test_faults_withdrawals_and_void_sets_are_told(tmp_path: Path) -> None:
    path = make_league(tmp_path / "faulty.sqlite", PLAYERS, sets=3)
    with Store.write(path) as store:
        for _ in range(3):
            store.add_fault("chance", "CRASH", "It ended with code 1.", "logs/chance.log")
        store.withdraw("chance", "It crashed <three> times.")
        store.void_scored_set(store.sets()[0].id, "chance was withdrawn")
    reader, league = open_league(path)
    with reader:
        facts = collect(reader, league)
        text = render_report(facts, choose(reader, facts))
        told = markdown(facts)
    assert "is out of the league: <bdi>It crashed &lt;three&gt; times.</bdi>" in text
    assert "CRASH, 3 times" in text
    assert "chance was withdrawn" in text
    assert "is out of the league" in told
    assert "Void: 1 set with chance, slipping, sound (" in told
    assert "): chance was withdrawn" in told
    assert "Void: 1 set with chance, slipping, sound (" in text
