"""The page of a rules check in a browser: nothing from elsewhere, readable on a phone, no barrier found by axe."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.check.make_page import BOTS
from tests.program import PATIENCE

pytestmark = pytest.mark.needs("chromium")

Look = Callable[..., Any]
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("check") / "check.html"
    subprocess.run([sys.executable, "-m", "tests.check.make_page", path], cwd=ROOT, check=True, timeout=PATIENCE)
    return path


@pytest.mark.parametrize("screen", ["phone", "desktop"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_has_no_barriers_and_fits_the_screen(look: Look, page_file: Path, screen: str, scheme: str) -> None:
    with look(page_file, screen=screen, scheme=scheme) as page:
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_rule_deed_and_legal_cards_are_seen_without_scrolling(look: Look, page_file: Path) -> None:
    """A person who has never seen the tool: the sentence, what was done, what was legal, and the table beside it."""
    with look(page_file) as page:
        section = page.locator("section.breach").first
        section.scroll_into_view_if_needed()
        for word in ("The rule:", "What happened:", "Legal:"):
            assert section.get_by_text(word).is_visible()
        wrong = section.locator("svg .card.wrong")
        assert wrong.count() == 1
        assert wrong.locator("title").text_content().endswith("what the bot played")
        assert section.locator("svg .card.legal").count() >= 1
        top, bottom = section.locator("h2").bounding_box(), section.locator("svg").bounding_box()
        assert bottom["y"] + bottom["height"] - top["y"] < 900


def test_cards_do_not_lie_on_one_another(look: Look, page_file: Path) -> None:
    """Seven seats are the narrowest table."""
    with look(page_file) as page:
        boxes = page.evaluate(
            "[...document.querySelectorAll('section.breach svg')].map(svg => [...svg.querySelectorAll('.card rect')]"
            ".map(rect => rect.getBoundingClientRect().toJSON()))"
        )
    for cards in boxes:
        for number, one in enumerate(cards):
            for other in cards[:number]:
                apart = one["right"] <= other["left"] + 3 or other["right"] <= one["left"] + 3
                assert apart or one["bottom"] <= other["top"] + 3 or other["bottom"] <= one["top"] + 3


def test_a_verdict_leads_to_its_picture(look: Look, page_file: Path) -> None:
    with look(page_file) as page:
        links = page.locator("td a")
        assert links.count() == len(BOTS)
        for number in range(links.count()):
            target = links.nth(number).get_attribute("href")
            assert page.locator(f'[id="{target[1:]}"]').count() == 1
