"""The report in a browser: readable by everybody, on any screen, without a complaint."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from referee.league.store import Store
from referee.report.html_report import write_report
from referee.report.report_data import collect
from tests.browser.conftest import SCREENS
from tests.report.made_leagues import make_league, open_league
from tests.report.test_report import HOSTILE

pytestmark = pytest.mark.needs("chromium")

Look = Callable[..., Any]
EVERYWHERE = [(scheme, screen) for scheme in ("light", "dark") for screen in SCREENS]


def faults_of(page: Any) -> list[str]:
    """What axe finds wrong, a line each."""
    found = Axe().run(page).response["violations"]
    return [f"{fault['id']}: {one['html'][:120]}: {one['failureSummary']}" for fault in found for one in fault["nodes"]]


def overflow(page: Any) -> int:
    """By how many pixels the page is wider than the screen."""
    return int(page.evaluate("document.documentElement.scrollWidth - innerWidth"))


@pytest.mark.parametrize(("scheme", "screen"), EVERYWHERE)
def test_the_report_is_accessible_and_fits(look: Look, report: Path, scheme: str, screen: str) -> None:
    with look(report, scheme=scheme, screen=screen) as page:
        assert faults_of(page) == []
        assert overflow(page) <= 0


@pytest.mark.parametrize(("scheme", "screen"), EVERYWHERE)
def test_a_replay_is_accessible_and_fits(look: Look, report: Path, ruled: int, scheme: str, screen: str) -> None:
    with look(report, f"#game-{ruled}-r0", scheme=scheme, screen=screen) as page:
        assert page.locator("#panel").inner_text().startswith("Ruling against")
        assert faults_of(page) == []
        assert overflow(page) <= 0
        page.keyboard.press("End")
        assert faults_of(page) == []
        assert overflow(page) <= 0


def test_the_verdict_is_on_the_first_screen(look: Look, report: Path) -> None:
    with look(report, screen="phone") as page:
        for part in ("header h1", ".pill", ".lead"):
            box = page.locator(part).bounding_box()
            assert box["y"] + box["height"] < SCREENS["phone"][1]
        assert page.locator("header h1").inner_text() in page.title()


def test_dots_stand_where_their_figures_are(look: Look, report: Path, opened: Store) -> None:
    _, league = open_league(opened.path)
    rows = collect(opened, league).table.rows
    with look(report) as page:
        dots = page.locator("table.forest .dot").all()
        at = [dot.bounding_box()["x"] for dot in dots]
    means = [row.measure.mean or 0.0 for row in rows]
    scale = (at[0] - at[-1]) / (means[0] - means[-1])
    assert at == pytest.approx([at[0] + scale * (mean - means[0]) for mean in means], abs=0.5)


def test_without_javascript_all_but_the_replays_can_be_read(look: Look, report: Path) -> None:
    with look(report, java_script_enabled=False) as page:
        assert page.locator("table.forest tbody tr").count() == 3
        assert "Replays need JavaScript" in page.locator("#games").inner_text()
        assert not page.locator("#replay").is_visible()


def test_on_paper_it_has_no_links_to_jump(look: Look, report: Path) -> None:
    with look(report, scheme="dark") as page:
        page.emulate_media(media="print", color_scheme="light")
        assert not page.locator("nav.jump").is_visible()
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") in (
            "rgb(255, 255, 255)",
            "rgba(0, 0, 0, 0)",
        )
        assert page.pdf()[:4] == b"%PDF"


def test_hostile_text_does_nothing(look: Look, tmp_path: Path) -> None:
    name = "</title></script><script>window.pwned=1</script>"
    lose = {next(iter(HOSTILE)): '</script><img src=x onerror="window.pwned=1">\u202e' + "x" * 10_000}
    path = make_league(tmp_path / "h.sqlite", HOSTILE, sets=10, name=name, lose=lose)
    store, league = open_league(path)
    with store:
        games = sorted({ruling["game"] for ruling in store.rulings()})[:3]
        page_file = write_report(store, league, tmp_path / "h.html")
    with look(page_file, screen="phone") as page:
        assert overflow(page) <= 0
        for number in games:
            page.goto(f"{page_file.as_uri()}#game-{number}-r0")
            assert page.locator("#replay").is_visible()
            assert overflow(page) <= 0
            page.keyboard.press("End")
        assert page.evaluate("window.pwned === undefined")
