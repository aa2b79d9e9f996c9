"""The site of a host in a browser: no barrier found by axe, on a phone and on a desk, light and dark; alive with scripts, whole without."""

import re
import shutil
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from referee.host.home import HostHome
from referee.host.rows import VersionState
from referee.host.store import HostStore
from referee.host.web import serve
from referee.league.store import Store
from referee.umpire.fallback_player import fallback_move
from tests.browser.conftest import SCREENS
from tests.league.inprocess import at_random
from tests.league.ladders import Ladder
from tests.program import PATIENCE

pytestmark = pytest.mark.needs("chromium")

NOW = 1_800_000_000.0
SEEN = (
    "/",
    "/enter",
    "/rules",
    "/tables",
    "/rounds",
    "/rounds/1",
    "/bots/anns-bot",
    "/remote",
    "/remote/rounds",
    "/remote/rounds/1",
    "/remote/bots/far",
    "/login",
    "/nothing",
    "/jobs/1",
    "/me",
    "/submit",
    "/organiser",
)


class Served:
    """A site on a port of its own, its ladder, and a token of an organiser."""

    def __init__(self, url: str, store: HostStore, ladder: Ladder, token: str) -> None:
        self.url, self.store, self.ladder, self.token = url, store, ladder, token


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    path = tmp_path_factory.mktemp("site") / "ladder.toml"
    path.write_text(
        '[tournament]\nname = "Kitchen ladder"\nvariant = "auction-pitch"\nseats = 3\n[schedule]\nformat = "ladder"\n'
        '[[bots]]\npath = "random"\n[host]\naddress = "127.0.0.1:0"\nremote = "127.0.0.1:0"\n'
    )
    home, stop, is_up, told = HostHome.beside(path), threading.Event(), threading.Event(), list[str]()
    home.make()
    players = {"random": at_random, "House": fallback_move, "anns-bot": at_random, "bobs-bot": at_random}
    ladder = Ladder(home.ladder, players, owners={"anns-bot": "ann", "bobs-bot": "bob"}, panel=("random",), sets=4)
    _play(ladder, 3)
    shutil.copy(home.ladder, home.remote)  # a ladder as any other

    def listens(where: str) -> None:
        told.append(where)
        is_up.set()

    thread = threading.Thread(target=serve, args=(home, stop, listens))
    thread.start()
    try:
        assert is_up.wait(PATIENCE)
        with HostStore.open(home.store) as store:
            store.set("sandbox", "bwrap", NOW, by="host")
            store.set("banner", "Back at noon.", NOW, by="host")
            chief = store.join(store.invite("chief", NOW, organiser=True, by="test"), "chief", NOW)
            token = store.add_token(chief.id, "test", NOW)
            _hand_in(store, home)
            with httpx.stream("GET", f"http://{told[0]}/events", timeout=PATIENCE) as events:
                assert any('"sets":' in line and '"sets":0' not in line for line in events.iter_lines())
            yield Served(f"http://{told[0]}", store, ladder, token)
    finally:
        stop.set()
        thread.join(PATIENCE)


def _play(ladder: Ladder, rounds: int) -> None:
    """Plays in another thread: the loop of Playwright runs in this one."""
    with ThreadPoolExecutor(1) as other:
        other.submit(ladder.play, rounds).result()


def _hand_in(store: HostStore, home: HostHome) -> None:
    """A version that was refused, one that waits for the organiser, and one that waits for its turn."""
    ann = store.join(store.invite("ann", NOW, by="test"), "ann", NOW)
    store.hand_in(ann, "anns-bot", "a" * 64, NOW, most_bots=4)
    job = store.lease(NOW, 60)
    assert job is not None
    home.findings(1).mkdir()
    (home.findings(1) / "w.html").write_text("<!doctype html><title>w</title><script>document.title = origin</script>")
    finding = {
        "rule": "AF-PLAY-003",
        "sentence": "It did not follow suit.",
        "times": 3,
        "witness": "",
        "page": "w.html",
    }
    store.finish(
        job,
        VersionState.REFUSED,
        "It breaks a rule.",
        NOW,
        findings=[{**finding, "hint": "Look at the led suit."}],
        log="cc -O2",
    )
    store.hand_in(ann, "second", "b" * 64, NOW, most_bots=4)
    job = store.lease(NOW, 60)
    assert job is not None
    store.finish(job, VersionState.APPROVAL, "It keeps the rules.", NOW)
    store.hand_in(ann, "third", "c" * 64, NOW, most_bots=4)
    store.connect(ann, "far", "1.2", "session", time.time(), most_bots=4)
    job = store.lease(time.time(), 60, remote=True)
    assert job is not None
    store.finish(job, VersionState.ACCEPTED, "It keeps the rules.", NOW, name="1.2")


