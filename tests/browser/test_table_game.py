"""A person's table in a browser, with bots in the other seats: every game by clicking, a whole game through all that can happen to it."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from referee.league.store import Store
from referee.rules import variant_names
from referee.umpire.fallback_player import fallback_move
from referee.umpire.record import replay
from tests.browser.table_states import said
from tests.program import FIRST, LAST, PATIENCE, ROOT

pytestmark = pytest.mark.needs("chromium")

AT_ONCE: Final = """localStorage.getItem("referee-table") || localStorage.setItem("referee-table", JSON.stringify({ pace: "none" }))"""
WAITS_FOR_THE_PERSON: Final = """turn => table.state && table.sent === null && !table.isLost && Boolean(
    table.state.over || table.state.sheet || table.state.turn && table.state.turn.id !== turn)"""


@dataclass
class Person:
    """Somebody at the page, who clicks. ``call``: which of the legal bids, calls or suits; ``asked`` are the kinds of turns so far."""

    page: Page
    call: int = 0
    asked: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def state(self) -> Any:
        return self.page.evaluate("table.state")

    def waits(self, turn: str | None = None) -> Any:
        """The State in which the next thing is the person's to do."""
        self.page.wait_for_function(WAITS_FOR_THE_PERSON, arg=turn, timeout=PATIENCE * 1000)
        return self.state()

    def answers(self, state: Any) -> Any:
        """Does what is asked by clicking; the State after it that waits for the person again."""
        turn = state["turn"]
        self.asked.append(turn["kind"])
        if turn["choose"]:
            least, _ = turn["choose"]
            chosen = self.page.locator("#hand button[aria-pressed=true]").count()
            for held in [one["card"] for one in state["hand"] if one["legal"]]:
                if chosen >= least:
                    break
                button = self.page.locator(f"[data-card='{held}']")
                if button.get_attribute("aria-pressed") == "false":
                    button.click(position={"x": 8, "y": 12})
                    chosen += 1
            self.page.click("#confirm")
        elif state["moves"]:
            self.page.locator("#moves button.legal").nth(self.call).click()
        else:
            self.page.locator("#hand button.legal").first.click(position={"x": 8, "y": 12})
        return self.waits(turn["id"])


class Tables:
    """Opens tables, one after another, in a process of their own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    @contextmanager
    def table(self, folder: Path, game: str, bot: str, *, seat: int = 1, practice: bool = False) -> Iterator[str]:
        """The link of a table whose other seats play as the source of ``bot`` says. Its record is in ``table.sqlite``."""
        (folder / "other.py").write_text(bot)
        link = self._asks({"folder": str(folder), "game": game, "seat": seat, "practice": practice})
        try:
            yield link
        finally:
            ended = self._asks(None)
        assert ended == "closed"

    def _asks(self, order: Any) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().strip()


@pytest.fixture(scope="module")
def tables() -> Iterator[Tables]:
    with subprocess.Popen(
        [sys.executable, "-m", "tests.browser.open_tables"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        yield Tables(process)


@contextmanager
def sits(browser: Browser, link: str, *, size: tuple[int, int] = (1200, 900), call: int = 0) -> Iterator[Person]:
    """Opens the link; at the end the page must have complained of nothing, and asked nobody else."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]})
    try:
        person = Person(context.new_page(), call)
        home = link.partition("?")[0]
        person.page.add_init_script(AT_ONCE)
        person.page.on("pageerror", lambda error: person.complaints.append(str(error)))
        person.page.on("console", lambda told: person.complaints.append(told.text) if _odd(told.text) else None)
        person.page.on(
            "request",
            lambda sent: person.complaints.append(sent.url) if not sent.url.startswith((home, "data:")) else None,
        )
        person.page.goto(link)
        assert person.page.url == home  # the secret is not left in the address
        yield person
        assert person.complaints == []
    finally:
        context.close()


def _odd(text: str) -> bool:
    """Chromium has a line of its own about an answer that is no 200, and about none."""
    return not text.startswith("Failed to load resource")


