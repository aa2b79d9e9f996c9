"""A browser for the tests of pages: the system's Chromium, driven by Playwright."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from referee.league.store import Store
from referee.report.html_report import write_replay, write_report
from tests.report.made_leagues import PLAYERS, make_league, open_league

SCREENS = {"phone": (375, 740), "desktop": (1200, 900)}


@dataclass
class Monitored:
    """A page, and everything that it complained about."""

    page: Page
    complaints: list[str] = field(default_factory=list)


Opener = Callable[..., Any]


@pytest.fixture(scope="module")  # Playwright's loop runs in this thread: no test of another module may meet it
def browser() -> Iterator[Browser]:
    with sync_playwright() as driver:
        # Only root has to go without Chromium's own sandbox; what is opened here are our own files.
        flags = ["--no-sandbox"] if os.geteuid() == 0 else []
        started = driver.chromium.launch(executable_path=shutil.which("chromium"), args=[*flags, "--disable-gpu"])
        yield started
        started.close()


@pytest.fixture
def look(browser: Browser) -> Opener:
    """Opens a file; at the end the page must have complained of nothing, asked for nothing and loaded nothing."""

    @contextmanager
    def open_file(
        path: Path, place: str = "", *, scheme: str = "light", screen: str = "desktop", **options: Any
    ) -> Iterator[Page]:
        width, height = SCREENS[screen]
        context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": height}, **options)  # type: ignore[arg-type]
        watched = Monitored(context.new_page())
        watched.page.on("console", lambda message: watched.complaints.append(message.text))
        watched.page.on("pageerror", lambda error: watched.complaints.append(str(error)))
        watched.page.on("dialog", lambda dialog: watched.complaints.append(dialog.message))
        watched.page.on("request", lambda request: _note(watched, request.url))
        try:
            watched.page.goto(f"{path.as_uri()}{place}")
            yield watched.page
            assert watched.complaints == []
        finally:
            context.close()

    return open_file


def _note(watched: Monitored, url: str) -> None:
    if not url.startswith("file:"):
        watched.complaints.append(f"asks for {url}")


@pytest.fixture(scope="session")
def store_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_league(tmp_path_factory.mktemp("browser") / "league.sqlite", PLAYERS)


@pytest.fixture
def opened(store_path: Path) -> Iterator[Store]:
    store, _ = open_league(store_path)
    with store:
        yield store


@pytest.fixture(scope="session")
def report(store_path: Path) -> Path:
    store, league = open_league(store_path)
    with store:
        return write_report(store, league, store_path.with_suffix(".html"))


@pytest.fixture(scope="session")
def card_ruling(store_path: Path) -> tuple[int, int]:
    """The first ruling about a card: the number of its game, and its own in it."""
    store, _ = open_league(store_path)
    with store:
        return next((one["game"], one["number"]) for one in store.rulings() if one["rule"].startswith("AF-PLAY"))


@pytest.fixture(scope="session")
def ruled(card_ruling: tuple[int, int]) -> int:
    """The number of that game."""
    return card_ruling[0]


@pytest.fixture(scope="session")
def replay(store_path: Path, ruled: int) -> Path:
    store, _ = open_league(store_path)
    with store:
        return write_replay(store.record(ruled), ruled, store_path.with_name("replay.html"))