@pytest.mark.parametrize(("screen", "scheme"), [("phone", "dark"), ("desktop", "light")])
def test_pages_have_no_barriers_fit_the_screen_and_ask_nobody_else(
    browser: Browser, served: Served, screen: str, scheme: str
) -> None:
    width, height = SCREENS[screen]
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": height})  # type: ignore[arg-type]
    complaints: list[str] = []
    try:
        page = context.new_page()
        _log_in(page, served)
        page.on("request", lambda asked: complaints.append(asked.url) if not asked.url.startswith(served.url) else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: complaints.append(said.text) if "404" not in said.text else None)
        page.goto(f"{served.url}/bots/random")
        worst = page.locator("a[href*='/worst/']").first.get_attribute("href")
        for path in (*SEEN, worst or ""):
            page.goto(served.url + path)
            found = Axe().run(page)
            assert found.violations_count == 0, f"{path}: {found.generate_report()}"
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
        assert complaints == []
    finally:
        context.close()


def test_the_board_follows_the_ladder_without_being_loaded_again(browser: Browser, served: Served) -> None:
    context = browser.new_context()
    try:
        page = context.new_page()
        page.goto(f"{served.url}/")
        page.evaluate("window.same = true")
        number = len(served.ladder.rounds)
        assert f"Round {number}, closed" in page.inner_text("main")
        _play(served.ladder, 1)
        page.get_by_text(f"Round {number + 1}, closed").wait_for(timeout=PATIENCE * 1000)
        assert page.evaluate("window.same")
    finally:
        context.close()


def test_the_page_of_the_tables_follows_the_round_without_being_loaded_again(browser: Browser, served: Served) -> None:
    context = browser.new_context()
    ladder = served.ladder
    with ThreadPoolExecutor(1) as other:
        try:
            other.submit(ladder.begin).result()
            other.submit(ladder.go_on, 2).result()
            page = context.new_page()
            page.goto(f"{served.url}/tables")
            page.locator("[data-playing] tr").nth(1).wait_for(timeout=PATIENCE * 1000)
            page.evaluate("window.same = true")
            assert page.locator("[data-tables-over] li").count() == 0
            tables = sum(part["sets"] for part in ladder.rounds[-1]["tables"])
            other.submit(ladder.go_on, 3 * tables - 5).result()  # three games are left, of as many tables at most
            with Store.read(ladder.path) as store:
                done = sum(row.state == "SCORED" for row in store.sets()[-tables:])
            over = page.locator("[data-tables-over] li")
            over.nth(done - 1).wait_for(timeout=PATIENCE * 1000)
            assert tables - 3 <= done < tables
            assert f"{done} of {tables} tables" in page.inner_text("[data-progress]")
            assert over.first.locator("b").count() == over.first.locator("a").count() == 3
            assert page.evaluate("window.same")
            assert page.locator("[data-playing] tr").count() == tables - done
            over.first.locator("a").first.click()
            assert page.locator("#replay-title").inner_text().startswith("Game ")
        finally:
            context.close()
            other.submit(ladder.play, 1).result()


def test_everything_is_there_without_scripts(browser: Browser, served: Served) -> None:
    context = browser.new_context(java_script_enabled=False)
    try:
        page = context.new_page()
        _log_in(page, served)
        page.goto(f"{served.url}/")
        assert page.locator("table.board tbody tr").count() == 4
        page.goto(f"{served.url}/jobs/1")
        assert "It did not follow suit." in page.inner_text("main")
        page.goto(f"{served.url}/me")
        page.fill("input[name=label]", "ci")
        page.click("text=Make a token")
        assert re.search("referee_", page.inner_text("code.token"))
    finally:
        context.close()


def test_a_page_of_a_finding_runs_its_script_and_is_nobody_to_the_site(browser: Browser, served: Served) -> None:
    context = browser.new_context()
    try:
        page = context.new_page()
        _log_in(page, served)
        page.goto(f"{served.url}/jobs/1/w.html")
        assert page.title() == "null"
    finally:
        context.close()


def test_a_game_can_be_watched(browser: Browser, served: Served) -> None:
    context = browser.new_context()
    complaints: list[str] = []
    try:
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: complaints.append(said.text))
        page.goto(f"{served.url}/games/1")
        assert page.locator("button").count() > 2
        page.locator("button").nth(1).click()
        assert complaints == []
    finally:
        context.close()


def _log_in(page: Page, served: Served) -> None:
    page.goto(f"{served.url}/login")
    page.fill("input[name=token]", served.token)
    page.click("main button >> nth=0")
    assert page.url == f"{served.url}/me"