ASKED: Final[Mapping[str, tuple[int, set[str]]]] = {
    "all-fours": (2, {"beg", "discard", "play"}),
    "all-fours-partners": (1, {"gift", "discard", "play"}),
    "auction-pitch": (2, {"bid", "play"}),
    "auction-pitch-forced": (2, {"bid", "play"}),
    "california-jack": (1, {"play"}),
    "cinch": (2, {"bid", "name", "discard", "play"}),
    "partnership-pitch": (2, {"bid", "play"}),
    "pedro": (2, {"bid", "play"}),
    "pedro-louisiana": (1, {"rob", "play"}),
    "pidro": (1, {"bid", "name", "rob", "play"}),
    "seven-up": (1, {"gift", "discard", "play"}),
    "seven-up-partners": (2, {"beg", "discard", "play"}),
    "shasta-sam": (1, {"play"}),
    "smudge": (2, {"bid", "play"}),
    "trinidad": (2, {"beg", "play"}),
}
"""The person's seat in each game, and what is asked there in the first deal."""


@pytest.mark.parametrize("name", variant_names())
def test_a_deal_of_every_game_is_played_by_clicking(
    browser: Browser, tables: Tables, tmp_path: Path, name: str
) -> None:
    seat, kinds = ASKED[name]
    with tables.table(tmp_path, name, LAST, seat=seat) as link, sits(browser, link, call=-1) as person:
        state = person.waits()
        while not state["sheet"] and not state["over"]:
            state = person.answers(state)
        assert set(person.asked) == kinds
        sheet = state["sheet"] or state["sheets"][-1]
        shown = person.page.locator("#sheet").inner_text()
        assert all(item["item"] in shown for item in sheet["items"])
        points = person.page.locator("#seats .points").evaluate_all("all => all.map(one => one.dataset.says)")
        assert sorted(points) == sorted(map(str, sheet["totals"]))


@pytest.mark.parametrize("size", [(1200, 900), (320, 640)], ids=["desktop", "phone"])
def test_a_whole_game_with_a_reload_a_lost_connection_and_an_illegal_card(
    browser: Browser, tables: Tables, tmp_path: Path, size: tuple[int, int]
) -> None:
    with tables.table(tmp_path, "auction-pitch", FIRST) as link, sits(browser, link, size=size, call=1) as person:
        page = person.page
        happens: list[Callable[[Person, Any], bool]] = [
            _reload,
            _lose_the_connection,
            _try_an_illegal_card,
            _see_what_axe_says,
        ]
        state = person.waits()
        while not state["over"]:
            if state["sheet"]:
                page.get_by_role("button", name="Next deal").or_(page.locator("#over-title:visible")).click()
                page.wait_for_function("() => !table.state.sheet || table.state.over", timeout=PATIENCE * 1000)
                state = person.waits()
                continue
            happens = [one for one in happens if not one(person, state)]
            state = person.answers(state)
        assert happens == []
        assert state["over"]["sentence"] in page.locator("#over").inner_text()
        with page.context.expect_page() as opened:
            page.locator("#over a").click()
        assert opened.value.locator("#replay").is_visible()
    with Store.read(tmp_path / "table.sqlite") as store:
        umpire = replay(store.record(1), fallback_move)
    assert umpire.result is not None
    assert umpire.irregularities == []


def _reload(person: Person, state: Any) -> bool:
    if len(state["hand"]) != 4 or state["turn"]["kind"] != "play":
        return False
    person.page.reload()
    after = person.waits()
    assert {**after, "revision": 0} == {**state, "revision": 0}
    assert person.page.locator("#hand button").count() == 4
    return True


def _lose_the_connection(person: Person, state: Any) -> bool:
    if len(state["hand"]) != 3:
        return False
    page = person.page
    page.context.set_offline(True)
    page.evaluate("table.source.dispatchEvent(new Event('error'))")  # Chromium keeps a stream that was open
    expect(page.locator("#lost")).to_be_visible()
    page.locator("#hand button.legal").first.click(position={"x": 8, "y": 12})
    page.wait_for_function("() => table.sent !== null")
    page.context.set_offline(False)
    expect(page.locator("#lost")).to_be_hidden(timeout=PATIENCE * 1000)
    page.wait_for_function("() => table.sent === null", timeout=PATIENCE * 1000)
    if page.evaluate("table.state.turn && table.state.turn.id") != state["turn"]["id"]:
        person.waits(state["turn"]["id"])
    return True


def _try_an_illegal_card(person: Person, state: Any) -> bool:
    barred = [held for held in state["hand"] if not held["legal"]]
    if state["turn"]["kind"] != "play" or not barred or len(barred) == len(state["hand"]):
        return False
    page = person.page
    page.locator(f"[data-card='{barred[0]['card']}']").click(position={"x": 8, "y": 12})
    ruling = page.locator("#ruling")
    expect(ruling).to_be_visible(timeout=PATIENCE * 1000)
    assert f"Not the {barred[0]['name']} just now" in ruling.inner_text()
    link = page.locator("#ruling-link").get_attribute("href")
    assert link == f"/rules#{barred[0]['rule']}"
    with page.context.expect_page() as opened:
        page.locator("#ruling-link").click()
    clause = opened.value.locator(f"[id='{barred[0]['rule']}']")
    assert clause.is_visible()
    opened.value.close()
    assert person.state()["turn"]["id"] == state["turn"]["id"]
    return True


def _see_what_axe_says(person: Person, state: Any) -> bool:
    found = Axe().run(person.page, options={"resultTypes": ["violations"]})
    assert found.violations_count == 0, found.generate_report()
    assert person.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    return True


def test_a_deal_by_keyboard_alone_and_by_ear(browser: Browser, tables: Tables, tmp_path: Path) -> None:
    with tables.table(tmp_path, "seven-up", LAST) as link, sits(browser, link) as person:
        page = person.page
        state = person.waits()
        while not state["sheet"]:
            turn = state["turn"]
            assert said(page)[-1].startswith("Your turn: ")
            if turn["choose"]:
                for number in range(turn["choose"][0]):
                    page.keyboard.press(str((number + 1) % 10))
                page.keyboard.press("Enter")
            elif state["moves"]:
                page.keyboard.press(next(move["key"] for move in state["moves"] if move["legal"]))
            elif len(state["hand"]) % 2:
                page.keyboard.press(str(next(at for at, held in enumerate(state["hand"], 1) if held["legal"])))
            else:
                page.keyboard.press("/")
                page.keyboard.type(next(held["name"] for held in state["hand"] if held["legal"]))
                page.keyboard.press("Enter")
                page.keyboard.press("Escape")
            state = person.waits(turn["id"])
        heard = said(page)
        assert (
            sum(bool(re.fullmatch(r"(You take|other\S* takes) trick \d of this deal\.", line)) for line in heard) == 6
        )
        assert sum(bool(re.fullmatch(r"(You play|other\S* plays) \w+ of \w+\.", line)) for line in heard) == 18
        assert all(line != after for line, after in pairwise(heard))
        page.keyboard.press("Enter")
        page.wait_for_function("() => !table.state.sheet", timeout=PATIENCE * 1000)


def test_in_practice_a_card_is_taken_back_and_whoever_leaves_is_told_so(
    browser: Browser, tables: Tables, tmp_path: Path
) -> None:
    with tables.table(tmp_path, "shasta-sam", FIRST, practice=True) as link, sits(browser, link) as person:
        page = person.page
        before = person.waits()
        person.answers(before)
        page.get_by_role("button", name="Take back").click()
        back = "cards => table.state.turn && JSON.stringify(table.state.hand.map(held => held.card)) === cards"
        page.wait_for_function(back, arg=json.dumps([held["card"] for held in before["hand"]], separators=(",", ":")))
        assert "Taken back. You decide again." in said(page)
        assert page.locator("#facts").get_by_text("practice").is_visible()
        page.click("#open-leave")
        page.locator("#really-leave").click()
        expect(page.locator("#prompt")).to_have_text("You have left the table.", timeout=PATIENCE * 1000)
